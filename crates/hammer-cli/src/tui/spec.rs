//! What a dashboard shows, as its caller says it: plain words and names, so that no file of it knows a plan or a protocol.

use hammer_measure::Nanos;

/// What a dashboard shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct DashboardSpec {
    /// What stands first on every page; it may be empty.
    pub(crate) title: String,
    /// Where it is sent: scheme, host and port of each endpoint.
    pub(crate) targets: Vec<String>,
    /// What is sent, in the order of the plan.
    pub(crate) workloads: Vec<WorkloadSpec>,
    /// The panel above the first page; `None` where what is loaded has none.
    pub(crate) panel: Option<PanelSpec>,
    /// What is shown of each protocol that is loaded, in its users' words.
    pub(crate) pages: Vec<ProtocolPage>,
    /// The planned length of an interval.
    pub(crate) interval: Nanos,
    /// How many thresholds the plan has.
    pub(crate) thresholds: usize,
    /// How long drain may take.
    pub(crate) drain: Option<Nanos>,
    /// Which of the command's runs it is, where there are several.
    pub(crate) run: Option<RunPlace>,
}

/// A run among those of its command.
#[derive(Clone, Debug)]
pub(crate) struct RunPlace {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// How many there are.
    pub(crate) of: usize,
    /// What tells it from the others (`rate 100/s, round 2`).
    pub(crate) labels: String,
}

/// A workload as it was planned.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadSpec {
    /// Its name in the plan.
    pub(crate) name: String,
    /// Where it stands in the panel, and which keys steer it.
    pub(crate) side: PanelSide,
    /// Its planned rate, arrivals a second, where that is one number.
    pub(crate) rate: Option<f64>,
    /// The limit of operations in flight; in a closed loop its users.
    pub(crate) in_flight: usize,
    /// Whether its load waits for answers.
    pub(crate) closed_loop: bool,
    /// The place of its protocol among the pages, where that has one.
    pub(crate) page: Option<usize>,
}

/// A page in the words of a protocol's users.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProtocolPage {
    /// What is loaded (`CT log`).
    pub(crate) name: &'static str,
    /// What stands on it, from top to bottom.
    pub(crate) parts: &'static [PagePart],
}

/// A part of such a page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PagePart {
    /// Numbers that observers tell, below a title; those that nobody told are left out.
    Numbers(&'static str, &'static [PageNumber]),
    /// What became of the promises, below a title.
    Promises(&'static str),
    /// A row for each whole operation of its workloads, below a title.
    Operations(&'static str),
    /// A row for each step of its workloads, below a title.
    Steps(&'static str),
    /// What its workloads were answered, each answer with how often it came, below a title.
    Answers(&'static str),
}

/// A number that observers tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageNumber {
    /// What it is.
    pub(crate) label: &'static str,
    /// The observation; of named targets (`<target>/<observation>`) the sum, and of a time the longest.
    pub(crate) observation: &'static str,
    /// What it is a number of.
    pub(crate) unit: NumberUnit,
}

/// What a number is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberUnit {
    Count,
    Bytes,
    /// A duration.
    Seconds,
}

impl PageNumber {
    /// A count.
    pub(crate) const fn count(label: &'static str, observation: &'static str) -> Self {
        Self { label, observation, unit: NumberUnit::Count }
    }

    /// A number of bytes.
    pub(crate) const fn bytes(label: &'static str, observation: &'static str) -> Self {
        Self { label, observation, unit: NumberUnit::Bytes }
    }

    /// A duration, which observers tell in seconds.
    pub(crate) const fn seconds(label: &'static str, observation: &'static str) -> Self {
        Self { label, observation, unit: NumberUnit::Seconds }
    }
}

/// Where a workload stands in the panel, and which keys steer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PanelSide {
    /// The first line; `+` and `-`.
    Reads,
    /// The second line; `>`, `<`, `w` and `W`.
    Writes,
    /// Not in the panel; the keys of writes, where nothing writes.
    Neither,
}

/// The panel, in the words of a protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanelSpec {
    /// Whose words they are, above their meanings on the page of help.
    pub(crate) heading: &'static str,
    /// What reads are called.
    pub(crate) reads: SideWords,
    /// What writes are called.
    pub(crate) writes: SideWords,
    /// The names of the series of whole operations that are reads, although another part of their workload writes.
    pub(crate) read_series: &'static [&'static str],
    /// A size that the load makes grow.
    pub(crate) size: Option<PanelSize>,
    /// The service time of writes over the last 30 s.
    pub(crate) service_time: PanelLabel,
    /// Times that observers tell.
    pub(crate) times: Option<PanelTimes>,
    /// The observation that counts the promises whose time is up and whose check is not done; it stands beside the ledger.
    pub(crate) overdue: Option<&'static str>,
}

/// What the workloads of a side are called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideWords {
    /// Before their line (`Read`).
    pub(crate) label: &'static str,
    /// In a sentence (`reads`).
    pub(crate) plural: &'static str,
}

/// What a line is called, and what it means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanelLabel {
    /// Before the line; 27 columns at most.
    pub(crate) label: &'static str,
    /// On the page of help; 52 columns at most.
    pub(crate) means: &'static str,
}

/// A size and its growth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanelSize {
    /// Before the line.
    pub(crate) label: &'static str,
    /// The observation; those of named targets (`<target>/<observation>`) are added up.
    pub(crate) observation: &'static str,
    /// The unit of its growth (`qps`).
    pub(crate) growth_unit: &'static str,
}

/// Least, mean and greatest of times, each an observation in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanelTimes {
    /// What they are called.
    pub(crate) name: PanelLabel,
    /// Least, mean and greatest.
    pub(crate) observations: [&'static str; 3],
    /// The same from the instant that the plan named, where observers tell it.
    pub(crate) from_intended: Option<[&'static str; 3]>,
}

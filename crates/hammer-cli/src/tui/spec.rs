//! What a dashboard shows, as its caller says it: plain words and names, so that no file of it knows a plan or a protocol.

/// What a dashboard shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct DashboardSpec {
    /// What stands first on every page; it may be empty.
    pub(crate) title: String,
    /// What is sent, in the order of the plan.
    pub(crate) workloads: Vec<WorkloadSpec>,
    /// The panel above the first page; `None` where what is loaded has none.
    pub(crate) panel: Option<PanelSpec>,
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

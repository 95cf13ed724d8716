//! What happened in a run besides its load.

use hammer_measure::event::{Beside, CommandRefusal, HookExit};
use hammer_measure::{Nanos, RunEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::finite;
use super::phase::PhaseName;
use super::promises::Breach;

/// Something that happened besides the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A phase started.
    Phase {
        /// When.
        at_ns: u64,
        /// Which.
        phase: PhaseName,
    },
    /// A command was answered. Unless every workload that it asked refused it, the run was touched by hand.
    Command {
        /// When it took effect.
        at_ns: u64,
        /// Its number among the run's commands, from 1; absent from reports of before they had any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        /// What it was.
        command: Command,
        /// The workloads that refused it; absent where all did what it asked for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<Refusal>,
    },
    /// A promise was found broken.
    Breach {
        /// When it was found.
        at_ns: u64,
        /// Which, and how.
        breach: Breach,
    },
    /// Something that the reader of the figures should know.
    Note {
        /// When.
        at_ns: u64,
        /// What, as a sentence without its full stop.
        text: String,
    },
    /// A hook in mid-run started.
    HookStarted {
        /// When.
        at_ns: u64,
        /// Its name in the plan.
        name: String,
    },
    /// A hook in mid-run ended.
    HookEnded {
        /// When.
        at_ns: u64,
        /// Its name in the plan.
        name: String,
        /// When it had started.
        started_ns: u64,
        /// The status that it ended with; `null` where a signal ended it.
        status: Option<i32>,
        /// The number of the signal that ended it; `null` where none did.
        signal: Option<i32>,
        /// Whether the end of the run ended it.
        cut_off: bool,
    },
    /// A hook, whoever appends to the file of marks, or a command marked an instant.
    Mark {
        /// When the mark was read.
        at_ns: u64,
        /// The hook's name, the path of the file, `lab` of what an embedded target does by its script, or `control` of a command.
        source: String,
        /// What for: one line of at most 200 characters.
        text: String,
        /// Its number among the run's commands, where one marked it; else absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
    },
    /// Marks that were not kept, since there were too many.
    MarksLeftOut {
        /// When they were counted, at the end of the run.
        at_ns: u64,
        /// How many.
        count: u64,
    },
    /// A server that is asked once a second whether it is ready says that it is not, and was before or had not been asked.
    NotReady {
        /// When that was seen.
        at_ns: u64,
        /// Where it was asked: host, port and path, and the address where the host is a name.
        endpoint: String,
        /// What was seen, as a sentence without its full stop.
        said: String,
    },
    /// It is ready again.
    ReadyAgain {
        /// When that was seen.
        at_ns: u64,
        /// Where it was asked.
        endpoint: String,
        /// When it was first seen not to be.
        since_ns: u64,
    },
    /// An operation of a group of users took longer than any of that group before, in measurement: the longest of an interval.
    RecordHigh {
        /// When it was done.
        at_ns: u64,
        /// The workload.
        workload: String,
        /// The group, from 1.
        group: u64,
        /// From when it was due until it was done.
        response_time_ns: u64,
    },
    /// A peer of a service answered for the first time, a second or more after the service did.
    PeerJoined {
        /// The end of the interval in which it did.
        at_ns: u64,
        /// The service's name, as in `connections`.
        service: String,
        /// The peer's address and port.
        peer: String,
    },
    /// A peer has not answered for five seconds at least, in which the service was asked often enough for it to be asked too.
    PeerSilent {
        /// When that was seen.
        at_ns: u64,
        /// The service's name, as in `connections`.
        service: String,
        /// The peer's address and port.
        peer: String,
        /// The end of the interval in which it answered last.
        last_ns: u64,
        /// Exchanges with it that failed since then, and dials; 0 where nothing was sent to it any more.
        failed: u64,
    },
    /// A peer that was silent answers again.
    PeerBack {
        /// The end of the interval in which it did.
        at_ns: u64,
        /// The service's name, as in `connections`.
        service: String,
        /// The peer's address and port.
        peer: String,
        /// The end of the interval in which it had answered last.
        last_ns: u64,
    },
}

/// A change to a running run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Command {
    /// Arrivals were suspended.
    Pause,
    /// They were taken up again.
    Resume,
    /// The planned rate was multiplied.
    Rate {
        /// The workload; `null` for all.
        workload: Option<String>,
        /// The multiple of the plan's rate.
        factor: f64,
    },
    /// The in-flight limit was changed.
    InFlight {
        /// The workload; `null` for all.
        workload: Option<String>,
        /// The new limit over all shards.
        limit: u64,
    },
    /// The arrivals were ended.
    Stop {
        /// Why.
        reason: String,
    },
}

/// A workload's refusal of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// The workload.
    pub workload: String,
    /// Why, as a sentence without its full stop.
    pub why: String,
}

impl Event {
    /// The event, or `None` for a start, an interval and an end, which have their own places in a report, and for a wait, which has none.
    pub fn of(event: &RunEvent) -> Option<Self> {
        Some(match event {
            RunEvent::Started(_)
            | RunEvent::Interval(_)
            | RunEvent::Judging { .. }
            | RunEvent::Finished(_) => return None,
            RunEvent::Phase { phase, at } => Self::Phase { at_ns: at.0, phase: (*phase).into() },
            RunEvent::Command { id, at, command: hammer_measure::Command::Mark { text }, .. } => {
                Self::Mark { at_ns: at.0, source: CONTROL.to_owned(), text: text.clone(), id: Some(id.0) }
            }
            RunEvent::Command { id, at, command, refused } => Self::Command {
                at_ns: at.0,
                id: Some(id.0),
                command: Command::of(command)?,
                refused: refused.iter().map(Refusal::from).collect(),
            },
            RunEvent::Breach { at, breach } => Self::Breach { at_ns: at.0, breach: breach.into() },
            RunEvent::Note { at, text } => Self::Note { at_ns: at.0, text: text.clone() },
            RunEvent::Beside { at, what } => Self::beside(*at, what),
        })
    }

    fn beside(at: Nanos, what: &Beside) -> Self {
        let at_ns = at.0;
        match what.clone() {
            Beside::HookStarted { name } => Self::HookStarted { at_ns, name },
            Beside::HookEnded { name, started, exit, cut_off } => {
                let (status, signal) = match exit {
                    HookExit::Status(status) => (Some(status), None),
                    HookExit::Signal(signal) => (None, Some(signal)),
                };
                Self::HookEnded { at_ns, name, started_ns: started.0, status, signal, cut_off }
            }
            Beside::Mark { source, text } => Self::Mark { at_ns, source, text, id: None },
            Beside::MarksLeftOut { count } => Self::MarksLeftOut { at_ns, count },
            Beside::NotReady { endpoint, said } => Self::NotReady { at_ns, endpoint, said },
            Beside::ReadyAgain { endpoint, since } => Self::ReadyAgain { at_ns, endpoint, since_ns: since.0 },
            Beside::RecordHigh { workload, group, response_time } => {
                Self::RecordHigh { at_ns, workload, group, response_time_ns: response_time.0 }
            }
            Beside::PeerJoined { service, peer } => {
                Self::PeerJoined { at_ns, service, peer: peer.to_string() }
            }
            Beside::PeerSilent { service, peer, last, failed } => {
                Self::PeerSilent { at_ns, service, peer: peer.to_string(), last_ns: last.0, failed }
            }
            Beside::PeerBack { service, peer, last } => {
                Self::PeerBack { at_ns, service, peer: peer.to_string(), last_ns: last.0 }
            }
        }
    }

    /// What happened beside the load: `hook`, `mark`, `ready`, `longest` or `peer`, and the words; none for any other event.
    pub fn beside_words(&self) -> Option<(&'static str, String)> {
        Some(match self {
            Self::HookStarted { name, .. } => ("hook", format!("{name} started")),
            Self::HookEnded { at_ns, name, started_ns, status, signal, cut_off } => {
                let took = Nanos(at_ns.saturating_sub(*started_ns));
                let how = match (status, signal) {
                    (Some(status), _) => format!("with status {status}"),
                    (None, Some(signal)) => format!("by signal {signal}"),
                    (None, None) => "without a status".to_owned(),
                };
                let cut_off = if *cut_off { ", cut off by the end of the run" } else { "" };
                ("hook", format!("{name} ended after {took} {how}{cut_off}"))
            }
            Self::Mark { source, text, .. } => ("mark", format!("{text} ({source})")),
            Self::MarksLeftOut { count, .. } => ("mark", format!("{count} more left out")),
            Self::NotReady { endpoint, said, .. } => ("ready", format!("{endpoint} is not: {said}")),
            Self::ReadyAgain { at_ns, endpoint, since_ns } => {
                let after = Nanos(at_ns.saturating_sub(*since_ns));
                ("ready", format!("{endpoint} is again, after {after}"))
            }
            Self::RecordHigh { workload, group, response_time_ns, .. } => {
                ("longest", format!("{} of {workload}, group {group}", Nanos(*response_time_ns)))
            }
            Self::PeerJoined { service, peer, .. } => ("peer", format!("{peer} of {service} first answered")),
            Self::PeerSilent { service, peer, last_ns, failed, .. } => {
                let what = match failed {
                    0 => "nothing was sent to it since".to_owned(),
                    failed => format!("{failed} requests and dials to it failed since"),
                };
                let last = Nanos(*last_ns);
                ("peer", format!("{peer} of {service} has not answered since {last}; {what}"))
            }
            Self::PeerBack { service, peer, last_ns, .. } => {
                let last = Nanos(*last_ns);
                ("peer", format!("{peer} of {service} answers again, as last at {last}"))
            }
            Self::Phase { .. } | Self::Command { .. } | Self::Breach { .. } | Self::Note { .. } => {
                return None;
            }
        })
    }

    /// Whether it was done, or seen of a server, beside the load.
    pub(crate) const fn is_beside(&self) -> bool {
        matches!(
            self,
            Self::HookStarted { .. }
                | Self::HookEnded { .. }
                | Self::Mark { .. }
                | Self::NotReady { .. }
                | Self::ReadyAgain { .. }
                | Self::PeerJoined { .. }
                | Self::PeerSilent { .. }
                | Self::PeerBack { .. }
        )
    }

    /// When it happened, nanoseconds since the epoch.
    pub const fn at_ns(&self) -> u64 {
        match self {
            Self::Phase { at_ns, .. }
            | Self::Command { at_ns, .. }
            | Self::Breach { at_ns, .. }
            | Self::Note { at_ns, .. }
            | Self::HookStarted { at_ns, .. }
            | Self::HookEnded { at_ns, .. }
            | Self::Mark { at_ns, .. }
            | Self::MarksLeftOut { at_ns, .. }
            | Self::NotReady { at_ns, .. }
            | Self::ReadyAgain { at_ns, .. }
            | Self::RecordHigh { at_ns, .. }
            | Self::PeerJoined { at_ns, .. }
            | Self::PeerSilent { at_ns, .. }
            | Self::PeerBack { at_ns, .. } => *at_ns,
        }
    }
}

impl Command {
    /// The workload that it is for; `None` for all.
    pub fn workload(&self) -> Option<&str> {
        match self {
            Self::Rate { workload, .. } | Self::InFlight { workload, .. } => workload.as_deref(),
            Self::Pause | Self::Resume | Self::Stop { .. } => None,
        }
    }

    /// Whether any of a run's workloads did it: others than those, such as what renews tokens, are no load.
    pub fn was_done<'a>(&self, workloads: impl IntoIterator<Item = &'a str>, refused: &[Refusal]) -> bool {
        let did = |name: &str| refused.iter().all(|refusal| refusal.workload != name);
        match self.workload() {
            Some(name) => did(name),
            None => workloads.into_iter().any(did),
        }
    }

    /// What was asked of a run with these workloads and what became of it, in words.
    pub fn answer<'a>(&self, workloads: impl IntoIterator<Item = &'a str>, refused: &[Refusal]) -> String {
        let done = if self.was_done(workloads, refused) { "" } else { "not done: " };
        let refused =
            refused.iter().map(|refusal| format!("; refused by {}: {}", refusal.workload, refusal.why));
        format!("{done}{}{}", self.words(), refused.collect::<String>())
    }

    /// What was done, in words.
    pub fn words(&self) -> String {
        let of = |workload: &Option<String>| workload.clone().unwrap_or_else(|| "all workloads".to_owned());
        match self {
            Self::Pause => "arrivals paused by hand".to_owned(),
            Self::Resume => "arrivals resumed by hand".to_owned(),
            Self::Rate { workload, factor } => {
                // Of a rate that is no simple multiple a few digits are enough.
                let factor = (factor * 1e4).round() / 1e4;
                format!("rate of {} set to {factor} times the plan's by hand", of(workload))
            }
            Self::InFlight { workload, limit } => {
                format!("in-flight limit of {} set to {limit} by hand", of(workload))
            }
            Self::Stop { reason } => format!("stopped: {reason}"),
        }
    }
}

impl From<&CommandRefusal> for Refusal {
    fn from(refusal: &CommandRefusal) -> Self {
        Self { workload: refusal.workload.clone(), why: refusal.why.clone() }
    }
}

impl Command {
    /// What was asked of the load; none of a mark, which asks nothing of it.
    fn of(command: &hammer_measure::Command) -> Option<Self> {
        Some(match command {
            hammer_measure::Command::Mark { .. } => return None,
            hammer_measure::Command::Pause => Self::Pause,
            hammer_measure::Command::Resume => Self::Resume,
            hammer_measure::Command::Rate { workload, factor } => {
                Self::Rate { workload: workload.clone(), factor: finite(*factor) }
            }
            hammer_measure::Command::InFlight { workload, limit } => {
                Self::InFlight { workload: workload.clone(), limit: *limit as u64 }
            }
            hammer_measure::Command::Stop { reason } => Self::Stop { reason: reason.clone() },
        })
    }
}

/// Who marked an instant, where a command did.
const CONTROL: &str = "control";

#[cfg(test)]
mod tests;

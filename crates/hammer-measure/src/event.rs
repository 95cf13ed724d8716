//! What a run tells while it runs, and who listens.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::command::{Command, CommandId};
use crate::promise::Breach;
use crate::series::Phase;
use crate::snapshot::{RunInfo, RunResult, Snapshot};
use crate::timing::Nanos;

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// It is about to send.
    Started(Arc<RunInfo>),
    /// A phase started.
    Phase {
        /// Which.
        phase: Phase,
        /// When.
        at: Nanos,
    },
    /// An interval ended.
    Interval(Arc<Snapshot>),
    /// A command was answered. Unless every workload that it asked refused it, the run was touched by hand.
    Command {
        /// Which of the run's it is.
        id: CommandId,
        /// When it took effect.
        at: Nanos,
        /// What it was.
        command: Command,
        /// The workloads that it asked for what they cannot do; those that are not among them did it.
        refused: Vec<CommandRefusal>,
    },
    /// A promise was found broken.
    Breach {
        /// When it was found.
        at: Nanos,
        /// Which, and how.
        breach: Breach,
    },
    /// Something that the reader of the figures should know.
    Note {
        /// When.
        at: Nanos,
        /// What, as a sentence without its full stop.
        text: String,
    },
    /// Something happened beside the load: of the operator's own, or to a server.
    Beside {
        /// When.
        at: Nanos,
        /// What.
        what: Beside,
    },
    /// Every operation has ended, and verdicts are waited for: about once a second, for as long as that lasts.
    Judging {
        /// When.
        at: Nanos,
        /// How many pending promises may still be judged, with what was seen beside them that may be.
        awaited: u64,
        /// When the wait ends at the latest, unless a verdict comes.
        until: Nanos,
    },
    /// It ended; nothing follows.
    Finished(Arc<RunResult>),
}

/// What an operator's own commands and marks add to the record, and what was seen of servers beside the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beside {
    /// A hook in mid-run started.
    HookStarted {
        /// Its name in the plan.
        name: String,
    },
    /// It ended.
    HookEnded {
        /// Its name in the plan.
        name: String,
        /// When it started.
        started: Nanos,
        /// How it ended.
        exit: HookExit,
        /// Whether the end of the run ended it.
        cut_off: bool,
    },
    /// An instant was marked.
    Mark {
        /// The hook that marked it, or the file of marks.
        source: String,
        /// What for: one line, bounded in length.
        text: String,
    },
    /// Marks that were not kept, since there were too many.
    MarksLeftOut {
        /// How many.
        count: u64,
    },
    /// A server that is asked whether it is ready says that it is not, and was before or had not been asked.
    NotReady {
        /// Where it was asked: host, port and path, and the address where the host is a name.
        endpoint: String,
        /// What was seen, as a sentence without its full stop.
        said: String,
    },
    /// It is ready again.
    ReadyAgain {
        /// Where it was asked.
        endpoint: String,
        /// Since when it had not been.
        since: Nanos,
    },
    /// An operation of a group of users took longer than any of that group before, in measurement: the longest of an interval.
    RecordHigh {
        /// The workload.
        workload: String,
        /// The group, from 1.
        group: u64,
        /// Done − intended.
        response_time: Nanos,
    },
    /// A peer of a service answered for the first time, later than the service did, in the interval that ended then.
    PeerJoined {
        /// The service's name.
        service: String,
        /// The peer's address.
        peer: SocketAddr,
    },
    /// A peer has not answered for five seconds at least, in which the service was asked often enough for it to be asked too.
    PeerSilent {
        /// The service's name.
        service: String,
        /// The peer's address.
        peer: SocketAddr,
        /// The end of the interval in which it answered last.
        last: Nanos,
        /// Exchanges with it that failed since then, and dials.
        failed: u64,
    },
    /// A peer that was silent answers again.
    PeerBack {
        /// The service's name.
        service: String,
        /// The peer's address.
        peer: SocketAddr,
        /// The end of the interval in which it had answered last.
        last: Nanos,
    },
}

/// What stands before the name of an observation that says whether a server was ready: 1, or 0 where it was not.
pub const READY: &str = "ready/";

/// How a hook's command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookExit {
    /// By itself, with this status.
    Status(i32),
    /// By a signal of this number.
    Signal(i32),
}

/// A workload's refusal of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRefusal {
    /// The workload.
    pub workload: String,
    /// Why, as a sentence without its full stop.
    pub why: String,
}

/// A sink of events. It cannot answer, and must not block for long: it runs between two intervals.
pub trait Reporter {
    /// Takes one event.
    fn event(&mut self, event: &RunEvent);
}

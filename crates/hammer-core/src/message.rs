//! What reaches the loop of a run: from its threads, from its observers, and from whoever steers it.

use std::borrow::Cow;

use hammer_measure::event::Beside;
use hammer_measure::promise::Breach;
use hammer_measure::snapshot::Observation;
use hammer_measure::{Command, CommandId, Nanos, shown};

use crate::promise::BrokenPromise;
use crate::run_error::RunError;
use crate::shard::ShardReport;

#[derive(Debug)]
pub(crate) enum Message {
    /// By the place of the shard among those of this process.
    Shard(usize, ShardReport),
    Failed(RunError),
    Observed(Observation),
    Note(Nanos, String),
    Beside(Nanos, Beside),
    /// Found by a verifier, which has counted it.
    Broken(Nanos, BrokenPromise),
    /// Found by an observer.
    ObservedBreach(Nanos, Breach),
    Command(CommandId, Command),
    Interrupt,
}

impl Message {
    /// A note, as long as anybody reads: what a server wrote may stand in it, at any length.
    pub(crate) fn note(at: Nanos, text: String) -> Self {
        match shown(&text, LONGEST_NOTE) {
            Cow::Borrowed(_) => Self::Note(at, text),
            Cow::Owned(shown) => Self::Note(at, shown),
        }
    }
}

/// Bytes of a note. A report holds a thousand of them.
const LONGEST_NOTE: usize = 2 << 10;

//! What reaches the loop of a run: from its threads, from its observers, and from whoever steers it.

use hammer_measure::event::Beside;
use hammer_measure::promise::Breach;
use hammer_measure::snapshot::Observation;
use hammer_measure::{Command, Nanos};

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
    Command(Command),
    Interrupt,
}

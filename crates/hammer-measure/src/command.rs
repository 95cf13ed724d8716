//! What an operator may ask of a running run; an applied command is part of the record.

use serde::{Deserialize, Serialize};

/// The number of a command among those of its run, from 1, by which its answer is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub u64);

/// A change to a running run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Suspend arrivals.
    Pause,
    /// Take them up again.
    Resume,
    /// Multiply the planned rate of a workload (every one when `None`) by `factor`.
    Rate {
        /// The workload's name; `None` for all.
        workload: Option<String>,
        /// The multiple of the plan's rate, not of the current one; 1 is as planned.
        factor: f64,
    },
    /// Change the in-flight limit of a workload (every one when `None`).
    InFlight {
        /// The workload's name; `None` for all.
        workload: Option<String>,
        /// The new limit of operations in flight over all shards.
        limit: usize,
    },
    /// End the arrivals, drain and report.
    Stop {
        /// Why, for the report.
        reason: String,
    },
    /// Name this instant in the record; the load stays as it is.
    Mark {
        /// What for: one line, bounded in length.
        text: String,
    },
}

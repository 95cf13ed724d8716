//! The fill ahead of a run, in a plan: what the database is to hold before anything is measured.

use std::path::PathBuf;
use std::sync::Arc;

use hammer_core::dispatch::{Closed, FillGoal, FillLimits, Iterations, Load, Stages, Think};
use hammer_measure::Nanos;
use hammer_values::{Count, TimeSpan, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fill: so many operations of a workload that have to be accepted before warm-up, by users who wait for their answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FillPlan {
    /// The workload that is filled with. Its own `load` may be left out: then it does nothing else.
    pub(crate) workload: Word,
    /// How many of its operations have to be accepted.
    pub(crate) operations: Count,
    /// By so many users at once.
    #[serde(default = "one_user")]
    pub(crate) users: Count,
    /// The file to which each accepted entry is added, for workloads that read entries. What it has already is not filled again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) corpus: Option<PathBuf>,
    /// Whether a corpus that is there is completed; else it is emptied and filled from the start. After `hooks.between` it always is.
    #[serde(default = "yes")]
    pub(crate) resume: bool,
    /// How long it may take; it ends by itself without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<TimeSpan>,
    /// How many operations may fail in all; each is tried again as another one. By default a tenth of `operations`, and 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) most_failed: Option<u64>,
}

impl FillPlan {
    /// The goal of a fill that has `before` of its operations, and numbers those that are left from `first` on.
    pub(crate) fn goal(&self, before: u64, first: u64) -> Arc<FillGoal> {
        let operations = self.operations.get() as u64;
        let failed = self.most_failed.unwrap_or(operations / 10 + 100);
        let in_a_row = (ROUNDS_IN_A_ROW * self.users.get() as u64).max(LEAST_IN_A_ROW);
        Arc::new(FillGoal::new(operations.saturating_sub(before), first, FillLimits { failed, in_a_row }))
    }

    /// The load of that goal.
    pub(crate) fn load(&self, goal: &Arc<FillGoal>, seed: u64) -> Load {
        Load::Closed(Closed {
            stages: Stages::constant(self.users.get()),
            spawn_rate: None,
            think: Think::Constant(Nanos::ZERO),
            iterations: Iterations::Accepted(Arc::clone(goal)),
            seed,
        })
    }
}

fn one_user() -> Count {
    Count::ONE
}

fn yes() -> bool {
    true
}

/// What every user failed at so many times, one after another, will not be accepted soon.
const ROUNDS_IN_A_ROW: u64 = 3;
const LEAST_IN_A_ROW: u64 = 12;

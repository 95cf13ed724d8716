//! The fill ahead of a run: what was sent so that the database is as the plan wants it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;
use super::connections::Connections;
use super::promises::{Breach, Promises};
use super::series::Series;

/// A fill. It is in no other figure of the report; its promises count for the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fill {
    /// The workload that it is of.
    pub workload: String,
    /// The operations that the plan wants accepted.
    pub operations: u64,
    /// Those that an earlier fill had got accepted, by its corpus.
    pub filled_before: u64,
    /// Those that this one did.
    pub filled: u64,
    /// The operations of this one that failed, each of which another took the place of.
    pub failed: u64,
    /// From the first arrival to the last answer.
    pub seconds: f64,
    /// What it got accepted in a second; `null` when less than a tenth of a second went by, of which no rate could be told.
    pub filled_per_s: Option<f64>,
    /// Why it is not complete; `null` when it is.
    pub incomplete: Option<String>,
    /// What it wrote for others to read; `null` when the plan has no corpus.
    pub corpus: Option<Corpus>,
    /// By series, as of a run.
    pub series: Vec<Series>,
    /// What became of its connections.
    pub connections: Vec<Connections>,
    /// Its promises.
    pub promises: Promises,
    /// The first of them that were broken, named.
    pub breaches: Vec<Breach>,
}

/// The corpus of a fill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Corpus {
    /// The file; `null` where it was for this run alone, and is gone.
    pub file: Option<String>,
    /// The entries that it has by now of the log that was filled.
    pub entries: u64,
    /// Entries that were not written, since the file could not be written as fast, or the log did not say where they are: the corpus does
    /// not have them.
    pub lost: u64,
}

/// What the fill was to do, and how far it came.
#[derive(Clone, Debug)]
pub struct FillOutcome {
    /// The workload.
    pub workload: String,
    /// The operations of the plan.
    pub operations: u64,
    /// Those that were accepted before.
    pub filled_before: u64,
    /// Those that were accepted.
    pub filled: u64,
    /// Those that failed.
    pub failed: u64,
    /// Why it is not complete.
    pub incomplete: Option<String>,
    /// What it wrote.
    pub corpus: Option<Corpus>,
}

impl Fill {
    /// The fill of that outcome, whose own run has this report.
    pub fn of(outcome: FillOutcome, run: &Report) -> Self {
        let FillOutcome { workload, operations, filled_before, filled, failed, incomplete, corpus } = outcome;
        let seconds = run.run.measured_seconds;
        Self {
            workload,
            operations,
            filled_before,
            filled,
            failed,
            seconds,
            filled_per_s: (seconds >= LEAST_SECONDS).then(|| filled as f64 / seconds),
            incomplete,
            corpus,
            series: run.series.clone(),
            connections: run.connections.clone(),
            promises: run.promises.clone(),
            breaches: run.breaches.clone(),
        }
    }
}

/// Shorter ones end while their users still start.
const LEAST_SECONDS: f64 = 0.1;

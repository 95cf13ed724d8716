//! The promises that were received, and what became of them.

use hammer_measure::{Ledger, promise};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The promise ledger in all and by workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Promises {
    /// Of all workloads.
    pub all: PromiseCounts,
    /// By workload.
    pub by_workload: Vec<WorkloadPromises>,
    /// By workload and by what was promised; kinds of which none was received are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_kind: Vec<KindPromises>,
}

/// Promises by state: `made = kept + broken + pending + unchecked`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromiseCounts {
    /// Promises received.
    pub made: u64,
    /// Checked, and true.
    pub kept: u64,
    /// Checked, and false.
    pub broken: u64,
    /// With time left when the run ended.
    pub pending: u64,
    /// Given up on by the generator: its own fault.
    pub unchecked: u64,
}

/// The promises of one workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadPromises {
    /// The workload that received them.
    pub workload: String,
    /// What became of them.
    #[serde(flatten)]
    pub promises: PromiseCounts,
}

/// The promises of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindPromises {
    /// The workload that received them.
    pub workload: String,
    /// What was promised, in the field's words: `sct`, `inclusion`, `tree-head`.
    pub kind: String,
    /// What became of them.
    #[serde(flatten)]
    pub promises: PromiseCounts,
}

/// A broken promise, named so that it can be looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Breach {
    /// The workload that received the promise.
    pub workload: String,
    /// The sequence number of the operation that it answered; `null` where it was made to everyone, as a tree head is.
    pub seq: Option<u64>,
    /// What was promised and not kept.
    pub kind: String,
    /// The index of the leaf or entry that it is about; `null` where there is none.
    pub index: Option<u64>,
    /// What was found instead.
    pub detail: String,
}

impl PromiseCounts {
    /// Whether the identity holds.
    pub fn balances(&self) -> bool {
        Ledger::from(*self).balances()
    }
}

impl From<Ledger> for PromiseCounts {
    fn from(ledger: Ledger) -> Self {
        let Ledger { made, kept, broken, pending, unchecked } = ledger;
        Self { made, kept, broken, pending, unchecked }
    }
}

impl From<PromiseCounts> for Ledger {
    fn from(counts: PromiseCounts) -> Self {
        let PromiseCounts { made, kept, broken, pending, unchecked } = counts;
        Self { made, kept, broken, pending, unchecked }
    }
}

impl From<&promise::Breach> for Breach {
    fn from(breach: &promise::Breach) -> Self {
        Self {
            workload: breach.workload.clone(),
            seq: breach.seq,
            kind: breach.kind.clone(),
            index: breach.index,
            detail: breach.detail.clone(),
        }
    }
}

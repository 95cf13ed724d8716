//! Verify flows in a plan.

use hammer_values::TimeSpan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Verify flows: an entry of Rekor v1 that a sign flow of this run was answered with is read back, with the chain of the timestamp
/// authority, and all of it is verified. A flow is one operation; each of its steps has a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyPlan {
    /// Whether the timestamp authority's chain is read in each flow.
    pub timestamp_chain: bool,
    /// How long after it was answered an entry may be unknown where it is read: a replica that lags has it later. One that is not found
    /// after that is lost, and a broken promise.
    pub missing_after: TimeSpan,
}

impl Default for VerifyPlan {
    fn default() -> Self {
        Self { timestamp_chain: true, missing_after: TimeSpan::from_secs(60) }
    }
}

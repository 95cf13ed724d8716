//! Requests for timestamps alone, in a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Timestamps (RFC 3161), each over another hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimestampPlan {
    /// How the authority is asked: `der` (`application/timestamp-query`) or `json`.
    pub format: TimestampFormat,
    /// Which requests under the same seed; by default the workload's place in the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
}

/// How a timestamp authority is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimestampFormat {
    /// A `TimeStampReq` in DER (RFC 3161 section 2.4.1).
    #[default]
    Der,
    /// The JSON of sigstore/timestamp-authority.
    Json,
}

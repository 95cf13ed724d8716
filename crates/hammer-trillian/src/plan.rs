//! Trillian in plans: the target, and the calls.

use hammer_values::{Count, OneOrMany, ServiceUrl, Share, TimeSpan, Weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tree of Trillian, behind its log server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrillianTargetPlan {
    /// The log server's gRPC endpoint, or several of which balancing chooses.
    pub url: OneOrMany<ServiceUrl>,
    /// The id of the tree, as `createtree` prints it. It is to be a tree of its own: what is queued here is no entry that a CT log or a
    /// Rekor could read.
    pub tree_id: i64,
    /// The longest time from the answer to a queued leaf to the tree that has it. Less than the `timeout` of a workload.
    #[serde(default = "integration_delay")]
    pub integration_delay: TimeSpan,
}

fn integration_delay() -> TimeSpan {
    TimeSpan::from_secs(10)
}

/// Calls of a log of Trillian, each one operation. What is answered is verified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrillianPlan {
    /// How often each call is made, as weights. Each is a series: `queue-leaf`, `get-latest-signed-log-root`, `get-inclusion-proof`,
    /// `get-inclusion-proof-by-hash`, `get-leaves-by-range`.
    pub mix: Weights<TrillianKind, u16>,
    /// Bytes of a queued leaf, 32 at least.
    pub leaf_bytes: Count,
    /// How many leaves one `get-leaves-by-range` asks for; the log may answer with fewer. A power of two costs one proof to verify, any
    /// other number up to two.
    pub leaves: Count,
    /// Which of the queued leaves are looked for in the tree, by their hashes.
    pub looked_up: Share,
    /// Which leaves under the same seed; by default the workload's place in the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrillianKind {
    /// `QueueLeaf`, each of another leaf: what is answered is the leaf, and it is found in the tree in time.
    QueueLeaf,
    /// `GetLatestSignedLogRoot`, with the proof from a root that was seen before: the tree neither forks nor shrinks.
    GetLatestSignedLogRoot,
    /// `GetInclusionProof` of a leaf that was seen: the proof leads to the root.
    GetInclusionProof,
    /// `GetInclusionProofByHash` of a leaf that was seen: the proof leads to the root.
    GetInclusionProofByHash,
    /// `GetLeavesByRange`: the leaves have their hashes and places, and lead to the root.
    GetLeavesByRange,
}

impl Default for TrillianPlan {
    fn default() -> Self {
        Self {
            mix: Weights::default(),
            leaf_bytes: Count::at_least_one(64),
            leaves: Count::at_least_one(32),
            looked_up: Share::ALL,
            stream: None,
        }
    }
}

impl TrillianKind {
    /// Its name in plans and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueLeaf => "queue-leaf",
            Self::GetLatestSignedLogRoot => "get-latest-signed-log-root",
            Self::GetInclusionProof => "get-inclusion-proof",
            Self::GetInclusionProofByHash => "get-inclusion-proof-by-hash",
            Self::GetLeavesByRange => "get-leaves-by-range",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_needs_its_tree_and_unknown_calls_are_refused() {
        let target = r#"{"url": "http://127.0.0.1:8090", "tree_id": 6626240131106251881}"#;
        let target: TrillianTargetPlan = serde_json::from_str(target).unwrap();
        assert_eq!(
            (target.tree_id, target.integration_delay),
            (6_626_240_131_106_251_881, integration_delay())
        );
        assert!(serde_json::from_str::<TrillianTargetPlan>(r#"{"url": "http://127.0.0.1:8090"}"#).is_err());
        assert!(serde_json::from_str::<TrillianPlan>(r#"{"mix": {"queue-leaves": 1}}"#).is_err());
        let plan: TrillianPlan = serde_json::from_str(r#"{"mix": {"queue-leaf": 2}}"#).unwrap();
        assert_eq!(plan.mix.drawn().count(), 1);
    }
}

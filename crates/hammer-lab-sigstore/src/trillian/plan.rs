//! Trillian as a plan writes it.

use hammer_lab::{FaultScript, lie_rule::LieRule, serve::ServePlan};
use hammer_values::{Count, TimeSpan};
use serde::{Deserialize, Serialize};

use crate::rekor::lie::{LieAbout, LieSubject};

/// An embedded Trillian with one tree; every key may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrillianLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: queue-leaf, get-latest-signed-log-root, get-inclusion-proof,
    /// get-inclusion-proof-by-hash, get-consistency-proof, get-leaves-by-range, other.
    pub faults: FaultScript,
    /// The id of the tree; there is no other.
    pub tree_id: i64,
    /// Time between two runs of the signer, each of which makes leaves of what is queued.
    pub sequencing_interval: TimeSpan,
    /// Most leaves of one run of the signer.
    pub batch_size: Count,
    /// Most leaves that may wait to be sequenced; more are refused for want of quota (RESOURCE_EXHAUSTED).
    pub max_unsequenced: Count,
    /// Promises that the log breaks on purpose, and owns up to; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<LieRule<TrillianLieKind>>,
}

impl Default for TrillianLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            tree_id: 6_626_240_131_106_251_881,
            sequencing_interval: TimeSpan::from_millis(100),
            batch_size: Count::at_least_one(1000),
            max_unsequenced: Count::at_least_one(500_000),
            lies: Vec::new(),
        }
    }
}

/// What Trillian lies about. A lie about a leaf sticks to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrillianLieKind {
    /// From some size on roots and proofs are of another tree, whose first leaf is another.
    ForkedRoot,
    /// The audit path of the leaf leads to no root of the tree.
    WrongInclusionProof,
    /// The leaf is queued, and never gets into the tree.
    LostLeaf,
    /// The value that is read back of the leaf is another.
    AlteredLeaf,
}

impl LieAbout for TrillianLieKind {
    fn subject(self) -> LieSubject {
        match self {
            Self::ForkedRoot => LieSubject::Tree,
            _ => LieSubject::Entry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_plan_survives_its_own_text_and_unknown_keys_are_refused() {
        let text = serde_json::to_string(&TrillianLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<TrillianLabPlan>(&text).unwrap(), TrillianLabPlan::default());
        assert!(serde_json::from_str::<TrillianLabPlan>(r#"{"tree": 5}"#).is_err());
        let lying: TrillianLabPlan = serde_json::from_str(r#"{"lies": [{"kind": "lost-leaf"}]}"#).unwrap();
        assert_eq!(lying.lies, [LieRule::of(TrillianLieKind::LostLeaf)]);
    }
}

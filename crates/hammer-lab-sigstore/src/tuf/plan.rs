//! The embedded TUF repository as a plan writes it.

use hammer_lab::{FaultScript, lie_rule::LieRule, serve::ServePlan};
use hammer_values::TimeSpan;
use serde::{Deserialize, Serialize};

/// What a lie of the embedded TUF repository is. All that it does not name is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TufLieKind {
    /// The first timestamp of all is served again, and with it the first snapshot. Counted by answers with a timestamp.
    RolledBackTimestamp,
    /// The newest timestamp names the first snapshot again. Counted by answers with a timestamp.
    RolledBackSnapshot,
    /// The newest timestamp expired an hour ago. Counted by answers with a timestamp.
    ExpiredTimestamp,
    /// A target is not the one that was signed. Counted by answers with a target.
    TargetOfAnotherHash,
    /// A new root lacks the signature of a key of the root before it. Counted by answers with a root.
    RootByTooFewKeys,
}

/// The embedded TUF repository in a plan file; every key may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TufLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: root, timestamp, snapshot, targets, target, other.
    pub faults: FaultScript,
    /// Seed of the keys: whoever knows it holds them.
    pub key_seed: u64,
    /// How often there is a new timestamp. Every fourth names a new snapshot.
    pub sign_every: TimeSpan,
    /// How long a timestamp is valid.
    pub valid_for: TimeSpan,
    /// How often there is a new root, with another key in the place of one of its two; never without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotate_root_every: Option<TimeSpan>,
    /// Every second timestamp is that of a mirror, which asks the repository this often; without it there is no mirror.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror_every: Option<TimeSpan>,
    /// Lies that it tells on purpose, and owns up to; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<LieRule<TufLieKind>>,
}

impl Default for TufLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            key_seed: 1,
            sign_every: TimeSpan::from_secs(10),
            valid_for: TimeSpan::from_secs(86_400),
            rotate_root_every: None,
            mirror_every: None,
            lies: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let text = r#"{"sign_every": "1s", "lies": [{"kind": "rolled-back-timestamp", "times": 1}]}"#;
        let plan: TufLabPlan = serde_json::from_str(text).unwrap();
        assert_eq!(plan.lies[0].kind, TufLieKind::RolledBackTimestamp);
        assert!(serde_json::from_str::<TufLabPlan>(r#"{"rotate": "1s"}"#).is_err());
        let text = serde_json::to_string(&TufLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<TufLabPlan>(&text).unwrap(), TufLabPlan::default());
    }
}

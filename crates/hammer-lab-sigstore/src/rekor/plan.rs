//! Rekor v1 as a plan writes it.

use std::time::Duration;

use hammer_lab::{FaultScript, lie_rule::LieRule, serve::ServePlan};
use hammer_values::{Count, TimeSpan};
use serde::{Deserialize, Serialize};

use super::lie::{LieAbout, LieSubject};

/// An embedded Rekor v1; every key may be left out. Entries are kept in memory for good, about 3 kB each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RekorLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: create-entry, get-entry, get-entry-by-index, retrieve-entries, log-info,
    /// log-proof, public-key, search, ping, other.
    pub faults: FaultScript,
    /// Seed of the log's P-256 key: whoever knows it holds the key.
    pub key_seed: u64,
    /// The id of the tree: the first 16 hex digits of each uuid, and the end of the origin.
    pub tree_id: u64,
    /// The name in the checkpoint's signature line; its origin is `<hostname> - <tree_id>`.
    pub hostname: String,
    /// Time between the acceptance of an entry and its integration into the tree, which is answered then. With Trillian
    /// behind it, it takes 170 ms at least.
    pub integration_delay: TimeSpan,
    /// Log information is that of so long ago, as a cache serves it.
    pub log_info_lag: TimeSpan,
    /// Consistency proofs are of the tree as it was so long ago, as a replica knows it.
    pub proof_lag: TimeSpan,
    /// Takes several entries at once that are asked for (`/api/v1/log/entries/retrieve`); without it that is answered with 501.
    pub retrieval: bool,
    /// Offers the search index; without it a search is answered with 501.
    pub search: bool,
    /// As when Trillian's storage is full: once so many entries were accepted, each further one is answered with 500
    /// "unexpected result from transparency log". No limit when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_full_after: Option<u64>,
    /// As Trillian's quota of unsequenced rows: while so many entries wait to be integrated, each further one is answered
    /// with 500 "unexpected result from transparency log". No limit when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<Count>,
    /// As when Trillian's signer is down: entries are neither integrated nor answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hang: Option<Hang>,
    /// Promises that the log breaks on purpose, and owns up to; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<LieRule<RekorLieKind>>,
}

impl Default for RekorLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            key_seed: 1,
            tree_id: 0x5bf5_224a_bb06_a469,
            hostname: "rekor.local".to_owned(),
            integration_delay: TimeSpan::from_millis(5),
            log_info_lag: TimeSpan::ZERO,
            proof_lag: TimeSpan::ZERO,
            retrieval: true,
            search: true,
            storage_full_after: None,
            quota: None,
            hang: None,
            lies: Vec::new(),
        }
    }
}

/// When proposed entries are not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hang {
    /// Start, from the start of the log (or the last restart of its faults).
    pub at: TimeSpan,
    /// Length; for good without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<TimeSpan>,
    /// Every n-th entry proposed in that time, the first included.
    pub every: Count,
}

impl Default for Hang {
    fn default() -> Self {
        Self { at: TimeSpan::ZERO, duration: None, every: Count::ONE }
    }
}

impl Hang {
    /// Whether the `nth` entry proposed in the time of the fault, counted from 0, hangs.
    pub(crate) fn holds(&self, nth: u64) -> bool {
        nth.is_multiple_of(self.every.get() as u64)
    }

    /// Whether this long after the start is in the time of the fault.
    pub(crate) fn is_on(&self, since: Duration) -> bool {
        let start = self.at.duration();
        since >= start && self.duration.is_none_or(|length| since < start + length.duration())
    }
}

/// What Rekor v1 lies about. A lie about an entry sticks to it: each answer with the entry tells it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RekorLieKind {
    /// The signed entry timestamp does not verify.
    BadSet,
    /// The audit path leads to another root than the checkpoint's.
    WrongInclusionProof,
    /// From some size on the log's information, proofs and answers are of another tree, whose first leaf is another.
    ForkedLogInfo,
    /// The body that is answered is that of the entry before; the timestamp is signed over it. The first entry of a log
    /// is answered honestly.
    AnotherBody,
    /// The entry is accepted, with a timestamp and a proof in a tree that nobody sees again; it is in no later tree, and
    /// 404 when it is asked for.
    LostEntry,
    /// The entry is in the tree, and 404 when it is asked for again.
    WithheldEntry,
    /// The entry is in the tree, and has the body of the one before when it is asked for again. The first entry of a log is
    /// answered honestly.
    AlteredEntry,
    /// The entry is in the tree, and was integrated five minutes later when it is asked for again, with a timestamp over that.
    AlteredTime,
    /// The entry is new, and is answered as one that is there already, under the UUID that it would have: 404 when it is asked for.
    FalseDuplicate,
    /// From some size on the log's information and proofs are of the tree of half as many leaves, for good.
    ShrinkingTree,
    /// The entry is in the tree, and no search finds it.
    WithheldFromSearch,
    /// The log's information is of the tree with another root, under the signature of the true one; it is answers with that information
    /// that are counted.
    ForgedLogInfo,
    /// A consistency proof has another hash than the tree's; it is proofs that are counted.
    WrongConsistencyProof,
    /// A search that finds the entry finds another one beside it, by a uuid that no entry has.
    InventedBySearch,
    /// The answered log index is the one after the entry's, with a timestamp over it; that of the proof is right.
    WrongLogIndex,
}

impl LieAbout for RekorLieKind {
    fn subject(self) -> LieSubject {
        match self {
            Self::ForkedLogInfo | Self::ShrinkingTree => LieSubject::Tree,
            Self::WrongConsistencyProof => LieSubject::Proof,
            Self::ForgedLogInfo => LieSubject::Head,
            _ => LieSubject::Entry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let text = r#"{"integration_delay": "170ms", "hang": {"at": "3s"}, "lies": [{"kind": "bad-set", "every": 3}]}"#;
        let plan: RekorLabPlan = serde_json::from_str(text).unwrap();
        assert_eq!(plan.integration_delay, TimeSpan::from_millis(170));
        let lie = LieRule { every: Count::at_least_one(3), ..LieRule::of(RekorLieKind::BadSet) };
        assert_eq!(plan.lies, [lie]);
        assert!(serde_json::from_str::<RekorLabPlan>(r#"{"tree": 5}"#).is_err());
    }

    #[test]
    fn the_default_plan_survives_its_own_text() {
        let text = serde_json::to_string(&RekorLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<RekorLabPlan>(&text).unwrap(), RekorLabPlan::default());
    }

    #[test]
    fn a_hang_holds_in_its_time_alone() {
        let (at, duration) = (TimeSpan::from_secs(3), Some(TimeSpan::from_secs(2)));
        let hang = Hang { at, duration, ..Hang::default() };
        let on: Vec<u64> = (0..9).filter(|second| hang.is_on(Duration::from_secs(*second))).collect();
        assert_eq!(on, [3, 4]);
        assert!(Hang { duration: None, ..hang }.is_on(Duration::from_secs(900)));
    }
}

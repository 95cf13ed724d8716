//! Rekor v2 as a plan writes it.

use hammer_lab::{FaultScript, lie_rule::LieRule, serve::ServePlan};
use hammer_values::{Count, TimeSpan};
use serde::{Deserialize, Serialize};

use crate::rekor::lie::{LieAbout, LieSubject};

/// An embedded Rekor v2; every key may be left out. Names and defaults are rekor-tiles' where it has the same flag, but for
/// the shorter checkpoint interval. Entries are kept in memory for good, about 1.5 kB each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RekorTilesLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// What goes wrong on purpose. Endpoints: create-entry (REST and gRPC), checkpoint, tile, entries, health, other.
    pub faults: FaultScript,
    /// Seed of the log's key: whoever knows it holds the key.
    pub key_seed: u64,
    /// The kind of the log's key.
    pub key: CheckpointKey,
    /// Origin of the checkpoint. Clients expect the host of the log's URL, without the port.
    pub hostname: String,
    /// Time between checkpoints while the tree grows; an entry is answered once one covers it.
    pub checkpoint_interval: TimeSpan,
    /// Most entries of a batch.
    pub batch_max_size: Count,
    /// Longest wait of a batch's first entry.
    pub batch_max_age: TimeSpan,
    /// Most entries that wait to be sequenced; more are refused with 503.
    pub pushback_max_outstanding: usize,
    /// Time within which an entry must be answered; else 504 (rekor-tiles closes the connection).
    pub server_timeout: TimeSpan,
    /// Refuses every entry with 405: the log takes no more.
    pub frozen: bool,
    /// How far checkpoint, tiles and bundles are behind what was published: they are read from a replica that lags.
    pub read_lag: TimeSpan,
    /// Every second checkpoint that is read is that of so long ago: one of two caches serves it. Tiles are fresh.
    pub cache_age: TimeSpan,
    /// Serves tiles and bundles compressed with gzip, whether asked for or not.
    pub gzip: bool,
    /// Promises that the log breaks on purpose, and owns up to; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<LieRule<RekorTilesLieKind>>,
}

impl Default for RekorTilesLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            key_seed: 1,
            key: CheckpointKey::default(),
            hostname: "127.0.0.1".to_owned(),
            checkpoint_interval: TimeSpan::from_secs(1),
            batch_max_size: Count::at_least_one(256),
            batch_max_age: TimeSpan::from_millis(250),
            pushback_max_outstanding: 4096,
            server_timeout: TimeSpan::from_secs(20),
            frozen: false,
            read_lag: TimeSpan::ZERO,
            cache_age: TimeSpan::ZERO,
            gzip: false,
            lies: Vec::new(),
        }
    }
}

/// The kind of a log's key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointKey {
    /// Ed25519 over the note's text.
    #[default]
    Ed25519,
    /// ECDSA over P-256 with SHA-256.
    P256,
}

/// What Rekor v2 lies about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RekorTilesLieKind {
    /// The entry is answered with a proof and a checkpoint that nobody sees again; in the tree and in its bundle another
    /// entry stands in its place.
    LostEntry,
    /// The audit path leads to another root than the checkpoint's.
    WrongInclusionProof,
    /// From some checkpoint on the log signs and serves another tree, in which the first leaf is another.
    ForkedCheckpoint,
    /// The body that is answered is that of the entry before; the first entry of a log is answered honestly.
    AnotherBody,
    /// The bundle has another entry in its place, and the tree its hash.
    AlteredBundle,
    /// From some checkpoint on the hash tiles that are served are of a tree in which the first leaf is another, and the checkpoints are not.
    TileOfAnotherTree,
    /// From some checkpoint on the one of half that tree is served for good, as entries are still answered.
    RolledBackCheckpoint,
    /// From some checkpoint on one of half that tree is served for good, with another root and with the signature of the true one, as
    /// entries are still answered.
    ForgedCheckpoint,
    /// The entry is answered with a proof in another tree, in which the first leaf is another, and with a checkpoint of that; what is served
    /// is the true tree, with the entry in it. The first entry of a log is answered honestly.
    ForkedAnswer,
    /// A checkpoint that is read is of a tree that never was: of a thousand leaves more than the log has, with the root of those that it has,
    /// and signed.
    InventedCheckpoint,
    /// The entry is new, and is answered as one that is there already, at the index of the entry before; the first entry of a log is
    /// answered honestly.
    FalseDuplicate,
}

impl LieAbout for RekorTilesLieKind {
    fn subject(self) -> LieSubject {
        match self {
            Self::ForkedCheckpoint
            | Self::TileOfAnotherTree
            | Self::RolledBackCheckpoint
            | Self::ForgedCheckpoint => LieSubject::Tree,
            Self::InventedCheckpoint => LieSubject::Head,
            _ => LieSubject::Entry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let text =
            r#"{"key": "p256", "checkpoint_interval": "10s", "lies": [{"kind": "forked-checkpoint"}]}"#;
        let plan: RekorTilesLabPlan = serde_json::from_str(text).unwrap();
        assert_eq!(plan.key, CheckpointKey::P256);
        assert_eq!(plan.lies, [LieRule::of(RekorTilesLieKind::ForkedCheckpoint)]);
        assert!(serde_json::from_str::<RekorTilesLabPlan>(r#"{"origin": "a"}"#).is_err());
    }

    #[test]
    fn the_default_plan_survives_its_own_text() {
        let text = serde_json::to_string(&RekorTilesLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<RekorTilesLabPlan>(&text).unwrap(), RekorTilesLabPlan::default());
    }
}

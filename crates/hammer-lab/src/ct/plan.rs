//! The log as a plan writes it.

pub(crate) mod config;
pub(crate) mod kept_entries;
pub(crate) mod lie;

use std::path::PathBuf;

use hammer_values::{Count, Date, RenamedKey, TimeSpan};
use serde::{Deserialize, Serialize};

use crate::{fault::FaultScript, serve::ServePlan};

use kept_entries::KeptEntries;
use lie::Lie;

/// How the log answers a submission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// As TesseraCT: once the entry is sequenced (or published), with its leaf index in the SCT's extensions.
    #[default]
    StaticCt,
    /// As ct_server: at once, with empty extensions.
    Rfc6962,
}

/// A log in a plan file or on a command line; every key may be left out. Names and defaults are TesseraCT's where it
/// has the same flag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CtLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// Path of the log below the server's root, without slashes at its ends.
    pub path_prefix: String,
    /// Origin line of the checkpoint; by default `127.0.0.1/<path_prefix>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// SCT flavour.
    pub flavour: Flavour,
    /// PEM file (SEC1 or PKCS#8) of the log's P-256 key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_key: Option<PathBuf>,
    /// Seed of the log's key when there is no file: whoever knows it holds the key.
    pub key_seed: u64,
    /// PEM files of the roots that the log accepts.
    pub roots_pem_files: Vec<PathBuf>,
    /// Folder laid out as static-ct-api; without it the log is in memory. What it holds already is appended to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_dir: Option<PathBuf>,
    /// In memory, how many of the newest entries are kept, 1,024 at least; all without it. Bundles, tiles and proofs of older ones are gone
    /// (410), and a duplicate of one is a new entry. So a log can run for days in the same memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_entries: Option<KeptEntries>,
    /// Most entries of a batch.
    pub batch_max_size: Count,
    /// Longest wait of a batch's first entry.
    pub batch_max_age: TimeSpan,
    /// Time between checkpoints while the tree grows.
    pub checkpoint_interval: TimeSpan,
    /// Time after which an unchanged tree gets a new checkpoint.
    pub checkpoint_republish_interval: TimeSpan,
    /// Whether a submission is answered after a checkpoint covers it, or as soon as it is sequenced.
    pub enable_publication_awaiter: bool,
    /// Most entries that wait to be sequenced; more are refused with 429.
    pub pushback_max_outstanding: usize,
    /// Most duplicates answered in a second; more are refused with 429. No limit when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit_dedup: Option<u64>,
    /// Time within which a submission must be answered, else 500.
    pub http_deadline: TimeSpan,
    /// Promised maximum merge delay, stated in log.v3.json.
    pub max_merge_delay: TimeSpan,
    /// Least NotAfter accepted (inclusive).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after_start: Option<Date>,
    /// NotAfter from which on nothing is accepted (exclusive).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after_limit: Option<Date>,
    /// Refuses expired leaves.
    pub reject_expired: bool,
    /// Refuses leaves that have not expired.
    pub reject_unexpired: bool,
    /// Most entries of one get-entries answer.
    pub max_get_entries: Count,
    /// Serves data tiles compressed with gzip, whether asked for or not, as Sunlight does; `static-ct` over HTTP.
    pub gzip: bool,
    /// Serves names tiles, an extension of Sunlight: a JSON line for each entry, always compressed; `static-ct` over HTTP.
    pub names_tiles: bool,
    /// What goes wrong on purpose. Endpoints: add-chain, add-pre-chain, get-roots, get-sth, get-sth-consistency,
    /// get-proof-by-hash, get-entries, get-entry-and-proof, checkpoint, tile, data-tile, names-tile,
    /// issuer, log.v3.json, other.
    pub faults: FaultScript,
    /// Promises that the log breaks on purpose, and owns up to in its counts; without any it is honest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<Lie>,
}

impl CtLabPlan {
    /// What its keys were called before.
    pub const RENAMED: &[RenamedKey] = &[ServePlan::RENAMED_MAX_BODY, FaultScript::RENAMED_RETRY_AFTER];
}

impl Default for CtLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            path_prefix: "lab".into(),
            origin: None,
            flavour: Flavour::StaticCt,
            private_key: None,
            key_seed: 1,
            roots_pem_files: Vec::new(),
            storage_dir: None,
            keep_entries: None,
            batch_max_size: Count::at_least_one(256),
            batch_max_age: TimeSpan::from_millis(250),
            checkpoint_interval: TimeSpan::from_millis(1500),
            checkpoint_republish_interval: TimeSpan::from_millis(30_000),
            enable_publication_awaiter: true,
            pushback_max_outstanding: 65_536,
            rate_limit_dedup: None,
            http_deadline: TimeSpan::from_millis(10_000),
            max_merge_delay: TimeSpan::from_millis(60_000),
            not_after_start: None,
            not_after_limit: None,
            reject_expired: false,
            reject_unexpired: false,
            max_get_entries: Count::at_least_one(1000),
            gzip: false,
            names_tiles: false,
            faults: FaultScript::default(),
            lies: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_from_text_and_refuses_unknown_keys() {
        let text = r#"{"flavour": "rfc6962", "batch_max_age": "50ms", "serve": {"listen": "127.0.0.1:0", "threads": 2},
            "faults": {"rules": [{"stalls": [{"at": "10s", "duration": "2s"}]}]}}"#;
        let plan: CtLabPlan = serde_json::from_str(text).unwrap();
        assert_eq!(plan.flavour, Flavour::Rfc6962);
        assert_eq!(plan.batch_max_age, TimeSpan::from_millis(50));
        assert!(serde_json::from_str::<CtLabPlan>(r#"{"batch_size": 5}"#).is_err());
    }

    #[test]
    fn the_default_plan_survives_its_own_text() {
        let text = serde_json::to_string(&CtLabPlan::default()).unwrap();
        assert_eq!(serde_json::from_str::<CtLabPlan>(&text).unwrap(), CtLabPlan::default());
    }
}

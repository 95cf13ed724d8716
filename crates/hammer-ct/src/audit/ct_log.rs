//! A log of Certificate Transparency in the audit's terms.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hammer_audit::{
    AnswerBound, AuditWords, EntryProof, EntrySource, HeadFault, IndexProof, LogFollower, LogQuery,
    LogSource, OpenedHead,
};
use hammer_core::promise::PromiseKind;
use hammer_core::runtime::Clock;
use hammer_net::{ClientConfig, ConfigError};
use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::ct::rfc6962::{GetEntryAndProof, GetProofByHash, GetSthConsistency};
use hammer_tlog::encoding::base64;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{Receipt, bundles};
use hammer_tlog::logs::follow::{Follower, ProofMethod};
use hammer_tlog::logs::merkle::leaf_hash;
use hammer_tlog::logs::note::Verifier;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::sct_evidence::ShownSct;
use crate::log::{
    GET_ENTRIES, GET_ENTRY_AND_PROOF, GET_PROOF_BY_HASH, GET_STH_CONSISTENCY, LogKind, LogTarget,
};
use crate::promise::LogPromise;
use crate::tree_head::open_head;

/// A log of RFC 6962 or static-ct-api, as an audit has to know it.
#[derive(Debug)]
pub struct CtLog {
    log: Arc<LogTarget>,
    verifier: Verifier,
}

impl CtLog {
    /// That log.
    pub fn new(log: Arc<LogTarget>) -> Self {
        Self { verifier: log.checkpoint_verifier(), log }
    }

    /// Follows `log` without load, by the fewest tiles or by `get-sth-consistency`; `clock` started at `epoch_unix_ms`. The endpoints of
    /// `client` are replaced by the log's.
    ///
    /// # Errors
    /// Those of [`hammer_net::Client::new`].
    pub fn follower(
        log: Arc<LogTarget>,
        client: ClientConfig,
        clock: Rc<dyn Clock>,
        epoch_unix_ms: u64,
    ) -> Result<LogFollower<Self>, ConfigError> {
        let by = match log.kind {
            LogKind::StaticCt => ProofMethod::Edges,
            LogKind::Rfc6962 => ProofMethod::Proofs,
        };
        let (place, follower) = (log.place(client), Follower::new(by, bundles::<StaticCtLeaves>()));
        LogFollower::new(Self::new(log), place, follower, clock, epoch_unix_ms)
    }
}

impl LogSource for CtLog {
    fn url(&self) -> String {
        self.log.submission.first().map_or_else(String::new, ToString::to_string)
    }

    fn promise(&self) -> PromiseKind {
        LogPromise::Sct.into()
    }

    fn head_path(&self) -> &str {
        self.log.tree_head_path()
    }

    fn open_head(&self, body: &[u8]) -> Result<OpenedHead, HeadFault> {
        open_head(&self.log, &self.verifier, body)
    }

    fn reference_path(&self, reference: &Hash) -> Option<String> {
        Some(format!("/issuer/{reference}"))
    }

    fn consistency(&self, first: u64, second: u64) -> Option<LogQuery<Vec<Hash>>> {
        // static-ct-api has tiles for that, and TesseraCT answers 404.
        (self.log.kind == LogKind::Rfc6962).then(|| LogQuery {
            path: format!("{GET_STH_CONSISTENCY}?first={first}&second={second}"),
            bound: AnswerBound::PROOF,
            read: |body| Ok(json::<GetSthConsistency>(body)?.consistency),
        })
    }

    fn skew(&self) -> Duration {
        self.log.skew
    }

    /// RFC 6962 section 3.5: a log has a tree head no older than its maximum merge delay.
    fn oldest_head(&self) -> Option<Duration> {
        self.log.folder.is_none().then_some(self.log.mmd)
    }

    fn words(&self) -> AuditWords {
        AuditWords { promise: "sct", overdue: MMD_MISSED, allowance: "merge delay" }
    }

    fn evidence(&self, receipt: &Receipt) -> impl Serialize {
        ShownSct::kept(&self.log.key.log_id(), receipt)
    }
}

impl EntrySource for CtLog {
    fn entries(&self, first: u64, last: u64) -> String {
        format!("{GET_ENTRIES}?start={first}&end={last}")
    }

    fn entry_and_proof(&self, index: u64, size: u64) -> LogQuery<EntryProof> {
        let path = format!("{GET_ENTRY_AND_PROOF}?leaf_index={index}&tree_size={size}");
        let read = |body: &[u8]| {
            let GetEntryAndProof { leaf_input, audit_path, .. } = json(body)?;
            Ok(EntryProof { leaf: leaf_hash(&leaf_input.0), audit_path })
        };
        LogQuery { path, bound: AnswerBound::ENTRIES, read }
    }

    fn proof_by_hash(&self, leaf: &Hash, size: u64) -> LogQuery<IndexProof> {
        let hash = base64(&leaf.0).replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        let path = format!("{GET_PROOF_BY_HASH}?hash={hash}&tree_size={size}");
        let read = |body: &[u8]| {
            let GetProofByHash { leaf_index: index, audit_path } = json(body)?;
            Ok(IndexProof { index, audit_path })
        };
        LogQuery { path, bound: AnswerBound::PROOF, read }
    }
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|why| why.to_string())
}

/// A leaf that no head covers although the maximum merge delay is over (RFC 6962 section 3).
pub(super) const MMD_MISSED: &str = "mmd-missed";

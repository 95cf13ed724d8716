//! What Rekor v1 says of its log (sigstore/rekor v1.5, `openapi.yaml`: `LogInfo`, `ConsistencyProof`).

use std::borrow::Cow;

use hammer_audit::{HeadFault, OpenedHead};
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::note::Checkpoint;
use serde::Deserialize;

use super::log_heads::LogHeads;
use crate::judge::entry::open;
use crate::trust::Trust;

/// Where it is.
pub(super) const LOG_INFO: &str = "/api/v1/log";
/// Where consistency proofs are.
pub(super) const LOG_PROOF: &str = "/api/v1/log/proof";
/// Where the log's key is.
pub(super) const PUBLIC_KEY: &str = "/api/v1/log/publicKey";
/// Where the search index is asked.
pub(super) const SEARCH: &str = "/api/v1/index/retrieve";

/// `LogInfo`; of the shards that take no more entries nothing is needed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogInfo<'a> {
    /// Hexadecimal.
    #[serde(borrow)]
    pub(super) root_hash: Cow<'a, str>,
    /// A signed note.
    #[serde(borrow)]
    pub(super) signed_tree_head: Cow<'a, str>,
    /// The tree of the shard that takes entries, in decimal digits.
    #[serde(borrow, rename = "treeID")]
    pub(super) tree_id: Cow<'a, str>,
    pub(super) tree_size: u64,
}

/// `ConsistencyProof`.
#[derive(Debug, Deserialize)]
pub(super) struct ConsistencyProof<'a> {
    #[serde(borrow)]
    pub(super) hashes: Vec<Cow<'a, str>>,
}

/// Reads a `LogInfo` and verifies its checkpoint, which has to say what stands beside it, and no other root than before.
pub(super) fn open_log_info(trust: &Trust, heads: &LogHeads, body: &[u8]) -> Result<OpenedHead, HeadFault> {
    let unread = |why: String| HeadFault { breach: Some(MALFORMED), why };
    let info: LogInfo<'_> =
        serde_json::from_slice(body).map_err(|why| unread(format!("the answer is no log info: {why}")))?;
    let root = Hash::from_hex(&info.root_hash).ok_or_else(|| unread("rootHash is no hash".to_owned()))?;
    let checkpoint = open_by_any(trust, &info.signed_tree_head)
        .map_err(|why| HeadFault { breach: Some(CHECKPOINT), why: format!("failed to {why}") })?;
    if (checkpoint.size, checkpoint.root) != (info.tree_size, root) {
        let why = format!(
            "its checkpoint is of {} leaves and root {}, and beside it stand {} and {root}",
            checkpoint.size, checkpoint.root, info.tree_size
        );
        return Err(HeadFault { breach: Some(CHECKPOINT), why });
    }
    heads.check(&checkpoint.origin, checkpoint.size, root).map_err(|other| HeadFault {
        breach: Some(FORKED),
        why: format!("the tree of {} leaves has the root {root}, and had {other}", checkpoint.size),
    })?;
    Ok(OpenedHead { size: checkpoint.size, root, timestamp_ms: 0, cosigners: Vec::new() })
}

/// By whichever trusted key: shards of a log may have different ones.
fn open_by_any(trust: &Trust, envelope: &str) -> Result<Checkpoint, String> {
    let mut refused = "verify it: no key of the log is trusted".to_owned();
    for key in trust.rekor_keys() {
        match open(key, envelope) {
            Ok(checkpoint) => return Ok(checkpoint),
            Err(why) => refused = why,
        }
    }
    Err(refused)
}

const MALFORMED: &str = "malformed-answer";
const CHECKPOINT: &str = "checkpoint";
/// Two roots of one size, both signed.
const FORKED: &str = "forked-log-info";

//! What Rekor v1 says of its log (sigstore/rekor v1.5, `openapi.yaml`: `LogInfo`, `ConsistencyProof`).

use std::borrow::Cow;

use hammer_audit::{HeadFault, OpenedHead};
use hammer_read::LogHeads;
use serde::Deserialize;

use crate::judge::malformed::MALFORMED;
use crate::judge::rekor_log::log_info::open_head;
use crate::trust::Trust;

/// Where it is.
pub(super) const LOG_INFO: &str = "/api/v1/log";
/// Where consistency proofs are.
pub(super) const LOG_PROOF: &str = "/api/v1/log/proof";
/// Where the search index is asked.
pub(super) const SEARCH: &str = "/api/v1/index/retrieve";

/// What a session needs of log information at once, in order to ask for a proof: the rest is the verifiers' affair.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServedTree<'a> {
    /// The tree of the shard that takes entries, in decimal digits.
    #[serde(borrow, rename = "treeID")]
    pub(super) tree_id: Cow<'a, str>,
    pub(super) tree_size: u64,
}

/// Reads log information and verifies its checkpoints, which have to say what stands beside them, and no other root than before.
pub(super) fn open_log_info(trust: &Trust, heads: &LogHeads, body: &[u8]) -> Result<OpenedHead, HeadFault> {
    let opened = open_head(body, trust.rekor_keys())
        .map_err(|fault| HeadFault { breach: fault.breach.or(Some(MALFORMED)), ..fault })?;
    let OpenedHead { size, root, .. } = &opened;
    heads.check(&opened.shards.active.to_string(), *size, *root).map_err(|other| HeadFault {
        breach: Some(FORKED),
        why: format!("the tree of {size} leaves has the root {root}, and had {other}"),
    })?;
    Ok(opened)
}

/// Two roots of one size, both signed.
const FORKED: &str = "forked-log-info";

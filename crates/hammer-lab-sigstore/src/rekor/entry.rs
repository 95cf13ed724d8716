//! An entry of the log.

use hammer_tlog::{encoding::base64, logs::merkle::Hash};
use serde::Serialize;

use super::plan::RekorLieKind;
use hammer_lab_authority::LabSigner;

/// An entry that was integrated, or that waits to be.
#[derive(Debug, Clone)]
pub(crate) struct LoggedEntry {
    /// The leaf in base64, as each answer has it.
    pub(crate) body: String,
    pub(crate) leaf_hash: Hash,
    /// Under what it is found.
    pub(crate) keys: Vec<String>,
    pub(crate) lie: Option<RekorLieKind>,
}

/// What a signed entry timestamp is over, in canonical JSON (RFC 8785).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SignedTimestamp<'a> {
    body: &'a str,
    integrated_time: u64,
    #[serde(rename = "logID")]
    log_id: &'a str,
    log_index: u64,
}

impl LoggedEntry {
    pub(crate) fn new(body: &str, leaf_hash: Hash, keys: Vec<String>, lie: Option<RekorLieKind>) -> Self {
        Self { body: base64(body.as_bytes()), leaf_hash, keys, lie }
    }
}

/// The signed entry timestamp: the promise that the body is in the log at this index since this time, in seconds since the
/// Unix epoch.
pub(crate) fn signed_entry_timestamp(
    signer: &LabSigner,
    log_id: &str,
    body: &str,
    integrated_time: u64,
    log_index: u64,
) -> Vec<u8> {
    let promise = SignedTimestamp { body, integrated_time, log_id, log_index };
    // Texts and numbers are always written; without a message any verifier refuses the signature.
    signer.sign(&serde_json::to_vec(&promise).unwrap_or_default())
}

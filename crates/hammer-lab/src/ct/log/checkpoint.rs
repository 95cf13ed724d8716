//! What the log states about its tree: the checkpoint of static-ct-api and the tree head of RFC 6962, which carry the
//! same signature.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use hammer_tlog::logs::merkle::{Hash, sha256};
use serde_json::json;

use crate::ct::key::LogSigner;

/// A signed statement about the tree.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    pub(crate) size: u64,
    pub(crate) root: Hash,
    pub(crate) timestamp_ms: u64,
    /// `digitally-signed` over the TreeHeadSignature of RFC 6962 section 3.5.
    signature: Vec<u8>,
    /// The signed note, its text and its one signature line.
    pub(crate) note: Bytes,
}

impl Checkpoint {
    pub(crate) fn sign(signer: &LogSigner, origin: &str, size: u64, root: Hash, timestamp_ms: u64) -> Self {
        let signature = signer.digitally_signed(&tree_head(size, &root, timestamp_ms));
        let note = note(origin, size, &root, &note_signature(signer, origin, timestamp_ms, &signature));
        Self { size, root, timestamp_ms, signature, note: note.into() }
    }

    /// The answer to get-sth (RFC 6962 section 4.3).
    pub(crate) fn tree_head_json(&self) -> String {
        json!({
            "tree_size": self.size,
            "timestamp": self.timestamp_ms,
            "sha256_root_hash": self.root.to_base64(),
            "tree_head_signature": BASE64_STANDARD.encode(&self.signature),
        })
        .to_string()
    }
}

/// TreeHeadSignature: version 0, signature type 1.
fn tree_head(size: u64, root: &Hash, timestamp_ms: u64) -> Vec<u8> {
    [&[0, 1], timestamp_ms.to_be_bytes().as_slice(), &size.to_be_bytes(), root.as_bytes()].concat()
}

/// Key id, timestamp and signature of the RFC 6962 note signature type (C2SP static-ct-api, "Checkpoints").
fn note_signature(signer: &LogSigner, origin: &str, timestamp_ms: u64, signature: &[u8]) -> Vec<u8> {
    let key_id = sha256(&[origin.as_bytes(), b"\n\x05", signer.log_id.as_bytes()].concat());
    [&key_id.as_bytes()[..4], &timestamp_ms.to_be_bytes(), signature].concat()
}

fn note(origin: &str, size: u64, root: &Hash, signature: &[u8]) -> String {
    let root = root.to_base64();
    format!("{origin}\n{size}\n{root}\n\n\u{2014} {origin} {}\n", BASE64_STANDARD.encode(signature))
}

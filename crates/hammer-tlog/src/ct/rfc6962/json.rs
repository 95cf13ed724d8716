//! Messages of RFC 6962 section 4, in JSON.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::encoding::{Base64, write_base64};
use crate::hash::Hash;
use crate::keys::key::{DigitallySigned, LogKey, SignatureError};
use crate::logs::tree_head::tree_head_signature_input;
use crate::tls::TlsError;

/// The body of add-chain and add-pre-chain (RFC 6962 sections 4.1 and 4.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddChainRequest {
    /// DER certificates: the leaf or precertificate, then each its predecessor's issuer.
    pub chain: Vec<Base64>,
}

impl AddChainRequest {
    /// Appends the body of a chain, written straight from its DER: what `serde_json` would write, without a copy.
    pub fn write<C: AsRef<[u8]>>(out: &mut Vec<u8>, chain: &[C]) {
        out.extend_from_slice(br#"{"chain":["#);
        for (position, certificate) in chain.iter().enumerate() {
            out.extend_from_slice(if position == 0 { b"\"" } else { b",\"" });
            write_base64(out, certificate.as_ref());
            out.push(b'"');
        }
        out.extend_from_slice(b"]}");
    }
}

/// The answer of add-chain and add-pre-chain, its texts borrowed from the body (RFC 6962 section 4.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddChainResponse<'a> {
    /// 0 for v1.
    pub sct_version: u8,
    /// Base64 of the log id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Milliseconds since 1970.
    pub timestamp: u64,
    /// Base64 of `CtExtensions`; empty from a log of RFC 6962.
    #[serde(borrow)]
    pub extensions: Cow<'a, str>,
    /// Base64 of a `DigitallySigned`.
    #[serde(borrow)]
    pub signature: Cow<'a, str>,
}

/// The answer of get-sth (RFC 6962 section 4.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetSthResponse {
    /// Leaves in the tree.
    pub tree_size: u64,
    /// Milliseconds since 1970.
    pub timestamp: u64,
    /// The root.
    pub sha256_root_hash: Hash,
    /// A `DigitallySigned` over the `TreeHeadSignature`.
    pub tree_head_signature: Base64,
}

impl GetSthResponse {
    /// Verifies the tree head's signature by the log's key (RFC 6962 section 3.5).
    pub fn verify(&self, key: &LogKey) -> Result<(), SthError> {
        let signed = DigitallySigned::parse(&self.tree_head_signature.0)?;
        let input = tree_head_signature_input(self.timestamp, self.tree_size, &self.sha256_root_hash);
        Ok(key.verify(&input, &signed)?)
    }
}

/// Why a signed tree head does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SthError {
    /// The signature field is not a `DigitallySigned`.
    #[error("read the tree head's signature: {0}")]
    Signature(#[from] TlsError),
    /// The signature is not the log's over this tree head.
    #[error("verify the tree head: {0}")]
    BadSignature(#[from] SignatureError),
}

/// The answer of get-sth-consistency (RFC 6962 section 4.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetSthConsistency {
    /// The consistency proof.
    #[serde(deserialize_with = "or_null")]
    pub consistency: Vec<Hash>,
}

/// The answer of get-proof-by-hash (RFC 6962 section 4.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetProofByHash {
    /// The leaf's index, from 0.
    pub leaf_index: u64,
    /// The inclusion proof.
    #[serde(deserialize_with = "or_null")]
    pub audit_path: Vec<Hash>,
}

/// The answer of get-entries (RFC 6962 section 4.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetEntries {
    /// The entries from `start` on, possibly fewer than asked for.
    pub entries: Vec<LeafEntry>,
}

/// One entry of [`GetEntries`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeafEntry {
    /// A [`MerkleTreeLeaf`](super::MerkleTreeLeaf).
    pub leaf_input: Base64,
    /// An [`ExtraData`](super::ExtraData).
    pub extra_data: Base64,
}

/// The answer of get-entry-and-proof (RFC 6962 section 4.8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetEntryAndProof {
    /// A [`MerkleTreeLeaf`](super::MerkleTreeLeaf).
    pub leaf_input: Base64,
    /// An [`ExtraData`](super::ExtraData).
    pub extra_data: Base64,
    /// The inclusion proof.
    #[serde(deserialize_with = "or_null")]
    pub audit_path: Vec<Hash>,
}

/// The answer of get-roots (RFC 6962 section 4.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetRoots {
    /// DER certificates that chains may end in.
    #[serde(deserialize_with = "or_null")]
    pub certificates: Vec<Base64>,
}

/// Servers written in Go say `null` for the empty list, as for the proof of a tree with one leaf, or the roots of a log that has none.
fn or_null<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;

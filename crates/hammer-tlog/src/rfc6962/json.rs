use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::encoding::Base64;
use crate::merkle::Hash;

/// The body of add-chain and add-pre-chain (RFC 6962 sections 4.1 and 4.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddChainRequest {
    /// DER certificates: the leaf or precertificate, then each its predecessor's issuer.
    pub chain: Vec<Base64>,
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
    pub certificates: Vec<Base64>,
}

/// Servers written in Go say `null` for the empty list, as for the proof of a tree with one leaf.
fn or_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Hash>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

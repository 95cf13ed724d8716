//! An entry with its proof (package dev.sigstore.rekor.v1, `sigstore_rekor.proto`), in Protocol Buffers and in JSON.

use prost::Message;
use serde::{Deserialize, Serialize};

use super::common::LogId;
use crate::json;

/// An entry with its proof. In JSON as a gateway writes it: names in camel case, int64 as strings, bytes in base64; what is missing
/// has its default.
#[derive(Clone, PartialEq, Eq, Hash, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TransparencyLogEntry {
    /// The entry's place in the log, from 0.
    #[prost(int64, tag = "1")]
    #[serde(with = "json::int64", alias = "log_index")]
    pub log_index: i64,
    /// Which log.
    #[prost(message, optional, tag = "2")]
    #[serde(alias = "log_id")]
    pub log_id: Option<LogId>,
    /// What the body is.
    #[prost(message, optional, tag = "3")]
    #[serde(alias = "kind_version")]
    pub kind_version: Option<KindVersion>,
    /// When Rekor v1 took the entry, in seconds since the Unix epoch; 0 of Rekor v2.
    #[prost(int64, tag = "4")]
    #[serde(with = "json::int64", alias = "integrated_time")]
    pub integrated_time: i64,
    /// The promise of Rekor v1; none of Rekor v2.
    #[prost(message, optional, tag = "5")]
    #[serde(alias = "inclusion_promise")]
    pub inclusion_promise: Option<InclusionPromise>,
    /// The proof that the entry is in the log.
    #[prost(message, optional, tag = "6")]
    #[serde(alias = "inclusion_proof")]
    pub inclusion_proof: Option<InclusionProof>,
    /// The entry's body in canonical JSON (RFC 8785); the leaf hash is SHA-256 over 0x00 and it.
    #[prost(bytes = "vec", tag = "7")]
    #[serde(with = "json::bytes", alias = "canonicalized_body")]
    pub canonicalized_body: Vec<u8>,
}

/// What a body is.
#[derive(Clone, PartialEq, Eq, Hash, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KindVersion {
    /// Its kind: `hashedrekord`, `dsse`, `rfc3161`, ...
    #[prost(string, tag = "1")]
    #[serde(deserialize_with = "json::or_default")]
    pub kind: String,
    /// The version of the kind: `0.0.2`.
    #[prost(string, tag = "2")]
    #[serde(deserialize_with = "json::or_default")]
    pub version: String,
}

/// The promise that an entry will be in the log.
#[derive(Clone, PartialEq, Eq, Hash, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InclusionPromise {
    /// The log's signature over the canonical JSON of body, time, log and place.
    #[prost(bytes = "vec", tag = "1")]
    #[serde(with = "json::bytes", alias = "signed_entry_timestamp")]
    pub signed_entry_timestamp: Vec<u8>,
}

/// The proof that an entry is in a tree (RFC 6962 section 2.1.1).
#[derive(Clone, PartialEq, Eq, Hash, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InclusionProof {
    /// The entry's place in the tree, from 0; of a log of several trees not its place in the log.
    #[prost(int64, tag = "1")]
    #[serde(with = "json::int64", alias = "log_index")]
    pub log_index: i64,
    /// The tree's root, 32 bytes.
    #[prost(bytes = "vec", tag = "2")]
    #[serde(with = "json::bytes", alias = "root_hash")]
    pub root_hash: Vec<u8>,
    /// The tree's leaves.
    #[prost(int64, tag = "3")]
    #[serde(with = "json::int64", alias = "tree_size")]
    pub tree_size: i64,
    /// The audit path, 32 bytes each, from the leaf up.
    #[prost(bytes = "vec", repeated, tag = "4")]
    #[serde(with = "json::bytes_list")]
    pub hashes: Vec<Vec<u8>>,
    /// The log's signature over the tree.
    #[prost(message, optional, tag = "5")]
    pub checkpoint: Option<Checkpoint>,
}

/// A log's signature over a tree.
#[derive(Clone, PartialEq, Eq, Hash, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Checkpoint {
    /// The signed note (C2SP tlog-checkpoint).
    #[prost(string, tag = "1")]
    #[serde(deserialize_with = "json::or_default")]
    pub envelope: String,
}

//! Roots and proofs.

use prost::Message;

use super::root::{LogRootError, LogRootV1};

/// A root as the server hands it out; since Trillian 1.4 it is no longer signed.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct SignedLogRoot {
    /// A `LogRoot` in the encoding of TLS, which [`SignedLogRoot::read`] reads.
    #[prost(bytes = "vec", tag = "8")]
    pub log_root: Vec<u8>,
}

impl SignedLogRoot {
    /// The root.
    ///
    /// # Errors
    /// Bytes that are no `LogRoot` of version 1.
    pub fn read(&self) -> Result<LogRootV1<'_>, LogRootError> {
        LogRootV1::from_tls(&self.log_root)
    }
}

/// A path through a tree (RFC 6962 sections 2.1.1 and 2.1.2).
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Proof {
    /// The place of the leaf that the path starts at, from 0; 0 of a consistency proof.
    #[prost(int64, tag = "1")]
    pub leaf_index: i64,
    /// 32 bytes each, from the leaf up.
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub hashes: Vec<Vec<u8>>,
}

/// Asks for the newest root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct GetLatestSignedLogRootRequest {
    /// The tree.
    #[prost(int64, tag = "1")]
    pub log_id: i64,
    /// The size that a consistency proof is to start at; 0 for no proof.
    #[prost(int64, tag = "3")]
    pub first_tree_size: i64,
}

/// The newest root.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct GetLatestSignedLogRootResponse {
    /// The root.
    #[prost(message, optional, tag = "2")]
    pub signed_log_root: Option<SignedLogRoot>,
    /// From the size that was asked for to this root; none where none was asked for.
    #[prost(message, optional, tag = "3")]
    pub proof: Option<Proof>,
}

/// Asks for the audit path of a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct GetInclusionProofRequest {
    /// The tree.
    #[prost(int64, tag = "1")]
    pub log_id: i64,
    /// The leaf's place, from 0.
    #[prost(int64, tag = "2")]
    pub leaf_index: i64,
    /// The size of the tree that the path leads to the root of.
    #[prost(int64, tag = "3")]
    pub tree_size: i64,
}

/// The audit path of a place.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct GetInclusionProofResponse {
    /// The path; none where the server's newest root is smaller than the size that was asked for.
    #[prost(message, optional, tag = "2")]
    pub proof: Option<Proof>,
    /// The newest root that the server knows.
    #[prost(message, optional, tag = "3")]
    pub signed_log_root: Option<SignedLogRoot>,
}

/// Asks for the audit path of a leaf hash.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct GetInclusionProofByHashRequest {
    /// The tree.
    #[prost(int64, tag = "1")]
    pub log_id: i64,
    /// The Merkle leaf hash, 32 bytes.
    #[prost(bytes = "vec", tag = "2")]
    pub leaf_hash: Vec<u8>,
    /// The size of the tree that the path leads to the root of.
    #[prost(int64, tag = "3")]
    pub tree_size: i64,
    /// Whether the paths of equal leaves come in the order of their places.
    #[prost(bool, tag = "4")]
    pub order_by_sequence: bool,
}

/// The audit paths of a leaf hash.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct GetInclusionProofByHashResponse {
    /// One path of each leaf with this hash.
    #[prost(message, repeated, tag = "2")]
    pub proof: Vec<Proof>,
    /// The newest root that the server knows.
    #[prost(message, optional, tag = "3")]
    pub signed_log_root: Option<SignedLogRoot>,
}

/// Asks for the path between two sizes of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct GetConsistencyProofRequest {
    /// The tree.
    #[prost(int64, tag = "1")]
    pub log_id: i64,
    /// The smaller size, at least 1.
    #[prost(int64, tag = "2")]
    pub first_tree_size: i64,
    /// The greater size.
    #[prost(int64, tag = "3")]
    pub second_tree_size: i64,
}

/// The path between two sizes of a tree.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct GetConsistencyProofResponse {
    /// The path; none where the server's newest root is smaller than the second size.
    #[prost(message, optional, tag = "2")]
    pub proof: Option<Proof>,
    /// The newest root that the server knows.
    #[prost(message, optional, tag = "3")]
    pub signed_log_root: Option<SignedLogRoot>,
}

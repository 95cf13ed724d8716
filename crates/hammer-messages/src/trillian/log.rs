//! Leaves: how they come into a tree, and out again.

use prost::Message;

use super::proof::SignedLogRoot;
use crate::google::{Status, Timestamp};

/// Asks for a leaf to be queued.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct QueueLeafRequest {
    /// The tree.
    #[prost(int64, tag = "1")]
    pub log_id: i64,
    /// The leaf, of which only what the caller knows is set.
    #[prost(message, optional, tag = "2")]
    pub leaf: Option<LogLeaf>,
}

/// What became of a leaf that was to be queued.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct QueueLeafResponse {
    /// The leaf.
    #[prost(message, optional, tag = "2")]
    pub queued_leaf: Option<QueuedLogLeaf>,
}

/// A leaf that is queued, or was there already.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct QueuedLogLeaf {
    /// The leaf as the server keeps it; where it was there already, the one that was.
    #[prost(message, optional, tag = "1")]
    pub leaf: Option<LogLeaf>,
    /// None, or success, where it is new; 6 (ALREADY_EXISTS) where its identity was there already.
    #[prost(message, optional, tag = "2")]
    pub status: Option<Status>,
}

/// A leaf.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct LogLeaf {
    /// SHA-256 over 0x00 and the value (RFC 6962 section 2.1); the server sets it.
    #[prost(bytes = "vec", tag = "1")]
    pub merkle_leaf_hash: Vec<u8>,
    /// What the tree is made of.
    #[prost(bytes = "vec", tag = "2")]
    pub leaf_value: Vec<u8>,
    /// What is kept beside, and is not in the tree.
    #[prost(bytes = "vec", tag = "3")]
    pub extra_data: Vec<u8>,
    /// The leaf's place, from 0, once it has one.
    #[prost(int64, tag = "4")]
    pub leaf_index: i64,
    /// What makes two leaves the same one; the Merkle leaf hash where the caller sets none.
    #[prost(bytes = "vec", tag = "5")]
    pub leaf_identity_hash: Vec<u8>,
    /// When it was queued.
    #[prost(message, optional, tag = "6")]
    pub queue_timestamp: Option<Timestamp>,
    /// When it got its place.
    #[prost(message, optional, tag = "7")]
    pub integrate_timestamp: Option<Timestamp>,
}

/// Asks for leaves by their places.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct GetLeavesByRangeRequest {
    /// The tree.
    #[prost(int64, tag = "1")]
    pub log_id: i64,
    /// The first place, from 0.
    #[prost(int64, tag = "2")]
    pub start_index: i64,
    /// How many leaves, at least one; fewer may come.
    #[prost(int64, tag = "3")]
    pub count: i64,
}

/// Leaves by their places.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct GetLeavesByRangeResponse {
    /// From the first place on, without gaps.
    #[prost(message, repeated, tag = "1")]
    pub leaves: Vec<LogLeaf>,
    /// The newest root that the server knows.
    #[prost(message, optional, tag = "2")]
    pub signed_log_root: Option<SignedLogRoot>,
}

/// Asks for the first root of a new tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct InitLogRequest {
    /// The tree.
    #[prost(int64, tag = "1")]
    pub log_id: i64,
}

/// The first root of a new tree.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct InitLogResponse {
    /// The root of no leaves.
    #[prost(message, optional, tag = "1")]
    pub created: Option<SignedLogRoot>,
}

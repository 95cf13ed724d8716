//! Logs of any leaf format: Merkle trees, tiles, signed notes, and the follower and the audit of a log.

pub mod audit;
pub mod follow;
pub mod merkle;
pub mod note;
pub mod tile;
pub mod tree_head;

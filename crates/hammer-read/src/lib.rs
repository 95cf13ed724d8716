//! Reads of a transparency log as load, whatever its protocol: which stretch of the tree is read, what a shard has seen of it, what has
//! to be read beside an answer so that it can be held against a signed root, and the proof that it leads there. A shard reads by
//! [`LogReads`] and writes what it read as [`Part`]s of a record; a verifier holds them against a [`ProvedTree`]. It names no path but
//! those of tiles, knows no kind of promise, and verifies nothing on a shard.

mod broken;
mod bundle;
mod head;
mod log_heads;
mod part;
mod place;
mod proved_tree;
mod reads;
mod seen;
mod steps;
mod support;
mod tile_waits;
mod tiles;

pub use broken::{
    ALTERED_LEAF, MISSING_TILE, TAMPERED_TILE, UNREADABLE_PROOF, UNVERIFIED, known_head, missing_tile,
    unverified, unverified_since,
};
pub use bundle::{LARGEST_TILE, check_bundle, plain, surplus};
pub use head::{SeenHead, tiles_to_root};
pub use log_heads::LogHeads;
pub use part::{Part, read_parts, write_parts};
pub use place::{Place, ReadPattern, ends};
pub use proved_tree::{ProvedTree, ProvedTrees};
pub use reads::{LogReads, malformed};
pub use seen::SeenHashes;
pub use steps::LogSteps;
pub use support::{Lack, Support};
pub use tiles::{FULL_TILE, UnreadTile};

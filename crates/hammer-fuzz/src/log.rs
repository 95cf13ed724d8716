//! A small log that every target knows.

use hammer_tlog::ct::rfc6962::{MerkleTreeLeaf, SignedEntryRef, leaf_index_extension};
use hammer_tlog::logs::follow::Head;
use hammer_tlog::logs::merkle::{Hash, Tree, root_at};

/// Leaves of the log.
pub(crate) const SIZE: u64 = 7;

/// The certificate, if it were one, of leaf `index`.
pub(crate) fn certificate(index: u64) -> [u8; 40] {
    [index as u8 + 1; 40]
}

/// The `MerkleTreeLeaf` of leaf `index`.
pub(crate) fn leaf_input(index: u64) -> Vec<u8> {
    let (certificate, extensions) = (certificate(index), leaf_index_extension(index).expect("a small index"));
    let entry = SignedEntryRef::X509 { certificate: &certificate };
    MerkleTreeLeaf { timestamp_ms: 1_000 + index, entry, extensions: &extensions }
        .encode()
        .expect("a short leaf")
}

pub(crate) fn leaf(index: u64) -> Hash {
    hammer_tlog::logs::merkle::leaf_hash(&leaf_input(index))
}

pub(crate) fn leaves() -> Vec<Hash> {
    (0..SIZE).map(leaf).collect()
}

/// The root of the first `size` leaves.
pub(crate) fn root(size: u64) -> Hash {
    let tree: Tree = leaves().into_iter().collect();
    root_at(&tree, size).expect("a whole tree")
}

pub(crate) fn head(size: u64, root: Hash) -> Head {
    Head { size, root, timestamp_ms: 2_000, fetched_ns: 0, asked_ns: 0, raw: [].into() }
}

/// What no tree of the log has as its root or leaf.
pub(crate) const OTHER: Hash = Hash([9; 32]);

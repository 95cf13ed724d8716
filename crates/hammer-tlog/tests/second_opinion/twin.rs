//! Hashes of both implementations.

use hammer_tlog::logs::merkle::{Hash, NodeReader, Tree, leaf_hash, node_hash, sha256};
use proptest::prelude::*;
use tlog_tiles::{Error, HashReader, split_stored_hash_index, stored_hashes};

/// A hash as the other implementation has it.
pub(crate) fn theirs(hash: Hash) -> tlog_tiles::Hash {
    tlog_tiles::Hash(hash.0)
}

pub(crate) fn all_theirs(hashes: &[Hash]) -> Vec<tlog_tiles::Hash> {
    hashes.iter().copied().map(theirs).collect()
}

/// One tree, grown from the bytes of its leaves by both implementations.
pub(crate) struct TwinTree {
    pub(crate) ours: Tree,
    pub(crate) theirs: StoredHashes,
}

/// The hashes that the other implementation stores, in its own order.
#[derive(Default)]
pub(crate) struct StoredHashes(Vec<tlog_tiles::Hash>);

impl TwinTree {
    /// A tree of `size` leaves of 0 to 63 bytes, all drawn from `seed`.
    pub(crate) fn of(seed: u64, size: u64) -> Self {
        let mut twin = Self { ours: Tree::new(), theirs: StoredHashes::default() };
        for number in 0..size {
            let drawn = sha256(&[seed.to_be_bytes(), number.to_be_bytes()].concat()).0;
            let length = usize::from(drawn[0] % 64);
            let leaf: Vec<u8> = drawn.iter().copied().cycle().take(length).collect();
            twin.ours.append(leaf_hash(&leaf));
            let stored = stored_hashes(number, &leaf, &twin.theirs).unwrap();
            twin.theirs.0.extend(stored);
        }
        twin
    }
}

impl HashReader for StoredHashes {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<tlog_tiles::Hash>, Error> {
        let stored = |index: &u64| self.0.get(*index as usize).copied().ok_or(Error::IndexesNotInTree);
        indexes.iter().map(stored).collect()
    }
}

/// A tree too large to be held, of which each node has a hash of its own: it tells which nodes are read, and in which
/// order, but its inner nodes are not the hashes of those below.
pub(crate) struct NamedNodes;

impl NodeReader for NamedNodes {
    fn node(&self, level: u8, index: u64) -> Option<Hash> {
        Some(sha256(&[&[level], index.to_be_bytes().as_slice()].concat()))
    }
}

/// A tree too large to be held, of one leaf again and again.
pub(crate) struct OneLeaf(Vec<Hash>);

impl OneLeaf {
    pub(crate) fn new() -> Self {
        let mut levels = vec![leaf_hash(b"leaf")];
        for level in 0..63 {
            let below = levels[level];
            levels.push(node_hash(&below, &below));
        }
        Self(levels)
    }
}

impl NodeReader for OneLeaf {
    fn node(&self, level: u8, _: u64) -> Option<Hash> {
        self.0.get(usize::from(level)).copied()
    }
}

/// Any of our trees, read by the other implementation.
pub(crate) struct Lent<'a, R>(pub(crate) &'a R);

impl<R: NodeReader> HashReader for Lent<'_, R> {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<tlog_tiles::Hash>, Error> {
        let node = |index: &u64| {
            let (level, index) = split_stored_hash_index(*index);
            self.0.node(level, index).map(theirs).ok_or(Error::IndexesNotInTree)
        };
        indexes.iter().map(node).collect()
    }
}

/// Sizes of trees that can be held: small ones, some larger, and those around the powers of two.
pub(crate) fn sizes() -> impl Strategy<Value = u64> {
    let around = (0_u32..11, 0_u64..3).prop_map(|(power, off)| ((1 << power) + off).saturating_sub(1).max(1));
    prop_oneof![3 => 1_u64..70, 3 => 1_u64..1500, 2 => around]
}

/// Sizes of trees that cannot: below 2^56, since the other implementation shifts by whole tiles.
pub(crate) fn huge_sizes() -> impl Strategy<Value = u64> {
    (1_u32..56, any::<u64>()).prop_map(|(bits, drawn)| (drawn >> (64 - bits)).max(1))
}

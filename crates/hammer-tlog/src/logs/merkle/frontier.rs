//! The right edge of a tree.

use super::error::MerkleError;
use super::node::{EMPTY_ROOT, node_hash};
use super::proof::NodeReader;
use crate::hash::Hash;

/// The right edge of a tree: the roots of its complete subtrees, from the largest to the smallest. It grows by leaf
/// hashes and knows the root at every size, in memory that is logarithmic in the tree's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// One root for each bit that is set in `size`, from the highest bit down.
    roots: Vec<Hash>,
}

impl Frontier {
    /// The tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// The edge of the tree of `size` leaves, read from its complete subtrees.
    pub fn at(reader: &impl NodeReader, size: u64) -> Result<Self, MerkleError> {
        let mut roots = Vec::new();
        let mut begin = 0;
        for level in (0..64).rev().filter(|level| size >> level & 1 == 1) {
            let index = begin >> level;
            let level = level as u8;
            roots.push(reader.node(level, index).ok_or(MerkleError::MissingNode { level, index })?);
            begin += 1 << level;
        }
        Ok(Self { size, roots })
    }

    /// The edge of the tree of `size` leaves, from its last leaf and that leaf's audit path in it (RFC 6962 section
    /// 2.1.1): all siblings stand to its left, so they are the edge. Whether it is the tree's, its root tells.
    pub fn from_last_leaf(size: u64, leaf: Hash, path: &[Hash]) -> Result<Self, MerkleError> {
        let Some(last) = size.checked_sub(1) else {
            return Err(MerkleError::IndexOutOfRange { index: 0, size });
        };
        if path.len() != last.count_ones() as usize {
            return Err(MerkleError::ProofLength { got: path.len() });
        }
        let mut frontier = Self { size: last, roots: path.iter().rev().copied().collect() };
        frontier.append(leaf);
        Ok(frontier)
    }

    /// The edge of the older of two trees, from the proof that it is a prefix of the newer (RFC 6962 section 2.1.2): what
    /// stands to the left of the way up is its edge, and leads to `old_root`. Says nothing of the newer tree.
    pub fn from_consistency_proof(
        old_size: u64,
        new_size: u64,
        old_root: Hash,
        proof: &[Hash],
    ) -> Result<Self, MerkleError> {
        let wrong_length = MerkleError::ProofLength { got: proof.len() };
        if old_size >= new_size {
            return Err(MerkleError::Shrunk { old_size, new_size });
        }
        let (smallest, path) = match proof {
            _ if old_size == 0 => return Ok(Self::new()),
            _ if old_size.is_power_of_two() => (old_root, proof),
            [first, rest @ ..] => (*first, rest),
            [] => return Err(wrong_length),
        };
        let complete = old_size.trailing_zeros();
        let (mut node, mut last) = ((old_size - 1) >> complete, (new_size - 1) >> complete);
        let mut roots = vec![smallest];
        for sibling in path {
            if last == 0 {
                return Err(wrong_length);
            }
            if node & 1 == 1 || node == last {
                roots.push(*sibling);
                let levels = if node & 1 == 1 { 0 } else { node.trailing_zeros().min(63) };
                node >>= levels;
                last >>= levels;
            }
            node >>= 1;
            last >>= 1;
        }
        if last != 0 || roots.len() != old_size.count_ones() as usize {
            return Err(wrong_length);
        }
        roots.reverse();
        let (frontier, expected) = (Self { size: old_size, roots }, old_root);
        let computed = frontier.root();
        if computed == expected {
            Ok(frontier)
        } else {
            Err(MerkleError::OldRootMismatch { computed, expected })
        }
    }

    /// The edge as it was when the tree had only the leaves of its complete subtrees of 2^level leaves or more.
    pub fn aligned(&self, level: u8) -> Self {
        let count = self.size.checked_shr(level.into()).unwrap_or(0);
        let roots = self.roots[..count.count_ones() as usize].to_vec();
        Self { size: count << (level & 63), roots }
    }

    /// Appends the hash of the next leaf.
    pub fn append(&mut self, leaf: Hash) {
        self.append_subtree(0, leaf);
    }

    /// Appends the root of the next 2^level leaves.
    ///
    /// # Panics
    /// When the leaves so far are not a multiple of 2^level: what follows them is then no complete subtree.
    pub fn append_subtree(&mut self, level: u8, root: Hash) {
        assert!(self.size.trailing_zeros() >= level.into(), "a subtree begins at a multiple of its leaves");
        let mut node = root;
        let merges = (self.size >> level).trailing_ones() as usize;
        for left in self.roots.drain(self.roots.len() - merges..).rev() {
            node = node_hash(&left, &node);
        }
        self.roots.push(node);
        self.size += 1 << level;
    }

    /// Leaves so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The roots of the complete subtrees, from the largest to the smallest.
    pub fn roots(&self) -> &[Hash] {
        &self.roots
    }

    /// The tree's root; [`EMPTY_ROOT`] without leaves.
    pub fn root(&self) -> Hash {
        let mut smallest_first = self.roots.iter().rev();
        let Some(&smallest) = smallest_first.next() else { return EMPTY_ROOT };
        smallest_first.fold(smallest, |right, left| node_hash(left, &right))
    }
}

impl Extend<Hash> for Frontier {
    fn extend<I: IntoIterator<Item = Hash>>(&mut self, leaves: I) {
        leaves.into_iter().for_each(|leaf| self.append(leaf));
    }
}

impl FromIterator<Hash> for Frontier {
    fn from_iter<I: IntoIterator<Item = Hash>>(leaves: I) -> Self {
        let mut frontier = Self::new();
        frontier.extend(leaves);
        frontier
    }
}

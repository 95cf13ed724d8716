//! Audit paths and consistency proofs, made.

use super::error::MerkleError;
use super::node::{EMPTY_ROOT, node_hash};
use crate::hash::Hash;

/// Where proofs are made from: the roots of complete subtrees, kept in memory, in a folder or in tiles.
pub trait NodeReader {
    /// The root of the complete subtree of 2^level leaves whose first leaf is `index << level`; none when it is not
    /// there or not complete.
    fn node(&self, level: u8, index: u64) -> Option<Hash>;
}

impl<R: NodeReader + ?Sized> NodeReader for &R {
    fn node(&self, level: u8, index: u64) -> Option<Hash> {
        (**self).node(level, index)
    }
}

/// The root of the first `size` leaves (RFC 6962 section 2.1).
pub fn root_at(reader: &impl NodeReader, size: u64) -> Result<Hash, MerkleError> {
    if size == 0 { Ok(EMPTY_ROOT) } else { subtree_root(reader, 0, size) }
}

/// The audit path of leaf `index` in the tree of `size` leaves, from the leaf's sibling up (RFC 6962 section 2.1.1).
pub fn inclusion_proof(reader: &impl NodeReader, index: u64, size: u64) -> Result<Vec<Hash>, MerkleError> {
    if index >= size {
        return Err(MerkleError::IndexOutOfRange { index, size });
    }
    let (mut begin, mut end) = (0, size);
    let mut path = Vec::new();
    while end - begin > 1 {
        let middle = begin + split(end - begin);
        if index < middle {
            path.push(subtree_root(reader, middle, end)?);
            end = middle;
        } else {
            path.push(subtree_root(reader, begin, middle)?);
            begin = middle;
        }
    }
    path.reverse();
    Ok(path)
}

/// The proof that the tree of `old_size` leaves is a prefix of that of `new_size` (RFC 6962 section 2.1.2); empty when
/// the sizes are equal or the older is 0, as logs answer although the RFC asks for a positive size.
pub fn consistency_proof(
    reader: &impl NodeReader,
    old_size: u64,
    new_size: u64,
) -> Result<Vec<Hash>, MerkleError> {
    if old_size > new_size {
        return Err(MerkleError::Shrunk { old_size, new_size });
    }
    if old_size == 0 {
        return Ok(Vec::new());
    }
    let (mut begin, mut end) = (0, new_size);
    let mut path = Vec::new();
    while old_size != end {
        let middle = begin + split(end - begin);
        if old_size <= middle {
            path.push(subtree_root(reader, middle, end)?);
            end = middle;
        } else {
            path.push(subtree_root(reader, begin, middle)?);
            begin = middle;
        }
    }
    // The verifier holds the old root, so it needs the last subtree only where that is not the whole old tree.
    if begin != 0 {
        path.push(subtree_root(reader, begin, end)?);
    }
    path.reverse();
    Ok(path)
}

/// The root of leaves `start..end`, where `start` is aligned to the range's largest complete subtree.
fn subtree_root(reader: &impl NodeReader, begin: u64, end: u64) -> Result<Hash, MerkleError> {
    let size = end - begin;
    if !size.is_power_of_two() {
        let middle = begin + split(size);
        return Ok(node_hash(&subtree_root(reader, begin, middle)?, &subtree_root(reader, middle, end)?));
    }
    let level = size.trailing_zeros() as u8;
    let index = begin >> level;
    reader.node(level, index).ok_or(MerkleError::MissingNode { level, index })
}

/// The largest power of two that is smaller than `size`, which is at least 2.
pub(super) fn split(size: u64) -> u64 {
    1 << (size - 1).ilog2()
}

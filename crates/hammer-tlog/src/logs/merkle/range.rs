//! Leaves in a row, verified by two audit paths.

use std::collections::HashMap;

use super::error::MerkleError;
use super::node::node_hash;
use super::proof::split;
use crate::hash::Hash;

/// Verifies that `leaves` are those from `start` on in the tree of `size` leaves with `root`, by audit paths of that
/// tree (RFC 6962 section 2.1.1), each with the index of its leaf. The paths of the first and the last leaf are enough;
/// where [`path_is_enough`] says so, that of the first alone is.
pub fn verify_range(
    start: u64,
    leaves: &[Hash],
    size: u64,
    paths: &[(u64, &[Hash])],
    root: &Hash,
) -> Result<(), MerkleError> {
    let out_of_range = |index| MerkleError::IndexOutOfRange { index, size };
    let end = start.checked_add(leaves.len() as u64).filter(|end| *end <= size && *end > start);
    let end = end.ok_or(out_of_range(start))?;
    let mut beside = HashMap::new();
    for (index, path) in paths {
        let siblings = if *index < size { siblings(*index, size) } else { return Err(out_of_range(*index)) };
        if siblings.len() != path.len() {
            return Err(MerkleError::ProofLength { got: path.len() });
        }
        beside.extend(siblings.into_iter().zip(path.iter().rev().copied()));
    }
    let computed = LeafRange { start, end, leaves, beside: &beside }.root(0, size)?;
    if computed != *root {
        return Err(MerkleError::RootMismatch { computed, expected: *root });
    }
    Ok(())
}

/// Whether the audit path of leaf `start` holds all that `count` leaves from there on lack of the tree of `size` leaves:
/// where they are a complete subtree, or the last of the tree.
pub fn path_is_enough(start: u64, count: u64, size: u64) -> bool {
    let is_subtree = count.is_power_of_two() && start.is_multiple_of(count);
    is_subtree || start.checked_add(count) == Some(size)
}

struct LeafRange<'a> {
    start: u64,
    end: u64,
    leaves: &'a [Hash],
    beside: &'a HashMap<(u64, u64), Hash>,
}

impl LeafRange<'_> {
    /// The root of the leaves `start..end` of the tree.
    fn root(&self, begin: u64, end: u64) -> Result<Hash, MerkleError> {
        if end <= self.start || begin >= self.end {
            let level = (end - begin).ilog2() as u8;
            let missing = MerkleError::MissingNode { level, index: begin >> level };
            return self.beside.get(&(begin, end)).copied().ok_or(missing);
        }
        if end - begin == 1 {
            return Ok(self.leaves[(begin - self.start) as usize]);
        }
        let middle = begin + split(end - begin);
        Ok(node_hash(&self.root(begin, middle)?, &self.root(middle, end)?))
    }
}

/// The leaves below each hash of an audit path, from the root's child down.
fn siblings(index: u64, size: u64) -> Vec<(u64, u64)> {
    let (mut begin, mut end) = (0, size);
    let mut siblings = Vec::new();
    while end - begin > 1 {
        let middle = begin + split(end - begin);
        if index < middle {
            siblings.push((middle, end));
            end = middle;
        } else {
            siblings.push((begin, middle));
            begin = middle;
        }
    }
    siblings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::merkle::node::leaf_hash;
    use crate::logs::merkle::proof::{inclusion_proof, root_at};
    use crate::logs::merkle::tree::Tree;

    fn tree(size: u64) -> Tree {
        (0..size).map(|index| leaf_hash(&index.to_be_bytes())).collect()
    }

    #[test]
    fn every_range_of_every_small_tree_verifies_by_its_ends() {
        for size in 1..=19 {
            let tree = tree(size);
            let root = root_at(&tree, size).unwrap();
            let path = |index| inclusion_proof(&tree, index, size).unwrap();
            for start in 0..size {
                for end in start + 1..=size {
                    let leaves = &tree.leaves()[start as usize..end as usize];
                    let (first, last) = (path(start), path(end - 1));
                    let both = [(start, first.as_slice()), (end - 1, last.as_slice())];
                    verify_range(start, leaves, size, &both, &root).unwrap();
                    let alone = verify_range(start, leaves, size, &both[..1], &root);
                    if path_is_enough(start, end - start, size) {
                        alone.unwrap();
                    }
                    for altered in 0..leaves.len() {
                        let mut leaves = leaves.to_vec();
                        leaves[altered].0[31] ^= 1;
                        let refused = verify_range(start, &leaves, size, &both, &root).unwrap_err();
                        assert!(matches!(refused, MerkleError::RootMismatch { .. }), "{refused}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_path_too_few_is_named_by_what_is_missing() {
        let tree = tree(7);
        let (root, path) = (root_at(&tree, 7).unwrap(), inclusion_proof(&tree, 1, 7).unwrap());
        let refused = verify_range(1, &tree.leaves()[1..5], 7, &[(1, &path)], &root).unwrap_err();
        assert!(matches!(refused, MerkleError::MissingNode { .. }), "{refused}");
    }

    #[test]
    fn what_is_no_range_of_the_tree_is_refused() {
        let (leaf, root) = (leaf_hash(b"leaf"), leaf_hash(b"root"));
        for (start, leaves) in [(7, vec![leaf]), (6, vec![leaf; 2]), (u64::MAX, vec![leaf]), (0, Vec::new())]
        {
            assert!(verify_range(start, &leaves, 7, &[], &root).is_err());
        }
        assert!(verify_range(0, &[leaf], u64::MAX, &[(0, &[leaf; 64])], &root).is_err());
        assert!(verify_range(0, &[leaf], 7, &[(9, &[])], &root).is_err());
    }
}

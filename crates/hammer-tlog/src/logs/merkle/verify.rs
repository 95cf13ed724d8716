//! Audit paths and consistency proofs, verified.

use super::error::MerkleError;
use super::node::{EMPTY_ROOT, node_hash};
use crate::hash::Hash;

/// Verifies that `leaf` is leaf `index` of the tree of `size` leaves with `root` (RFC 9162 section 2.1.3.2).
pub fn verify_inclusion(
    index: u64,
    size: u64,
    leaf: &Hash,
    proof: &[Hash],
    root: &Hash,
) -> Result<(), MerkleError> {
    let computed = root_from_inclusion(index, size, leaf, proof)?;
    if computed != *root {
        return Err(MerkleError::RootMismatch { computed, expected: *root });
    }
    Ok(())
}

/// The root that an audit path leads to (RFC 9162 section 2.1.3.2, up to the comparison).
pub fn root_from_inclusion(index: u64, size: u64, leaf: &Hash, proof: &[Hash]) -> Result<Hash, MerkleError> {
    if index >= size {
        return Err(MerkleError::IndexOutOfRange { index, size });
    }
    let wrong_length = MerkleError::ProofLength { got: proof.len() };
    let (mut node, mut last) = (index, size - 1);
    let mut hash = *leaf;
    for sibling in proof {
        if last == 0 {
            return Err(wrong_length);
        }
        if node & 1 == 1 || node == last {
            hash = node_hash(sibling, &hash);
            // On the right edge a level without a sibling passes the node up as it is.
            let levels = if node & 1 == 1 { 0 } else { node.trailing_zeros().min(63) };
            node >>= levels;
            last >>= levels;
        } else {
            hash = node_hash(&hash, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    if last == 0 { Ok(hash) } else { Err(wrong_length) }
}

/// Verifies that the tree of `old_size` leaves is a prefix of that of `new_size` (RFC 9162 section 2.1.4.2). The empty
/// tree is a prefix of all trees, by an empty proof.
pub fn verify_consistency(
    old_size: u64,
    new_size: u64,
    old_root: &Hash,
    new_root: &Hash,
    proof: &[Hash],
) -> Result<(), MerkleError> {
    let wrong_length = MerkleError::ProofLength { got: proof.len() };
    if old_size > new_size {
        return Err(MerkleError::Shrunk { old_size, new_size });
    }
    if old_size == 0 || old_size == new_size {
        let expected = if old_size == 0 { &EMPTY_ROOT } else { new_root };
        same_old_root(*expected, old_root)?;
        return if proof.is_empty() { Ok(()) } else { Err(wrong_length) };
    }
    let (first, rest) = match proof {
        _ if old_size.is_power_of_two() => (*old_root, proof),
        [first, rest @ ..] => (*first, rest),
        [] => return Err(wrong_length),
    };
    let (old, new) = roots_from_consistency(old_size, new_size, first, rest).ok_or(wrong_length)?;
    same_old_root(old, old_root)?;
    if new != *new_root {
        return Err(MerkleError::RootMismatch { computed: new, expected: *new_root });
    }
    Ok(())
}

/// The root of the first `old_size` leaves of the tree of `new_size` leaves with `new_root`, by a consistency proof from whichever root; none
/// where that does not lead to `new_root`, and for a power of two, whose root is in no proof (RFC 9162 section 2.1.4.1).
pub fn prefix_root(old_size: u64, new_size: u64, new_root: &Hash, proof: &[Hash]) -> Option<Hash> {
    if old_size == 0 || old_size >= new_size || old_size.is_power_of_two() {
        return None;
    }
    let (first, rest) = proof.split_first()?;
    let (old, new) = roots_from_consistency(old_size, new_size, *first, rest)?;
    (new == *new_root).then_some(old)
}

/// Whether a consistency proof can lead from the tree of `old_size` leaves with `old_root` to some larger one, whatever its size. Of a power of
/// two, whose root is in no proof (RFC 9162 section 2.1.4.1), any that is not empty can.
pub fn may_prove_growth(old_size: u64, old_root: &Hash, proof: &[Hash]) -> bool {
    let (Some((first, rest)), Some(last)) = (proof.split_first(), old_size.checked_sub(1)) else {
        return false;
    };
    // Where the old root is in a proof follows from the level at which the last leaves of both trees part.
    let parting = (0..u64::BITS).map(|level| 1_u64 << level).filter(|bit| last & bit == 0);
    let mut sizes = parting.filter_map(|bit| (last | bit).checked_add(1));
    let leads = |new_size| roots_from_consistency(old_size, new_size, *first, rest);
    old_size.is_power_of_two() || sizes.any(|size| leads(size).is_some_and(|(old, _)| old == *old_root))
}

fn same_old_root(computed: Hash, expected: &Hash) -> Result<(), MerkleError> {
    if computed != *expected {
        return Err(MerkleError::OldRootMismatch { computed, expected: *expected });
    }
    Ok(())
}

/// The older and the newer root that the path leads to from `first`; none when its length is wrong.
fn roots_from_consistency(old_size: u64, new_size: u64, first: Hash, path: &[Hash]) -> Option<(Hash, Hash)> {
    let complete = (old_size - 1).trailing_ones();
    let (mut node, mut last) = ((old_size - 1) >> complete, (new_size - 1) >> complete);
    let (mut old, mut new) = (first, first);
    for sibling in path {
        if last == 0 {
            return None;
        }
        if node & 1 == 1 || node == last {
            old = node_hash(sibling, &old);
            new = node_hash(sibling, &new);
            let levels = if node & 1 == 1 { 0 } else { node.trailing_zeros().min(63) };
            node >>= levels;
            last >>= levels;
        } else {
            new = node_hash(&new, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    (last == 0).then_some((old, new))
}

//! Why proofs fail.

use crate::hash::Hash;

/// Why a proof could not be made, or does not prove.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MerkleError {
    /// The leaf index lies outside of the tree.
    #[error("index {index} is not in a tree of {size} leaves")]
    IndexOutOfRange {
        /// The leaf index asked for, from 0.
        index: u64,
        /// The tree's leaves.
        size: u64,
    },
    /// The older size is larger than the newer one.
    #[error("a tree of {old_size} leaves cannot precede one of {new_size}")]
    Shrunk {
        /// Leaves of the older tree.
        old_size: u64,
        /// Leaves of the newer tree.
        new_size: u64,
    },
    /// The reader does not hold this complete subtree.
    #[error("node {index} of level {level} is missing")]
    MissingNode {
        /// The subtree has 2^level leaves.
        level: u8,
        /// The subtree's index among those of its level.
        index: u64,
    },
    /// The proof has too few or too many hashes for these sizes.
    #[error("a proof of {got} hashes has the wrong length for these sizes")]
    ProofLength {
        /// Hashes in the proof.
        got: usize,
    },
    /// The proof leads to another root than the (newer) one given.
    #[error("the proof leads to root {computed}, not to {expected}")]
    RootMismatch {
        /// The root that the proof leads to.
        computed: Hash,
        /// The root that was given.
        expected: Hash,
    },
    /// The consistency proof leads to another older root than the one given: the log has rewritten its past.
    #[error("the proof leads to old root {computed}, not to {expected}")]
    OldRootMismatch {
        /// The older root that the proof leads to.
        computed: Hash,
        /// The older root that was given.
        expected: Hash,
    },
}

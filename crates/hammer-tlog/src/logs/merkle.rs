//! The Merkle tree of RFC 6962 section 2.1: hashes, compact ranges, proofs and their verification.

mod error;
mod frontier;
mod node;
mod proof;
mod range;
mod tree;
mod verify;

pub use crate::hash::{Hash, HashError, sha256};
pub use error::MerkleError;
pub use frontier::Frontier;
pub use node::{EMPTY_ROOT, leaf_hash, node_hash};
pub use proof::{NodeReader, consistency_proof, inclusion_proof, root_at};
pub use range::{path_is_enough, verify_range};
pub use tree::Tree;
pub use verify::{may_prove_growth, prefix_root, root_from_inclusion, verify_consistency, verify_inclusion};

#[cfg(test)]
mod tests;

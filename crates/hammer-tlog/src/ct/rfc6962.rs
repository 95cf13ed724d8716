//! The structures of RFC 6962: log entries and their Merkle leaves, what a log signs, and the JSON of its answers.

mod entry;
mod extensions;
mod get_entries;
mod json;
mod leaf;
mod leaf_inputs;

pub use entry::{EntryType, SignedEntry, SignedEntryRef};
pub use extensions::{leaf_index, leaf_index_extension};
pub use get_entries::{ChainIter, ExtraData, encode_precert_chain_entry, encode_x509_chain_entry};
pub use json::{
    AddChainRequest, AddChainResponse, GetEntries, GetEntryAndProof, GetProofByHash, GetRoots,
    GetSthConsistency, GetSthResponse, LeafEntry, SthError,
};
pub use leaf::{MerkleTreeLeaf, encode_merkle_tree_leaf, leaf_hash_of, sct_signature_input};
pub use leaf_inputs::{Rfc6962Leaves, ServedLeaf};

/// `Version.v1` of RFC 6962 section 3.2, the only one.
pub const V1: u8 = 0;

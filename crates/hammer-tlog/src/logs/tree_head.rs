//! What the signature of a tree head covers, whether it stands in a note or in an answer of get-sth.

use crate::hash::Hash;

/// `Version.v1` (RFC 6962 section 3.2).
const V1: u8 = 0;
/// `SignatureType.tree_hash` (RFC 6962 section 3.2).
const TREE_HASH: u8 = 1;

/// `TreeHeadSignature`: the 50 bytes that the signature of a tree head covers (RFC 6962 section 3.5).
pub fn tree_head_signature_input(timestamp_ms: u64, tree_size: u64, root: &Hash) -> [u8; 50] {
    let mut input = [0; 50];
    input[0] = V1;
    input[1] = TREE_HASH;
    input[2..10].copy_from_slice(&timestamp_ms.to_be_bytes());
    input[10..18].copy_from_slice(&tree_size.to_be_bytes());
    input[18..].copy_from_slice(&root.0);
    input
}

//! Hashes of leaves and nodes (RFC 6962 section 2.1).

use crate::hash::{Hash, Sha256Writer, sha256};

/// The root of the tree without leaves: the SHA-256 of nothing (RFC 6962 section 2.1).
pub const EMPTY_ROOT: Hash = Hash([
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
    0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
]);

/// The hash of a leaf: SHA-256 of 0x00 and the leaf's bytes (RFC 6962 section 2.1).
pub fn leaf_hash(leaf: &[u8]) -> Hash {
    let mut writer = Sha256Writer::new();
    writer.write(&[0]);
    writer.write(leaf);
    writer.finish()
}

/// The hash of an inner node: SHA-256 of 0x01, the left and the right hash (RFC 6962 section 2.1).
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut block = [0; 65];
    block[0] = 1;
    block[1..33].copy_from_slice(&left.0);
    block[33..].copy_from_slice(&right.0);
    sha256(&block)
}

//! Proofs of RFC 6962: they prove what is so, and nothing else.

use hammer_tlog::ct::rfc6962::{GetEntryAndProof, GetProofByHash, GetSthConsistency};
use hammer_tlog::logs::merkle::{Frontier, leaf_hash, verify_consistency, verify_inclusion};

use crate::log::{OTHER, SIZE, leaf, leaf_input, root};

/// Leaves of the older tree, and the leaf whose inclusion is proved.
const OLDER: u64 = 3;
const INDEX: u64 = 4;

/// The answer of get-sth-consistency.
pub(crate) fn consistency(data: &[u8]) -> bool {
    let Ok(GetSthConsistency { consistency }) = serde_json::from_slice(data) else { return false };
    for (older, newer) in [(OTHER, root(SIZE)), (root(OLDER), OTHER), (root(OLDER + 1), root(SIZE))] {
        assert!(verify_consistency(OLDER, SIZE, &older, &newer, &consistency).is_err());
    }
    for (older, newer) in
        [(0, u64::MAX), (1, u64::MAX), (u64::MAX, u64::MAX), (u64::MAX - 1, u64::MAX), (9, 8)]
    {
        let _ = verify_consistency(older, newer, &root(OLDER), &root(SIZE), &consistency);
    }
    let proved = verify_consistency(OLDER, SIZE, &root(OLDER), &root(SIZE), &consistency);
    assert!(
        proved.is_err() || consistency.contains(&leaf(2)),
        "the path from a tree of three holds its third leaf"
    );
    proved.is_ok()
}

/// The answer of get-proof-by-hash.
pub(crate) fn inclusion(data: &[u8]) -> bool {
    let Ok(GetProofByHash { leaf_index, audit_path }) = serde_json::from_slice(data) else { return false };
    assert!(verify_inclusion(leaf_index, SIZE, &OTHER, &audit_path, &root(SIZE)).is_err());
    assert!(verify_inclusion(leaf_index, SIZE, &leaf(INDEX), &audit_path, &OTHER).is_err());
    let _ = verify_inclusion(leaf_index, u64::MAX, &leaf(INDEX), &audit_path, &root(SIZE));
    let proved = verify_inclusion(leaf_index, SIZE, &leaf(INDEX), &audit_path, &root(SIZE)).is_ok();
    assert!(!proved || leaf_index == INDEX);
    proved
}

/// The answer of get-entry-and-proof for the last leaf.
pub(crate) fn entry_and_proof(data: &[u8]) -> bool {
    let Ok(answer) = serde_json::from_slice::<GetEntryAndProof>(data) else { return false };
    let leaf = leaf_hash(&answer.leaf_input.0);
    for size in [0, 1, u64::MAX] {
        let _ = Frontier::from_last_leaf(size, leaf, &answer.audit_path).map(|frontier| frontier.root());
    }
    let edge = Frontier::from_last_leaf(SIZE, leaf, &answer.audit_path);
    let proved = edge.is_ok_and(|edge| edge.root() == root(SIZE));
    assert!(!proved || answer.leaf_input.0 == leaf_input(SIZE - 1));
    proved
}

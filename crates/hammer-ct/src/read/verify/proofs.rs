//! Entries, led up to the root.

use hammer_audit::OpenedHead;
use hammer_core::promise::Fault;
use hammer_read::{ALTERED_LEAF, Part, UNREADABLE_PROOF, unverified};
use hammer_tlog::ct::rfc6962::{
    ExtraData, GetEntries, GetEntryAndProof, GetProofByHash, GetRoots, GetSthConsistency, MerkleTreeLeaf,
};
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::logs::merkle::{
    Hash, MerkleError, leaf_hash, verify_consistency, verify_inclusion, verify_range,
};
use serde::de::DeserializeOwned;

/// Leads entries up to the root, by the audit paths of the first and the last of them.
pub(super) fn entries(head: &OpenedHead, entries: &Part<'_>, proofs: &[Part<'_>]) -> Result<(), Fault> {
    let start = entries.number;
    let read: GetEntries = json(entries, TAMPERED_ENTRIES)?;
    let leaves: Vec<Hash> = read.entries.iter().map(|entry| leaf_hash(&entry.leaf_input.0)).collect();
    let mut paths = Vec::new();
    for proof in proofs {
        let read: GetEntryAndProof = json(proof, UNREADABLE_PROOF)?;
        paths.push((proof.number, leaf_hash(&read.leaf_input.0), read.audit_path));
    }
    let by_path: Vec<(u64, &[Hash])> =
        paths.iter().map(|(index, _, path)| (*index, path.as_slice())).collect();
    verify_range(start, &leaves, head.size, &by_path, &head.root).map_err(|why| {
        let served = |index: &u64| index.checked_sub(start).and_then(|place| leaves.get(place as usize));
        let proved = |index: &u64, leaf: &Hash, path: &[Hash]| {
            verify_inclusion(*index, head.size, leaf, path, &head.root).is_ok()
        };
        let altered = paths.iter().find(|(index, leaf, path)| {
            proved(index, leaf, path) && served(index).is_some_and(|served| served != leaf)
        });
        match altered {
            Some((index, leaf, _)) => Fault::at(
                ALTERED_LEAF,
                *index,
                format!("get-entries: the entry of index {index} is not {leaf}, the tree's"),
            ),
            None => {
                let end = start + leaves.len() as u64 - 1;
                Fault::new(
                    TAMPERED_ENTRIES,
                    format!("get-entries: entries {start} to {end} of {}: {why}", told(head)),
                )
            }
        }
    })?;
    // The entries lead to the root by the paths alone, whatever leaf these came with.
    for (index, leaf, path) in &paths {
        included(head, *index, leaf, path, "get-entry-and-proof")?;
    }
    for (index, entry) in (start..).zip(&read.entries) {
        let leaf = MerkleTreeLeaf::parse(&entry.leaf_input.0);
        let form = leaf.and_then(|leaf| ExtraData::parse(leaf.entry.entry_type(), &entry.extra_data.0));
        form.map_err(|why| {
            Fault::at(ALTERED_LEAF, index, format!("get-entries: the entry of index {index}: {why}"))
        })?;
    }
    Ok(())
}

pub(super) fn by_hash(head: &OpenedHead, leaf: &Part<'_>, proof: &Part<'_>) -> Result<(), Fault> {
    let leaf = Hash(leaf.bytes.try_into().map_err(|_| unverified())?);
    let GetProofByHash { leaf_index, audit_path } = json(proof, UNREADABLE_PROOF)?;
    included(head, leaf_index, &leaf, &audit_path, "get-proof-by-hash")
}

pub(super) fn entry_and_proof(head: &OpenedHead, entry: &Part<'_>) -> Result<(), Fault> {
    let read: GetEntryAndProof = json(entry, UNREADABLE_PROOF)?;
    let leaf = leaf_hash(&read.leaf_input.0);
    included(head, entry.number, &leaf, &read.audit_path, "get-entry-and-proof")
}

pub(super) fn consistency(older: &OpenedHead, newer: &OpenedHead, proof: &Part<'_>) -> Result<(), Fault> {
    let GetSthConsistency { consistency } = json(proof, UNREADABLE_PROOF)?;
    verify_consistency(older.size, newer.size, &older.root, &newer.root, &consistency).map_err(|why| {
        Fault::new(CONSISTENCY, format!("get-sth-consistency: {}, then {}: {why}", told(older), told(newer)))
    })
}

/// Each root is a certificate.
pub(super) fn roots(roots: &Part<'_>) -> Result<(), Fault> {
    let GetRoots { certificates } = json(roots, ROOTS)?;
    for (place, certificate) in certificates.iter().enumerate() {
        let read = Certificate::parse(&certificate.0);
        read.map_err(|why| {
            Fault::new(ROOTS, format!("get-roots: the root in place {place} is no certificate: {why}"))
        })?;
    }
    Ok(())
}

fn included(head: &OpenedHead, index: u64, leaf: &Hash, path: &[Hash], endpoint: &str) -> Result<(), Fault> {
    verify_inclusion(index, head.size, leaf, path, &head.root).map_err(|why: MerkleError| {
        Fault::at(
            INCLUSION_PROOF,
            index,
            format!("{endpoint}: leaf {leaf} of index {index} of {}: {why}", told(head)),
        )
    })
}

fn json<T: DeserializeOwned>(part: &Part<'_>, kind: &'static str) -> Result<T, Fault> {
    serde_json::from_slice(part.bytes).map_err(|why| Fault::new(kind, format!("it cannot be read: {why}")))
}

fn told(head: &OpenedHead) -> String {
    format!("the tree of size {} and root {}", head.size, head.root)
}

const TAMPERED_ENTRIES: &str = "tampered-entries";
const INCLUSION_PROOF: &str = "inclusion-proof";
const CONSISTENCY: &str = "consistency-proof";
const ROOTS: &str = "roots";

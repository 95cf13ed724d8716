//! Entries of Rekor v1 that were read back.

use super::*;
use crate::record::ArtifactRecord;
use crate::rekor::{LogEntries, leaf_of};

/// An entry of index 3 that the log does not have.
const GONE: ArtifactRecord<'static> = ArtifactRecord {
    at: AT,
    leaf: Hash([1; 32]),
    index: 3,
    integrated_time: None,
    artifact: b"",
    identity: "",
    body: None,
};

fn judge_artifact(proven: &ProvenEntries, record: &ArtifactRecord<'_>) -> Result<PlacedEntry, Fault> {
    let (shards, mut believed, mut signatures) = Default::default();
    let judged = artifact::judge(log_trust(&shards), proven, record, &mut believed, &mut signatures)?;
    assert!(judged.1.is_none() && signatures.len() == 0, "what was signed is not among what was recorded");
    Ok(judged.0)
}

#[test]
fn an_entry_that_was_read_back_is_about_the_artifact_that_was_asked_for() {
    let (uuid, entry) = LogEntries::only(ENTRY.as_bytes()).unwrap();
    let leaf = leaf_of(&uuid).unwrap();
    let judged = |leaf, index, artifact: &[u8]| {
        let body = Some(ENTRY.as_bytes());
        let record = ArtifactRecord { leaf, index, artifact, body, ..GONE };
        judge_artifact(&ProvenEntries::default(), &record)
    };
    // What was signed is not among what was recorded: all is right but for that.
    let fault = judged(leaf, entry.log_index, b"not it").unwrap_err();
    assert_eq!((fault.kind, &*fault.detail), ("another-entry", "it is about another artifact"));
    assert_eq!(kind(judged(Hash([1; 32]), entry.log_index, b"")), "another-entry");
    assert_eq!(kind(judged(leaf, entry.log_index + 1, b"")), "another-entry");
    let fault = judge_artifact(&ProvenEntries::default(), &GONE).unwrap_err();
    assert_eq!((fault.kind, fault.place), ("lost-entry", Some(3)));
}

#[test]
fn what_an_entry_says_by_itself_is_verified_once_and_what_the_log_says_of_it_each_time() {
    let (uuid, entry) = LogEntries::only(ENTRY.as_bytes()).unwrap();
    let leaf = leaf_of(&uuid).unwrap();
    let mut proven = ProvenEntries::default();
    proven.keep_for_test(leaf, b"what was signed", entry.integrated_time);
    let judged_for = |identity: &str, answer: &str, artifact: &[u8]| {
        let body = Some(answer.as_bytes());
        let record = ArtifactRecord { leaf, index: entry.log_index, artifact, identity, body, ..GONE };
        kind(judge_artifact(&proven, &record))
    };
    // By whom it has to be signed is part of what is known: for somebody else all of it is verified.
    assert_eq!(judged_for("a@b", ENTRY, b"what was signed"), "another-entry");
    let judged = |answer: &str, artifact: &[u8]| judged_for("", answer, artifact);
    assert_eq!(judged(ENTRY, b"what was signed"), "kept");
    assert_eq!(judged(ENTRY, b"something else"), "another-entry");
    let later = ENTRY.replace("\"integratedTime\":1795243691", "\"integratedTime\":1795243692");
    assert_eq!(judged(&later, b"what was signed"), "bad-set");
    let mut answer: Value = serde_json::from_str(ENTRY).unwrap();
    let entry = answer.as_object_mut().unwrap().values_mut().next().unwrap();
    entry["verification"]["inclusionProof"]["treeSize"] = 2.into();
    assert_eq!(judged(&answer.to_string(), b"what was signed"), "inclusion-proof");
}

#[test]
fn an_entry_that_was_integrated_at_two_times_is_altered_and_one_whose_first_time_nobody_knows_is_not() {
    let (uuid, entry) = LogEntries::only(ENTRY.as_bytes()).unwrap();
    let (leaf, artifact) = (leaf_of(&uuid).unwrap(), &b"what was signed"[..]);
    let mut proven = ProvenEntries::default();
    proven.keep_for_test(leaf, artifact, entry.integrated_time);
    let body = Some(ENTRY.as_bytes());
    let judged = |integrated_time| {
        judge_artifact(
            &proven,
            &ArtifactRecord { leaf, index: entry.log_index, integrated_time, artifact, body, ..GONE },
        )
    };
    for first in [None, Some(INTEGRATED)] {
        assert_eq!(kind(judged(first)), "kept", "{first:?}");
    }
    for first in [INTEGRATED - 300, INTEGRATED + 1] {
        let fault = judged(Some(first)).unwrap_err();
        let told = format!("it was integrated at {first}, and is read back with {INTEGRATED}");
        assert_eq!((fault.kind, &*fault.detail, fault.place), ("altered-entry", &*told, Some(0)));
    }
}

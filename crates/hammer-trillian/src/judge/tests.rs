//! An honest log's answers hold, and each alteration is found by its own name.

use hammer_messages::google::Status;
use hammer_messages::trillian::{LogLeaf, QueuedLogLeaf};
use hammer_read::write_parts;
use hammer_tlog::logs::merkle::{Tree, consistency_proof, inclusion_proof, root_at};

use super::*;

fn value(index: u64) -> Vec<u8> {
    format!("leaf {index}").into_bytes()
}

fn tree() -> Tree {
    (0..9).map(|index| leaf_hash(&value(index))).collect()
}

fn raw(size: u64, root: Hash, timestamp_ns: u64) -> Vec<u8> {
    let mut raw = vec![0, 1];
    raw.extend_from_slice(&size.to_be_bytes());
    raw.push(32);
    raw.extend_from_slice(&root.0);
    raw.extend_from_slice(&timestamp_ns.to_be_bytes());
    raw.extend_from_slice(&[0; 10]);
    raw
}

fn root(size: u64) -> Vec<u8> {
    raw(size, root_at(&tree(), size).unwrap(), 1000 + size)
}

fn signed(log_root: Vec<u8>) -> Option<SignedLogRoot> {
    Some(SignedLogRoot { log_root })
}

fn proof(index: u64, hashes: &[Hash]) -> Proof {
    Proof { leaf_index: index.cast_signed(), hashes: hashes.iter().map(|hash| hash.0.to_vec()).collect() }
}

fn path(index: u64, size: u64) -> Proof {
    proof(index, &inclusion_proof(&tree(), index, size).unwrap())
}

fn judged(judge: &TrillianJudge, check: Check, parts: &[Part<'_>]) -> &'static str {
    let mut record = Vec::new();
    write_parts(&mut record, check as u8, parts.iter().copied());
    let (number, parts) = read_parts(&record).unwrap();
    assert_eq!(Check::of(number), Some(check));
    judge.judge(check, &parts).map_or_else(|fault| fault.kind, |()| "kept")
}

fn latest(judge: &TrillianJudge, older: &[u8], newer: Vec<u8>, proof: Option<Proof>) -> &'static str {
    let answer = GetLatestSignedLogRootResponse { signed_log_root: signed(newer), proof }.encode_to_vec();
    judged(judge, Check::Root, &[Part::bytes(older), Part::bytes(&answer)])
}

#[test]
fn a_root_continues_the_one_before_or_is_found_out() {
    let path = |first, second| Some(proof(0, &consistency_proof(&tree(), first, second).unwrap()));
    let new = TrillianJudge::default;
    assert_eq!(latest(&new(), &[], root(5), None), "kept");
    assert_eq!(latest(&new(), &root(3), root(7), path(3, 7)), "kept");
    assert_eq!(latest(&new(), &root(7), root(7), path(7, 7)), "kept");
    assert_eq!(latest(&new(), &root(3), root(7), path(2, 7)), "consistency-proof");
    assert_eq!(latest(&new(), &root(3), root(7), None), "missing-proof");
    let short = Proof { leaf_index: 0, hashes: vec![vec![1]] };
    assert_eq!(latest(&new(), &root(3), root(7), Some(short)), "unreadable-proof");
    assert_eq!(latest(&new(), &root(3), raw(3, Hash([1; 32]), 2000), None), "forked-log-root");
    assert_eq!(latest(&new(), &[], vec![0, 2], None), "malformed-answer");
}

#[test]
fn a_smaller_tree_that_was_made_before_is_a_server_behind_and_one_made_later_shrank() {
    let judge = TrillianJudge::default();
    assert_eq!(latest(&judge, &root(7), root(3), None), "kept");
    let later = raw(3, root_at(&tree(), 3).unwrap(), 9000);
    assert_eq!(latest(&judge, &root(7), later, None), "shrinking-tree");
}

#[test]
fn two_roots_of_one_size_are_a_fork_whatever_answer_they_stand_in() {
    let judge = TrillianJudge::default();
    assert_eq!(latest(&judge, &[], root(7), None), "kept");
    let answer = GetInclusionProofResponse {
        proof: Some(path(2, 7)),
        signed_log_root: signed(raw(7, Hash([1; 32]), 2000)),
    };
    let (root, leaf, answer) = (root(7), leaf_hash(&value(2)), answer.encode_to_vec());
    let parts = [Part::bytes(&root), Part::numbered(2, &leaf.0), Part::bytes(&answer)];
    assert_eq!(judged(&judge, Check::Proof, &parts), "forked-log-root");
}

/// What becomes of answers that are held against a root, on a log that said the root of the tree of nine leaves.
fn held_against(against: &[u8]) -> [&'static str; 4] {
    let judge = TrillianJudge::default();
    assert_eq!(latest(&judge, &[], root(9), None), "kept");
    let hash = leaf_hash(&value(2));
    let by_index =
        GetInclusionProofResponse { proof: Some(path(2, 7)), signed_log_root: None }.encode_to_vec();
    let by_index = [Part::bytes(against), Part::numbered(2, &hash.0), Part::bytes(&by_index)];
    let proof = vec![path(2, 7)];
    let by_hash = GetInclusionProofByHashResponse { proof, signed_log_root: None }.encode_to_vec();
    let by_hash = [Part::bytes(against), Part::bytes(&hash.0), Part::bytes(&by_hash)];
    let leaves = GetLeavesByRangeResponse { leaves: vec![leaf(2)], signed_log_root: None }.encode_to_vec();
    let leaves = [Part::bytes(against), Part::numbered(2, &leaves), Part::numbered(2, by_index[2].bytes)];
    [
        judged(&judge, Check::Proof, &by_index),
        judged(&judge, Check::ProofByHash, &by_hash),
        judged(&judge, Check::Found, &by_hash),
        judged(&judge, Check::Leaves, &leaves),
    ]
}

#[test]
fn a_root_that_is_not_the_logs_is_a_breach_where_it_was_served_and_leaves_what_is_held_against_it_unverified()
{
    let mut short = root(7);
    short[10] = 31;
    short.remove(11);
    for (forged, expected) in
        [(raw(9, Hash([1; 32]), 2000), FORKED), (short, "malformed-answer"), (vec![0, 2], "malformed-answer")]
    {
        let judge = TrillianJudge::default();
        assert_eq!(latest(&judge, &[], root(9), None), "kept");
        assert_eq!(latest(&judge, &[], forged.clone(), None), expected);
        // As a proof that is missing: what it leads from is not known.
        assert_eq!(latest(&judge, &forged, raw(12, Hash([2; 32]), 3000), None), UNVERIFIED);
        assert_eq!(held_against(&forged), [UNVERIFIED; 4], "{expected}");
    }
    assert_eq!(held_against(&root(7)), ["kept"; 4]);
}

#[test]
fn a_root_beside_any_answer_is_judged_there_since_nothing_else_has_it() {
    let forged = || signed(raw(7, Hash([1; 32]), 2000));
    // None of them has judged the root that was served first by itself.
    let new = TrillianJudge::default;
    let (known, hash) = (root(7), leaf_hash(&value(2)));
    let by_index = GetInclusionProofResponse { proof: Some(path(2, 7)), signed_log_root: forged() };
    let by_index = by_index.encode_to_vec();
    let parts = [Part::bytes(&known), Part::numbered(2, &hash.0), Part::bytes(&by_index)];
    assert_eq!(judged(&new(), Check::Proof, &parts), FORKED);
    let by_hash = GetInclusionProofByHashResponse { proof: vec![path(2, 7)], signed_log_root: forged() };
    let by_hash = by_hash.encode_to_vec();
    let parts = [Part::bytes(&known), Part::bytes(&hash.0), Part::bytes(&by_hash)];
    assert_eq!(judged(&new(), Check::Found, &parts), FORKED);
    for (beside_leaves, proof) in [(forged(), None), (None, forged())] {
        let leaves = GetLeavesByRangeResponse { leaves: vec![leaf(2)], signed_log_root: beside_leaves };
        let proof = GetInclusionProofResponse { proof: Some(path(2, 7)), signed_log_root: proof };
        let (leaves, proof) = (leaves.encode_to_vec(), proof.encode_to_vec());
        let parts = [Part::bytes(&known), Part::numbered(2, &leaves), Part::numbered(2, &proof)];
        assert_eq!(judged(&new(), Check::Leaves, &parts), FORKED);
    }
}

#[test]
fn a_proof_leads_from_the_leaf_that_was_asked_for_to_the_root() {
    let ask = |index, leaf: &[u8], proof, newest| {
        let answer = GetInclusionProofResponse { proof, signed_log_root: newest }.encode_to_vec();
        let root = root(7);
        let leaf = leaf_hash(leaf);
        let parts = [Part::bytes(&root), Part::numbered(index, &leaf.0), Part::bytes(&answer)];
        judged(&TrillianJudge::default(), Check::Proof, &parts)
    };
    assert_eq!(ask(2, &value(2), Some(path(2, 7)), signed(root(9))), "kept");
    assert_eq!(ask(2, &value(3), Some(path(2, 7)), None), "inclusion-proof");
    assert_eq!(ask(2, &value(2), Some(path(3, 7)), None), "inclusion-proof");
    assert_eq!(ask(2, &value(2), Some(path(2, 6)), None), "inclusion-proof");
    assert_eq!(ask(2, &value(2), None, signed(root(5))), UNVERIFIED);
    assert_eq!(ask(2, &value(2), None, signed(root(9))), "missing-proof");
    assert_eq!(ask(2, &value(2), None, None), "malformed-answer");
}

#[test]
fn every_proof_of_a_hash_has_to_hold_and_what_is_in_no_tree_is_lost() {
    let ask = |check, proofs: Vec<Proof>| {
        let answer = GetInclusionProofByHashResponse { proof: proofs, signed_log_root: signed(root(9)) };
        let (root, leaf, answer) = (root(7), leaf_hash(&value(2)), answer.encode_to_vec());
        let parts = [Part::bytes(&root), Part::bytes(&leaf.0), Part::bytes(&answer)];
        judged(&TrillianJudge::default(), check, &parts)
    };
    for check in [Check::ProofByHash, Check::Found] {
        assert_eq!(ask(check, vec![path(2, 7)]), "kept");
        assert_eq!(ask(check, vec![path(2, 7), path(3, 7)]), "inclusion-proof");
        assert_eq!(ask(check, Vec::new()), "missing-proof");
    }
    let leaf = leaf_hash(&value(2));
    assert_eq!(judged(&TrillianJudge::default(), Check::Lost, &[Part::bytes(&leaf.0)]), "lost-leaf");
    assert_eq!(judged(&TrillianJudge::default(), Check::UnverifiedFound, &[]), UNVERIFIED);
}

fn leaf(index: u64) -> LogLeaf {
    let leaf_value = value(index);
    let merkle_leaf_hash = leaf_hash(&leaf_value).0.to_vec();
    LogLeaf { leaf_value, merkle_leaf_hash, leaf_index: index.cast_signed(), ..LogLeaf::default() }
}

#[test]
fn leaves_have_their_hashes_and_places_and_lead_to_the_root() {
    let ask = |leaves: Vec<LogLeaf>| {
        let answer = GetLeavesByRangeResponse { leaves, signed_log_root: signed(root(9)) }.encode_to_vec();
        let proofs = [2, 4].map(|index| {
            let proof = GetInclusionProofResponse { proof: Some(path(index, 7)), signed_log_root: None };
            (index, proof.encode_to_vec())
        });
        let root = root(7);
        let mut parts = vec![Part::bytes(&root), Part::numbered(2, &answer)];
        parts.extend(proofs.iter().map(|(index, proof)| Part::numbered(*index, proof)));
        judged(&TrillianJudge::default(), Check::Leaves, &parts)
    };
    let honest: Vec<LogLeaf> = (2..5).map(leaf).collect();
    assert_eq!(ask(honest.clone()), "kept");
    let with = |place: usize, change: &dyn Fn(&mut LogLeaf)| {
        let mut leaves = honest.clone();
        change(&mut leaves[place]);
        ask(leaves)
    };
    assert_eq!(with(1, &|leaf| leaf.leaf_value.push(0)), "altered-leaf");
    assert_eq!(with(1, &|leaf| leaf.leaf_index = 9), "wrong-leaf-index");
    let forged = |other: &mut LogLeaf| *other = LogLeaf { leaf_index: 3, ..leaf(8) };
    assert_eq!(with(1, &forged), "inclusion-proof");
}

#[test]
fn a_queued_leaf_is_the_one_that_was_sent_whether_it_is_new_or_not() {
    let ask = |code: Option<i32>, leaf: Option<LogLeaf>| {
        let status = code.map(|code| Status { code, message: String::new() });
        let queued_leaf = Some(QueuedLogLeaf { leaf, status });
        let answer = QueueLeafResponse { queued_leaf }.encode_to_vec();
        let value = value(2);
        judged(&TrillianJudge::default(), Check::Queued, &[Part::bytes(&value), Part::bytes(&answer)])
    };
    for code in [None, Some(0), Some(6)] {
        assert_eq!(ask(code, Some(leaf(2))), "kept");
    }
    assert_eq!(ask(Some(8), Some(leaf(2))), "malformed-answer");
    assert_eq!(ask(None, None), "malformed-answer");
    assert_eq!(ask(None, Some(leaf(3))), "another-leaf");
    assert_eq!(ask(None, Some(LogLeaf { merkle_leaf_hash: vec![0; 32], ..leaf(2) })), "another-leaf");
}

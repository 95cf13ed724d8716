//! Each lie of Rekor v1 is what it says, where it says, and listed; the rest is the truth.

use hammer_lab_sigstore::{
    LieRule,
    rekor::{RekorLabHandle, RekorLabPlan, RekorLieKind},
};
use hammer_tlog::{
    encoding::from_base64,
    keys::key::LogKey,
    logs::merkle::{Hash, leaf_hash, verify_consistency},
};
use hammer_values::Count;
use serde_json::{Value, json};

use crate::{
    client::{get, post},
    mint::hashedrekord,
    recorded::{v1_checkpoint, v1_entry, v1_fault},
    v1::{ENTRIES, at_once, start, submit},
};

/// Six entries, of which the third and the fifth are lied about.
async fn story(kind: RekorLieKind) -> (RekorLabHandle, Vec<Value>) {
    let lie = LieRule { after: 2, every: Count::at_least_one(2), ..LieRule::of(kind) };
    let lab = start(RekorLabPlan { lies: vec![lie], ..at_once() }).await;
    let mut answers = Vec::new();
    for number in 0..6u8 {
        answers.push(submit(&lab, hashedrekord(&[number])).await.json(201));
    }
    (lab, answers)
}

/// What does not hold of each answer, and then of each entry as it is read.
async fn faults(
    lab: &RekorLabHandle,
    answers: &[Value],
) -> (Vec<Option<&'static str>>, Vec<Option<&'static str>>) {
    let spki = lab.target().log_key_spki().to_vec();
    let told = answers.iter().map(|answer| v1_fault(answer, &spki)).collect();
    let mut read = Vec::new();
    for answer in answers {
        let found = get(&format!("{}{ENTRIES}/{}", lab.url, v1_entry(answer).0)).await;
        read.push(v1_fault(&found.json(200), &spki));
    }
    (told, read)
}

/// The lies that the log owns up to are about the third and the fifth entry.
fn owns_up(lab: &RekorLabHandle, answers: &[Value], kind: RekorLieKind, indices: [u64; 2]) {
    let (told, unlisted) = lab.target().told_lies();
    let uuids: Vec<_> = told.iter().map(|lie| lie.uuid.clone().unwrap()).collect();
    assert_eq!(uuids, [v1_entry(&answers[2]).0, v1_entry(&answers[4]).0]);
    for (lie, index) in told.iter().zip(indices) {
        assert_eq!((lie.kind, lie.log_index, unlisted), (kind, Some(index), 0));
        assert!(lie.uuid.as_ref().unwrap().ends_with(&lie.leaf_hash.unwrap().to_hex()));
    }
}

#[tokio::test]
async fn a_lie_about_an_entry_sticks_to_it_and_to_it_alone() {
    for (kind, fault) in [
        (RekorLieKind::BadSet, "timestamp"),
        (RekorLieKind::WrongInclusionProof, "proof"),
        (RekorLieKind::AnotherBody, "leaf"),
        (RekorLieKind::WrongLogIndex, "index"),
    ] {
        let (lab, answers) = story(kind).await;
        let expected = vec![None, None, Some(fault), None, Some(fault), None];
        let (told, read) = faults(&lab, &answers).await;
        assert_eq!(told, expected, "{kind:?}");
        assert_eq!(read, expected, "{kind:?}");
        owns_up(&lab, &answers, kind, [2, 4]);
        lab.shutdown().await;
    }
}

#[tokio::test]
async fn another_body_is_that_of_the_entry_before() {
    let (lab, answers) = story(RekorLieKind::AnotherBody).await;
    let body = |at: usize| v1_entry(&answers[at]).1["body"].clone();
    assert_eq!(body(2), body(1));
    assert_eq!(body(4), body(3));
    lab.shutdown().await;
}

#[tokio::test]
async fn a_wrong_index_is_the_next() {
    let (lab, answers) = story(RekorLieKind::WrongLogIndex).await;
    assert_eq!(v1_entry(&answers[2]).1["logIndex"], 3);
    assert_eq!(v1_entry(&answers[3]).1["logIndex"], 3);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_lost_entry_holds_when_it_is_answered_and_is_not_there_later() {
    let (lab, answers) = story(RekorLieKind::LostEntry).await;
    let spki = lab.target().log_key_spki();
    assert!(answers.iter().all(|answer| v1_fault(answer, spki).is_none()));
    let mut statuses = Vec::new();
    for answer in &answers {
        let found = get(&format!("{}{ENTRIES}/{}", lab.url, v1_entry(answer).0)).await;
        statuses.push(found.status.as_u16());
    }
    assert_eq!(statuses, [200, 200, 404, 200, 404, 200]);
    // The tree goes on without them: what comes next has the index that was promised.
    let indices: Vec<Value> = answers.iter().map(|answer| v1_entry(answer).1["logIndex"].clone()).collect();
    assert_eq!(indices, [json!(0), json!(1), json!(2), json!(2), json!(3), json!(3)]);
    let info = get(&format!("{}/api/v1/log", lab.url)).await.json(200);
    assert_eq!(info["treeSize"], 4);
    owns_up(&lab, &answers, RekorLieKind::LostEntry, [2, 3]);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_forked_log_shows_another_tree_from_its_size_on() {
    let lie = LieRule { after: 4, ..LieRule::of(RekorLieKind::ForkedLogInfo) };
    let lab = start(RekorLabPlan { lies: vec![lie], ..at_once() }).await;
    let key = LogKey::from_der(lab.target().log_key_spki()).unwrap();
    let mut heads = Vec::new();
    for number in 0..6u8 {
        let answer = submit(&lab, hashedrekord(&[number])).await.json(201);
        assert_eq!(v1_fault(&answer, key.spki()), None, "{number}");
        let info = get(&format!("{}/api/v1/log", lab.url)).await.json(200);
        heads.push(v1_checkpoint(info["signedTreeHead"].as_str().unwrap(), &key).unwrap());
    }
    let mut consistent = Vec::new();
    for pair in heads.windows(2) {
        let (first, last) = (pair[0].size, pair[1].size);
        let path = format!("/api/v1/log/proof?firstSize={first}&lastSize={last}");
        let proof = get(&format!("{}{path}", lab.url)).await.json(200);
        let hashes = proof["hashes"].as_array().unwrap().iter();
        let hashes: Vec<Hash> = hashes.map(|hash| Hash::from_hex(hash.as_str().unwrap()).unwrap()).collect();
        consistent.push(verify_consistency(first, last, &pair[0].root, &pair[1].root, &hashes).is_ok());
    }
    assert_eq!(consistent, [true, true, false, true, true]);
    let (told, _) = lab.target().told_lies();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].tree_size, told[0].root_hash), (Some(4), Some(heads[3].root)));
    // The leaf itself is in no tree that is shown.
    let first = get(&format!("{}{ENTRIES}?logIndex=0", lab.url)).await.json(200);
    assert_eq!(v1_fault(&first, key.spki()), Some("proof"));
    lab.shutdown().await;
}

#[tokio::test]
async fn a_forged_log_info_has_another_root_and_the_signature_of_the_true_one_as_often_as_the_rule_says() {
    let lie = LieRule { after: 1, times: Some(1), ..LieRule::of(RekorLieKind::ForgedLogInfo) };
    let lab = start(RekorLabPlan { lies: vec![lie], ..at_once() }).await;
    let key = LogKey::from_der(lab.target().log_key_spki()).unwrap();
    submit(&lab, hashedrekord(b"1")).await.json(201);
    let mut infos = Vec::new();
    for _ in 0..3 {
        infos.push(get(&format!("{}/api/v1/log", lab.url)).await.json(200));
    }
    let note = |info: &Value| info["signedTreeHead"].as_str().unwrap().to_owned();
    let [first, forged, last] = &infos[..] else { panic!("{infos:?}") };
    assert_eq!(first, last);
    assert!(v1_checkpoint(&note(first), &key).is_some() && v1_checkpoint(&note(forged), &key).is_none());
    assert_eq!(note(forged).lines().last(), note(first).lines().last());
    let root = Hash::from_hex(forged["rootHash"].as_str().unwrap()).unwrap();
    assert!(note(forged).lines().nth(2) != note(first).lines().nth(2) && forged["treeSize"] == 1);
    let (told, _) = lab.target().told_lies();
    let [told] = &told[..] else { panic!("{told:?}") };
    let expected = (RekorLieKind::ForgedLogInfo, Some(1), Some(root));
    assert_eq!((told.kind, told.tree_size, told.root_hash), expected);
    lab.shutdown().await;
}

#[tokio::test]
async fn an_honest_log_tells_no_lies() {
    let lab = start(at_once()).await;
    let answer = submit(&lab, hashedrekord(b"1")).await.json(201);
    let body = from_base64(v1_entry(&answer).1["body"].as_str().unwrap()).unwrap();
    assert!(v1_entry(&answer).0.ends_with(&leaf_hash(&body).to_hex()));
    assert_eq!(lab.target().told_lies(), (Vec::new(), 0));
    lab.shutdown().await;
}

#[tokio::test]
async fn a_search_leaves_out_or_invents_what_the_lie_says_and_the_entries_are_all_there() {
    for (kind, found) in [
        (RekorLieKind::WithheldFromSearch, [1, 1, 0, 1, 0, 1]),
        (RekorLieKind::InventedBySearch, [1, 1, 2, 1, 2, 1]),
    ] {
        let (lab, answers) = story(kind).await;
        let spki = lab.target().log_key_spki().to_vec();
        let mut counts = Vec::new();
        for (number, answer) in answers.iter().enumerate() {
            let (uuid, entry) = v1_entry(answer);
            assert_eq!(v1_fault(&get(&format!("{}{ENTRIES}/{uuid}", lab.url)).await.json(200), &spki), None);
            let body = from_base64(entry["body"].as_str().unwrap()).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let hash = body["spec"]["data"]["hash"]["value"].as_str().unwrap();
            let query = json!({ "hash": format!("sha256:{hash}") }).to_string();
            let uuids = post(&format!("{}/api/v1/index/retrieve", lab.url), query).await.json(200);
            let uuids = uuids.as_array().unwrap();
            let is_lied_about = number == 2 || number == 4;
            assert_eq!(uuids.iter().any(|found| found == &uuid), found[number] > 0, "{kind:?} {number}");
            for other in uuids.iter().filter(|found| *found != &uuid) {
                assert!(is_lied_about, "{other}");
                let status = get(&format!("{}{ENTRIES}/{}", lab.url, other.as_str().unwrap())).await.status;
                assert_eq!(status.as_u16(), 404);
            }
            counts.push(uuids.len());
        }
        assert_eq!(counts, found, "{kind:?}");
        owns_up(&lab, &answers, kind, [2, 4]);
        lab.shutdown().await;
    }
}

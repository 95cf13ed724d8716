//! What recorded servers said holds, and each alteration is found by its own name.

use std::sync::LazyLock;

use hammer_read::{MISSING_TILE, write_parts};
use hammer_synth::write_pem;
use hammer_tlog::encoding::base64;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::tile::{Level, TileId};
use serde_json::{Value, json};

use super::*;
use crate::pem;
use crate::plan::SigstoreTargetPlan;
use crate::trust::TrustedRoot;

const ENTRY: &str = include_str!("../../../testdata/rekor-v1-hashedrekord-response.json");
const LATER_ENTRY: &str = include_str!("../../../testdata/rekor-v1-rfc3161-response.json");
const TILES_ENTRY: &str = include_str!("../../../testdata/rekor-v2-cert-response.json");
const FULCIO_CHAIN: &str = include_str!("../../../testdata/fulcio-v1-response.pem");
const TRUSTED_ROOT: &str = include_str!("../../../testdata/trusted_root.json");

static TRUST: LazyLock<Arc<Trust>> = LazyLock::new(|| {
    let root = TrustedRoot::parse(TRUSTED_ROOT).unwrap();
    let plan = r#"{"rekor_tiles_url":"http://127.0.0.1:13003","rekor_tiles_origin":"127.0.0.1"}"#;
    Arc::new(Trust::of(&serde_json::from_str::<SigstoreTargetPlan>(plan).unwrap(), Some(&root)).unwrap())
});

fn verifier() -> ReadVerifier {
    ReadVerifier::of(ReadJudge::new(TRUST.clone()))
}

fn judged(verifier: &mut ReadVerifier, check: Check, parts: &[Part<'_>]) -> &'static str {
    let mut record = Vec::new();
    write_parts(&mut record, check as u8, parts.iter().copied());
    let (number, parts) = read_parts(&record).unwrap();
    assert_eq!(Check::of(number), Some(check));
    verifier.judge(check, &parts).map_or_else(|fault| fault.kind, |()| "kept")
}

fn alone(check: Check, body: &str) -> &'static str {
    judged(&mut verifier(), check, &[Part::bytes(body.as_bytes())])
}

/// The log's information when it answered with a recorded entry.
fn log_info(entry: &str) -> Value {
    let entry: Value = serde_json::from_str(entry).unwrap();
    let entry = entry.as_object().unwrap().values().next().unwrap();
    let proof = &entry["verification"]["inclusionProof"];
    json!({
        "inactiveShards": [],
        "rootHash": proof["rootHash"],
        "signedTreeHead": proof["checkpoint"],
        "treeID": "6626240131106251881",
        "treeSize": proof["treeSize"],
    })
}

fn with(mut value: Value, key: &str, other: Value) -> String {
    value[key] = other;
    value.to_string()
}

#[test]
fn a_log_info_says_what_its_checkpoint_says_and_a_trusted_key_signed_that() {
    let info = log_info(ENTRY);
    assert_eq!(alone(Check::LogInfo, &info.to_string()), "kept");
    let size = info["treeSize"].as_u64().unwrap();
    let root = "00".repeat(32);
    let note = info["signedTreeHead"].as_str().unwrap().replacen(&size.to_string(), "9", 1);
    for (altered, expected) in [
        (with(info.clone(), "treeSize", json!(size + 1)), "checkpoint"),
        (with(info.clone(), "rootHash", json!(root)), "checkpoint"),
        (with(info.clone(), "rootHash", json!("root")), "checkpoint"),
        (with(info.clone(), "signedTreeHead", json!(note)), "checkpoint"),
        (with(info.clone(), "signedTreeHead", json!("")), "checkpoint"),
        (with(info.clone(), "signedTreeHead", log_info(LATER_ENTRY)["signedTreeHead"].clone()), "checkpoint"),
        ("[]".to_owned(), "malformed-answer"),
    ] {
        assert_eq!(alone(Check::LogInfo, &altered), expected, "{altered}");
    }
}

#[test]
fn a_tree_has_one_root_whoever_of_the_verifiers_saw_it() {
    let (mut first, info) = (verifier(), log_info(ENTRY).to_string());
    assert_eq!(judged(&mut first, Check::LogInfo, &[Part::bytes(info.as_bytes())]), "kept");
    let size = log_info(ENTRY)["treeSize"].as_u64().unwrap();
    let tree = log_info(ENTRY)["treeID"].as_str().unwrap().to_owned();
    let heads = &first.judge.heads;
    assert!(heads.check(&tree, size, Hash([0; 32])).is_err());
    let forked = ReadJudge::new(TRUST.clone());
    forked.heads.check(&tree, size, Hash([0; 32])).unwrap();
    let mut second = ReadVerifier::of(forked);
    assert_eq!(judged(&mut second, Check::LogInfo, &[Part::bytes(info.as_bytes())]), "forked-log-info");
}

#[test]
fn a_consistency_proof_leads_from_the_older_tree_to_the_newer() {
    let [older, newer] = [ENTRY, LATER_ENTRY].map(log_info);
    let sizes = [&older, &newer].map(|info| info["treeSize"].as_u64().unwrap());
    assert!(sizes[0] < sizes[1], "{sizes:?}");
    let [older, newer] = [older, newer].map(|info| info.to_string());
    let proof = |hashes: &[String]| json!({ "hashes": hashes, "rootHash": "00" }).to_string();
    let ask = |older: &str, newer: &str, proof: &str| {
        let parts = [older, newer, proof].map(|part| Part::bytes(part.as_bytes()));
        judged(&mut verifier(), Check::LogProof, &parts)
    };
    assert_eq!(ask(&older, &older, &proof(&[])), "kept");
    // The second tree of the recording has one leaf more, that of the later entry.
    let later: Value = serde_json::from_str(LATER_ENTRY).unwrap();
    let leaf = leaf_of(later.as_object().unwrap().keys().next().unwrap()).unwrap();
    assert_eq!(ask(&older, &newer, &proof(&[leaf.to_hex()])), "kept");
    assert_eq!(ask(&older, &newer, &proof(&[])), "consistency-proof");
    assert_eq!(ask(&older, &newer, &proof(&["00".repeat(32)])), "consistency-proof");
    assert_eq!(ask(&older, &older, &proof(&["0".to_owned()])), "unreadable-proof");
    assert_eq!(ask(&older, &older, "{}"), "unreadable-proof");
}

#[test]
fn a_head_that_is_not_the_logs_is_a_breach_where_it_is_judged_and_leaves_what_is_held_against_it_unverified()
{
    let (info, other) = (log_info(ENTRY), log_info(LATER_ENTRY));
    let forged = with(info.clone(), "rootHash", other["rootHash"].clone());
    assert_eq!(alone(Check::LogInfo, &forged), "checkpoint");
    let (info, other) = (info.to_string(), other.to_string());
    // As a proof that is wrong: what it leads from is not known.
    let proof = r#"{"hashes":[]}"#;
    for (older, newer, expected) in [
        (&forged, &other, UNVERIFIED),
        (&info, &forged, UNVERIFIED),
        (&forged, &forged, UNVERIFIED),
        (&info, &other, "consistency-proof"),
    ] {
        let parts = [older, newer, proof].map(|part| Part::bytes(part.as_bytes()));
        assert_eq!(judged(&mut verifier(), Check::LogProof, &parts), expected);
    }
    let entry: Value = serde_json::from_str(TILES_ENTRY).unwrap();
    let note = entry.pointer("/inclusionProof/checkpoint/envelope").unwrap().as_str().unwrap();
    let forged = note.replacen(note.lines().nth(2).unwrap(), &base64(&[0; 32]), 1);
    assert_eq!(alone(Check::Checkpoint, &forged), "checkpoint-signature");
    assert_eq!(alone(Check::Checkpoint, "<html>oops</html>"), "malformed-answer");
    for (level, check) in [(Level::Hashes(0), Check::Tile), (Level::Entries, Check::Bundle)] {
        let tile = Part::tile(TileId::new(level, 0), false, &[0; 32]);
        let parts = [Part::bytes(forged.as_bytes()), tile];
        assert_eq!(judged(&mut verifier(), check, &parts), UNVERIFIED, "{check:?}");
    }
    for (head, expected) in [(note, MISSING_TILE), (&forged, UNVERIFIED)] {
        let parts = [Part::bytes(head.as_bytes()), Part::tile(TileId::hashes(0, 3), false, &[])];
        assert_eq!(judged(&mut verifier(), Check::Missing, &parts), expected);
    }
}

#[test]
fn what_a_search_finds_are_uuids_or_nothing() {
    let (short, long) = ("0a".repeat(32), "0A".repeat(40));
    let list = |uuids: &[&str]| json!(uuids).to_string();
    for found in [list(&[]), list(&[&short]), list(&[&long, &short])] {
        assert_eq!(alone(Check::Search, &found), "kept", "{found}");
    }
    for found in
        [list(&[&short, "x"]), list(&[&"0g".repeat(32)]), list(&[""]), "null".to_owned(), "{}".to_owned()]
    {
        assert_eq!(alone(Check::Search, &found), "malformed-answer", "{found}");
    }
}

#[test]
fn what_a_search_finds_is_there_and_about_what_was_searched_for() {
    let entry: Value = serde_json::from_str(ENTRY).unwrap();
    let (uuid, logged) = entry.as_object().unwrap().iter().next().unwrap();
    let body = hammer_tlog::encoding::from_base64(logged["body"].as_str().unwrap()).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let hash = format!("sha256:{}", body.pointer("/spec/data/hash/value").unwrap().as_str().unwrap());
    let list = json!([uuid]).to_string();
    let found = |asked: &Value, uuid: &str, answer: &str| {
        let asked = asked.to_string();
        let parts = [list.as_str(), &asked, uuid, answer].map(|part| Part::bytes(part.as_bytes()));
        judged(&mut verifier(), Check::FoundEntry, &parts)
    };
    let (by_hash, other_hash) =
        (json!({ "hash": hash }), json!({ "hash": format!("sha256:{}", "00".repeat(32)) }));
    assert_eq!(found(&by_hash, uuid, ENTRY), "kept");
    assert_eq!(found(&by_hash, &uuid[16..], ENTRY), "kept", "by the hash of its leaf alone");
    assert_eq!(found(&other_hash, uuid, ENTRY), "unrelated-entry");
    assert_eq!(found(&json!({ "email": "nobody@hammer.test" }), uuid, ENTRY), "unrelated-entry");
    assert_eq!(found(&by_hash, &"0a".repeat(40), ENTRY), "another-entry");
    assert_eq!(found(&by_hash, uuid, "{}"), "malformed-answer");
    let mut altered = entry.clone();
    altered[uuid]["integratedTime"] = json!(1);
    assert_eq!(found(&by_hash, uuid, &altered.to_string()), "bad-set");
    let later: Value = serde_json::from_str(LATER_ENTRY).unwrap();
    let timestamp = later.as_object().unwrap().keys().next().unwrap();
    assert_eq!(
        found(&other_hash, timestamp, LATER_ENTRY),
        "kept",
        "a timestamp does not say what it is found by"
    );
    let asked = by_hash.to_string();
    let missing = [list.as_str(), &asked, uuid].map(|part| Part::bytes(part.as_bytes()));
    assert_eq!(judged(&mut verifier(), Check::InventedEntry, &missing), "invented-entry");
    assert_eq!(judged(&mut verifier(), Check::UnverifiedSearch, &[]), UNVERIFIED);
}

#[test]
fn the_key_of_the_log_is_a_trusted_one() {
    let root: Value = serde_json::from_str(TRUSTED_ROOT).unwrap();
    let pem = |pointer: &str| {
        let der = root.pointer(pointer).unwrap().as_str().unwrap();
        let der = hammer_tlog::encoding::from_base64(der).unwrap();
        let mut text = String::new();
        write_pem(&mut text, "PUBLIC KEY", &der);
        text
    };
    assert_eq!(alone(Check::PublicKey, &pem("/tlogs/0/publicKey/rawBytes")), "kept");
    assert_eq!(alone(Check::PublicKey, &pem("/ctlogs/0/publicKey/rawBytes")), "log-key");
    assert_eq!(alone(Check::PublicKey, "no key"), "malformed-answer");
}

#[test]
fn a_trust_bundle_has_trusted_certificates_alone() {
    let root: Value = serde_json::from_str(TRUSTED_ROOT).unwrap();
    let chain = root.pointer("/certificateAuthorities/0/certChain/certificates").unwrap().as_array().unwrap();
    let mut trusted = Vec::new();
    for certificate in chain {
        let der = hammer_tlog::encoding::from_base64(certificate["rawBytes"].as_str().unwrap()).unwrap();
        let mut text = String::new();
        write_pem(&mut text, "CERTIFICATE", &der);
        trusted.push(text);
    }
    let bundle = |chains: &[&[String]]| {
        let chains: Vec<Value> = chains.iter().map(|chain| json!({ "certificates": chain })).collect();
        json!({ "chains": chains }).to_string()
    };
    assert_eq!(alone(Check::TrustBundle, &bundle(&[&trusted])), "kept");
    assert_eq!(alone(Check::TrustBundle, &bundle(&[&trusted, &trusted])), "kept");
    let leaf = pem::first_certificate(FULCIO_CHAIN).unwrap().to_owned();
    assert_eq!(alone(Check::TrustBundle, &bundle(&[&trusted, &[leaf]])), "trust-bundle");
    for form in [bundle(&[]), bundle(&[&[]]), bundle(&[&["no PEM".to_owned()]]), "[]".to_owned()] {
        assert_eq!(alone(Check::TrustBundle, &form), "malformed-answer", "{form}");
    }
}

#[test]
fn an_issuer_has_a_name_and_an_audience() {
    let issuers = |issuers: Value| json!({ "issuers": issuers }).to_string();
    let named = json!({ "issuerUrl": "http://a", "audience": "sigstore", "challengeClaim": "email" });
    let wild = json!({ "wildcardIssuerUrl": "http://*", "audience": "sigstore" });
    let snake = json!({ "issuer_url": "http://a", "wildcard_issuer_url": null, "audience": "sigstore" });
    assert_eq!(alone(Check::Configuration, &issuers(json!([named, wild, snake]))), "kept");
    for form in
        [json!([]), json!([{ "audience": "sigstore" }]), json!([{ "issuerUrl": "http://a" }]), json!(3)]
    {
        assert_eq!(alone(Check::Configuration, &issuers(form.clone())), "malformed-answer", "{form}");
    }
}

#[test]
fn what_rekor_v2_serves_leads_to_its_checkpoint() {
    let entry: Value = serde_json::from_str(TILES_ENTRY).unwrap();
    let note = entry.pointer("/inclusionProof/checkpoint/envelope").unwrap().as_str().unwrap();
    assert_eq!(alone(Check::Checkpoint, note), "kept");
    assert_eq!(alone(Check::Checkpoint, &note.replacen("127.0.0.1", "127.0.0.2", 1)), "checkpoint-origin");
    let size: u64 = note.lines().nth(1).unwrap().parse().unwrap();
    let other = base64(&[0; 32]);
    let forged = note.replacen(note.lines().nth(2).unwrap(), &other, 1);
    assert_eq!(alone(Check::Checkpoint, &forged), "checkpoint-signature");
    assert!(size > 0);
}

#[test]
fn a_record_that_is_cut_off_or_lacks_a_part_is_no_breach() {
    assert_eq!(judged(&mut verifier(), Check::LogProof, &[]), UNVERIFIED);
    assert_eq!(judged(&mut verifier(), Check::Unverified, &[]), UNVERIFIED);
    assert_eq!(judged(&mut verifier(), Check::Missing, &[]), UNVERIFIED);
    assert_eq!(judged(&mut verifier(), Check::Unreadable, &[Part::bytes(b"why")]), UNREADABLE_PROOF);
}

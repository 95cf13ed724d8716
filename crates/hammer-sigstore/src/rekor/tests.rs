use hammer_tlog::encoding::{base64, from_base64};
use hammer_tlog::hash::sha256;
use hammer_tlog::logs::merkle::leaf_hash;

use super::*;
use crate::logged::{LoggedKind, LoggedSignature};

const ENTRY: &[u8] = include_bytes!("../../testdata/rekor-v1-hashedrekord-response.json");
const TIMESTAMP_ENTRY: &[u8] = include_bytes!("../../testdata/rekor-v1-rfc3161-response.json");
const RETRIEVED: &[u8] = include_bytes!("../../testdata/rekor-v1-retrieve-response.json");
const REQUEST: &[u8] = include_bytes!("../../testdata/rekor-v1-hashedrekord-request.json");

#[test]
fn a_recorded_entry_is_read_and_its_uuid_ends_with_the_hash_of_its_leaf() {
    for answer in [ENTRY, TIMESTAMP_ENTRY] {
        let (uuid, entry) = LogEntries::only(answer).unwrap();
        let body = from_base64(entry.body.as_bytes()).unwrap();
        assert_eq!(leaf_of(&uuid), Some(leaf_hash(&body)));
        let proof = entry.verification.unwrap().inclusion_proof.unwrap();
        assert!(proof.checkpoint.starts_with("rekor.local - ") && proof.tree_size > proof.log_index);
    }
}

#[test]
fn what_is_written_is_what_the_real_log_stored() {
    let request: serde_json::Value = serde_json::from_slice(REQUEST).unwrap();
    let text = |path: &str| from_base64(request.pointer(path).unwrap().as_str().unwrap()).unwrap();
    let digest = request.pointer("/spec/data/hash/value").unwrap().as_str().unwrap();
    let material = FlowMaterial {
        digest: Hash::from_hex(digest).unwrap(),
        signature: text("/spec/signature/content"),
        ..FlowMaterial::default()
    };
    let certificate = String::from_utf8(text("/spec/signature/publicKey/content")).unwrap();
    let mut written = Vec::new();
    write_hashedrekord(&mut written, &material, &certificate);
    let (_, entry) = LogEntries::only(ENTRY).unwrap();
    assert_eq!(base64(&written), entry.body);

    let (_, entry) = LogEntries::only(TIMESTAMP_ENTRY).unwrap();
    let stored: serde_json::Value =
        serde_json::from_slice(&from_base64(entry.body.as_bytes()).unwrap()).unwrap();
    let response = from_base64(stored.pointer("/spec/tsr/content").unwrap().as_str().unwrap()).unwrap();
    write_rfc3161(&mut written, &response);
    assert_eq!(base64(&written), entry.body);
}

#[test]
fn an_envelope_is_proposed_whole_and_stored_by_its_hashes() {
    let mut material = FlowMaterial { signature: b"signature".to_vec(), ..FlowMaterial::default() };
    material.envelope.state(&Hash([7; 32]));
    material.envelope.close(&material.signature);
    let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let mut written = Vec::new();
    write_dsse(&mut written, &material, certificate);
    let request: serde_json::Value = serde_json::from_slice(&written).unwrap();
    let content = &request["spec"]["proposedContent"];
    let envelope = content["envelope"].as_str().unwrap();
    assert_eq!(envelope.as_bytes(), material.envelope.json);
    assert_eq!(content["verifiers"], serde_json::json!([base64(certificate.as_bytes())]));
    write_stored_dsse(&mut written, &material, certificate);
    let stored = LoggedSignature::read(&written).unwrap();
    assert!(stored.kind == LoggedKind::Dsse && stored.is_about(&material.envelope.payload));
    assert_eq!(stored.signature, b"signature");
    let value: serde_json::Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(value["spec"]["envelopeHash"]["value"], sha256(envelope.as_bytes()).to_hex());
    assert_eq!(value.to_string().as_bytes(), written, "it is canonical");
}

#[test]
fn a_recorded_retrieval_has_the_entry_that_is_there_and_a_single_answer_is_one_too() {
    let found = LogEntries::retrieved(RETRIEVED).unwrap();
    assert_eq!(found.len(), 1, "one of the two that were asked for is not there");
    let leaf = leaf_hash(&from_base64(found[0].1.body.as_bytes()).unwrap());
    assert_eq!(leaf_of(&found[0].0), Some(leaf));
    assert_eq!(LogEntries::retrieved(ENTRY).unwrap().len(), 1);
    assert!(LogEntries::retrieved(b"[]").unwrap().is_empty());
    assert!(LogEntries::retrieved(b"null").is_err() && LogEntries::retrieved(b"[1]").is_err());
}

#[test]
fn an_answer_of_none_or_several_entries_is_none() {
    assert!(LogEntries::only(b"{}").is_err() && LogEntries::only(b"[]").is_err());
    let two = String::from_utf8_lossy(ENTRY).trim_end().trim_end_matches('}').to_owned();
    let two = format!("{two}}}}}, {}", &String::from_utf8_lossy(TIMESTAMP_ENTRY)[1..]);
    assert_eq!(LogEntries::only(two.as_bytes()).unwrap_err(), "answer is not one log entry");
    assert_eq!((leaf_of("00"), leaf_of(&"g".repeat(64))), (None, None));
}

#[test]
fn a_uuid_is_digits_and_nothing_else() {
    let leaf = Hash([0xab; 32]);
    assert_eq!(UuidPlace::of(&leaf.to_hex()), Some(UuidPlace { tree: None, leaf }));
    let of_tree = format!("00000000000000ff{leaf}");
    assert_eq!(UuidPlace::of(&of_tree), Some(UuidPlace { tree: Some(255), leaf }));
    for prefix in ["x\"\n{\"fill\":1}\n...", "+0000000000000ff", "ff", "00000000000000ff00", "ü"] {
        assert_eq!(leaf_of(&format!("{prefix}{leaf}")), None, "{prefix}");
    }
    assert_eq!(leaf_of("12"), None);
}

#[test]
fn a_search_finds_a_leaf_by_either_form_of_its_uuid() {
    let leaf = Hash([7; 32]);
    let found = |body: String| {
        let (count, its) = found_among(body.as_bytes(), leaf).ok()?;
        Some((count, its.map(|uuid| uuid.to_string())))
    };
    let (other, of_tree) = (Hash([8; 32]), format!("0000000000000001{leaf}"));
    assert_eq!(found(format!("[\"{leaf}\",\"{other}\"]")), Some((2, Some(leaf.to_string()))));
    assert_eq!(found(format!("[\"{of_tree}\",\"{leaf}\"]")), Some((2, Some(of_tree))));
    assert_eq!(found("[]".to_owned()), Some((0, None)));
    assert_eq!(found(format!("{{\"{leaf}\":1}}")), None);
}

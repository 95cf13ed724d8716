//! What real servers were asked and answered, and how an answer is verified.

use hammer_tlog::{
    encoding::{base64, from_base64},
    keys::key::LogKey,
    logs::{
        merkle::{Hash, leaf_hash, sha256, verify_inclusion},
        note::{Checkpoint, Note},
    },
};
use serde_json::{Value, json};

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../testdata/rekor/", $name))
    };
}
pub(crate) use recorded;

/// The uuid and the entry of an answer of Rekor v1.
pub(crate) fn v1_entry(answer: &Value) -> (String, Value) {
    let entries = answer.as_object().unwrap();
    assert_eq!(entries.len(), 1);
    let (uuid, entry) = entries.iter().next().unwrap();
    (uuid.clone(), entry.clone())
}

/// What does not hold of an answer of Rekor v1, if anything.
pub(crate) fn v1_fault(answer: &Value, spki: &[u8]) -> Option<&'static str> {
    let key = LogKey::from_der(spki).unwrap();
    let (uuid, entry) = v1_entry(answer);
    let body = from_base64(entry["body"].as_str().unwrap()).unwrap();
    let set = from_base64(entry["verification"]["signedEntryTimestamp"].as_str().unwrap()).unwrap();
    let promise = format!(
        "{{\"body\":{},\"integratedTime\":{},\"logID\":{},\"logIndex\":{}}}",
        entry["body"], entry["integratedTime"], entry["logID"], entry["logIndex"]
    );
    if entry["logID"] != sha256(spki).to_hex() || key.verify_raw(promise.as_bytes(), &set).is_err() {
        return Some("timestamp");
    }
    let leaf = leaf_hash(&body);
    if !uuid.ends_with(&leaf.to_hex()) {
        return Some("leaf");
    }
    let proof = &entry["verification"]["inclusionProof"];
    let hashes = proof["hashes"].as_array().unwrap().iter();
    let hashes: Vec<Hash> = hashes.map(|hash| Hash::from_hex(hash.as_str().unwrap()).unwrap()).collect();
    let (index, size) = (proof["logIndex"].as_u64().unwrap(), proof["treeSize"].as_u64().unwrap());
    let root = Hash::from_hex(proof["rootHash"].as_str().unwrap()).unwrap();
    let checkpoint = v1_checkpoint(proof["checkpoint"].as_str().unwrap(), &key);
    if checkpoint.map(|checkpoint| (checkpoint.size, checkpoint.root)) != Some((size, root)) {
        return Some("checkpoint");
    }
    if verify_inclusion(index, size, &leaf, &hashes, &root).is_err() {
        return Some("proof");
    }
    (entry["logIndex"] != json!(index)).then_some("index")
}

/// A verified checkpoint of Rekor v1: ECDSA over the text, by a key whose id is the beginning of its hash.
pub(crate) fn v1_checkpoint(note: &str, key: &LogKey) -> Option<Checkpoint> {
    let note = Note::parse(note.as_bytes()).unwrap();
    let signature = &note.signatures[0];
    assert_eq!(signature.key_id.to_be_bytes(), key.log_id().0[..4]);
    key.verify_raw(note.text.as_bytes(), &signature.signature).ok()?;
    Checkpoint::parse(note.text).ok()
}

/// What does not hold of an answer of Rekor v2, if anything.
pub(crate) fn v2_fault(entry: &Value, spki: &[u8]) -> Option<&'static str> {
    let key = LogKey::from_der(spki).unwrap();
    let bytes = |value: &Value| from_base64(value.as_str().unwrap()).unwrap();
    let hash = |value: &Value| Hash::from_slice(&bytes(value)).unwrap();
    let number = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap();
    let proof = &entry["inclusionProof"];
    let (size, root) = (number(&proof["treeSize"]), hash(&proof["rootHash"]));
    let envelope = proof["checkpoint"]["envelope"].as_str().unwrap();
    let note = Note::parse(envelope.as_bytes()).unwrap();
    let checkpoint = Checkpoint::parse(note.text).unwrap();
    let line = &note.signatures[0];
    let log_id = bytes(&entry["logId"]["keyId"]);
    let signed = key.verify_raw(note.text.as_bytes(), &line.signature).is_ok();
    if !signed || line.key_id.to_be_bytes() != log_id[..4] {
        return Some("signature");
    }
    if (checkpoint.size, checkpoint.root) != (size, root) || line.name != checkpoint.origin {
        return Some("checkpoint");
    }
    let hashes: Vec<Hash> = proof["hashes"].as_array().unwrap().iter().map(hash).collect();
    let (index, leaf) = (number(&proof["logIndex"]), leaf_hash(&bytes(&entry["canonicalizedBody"])));
    assert_eq!(entry["logIndex"], proof["logIndex"]);
    verify_inclusion(index, size, &leaf, &hashes, &root).err().map(|_| "proof")
}

/// The names of all members, in order, and the types of what is no object: the shape of an answer.
pub(crate) fn shape(json: &str) -> String {
    let mut shape = String::new();
    let mut text = json.trim();
    while let Some(character) = text.chars().next() {
        let length = match character {
            '"' => string_length(text),
            '0'..='9' => text.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(text.len()),
            _ => 1,
        };
        let (token, rest) = text.split_at(length);
        let is_name = rest.starts_with(':') && token.len() < 40;
        match character {
            '"' if !is_name => shape.push('s'),
            '0'..='9' => shape.push('n'),
            _ => shape.push_str(token),
        }
        text = rest;
    }
    shape.replace("[s]", "[]")
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text[1..].find(|character| {
        let ends = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        ends
    });
    end.unwrap() + 2
}

#[test]
fn the_recorded_answers_hold() {
    let spki = |text: &str| from_base64(text.trim()).unwrap();
    let key = spki(recorded!("rekor-v1-public-key.b64"));
    for answer in
        [recorded!("rekor-v1-hashedrekord-response.json"), recorded!("rekor-v1-rfc3161-response.json")]
    {
        assert_eq!(v1_fault(&serde_json::from_str(answer).unwrap(), &key), None);
        let answer = answer.replacen("integratedTime\":179", "integratedTime\":178", 1);
        assert_eq!(v1_fault(&serde_json::from_str(&answer).unwrap(), &key), Some("timestamp"));
    }
    let key = spki(recorded!("rekor-v2-public-key.b64"));
    for answer in [recorded!("rekor-v2-response.json"), recorded!("rekor-v2-cert-response.json")] {
        let mut answer: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(v2_fault(&answer, &key), None);
        answer["canonicalizedBody"] = json!(base64(b"{}"));
        assert_eq!(v2_fault(&answer, &key), Some("proof"));
    }
}

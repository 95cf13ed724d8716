//! Rekor v1: what it takes, answers and refuses.

use futures::future::join_all;
use hammer_lab::ManualClock;
use hammer_lab_sigstore::rekor::{RekorLabHandle, RekorLabPlan};
use hammer_tlog::{
    encoding::{base64, from_base64},
    keys::key::LogKey,
    logs::merkle::{Hash, leaf_hash, sha256, verify_consistency},
};
use hammer_values::TimeSpan;
use serde_json::{Value, json};

use crate::{
    client::{Answer, get, post},
    mint::{Signer, ed25519, hashedrekord, pre_authentication_encoding, proposed},
    recorded::{recorded, shape, v1_checkpoint, v1_entry, v1_fault},
};

pub(crate) const ENTRIES: &str = "/api/v1/log/entries";

/// A plan whose entries are integrated at once.
pub(crate) fn at_once() -> RekorLabPlan {
    RekorLabPlan { integration_delay: TimeSpan::ZERO, ..RekorLabPlan::default() }
}

pub(crate) async fn start(plan: RekorLabPlan) -> RekorLabHandle {
    RekorLabHandle::start(plan).await.unwrap()
}

pub(crate) async fn submit(lab: &RekorLabHandle, entry: impl ToString) -> Answer {
    post(&format!("{}{ENTRIES}", lab.url), entry.to_string()).await
}

async fn of(lab: &RekorLabHandle, path: &str) -> Answer {
    get(&format!("{}{path}", lab.url)).await
}

#[tokio::test]
async fn the_recorded_entries_become_the_recorded_leaves() {
    let clock = std::sync::Arc::new(ManualClock::at_unix_ms(1_795_243_691_500));
    let lab = RekorLabHandle::start_with_clock(at_once(), clock).await.unwrap();
    for (request, response) in [
        (recorded!("rekor-v1-hashedrekord-request.json"), recorded!("rekor-v1-hashedrekord-response.json")),
        (recorded!("rekor-v1-rfc3161-request.json"), recorded!("rekor-v1-rfc3161-response.json")),
    ] {
        let answer = submit(&lab, request).await;
        let (recorded_uuid, recorded) = v1_entry(&serde_json::from_str(response).unwrap());
        let json = answer.json(201);
        assert_eq!(v1_fault(&json, lab.target().log_key_spki()), None);
        let (uuid, entry) = v1_entry(&json);
        assert_eq!(uuid, recorded_uuid);
        for name in ["body", "logIndex", "integratedTime"] {
            assert_eq!(entry[name], recorded[name], "{name}");
        }
        for name in ["rootHash", "treeSize", "hashes", "logIndex"] {
            let proof = |entry: &Value| entry["verification"]["inclusionProof"][name].clone();
            assert_eq!(proof(&entry), proof(&recorded), "{name}");
        }
        assert_eq!(shape(&answer.text()), shape(response));
        assert_eq!(answer.header("location").unwrap(), format!("{ENTRIES}/{uuid}"));
        assert_eq!(answer.header("etag").unwrap(), uuid);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert!(answer.text().ends_with("}\n"));
    }
    lab.shutdown().await;
}

#[tokio::test]
async fn an_entry_that_is_there_already_is_told_by_its_uuid() {
    let lab = start(at_once()).await;
    let request = recorded!("rekor-v1-hashedrekord-request.json");
    submit(&lab, request).await.json(201);
    let again = submit(&lab, request).await;
    assert_eq!(again.status, 409);
    assert_eq!(again.text(), recorded!("rekor-v1-conflict-response.json"));
    let uuid = v1_entry(&serde_json::from_str(recorded!("rekor-v1-hashedrekord-response.json")).unwrap()).0;
    assert_eq!(again.header("location").unwrap(), format!("{ENTRIES}/{uuid}"));
    assert_eq!(lab.stats().tree_size, 1);
    lab.shutdown().await;
}

#[tokio::test]
async fn an_entry_is_read_by_its_uuid_its_leaf_hash_and_its_index() {
    let lab = start(at_once()).await;
    let mut uuids = Vec::new();
    for number in 0..5u8 {
        uuids.push(v1_entry(&submit(&lab, hashedrekord(&[number])).await.json(201)).0);
    }
    let spki = lab.target().log_key_spki();
    for (index, uuid) in uuids.iter().enumerate() {
        let paths = [
            format!("{ENTRIES}/{uuid}"),
            format!("{ENTRIES}/{}", &uuid[16..]),
            format!("{ENTRIES}?logIndex={index}"),
        ];
        for path in paths {
            let answer = of(&lab, &path).await.json(200);
            assert_eq!(v1_fault(&answer, spki), None);
            let (found, entry) = v1_entry(&answer);
            let size = &entry["verification"]["inclusionProof"]["treeSize"];
            assert_eq!((&found, &entry["logIndex"], size), (uuid, &json!(index), &json!(5)));
        }
    }
    lab.shutdown().await;
}

#[tokio::test]
async fn an_unknown_entry_is_not_found_and_a_malformed_uuid_breaks_the_schema() {
    let lab = start(at_once()).await;
    let other_tree = "1".repeat(80);
    for path in [
        format!("{ENTRIES}/{}", "0".repeat(64)),
        format!("{ENTRIES}/{other_tree}"),
        format!("{ENTRIES}?logIndex=0"),
    ] {
        let answer = of(&lab, &path).await;
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (404, ""), "{path}");
    }
    assert_eq!(of(&lab, &format!("{ENTRIES}/abc")).await.json(422)["code"], 605);
    assert_eq!(of(&lab, ENTRIES).await.json(422)["code"], 602);
    assert_eq!(of(&lab, &format!("{ENTRIES}?logIndex=x")).await.json(422)["code"], 601);
    assert_eq!(of(&lab, "/api/v1/nothing").await.status, 404);
    lab.shutdown().await;
}

#[tokio::test]
async fn entries_are_retrieved_ten_at_a_time_and_those_that_are_not_there_left_out() {
    let lab = start(at_once()).await;
    let first = v1_entry(&submit(&lab, hashedrekord(b"1")).await.json(201)).0;
    let second = v1_entry(&submit(&lab, hashedrekord(b"2")).await.json(201)).0;
    let retrieve = |body: Value| post_to(&lab, "/api/v1/log/entries/retrieve", body);
    let unknown = "0".repeat(80);
    let answer =
        retrieve(json!({ "entryUUIDs": [second, unknown, first], "logIndexes": [1, 7] })).await.json(200);
    let found: Vec<String> = answer.as_array().unwrap().iter().map(|entry| v1_entry(entry).0).collect();
    assert_eq!(found, [second.clone(), first, second]);
    for entry in answer.as_array().unwrap() {
        assert_eq!(v1_fault(entry, lab.target().log_key_spki()), None);
    }
    assert_eq!(retrieve(json!({ "logIndexes": vec![0; 11] })).await.json(422)["code"], 611);
    let six = json!({ "logIndexes": vec![0; 6], "entryUUIDs": vec![unknown; 6] });
    assert_eq!(retrieve(six).await.json(422)["code"], 422);
    assert_eq!(retrieve(json!({ "entryUUIDs": ["x"] })).await.status, 422);
    lab.shutdown().await;
}

async fn post_to(lab: &RekorLabHandle, path: &str, body: Value) -> Answer {
    post(&format!("{}{path}", lab.url), body.to_string()).await
}

#[tokio::test]
async fn the_log_says_its_head_its_key_and_how_it_grew() {
    let lab = start(RekorLabPlan { hostname: "a.log".into(), tree_id: 7, ..at_once() }).await;
    let pem = of(&lab, "/api/v1/log/publicKey").await;
    assert_eq!(pem.header("content-type"), Some("application/x-pem-file"));
    let key = LogKey::from_pem(&pem.text()).unwrap();
    assert_eq!((key.spki(), key.log_id()), (lab.target().log_key_spki(), lab.target().log_id()));
    let mut roots = Vec::new();
    for number in 0..6u8 {
        let info = of(&lab, "/api/v1/log").await.json(200);
        assert_eq!((&info["treeSize"], &info["treeID"]), (&json!(number), &json!("7")));
        assert_eq!(info["inactiveShards"], json!([]));
        let checkpoint = v1_checkpoint(info["signedTreeHead"].as_str().unwrap(), &key).unwrap();
        assert_eq!(checkpoint.origin, "a.log - 7");
        assert_eq!(
            (checkpoint.size, json!(checkpoint.root.to_hex())),
            (number.into(), info["rootHash"].clone())
        );
        roots.push(checkpoint.root);
        submit(&lab, hashedrekord(&[number])).await.json(201);
    }
    for first in 1..6 {
        let proof = of(&lab, &format!("/api/v1/log/proof?firstSize={first}&lastSize=5")).await.json(200);
        let hashes = proof["hashes"].as_array().unwrap().iter();
        let hashes: Vec<Hash> = hashes.map(|hash| Hash::from_hex(hash.as_str().unwrap()).unwrap()).collect();
        verify_consistency(first as u64, 5, &roots[first], &roots[5], &hashes).unwrap();
    }
    for (query, status) in [("lastSize=7", 400), ("firstSize=3&lastSize=2", 400), ("", 422)] {
        assert_eq!(of(&lab, &format!("/api/v1/log/proof?{query}")).await.status, status, "{query}");
    }
    lab.shutdown().await;
}

#[tokio::test]
async fn what_was_logged_is_found_by_hash_email_and_key() {
    let lab = start(at_once()).await;
    let search = |query: Value| async { post_to(&lab, "/api/v1/index/retrieve", query).await.json(200) };
    submit(&lab, recorded!("rekor-v1-hashedrekord-request.json")).await.json(201);
    submit(&lab, recorded!("rekor-v1-rfc3161-request.json")).await.json(201);
    let of_answer = |answer: &str| v1_entry(&serde_json::from_str(answer).unwrap()).0;
    let rekord = of_answer(recorded!("rekor-v1-hashedrekord-response.json"));
    assert_eq!(search(json!({ "email": "JDOE@redhat.com" })).await, json!([rekord]));
    let hash = "sha256:e9bf07ea1d33ac99c27fbf1c0cb89cf8e06815570f1deb77fe571e63f361f601";
    assert_eq!(search(json!({ "hash": hash })).await, json!([rekord]));
    let request: Value = serde_json::from_str(recorded!("rekor-v1-hashedrekord-request.json")).unwrap();
    let content = &request["spec"]["signature"]["publicKey"]["content"];
    let key = json!({ "publicKey": { "format": "x509", "content": content } });
    assert_eq!(search(key).await, json!([rekord]));
    let request: Value = serde_json::from_str(recorded!("rekor-v1-rfc3161-request.json")).unwrap();
    let token = from_base64(request["spec"]["tsr"]["content"].as_str().unwrap()).unwrap();
    let timestamp = of_answer(recorded!("rekor-v1-rfc3161-response.json"));
    assert_eq!(search(json!({ "hash": format!("sha256:{}", sha256(&token)) })).await, json!([timestamp]));
    assert_eq!(search(json!({ "email": "nobody@redhat.com" })).await, json!([]));
    lab.shutdown().await;
    let lab = start(RekorLabPlan { search: false, ..at_once() }).await;
    let answer = post_to(&lab, "/api/v1/index/retrieve", json!({ "email": "a@b" })).await;
    assert_eq!(answer.json(501)["message"], "Search Index API not enabled in this Rekor instance");
    lab.shutdown().await;
}

#[tokio::test]
async fn an_envelope_is_logged_by_its_hashes_and_its_signatures() {
    let lab = start(at_once()).await;
    let (signer, payload) = (Signer::new(), b"{\"_type\":\"a statement\"}");
    let (pair, spki) = ed25519();
    let message = pre_authentication_encoding("application/vnd.in-toto+json", payload);
    let signatures = [base64(&signer.sign(&message)), base64(pair.sign(&message).as_ref())];
    let envelope = json!({ "payload": base64(payload), "payloadType": "application/vnd.in-toto+json",
        "signatures": [{ "sig": signatures[0], "keyid": "" }, { "sig": signatures[1] }] })
    .to_string();
    let pem = hammer_lab_sigstore::artifact::public_key_pem(&spki);
    let verifiers = [base64(signer.pem().as_bytes()), base64(pem.as_bytes())];
    let propose = |verifiers: &[String]| {
        json!({ "apiVersion": "0.0.1", "kind": "dsse",
            "spec": { "proposedContent": { "envelope": envelope, "verifiers": verifiers } } })
    };
    let (uuid, entry) = v1_entry(&submit(&lab, propose(&verifiers)).await.json(201));
    let body = from_base64(entry["body"].as_str().unwrap()).unwrap();
    let of = |at: usize| {
        format!("{{\"signature\":{},\"verifier\":{}}}", json!(signatures[at]), json!(verifiers[at]))
    };
    let (first, second) = if signatures[0] < signatures[1] { (of(0), of(1)) } else { (of(1), of(0)) };
    let hash = |bytes: &[u8]| format!("{{\"algorithm\":\"sha256\",\"value\":\"{}\"}}", sha256(bytes));
    let expected = format!(
        "{{\"apiVersion\":\"0.0.1\",\"kind\":\"dsse\",\"spec\":{{\"envelopeHash\":{},\"payloadHash\":{},\"signatures\":[{first},{second}]}}}}",
        hash(envelope.as_bytes()),
        hash(payload)
    );
    assert_eq!(String::from_utf8_lossy(&body), expected);
    assert!(uuid.ends_with(&leaf_hash(&body).to_hex()));
    let answer = submit(&lab, propose(&verifiers[..1])).await.json(400);
    assert_eq!(answer["message"], "error processing entry: all signatures must have a key that verifies it");
    let stranger = [verifiers[0].clone(), verifiers[1].clone(), base64(Signer::new().pem().as_bytes())];
    submit(&lab, propose(&stranger)).await.json(400);
    lab.shutdown().await;
}

#[tokio::test]
async fn an_envelope_is_found_by_what_its_statement_is_about_and_what_is_none_is_refused() {
    let lab = start(at_once()).await;
    let signer = Signer::new();
    let propose = |payload_type: &str, payload: &str, signed: bool| {
        let message = pre_authentication_encoding(payload_type, payload.as_bytes());
        let signatures: Vec<Value> =
            signed.then(|| json!({ "sig": base64(&signer.sign(&message)) })).into_iter().collect();
        let envelope = json!({ "payloadType": payload_type, "payload": base64(payload.as_bytes()),
            "signatures": signatures });
        json!({ "apiVersion": "0.0.1", "kind": "dsse", "spec": { "proposedContent": {
            "envelope": envelope.to_string(), "verifiers": [base64(signer.pem().as_bytes())] } } })
    };
    let subject = sha256(b"an artifact").to_hex();
    let statement = format!(r#"{{"subject":[{{"name":"a","digest":{{"sha256":"{subject}"}}}}]}}"#);
    let (uuid, _) =
        v1_entry(&submit(&lab, propose("application/vnd.in-toto+json", &statement, true)).await.json(201));
    submit(&lab, propose("text/plain", &format!("{statement} "), true)).await.json(201);
    let found = async |hash: String| {
        post_to(&lab, "/api/v1/index/retrieve", json!({ "hash": format!("sha256:{hash}") })).await.json(200)
    };
    assert_eq!(found(subject).await, json!([uuid]));
    assert_eq!(found(sha256(statement.as_bytes()).to_hex()).await, json!([uuid]));
    let refused =
        |entry: Value| async { submit(&lab, entry).await.json(400)["message"].as_str().unwrap().to_owned() };
    assert_eq!(
        refused(propose("text/plain", "nothing", false)).await,
        "error processing entry: DSSE envelope must contain 1 or more signatures"
    );
    let mut both = propose("text/plain", "both", true);
    both["spec"]["payloadHash"] = json!({ "algorithm": "sha256", "value": sha256(b"both").to_hex() });
    assert!(refused(both).await.ends_with("must be present but not both"));
    lab.shutdown().await;
}

#[tokio::test]
async fn signatures_that_do_not_hold_are_refused_with_their_reason() {
    let lab = start(at_once()).await;
    let signer = Signer::new();
    let (good, hash) = (base64(&signer.sign(b"one")), sha256(b"one").to_hex());
    let message =
        |entry: Value| async { submit(&lab, entry).await.json(400)["message"].as_str().unwrap().to_owned() };
    let wrong = message(proposed(&good, &signer.pem(), "sha256", &sha256(b"two").to_hex())).await;
    assert_eq!(
        wrong,
        "error processing entry: verifying signature: invalid signature when validating ASN.1 encoded signature"
    );
    let pem = message(proposed(&good, "no pem", "sha256", &hash)).await;
    assert_eq!(pem, "error processing entry: invalid public key: failure decoding PEM");
    let short = message(proposed(&good, &signer.pem(), "sha512", &hash)).await;
    assert_eq!(short, "error processing entry: invalid value for hash");
    let missing = json!({ "apiVersion": "0.0.1", "kind": "hashedrekord", "spec": {} });
    assert_eq!(message(missing).await, "error processing entry: missing signature");
    assert_eq!(submit(&lab, "{\"kind\":").await.json(500)["message"], "unexpected EOF");
    assert_eq!(submit(&lab, "{}").await.json(422)["code"], 602);
    assert_eq!(lab.stats().tree_size, 0);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_timestamp_whose_signature_or_content_was_altered_is_refused() {
    let lab = start(at_once()).await;
    let request: Value = serde_json::from_str(recorded!("rekor-v1-rfc3161-request.json")).unwrap();
    let token = from_base64(request["spec"]["tsr"]["content"].as_str().unwrap()).unwrap();
    // The imprint, the status, an attribute, the signature.
    for (at, reason) in
        [(120, "content digest"), (8, "not granted"), (895, "content digest"), (1140, "invalid signature")]
    {
        let mut altered = token.clone();
        altered[at] ^= 4;
        let mut request = request.clone();
        request["spec"]["tsr"]["content"] = json!(base64(&altered));
        let answer = submit(&lab, request).await.json(400);
        assert!(answer["message"].as_str().unwrap().contains(reason), "{at}: {answer}");
    }
    lab.shutdown().await;
}

#[tokio::test]
async fn entries_at_once_share_a_tree_head_and_all_hold() {
    let lab = start(RekorLabPlan { integration_delay: TimeSpan::from_millis(40), ..at_once() }).await;
    let submissions = (0..20u8).map(|number| submit(&lab, hashedrekord(&[number])));
    let answers = join_all(submissions).await;
    let mut indices: Vec<u64> = Vec::new();
    for answer in answers {
        let json = answer.json(201);
        assert_eq!(v1_fault(&json, lab.target().log_key_spki()), None);
        indices.push(v1_entry(&json).1["logIndex"].as_u64().unwrap());
    }
    indices.sort_unstable();
    assert_eq!(indices, (0..20).collect::<Vec<_>>());
    let stats = lab.stop();
    assert_eq!((stats.accepted, stats.tree_size, stats.outstanding), (20, 20, 0));
}

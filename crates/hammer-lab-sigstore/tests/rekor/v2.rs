//! Rekor v2: what it takes, answers, refuses, and serves as files.

use std::sync::Arc;

use futures::future::join_all;
use hammer_lab::ManualClock;
use hammer_lab_sigstore::rekor_tiles::{CheckpointKey, RekorTilesLabHandle, RekorTilesLabPlan};
use hammer_tlog::{
    encoding::{base64, from_base64},
    logs::{
        merkle::{leaf_hash, sha256},
        note::{Verifier, open_checkpoint},
        tile::TileId,
    },
};
use hammer_values::{Count, TimeSpan};
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair},
};
use serde_json::{Value, json};

use crate::{
    client::{Answer, get, post},
    mint::{Signer, hashedrekord_v2, pre_authentication_encoding},
    recorded::{recorded, shape, v2_fault},
};

/// A plan whose entries are published at once.
pub(crate) fn quick() -> RekorTilesLabPlan {
    RekorTilesLabPlan {
        batch_max_age: TimeSpan::ZERO,
        checkpoint_interval: TimeSpan::from_millis(1),
        ..RekorTilesLabPlan::default()
    }
}

pub(crate) async fn start(plan: RekorTilesLabPlan) -> RekorTilesLabHandle {
    RekorTilesLabHandle::start(plan).await.unwrap()
}

pub(crate) async fn submit(lab: &RekorTilesLabHandle, entry: impl ToString) -> Answer {
    post(&format!("{}/api/v2/log/entries", lab.url), entry.to_string()).await
}

#[tokio::test]
async fn the_recorded_entries_become_the_recorded_leaves_bundles_and_tiles() {
    let lab = start(quick()).await;
    for (request, response) in [
        (recorded!("rekor-v2-request.json"), recorded!("rekor-v2-response.json")),
        (recorded!("rekor-v2-cert-request.json"), recorded!("rekor-v2-cert-response.json")),
    ] {
        let answer = submit(&lab, request).await;
        let (entry, recorded): (Value, Value) = (answer.json(201), serde_json::from_str(response).unwrap());
        assert_eq!(v2_fault(&entry, lab.target().log_key_spki()), None);
        for name in ["canonicalizedBody", "kindVersion", "logIndex", "integratedTime", "inclusionPromise"] {
            assert_eq!(entry[name], recorded[name], "{name}");
        }
        for name in ["rootHash", "treeSize", "hashes", "logIndex"] {
            assert_eq!(entry["inclusionProof"][name], recorded["inclusionProof"][name], "{name}");
        }
        assert_eq!(shape(&answer.text()), shape(response));
        assert_eq!(entry["logId"]["keyId"], json!(lab.target().log_id().to_base64()));
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    let recorded_bundle = include_bytes!("../../testdata/rekor/rekor-v2-entries-000.p2.bin");
    let recorded_tile = include_bytes!("../../testdata/rekor/rekor-v2-tile-0-000.p2.bin");
    for root in ["", "/api/v2"] {
        let file = |path: &str| format!("{}{root}/{path}", lab.url);
        assert_eq!(get(&file("tile/entries/000.p/2")).await.body, recorded_bundle[..]);
        assert_eq!(get(&file("tile/0/000.p/2")).await.body, recorded_tile[..]);
        assert_eq!(get(&file("tile/0/000.p/3")).await.status, 404);
        let (text, recorded) = (get(&file("checkpoint")).await.text(), recorded!("rekor-v2-checkpoint.txt"));
        assert_eq!(text.split("\n\n").next(), recorded.split("\n\n").next());
    }
    let again = submit(&lab, recorded!("rekor-v2-request.json")).await;
    assert_eq!((again.status.as_u16(), again.header("x-log-index")), (409, Some("0")));
    assert_eq!(again.text(), recorded!("rekor-v2-duplicate-response.json"));
    lab.shutdown().await;
}

#[tokio::test]
async fn the_checkpoint_is_a_note_by_the_key_that_the_plan_asks_for() {
    let lab = start(quick()).await;
    submit(&lab, hashedrekord_v2(b"1")).await.json(201);
    let note = get(&format!("{}/checkpoint", lab.url)).await;
    let key: [u8; 32] = lab.target().log_key_spki()[12..].try_into().unwrap();
    let verifier = Verifier::ed25519("127.0.0.1", &key).unwrap();
    assert_eq!(open_checkpoint(&note.body, &verifier).unwrap().0.size, 1);
    lab.shutdown().await;
    let lab =
        start(RekorTilesLabPlan { key: CheckpointKey::P256, hostname: "a.log".into(), ..quick() }).await;
    let entry = submit(&lab, hashedrekord_v2(b"1")).await.json(201);
    assert_eq!(v2_fault(&entry, lab.target().log_key_spki()), None);
    assert!(entry["inclusionProof"]["checkpoint"]["envelope"].as_str().unwrap().starts_with("a.log\n1\n"));
    lab.shutdown().await;
}

#[tokio::test]
async fn six_hundred_entries_at_once_are_proved_and_stand_in_their_bundles() {
    let lab = start(RekorTilesLabPlan { checkpoint_interval: TimeSpan::from_millis(20), ..quick() }).await;
    let requests: Vec<Value> = (0..600u32).map(|number| hashedrekord_v2(&number.to_be_bytes())).collect();
    let answers = join_all(requests.iter().map(|request| submit(&lab, request))).await;
    let mut bodies = vec![Vec::new(); 600];
    for answer in answers {
        let entry = answer.json(201);
        assert_eq!(v2_fault(&entry, lab.target().log_key_spki()), None);
        let index: usize = entry["logIndex"].as_str().unwrap().parse().unwrap();
        bodies[index] = from_base64(entry["canonicalizedBody"].as_str().unwrap()).unwrap();
    }
    for (bundle, width) in [("000", 256), ("001", 256), ("002.p/88", 88)] {
        let bytes = get(&format!("{}/tile/entries/{bundle}", lab.url)).await.body;
        let tile: TileId = format!("tile/0/{bundle}").parse().unwrap();
        let hashes = get(&format!("{}/{tile}", lab.url)).await.body;
        let mut rest = &bytes[..];
        for (at, hash) in tile.parse_hashes(&hashes).unwrap().into_iter().enumerate() {
            let (length, after) = rest.split_first_chunk::<2>().unwrap();
            let (body, after) = after.split_at(u16::from_be_bytes(*length).into());
            assert_eq!((body, leaf_hash(body)), (&bodies[tile.first() as usize + at][..], hash));
            rest = after;
        }
        assert!(rest.is_empty());
        assert_eq!(hashes.len(), width * 32);
    }
    assert_eq!(get(&format!("{}/tile/1/000.p/2", lab.url)).await.body.len(), 64);
    assert_eq!(lab.stop().published_size, 600);
}

#[tokio::test]
async fn what_is_no_entry_is_refused_in_the_words_of_the_gateway() {
    let lab = start(quick()).await;
    let refused = |body: String| async {
        let answer = submit(&lab, body).await.json(400);
        assert_eq!((&answer["code"], &answer["details"]), (&json!(3), &json!([])));
        answer["message"].as_str().unwrap().to_owned()
    };
    let mut other = hashedrekord_v2(b"1");
    other["hashedRekordRequestV002"]["digest"] = json!(base64(&[7; 32]));
    assert_eq!(refused(other.to_string()).await, "invalid hashedrekord request");
    let mut other = hashedrekord_v2(b"1");
    other["hashedRekordRequestV002"]["signature"]["verifier"]["keyDetails"] = json!("PKIX_ED25519");
    assert_eq!(refused(other.to_string()).await, "invalid hashedrekord request");
    assert_eq!(refused("{}".into()).await, "invalid type, must be hashedrekord");
    assert!(refused(r#"{"kind":"hashedrekord"}"#.into()).await.contains("unknown field"));
    assert_eq!(get(&format!("{}/api/v2/nothing", lab.url)).await.json(404)["code"], 5);
    assert_eq!(get(&format!("{}/healthz", lab.url)).await.json(200)["status"], "SERVING");
    assert_eq!(lab.stats().tree_size, 0);
    lab.shutdown().await;
}

#[tokio::test]
async fn an_envelope_is_no_entry_and_the_hash_of_what_is_signed_in_it_is() {
    let lab = start(quick()).await;
    let (signer, payload) = (Signer::new(), b"a statement");
    let message = pre_authentication_encoding("text/plain", payload);
    let signature = base64(&signer.sign(&message));
    let verifier =
        json!({ "publicKey": { "rawBytes": base64(&signer.spki) }, "keyDetails": "PKIX_ECDSA_P256_SHA_256" });
    let envelope = json!({ "payload": base64(payload), "payloadType": "text/plain",
        "signatures": [{ "sig": signature }] });
    let refused = json!({ "dsseRequestV002": { "envelope": envelope, "verifiers": [verifier] } });
    let answer = submit(&lab, refused).await.json(400);
    assert_eq!(answer, json!({ "code": 3, "message": "invalid type, must be hashedrekord", "details": [] }));
    let digest = base64(&sha256(&message).0);
    let logged = json!({ "hashedRekordRequestV002": { "digest": digest,
        "signature": { "content": signature, "verifier": verifier } } });
    let entry = submit(&lab, logged).await.json(201);
    assert_eq!(v2_fault(&entry, lab.target().log_key_spki()), None);
    lab.shutdown().await;
}

#[tokio::test]
async fn an_entry_that_no_bundle_could_hold_is_refused() {
    let lab = start(quick()).await;
    let key = KeyPair::generate().unwrap();
    let mut certificate = CertificateParams::new([]).unwrap();
    let content = vec![0; usize::from(u16::MAX)];
    certificate.custom_extensions = vec![CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 1], content)];
    let certificate = certificate.self_signed(&key).unwrap();
    let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, &key.serialize_der(), &random).unwrap();
    let signature = pair.sign(&random, b"1").unwrap();
    let request = json!({ "hashedRekordRequestV002": {
        "digest": base64(&sha256(b"1").0),
        "signature": { "content": base64(signature.as_ref()), "verifier": {
            "x509Certificate": { "rawBytes": base64(certificate.der()) },
            "keyDetails": "PKIX_ECDSA_P256_SHA_256",
        }},
    }});
    assert_eq!(submit(&lab, request).await.json(500)["code"], 2);
    assert_eq!(lab.stats().tree_size, 0);
    lab.shutdown().await;
}

#[tokio::test]
async fn more_than_may_wait_is_pushed_back_and_a_frozen_log_takes_nothing() {
    let clock = ManualClock::at_unix_ms(0);
    let plan = RekorTilesLabPlan { pushback_max_outstanding: 0, ..RekorTilesLabPlan::default() };
    let lab = RekorTilesLabHandle::start_with_clock(plan, Arc::new(clock)).await.unwrap();
    let answer = submit(&lab, hashedrekord_v2(b"1")).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.text(), r#"{"code":14,"message":"reached max pushback; retry","details":[]}"#);
    lab.shutdown().await;
    let lab = start(RekorTilesLabPlan { frozen: true, ..quick() }).await;
    let answer = submit(&lab, hashedrekord_v2(b"1")).await;
    assert_eq!(answer.status, 405);
    assert_eq!(answer.text(), "This log has been frozen, please switch to the latest log.\n");
    lab.shutdown().await;
}

#[tokio::test]
async fn an_entry_that_no_checkpoint_covers_in_time_is_not_waited_for() {
    let (server_timeout, checkpoint_interval) = (TimeSpan::from_millis(5), TimeSpan::from_secs(3600));
    let lab = start(RekorTilesLabPlan { server_timeout, checkpoint_interval, ..quick() }).await;
    assert_eq!(submit(&lab, hashedrekord_v2(b"1")).await.json(504)["code"], 4);
    let stats = lab.stop();
    // It is published all the same.
    assert_eq!((stats.accepted, stats.published_size), (0, 1));
}

#[tokio::test]
async fn a_full_batch_does_not_wait_for_its_age() {
    let batch_max_age = TimeSpan::from_secs(3600);
    let lab =
        start(RekorTilesLabPlan { batch_max_age, batch_max_size: Count::at_least_one(3), ..quick() }).await;
    let requests: Vec<Value> = (0..3u8).map(|number| hashedrekord_v2(&[number])).collect();
    for answer in join_all(requests.iter().map(|request| submit(&lab, request))).await {
        answer.json(201);
    }
    lab.shutdown().await;
}

#[tokio::test]
async fn a_replica_that_lags_serves_the_tree_as_it_was() {
    let lab = start(RekorTilesLabPlan { read_lag: TimeSpan::from_secs(3600), ..quick() }).await;
    let entry = submit(&lab, hashedrekord_v2(b"1")).await.json(201);
    assert_eq!(v2_fault(&entry, lab.target().log_key_spki()), None);
    assert!(get(&format!("{}/checkpoint", lab.url)).await.text().starts_with("127.0.0.1\n0\n"));
    assert_eq!(get(&format!("{}/tile/0/000.p/1", lab.url)).await.status, 404);
    assert_eq!(lab.stop().published_size, 1);
}

#[tokio::test]
async fn tiles_may_be_compressed_whoever_asks() {
    let lab = start(RekorTilesLabPlan { gzip: true, ..quick() }).await;
    submit(&lab, hashedrekord_v2(b"1")).await.json(201);
    for tile in ["0", "entries"] {
        let answer = get(&format!("{}/tile/{tile}/000.p/1", lab.url)).await;
        assert_eq!((answer.header("content-encoding"), &answer.body[..2]), (Some("gzip"), &[0x1f, 0x8b][..]));
    }
    lab.shutdown().await;
}

//! The recording target.

use bytes::Bytes;
use hammer_lab::{RecordingLabHandle, RecordingLabPlan};
use hammer_tlog::{ct::sct::Sct, keys::key::LogKey, logs::merkle::sha256};
use http_body_util::Full;

use crate::{
    chains::{Mint, body},
    client::{Connection, post, request},
    ct_log::signed_entry,
};

async fn digest_of(order: &[u64]) -> [u8; 32] {
    let lab = RecordingLabHandle::start(RecordingLabPlan::default()).await.unwrap();
    for seq in order {
        let url = format!("{}/ct/v1/add-chain", lab.url);
        let mut sent = request("POST", &format!("{}/other", lab.url), format!("body {seq}"));
        sent.headers_mut().insert("x-hammer-seq", (*seq).into());
        assert_eq!(Connection::http1(&url).await.send(sent).await.unwrap().status, 200);
    }
    assert_eq!(lab.recorded().count, order.len() as u64);
    let digest = lab.digest().unwrap();
    lab.shutdown().await;
    digest
}

#[tokio::test]
async fn the_digest_is_that_of_the_bodies_in_the_order_of_their_seq() {
    let expected = sha256(b"body 1body 2body 3").0;
    assert_eq!(digest_of(&[1, 2, 3]).await, expected);
    assert_eq!(digest_of(&[3, 1, 2]).await, expected);
    assert_ne!(digest_of(&[1, 2]).await, expected);
}

#[tokio::test]
async fn submissions_are_ordered_by_their_serial_and_answered_with_a_good_sct() {
    let mint = Mint::new();
    let lab = RecordingLabHandle::start(RecordingLabPlan::default()).await.unwrap();
    let key = LogKey::from_der(lab.log_key_spki()).unwrap();
    let mut bodies = Vec::new();
    for seq in [2_u64, 1] {
        for precert in [false, true] {
            let seq = seq * 2 + u64::from(precert);
            let chain = if precert { mint.precert_chain(seq) } else { mint.chain(seq) };
            let endpoint = if precert { "add-pre-chain" } else { "add-chain" };
            let answer = post(&format!("{}/ct/v1/{endpoint}", lab.url), body(&chain)).await;
            let entry = signed_entry(&mint, &chain, precert);
            Sct::from_json(&answer.body).unwrap().verify(&key, entry.by_ref()).unwrap();
            bodies.push((seq, body(&chain)));
        }
    }
    bodies.sort();
    let in_order: Vec<u8> = bodies.into_iter().flat_map(|(_, body)| body).collect();
    assert_eq!(lab.digest(), Some(sha256(&in_order).0));
    assert_eq!(post(&format!("{}/ct/v1/add-chain", lab.url), "{}").await.status, 400);
    lab.shutdown().await;
}

#[tokio::test]
async fn without_room_for_every_body_there_is_no_digest() {
    let lab = RecordingLabHandle::start(RecordingLabPlan {
        max_recorded: hammer_values::ByteSize::from_bytes(5),
        ..Default::default()
    })
    .await
    .unwrap();
    let mut connection = Connection::http1(&lab.url).await;
    for _ in 0..2 {
        let sent: http::Request<Full<Bytes>> = request("POST", &format!("{}/x", lab.url), "four");
        connection.send(sent).await.unwrap();
    }
    assert_eq!((lab.recorded().count, lab.recorded().dropped, lab.digest()), (2, 1, None));
    lab.shutdown().await;
}

//! Rekor v2 over gRPC: the same function in another skin.

use hammer_messages::{
    health::{CHECK, HealthCheckResponse},
    rekor::{
        CREATE_ENTRY, CreateEntryRequest, EntrySpec, HashedRekordRequestV002, PublicKeyDetails, RawPublicKey,
        Signature, TransparencyLogEntry, Verifier, VerifierKey,
    },
};
use hammer_tlog::logs::merkle::sha256;
use prost::Message;
use serde_json::to_value;

use crate::{
    client::call,
    mint::Signer,
    recorded::v2_fault,
    v2::{quick, start},
};

fn request(artifact: &[u8], digest: &[u8]) -> Vec<u8> {
    let signer = Signer::new();
    let verifier = Verifier {
        verifier: Some(VerifierKey::PublicKey(RawPublicKey { raw_bytes: signer.spki.clone() })),
        key_details: PublicKeyDetails::PkixEcdsaP256Sha256 as i32,
    };
    let signature = Some(Signature { content: signer.sign(artifact), verifier: Some(verifier) });
    let request = HashedRekordRequestV002 { digest: digest.to_vec(), signature };
    CreateEntryRequest { spec: Some(EntrySpec::HashedRekordRequestV002(request)) }.encode_to_vec()
}

#[tokio::test]
async fn a_call_is_answered_with_an_entry_that_holds_and_its_duplicate_with_its_index() {
    let lab = start(quick()).await;
    let url = format!("{}{CREATE_ENTRY}", lab.url);
    let request = request(b"1", &sha256(b"1").0);
    let (_, body, trailers) = call(&url, &request).await;
    assert_eq!(trailers.unwrap()["grpc-status"], "0");
    let entry = TransparencyLogEntry::decode(&body[5..]).unwrap();
    assert_eq!(v2_fault(&to_value(&entry).unwrap(), lab.target().log_key_spki()), None);
    let (head, ..) = call(&url, &request).await;
    assert_eq!((&head["grpc-status"], &head["x-log-index"]), (&"6".parse().unwrap(), &"0".parse().unwrap()));
    assert_eq!(
        head["grpc-message"],
        "an equivalent entry already exists in the transparency log with index 0"
    );
    assert_eq!(lab.stop().requests["create-entry"][&200], 2);
}

#[tokio::test]
async fn what_does_not_hold_is_an_invalid_argument_and_health_is_told() {
    let lab = start(quick()).await;
    let url = format!("{}{CREATE_ENTRY}", lab.url);
    let (head, ..) = call(&url, &request(b"1", &sha256(b"2").0)).await;
    assert_eq!(
        (head["grpc-status"].as_bytes(), head["grpc-message"].as_bytes()),
        (&b"3"[..], &b"invalid hashedrekord request"[..])
    );
    let (head, ..) = call(&url, b"\x07").await;
    assert_eq!(head["grpc-status"], "13");
    let (_, body, _) = call(&format!("{}{CHECK}", lab.url), b"").await;
    assert_eq!(HealthCheckResponse::decode(&body[5..]).unwrap().status, 1);
    let (head, ..) = call(&format!("{}/dev.sigstore.rekor.v2.Rekor/GetTile", lab.url), b"").await;
    assert_eq!(head["grpc-status"], "12");
    lab.shutdown().await;
}

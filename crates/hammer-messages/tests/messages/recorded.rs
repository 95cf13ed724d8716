//! What real servers were asked and answered.

use hammer_messages::{
    fulcio::{
        CreateSigningCertificateRequest, IssuedCertificate, PublicKeyAlgorithm, RequestedKey,
        SigningCertificate,
    },
    rekor::{CreateEntryRequest, EntrySpec, PublicKeyDetails, TransparencyLogEntry, VerifierKey},
    trillian::{
        GetInclusionProofResponse, GetLatestSignedLogRootResponse, LogRootError, LogRootV1, QueueLeafRequest,
        QueueLeafResponse,
    },
};
use prost::Message;

/// The message, which is these bytes again when it is encoded.
fn read<M: Message + Default>(bytes: &[u8]) -> M {
    let message = M::decode(bytes).unwrap();
    assert_eq!(message.encode_to_vec(), bytes);
    message
}

#[test]
fn a_request_for_a_certificate_is_read_and_written_again() {
    let request: CreateSigningCertificateRequest =
        read(include_bytes!("../../testdata/fulcio-v2-request.pb"));
    let Some(RequestedKey::PublicKeyRequest(key)) = &request.key else { panic!("{:?}", request.key) };
    assert_eq!(key.proof_of_possession.len(), 71);
    let public_key = key.public_key.as_ref().unwrap();
    assert_eq!(public_key.algorithm(), PublicKeyAlgorithm::Ecdsa);
    assert!(public_key.content.starts_with("-----BEGIN PUBLIC KEY-----\n"));
    let token = request.credentials.as_ref().unwrap().oidc_identity_token();
    assert!(token.starts_with("eyJhbGciOiJSUzI1NiIs"));
    let printed = format!("{request:?}");
    assert!(!printed.contains("eyJhbGci") && printed.contains("***"), "{printed}");
}

#[test]
fn a_certificate_with_its_promise_inside_is_read_and_written_again() {
    let answer: SigningCertificate = read(include_bytes!("../../testdata/fulcio-v2-response.pb"));
    let Some(IssuedCertificate::SignedCertificateEmbeddedSct(embedded)) = answer.certificate else {
        panic!("{answer:?}")
    };
    let chain = embedded.chain.unwrap().certificates;
    assert_eq!(chain.iter().filter(|pem| pem.starts_with("-----BEGIN CERTIFICATE-----\n")).count(), 2);
}

#[test]
fn a_request_for_an_entry_is_read_and_written_again() {
    for (bytes, is_certificate, length) in [
        (&include_bytes!("../../testdata/rekor-v2-request.pb")[..], false, 91),
        (include_bytes!("../../testdata/rekor-v2-cert-request.pb"), true, 687),
    ] {
        let request: CreateEntryRequest = read(bytes);
        let Some(EntrySpec::HashedRekordRequestV002(entry)) = request.spec else { panic!("{request:?}") };
        let verifier = entry.signature.unwrap().verifier.unwrap();
        assert_eq!((entry.digest.len(), verifier.key_details()), (32, PublicKeyDetails::PkixEcdsaP256Sha256));
        let (raw, in_certificate) = match verifier.verifier.unwrap() {
            VerifierKey::PublicKey(key) => (key.raw_bytes, false),
            VerifierKey::X509Certificate(certificate) => (certificate.raw_bytes, true),
        };
        assert_eq!((raw.len(), in_certificate), (length, is_certificate));
    }
}

#[test]
fn an_entry_in_json_is_the_same_as_in_protocol_buffers() {
    for (json, bytes) in [
        (
            include_str!("../../testdata/rekor-v2-response.json"),
            &include_bytes!("../../testdata/rekor-v2-response.pb")[..],
        ),
        (
            include_str!("../../testdata/rekor-v2-cert-response.json"),
            include_bytes!("../../testdata/rekor-v2-cert-response.pb"),
        ),
    ] {
        let entry: TransparencyLogEntry = read(bytes);
        assert_eq!(serde_json::from_str::<TransparencyLogEntry>(json).unwrap(), entry);
        let written: serde_json::Value = serde_json::to_value(&entry).unwrap();
        assert_eq!(written, serde_json::from_str::<serde_json::Value>(json).unwrap());
    }
}

#[test]
fn json_may_leave_out_what_has_its_default_and_write_numbers_and_base64_either_way() {
    let short = r#"{"logIndex": 7, "integratedTime": null, "canonicalizedBody": "-_8", "unknown": [1]}"#;
    let entry: TransparencyLogEntry = serde_json::from_str(short).unwrap();
    let expected =
        TransparencyLogEntry { log_index: 7, canonicalized_body: vec![0xfb, 0xff], ..Default::default() };
    assert_eq!(entry, expected);
    let padded: TransparencyLogEntry =
        serde_json::from_str(r#"{"logIndex":"7","canonicalizedBody":"+/8="}"#).unwrap();
    assert_eq!(padded, expected);
    for wrong in
        [r#"{"logIndex":"seven"}"#, r#"{"canonicalizedBody":"?"}"#, r#"{"inclusionProof":{"hashes":[1]}}"#]
    {
        assert!(serde_json::from_str::<TransparencyLogEntry>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_trillian_was_asked_and_answered_is_read_and_written_again() {
    let asked: QueueLeafRequest = read(include_bytes!("../../testdata/trillian-QueueLeaf-request.pb"));
    let queued: QueueLeafResponse = read(include_bytes!("../../testdata/trillian-QueueLeaf-response.pb"));
    let queued = queued.queued_leaf.unwrap();
    assert_eq!((asked.log_id, queued.status), (6_626_240_131_106_251_881, None));
    let leaf = queued.leaf.unwrap();
    assert_eq!((&leaf.leaf_value, leaf.merkle_leaf_hash.len()), (&asked.leaf.unwrap().leaf_value, 32));
    assert_eq!(leaf.queue_timestamp.unwrap().nanos, 752_994_348);
    let proof: GetInclusionProofResponse =
        read(include_bytes!("../../testdata/trillian-GetInclusionProof-response.pb"));
    let path = proof.proof.unwrap();
    assert_eq!((path.leaf_index, path.hashes.len(), path.hashes[0].len()), (1, 1, 32));
    assert!(proof.signed_log_root.is_some());
}

#[test]
fn the_root_of_a_recorded_tree_is_read() {
    let answer: GetLatestSignedLogRootResponse =
        read(include_bytes!("../../testdata/trillian-GetLatestSignedLogRoot-response.pb"));
    let signed = answer.signed_log_root.unwrap();
    let root = signed.read().unwrap();
    assert_eq!((root.tree_size, root.root_hash.len(), root.revision), (3, 32, 0));
    assert_eq!((root.timestamp_nanos / 1_000_000_000, root.metadata), (1_795_243_852, &b""[..]));
}

#[test]
fn a_root_that_is_cut_off_or_of_another_version_is_refused() {
    let answer: GetLatestSignedLogRootResponse =
        read(include_bytes!("../../testdata/trillian-GetLatestSignedLogRoot-response.pb"));
    let bytes = answer.signed_log_root.unwrap().log_root;
    for length in 0..bytes.len() {
        assert!(matches!(LogRootV1::from_tls(&bytes[..length]), Err(LogRootError::Cut { .. })), "{length}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(LogRootV1::from_tls(&longer), Err(LogRootError::Trailing(1)));
    let mut other = bytes.clone();
    other[1] = 2;
    assert_eq!(LogRootV1::from_tls(&other), Err(LogRootError::Version(2)));
    let mut long = bytes;
    long[10] = 129;
    assert_eq!(LogRootV1::from_tls(&long), Err(LogRootError::LongHash(129)));
}

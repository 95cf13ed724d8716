//! EU DSS's REST services: both requests of a signature have the same parameters and the same document.

use std::sync::Arc;

use hammer_net::Body;
use hammer_pdf::document::Document;
use hammer_pki::dss::{SignRequest, ToBeSigned, data_to_sign, signed_document};
use hammer_pki::{InlineDocument, SignatureKind};
use hammer_tlog::encoding::{base64, from_base64};
use serde_json::{Value, json};

const SIGNING_MS: u64 = 1_795_737_600_123;

fn read(body: &Body) -> Value {
    let bytes = body.to_bytes();
    assert_eq!(bytes.len(), body.len());
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn a_signature_is_asked_for_twice_by_the_same_parameters() {
    for (kind, is_rsa, level) in [
        (SignatureKind::Cades, true, "CAdES_BASELINE_B"),
        (SignatureKind::CadesT, false, "CAdES_BASELINE_T"),
        (SignatureKind::Pades, true, "PAdES_BASELINE_B"),
        (SignatureKind::PadesT, false, "PAdES_BASELINE_T"),
    ] {
        let document = Document::new(1, 2, 2_000).unwrap();
        let sent = ToBeSigned::Document(Arc::new(InlineDocument::new(document.clone())));
        let request = SignRequest::new(kind, b"certificate", &[b"issuer".to_vec()], is_rsa, false);
        let asked = read(&request.data_to_sign(&sent, SIGNING_MS));
        let mut signed = read(&request.sign_document(&sent, SIGNING_MS, b"signature"));
        let value = signed.as_object_mut().unwrap().remove("signatureValue").unwrap();
        assert_eq!(signed, asked, "beside the signature they are the same");
        let algorithm = if is_rsa { "RSA_SHA256" } else { "ECDSA_SHA256" };
        assert_eq!(value, json!({ "algorithm": algorithm, "value": base64(b"signature") }));
        let parameters = &asked["parameters"];
        assert_eq!(parameters["signatureLevel"], level);
        assert_eq!(parameters["signaturePackaging"], if kind.is_pdf() { "ENVELOPED" } else { "ENVELOPING" });
        assert_eq!(parameters["encryptionAlgorithm"], if is_rsa { "RSA" } else { "ECDSA" });
        assert_eq!(parameters["signingCertificate"]["encodedCertificate"], base64(b"certificate"));
        assert_eq!(parameters["certificateChain"], json!([{ "encodedCertificate": base64(b"issuer") }]));
        assert_eq!(parameters["blevelParams"], json!({ "signingDate": SIGNING_MS }));
        let bytes = from_base64(asked["toSignDocument"]["bytes"].as_str().unwrap()).unwrap();
        assert!(bytes == document.to_vec() && asked["toSignDocument"]["digestAlgorithm"].is_null());
    }
}

#[test]
fn a_digest_is_sent_in_the_place_of_its_document() {
    let request = SignRequest::new(SignatureKind::Cades, b"certificate", &[], true, true);
    let asked = read(&request.data_to_sign(&ToBeSigned::Sha256([7; 32]), SIGNING_MS));
    assert_eq!(asked["parameters"]["signaturePackaging"], "DETACHED");
    let document = json!({ "bytes": base64(&[7; 32]), "digestAlgorithm": "SHA256", "name": "document.pdf" });
    assert_eq!(asked["toSignDocument"], document);
}

#[test]
fn what_is_no_answer_is_refused() {
    assert_eq!(data_to_sign(br#"{"bytes":"AQI="}"#).unwrap(), [1, 2]);
    assert_eq!(signed_document(br#"{"bytes":"AQI=","digestAlgorithm":null,"name":"a"}"#).unwrap(), [1, 2]);
    for none in
        ["", "{}", "<html>", r#"{"bytes":null}"#, r#"{"bytes":""}"#, r#"{"bytes":"*"}"#, r#"{"bytes":[1]}"#]
    {
        assert!(data_to_sign(none.as_bytes()).is_err(), "{none}");
    }
}

use std::sync::Arc;

use hammer_lab::ManualClock;
use hammer_lab_authority::LabSigner;
use hammer_lab_sigstore::{AuthorityCurve, FulcioConfig, FulcioLabHandle, FulcioLabPlan, TrustedIssuer};
use hammer_tlog::{encoding::base64, keys::certificate::Certificate};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};
use serde_json::json;

use crate::{
    client::{Answer, get, post, request, send},
    openssl::{OpensslFolder, certificates, pem},
    signer::{NOW, Signer, fulcio, token, v1_request},
};

const V1_REQUEST: &str = include_str!("../../testdata/fulcio/v1-request.json");
const V1_TOKEN: &str = include_str!("../../testdata/fulcio/v1-token.jwt");
const V1_RESPONSE: &str = include_str!("../../testdata/fulcio/v1-response.pem");
const V2_REQUEST: &str = include_str!("../../testdata/fulcio/v2-request.json");
const V2_RESPONSE: &str = include_str!("../../testdata/fulcio/v2-response.json");
const JWKS: &[u8] = include_bytes!("../../testdata/fulcio/jwks.json");

/// A Fulcio that trusts the recorded issuer, at the time of the recording.
async fn recorded() -> FulcioLabHandle {
    let mut config = FulcioConfig::from_plan(FulcioLabPlan::default(), NOW * 1000).unwrap();
    config.issuers.push(TrustedIssuer { issuer: "http://127.0.0.1:18888".into(), jwks: JWKS.to_vec() });
    let clock = Arc::new(ManualClock::at_unix_ms(NOW * 1000));
    FulcioLabHandle::start_with_clock(config, clock).await.unwrap()
}

/// The object identifiers, criticalities and values of a certificate's extensions, but for those that follow from a root
/// or a log.
fn extensions(der: &[u8]) -> Vec<(Vec<u8>, bool, Vec<u8>)> {
    let certificate = Certificate::parse(der).unwrap();
    let ours =
        |oid: &[u8]| ![&[0x55, 0x1d, 0x23][..], &[0x2b, 6, 1, 4, 1, 0xd6, 0x79, 2, 4, 2]].contains(&oid);
    let parts = certificate.extensions.filter(|extension| ours(extension.oid));
    parts.map(|part| (part.oid.to_vec(), part.critical, part.value.to_vec())).collect()
}

/// OpenSSL's verdict about a chain in PEM, leaf first, at the time of the tests.
fn verify(chain: &str, root: &[u8]) -> Result<String, String> {
    let folder = OpensslFolder::new();
    let ders = certificates(chain);
    folder.write("leaf.pem", pem("CERTIFICATE", &ders[0]));
    folder.write("root.pem", pem("CERTIFICATE", root));
    folder.write("others.pem", ders[1..].iter().map(|der| pem("CERTIFICATE", der)).collect::<String>());
    let at = (NOW + 300).to_string();
    folder.run(&[
        "verify",
        "-attime",
        &at,
        "-x509_strict",
        "-CAfile",
        "root.pem",
        "-untrusted",
        "others.pem",
        "leaf.pem",
    ])
}

fn refusal(answer: &Answer) -> (u16, String) {
    assert_eq!(answer.header("content-type"), "application/json");
    (answer.status.as_u16(), answer.text())
}

#[tokio::test]
async fn a_recorded_request_to_v1_gets_the_recorded_certificate_but_for_its_root_its_serial_and_its_sct() {
    let fulcio = recorded().await;
    let answer = send(v1_request(&fulcio.url, V1_TOKEN, V1_REQUEST)).await;
    assert_eq!(answer.status.as_u16(), 201, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/pem-certificate-chain");
    assert_eq!(answer.header("vary"), "Origin");
    let text = answer.text();
    assert!(text.ends_with("-----END CERTIFICATE-----"));
    let (ours, theirs) = (certificates(&text), certificates(V1_RESPONSE));
    assert_eq!(ours.len(), theirs.len());
    assert_eq!(extensions(&ours[0]), extensions(&theirs[0]));
    let parse = |der| Certificate::parse(der).unwrap();
    let (leaf, recorded) = (parse(&ours[0]), parse(&theirs[0]));
    assert_eq!(leaf.spki, recorded.spki);
    assert_eq!(leaf.subject, recorded.subject);
    assert_eq!((leaf.not_before, leaf.not_after), (recorded.not_before, recorded.not_after));
    assert_ne!(leaf.serial, recorded.serial);
}

#[tokio::test]
async fn a_recorded_request_to_v2_gets_a_chain_of_the_recorded_form() {
    let fulcio = recorded().await;
    let url = format!("{}/api/v2/signingCert", fulcio.url);
    let answer = post(&url, "application/json", V2_REQUEST).await;
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/json");
    let answered = answer.json();
    let chain = &answered["signedCertificateDetachedSct"]["chain"]["certificates"];
    let recorded: serde_json::Value = serde_json::from_str(V2_RESPONSE).unwrap();
    let recorded = &recorded["signedCertificateEmbeddedSct"]["chain"]["certificates"];
    assert_eq!(chain.as_array().unwrap().len(), recorded.as_array().unwrap().len());
    assert_eq!(answered["signedCertificateDetachedSct"]["signedCertificateTimestamp"], "");
    let der = |chain: &serde_json::Value| certificates(chain[0].as_str().unwrap()).remove(0);
    assert_eq!(extensions(&der(chain)), extensions(&der(recorded)));
    assert!(!chain[0].as_str().unwrap().ends_with('\n'));
}

#[tokio::test]
async fn openssl_verifies_a_certificate_by_every_kind_of_authority() {
    for (ca_curve, intermediate) in [
        (AuthorityCurve::P256, false),
        (AuthorityCurve::P256, true),
        (AuthorityCurve::P384, false),
        (AuthorityCurve::P384, true),
    ] {
        let fulcio = fulcio(FulcioLabPlan { ca_curve, intermediate, ..FulcioLabPlan::default() }, None).await;
        let chain = Signer::new().ask(&fulcio).await.text();
        assert_eq!(certificates(&chain).len(), if intermediate { 3 } else { 2 });
        verify(&chain, fulcio.target().authority().root_certificate()).unwrap();
        let another =
            FulcioConfig::from_plan(FulcioLabPlan { key_seed: 2, ..FulcioLabPlan::default() }, NOW * 1000);
        verify(&chain, another.unwrap().authority().root_certificate()).unwrap_err();
    }
}

#[tokio::test]
async fn keys_of_every_algorithm_are_certified() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    let root = fulcio.target().authority().root_certificate();
    for key in [LabSigner::p256("a", 1), LabSigner::p384(), LabSigner::ed25519("a", 1)] {
        let signer = Signer { key: key.unwrap(), ..Signer::new() };
        let chain = signer.ask(&fulcio).await.text();
        verify(&chain, root).unwrap();
        let der = certificates(&chain).remove(0);
        assert_eq!(Certificate::parse(&der).unwrap().spki, signer.key.spki());
    }
}

#[tokio::test]
async fn an_rsa_key_is_certified_and_one_of_1024_bits_is_insecure() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    for (bits, status) in [("2048", 201), ("1024", 400)] {
        let folder = OpensslFolder::new();
        folder.run(&["genrsa", "-out", "key.pem", bits]).unwrap();
        let public = folder.run(&["rsa", "-in", "key.pem", "-pubout"]).unwrap();
        folder.write("email", Signer::new().email);
        folder.run(&["dgst", "-sha256", "-sign", "key.pem", "-out", "proof", "email"]).unwrap();
        let proof = std::fs::read(folder.path().join("proof")).unwrap();
        let body = json!({"publicKey": {"content": base64(public.as_bytes())}, "signedEmailAddress": base64(&proof)});
        let answer = send(v1_request(&fulcio.url, &Signer::new().token(), body.to_string())).await;
        assert_eq!(answer.status.as_u16(), status, "{}", answer.text());
        assert_eq!(answer.text().contains("is insecure"), status == 400);
    }
}

#[tokio::test]
async fn a_signing_request_is_its_own_proof_of_possession() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    let url = format!("{}/api/v2/signingCert", fulcio.url);
    for algorithm in [&PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P384_SHA384, &PKCS_ED25519] {
        let key = KeyPair::generate_for(algorithm).unwrap();
        let csr = CertificateParams::new([]).unwrap().serialize_request(&key).unwrap();
        let credentials = json!({"oidcIdentityToken": Signer::new().token()});
        let ask = |csr: &str| {
            json!({"credentials": credentials, "certificateSigningRequest": base64(csr.as_bytes())})
                .to_string()
        };
        let answer = post(&url, "application/json", ask(&csr.pem().unwrap())).await;
        assert_eq!(answer.status.as_u16(), 200, "{}", answer.text());
        let mut altered = csr.der().to_vec();
        // Within the subject, which is of no other importance.
        let common_name = altered.windows(5).position(|text| text == b"rcgen").unwrap();
        altered[common_name] = b'R';
        let answer = post(&url, "application/json", ask(&pem("CERTIFICATE REQUEST", &altered))).await;
        let message = "The signature supplied in the request could not be verified";
        assert_eq!(refusal(&answer), (400, status_body(3, message)));
    }
}

fn status_body(code: u8, message: &str) -> String {
    format!(r#"{{"code":{code},"message":"{message}","details":[]}}"#)
}

#[tokio::test]
async fn a_token_that_is_missing_expired_or_for_another_audience_is_one_and_the_same_400() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    let signer = Signer::new();
    let body = signer.body(&signer.proof());
    let told = status_body(3, "There was an error processing the identity token");
    let other = FulcioLabPlan { audience: "else".into(), ..FulcioLabPlan::default() };
    let stranger = crate::signer::fulcio(other, None).await;
    for (url, token) in [
        (&fulcio.url, String::new()),
        (&fulcio.url, "x".to_owned()),
        (&fulcio.url, token(signer.email, NOW - 1)),
        (&fulcio.url, V1_TOKEN.to_owned()),
        (&stranger.url, signer.token()),
    ] {
        assert_eq!(
            refusal(&send(v1_request(url, &token, body.clone())).await),
            (400, told.clone()),
            "{token}"
        );
    }
    let url = format!("{}/api/v1/signingCert", fulcio.url);
    assert_eq!(refusal(&post(&url, "application/json", body).await), (400, told));
}

#[tokio::test]
async fn a_proof_over_another_address_is_refused() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    let signer = Signer::new();
    let body = signer.body(&signer.key.sign(b"john@example.com"));
    let answer = send(v1_request(&fulcio.url, &signer.token(), body)).await;
    let message = "The signature supplied in the request could not be verified";
    assert_eq!(refusal(&answer), (400, status_body(3, message)));
}

#[tokio::test]
async fn a_request_without_a_key_or_in_broken_json_is_refused() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    let token = Signer::new().token();
    for body in ["{}", r#"{"publicKey":{"content":"AAAA"}}"#] {
        let answer = send(v1_request(&fulcio.url, &token, body)).await;
        let message = "The public key supplied in the request could not be parsed";
        assert_eq!(refusal(&answer), (400, status_body(3, message)));
    }
    let (status, body) = refusal(&send(v1_request(&fulcio.url, &token, "{")).await);
    assert_eq!(status, 400);
    assert!(body.starts_with(r#"{"code":3,"message":"proto: "#), "{body}");
}

#[tokio::test]
async fn what_to_trust_and_whose_tokens_are_taken_is_told() {
    let plan = FulcioLabPlan { intermediate: true, ..FulcioLabPlan::default() };
    let fulcio = fulcio(plan, None).await;
    let ask = async |path: &str| get(&format!("{}{path}", fulcio.url)).await;
    let chain = fulcio.target().authority().chain();
    let roots = ask("/api/v1/rootCert").await;
    assert_eq!(roots.header("content-type"), "application/pem-certificate-chain");
    assert_eq!(certificates(&roots.text()), chain);
    let bundle = ask("/api/v2/trustBundle").await.json();
    let blocks = bundle["chains"][0]["certificates"].as_array().unwrap();
    let told: Vec<_> = blocks.iter().flat_map(|block| certificates(block.as_str().unwrap())).collect();
    assert_eq!(told, chain);
    let issuer = &ask("/api/v2/configuration").await.json()["issuers"][0];
    assert_eq!(issuer["issuerUrl"], "http://issuer.test");
    assert_eq!((&issuer["audience"], &issuer["challengeClaim"]), (&"sigstore".into(), &"email".into()));
    assert_eq!(ask("/healthz").await.text(), r#"{"status":"SERVING"}"#);
    assert_eq!(refusal(&ask("/api/v3").await), (404, status_body(5, "Not Found")));
    assert_eq!(refusal(&ask("/api/v1/signingCert").await), (501, status_body(12, "Method Not Allowed")));
    let stats = fulcio.stats();
    assert_eq!(stats.requests["signing-cert-v1"][&501], 1);
    assert_eq!(stats.requests["root-cert"][&200], 1);
}

#[tokio::test]
async fn a_token_in_the_header_counts_for_v2_where_the_body_has_none() {
    let fulcio = fulcio(FulcioLabPlan::default(), None).await;
    let signer = Signer::new();
    let key = pem("PUBLIC KEY", signer.key.spki());
    let asked = json!({"publicKey": {"content": key}, "proofOfPossession": base64(&signer.proof())});
    let body = json!({ "publicKeyRequest": asked }).to_string();
    let bearer = format!("Bearer {}", signer.token());
    let url = format!("{}/api/v2/signingCert", fulcio.url);
    let answer = send(request("POST", &url, &[("authorization", bearer.as_str())], body)).await;
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.text());
}

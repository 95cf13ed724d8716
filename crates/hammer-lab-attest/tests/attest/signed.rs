//! Signed CoRIMs whose chains have to lead somewhere.

use std::path::PathBuf;

use ciborium::Value;
use hammer_lab_attest::{AttestLabHandle, AttestLabPlan, Release};
use p256::{ecdsa::SigningKey, pkcs8::EncodePrivateKey};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::{
    device::{Device, bytes, encode, map, sign1, tag, text},
    service::Service,
};

const TYPE: &str = r#"application/rim+cose; profile="tag:arm.com,2025:psa#1.0.0""#;

/// An authority, and the certificate of a signer that it made.
struct Signers {
    pem: String,
    authority: Vec<u8>,
    signer: Vec<u8>,
    key: SigningKey,
}

fn signers(number: u8) -> Signers {
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(DnType::CommonName, format!("authority {number}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = SigningKey::from_slice(&[number; 32]).unwrap();
    let pair = KeyPair::try_from(key.to_pkcs8_der().unwrap().as_bytes()).unwrap();
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(DnType::CommonName, "a signer of CoRIMs");
    let signer = params.signed_by(&pair, &authority).unwrap().der().to_vec();
    Signers { pem: authority.pem(), authority: authority.der().to_vec(), signer, key }
}

fn signed(corim: Vec<u8>, key: &SigningKey, x5chain: Value) -> Vec<u8> {
    let protected = map([(1, Value::from(-7)), (3, text("application/rim+cbor")), (33, x5chain)]);
    encode(&tag(18, sign1(key, encode(&protected), corim)))
}

#[tokio::test]
async fn a_chain_has_to_lead_to_a_certificate_of_the_plan_and_the_signature_to_the_chain() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (signers(1), signers(2));
    let file: PathBuf = folder.path().join("ca.pem");
    std::fs::write(&file, &own.pem).unwrap();
    let plan = AttestLabPlan { release: Release::V2608, ca_certs: vec![file], ..AttestLabPlan::default() };
    let service = Service::start(plan).await;
    let corim = |index| Device::new("signed", index).rim_corim();
    let chain = |signers: &Signers| Value::Array(vec![bytes(&signers.signer), bytes(&signers.authority)]);
    for (body, reason) in [
        (signed(corim(0), &own.key, bytes(&own.signer)), None),
        (signed(corim(1), &own.key, chain(&own)), None),
        (
            signed(corim(2), &other.key, chain(&other)),
            Some("failed to verify signed CoRIM: certificate chain"),
        ),
        (
            signed(corim(3), &other.key, chain(&own)),
            Some("failed to verify signed CoRIM: verification error"),
        ),
        (
            signed(corim(4), &own.key, Value::Array(vec![])),
            Some("failed to parse signed CoRIM: empty x5chain"),
        ),
        (signed(corim(5), &own.key, Value::from(1)), Some("failed to parse signed CoRIM: no valid x5chain")),
        (signed(corim(6)[3..].to_vec(), &own.key, chain(&own)), Some("did not see unsigned CoRIM tag")),
    ] {
        let answer = service.submit(TYPE, body).await.json(200);
        match reason {
            None => assert_eq!(answer["status"], "success", "{answer}"),
            Some(reason) => assert!(answer["failure-reason"].as_str().unwrap().contains(reason), "{answer}"),
        }
    }
    let (_, result) = service.verify(|nonce| Device::new("signed", 1).token(nonce)).await;
    assert_eq!(result.status(), "affirming");
}

#[test]
fn certificates_that_are_none_are_told_with_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    for (content, reason) in [(None, "failed to read"), (Some("nothing"), "failed to use")] {
        content.into_iter().for_each(|content| std::fs::write(&file, content).unwrap());
        let plan = AttestLabPlan { ca_certs: vec![file.clone()], ..AttestLabPlan::default() };
        let error = format!("failed to {}", AttestLabHandle::spawn(plan).unwrap_err());
        assert!(error.starts_with(reason) && error.contains("ca.pem"), "{error}");
    }
}

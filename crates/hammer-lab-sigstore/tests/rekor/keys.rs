//! Artifact signatures that openssl made.

use hammer_lab_sigstore::artifact::{ArtifactError, ArtifactVerifier, HashAlgorithm, KeyKind};
use hammer_tlog::encoding::from_base64;

use crate::recorded::recorded;

const ARTIFACT: &[u8] = b"an artifact\n";

fn cases() -> Vec<(&'static str, KeyKind, HashAlgorithm, &'static str)> {
    let (sha256, sha384, sha512) = (HashAlgorithm::Sha256, HashAlgorithm::Sha384, HashAlgorithm::Sha512);
    let (rsa, p256, p384) = (recorded!("rsa-2048.pem"), recorded!("p256.pem"), recorded!("p384.pem"));
    vec![
        (rsa, KeyKind::Rsa, sha256, recorded!("rsa-2048-sha256.sig.b64")),
        (rsa, KeyKind::Rsa, sha384, recorded!("rsa-2048-sha384.sig.b64")),
        (rsa, KeyKind::Rsa, sha512, recorded!("rsa-2048-sha512.sig.b64")),
        (p256, KeyKind::P256, sha256, recorded!("p256-sha256.sig.b64")),
        (p256, KeyKind::P256, sha384, recorded!("p256-sha384.sig.b64")),
        (p256, KeyKind::P256, sha512, recorded!("p256-sha512.sig.b64")),
        (p384, KeyKind::P384, sha256, recorded!("p384-sha256.sig.b64")),
        (p384, KeyKind::P384, sha384, recorded!("p384-sha384.sig.b64")),
    ]
}

#[test]
fn a_signature_by_openssl_verifies_over_the_hash_and_over_the_artifact() {
    for (pem, kind, algorithm, signature) in cases() {
        let verifier = ArtifactVerifier::from_pem(pem.as_bytes()).unwrap();
        assert_eq!((verifier.key.kind, verifier.pem.as_str()), (kind, pem));
        let signature = from_base64(signature).unwrap();
        verifier.key.verify_hash(algorithm, &algorithm.hash(ARTIFACT), &signature).unwrap();
        verifier.key.verify_message(algorithm, ARTIFACT, &signature).unwrap();
    }
}

#[test]
fn another_artifact_another_hash_and_an_altered_signature_are_refused() {
    for (pem, kind, algorithm, signature) in cases() {
        let key = ArtifactVerifier::from_pem(pem.as_bytes()).unwrap().key;
        let wrong = if kind == KeyKind::Rsa { ArtifactError::Rsa } else { ArtifactError::Ecdsa };
        let mut signature = from_base64(signature).unwrap();
        assert_eq!(key.verify_hash(algorithm, &algorithm.hash(b"another"), &signature), Err(wrong));
        let short = key.verify_hash(algorithm, &algorithm.hash(ARTIFACT)[1..], &signature);
        assert_eq!(short, Err(ArtifactError::HashLength));
        *signature.last_mut().unwrap() ^= 1;
        assert_eq!(key.verify_hash(algorithm, &algorithm.hash(ARTIFACT), &signature), Err(wrong));
        assert_eq!(key.verify_hash(algorithm, &algorithm.hash(ARTIFACT), b"no signature"), Err(wrong));
    }
}

#[test]
fn what_is_no_key_is_refused() {
    let refused = |text: &str| ArtifactVerifier::from_pem(text.as_bytes()).unwrap_err();
    assert_eq!(refused("no pem"), ArtifactError::Pem);
    assert_eq!(refused("-----BEGIN NOTE-----\nAAAA\n-----END NOTE-----\n"), ArtifactError::PemType);
    let key = recorded!("p256.pem");
    assert_eq!(refused(&format!("{key}{key}")), ArtifactError::PemType);
    let x448 = "-----BEGIN PUBLIC KEY-----\nMAwwBQYDK2VvAwMAAAA=\n-----END PUBLIC KEY-----\n";
    assert_eq!(refused(x448), ArtifactError::UnsupportedKey);
}

//! Responses of `openssl ts -reply`, which `openssl ts -verify` accepts.

use hammer_cms::timestamp::{
    Accuracy, ExpectedImprint, ExpectedTimestamp, PkiStatus, TimestampFault, TimestampQuery,
    TimestampVerifier,
};
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::chain::{ChainError, TrustedAuthorities};

use crate::{testdata, verifier};

fn nonce() -> Option<u64> {
    TimestampQuery::parse(&testdata("openssl/query.tsq")).unwrap().nonce
}

fn expected(imprint: &[u8; 32], nonce: Option<u64>) -> ExpectedTimestamp<'_> {
    let imprint = ExpectedImprint::Sha256(imprint);
    ExpectedTimestamp { imprint, nonce, not_before_ms: None, not_after_ms: None }
}

#[test]
fn responses_by_rsa_and_by_p384_verify() {
    let (imprint, mut verifier) = (sha256(b"stamped").0, verifier("openssl"));
    let whole = Some(Accuracy { seconds: 1, millis: 500, micros: 100 });
    for (file, nonce, accuracy) in [
        ("rsa-whole", nonce(), whole),
        ("rsa-fraction-sha1", nonce(), None),
        ("p384", nonce(), whole),
        ("p384-without-all", None, whole),
        ("rsa-whole", nonce(), whole),
    ] {
        let response = testdata(&format!("openssl/{file}.tsr"));
        let verified = verifier.verify(&response, &expected(&imprint, nonce)).unwrap();
        assert_eq!(verified.accuracy, accuracy, "{file}");
        assert_eq!(verified.has_certificate, file != "p384-without-all", "{file}");
        let fault = verified.with_certificate().err().map(|fault| fault.kind());
        assert_eq!(fault, (!verified.has_certificate).then_some("timestamp-signer"), "{file}");
        let is_whole = verified.unix_ms % 1000 == 0;
        assert_eq!(is_whole, accuracy.is_some(), "{file}: {}", verified.unix_ms);
    }
}

#[test]
fn a_response_without_certificates_needs_a_known_signer() {
    let pem = String::from_utf8(testdata("openssl/certchain.pem")).unwrap();
    let root = TrustedAuthorities::from_pem(&pem).unwrap().certificates().last().unwrap().to_vec();
    let mut verifier = TimestampVerifier::new(TrustedAuthorities::from_der([root]).unwrap());
    let imprint = sha256(b"stamped").0;
    let response = testdata("openssl/p384-without-all.tsr");
    let fault = verifier.verify(&response, &expected(&imprint, None)).unwrap_err();
    assert_eq!((&fault, fault.kind()), (&TimestampFault::NoCertificate, "timestamp-signer"));
    verifier.verify(&testdata("openssl/p384.tsr"), &expected(&imprint, nonce())).unwrap();
}

#[test]
fn a_nonce_that_was_sent_has_to_come_back() {
    let (imprint, mut verifier) = (sha256(b"stamped").0, verifier("openssl"));
    let response = testdata("openssl/p384-without-all.tsr");
    assert_eq!(verifier.verify(&response, &expected(&imprint, Some(1))), Err(TimestampFault::Nonce));
}

#[test]
fn the_chain_of_another_authority_is_not_trusted() {
    let (imprint, mut verifier) = (sha256(b"stamped").0, verifier("timestamp-server"));
    let fault = verifier.verify(&testdata("openssl/p384.tsr"), &expected(&imprint, None)).unwrap_err();
    let issuer = "OpenSSL root".to_owned();
    assert_eq!(fault, TimestampFault::Untrusted(ChainError::Untrusted { issuer }));
}

#[test]
fn a_rejection_is_told_in_the_authoritys_words() {
    let (imprint, mut verifier) = (sha256(b"stamped").0, verifier("openssl"));
    let fault = verifier.verify(&testdata("openssl/refused.tsr"), &expected(&imprint, None)).unwrap_err();
    assert!(matches!(fault, TimestampFault::NotGranted { status: PkiStatus::Rejection, .. }), "{fault}");
    assert_eq!(fault.kind(), "timestamp-not-granted");
    assert_eq!(
        fault.to_string(),
        "get a timestamp: the status is rejection (badAlg): \"Message digest algorithm is not supported.\""
    );
}

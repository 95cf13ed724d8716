//! CAdES, by the verifier and by OpenSSL.

use std::path::Path;
use std::process::Command;

use hammer_cms::signature::{ExpectedSignature, SignatureForm, SignatureVerifier};
use hammer_lab_pki::advanced_signature::{
    Profile, SignedAttributes, SigningCertificate, Surroundings, UnusableCertificate,
};

use crate::signer::{NOW, Signers};

const DOCUMENT: [&[u8]; 2] = [b"what is ", b"signed"];

fn signed(signers: &Signers, is_enveloping: bool, has_timestamp: bool) -> Vec<u8> {
    let profile = Profile::Cades { signing_time: NOW };
    let attributes = SignedAttributes::of(&signers.certificate(), DOCUMENT, profile);
    let signature = signers.signer.signer().sign(&attributes.to_be_signed());
    let (content, timestamp) = (DOCUMENT.concat(), signers.timestamp(&signature));
    let around = Surroundings {
        content: is_enveloping.then_some(content.as_slice()),
        timestamp: has_timestamp.then_some(timestamp.as_slice()),
        issuers: &[],
    };
    attributes.signed(&signature, &around)
}

#[test]
fn what_is_made_around_a_signature_holds_in_each_form() {
    let signers = Signers::new();
    let mut verifier = SignatureVerifier::new(Some(signers.trusted()));
    for (is_enveloping, has_timestamp) in [(true, true), (true, false), (false, true), (false, false)] {
        let cms = signed(&signers, is_enveloping, has_timestamp);
        let form = if is_enveloping { SignatureForm::CadesEnveloping } else { SignatureForm::CadesDetached };
        let expected = ExpectedSignature {
            document: &DOCUMENT,
            signer: &signers.known(),
            form,
            has_timestamp,
            not_before_ms: Some(NOW as i64 * 1000),
            not_after_ms: Some(NOW as i64 * 1000),
        };
        let verified = verifier.verify(&cms, &expected).unwrap();
        assert_eq!(verified.signing_time, Some(NOW as i64));
        assert_eq!(verified.timestamp.is_some(), has_timestamp);
        let other = ExpectedSignature { document: &[b"what is not"], ..expected };
        assert!(verifier.verify(&cms, &other).is_err());
    }
}

#[test]
fn openssl_verifies_what_is_made() {
    let signers = Signers::new();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let certificate = write("signer.pem", signers.signer.pem()[0].as_bytes());
    let (document, other) = (write("document", &DOCUMENT.concat()), write("other", b"what is not"));
    let verifies = |cms: &Path, content: Option<&Path>| {
        let mut openssl = Command::new("openssl");
        openssl
            .args(["cms", "-verify", "-binary", "-cades", "-inform", "DER", "-purpose", "any", "-in"])
            .arg(cms);
        openssl.arg("-CAfile").arg(&certificate).args(["-attime", &NOW.to_string(), "-out", "/dev/null"]);
        if let Some(content) = content {
            openssl.arg("-content").arg(content);
        }
        openssl.output().unwrap().status.success()
    };
    for has_timestamp in [false, true] {
        let enveloping = write("enveloping", &signed(&signers, true, has_timestamp));
        let detached = write("detached", &signed(&signers, false, has_timestamp));
        assert!(verifies(&enveloping, None) && verifies(&detached, Some(&document)));
        assert!(!verifies(&detached, Some(&other)));
    }
}

#[test]
fn what_is_no_certificate_or_has_another_key_is_refused() {
    assert!(matches!(SigningCertificate::new(vec![0x30, 0]), Err(UnusableCertificate::Der(_))));
}

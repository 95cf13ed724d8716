//! Responses of an authority on P-521, over hashes of each length, which `openssl ts -verify` accepts.

use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampFault, TimestampVerifier};
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::key::KeyError;

use crate::testdata;

fn judge(file: &str, imprint: ExpectedImprint<'_>) -> Result<(), TimestampFault> {
    let root = String::from_utf8(testdata("openssl-p521/root.pem")).unwrap();
    let mut verifier = TimestampVerifier::new(TrustedAuthorities::from_pem(&root).unwrap());
    let expected = ExpectedTimestamp { imprint, nonce: None, not_before_ms: None, not_after_ms: None };
    verifier.verify(&testdata(&format!("openssl-p521/{file}.tsr")), &expected).map(drop)
}

#[test]
fn a_message_is_stamped_by_its_digest_of_any_length_and_signed_by_p521() {
    for file in ["sha256", "sha384", "sha512"] {
        assert_eq!(judge(file, ExpectedImprint::Message(b"stamped")), Ok(()), "{file}");
        assert_eq!(judge(file, ExpectedImprint::Message(b"Stamped")), Err(TimestampFault::Imprint), "{file}");
        let asked_for = judge(file, ExpectedImprint::Sha256(&sha256(b"stamped").0));
        assert_eq!(asked_for.is_ok(), file == "sha256", "{file}");
    }
}

#[test]
fn a_signer_on_a_curve_that_is_unknown_here_is_not_verified_and_not_accused() {
    let fault = judge("unknown-curve", ExpectedImprint::Message(b"stamped")).unwrap_err();
    assert_eq!(fault, TimestampFault::Key(KeyError::Algorithm));
    assert!(fault.is_unverified());
    // What is said of the content is known all the same.
    let other = judge("unknown-curve", ExpectedImprint::Message(b"Stamped")).unwrap_err();
    assert!(!other.is_unverified(), "{other}");
}

//! What a verifier remembers of signers.

use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampFault, TimestampVerifier};
use hammer_tlog::keys::chain::{ChainError, TrustedAuthorities};

use crate::mint::{Authority, IMPRINT, STAMPED_MS, Stamp, judge};

#[test]
fn more_signers_than_are_remembered_take_turns() {
    let mut authority = Authority::new();
    let mut verifier = authority.verifier();
    let responses: Vec<_> = (0..7)
        .map(|_| {
            authority.renew();
            authority.respond(&Stamp::default())
        })
        .collect();
    for response in responses.iter().chain(&responses).chain(responses.iter().rev()) {
        assert_eq!(judge(&mut verifier, response), Ok(STAMPED_MS));
    }
}

#[test]
fn a_signer_that_is_remembered_signs_nothing_when_it_has_expired() {
    let authority = Authority::new();
    let mut verifier = authority.verifier();
    let mut at = |gen_time| {
        let response = authority.respond(&Stamp { gen_time, ..Stamp::default() });
        let expected = ExpectedTimestamp {
            imprint: ExpectedImprint::Sha256(&IMPRINT),
            nonce: None,
            not_before_ms: None,
            not_after_ms: None,
        };
        verifier.verify(&response, &expected).map(|verified| verified.unix_ms)
    };
    assert!(at("20300102030405Z").is_ok());
    let expired = at("20310101000001Z").unwrap_err();
    assert!(matches!(expired, TimestampFault::Untrusted(ChainError::Expired { .. })), "{expired}");
    let early = at("20281231235959Z").unwrap_err();
    assert!(matches!(early, TimestampFault::Untrusted(ChainError::NotYetValid { .. })), "{early}");
    assert!(at("20310101000000Z").is_ok() && at("20290101000000Z").is_ok());
}

#[test]
fn a_signer_that_is_remembered_is_not_believed_for_another() {
    let (authority, other) = (Authority::new(), Authority::new());
    let mut verifier = authority.verifier();
    assert!(judge(&mut verifier, &authority.respond(&Stamp::default())).is_ok());
    let fault = judge(&mut verifier, &other.respond(&Stamp::default())).unwrap_err();
    assert_eq!(fault.kind(), "timestamp-untrusted");
    let flawed = authority.respond(&Stamp { signature_flaw: 1, ..Stamp::default() });
    assert_eq!(judge(&mut verifier, &flawed).unwrap_err().kind(), "bad-timestamp-signature");
    assert!(judge(&mut verifier, &authority.respond(&Stamp::default())).is_ok());
}

#[test]
fn a_signer_that_is_known_need_not_be_sent() {
    let authority = Authority::new();
    let known = [authority.root.clone(), authority.certificate.clone()];
    let mut verifier = TimestampVerifier::new(TrustedAuthorities::from_der(known).unwrap());
    let stamp = Stamp { certificates: false, ..Stamp::default() };
    for _ in 0..2 {
        assert_eq!(judge(&mut verifier, &authority.respond(&stamp)), Ok(STAMPED_MS));
    }
}

//! Responses without a token.

use hammer_cms::timestamp::{PkiStatus, TimestampFault, TimestampResponse};
use hammer_tlog::keys::der::DerError;

use crate::mint::{Authority, element, judge, sequence};

const UTF8_STRING: u8 = 0x0c;

/// A response of this status, and of these parts after it.
fn response(status: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    sequence(&[&sequence(&[&element(2, &[status]), &parts.concat()])])
}

#[test]
fn each_status_has_its_name_and_only_two_grant() {
    for (status, named) in [
        (PkiStatus::Rejection, "rejection"),
        (PkiStatus::Waiting, "waiting"),
        (PkiStatus::RevocationWarning, "revocationWarning"),
        (PkiStatus::RevocationNotification, "revocationNotification"),
        (PkiStatus::Other(6), "status 6"),
    ]
    .into_iter()
    .zip(2..)
    .map(|((status, named), number)| {
        let der = response(&[number], &[]);
        assert_eq!(TimestampResponse::parse(&der).unwrap().status.status, status);
        (judge(&mut Authority::new().verifier(), &der), named)
    }) {
        let fault = status.unwrap_err();
        assert_eq!(fault.to_string(), format!("get a timestamp: the status is {named}"));
        assert_eq!(fault.kind(), "timestamp-not-granted");
    }
    for (number, status) in [(0, PkiStatus::Granted), (1, PkiStatus::GrantedWithMods)] {
        let fault = judge(&mut Authority::new().verifier(), &response(&[number], &[])).unwrap_err();
        assert_eq!((&fault, fault.kind()), (&TimestampFault::NoToken { status }, "malformed-timestamp"));
    }
}

#[test]
fn a_failure_is_told_by_its_bits_and_its_text() {
    let text = sequence(&[&element(UTF8_STRING, &[b"no \"time\""]), &element(UTF8_STRING, &[b"second"])]);
    // Bits 2, 14, 25 and one without a name.
    let failures = element(3, &[&[4, 0x20, 0x02, 0x00, 0x50]]);
    let der = response(&[2], &[&text, &failures]);
    let read = TimestampResponse::parse(&der).unwrap().status.failures.unwrap();
    assert!((0..=u8::MAX).filter(|bit| read.has(*bit)).eq([2, 14, 25, 27]));
    let fault = judge(&mut Authority::new().verifier(), &der).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "get a timestamp: the status is rejection (badRequest, timeNotAvailable, systemFailure, bit 27): \
         \"no \\\"time\\\"\""
    );
}

#[test]
fn what_is_no_response_is_malformed() {
    let latin1 = sequence(&[&element(UTF8_STRING, &[b"\xe9"])]);
    for (der, error) in [
        (vec![], DerError::Truncated),
        (
            b"{\"code\":400,\"message\":\"failed to parse the request\"}".to_vec(),
            DerError::UnexpectedTag { expected: 0x30, got: b'{' },
        ),
        (response(&[0xff], &[]), DerError::Value { what: "status" }),
        (response(&[2], &[&latin1]), DerError::Value { what: "statusString" }),
        (response(&[2], &[&element(3, &[])]), DerError::Value { what: "failInfo" }),
        (response(&[2], &[&element(3, &[&[8, 0]])]), DerError::Value { what: "failInfo" }),
        ([response(&[2], &[]), vec![0]].concat(), DerError::Trailing { count: 1 }),
    ] {
        let fault = judge(&mut Authority::new().verifier(), &der).unwrap_err();
        assert_eq!(
            (&fault, fault.kind()),
            (&TimestampFault::Der(error), "malformed-timestamp"),
            "{der:02x?}"
        );
    }
}

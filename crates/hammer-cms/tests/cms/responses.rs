//! Responses without a token.

use hammer_cms::timestamp::{PkiStatus, ReplyFault, TimestampFault, TimestampResponse, check_reply};
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
fn a_success_of_http_that_grants_nothing_is_a_refusal_by_its_first_failure() {
    let said = |der: &[u8]| {
        let fault = check_reply(Some(b"application/timestamp-reply"), der).unwrap_err();
        assert!(matches!(fault, ReplyFault::NotGranted(_)), "{fault}");
        (fault.to_string(), fault.cause())
    };
    let text = sequence(&[&element(UTF8_STRING, &[b"no \"time\""])]);
    let failures = element(3, &[&[4, 0x20, 0x02, 0x00, 0x50]]);
    let told =
        "the status is rejection (badRequest, timeNotAvailable, systemFailure, bit 27): \"no \\\"time\\\"\"";
    assert_eq!(said(&response(&[2], &[&text, &failures])), (told.to_owned(), "badRequest"));
    let without_name = element(3, &[&[4, 0, 0, 0, 0x10]]);
    let told = "the status is waiting (bit 27)".to_owned();
    assert_eq!(said(&response(&[3], &[&without_name])), (told, "waiting"));
    assert_eq!(said(&response(&[9], &[])), ("the status is status 9".to_owned(), "status without a name"));
}

#[test]
fn a_media_type_has_no_case_and_parameters_behind_it_and_a_page_is_no_reply() {
    let granted = response(&[0], &[]);
    for reply in ["application/timestamp-reply", "Application/TimeStamp-Reply ; charset=binary"] {
        assert_eq!(check_reply(Some(reply.as_bytes()), &granted), Ok(()), "{reply}");
    }
    for other in [
        None,
        Some("text/html"),
        Some(""),
        Some("application/timestamp-reply2"),
        Some("application/timestamp-query"),
    ] {
        let fault = check_reply(other.map(str::as_bytes), &granted);
        assert_eq!(fault, Err(ReplyFault::MediaType), "{other:?}");
    }
    // What claims to be a timestamp is judged as one.
    for body in [&b"<html>"[..], &[], &granted[..2]] {
        assert_eq!(check_reply(Some(b"application/timestamp-reply"), body), Ok(()), "{body:?}");
    }
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

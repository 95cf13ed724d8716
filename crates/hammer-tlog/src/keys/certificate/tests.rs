//! Times of certificates.

use super::*;

fn seconds(tag: u8, text: &str) -> Option<i64> {
    let mut element = Vec::new();
    der::write(&mut element, tag, text.as_bytes());
    unix_seconds(&Tlv::parse(&element, tag).unwrap())
}

#[test]
fn times_are_seconds_since_1970() {
    assert_eq!(seconds(der::UTC_TIME, "700101000000Z"), Some(0));
    assert_eq!(seconds(der::UTC_TIME, "491231235959Z"), Some(2_524_607_999));
    assert_eq!(seconds(der::UTC_TIME, "500101000000Z"), Some(-631_152_000));
    assert_eq!(seconds(der::UTC_TIME, "240229120000Z"), Some(1_709_208_000));
    assert_eq!(seconds(der::GENERALIZED_TIME, "20500101000000Z"), Some(2_524_608_000));
    assert_eq!(seconds(der::GENERALIZED_TIME, "99991231235959Z"), Some(253_402_300_799));
}

#[test]
fn what_is_no_time_has_no_seconds() {
    for text in [
        "",
        "2601010000Z",
        "260101000000",
        "260101000000+0000",
        "261301000000Z",
        "260230000000Z",
        "26010100000aZ",
    ] {
        assert_eq!(seconds(der::UTC_TIME, text), None, "{text}");
    }
    for text in ["260101000000Z", "20260101000000.5Z", "20260101240000Z", "19000229000000Z"] {
        assert_eq!(seconds(der::GENERALIZED_TIME, text), None, "{text}");
    }
    assert_eq!(seconds(der::OCTET_STRING, "260101000000Z"), None);
}

#[test]
fn lengths_that_are_not_der_are_refused() {
    let cases: [&[u8]; 6] = [
        b"\x30\x80\x00\x00",
        b"\x30\x81\x01\x00",
        b"\x30\x82\x00\x80",
        b"\x30\x85\x01\x00\x00\x00\x00",
        b"\x30\x84\xff\xff\xff\xff",
        b"\x3f\x81\x01\x00",
    ];
    for case in cases {
        assert!(Tlv::parse(case, der::SEQUENCE).is_err(), "{case:x?}");
    }
    assert_eq!(Tlv::parse(b"\x30\x00\x00", der::SEQUENCE), Err(DerError::Trailing { count: 1 }));
    assert_eq!(
        Tlv::parse(b"\x31\x00", der::SEQUENCE),
        Err(DerError::UnexpectedTag { expected: 0x30, got: 0x31 })
    );
}

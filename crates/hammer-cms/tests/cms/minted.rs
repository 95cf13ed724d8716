//! Tokens with one thing wrong each.

use hammer_cms::signed_data::{SignedData, SignedDataError};
use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampFault, TimestampResponse};
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::chain::ChainError;
use hammer_tlog::keys::der::{self, DerError};
use hammer_tlog::keys::digest::DigestAlgorithm;
use hammer_tlog::keys::key::SignatureError;

use crate::mint::{
    Authority, CERTIFICATE_V2, CONTENT_TYPE, DATA, KEY_IDENTIFIER, MESSAGE_DIGEST, NONCE, Purposes, SHA3_256,
    STAMPED_MS, Stamp, TST_INFO, attribute, element, integer, judge, octets, oid, sequence,
};

fn fault(stamp: &Stamp) -> (TimestampFault, &'static str) {
    let fault = Authority::new().judge(stamp).unwrap_err();
    let kind = fault.kind();
    (fault, kind)
}

#[test]
fn a_token_with_nothing_wrong_verifies_by_each_kind_of_key() {
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P384_SHA384, &rcgen::PKCS_ED25519] {
        let authority = Authority::of(algorithm, Purposes::Critical);
        assert_eq!(authority.judge(&Stamp::default()), Ok(STAMPED_MS), "{algorithm:?}");
        let flawed = authority.judge(&Stamp { signature_flaw: 1, ..Stamp::default() });
        let invalid = TimestampFault::Signature(SignedDataError::Signature(SignatureError::Invalid));
        assert_eq!(flawed, Err(invalid), "{algorithm:?}");
    }
}

#[test]
fn another_imprint_is_found() {
    let other = Stamp { imprint: vec![0x5b; 32], ..Stamp::default() };
    assert_eq!(fault(&other), (TimestampFault::Imprint, "timestamp-imprint"));
    let longer = Stamp { imprint: vec![0x5a; 33], ..Stamp::default() };
    assert_eq!(fault(&longer).0, TimestampFault::Imprint);
    let algorithm = Stamp { imprint_algorithm: sequence(&[&oid(SHA3_256)]), ..Stamp::default() };
    assert_eq!(fault(&algorithm).0, TimestampFault::Imprint);
    let authority = Authority::new();
    let of_message = ExpectedTimestamp {
        imprint: ExpectedImprint::Message(b"message"),
        nonce: None,
        not_before_ms: None,
        not_after_ms: None,
    };
    let unknown = authority.verifier().verify(&authority.respond(&algorithm), &of_message).unwrap_err();
    assert!(unknown == TimestampFault::ImprintDigest && unknown.is_unverified());
}

#[test]
fn another_nonce_and_none_are_found() {
    for nonce in [None, Some(vec![0x01]), Some(NONCE.to_be_bytes().to_vec())] {
        let stamp = Stamp { nonce, ..Stamp::default() };
        assert_eq!(fault(&stamp), (TimestampFault::Nonce, "timestamp-nonce"));
    }
}

#[test]
fn a_time_is_read_with_its_fraction_and_judged_by_what_it_stands_for() {
    let authority = Authority::new();
    for (gen_time, expected) in [
        ("20300102030405.9Z", Ok(900)),
        ("20300102030405.123456789123Z", Ok(123)),
        ("20300102030405.0009Z", Ok(0)),
        ("20300102030404Z", Ok(-1000)),
        ("20300102030404.9Z", Ok(-100)),
        ("20300102030404.899Z", Err("timestamp-time")),
        ("20300102030404.8Z", Err("timestamp-time")),
        ("20300102030405.91Z", Err("timestamp-time")),
        ("20300102020405Z", Err("timestamp-time")),
        ("20300102030406Z", Err("timestamp-time")),
    ] {
        let judged = authority.judge(&Stamp { gen_time, ..Stamp::default() });
        let judged = judged.map(|unix_ms| unix_ms - STAMPED_MS).map_err(|fault| fault.kind());
        assert_eq!(judged, expected, "{gen_time}");
    }
}

#[test]
fn a_time_that_der_does_not_have_is_malformed() {
    let malformed = (TimestampFault::Der(DerError::Value { what: "genTime" }), "malformed-timestamp");
    for gen_time in [
        "",
        "Z",
        "300102030405Z",
        "1930010203040Z",
        "193001020304055Z",
        "19300102030405",
        "19300102030405.5",
        "19300102030405.Z",
        "19300102030405.50Z",
        "19300102030405.0Z",
        "19300102030405,5Z",
        "19300102030405.a5Z",
        "19301302030405Z",
        "19300102030405+0000",
    ] {
        assert_eq!(fault(&Stamp { gen_time, ..Stamp::default() }), malformed, "{gen_time}");
    }
}

#[test]
fn a_root_of_the_same_name_is_another_root() {
    let (trusted, other) = (Authority::new(), Authority::new());
    let fault = judge(&mut trusted.verifier(), &other.respond(&Stamp::default())).unwrap_err();
    assert!(matches!(fault, TimestampFault::Untrusted(ChainError::BadSignature { .. })), "{fault}");
    assert_eq!(fault.kind(), "timestamp-untrusted");
    assert_eq!(
        fault.to_string(),
        "verify the timestamp: failed to verify the certificate of \"minted signer\" with its issuer's key: \
         the signature does not verify"
    );
}

#[test]
fn a_certificate_for_anything_else_is_found() {
    for purposes in [Purposes::NotCritical, Purposes::WithCodeSigning, Purposes::None] {
        let authority = Authority::of(&rcgen::PKCS_ECDSA_P256_SHA256, purposes);
        let fault = authority.judge(&Stamp::default()).unwrap_err();
        assert_eq!((&fault, fault.kind()), (&TimestampFault::Usage, "timestamp-certificate"));
    }
}

#[test]
fn a_token_without_certificate_has_no_known_signer() {
    let stamp = Stamp { certificates: false, ..Stamp::default() };
    assert_eq!(fault(&stamp), (TimestampFault::NoCertificate, "timestamp-signer"));
}

#[test]
fn exactly_one_signer_is_allowed() {
    for signers in [0, 2, 3] {
        let stamp = Stamp { signers, ..Stamp::default() };
        assert_eq!(fault(&stamp), (TimestampFault::Signers { signers }, "timestamp-signer"));
    }
}

#[test]
fn another_type_of_content_is_no_timestamp() {
    let stamp = Stamp { content_type: DATA.to_vec(), ..Stamp::default() };
    assert_eq!(fault(&stamp), (TimestampFault::ContentType, "malformed-timestamp"));
}

/// What is wrong with attributes that `alter` made of those that are right.
fn with_attributes(alter: impl FnOnce(&mut Vec<Vec<u8>>)) -> (TimestampFault, &'static str) {
    let authority = Authority::new();
    let digest = DigestAlgorithm::Sha256.digest(&Stamp::default().info());
    let mut attributes = vec![
        attribute(CONTENT_TYPE, &[&oid(TST_INFO)]),
        attribute(MESSAGE_DIGEST, &[&octets(digest.as_ref())]),
        Authority::names(&authority.certificate),
    ];
    let whole = authority.judge(&Stamp { attributes: Some(attributes.clone()), ..Stamp::default() });
    assert_eq!(whole, Ok(STAMPED_MS));
    alter(&mut attributes);
    let fault = authority.judge(&Stamp { attributes: Some(attributes), ..Stamp::default() }).unwrap_err();
    let kind = fault.kind();
    (fault, kind)
}

#[test]
fn the_signing_certificate_has_to_be_named() {
    let (fault, kind) = with_attributes(|attributes| drop(attributes.pop()));
    assert_eq!((fault, kind), (TimestampFault::NoSigningCertificate, "timestamp-signing-certificate"));
    let (fault, kind) = with_attributes(|attributes| attributes[2] = Authority::names(b"another"));
    assert_eq!((fault, kind), (TimestampFault::SigningCertificate, "timestamp-signing-certificate"));
    let (fault, kind) =
        with_attributes(|attributes| attributes[2] = attribute(CERTIFICATE_V2, &[&octets(b"")]));
    assert!(matches!(fault, TimestampFault::SignedData(SignedDataError::Der(_))), "{fault}");
    assert_eq!(kind, "malformed-timestamp");
}

#[test]
fn the_attributes_have_to_name_the_content() {
    let signature = |error| (TimestampFault::Signature(error), "bad-timestamp-signature");
    let missing = |attribute| signature(SignedDataError::MissingAttribute { attribute });
    let ambiguous = |attribute| signature(SignedDataError::AmbiguousAttribute { attribute });
    assert_eq!(with_attributes(|attributes| drop(attributes.remove(0))), missing("contentType"));
    assert_eq!(with_attributes(|attributes| drop(attributes.remove(1))), missing("messageDigest"));
    let twice = with_attributes(|attributes| attributes.push(attributes[1].clone()));
    assert_eq!(twice, ambiguous("messageDigest"));
    let empty = with_attributes(|attributes| attributes[0] = attribute(CONTENT_TYPE, &[]));
    assert_eq!(empty, ambiguous("contentType"));
    let two = [octets(b"1"), octets(b"2")];
    let two = with_attributes(|attributes| attributes[1] = attribute(MESSAGE_DIGEST, &[&two[0], &two[1]]));
    assert_eq!(two, ambiguous("messageDigest"));
    let other = with_attributes(|attributes| attributes[0] = attribute(CONTENT_TYPE, &[&oid(DATA)]));
    assert_eq!(other, signature(SignedDataError::ContentType));
    let other = with_attributes(|attributes| attributes[1] = attribute(MESSAGE_DIGEST, &[&octets(&[7; 32])]));
    assert_eq!(other, signature(SignedDataError::MessageDigest));
}

/// What is said of a token whose attribute signingCertificateV2 has this `issuerSerial` of a name and a number.
fn issued(name: impl FnOnce(&[u8]) -> Vec<u8>, other_number: bool) -> Result<i64, TimestampFault> {
    let authority = Authority::new();
    let certificate = Certificate::parse(&authority.certificate).unwrap();
    let number = integer(if other_number { &[1] } else { certificate.serial });
    let issuer_serial = sequence(&[&sequence(&[&name(certificate.issuer)]), &number]);
    let digest = DigestAlgorithm::Sha256.digest(&Stamp::default().info());
    let attributes = vec![
        attribute(CONTENT_TYPE, &[&oid(TST_INFO)]),
        attribute(MESSAGE_DIGEST, &[&octets(digest.as_ref())]),
        Authority::names_and(&authority.certificate, &issuer_serial, &sequence(&[])),
    ];
    authority.judge(&Stamp { attributes: Some(attributes), ..Stamp::default() })
}

#[test]
fn the_signing_certificate_is_named_by_its_issuer_and_number_as_well() {
    let directory_name = |name: &[u8]| element(der::context(4), &[name]);
    let wrong = Err(TimestampFault::SigningCertificate);
    assert_eq!(issued(directory_name, false), Ok(STAMPED_MS));
    assert_eq!(issued(directory_name, true), wrong);
    assert_eq!(issued(|_| directory_name(&sequence(&[])), false), wrong);
    assert_eq!(issued(|name| [directory_name(name), element(0x82, &[b"example"])].concat(), false), wrong);
    assert_eq!(issued(|_| element(0x82, &[b"example"]), false), wrong);
}

#[test]
fn a_signer_is_found_by_number_or_by_key_among_others() {
    let (mut authority, stranger) = (Authority::new(), Authority::new());
    let others =
        vec![stranger.certificate.clone(), element(0xa1, &[b"attribute certificate"]), stranger.root.clone()];
    let among = Stamp { embedded: others, ..Stamp::default() };
    assert_eq!(authority.judge(&among), Ok(STAMPED_MS));
    let response = authority.respond(&among);
    let token = TimestampResponse::parse(&response).unwrap().token.unwrap();
    let own = [stranger.certificate, stranger.root, authority.certificate.clone()];
    assert!(SignedData::parse(token).unwrap().certificates.eq(own.iter().map(Vec::as_slice)));
    let certificate = Certificate::parse(&authority.certificate).unwrap();
    let (issuer, serial) = (certificate.issuer.to_vec(), certificate.serial.to_vec());
    let by = |identifier| Stamp { identifier: Some(identifier), ..Stamp::default() };
    assert_eq!(authority.judge(&by(element(0x80, &[KEY_IDENTIFIER]))), Ok(STAMPED_MS));
    for nobody in [
        element(0x80, &[b"nobody"]),
        sequence(&[&issuer, &integer(&[1])]),
        sequence(&[&sequence(&[]), &integer(&serial)]),
    ] {
        assert_eq!(authority.judge(&by(nobody)), Err(TimestampFault::NoCertificate));
    }
    // Two certificates of one authority, one after the other: the number tells them apart.
    let first = authority.certificate.clone();
    authority.renew();
    assert_eq!(authority.judge(&Stamp { embedded: vec![first], ..Stamp::default() }), Ok(STAMPED_MS));
}

#[test]
fn what_is_no_timestamp_token_is_malformed() {
    let not_signed = Stamp { token_type: DATA.to_vec(), ..Stamp::default() };
    let malformed = (TimestampFault::SignedData(SignedDataError::NotSignedData), "malformed-timestamp");
    assert_eq!(fault(&not_signed), malformed);
    let value = |what| (TimestampFault::Der(DerError::Value { what }), "malformed-timestamp");
    assert_eq!(fault(&Stamp { version: 2, ..Stamp::default() }), value("version"));
    for (accuracy, is_read) in [
        (sequence(&[]), true),
        (sequence(&[&integer(&[5]), &element(0x80, &[&[3, 0xe7]]), &element(0x81, &[&[3, 0xe7]])]), true),
        (sequence(&[&element(0x80, &[&[3, 0xe8]])]), false),
        (sequence(&[&element(0x81, &[&[3, 0xe8]])]), false),
        (sequence(&[&integer(&[0xff])]), false),
    ] {
        let judged = Authority::new().judge(&Stamp { accuracy: accuracy.clone(), ..Stamp::default() });
        let expected = if is_read { Ok(STAMPED_MS) } else { Err(value("accuracy").0) };
        assert_eq!(judged, expected, "{accuracy:02x?}");
    }
}

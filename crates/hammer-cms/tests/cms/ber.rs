//! Signatures and timestamps in BER: as OpenSSL streams them, and recorded ones with every length indefinite.

use std::borrow::Cow;

use hammer_cms::ber::to_der;
use hammer_cms::signature::{ExpectedSignature, KnownSigner, SignatureForm, SignatureVerifier};
use hammer_tlog::keys::der::{self, DerReader, Tlv};

use crate::mint::{Authority, STAMPED_MS, Stamp, judge};
use crate::testdata;

/// Recorded signatures, and responses of timestamp authorities.
const RECORDED: [&str; 10] = [
    "signatures/dss-b-detached.p7s",
    "signatures/dss-b-enveloping.p7m",
    "signatures/dss-t-enveloping.p7m",
    "signatures/pyhanko-b-enveloping.p7m",
    "signatures/pyhanko-t-enveloping.p7m",
    "signatures/openssl-p256-detached.p7s",
    "signatures/openssl-two-signers.p7s",
    "timestamp-server/response.tsr",
    "openssl/rsa-whole.tsr",
    "openssl/p384.tsr",
];

/// The same element with every length in it indefinite, and every octet string in pieces.
fn to_ber(element: &Tlv<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    if element.tag & 0x20 != 0 {
        out.extend_from_slice(&[element.tag, 0x80]);
        let mut inner = element.content();
        while !inner.is_empty() {
            out.extend(to_ber(&inner.read().unwrap()));
        }
    } else if element.tag == der::OCTET_STRING {
        out.extend_from_slice(&[0x24, 0x80]);
        element.value.chunks(100).for_each(|piece| der::write(&mut out, der::OCTET_STRING, piece));
    } else {
        return element.raw.to_vec();
    }
    out.extend_from_slice(&[0, 0]);
    out
}

fn of_der(der: &[u8]) -> Vec<u8> {
    to_ber(&DerReader::new(der).read().unwrap())
}

#[test]
fn what_was_der_is_the_same_again() {
    for file in RECORDED {
        let der = testdata(file);
        assert!(matches!(to_der(&der), Cow::Borrowed(_)), "{file}");
        assert!(to_der(&of_der(&der)) == der, "{file}");
    }
}

#[test]
fn a_signature_that_openssl_streamed_holds() {
    let document = testdata("signatures/document");
    let cms = testdata("signatures/openssl-streamed-enveloping.p7m");
    let signer = KnownSigner::new(testdata("signatures/signer-streamed.der")).unwrap();
    let kind = |cms: &[u8], document: &[u8]| {
        let expected = ExpectedSignature {
            document: &[document],
            signer: &signer,
            form: SignatureForm::CadesEnveloping,
            has_timestamp: false,
            not_before_ms: None,
            not_after_ms: None,
        };
        SignatureVerifier::new(None).verify(cms, &expected).err().map(|fault| fault.kind())
    };
    assert_eq!(kind(&cms, &document), Some("malformed-signature"));
    assert_eq!(kind(&to_der(&cms), &document), None);
    assert_eq!(kind(&to_der(&cms), b"another document"), Some("another-document"));
    let mut altered = cms.clone();
    let last = altered.iter().rposition(|byte| *byte != 0).unwrap();
    altered[last] ^= 1;
    assert_eq!(kind(&to_der(&altered), &document), Some("bad-signature"));
}

#[test]
fn a_timestamp_in_ber_is_judged_as_the_same_in_der() {
    let authority = Authority::new();
    for (stamp, expected) in [
        (Stamp::default(), Ok(STAMPED_MS)),
        (Stamp { signature_flaw: 1, ..Stamp::default() }, Err("bad-timestamp-signature")),
        (Stamp { imprint: vec![7; 32], ..Stamp::default() }, Err("timestamp-imprint")),
    ] {
        let ber = of_der(&authority.respond(&stamp));
        let judged = judge(&mut authority.verifier(), &to_der(&ber));
        assert_eq!(judged.map_err(|fault| fault.kind()), expected);
    }
}

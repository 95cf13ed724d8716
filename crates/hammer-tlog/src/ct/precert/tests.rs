//! Precertificates, and what is logged of them.

use super::*;

/// A certificate of these extensions, all else as short as it can be.
fn certificate(extensions: &[Vec<u8>]) -> Vec<u8> {
    let element = |tag, parts: &[&[u8]]| {
        let mut out = Vec::new();
        der::write(&mut out, tag, &parts.concat());
        out
    };
    let empty = element(der::SEQUENCE, &[]);
    let time = element(der::UTC_TIME, &[b"260101000000Z"]);
    let validity = element(der::SEQUENCE, &[&time, &time]);
    let field = element(der::context(3), &[&element(der::SEQUENCE, &[&extensions.concat()])]);
    let version = element(der::context(0), &[&[2, 1, 2]]);
    let tbs =
        element(der::SEQUENCE, &[&version, &[2, 1, 1], &empty, &empty, &validity, &empty, &empty, &field]);
    element(der::SEQUENCE, &[&tbs, &empty, &[3, 1, 0]])
}

fn extension(oid: &[u8], value: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    der::write(&mut content, der::OBJECT_IDENTIFIER, oid);
    der::write(&mut content, der::OCTET_STRING, value);
    let mut out = Vec::new();
    der::write(&mut out, der::SEQUENCE, &content);
    out
}

#[test]
fn a_second_poison_is_refused() {
    let poison = extension(POISON, &[5, 0]);
    let once = certificate(std::slice::from_ref(&poison));
    assert!(precert_tbs(&once).is_ok());
    let twice = certificate(&[poison.clone(), poison]);
    assert_eq!(precert_tbs(&twice), Err(PrecertError::PoisonCount { count: 2 }));
}

#[test]
fn only_the_poison_goes_and_the_others_keep_their_order() {
    let [first, last] = [&[0x55, 0x1d, 0x11], &[0x55, 0x1d, 0x12]].map(|oid| extension(oid, b"\x30\x00"));
    let precert = certificate(&[first.clone(), extension(POISON, &[5, 0]), last.clone()]);
    let expected = certificate(&[first, last]);
    assert_eq!(precert_tbs(&precert).unwrap(), Certificate::parse(&expected).unwrap().tbs);
}

#[test]
fn the_certificate_that_cannot_be_read_is_named() {
    let precert = certificate(&[extension(POISON, &[5, 0])]);
    let chain = [precert, b"\x30".to_vec()];
    let error = PrecertError::Certificate { position: 1, source: DerError::Truncated };
    assert_eq!(signed_entry(&chain, EntryType::Precert), Err(error));
    assert_eq!(issuer_key_hash(b""), Err(DerError::Truncated));
}

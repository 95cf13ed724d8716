//! Bytes that openssl made.

use hammer_tlog::ct::precert::{precert_tbs, precert_tbs_by_signing_certificate, signed_entry};
use hammer_tlog::ct::rfc6962::{EntryType, GetSthResponse, SignedEntry, SthError};
use hammer_tlog::encoding::Base64;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::key::{DigitallySigned, KeyAlgorithm, KeyError, LogKey, SignatureError};
use hammer_tlog::logs::merkle::Hash;

use crate::{testdata, text};

fn der(name: &str) -> Vec<u8> {
    testdata(&format!("openssl/{name}.der"))
}

fn final_tbs(name: &str) -> Vec<u8> {
    Certificate::parse(&der(name)).unwrap().tbs.to_vec()
}

#[test]
fn lengths_shrink_when_the_poison_goes() {
    let rebuilt = precert_tbs(&der("precert-of-256-bytes")).unwrap();
    assert_eq!(rebuilt, final_tbs("final-of-256-bytes"));
}

#[test]
fn extensions_go_when_the_poison_was_the_only_one() {
    let rebuilt = precert_tbs(&der("precert-of-poison-alone")).unwrap();
    assert_eq!(rebuilt, final_tbs("final-without-extensions"));
}

#[test]
fn the_identifier_is_appended_when_only_the_signing_certificate_has_one() {
    let precert = der("precert-without-identifier");
    let rebuilt =
        precert_tbs_by_signing_certificate(&precert, &der("signing-certificate-with-identifier")).unwrap();
    assert_eq!(rebuilt, final_tbs("final-identifier-appended"));
}

#[test]
fn the_identifier_goes_when_the_signing_certificate_has_none() {
    let precert = der("precert-with-identifier");
    let rebuilt =
        precert_tbs_by_signing_certificate(&precert, &der("signing-certificate-without-identifier")).unwrap();
    assert_eq!(rebuilt, final_tbs("final-without-identifier"));
}

#[test]
fn a_chain_by_a_signing_certificate_has_the_final_issuers_key_hash() {
    let chain = ["precert-with-identifier", "signing-certificate-without-identifier", "root"].map(der);
    let root = Certificate::parse(&chain[2]).unwrap();
    let expected = SignedEntry::Precert {
        issuer_key_hash: root.key_hash(),
        tbs_certificate: final_tbs("final-without-identifier"),
    };
    assert_eq!(signed_entry(&chain, EntryType::Precert), Ok(expected));
}

#[test]
fn a_tree_head_signed_with_rsa_verifies() {
    let key: LogKey = text("openssl/rsa-2048.pem").parse().unwrap();
    assert_eq!(key.algorithm(), KeyAlgorithm::Rsa);
    let signature = testdata("openssl/tree-head.rsa.sig");
    let signed = DigitallySigned::rsa_sha256(&signature).encode().unwrap();
    let mut head = GetSthResponse {
        tree_size: 7,
        timestamp: 1234,
        sha256_root_hash: Hash([7; 32]),
        tree_head_signature: Base64(signed),
    };
    head.verify(&key).unwrap();
    head.tree_size = 8;
    assert_eq!(head.verify(&key), Err(SthError::BadSignature(SignatureError::Invalid)));
    head.tree_head_signature = Base64(DigitallySigned::ecdsa_sha256(&signature).encode().unwrap());
    let error = SignatureError::Algorithm { hash: 4, algorithm: 3, key: KeyAlgorithm::Rsa };
    assert_eq!(head.verify(&key), Err(SthError::BadSignature(error)));
}

#[test]
fn a_key_that_no_log_may_have_is_refused() {
    let read = |name: &str| text(&format!("openssl/{name}.pem")).parse::<LogKey>();
    assert_eq!(read("rsa-1024"), Err(KeyError::RsaTooShort { bits: 1024 }));
    assert_eq!(read("secp256k1"), Err(KeyError::Algorithm));
    assert_eq!("-----BEGIN CERTIFICATE-----".parse::<LogKey>(), Err(KeyError::Pem));
}

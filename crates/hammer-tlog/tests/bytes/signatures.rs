//! Signatures of OpenSSL by each kind of key and each digest.

use hammer_tlog::keys::digest::DigestAlgorithm;
use hammer_tlog::keys::key::{
    DigitallySigned, ECDSA, KeyAlgorithm, LogKey, MixedBatch, SHA256, SHA384, SHA512, SignatureBatch,
    SignatureError,
};
use hammer_tlog::keys::scheme::SignatureScheme;

use crate::{testdata, text};

const DIGESTS: [(DigestAlgorithm, &str); 3] = [
    (DigestAlgorithm::Sha256, "sha256"),
    (DigestAlgorithm::Sha384, "sha384"),
    (DigestAlgorithm::Sha512, "sha512"),
];
const NULL: &[u8] = &[0x05, 0x00];

fn key(name: &str) -> LogKey {
    text(&format!("openssl/signatures/{name}.pem")).parse().unwrap()
}

fn signature(name: &str) -> Vec<u8> {
    testdata(&format!("openssl/signatures/{name}.sig"))
}

/// An `AlgorithmIdentifier` of an identifier and its parameters.
fn identifier(oid: &[u8], parameters: &[u8]) -> Vec<u8> {
    let oid = [&[0x06, u8::try_from(oid.len()).unwrap()], oid].concat();
    let content = [oid, parameters.to_vec()].concat();
    [&[0x30, u8::try_from(content.len()).unwrap()], content.as_slice()].concat()
}

fn ecdsa(last: u8) -> Vec<u8> {
    identifier(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, last], &[])
}

fn pkcs1(last: u8, parameters: &[u8]) -> Vec<u8> {
    identifier(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, last], parameters)
}

#[test]
fn each_key_verifies_its_digests_and_no_others() {
    // Of all keys, in one batch.
    let (mut batch, mut verdicts) = (MixedBatch::new(), Vec::new());
    for (name, algorithm, scheme) in [
        ("p256", KeyAlgorithm::P256, SignatureScheme::Ecdsa as fn(DigestAlgorithm) -> SignatureScheme),
        ("p384", KeyAlgorithm::P384, SignatureScheme::Ecdsa),
        ("p521", KeyAlgorithm::P521, SignatureScheme::Ecdsa),
        ("rsa", KeyAlgorithm::Rsa, SignatureScheme::Rsa),
    ] {
        let key = key(name);
        assert_eq!(key.algorithm(), algorithm);
        for (digest, file) in DIGESTS {
            let (scheme, signature) = (scheme(digest), signature(&format!("{name}.{file}")));
            let mut verify = |message: &[u8]| {
                let verdict = key.verify_scheme(scheme, message, &signature);
                batch.add(&key, scheme, message, &signature);
                batch.add_once(&key, scheme, message, &signature);
                verdicts.extend([verdict; 2]);
                assert_eq!(key.verify_scheme_once(scheme, message, &signature), verdict, "{scheme}");
                verdict
            };
            assert_eq!(verify(b"signed"), Ok(()), "{name} {file}");
            assert_eq!(verify(b"Signed"), Err(SignatureError::Invalid), "{name} {file}");
            let is_default = scheme == algorithm.scheme();
            assert_eq!(key.verify_raw(b"signed", &signature).is_ok(), is_default, "{name} {file}");
            assert_eq!(key.verify_other_digest(b"signed", &signature).is_ok(), !is_default, "{name} {file}");
            assert_eq!(key.verify_other_digest(b"Signed", &signature), Err(SignatureError::Invalid));
            let signed = digest.digest(b"signed");
            let by_digest = key.verify_digest(digest, signed.as_ref(), &signature);
            assert_eq!(by_digest.is_ok(), algorithm != KeyAlgorithm::Rsa, "{name} {file}");
        }
    }
    let (key, signature) = (key("ed25519"), signature("ed25519"));
    assert_eq!(key.verify_scheme(SignatureScheme::Ed25519, b"signed", &signature), Ok(()));
    batch.add(&key, SignatureScheme::Ed25519, b"signed", &signature);
    batch.add_once(&key, SignatureScheme::Ed25519, b"signed", &signature);
    verdicts.extend([Ok(()); 2]);
    assert!(!batch.is_empty());
    assert_eq!(batch.verify(), verdicts);
    batch.clear();
    assert_eq!(batch.len(), 0);
    assert_eq!(batch.verify(), []);
    let scheme = SignatureScheme::Ecdsa(DigestAlgorithm::Sha256);
    let error = SignatureError::Scheme { scheme, key: KeyAlgorithm::Ed25519 };
    assert_eq!(key.verify_scheme(scheme, b"signed", &signature), Err(error));
    assert_eq!(error.to_string(), "ECDSA with SHA-256 is no signature algorithm of a Ed25519 key");
}

#[test]
fn a_signature_is_verified_as_its_identifier_says() {
    let verify = |name: &str, identifier: &[u8], file: &str| {
        key(name).verify_as(identifier, b"signed", &signature(file))
    };
    for (name, last, file) in [
        ("p256", 2, "p256.sha256"),
        ("p256", 4, "p256.sha512"),
        ("p384", 3, "p384.sha384"),
        ("p521", 4, "p521.sha512"),
    ] {
        assert_eq!(verify(name, &ecdsa(last), file), Ok(()), "{file}");
    }
    for (last, file) in [(11, "rsa.sha256"), (12, "rsa.sha384"), (13, "rsa.sha512")] {
        assert_eq!(verify("rsa", &pkcs1(last, NULL), file), Ok(()), "{file}");
        assert_eq!(verify("rsa", &pkcs1(last, &[]), file), Ok(()), "{file}");
    }
    assert_eq!(verify("ed25519", &identifier(&[0x2b, 0x65, 0x70], &[]), "ed25519"), Ok(()));
    assert_eq!(verify("p256", &ecdsa(3), "p256.sha256"), Err(SignatureError::Invalid));
    let scheme = SignatureScheme::Rsa(DigestAlgorithm::Sha256);
    let key = KeyAlgorithm::P256;
    assert_eq!(verify("p256", &pkcs1(11, NULL), "p256.sha256"), Err(SignatureError::Scheme { scheme, key }));
}

#[test]
fn an_identifier_that_is_unknown_or_malformed_names_nothing() {
    for der in [
        vec![],
        // SHA-224, SHA-1 and MD5; PSS; rsaEncryption, which names no digest.
        ecdsa(1),
        pkcs1(14, NULL),
        pkcs1(5, NULL),
        pkcs1(4, NULL),
        pkcs1(10, NULL),
        pkcs1(1, NULL),
        identifier(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02], NULL),
        identifier(&[0x2b, 0x65, 0x70], NULL),
        pkcs1(11, &[0x30, 0x00]),
        pkcs1(11, &[0x05, 0x00, 0x05, 0x00]),
    ] {
        assert_eq!(SignatureScheme::from_identifier(&der), None, "{der:02x?}");
        assert_eq!(key("rsa").verify_as(&der, b"signed", b""), Err(SignatureError::Unknown));
    }
}

#[test]
fn a_signer_that_names_rsa_alone_is_held_to_its_digest() {
    use DigestAlgorithm::{Sha256, Sha384, Sha512};
    let of = SignatureScheme::of_signer;
    assert_eq!(of(&pkcs1(1, NULL), Sha384), Some(SignatureScheme::Rsa(Sha384)));
    assert_eq!(of(&pkcs1(11, NULL), Sha256), Some(SignatureScheme::Rsa(Sha256)));
    assert_eq!(of(&pkcs1(11, NULL), Sha384), None);
    assert_eq!(of(&ecdsa(2), Sha256), Some(SignatureScheme::Ecdsa(Sha256)));
    assert_eq!(of(&ecdsa(2), Sha512), None);
    assert_eq!(of(&identifier(&[0x2b, 0x65, 0x70], &[]), Sha512), Some(SignatureScheme::Ed25519));
}

#[test]
fn a_log_of_p384_signs_with_either_digest() {
    let key = key("p384");
    let (short, long) = (signature("p384.sha256"), signature("p384.sha384"));
    let signed = DigitallySigned::ecdsa_sha256(&short);
    assert_eq!(key.verify(b"signed", &signed), Ok(()));
    let longer = DigitallySigned { hash: SHA384, algorithm: ECDSA, signature: &long };
    assert_eq!(key.verify(b"signed", &longer), Ok(()));
    let swapped = DigitallySigned { signature: &short, ..longer };
    assert_eq!(key.verify(b"signed", &swapped), Err(SignatureError::Invalid));
    let mut batch = SignatureBatch::new();
    for signed in [&signed, &longer, &swapped] {
        key.add_to(&mut batch, b"signed", signed);
    }
    assert_eq!(key.verify_batch(&mut batch), [Ok(()), Ok(()), Err(SignatureError::Invalid)]);
    let p256 = self::key("p256");
    let error = SignatureError::Algorithm { hash: SHA384, algorithm: ECDSA, key: KeyAlgorithm::P256 };
    assert_eq!(p256.verify(b"signed", &longer), Err(error));
}

#[test]
fn a_log_of_p521_signs_with_any_digest() {
    let key = key("p521");
    for (hash, file) in [(SHA256, "p521.sha256"), (SHA384, "p521.sha384"), (SHA512, "p521.sha512")] {
        let signature = signature(file);
        let signed = DigitallySigned { hash, algorithm: ECDSA, signature: &signature };
        assert_eq!(key.verify(b"signed", &signed), Ok(()), "{file}");
        assert_eq!(key.verify(b"Signed", &signed), Err(SignatureError::Invalid), "{file}");
    }
}

#[test]
fn a_p384_point_of_another_form_is_no_key() {
    let spki = key("p384").spki().to_vec();
    let mut compressed = spki.clone();
    let at = spki.len() - 97;
    compressed[at] = 2;
    let error = LogKey::from_der(&compressed).unwrap_err();
    assert_eq!(error.to_string(), "read a public key: P-384 point is malformed");
    assert!(LogKey::from_der(&spki[..spki.len() - 1]).is_err());
}

//! Notes and checkpoints, published and altered.

use super::*;
use crate::encoding::from_base64;
use crate::hash::{Hash, sha256};
use crate::keys::key::LogKey;

/// The example of golang.org/x/mod/sumdb/note.
const VERIFIER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const NOTE: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n\
    \n\
    — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

#[test]
fn the_published_note_verifies_and_an_altered_one_does_not() {
    let verifier = Verifier::parse(VERIFIER).unwrap();
    assert_eq!((verifier.name(), verifier.key_id()), ("PeterNeumann", 0xc74f_20a3));
    verifier.verify(&Note::parse(NOTE.as_bytes()).unwrap()).unwrap();
    let altered = NOTE.replace("think", "thinK");
    let error = verifier.verify(&Note::parse(altered.as_bytes()).unwrap());
    assert_eq!(error, Err(NoteError::BadSignature(SignatureError::Invalid)));
}

#[test]
fn a_checkpoint_of_rekor_v2_is_verified_by_any_key_and_its_log_is_named_by_the_whole_hash() {
    macro_rules! recorded {
        ($key:literal) => {
            (
                include_str!(concat!("../../../testdata/rekor-tiles/", $key, ".pem")),
                include_str!(concat!("../../../testdata/rekor-tiles/checkpoint.", $key)),
            )
        };
    }
    // What `logId.keyId` of the entry said that the checkpoint covers.
    for ((key, checkpoint), id) in [
        (recorded!("rsa"), "0Mv19diqTPf8Zp4SOeOB+S1P+4T/bh4UTL65T9Azwfs="),
        (recorded!("p256"), "E/wz2y3jSS/rI+hfwj2bLCQ0nQeY8ujHKQ8SvOqQKng="),
        (recorded!("p384"), "fCmW2ICfpnyZLEURm6A9aOLAN1NC/LZ2A8eeU0KsgZc="),
    ] {
        let verifier = Verifier::rekor_tiles("127.0.0.1", LogKey::from_pem(key).unwrap());
        let found = open_checkpoint(checkpoint.as_bytes(), &verifier).unwrap();
        let id = from_base64(id).unwrap();
        assert!(verifier.is_named_by(&id), "{found:?}");
        let parts = (0..id.len()).map(|length| &id[..length]).filter(|part| verifier.is_named_by(part));
        assert_eq!(parts.count(), 0, "a start of it is not the whole hash");
        assert!(!verifier.is_named_by(&[&id[..], &[0]].concat()));
        let other = Verifier::rekor_tiles("127.0.0.2", LogKey::from_pem(key).unwrap());
        assert!(open_checkpoint(checkpoint.as_bytes(), &other).is_err());
        for at in 0..id.len() {
            let mut altered = id.clone();
            altered[at] ^= 1;
            assert!(!verifier.is_named_by(&altered));
        }
    }
}

#[test]
fn a_verifier_whose_id_is_not_that_of_its_key_is_refused() {
    let cases = [
        VERIFIER.replace("c74f20a3", "c74f20a4"),
        VERIFIER.replace("Peter", "Paul"),
        VERIFIER.replace("+AR", "+BR"),
        VERIFIER.replace("c74f20a3", "+74f20a3"),
        "PeterNeumann".to_owned(),
    ];
    for case in cases {
        assert!(matches!(Verifier::parse(&case), Err(NoteError::Verifier { .. })), "{case}");
    }
}

#[test]
fn what_is_no_note_is_refused() {
    let cases = [
        "",
        "text\n",
        "text\n\n",
        "text\n\n— name AAAAAAA=",
        "text\n\n— name\n",
        "text\n\n- name AAAAAAA=\n",
        "text\n\n— name AAAAAA==\n",
        "text\n\n— na+me AAAAAAA=\n",
        "text\n\n—  AAAAAAA=\n",
        "text\n\n— name AAAAAAA\n",
        "te\txt\n\n— name AAAAAAA=\n",
    ];
    for case in cases {
        assert!(matches!(Note::parse(case.as_bytes()), Err(NoteError::Malformed { .. })), "{case:?}");
    }
    assert!(Note::parse(b"text\n\n\xe2\x80\x94 name AAAAAAA=\n").is_ok());
    assert!(Note::parse(b"te\xffxt\n\n\xe2\x80\x94 name AAAAAAA=\n").is_err());
    let many = |count| format!("text\n\n{}", "— name AAAAAAA=\n".repeat(count));
    assert!(Note::parse(many(100).as_bytes()).is_ok());
    assert!(Note::parse(many(101).as_bytes()).is_err());
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let root = sha256(b"root").to_base64();
    let good = format!("origin\n1\n{root}\n");
    assert_eq!(Checkpoint::parse(&good).unwrap(), Checkpoint::new("origin", 1, sha256(b"root")));
    let extended = Checkpoint::parse(&format!("{good}more\n")).unwrap();
    assert_eq!(extended.extensions, ["more"]);
    for size in ["01", "+1", "-1", "", "1 ", "18446744073709551616"] {
        assert!(Checkpoint::parse(&format!("origin\n{size}\n{root}\n")).is_err(), "{size:?}");
    }
    for text in [
        format!("\n1\n{root}\n"),
        format!("{good}\n"),
        "origin\n1\n".to_owned(),
        "origin\n1\nAAAA\n".to_owned(),
    ] {
        assert!(Checkpoint::parse(&text).is_err(), "{text:?}");
    }
    assert!(Checkpoint::parse(good.trim_end()).is_err());
}

#[test]
fn a_signed_tree_head_opens_to_its_timestamp() {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};

    use crate::keys::key::{DigitallySigned, LogKey};
    use crate::logs::tree_head::tree_head_signature_input;

    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8.as_ref(), &random).unwrap();
    let prefix = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";
    let key = LogKey::from_der(&[prefix.as_slice(), pair.public_key().as_ref()].concat()).unwrap();

    let checkpoint = Checkpoint::new("log.example/one", 7, Hash([7; 32]));
    let input = tree_head_signature_input(1_234, 7, &checkpoint.root);
    let signature = pair.sign(&random, &input).unwrap();
    let signed = DigitallySigned::ecdsa_sha256(signature.as_ref());
    let line = |timestamp_ms| NoteSignature {
        name: "log.example/one",
        key_id: rfc6962_key_id("log.example/one", &key.log_id()),
        signature: rfc6962_signature(timestamp_ms, &signed).unwrap(),
    };
    let verifier = Verifier::rfc6962("log.example/one", key.clone());
    let note = format(&checkpoint.to_string(), &[line(1_234)]);
    let opened = open_checkpoint(note.as_bytes(), &verifier).unwrap();
    assert_eq!(opened, (checkpoint.clone(), Verified { timestamp_ms: Some(1_234) }));

    let later = format(&checkpoint.to_string(), &[line(1_235)]);
    let error = open_checkpoint(later.as_bytes(), &verifier);
    assert_eq!(error, Err(NoteError::BadSignature(SignatureError::Invalid)));
    // The signature does not cover an extension line, so that one cannot be believed.
    let extended = format(&format!("{checkpoint}more\n"), &[line(1_234)]);
    let error = open_checkpoint(extended.as_bytes(), &verifier);
    assert!(matches!(error, Err(NoteError::Checkpoint { .. })));
}

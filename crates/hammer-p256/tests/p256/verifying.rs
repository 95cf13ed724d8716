use hammer_p256::{FixedKeyVerifier, NonceBlocks, SignatureBatch, ThrowawayKey};
use proptest::prelude::*;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

use crate::signing::sha256;

const WYCHEPROOF: &str = include_str!("../../testdata/wycheproof-ecdsa-secp256r1-sha256.txt");

fn bytes(hex: &str) -> Vec<u8> {
    let hex = if hex == "-" { "" } else { hex };
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn verify_batch(verifier: &FixedKeyVerifier, signed: &[([u8; 32], Vec<u8>)]) -> Vec<bool> {
    let mut batch = SignatureBatch::new();
    // What was in a batch before is nothing to the next.
    batch.push(&[7; 32], b"none");
    batch.clear();
    signed.iter().for_each(|(digest, signature)| batch.push(digest, signature));
    assert_eq!((batch.len(), batch.is_empty()), (signed.len(), signed.is_empty()));
    verifier.verify_batch(&mut batch).to_vec()
}

#[test]
fn wycheproof_is_judged_as_published_and_as_ring_does() {
    let mut tests = 0;
    for group in WYCHEPROOF.split("key ").skip(1) {
        let (key, lines) = group.split_once('\n').unwrap();
        let key = bytes(key);
        let (ours, ring) =
            (FixedKeyVerifier::new(&key).unwrap(), UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &key));
        let (mut signed, mut expected) = (Vec::new(), Vec::new());
        for line in lines.lines() {
            let [number, result, message, signature] =
                line.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let (message, signature) = (bytes(message), bytes(signature));
            let verdict = ours.verify(&sha256(&message), &signature);
            assert_eq!(verdict, result == "valid", "{number}");
            assert_eq!(verdict, ring.verify(&message, &signature).is_ok(), "{number}");
            signed.push((sha256(&message), signature));
            expected.push(verdict);
        }
        tests += signed.len();
        assert_eq!(verify_batch(&ours, &signed), expected);
    }
    assert_eq!(tests, WYCHEPROOF.lines().filter(|line| !line.starts_with("key ")).count());
    assert!(tests > 400);
}

#[test]
fn a_batch_of_any_size_says_what_each_verification_says() {
    let key = ThrowawayKey::derive(&[1; 32]);
    let (walk, mut block) = (key.walk(&[1; 32], 0), NonceBlocks::new());
    let verifier = FixedKeyVerifier::new(key.public_key()).unwrap();
    let mut signed = Vec::new();
    for index in 0..200u64 {
        let digest = sha256(&index.to_be_bytes());
        let mut signature = walk.sign(index, &digest, &mut block).as_ref().to_vec();
        match index % 7 {
            3 => signature[20] ^= 1,
            5 => signature.push(0),
            _ => {}
        }
        signed.push((digest, signature));
    }
    for size in [0, 1, 2, 63, 64, 65, 200] {
        let verdicts = verify_batch(&verifier, &signed[..size]);
        let expected: Vec<_> = (0..size).map(|index| !matches!(index % 7, 3 | 5)).collect();
        assert_eq!(verdicts, expected);
    }
    // The same signature many times: all lanes add equal points.
    let same = vec![signed[0].clone(); 100];
    assert_eq!(verify_batch(&verifier, &same), [true; 100]);
}

#[test]
fn a_key_that_is_no_point_has_no_verifier() {
    let mut key = *ThrowawayKey::derive(&[1; 32]).public_key();
    assert!(FixedKeyVerifier::new(&key).is_some());
    assert!(FixedKeyVerifier::new(&key[..64]).is_none());
    key[40] ^= 1;
    assert!(FixedKeyVerifier::new(&key).is_none());
    key[40] ^= 1;
    key[0] = 6;
    assert!(FixedKeyVerifier::new(&key).is_none());
    assert!(FixedKeyVerifier::new(&[4; 1]).is_none());
    assert!(FixedKeyVerifier::new(&[[4].as_slice(), &[0; 64]].concat()).is_none());
}

/// The base point as the key: where both products have the same multiples, sums double and cancel.
#[test]
fn sums_that_double_or_cancel_are_judged_like_rings() {
    let generator = hammer_p256::Point::generator().to_sec1();
    let verifier = FixedKeyVerifier::new(&generator).unwrap();
    let ring = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, generator);
    let message = b"any";
    let digest = hammer_p256::Scalar::from_digest(&sha256(message));
    // With r equal to the digest u1 = u2; with its opposite the sum is infinity.
    for r in [digest, -digest] {
        for s in 1..40u64 {
            let (r, s) = (r.to_be_bytes(), hammer_p256::Scalar::from_u64(s).to_be_bytes());
            let signature = p256::ecdsa::Signature::from_scalars(r, s).unwrap().to_der();
            let expected = ring.verify(message, signature.as_bytes()).is_ok();
            assert_eq!(verifier.verify(&sha256(message), signature.as_bytes()), expected);
            let batch = [(sha256(message), signature.as_bytes().to_vec())];
            assert_eq!(verify_batch(&verifier, &batch), [expected]);
        }
    }
    // s = 2 r and the digest r: the sum is the base point itself, whose x is r.
    let r = hammer_p256::Scalar::from_be_bytes(generator[1..33].try_into().unwrap()).unwrap();
    let signature =
        p256::ecdsa::Signature::from_scalars(r.to_be_bytes(), r.double().to_be_bytes()).unwrap().to_der();
    let batch = [(r.to_be_bytes(), signature.as_bytes().to_vec())];
    assert!(verifier.verify(&batch[0].0, &batch[0].1));
    assert_eq!(verify_batch(&verifier, &batch), [true]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn altered_signatures_are_judged_like_rings(
        index: u64, edits in prop::collection::vec((0..80usize, any::<u8>(), 0..3u8), 0..4),
    ) {
        let key = ThrowawayKey::derive(&[8; 32]);
        let verifier = verifier();
        let ring = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, key.public_key());
        let message = index.to_be_bytes();
        let walk = key.walk(&[8; 32], 0);
        let mut signature = walk.sign(index, &sha256(&message), &mut NonceBlocks::new()).as_ref().to_vec();
        for (at, byte, edit) in edits {
            let at = at % signature.len();
            match edit {
                0 => signature[at] ^= byte,
                1 => signature.insert(at, byte),
                _ => { signature.truncate(at.max(1)); }
            }
        }
        let expected = ring.verify(&message, &signature).is_ok();
        prop_assert_eq!(verifier.verify(&sha256(&message), &signature), expected);
        prop_assert_eq!(verify_batch(verifier, &[(sha256(&message), signature)]), [expected]);
    }
}

/// The key of the altered signatures, made once.
fn verifier() -> &'static FixedKeyVerifier {
    static VERIFIER: std::sync::LazyLock<FixedKeyVerifier> = std::sync::LazyLock::new(|| {
        FixedKeyVerifier::new(ThrowawayKey::derive(&[8; 32]).public_key()).unwrap()
    });
    &VERIFIER
}

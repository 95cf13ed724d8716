use hammer_p256::{FixedKeyVerifier, NonceBlocks, OnceBatch, SignatureBatch, ThrowawayKey, verify_once};
use proptest::prelude::*;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

use crate::signing::sha256;

const WYCHEPROOF: &str = include_str!("../../testdata/wycheproof-ecdsa-secp256r1-sha256.txt");

/// A digest, and what is said to be a signature over it.
type Signed = ([u8; 32], Vec<u8>);

fn bytes(hex: &str) -> Vec<u8> {
    let hex = if hex == "-" { "" } else { hex };
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The verifiers of a key with the arithmetic of eight lanes, where there is one, and without.
fn both(key: &[u8]) -> [FixedKeyVerifier; 2] {
    [FixedKeyVerifier::new(key).unwrap(), FixedKeyVerifier::without_lanes(key).unwrap()]
}

fn verify_batch(verifier: &FixedKeyVerifier, signed: &[Signed]) -> Vec<bool> {
    let mut batch = SignatureBatch::new();
    // What was in a batch before is nothing to the next.
    batch.push(&[7; 32], b"none");
    batch.clear();
    signed.iter().for_each(|(digest, signature)| batch.push(digest, signature));
    assert_eq!((batch.len(), batch.is_empty()), (signed.len(), signed.is_empty()));
    verifier.verify_batch(&mut batch).to_vec()
}

/// What a batch says of them whose keys it meets once, in batches of that size.
fn verify_each_once<'a>(signed: impl Iterator<Item = (&'a [u8], &'a Signed)>, size: usize) -> Vec<bool> {
    let signed: Vec<_> = signed.collect();
    let mut batch = OnceBatch::new();
    let judged = signed.chunks(size).flat_map(|some| {
        batch.clear();
        some.iter().for_each(|(key, (digest, signature))| batch.push(key, digest, signature));
        batch.verify().to_vec()
    });
    judged.collect()
}

#[test]
fn wycheproof_is_judged_as_published_and_as_ring_does() {
    let mut tests = 0;
    // Of all keys together, which no batch of one key is.
    let mut all: Vec<(Vec<u8>, Signed)> = Vec::new();
    let mut all_expected = Vec::new();
    for group in WYCHEPROOF.split("key ").skip(1) {
        let (key, lines) = group.split_once('\n').unwrap();
        let key = bytes(key);
        let (both, ring) = (both(&key), UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &key));
        let (mut signed, mut expected) = (Vec::new(), Vec::new());
        for line in lines.lines() {
            let [number, result, message, signature] =
                line.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let (message, signature) = (bytes(message), bytes(signature));
            let verdict = result == "valid";
            assert_eq!(verdict, ring.verify(&message, &signature).is_ok(), "{number}");
            let fixed = p256::ecdsa::Signature::from_der(&signature);
            let fixed = fixed.map(|signature| <[u8; 64]>::try_from(signature.to_bytes().as_slice()).unwrap());
            for ours in &both {
                assert_eq!(ours.verify(&sha256(&message), &signature), verdict, "{number}");
                let is_fixed = fixed.as_ref().is_ok_and(|fixed| ours.verify_fixed(&sha256(&message), fixed));
                assert_eq!(is_fixed, verdict, "{number}");
            }
            assert_eq!(verify_once(&key, &sha256(&message), &signature), verdict, "{number}");
            signed.push((sha256(&message), signature));
            expected.push(verdict);
        }
        tests += signed.len();
        all.extend(signed.iter().map(|signed| (key.clone(), signed.clone())));
        all_expected.extend_from_slice(&expected);
        for ours in &both {
            assert_eq!(verify_batch(ours, &signed), expected);
            // In small batches one that is left to a verification alone does not take all others with it.
            let some = signed.chunks(9).flat_map(|some| verify_batch(ours, some)).collect::<Vec<_>>();
            assert_eq!(some, expected);
        }
    }
    for size in [3, 8, 20] {
        let each = all.iter().map(|(key, signed)| (key.as_slice(), signed));
        assert_eq!(verify_each_once(each, size), all_expected);
    }
    assert_eq!(tests, WYCHEPROOF.lines().filter(|line| !line.starts_with("key ")).count());
    assert!(tests > 400);
}

#[test]
fn a_batch_of_any_size_says_what_each_verification_says() {
    let key = ThrowawayKey::derive(&[1; 32]);
    let (walk, mut block) = (key.walk(&[1; 32], 0), NonceBlocks::new());
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
    for verifier in both(key.public_key()) {
        for size in (0..20).chain([63, 64, 65, 200]) {
            let verdicts = verify_batch(&verifier, &signed[..size]);
            let expected: Vec<_> = (0..size).map(|index| !matches!(index % 7, 3 | 5)).collect();
            assert_eq!(verdicts, expected);
        }
        // The same signature many times: all lanes add equal points.
        let same = vec![signed[0].clone(); 100];
        assert_eq!(verify_batch(&verifier, &same), [true; 100]);
    }
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
    for no_point in [&key[..], &key[..64], &[], &[[4].as_slice(), &[0; 64]].concat()] {
        let signature = p256::ecdsa::Signature::from_scalars([1; 32], [1; 32]).unwrap().to_der();
        assert!(!verify_once(no_point, &[1; 32], signature.as_bytes()));
    }
}

#[test]
fn numbers_out_of_range_are_no_signature_of_fixed_length() {
    let key = ThrowawayKey::derive(&[1; 32]);
    let order = [&[0xff; 4][..], &[0; 4], &[0xff; 8], &bytes("bce6faada7179e84f3b9cac2fc632551")].concat();
    let signature = key.walk(&[1; 32], 0).sign(0, &[9; 32], &mut NonceBlocks::new()).to_fixed();
    let verifier = FixedKeyVerifier::new(key.public_key()).unwrap();
    assert!(verifier.verify_fixed(&[9; 32], &signature));
    for half in [0, 32] {
        for number in [&[0; 32][..], &order, &[0xff; 32]] {
            let mut signature = signature;
            signature[half..half + 32].copy_from_slice(number);
            assert!(!verifier.verify_fixed(&[9; 32], &signature));
        }
    }
}

/// The base point as the key: where both products have the same multiples, sums double and cancel.
#[test]
fn sums_that_double_or_cancel_are_judged_like_rings() {
    let generator = hammer_p256::Point::generator().to_sec1();
    let ring = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, generator);
    let message = b"any";
    let digest = hammer_p256::Scalar::from_digest(&sha256(message));
    for verifier in both(&generator) {
        // With r equal to the digest u1 = u2; with its opposite the sum is infinity.
        for r in [digest, -digest] {
            let (mut signed, mut expected) = (Vec::new(), Vec::new());
            for s in 1..40u64 {
                let (r, s) = (r.to_be_bytes(), hammer_p256::Scalar::from_u64(s).to_be_bytes());
                let signature = p256::ecdsa::Signature::from_scalars(r, s).unwrap().to_der();
                expected.push(ring.verify(message, signature.as_bytes()).is_ok());
                signed.push((sha256(message), signature.as_bytes().to_vec()));
                assert_eq!(verifier.verify(&signed[0].0, signature.as_bytes()), expected[expected.len() - 1]);
                assert_eq!(
                    verify_once(&generator, &signed[0].0, signature.as_bytes()),
                    expected[expected.len() - 1]
                );
            }
            assert_eq!(verify_batch(&verifier, &signed), expected);
            let each = signed.iter().map(|signed| (generator.as_slice(), signed));
            assert_eq!(verify_each_once(each, 8), expected);
        }
        // s = 2 r and the digest r: the sum is the base point itself, whose x is r.
        let r = hammer_p256::Scalar::from_be_bytes(generator[1..33].try_into().unwrap()).unwrap();
        let signature =
            p256::ecdsa::Signature::from_scalars(r.to_be_bytes(), r.double().to_be_bytes()).unwrap().to_der();
        let batch = [(r.to_be_bytes(), signature.as_bytes().to_vec())];
        assert!(verifier.verify(&batch[0].0, &batch[0].1));
        assert!(verify_once(&generator, &batch[0].0, &batch[0].1));
        for size in [1, 3, 8, 17] {
            let all = vec![batch[0].clone(); size];
            assert_eq!(verify_batch(&verifier, &all), vec![true; size]);
            let each = all.iter().map(|signed| (generator.as_slice(), signed));
            assert_eq!(verify_each_once(each, size), vec![true; size]);
        }
    }
}

/// A digest of 0 asks for no base point at all, which its odd digits can only say by points that cancel.
#[test]
fn a_digest_of_zero_is_judged_like_any_other() {
    let key = ThrowawayKey::derive(&[1; 32]);
    let signature = key.walk(&[1; 32], 0).sign(0, &[0; 32], &mut NonceBlocks::new());
    let other = key.walk(&[1; 32], 0).sign(1, &[1; 32], &mut NonceBlocks::new());
    for verifier in both(key.public_key()) {
        assert!(verifier.verify(&[0; 32], signature.as_ref()));
        assert!(!verifier.verify(&[0; 32], other.as_ref()));
        assert!(verify_once(key.public_key(), &[0; 32], signature.as_ref()));
        assert!(!verify_once(key.public_key(), &[0; 32], other.as_ref()));
        let mut signed = vec![([1; 32], other.as_ref().to_vec()); 20];
        signed[7] = ([0; 32], signature.as_ref().to_vec());
        signed[9] = ([0; 32], other.as_ref().to_vec());
        let expected: Vec<_> = (0..20).map(|at| at != 9).collect();
        assert_eq!(verify_batch(&verifier, &signed), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn altered_signatures_are_judged_like_rings(
        index: u64, edits in prop::collection::vec((0..80usize, any::<u8>(), 0..3u8), 0..4),
    ) {
        let key = ThrowawayKey::derive(&[8; 32]);
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
        let signed = vec![(sha256(&message), signature); 3];
        prop_assert_eq!(verify_once(key.public_key(), &signed[0].0, &signed[0].1), expected);
        for verifier in verifiers() {
            prop_assert_eq!(verifier.verify(&signed[0].0, &signed[0].1), expected);
            prop_assert_eq!(verify_batch(verifier, &signed), [expected; 3]);
        }
    }
}

/// Those of the key of the altered signatures, made once.
fn verifiers() -> &'static [FixedKeyVerifier; 2] {
    static VERIFIERS: std::sync::LazyLock<[FixedKeyVerifier; 2]> =
        std::sync::LazyLock::new(|| both(ThrowawayKey::derive(&[8; 32]).public_key()));
    &VERIFIERS
}

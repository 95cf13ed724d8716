//! Keys and signatures of all algorithms.

use proptest::prelude::*;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _, UnparsedPublicKey,
};

use super::*;
use crate::encoding::from_base64;

const TESSERACT: &str = include_str!("../../../testdata/tesseract/log-public-key.b64");
/// The order of the group, n (SEC 2 section 2.4.2).
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc,
    0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

/// A key of its own each time, as ring has it and as a log's.
fn pair() -> (EcdsaKeyPair, LogKey) {
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &SystemRandom::new()).unwrap();
    let key = with_point(pair.public_key().as_ref());
    (pair, key)
}

/// A P-256 key of these bytes.
fn with_point(point: &[u8]) -> LogKey {
    let mut spki = from_base64(TESSERACT.trim()).unwrap();
    spki.truncate(26);
    LogKey::from_der(&[&spki, point].concat()).unwrap()
}

fn sign(pair: &EcdsaKeyPair, message: &[u8]) -> Vec<u8> {
    pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec()
}

/// What `key` says, which has to be what ring says.
fn judge(key: &LogKey, message: &[u8], signature: &[u8]) -> bool {
    let ours = key.verify_raw(message, signature);
    let ring = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, key.bytes()).verify(message, signature);
    let expected = ring.map_err(|_| SignatureError::Invalid);
    assert_eq!(ours, expected, "{signature:02x?}");
    let signed = DigitallySigned { hash: SHA256, algorithm: ECDSA, signature };
    assert_eq!(key.verify(message, &signed), expected, "{signature:02x?}");
    ours.is_ok()
}

fn integer(content: &[u8]) -> Vec<u8> {
    [&[0x02, content.len() as u8], content].concat()
}

fn sequence(content: &[u8]) -> Vec<u8> {
    [&[0x30, content.len() as u8], content].concat()
}

/// The contents of a signature's two INTEGERs.
fn integers(signature: &[u8]) -> [&[u8]; 2] {
    let end = 4 + usize::from(signature[3]);
    [&signature[4..end], &signature[end + 2..]]
}

#[test]
fn every_changed_bit_and_every_cut_is_judged_as_ring_does() {
    let (pair, key) = pair();
    let message = b"a tree head";
    let good = sign(&pair, message);
    assert!(judge(&key, message, &good));
    assert!(!judge(&key, b"another tree head", &good));
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(!judge(&key, message, &bad), "bit {bit}");
    }
    for length in 0..good.len() {
        assert!(!judge(&key, message, &good[..length]), "{length} bytes");
    }
}

#[test]
fn another_der_of_the_same_numbers_is_refused_as_ring_does() {
    let (pair, key) = pair();
    let message = b"a tree head";
    let good = sign(&pair, message);
    let [r, s] = integers(&good);
    assert!(judge(&key, message, &sequence(&[integer(r), integer(s)].concat())));
    let padded = [&[0], s].concat();
    for bad in [
        [good.as_slice(), &[0]].concat(),
        sequence(&[integer(r), integer(s), vec![0]].concat()),
        sequence(&[integer(r), integer(s), integer(&[1])].concat()),
        sequence(&[integer(r), integer(&padded)].concat()),
        [&[0x30, 0x81, good[1]], &good[2..]].concat(),
        [&[0x30, 0x80], &good[2..], &[0, 0]].concat(),
        sequence(&[[&[0x02, 0x81, r.len() as u8], r].concat(), integer(s)].concat()),
        sequence(&integer(r)),
        [&[0x31], &good[1..]].concat(),
        [r, s].concat(),
    ] {
        assert!(!judge(&key, message, &bad), "{bad:02x?}");
    }
}

#[test]
fn numbers_out_of_range_are_refused_as_ring_does() {
    let (pair, key) = pair();
    let message = b"a tree head";
    let good = sign(&pair, message);
    let [r, s] = integers(&good);
    let order = [&[0], ORDER.as_slice()].concat();
    let above = [&[0], [0xff; 32].as_slice()].concat();
    let long = [1; 33];
    for out in [&[0][..], &[], &[0xff], &[1], &order, &above, &long] {
        assert!(!judge(&key, message, &sequence(&[integer(out), integer(s)].concat())), "r {out:02x?}");
        assert!(!judge(&key, message, &sequence(&[integer(r), integer(out)].concat())), "s {out:02x?}");
    }
}

#[test]
fn a_key_off_the_curve_is_read_and_verifies_nothing_as_with_ring() {
    let (pair, key) = pair();
    let message = b"a tree head";
    let good = sign(&pair, message);
    let point = key.bytes();
    let off = [&point[..64], &[point[64] ^ 1]].concat();
    let beyond = [&[4], [0xff; 32].as_slice(), &point[33..]].concat();
    for bytes in [off, beyond, [&[4], [0; 64].as_slice()].concat()] {
        let key = with_point(&bytes);
        assert!(!judge(&key, message, &good), "{bytes:02x?}");
        assert!(!judge(&key, message, &good), "a second time, {bytes:02x?}");
    }
}

#[test]
fn a_signature_is_verified_by_the_hash_alone_where_the_key_is_of_a_curve() {
    let (pair, key) = pair();
    let signature = sign(&pair, b"message");
    assert_eq!(key.verify_digest(DigestAlgorithm::Sha256, &sha256(b"message").0, &signature), Ok(()));
    assert_eq!(
        key.verify_digest(DigestAlgorithm::Sha256, &sha256(b"massage").0, &signature),
        Err(SignatureError::Invalid)
    );
    let other = LogKey::from_ed25519(&[7; 32]).unwrap();
    assert!(matches!(
        other.verify_digest(DigestAlgorithm::Sha256, &[0; 32], &signature),
        Err(SignatureError::Scheme { .. })
    ));
}

#[test]
fn clones_share_one_verifier_which_only_p256_makes() {
    let (pair, key) = pair();
    let clone = key.clone();
    assert!(format!("{clone:?}").contains("made: false"));
    assert!(judge(&key, b"note", &sign(&pair, b"note")));
    let shown = format!("{clone:?}");
    assert!(shown.contains("made: true") && shown.len() < 4_000, "{shown}");
    assert!(judge(&clone, b"another", &sign(&pair, b"another")));

    let ed25519 = LogKey::from_ed25519(&[1; 32]).unwrap();
    assert_eq!(ed25519.verify_raw(b"note", &[0; 64]), Err(SignatureError::Invalid));
    assert!(format!("{ed25519:?}").contains("made: false"));
}

/// What a batch says of messages and signatures that name these algorithms.
fn judge_batch(
    key: &LogKey,
    batch: &mut SignatureBatch,
    signed: &[(Vec<u8>, DigitallySigned<'_>)],
) -> Vec<Result<(), SignatureError>> {
    batch.clear();
    signed.iter().for_each(|(message, signed)| key.add_to(batch, message, signed));
    assert_eq!((batch.len(), batch.is_empty()), (signed.len(), signed.is_empty()));
    key.verify_batch(batch).to_vec()
}

#[test]
fn a_batch_of_another_algorithm_is_verified_one_by_one() {
    let (mut batch, ed25519) = (SignatureBatch::new(), LogKey::from_ed25519(&[1; 32]).unwrap());
    let (pair, p256) = pair();
    let signature = sign(&pair, b"note");
    let signed =
        [(b"note".to_vec(), DigitallySigned { hash: SHA256, algorithm: ECDSA, signature: &signature })];
    assert_eq!(judge_batch(&p256, &mut batch, &signed), [Ok(())]);
    let refused = judge_batch(&ed25519, &mut batch, &signed);
    assert!(matches!(refused[..], [Err(SignatureError::Algorithm { .. })]), "{refused:?}");
    assert!(judge_batch(&p256, &mut batch, &[]).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_batch_says_what_each_verification_says(
        lies in prop::collection::vec((0..6u8, 0..64usize, 1..=u8::MAX), 0..80), off_the_curve: bool,
    ) {
        let (pair, key) = pair();
        let mut point = key.bytes().to_vec();
        point[64] ^= u8::from(off_the_curve);
        let key = with_point(&point);
        let (good, mut batch) = (sign(&pair, b"a tree head"), SignatureBatch::new());
        let signatures: Vec<Vec<u8>> = lies.iter().map(|(lie, at, bits)| {
            let mut signature = good.clone();
            match lie {
                1 => signature[*at] ^= bits,
                2 => signature.truncate(*at),
                _ => {}
            }
            signature
        }).collect();
        let signed: Vec<_> = lies.iter().zip(&signatures).map(|((lie, ..), signature)| {
            let message = if *lie == 3 { b"another".to_vec() } else { b"a tree head".to_vec() };
            let algorithm = if *lie == 4 { RSA } else { ECDSA };
            (message, DigitallySigned { hash: SHA256, algorithm, signature })
        }).collect();
        let singly: Vec<_> = signed.iter().map(|(message, signed)| key.verify(message, signed)).collect();
        prop_assert_eq!(judge_batch(&key, &mut batch, &signed), singly.clone());
        prop_assert_eq!(judge_batch(&key, &mut batch, &signed), singly, "a second time");
    }
}

proptest! {
    // Each case has a key of its own, whose table takes milliseconds.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_message_and_any_splice_is_judged_as_ring_does(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 4),
        (at, length) in (0..72usize, 0..8usize),
        splice in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let (pair, key) = pair();
        for message in &messages {
            let mut signature = sign(&pair, message);
            prop_assert!(judge(&key, message, &signature));
            let start = at.min(signature.len());
            let end = (start + length).min(signature.len());
            signature.splice(start..end, splice.iter().copied());
            judge(&key, message, &signature);
        }
    }
}

#[test]
fn a_compressed_point_is_told_as_that_and_may_well_be_a_key() {
    let (_, key) = pair();
    let mut spki = from_base64(TESSERACT.trim()).unwrap();
    spki.truncate(26);
    // SEC 1 section 2.3.3: of the second coordinate no more than its parity; the lengths of the three that hold it are the less.
    for at in [1, 24] {
        spki[at] -= 32;
    }
    for parity in [2, 3] {
        let refused = LogKey::from_der(&[&spki[..], &[parity], &key.bytes()[1..33]].concat()).unwrap_err();
        assert!(refused.to_string().contains("compressed"), "{refused}");
        assert!(refused.is_unknown(), "nothing is said against who has it");
    }
    let neither = LogKey::from_der(&[&spki[..], &[5], &key.bytes()[1..33]].concat()).unwrap_err();
    assert!(!neither.is_unknown(), "{neither}");
}

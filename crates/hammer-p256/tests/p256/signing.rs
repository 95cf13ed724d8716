use std::path::Path;
use std::process::Command;

use hammer_p256::{FixedKeyVerifier, KeyBlocks, KeyWalk, NonceBlocks, ThrowawayKey};
use p256::ecdsa::signature::Verifier;
use proptest::prelude::*;
use ring::digest;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

pub(crate) fn sha256(message: &[u8]) -> [u8; 32] {
    digest::digest(&digest::SHA256, message).as_ref().try_into().unwrap()
}

/// DER of a P-256 `SubjectPublicKeyInfo` up to the point (RFC 5480 section 2).
const SPKI: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

#[test]
fn ring_and_p256_accept_every_signature_of_a_walk() {
    let key = ThrowawayKey::derive(&[1; 32]);
    let walk = key.walk(&[2; 32], 7);
    let ring = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, key.public_key());
    let p256 = p256::ecdsa::VerifyingKey::from_sec1_bytes(key.public_key()).unwrap();
    let ours = FixedKeyVerifier::new(key.public_key()).unwrap();
    let mut block = NonceBlocks::new();
    for index in (0..600).chain([u64::from(u32::MAX), 1 << 63, u64::MAX]) {
        let message = format!("message {index}");
        let signature = walk.sign(index, &sha256(message.as_bytes()), &mut block);
        assert!(ring.verify(message.as_bytes(), signature.as_ref()).is_ok(), "{index}");
        let read = p256::ecdsa::Signature::from_der(signature.as_ref()).unwrap();
        assert!(p256.verify(message.as_bytes(), &read).is_ok(), "{index}");
        assert!(ours.verify(&sha256(message.as_bytes()), signature.as_ref()), "{index}");
    }
}

#[test]
fn openssl_accepts_one_signature_in_a_hundred() {
    let key = ThrowawayKey::derive(&[3; 32]);
    let (walk, mut block) = (key.walk(&[4; 32], 0), NonceBlocks::new());
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("key", &[SPKI.as_slice(), key.public_key()].concat());
    for index in 0..1_000u64 {
        let signature = walk.sign(index, &sha256(&index.to_be_bytes()), &mut block);
        if index % 100 == 0 {
            write("message", &index.to_be_bytes());
            write("signature", signature.as_ref());
            assert!(openssl_verifies(folder.path()), "{index}");
        }
    }
    write("message", b"another");
    assert!(!openssl_verifies(folder.path()));
}

fn openssl_verifies(folder: &Path) -> bool {
    let command =
        ["dgst", "-sha256", "-verify", "key", "-keyform", "DER", "-signature", "signature", "message"];
    Command::new("openssl").args(command).current_dir(folder).output().unwrap().status.success()
}

#[test]
fn seed_stream_and_index_each_give_another_signature() {
    let key = ThrowawayKey::derive(&[1; 32]);
    let mut block = NonceBlocks::new();
    let mut sign = |seed, stream, index| {
        key.walk(&[seed; 32], stream).sign(index, &[9; 32], &mut block).as_ref().to_vec()
    };
    let first = sign(0, 0, 0);
    assert_eq!(sign(0, 0, 0), first);
    assert_ne!(sign(1, 0, 0), first);
    assert_ne!(sign(0, 1, 0), first);
    assert_ne!(sign(0, 0, 1), first);
    assert_ne!(ThrowawayKey::derive(&[2; 32]).public_key(), key.public_key());
}

#[test]
fn a_key_pair_of_a_walk_signs_what_its_public_key_verifies() {
    let (walk, mut keys, mut nonces) = (KeyWalk::derive(&[5; 32], 1), KeyBlocks::new(), NonceBlocks::new());
    for index in 0..20 {
        let pair = walk.key_pair(index, &mut keys);
        assert_eq!(pair.to_be_bytes(), walk.private_key(index));
        let signature = pair.walk(&[6; 32], 0).sign(index, &sha256(b"proof"), &mut nonces);
        let ring = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, pair.public_key());
        assert!(ring.verify(b"proof", signature.as_ref()).is_ok(), "{index}");
    }
}

#[test]
fn a_block_serves_several_keys_in_turn() {
    let (one, two) = (ThrowawayKey::derive(&[1; 32]), ThrowawayKey::derive(&[2; 32]));
    let (first, second) = (one.walk(&[0; 32], 0), two.walk(&[0; 32], 0));
    let mut shared = NonceBlocks::new();
    for index in 0..12 {
        for walk in [&first, &second] {
            let alone = walk.sign(index, &[1; 32], &mut NonceBlocks::new());
            assert_eq!(walk.sign(index, &[1; 32], &mut shared).as_ref(), alone.as_ref());
        }
    }
}

#[test]
fn every_public_key_of_a_walk_belongs_to_its_private_key() {
    let (walk, mut block) = (KeyWalk::derive(&[5; 32], 1), KeyBlocks::new());
    for index in (0..300).chain([u64::MAX - 1, u64::MAX, 12_345_678]) {
        let secret = p256::SecretKey::from_slice(&walk.private_key(index)).unwrap();
        let expected = secret.public_key().to_sec1_bytes();
        assert_eq!(p256::PublicKey::from_sec1_bytes(&expected).unwrap(), secret.public_key());
        let point = p256::PublicKey::from_sec1_bytes(&walk.public_key(index, &mut block)).unwrap();
        assert_eq!(point, secret.public_key(), "{index}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn order_start_and_stride_change_no_signature_and_no_key(
        indices in prop::collection::vec(0..600u64, 1..40),
        stride in 1..5u64,
    ) {
        let walk = ThrowawayKey::derive(&[1; 32]).walk(&[6; 32], 2);
        let keys = KeyWalk::derive(&[6; 32], 2);
        let (mut kept, mut points) = (NonceBlocks::striding(stride), KeyBlocks::striding(stride));
        for index in indices {
            let digest = sha256(&index.to_be_bytes());
            let alone = walk.sign(index, &digest, &mut NonceBlocks::new()).as_ref().to_vec();
            prop_assert_eq!(walk.sign(index, &digest, &mut kept).as_ref().to_vec(), alone);
            let fresh = keys.public_key(index, &mut KeyBlocks::new());
            prop_assert_eq!(keys.public_key(index, &mut points), fresh);
        }
    }
}

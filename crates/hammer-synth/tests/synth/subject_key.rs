use hammer_synth::{Algorithm, MintScratch, Profile, SubjectKey};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::{mint, minter};

#[test]
fn the_key_pair_of_a_seq_is_the_one_that_its_leaf_certifies() {
    let (minter, mut scratch) = (minter(1, Algorithm::P256, Profile::DV), MintScratch::new());
    for seq in (0..20).chain([u64::MAX]) {
        let pair = minter.subject_key_pair(seq, &mut scratch).unwrap();
        let minted = mint(&minter, seq);
        let (_, leaf) = X509Certificate::from_der(minted.leaf()).unwrap();
        assert_eq!(leaf.public_key().raw, pair.spki_der());
        let secret = p256::SecretKey::from_slice(&pair.private_key()).unwrap();
        assert_eq!(*pair.public_key(), *secret.public_key().to_sec1_bytes());
    }
}

#[test]
fn a_key_pair_signs_for_each_purpose_what_its_public_key_verifies() {
    let (minter, mut scratch) = (minter(1, Algorithm::P256, Profile::DV), MintScratch::new());
    for seq in 0..20 {
        let pair = minter.subject_key_pair(seq, &mut scratch).unwrap();
        let mut sign = |purpose, message: &[u8]| {
            let mut signature = Vec::new();
            pair.sign(purpose, message, &mut scratch, &mut signature);
            let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, pair.public_key());
            public.verify(message, &signature).unwrap();
            assert!(public.verify(b"another", &signature).is_err());
            signature
        };
        let (proof, artifact) = (sign(0, b"proof of possession"), sign(1, b"artifact"));
        assert_eq!(sign(0, b"proof of possession"), proof);
        assert_ne!(r(&proof), r(&artifact), "a nonce of its own for each purpose");
    }
}

#[test]
fn there_is_no_key_pair_where_nobody_knows_a_private_key() {
    let rsa = Profile { subject_key: SubjectKey::Rsa2048, ..Profile::DV };
    assert!(minter(1, Algorithm::P256, rsa).subject_key_pair(0, &mut MintScratch::new()).is_none());
}

/// The first half of a signature, which follows from its nonce.
fn r(signature: &[u8]) -> &[u8] {
    &signature[4..4 + usize::from(signature[3])]
}

//! The public keys that leaves certify, one for each seq.

use hammer_p256::{KeyBlocks, KeyWalk};
use p256::SecretKey;
use p256::elliptic_curve::sec1::ToSec1Point;

use crate::der::Der;
use crate::profile::SubjectKey;
use crate::scratch::MintScratch;
use crate::seed::Seed;
use crate::spki::{self, sha256};

/// The P-256 key pair that the leaf of one seq certifies. It is **public**: it follows from the seed and the seq.
#[derive(Clone, Debug)]
pub struct SubjectKeyPair {
    key: hammer_p256::ThrowawayKey,
    seq: u64,
    seed: [u8; 32],
}

/// The subject keys of one seed and kind.
#[derive(Clone, Debug)]
pub(crate) struct SubjectKeys {
    seed: Seed,
    kind: SubjectKey,
    walk: KeyWalk,
}

impl SubjectKeys {
    pub(crate) fn new(seed: &Seed, kind: SubjectKey) -> Self {
        let seed = seed.child("subject keys", 0);
        Self { walk: KeyWalk::derive(&seed.derive("p256", 0), 0), seed, kind }
    }

    /// Replaces `out` by the content of the subjectPublicKey BIT STRING: an uncompressed point of 65 bytes, or a DER
    /// `RSAPublicKey` of 270 bytes.
    pub(crate) fn write(&self, seq: u64, blocks: &mut KeyBlocks, out: &mut Vec<u8>) {
        out.clear();
        match self.kind {
            SubjectKey::P256 => out.extend_from_slice(&self.walk.public_key(seq, blocks)),
            SubjectKey::Rsa2048 => self.write_rsa(seq, out),
        }
    }

    /// The same, by the private key and another implementation: what [`SubjectKeys::write`] is held against.
    pub(crate) fn write_slowly(&self, seq: u64, out: &mut Vec<u8>) {
        out.clear();
        match self.kind {
            SubjectKey::P256 => {
                let secret = SecretKey::from_slice(&self.walk.private_key(seq)).expect("a scalar of a walk");
                out.extend_from_slice(secret.public_key().to_sec1_point(false).as_bytes());
            }
            SubjectKey::Rsa2048 => self.write_rsa(seq, out),
        }
    }

    /// The key pair of `seq`; none where nobody knows a private key.
    pub(crate) fn pair(&self, seq: u64, blocks: &mut KeyBlocks) -> Option<SubjectKeyPair> {
        match self.kind {
            SubjectKey::P256 => Some(SubjectKeyPair {
                key: self.walk.key_pair(seq, blocks),
                seq,
                seed: self.seed.derive("signatures", 0),
            }),
            SubjectKey::Rsa2048 => None,
        }
    }

    fn write_rsa(&self, seq: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(RSA_PUBLIC_KEY_HEAD);
        let start = out.len();
        out.resize(start + 256, 0);
        self.seed.fill("modulus", seq, &mut out[start..]);
        out[start] |= 0x80;
        out[start + 255] |= 1;
        out.extend_from_slice(RSA_PUBLIC_KEY_TAIL);
    }

    /// Writes the SubjectPublicKeyInfo around such content.
    pub(crate) fn write_spki(&self, der: &mut Der, subject_public_key: &[u8]) {
        match self.kind {
            SubjectKey::P256 => spki::write_p256(der, subject_public_key),
            SubjectKey::Rsa2048 => spki::write_rsa(der, subject_public_key),
        }
    }
}

impl SubjectKeyPair {
    /// The public key, uncompressed (SEC 1 section 2.3.3).
    pub fn public_key(&self) -> &[u8; 65] {
        self.key.public_key()
    }

    /// The public key as a DER `SubjectPublicKeyInfo`.
    pub fn spki_der(&self) -> Vec<u8> {
        Der::build(|der| spki::write_p256(der, self.public_key()))
    }

    /// The private key, big endian.
    pub fn private_key(&self) -> [u8; 32] {
        self.key.to_be_bytes()
    }

    /// Appends the ECDSA signature over SHA-256 of `message` to `out`, as a DER `Ecdsa-Sig-Value`. Its nonce is that of
    /// (seed, purpose, seq): what a pair signs besides (a proof of possession, an artifact) gets a purpose of its own, or two
    /// messages would share a nonce.
    pub fn sign(&self, purpose: u64, message: &[u8], scratch: &mut MintScratch, out: &mut Vec<u8>) {
        let walk = self.key.walk(&self.seed, purpose);
        out.extend_from_slice(walk.sign(self.seq, &sha256(message), &mut scratch.nonces).as_ref());
    }
}

/// SEQUENCE of 266 bytes, INTEGER of 257 with its leading zero.
const RSA_PUBLIC_KEY_HEAD: &[u8] = &[0x30, 0x82, 1, 10, 2, 0x82, 1, 1, 0];
/// The exponent 65537.
const RSA_PUBLIC_KEY_TAIL: &[u8] = &[2, 3, 1, 0, 1];

//! The key of a made authority.

use hammer_core::draw::Draws;
use hammer_p256::{NonceBlocks, ThrowawayKey};
use hammer_tlog::hash::sha256;
use rcgen::{PublicKeyData, SignatureAlgorithm, SigningKey};

/// The P-256 key of an authority, whose signature over a message is always the same one, so that certificates are.
#[derive(Debug)]
pub(crate) struct AuthorityKey(ThrowawayKey);

impl AuthorityKey {
    /// The key that a seed and a number stand for.
    pub(crate) fn of(seed: u64, number: u64) -> Self {
        Self(throwaway_key(seed, AUTHORITIES ^ number << 32))
    }

    /// The DER of the signature (`Ecdsa-Sig-Value`, RFC 3279 section 2.2.3) over what has this SHA-256.
    pub(crate) fn sign_digest(&self, digest: &[u8; 32]) -> Vec<u8> {
        // Another nonce for each message: this key signs few.
        self.0.walk(digest, 0).sign(0, digest, &mut NonceBlocks::new()).as_ref().to_vec()
    }
}

/// The key of a seed under a label.
pub(crate) fn throwaway_key(seed: u64, label: u64) -> ThrowawayKey {
    let draws = Draws::new(seed, label);
    let mut scalar = [0; 32];
    for (word, index) in scalar.chunks_exact_mut(8).zip(0..) {
        word.copy_from_slice(&draws.bits(index).to_be_bytes());
    }
    ThrowawayKey::derive(&scalar)
}

impl PublicKeyData for AuthorityKey {
    fn der_bytes(&self) -> &[u8] {
        self.0.public_key()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &rcgen::PKCS_ECDSA_P256_SHA256
    }
}

impl SigningKey for AuthorityKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        Ok(self.sign_digest(&sha256(message).0))
    }
}

const AUTHORITIES: u64 = 0x504b_4341;

//! Private keys that everybody may hold.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::limbs;
use crate::nonce_walk::NonceWalk;
use crate::point::POINT_LENGTH;
use crate::scalar::Scalar;
use crate::table;

/// A signing key that is **public**: it follows from a seed, so whoever knows the seed holds it, and so does whoever
/// sees two signatures of a [`NonceWalk`]. What it signs proves nothing.
///
/// It is a hash of its seed. There is no way to make one from a key that somebody keeps.
#[derive(Clone)]
pub struct ThrowawayKey {
    scalar: Scalar,
    public: [u8; POINT_LENGTH],
}

impl ThrowawayKey {
    /// The key that the seed stands for.
    pub fn derive(seed: &[u8; 32]) -> Self {
        let scalar = derive_scalar("key", seed, 0);
        Self { scalar, public: table::generator().multiply(scalar).to_sec1() }
    }

    /// A key pair of a [`crate::KeyWalk`].
    pub(crate) fn of_walk(scalar: Scalar, public: [u8; POINT_LENGTH]) -> Self {
        Self { scalar, public }
    }

    /// The public key, uncompressed (SEC 1 section 2.3.3).
    pub fn public_key(&self) -> &[u8; POINT_LENGTH] {
        &self.public
    }

    /// The private key, big endian, for who signs with it at leisure.
    pub fn to_be_bytes(&self) -> [u8; 32] {
        self.scalar.to_be_bytes()
    }

    /// The signatures of this key by the nonces of (seed, stream).
    pub fn walk(&self, seed: &[u8; 32], stream: u64) -> NonceWalk {
        NonceWalk::new(self.scalar, seed, stream)
    }
}

impl fmt::Debug for ThrowawayKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThrowawayKey").finish_non_exhaustive()
    }
}

/// A scalar between 2^192 and n - 2^191, so that it stays between 1 and n whatever small number a walk adds: SHA-256
/// over `hammer-p256`, the label, 0x00, seed, stream and attempt (8 bytes each, big endian), the first that fits.
pub(crate) fn derive_scalar(label: &str, seed: &[u8; 32], stream: u64) -> Scalar {
    let attempt = |attempt: u64| {
        let hash = Sha256::new()
            .chain_update("hammer-p256 ")
            .chain_update(label)
            .chain_update([0])
            .chain_update(seed)
            .chain_update(stream.to_be_bytes())
            .chain_update(attempt.to_be_bytes());
        limbs::from_be_bytes(&hash.finalize().into())
    };
    let limbs = (0..).map(attempt).find(|limbs| fits_a_walk(limbs[3])).expect("nearly every hash fits");
    Scalar::from_limbs(limbs)
}

fn fits_a_walk(highest: u64) -> bool {
    (1..0xffff_ffff_0000_0000).contains(&highest)
}

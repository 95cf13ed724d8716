//! A P-256 key of a seed that signs by nonces that walk: whoever knows the seed holds it in any case.

use std::sync::{Mutex, PoisonError};

use hammer_p256::{NonceBlocks, NonceWalk, POINT_LENGTH, Signature, ThrowawayKey};
use ring::rand::{SecureRandom as _, SystemRandom};

/// A key that everybody may hold, which makes another signature each time.
#[derive(Debug)]
pub struct ThrowawaySigner {
    public_key: [u8; POINT_LENGTH],
    walking: Mutex<Walking>,
}

/// A walk of nonces that nobody else goes, and its next step.
#[derive(Debug)]
struct Walking {
    walk: NonceWalk,
    blocks: NonceBlocks,
    next: u64,
}

impl ThrowawaySigner {
    /// The key that the seed stands for.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn derive(seed: &[u8; 32]) -> Result<Self, String> {
        let key = ThrowawayKey::derive(seed);
        let mut start = [0; 32];
        SystemRandom::new().fill(&mut start).map_err(|error| error.to_string())?;
        let walking = Walking { walk: key.walk(&start, 0), blocks: NonceBlocks::new(), next: 0 };
        Ok(Self { public_key: *key.public_key(), walking: Mutex::new(walking) })
    }

    /// The public key, uncompressed (SEC 1 section 2.3.3).
    #[must_use]
    pub fn public_key(&self) -> &[u8; POINT_LENGTH] {
        &self.public_key
    }

    /// The signature over a SHA-256 digest. No nonce signs twice: each call takes a step, and each signer starts elsewhere.
    #[must_use]
    pub fn sign(&self, digest: &[u8; 32]) -> Signature {
        let mut walking = self.walking.lock().unwrap_or_else(PoisonError::into_inner);
        let Walking { walk, blocks, next } = &mut *walking;
        let at = *next;
        *next += 1;
        walk.sign(at, digest, blocks)
    }
}

//! The seed of a run, and labelled derivation from it.

use std::fmt;

use ring::{digest, hmac};

/// 32 bytes from which every throwaway key, serial and draw follows. It is no secret: whoever knows it holds all the
/// keys that were derived from it.
#[derive(Clone)]
pub struct Seed {
    key: hmac::Key,
}

impl Seed {
    /// The seed that a number stands for: SHA-256 over `hammer seed` and the number as 8 big-endian bytes.
    pub fn from_u64(number: u64) -> Self {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(b"hammer seed");
        context.update(&number.to_be_bytes());
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, context.finish().as_ref()) }
    }

    /// The seed that is these bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, bytes) }
    }

    /// 32 bytes that differ for each (label, index): HMAC-SHA-256 over label, 0x00, the index (8 bytes, big endian)
    /// and a block number (4 bytes, big endian, here 0).
    pub fn derive(&self, label: &str, index: u64) -> [u8; 32] {
        self.block(label, index, 0)
    }

    /// A seed of its own for a part of the run.
    pub fn child(&self, label: &str, index: u64) -> Self {
        Self::from_bytes(&self.derive(label, index))
    }

    /// Fills `out` with the blocks 0, 1, ... of (label, index); its first 32 bytes are those of [`Seed::derive`].
    pub fn fill(&self, label: &str, index: u64, out: &mut [u8]) {
        for (number, chunk) in (0..).zip(out.chunks_mut(32)) {
            chunk.copy_from_slice(&self.block(label, index, number)[..chunk.len()]);
        }
    }

    pub(crate) fn block(&self, label: &str, index: u64, number: u32) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(label.as_bytes());
        context.update(&[0]);
        context.update(&index.to_be_bytes());
        context.update(&number.to_be_bytes());
        let mut block = [0; 32];
        block.copy_from_slice(context.sign().as_ref());
        block
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_indices_and_seeds_all_change_the_bytes() {
        let seed = Seed::from_u64(1);
        let bytes = seed.derive("a", 1);
        assert_eq!(bytes, seed.clone().derive("a", 1));
        assert_ne!(bytes, seed.derive("b", 1));
        assert_ne!(bytes, seed.derive("a", 2));
        assert_ne!(bytes, Seed::from_u64(2).derive("a", 1));
        assert_ne!(bytes, seed.child("a", 1).derive("a", 1));
    }

    #[test]
    fn a_longer_fill_starts_with_the_derived_block() {
        let seed = Seed::from_bytes(&[7; 32]);
        let mut long = [0; 70];
        seed.fill("a", 9, &mut long);
        assert_eq!(long[..32], seed.derive("a", 9));
        assert_ne!(long[32..64], long[..32]);
    }
}

//! Key pairs that walk: d_j = d_0 + j, and so Q_j = Q_0 + j * G. A subject key for each certificate, with its private
//! key at hand where a proof of possession needs it.

use crate::blocks::{Block, Blocks};
use crate::nonce_walk::NonceWalk;
use crate::point::{self, POINT_LENGTH};
use crate::scalar::Scalar;
use crate::steps::{BlockScratch, BlockSteps};
use crate::table;
use crate::throwaway::{ThrowawayKey, derive_scalar};

/// The key pairs of one (seed, stream). All of them are **public**: they follow from the seed, and one of them gives away
/// all others. Key j is always the same one; threads may share a walk, each with its [`KeyBlocks`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyWalk {
    start: Scalar,
}

/// Public keys, 256 at a time; what a thread keeps of its walks, up to 100 KB. Its numbers may come in any order and from any
/// walks. Those far from all others are worked out alone.
#[derive(Debug, Default)]
pub struct KeyBlocks(Blocks<KeyBlock>);

#[derive(Debug, Default)]
struct KeyBlock(Vec<[u8; POINT_LENGTH]>);

impl KeyWalk {
    /// The keys of (seed, stream).
    pub fn derive(seed: &[u8; 32], stream: u64) -> Self {
        Self { start: derive_scalar("subject", seed, stream) }
    }

    /// Public key `index`, uncompressed (SEC 1 section 2.3.3).
    pub fn public_key(&self, index: u64, blocks: &mut KeyBlocks) -> [u8; POINT_LENGTH] {
        match blocks.0.find(self.start, index) {
            Some((block, at)) => block.0[at],
            None => table::generator().multiply(self.scalar(index)).to_sec1(),
        }
    }

    /// Private key `index`, big endian.
    pub fn private_key(&self, index: u64) -> [u8; 32] {
        self.scalar(index).to_be_bytes()
    }

    /// The signatures of key `index` by the nonces of (seed, stream), for which its public key need not be worked out.
    pub fn nonce_walk(&self, index: u64, seed: &[u8; 32], stream: u64) -> NonceWalk {
        NonceWalk::new(self.scalar(index), seed, stream)
    }

    /// Key pair `index`.
    pub fn key_pair(&self, index: u64, blocks: &mut KeyBlocks) -> ThrowawayKey {
        ThrowawayKey::of_walk(self.scalar(index), self.public_key(index, blocks))
    }

    fn scalar(&self, index: u64) -> Scalar {
        self.start + Scalar::from_u64(index)
    }
}

impl KeyBlocks {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// None yet, for numbers that mostly are `stride` apart, as those of one thread among several.
    pub fn striding(stride: u64) -> Self {
        Self(Blocks::striding(stride))
    }
}

impl Block for KeyBlock {
    fn fill(&mut self, steps: &BlockSteps<'_>, scratch: &mut BlockScratch) {
        scratch.walk(steps);
        self.0.clear();
        self.0.extend(scratch.points.iter().map(|point| point::to_sec1(point.x(), point.y())));
    }
}

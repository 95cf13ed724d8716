//! Key pairs that walk: d_j = d_0 + j, and so Q_j = Q_0 + j * G. A subject key for each certificate, with its private
//! key at hand where a proof of possession needs it.

use crate::POINT_LENGTH;
use crate::lanes::Lanes;
use crate::point::Point;
use crate::scalar::Scalar;
use crate::table::{self, WINDOW};
use crate::throwaway::{before_block, derive_scalar};

/// The key pairs of one (seed, stream). All of them are **public**: they follow from the seed, and one of them gives away
/// all others. Key j is always the same one; threads may share a walk, each with a [`KeyBlock`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyWalk {
    start: Scalar,
}

/// 256 consecutive public keys; 33 KB that a thread keeps for each walk. A block of another walk, or another part of the
/// walk, is made anew where it is needed.
#[derive(Debug, Default)]
pub struct KeyBlock {
    /// Whose block is there, and which.
    of: Option<(KeyWalk, u64)>,
    keys: Vec<[u8; POINT_LENGTH]>,
    points: Vec<Point>,
    lanes: Lanes,
}

impl KeyWalk {
    /// The keys of (seed, stream).
    pub fn derive(seed: &[u8; 32], stream: u64) -> Self {
        Self { start: derive_scalar("subject", seed, stream) }
    }

    /// Public key `index`, uncompressed (SEC 1 section 2.3.3).
    pub fn public_key<'block>(&self, index: u64, block: &'block mut KeyBlock) -> &'block [u8; POINT_LENGTH] {
        block.hold(self, index / WINDOW as u64);
        &block.keys[index as usize % WINDOW]
    }

    /// Private key `index`, big endian.
    pub fn private_key(&self, index: u64) -> [u8; 32] {
        (self.start + Scalar::from_u64(index)).to_be_bytes()
    }
}

impl KeyBlock {
    /// An empty block.
    pub fn new() -> Self {
        Self::default()
    }

    fn hold(&mut self, walk: &KeyWalk, block: u64) {
        if self.of.as_ref().is_some_and(|(held, at)| *at == block && held == walk) {
            return;
        }
        let (_, point) = before_block(walk.start, block);
        self.lanes.add_to_base(point, table::generator().multiples(), &mut self.points);
        self.keys.clear();
        self.keys.extend(self.points.iter().map(|point| point.to_sec1()));
        self.of = Some((walk.clone(), block));
    }
}

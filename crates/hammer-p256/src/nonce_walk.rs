//! Deterministic signatures by nonces that walk: k_i = k_0 + i, and so R_i = R_0 + i * G.
//!
//! **Two signatures give the key away**: whoever knows that their nonces differ by one solves two equations for the key.
//! That is why only a [`crate::ThrowawayKey`] walks. In return 256 neighbours share two inversions and a product with the
//! base point, and each costs 13 multiplications.

use crate::blocks::{Block, Blocks};
use crate::der::{RawSignature, Signature};
use crate::entry::Entry;
use crate::limbs::{self, Limbs};
use crate::residue::Modulus;
use crate::scalar::{Order, Scalar, reduce};
use crate::steps::{BlockScratch, BlockSteps};
use crate::table;
use crate::throwaway::derive_scalar;

/// The signatures of one throwaway key by the nonces of one (seed, stream). Signature i over a digest is always the same
/// one, wherever a caller starts and however many there are; threads may share a walk, each with its [`NonceBlocks`].
///
/// The nonces do not depend on the key: several keys may share the walk of a (seed, stream), and its blocks, as long as no
/// index signs twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonceWalk {
    key: Scalar,
    start: Scalar,
}

/// What signatures need before there is a digest, for 256 nonces at a time; what a thread keeps of its walks, up to 120 KB.
/// Its numbers may come in any order and from any walks. Those far from all others are signed alone.
#[derive(Debug, Default)]
pub struct NonceBlocks(Blocks<NonceBlock>);

#[derive(Debug, Default)]
struct NonceBlock(Vec<Nonce>);

#[derive(Debug)]
struct Nonce {
    /// The nonce's x coordinate modulo n.
    r: Limbs,
    /// 1 / k.
    inverse: Scalar,
}

impl NonceWalk {
    pub(crate) fn new(key: Scalar, seed: &[u8; 32], stream: u64) -> Self {
        Self { key, start: derive_scalar("nonce", seed, stream) }
    }

    /// Signature `index` of the walk, over a SHA-256 digest. s may be in the upper half.
    ///
    /// In any order that stays within 256 numbers for a while, a signature costs 13 multiplications and its share of two
    /// inversions; a number far from all others costs two inversions and some 300 multiplications.
    pub fn sign(&self, index: u64, digest: &[u8; 32], blocks: &mut NonceBlocks) -> Signature {
        let digest = reduce(limbs::from_be_bytes(digest));
        let signed = match blocks.0.find(self.start, index) {
            Some((block, at)) => block.0[at].sign(self.key, digest),
            None => sign_with(self.key, self.start + Scalar::from_u64(index), digest),
        };
        match signed {
            Some(signature) => signature.into(),
            None => self.sign_apart(index, digest),
        }
    }

    /// Signature `index` where r or s is 0, which FIPS 186-4 section 6.4 asks to try again: the first nonce that does, at
    /// steps of 2^128, where no walk comes.
    fn sign_apart(&self, index: u64, digest: Limbs) -> Signature {
        let nonce = self.start + Scalar::from_u64(index);
        (1..)
            .find_map(|step| sign_with(self.key, nonce + Scalar::from_limbs([0, 0, step, 0]), digest))
            .expect("nearly every nonce gives a signature")
            .into()
    }
}

impl NonceBlocks {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// None yet, for numbers that mostly are `stride` apart, as those of one thread among several.
    pub fn striding(stride: u64) -> Self {
        Self(Blocks::striding(stride))
    }
}

impl Block for NonceBlock {
    fn fill(&mut self, steps: &BlockSteps<'_>, scratch: &mut BlockScratch) {
        scratch.walk_xs(steps);
        scratch.invert(steps);
        self.0.clear();
        let nonce = |(point, inverse): (&Entry, &Scalar)| Nonce { r: reduce(point.x()), inverse: *inverse };
        self.0.extend(scratch.points.iter().zip(&scratch.inverses).map(nonce));
    }
}

impl Nonce {
    /// The signature of a digest below n: (e + r * d) / k; none where r or s is 0.
    #[inline]
    fn sign(&self, key: Scalar, digest: Limbs) -> Option<RawSignature> {
        let (sum, carry) = limbs::add(key.times_limbs(self.r), digest);
        let s = self.inverse.times_limbs(limbs::subtract_once(sum, carry, Order::LIMBS));
        (self.r != [0; 4] && s != [0; 4]).then_some(RawSignature { r: self.r, s })
    }
}

/// The signature of a digest below n with a key and a nonce (FIPS 186-4 section 6.4); none where r or s is 0.
fn sign_with(key: Scalar, nonce: Scalar, digest: Limbs) -> Option<RawSignature> {
    let r = reduce(table::generator().multiply(nonce).x.to_limbs());
    let s = nonce.invert() * (Scalar::from_limbs(digest) + key * Scalar::from_limbs(r));
    (r != [0; 4] && !s.is_zero()).then(|| RawSignature { r, s: s.to_limbs() })
}

#[cfg(test)]
mod tests;

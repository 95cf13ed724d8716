//! Deterministic signatures by nonces that walk: k_i = k_0 + i, and so R_i = R_0 + i * G.
//!
//! **Two signatures give the key away**: whoever knows that their nonces differ by one solves two equations for the key.
//! That is why only a [`crate::ThrowawayKey`] walks. In return 256 neighbours share two inversions and a product with the
//! base point, and each costs 13 multiplications.

use crate::der::{RawSignature, Signature};
use crate::lanes::Lanes;
use crate::limbs::{self, Limbs};
use crate::point::Point;
use crate::residue::{Modulus, invert_all};
use crate::scalar::{Order, Scalar, reduce};
use crate::table::{self, WINDOW};
use crate::throwaway::{before_block, derive_scalar};

/// The signatures of one throwaway key by the nonces of one (seed, stream). Signature i over a digest is always the same
/// one, wherever a caller starts and however many there are; threads may share a walk, each with a [`NonceBlock`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonceWalk {
    key: Scalar,
    start: Scalar,
}

/// What 256 consecutive signatures need before there is a digest; 24 KB that a thread keeps for each walk. A block of
/// another walk, or another part of the walk, is made anew where it is needed.
#[derive(Debug, Default)]
pub struct NonceBlock {
    /// Whose block is there, and which.
    of: Option<(NonceWalk, u64)>,
    nonces: Vec<Nonce>,
    points: Vec<Point>,
    inverses: Vec<Scalar>,
    products: Vec<Scalar>,
    lanes: Lanes,
}

#[derive(Debug)]
struct Nonce {
    r: [u8; 32],
    /// 1 / k.
    inverse: Scalar,
    /// r * d / k, the part of s that no digest changes.
    constant: Limbs,
}

impl NonceWalk {
    pub(crate) fn new(key: Scalar, seed: &[u8; 32], stream: u64) -> Self {
        Self { key, start: derive_scalar("nonce", seed, stream) }
    }

    /// Signature `index` of the walk, over a SHA-256 digest. s may be in the upper half.
    ///
    /// Neighbours share a block: in any order that stays within 256 numbers for a while, a signature costs 13
    /// multiplications; one far from the last costs what 256 neighbours cost together.
    pub fn sign(&self, index: u64, digest: &[u8; 32], block: &mut NonceBlock) -> Signature {
        block.hold(self, index / WINDOW as u64);
        let nonce = &block.nonces[index as usize % WINDOW];
        let digest = reduce(limbs::from_be_bytes(digest));
        let (sum, carry) = limbs::add(nonce.inverse.times_limbs(digest), nonce.constant);
        let s = limbs::subtract_once(sum, carry, Order::LIMBS);
        if s == [0; 4] || nonce.r == [0; 32] {
            return self.sign_apart(index, digest);
        }
        Signature::new(&nonce.r, &limbs::to_be_bytes(s))
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

impl NonceBlock {
    /// An empty block.
    pub fn new() -> Self {
        Self::default()
    }

    fn hold(&mut self, walk: &NonceWalk, block: u64) {
        if self.of.as_ref().is_some_and(|(held, at)| *at == block && held == walk) {
            return;
        }
        let (before, point) = before_block(walk.start, block);
        self.lanes.add_to_base(point, table::generator().multiples(), &mut self.points);
        let nonces = std::iter::successors(Some(before + Scalar::ONE), |nonce| Some(*nonce + Scalar::ONE));
        self.inverses.clear();
        self.inverses.extend(nonces.take(WINDOW));
        self.products.resize(WINDOW, Scalar::ONE);
        invert_all(&mut self.inverses, &mut self.products);
        let parts = self.points.iter().zip(&self.inverses);
        self.nonces.clear();
        self.nonces.extend(parts.map(|(point, inverse)| Nonce::new(walk.key, *point, *inverse)));
        self.of = Some((walk.clone(), block));
    }
}

impl Nonce {
    fn new(key: Scalar, point: Point, inverse: Scalar) -> Self {
        let r = reduce(point.x.to_limbs());
        Self { r: limbs::to_be_bytes(r), inverse, constant: inverse.times_limbs(key.times_limbs(r)) }
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

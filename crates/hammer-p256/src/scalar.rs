//! Scalars of P-256: residues modulo the order n of the group (FIPS 186-4 section D.1.2.3).

use crate::limbs::{self, Limbs};
use crate::residue::{Modulus, Residue};

/// The order of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order;

/// A private key, a nonce, or a part of a signature.
pub type Scalar = Residue<Order>;

impl Modulus for Order {
    const LIMBS: [u64; 4] =
        [0xf3b9_cac2_fc63_2551, 0xbce6_faad_a717_9e84, 0xffff_ffff_ffff_ffff, 0xffff_ffff_0000_0000];
    const ONE: [u64; 4] = [0x0c46_353d_039c_daaf, 0x4319_0552_58e8_617b, 0, 0x0000_0000_ffff_ffff];
    const SQUARE: [u64; 4] =
        [0x8324_4c95_be79_eea2, 0x4699_799c_49bd_6fa6, 0x2845_b239_2b6b_ec59, 0x66e1_2d94_f3d9_5620];
    const INVERSE: u64 = 0xccd1_c8aa_ee00_bc4f;
}

impl Scalar {
    /// The scalar of a small number.
    pub fn from_u64(number: u64) -> Self {
        Self::from_limbs([number, 0, 0, 0])
    }

    /// The scalar that a digest stands for: its 256 bits modulo n (FIPS 186-4 section 6.4).
    pub fn from_digest(digest: &[u8; 32]) -> Self {
        Self::from_limbs(reduce(limbs::from_be_bytes(digest)))
    }
}

/// Any number of 256 bits modulo n; n is above 2^255, so that it is there at most once.
#[inline]
pub(crate) fn reduce(value: Limbs) -> Limbs {
    limbs::subtract_once(value, 0, Order::LIMBS)
}

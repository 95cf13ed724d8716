//! The field of P-256: residues modulo p = 2^256 - 2^224 + 2^192 + 2^96 - 1 (FIPS 186-4 section D.1.2.3).

use crate::limbs::add_carry;
use crate::residue::{Modulus, Residue};

/// The prime of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field;

/// A coordinate.
pub type FieldElement = Residue<Field>;

impl Modulus for Field {
    const LIMBS: [u64; 4] = [0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_ffff, 0, 0xffff_ffff_0000_0001];
    const ONE: [u64; 4] = [1, 0xffff_ffff_0000_0000, 0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_fffe];
    const SQUARE: [u64; 4] = [3, 0xffff_fffb_ffff_ffff, 0xffff_ffff_ffff_fffe, 0x0000_0004_ffff_fffd];
    const INVERSE: u64 = 1;

    // m is the lowest limb itself, and m * p + m = m * (2^96 + 2^192 * (2^64 - 2^32 + 1)).
    #[inline(always)]
    fn reduce_limb(value: [u64; 5], carry: u64) -> [u64; 5] {
        let m = value[0];
        let high = u128::from(m) * u128::from(Self::LIMBS[3]);
        let (first, over) = add_carry(value[1], m << 32, 0);
        let (second, over) = add_carry(value[2], m >> 32, over);
        let (third, over) = add_carry(value[3], high as u64, over);
        let (fourth, over) = add_carry(value[4], (high >> 64) as u64, over);
        [first, second, third, fourth, carry + over]
    }
}

//! Numbers of 256 bits as four limbs of 64, the lowest first.

pub(crate) type Limbs = [u64; 4];

/// The low limb and the carry of `sum + left * right + carry`, which never overflows.
#[inline(always)]
pub(crate) fn multiply_add(sum: u64, left: u64, right: u64, carry: u64) -> (u64, u64) {
    let wide = u128::from(left) * u128::from(right) + u128::from(sum) + u128::from(carry);
    (wide as u64, (wide >> 64) as u64)
}

#[inline(always)]
pub(crate) fn add_carry(left: u64, right: u64, carry: u64) -> (u64, u64) {
    let wide = u128::from(left) + u128::from(right) + u128::from(carry);
    (wide as u64, (wide >> 64) as u64)
}

#[inline(always)]
pub(crate) fn subtract_borrow(left: u64, right: u64, borrow: u64) -> (u64, u64) {
    let (difference, first) = left.overflowing_sub(right);
    let (difference, second) = difference.overflowing_sub(borrow);
    (difference, u64::from(first | second))
}

/// The sum, and its carry.
#[inline(always)]
pub(crate) fn add(left: Limbs, right: Limbs) -> (Limbs, u64) {
    let (low, carry) = add_carry(left[0], right[0], 0);
    let (second, carry) = add_carry(left[1], right[1], carry);
    let (third, carry) = add_carry(left[2], right[2], carry);
    let (high, carry) = add_carry(left[3], right[3], carry);
    ([low, second, third, high], carry)
}

/// The difference modulo 2^256, and its borrow.
#[inline(always)]
pub(crate) fn subtract(left: Limbs, right: Limbs) -> (Limbs, u64) {
    let (low, borrow) = subtract_borrow(left[0], right[0], 0);
    let (second, borrow) = subtract_borrow(left[1], right[1], borrow);
    let (third, borrow) = subtract_borrow(left[2], right[2], borrow);
    let (high, borrow) = subtract_borrow(left[3], right[3], borrow);
    ([low, second, third, high], borrow)
}

/// `(value + carry * 2^256) mod modulus`, where that is below twice the modulus.
#[inline(always)]
pub(crate) fn subtract_once(value: Limbs, carry: u64, modulus: Limbs) -> Limbs {
    let (reduced, borrow) = subtract(value, modulus);
    // A mask, not a branch: which of the two it is looks random, and a wrong guess costs as much as the rest.
    let keep = 0u64.wrapping_sub(borrow & (1 - carry));
    select(keep, value, reduced)
}

/// `chosen` where the mask is all ones, `other` where it is zero.
#[inline(always)]
fn select(mask: u64, chosen: Limbs, other: Limbs) -> Limbs {
    [
        (chosen[0] & mask) | (other[0] & !mask),
        (chosen[1] & mask) | (other[1] & !mask),
        (chosen[2] & mask) | (other[2] & !mask),
        (chosen[3] & mask) | (other[3] & !mask),
    ]
}

pub(crate) fn from_be_bytes(bytes: &[u8; 32]) -> Limbs {
    let mut limbs = [0; 4];
    for (limb, chunk) in limbs.iter_mut().rev().zip(bytes.chunks_exact(8)) {
        *limb = chunk.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte));
    }
    limbs
}

pub(crate) fn to_be_bytes(limbs: Limbs) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (limb, chunk) in limbs.iter().rev().zip(bytes.chunks_exact_mut(8)) {
        chunk.copy_from_slice(&limb.to_be_bytes());
    }
    bytes
}

/// Whether `left` is below `right`.
pub(crate) fn is_below(left: Limbs, right: Limbs) -> bool {
    subtract(left, right).1 == 1
}

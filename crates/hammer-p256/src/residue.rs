//! Residues modulo a prime of 256 bits, in Montgomery's domain.
//!
//! Multiplication is our own, since what fiat-crypto generates takes two to three times as long once rustc has
//! compiled it; the tests hold every operation against fiat-crypto's proven one.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, Mul, Neg, Sub};

use crate::inversion;
use crate::limbs::{self, Limbs, add_carry, multiply_add};

/// A prime modulus between 2^255 and 2^256.
pub trait Modulus: Copy + Eq + 'static {
    /// The modulus, the lowest limb first.
    const LIMBS: [u64; 4];
    /// 2^256 modulo the modulus: the 1 of Montgomery's domain.
    const ONE: [u64; 4];
    /// 2^512 modulo the modulus.
    const SQUARE: [u64; 4];
    /// -1 / modulus modulo 2^64.
    const INVERSE: u64;

    /// `(value + m * modulus) / 2^64` as five limbs, for the m that makes it whole; `value` has five limbs and a carry.
    #[inline(always)]
    fn reduce_limb(value: [u64; 5], carry: u64) -> [u64; 5] {
        let m = value[0].wrapping_mul(Self::INVERSE);
        let (_, over) = multiply_add(value[0], m, Self::LIMBS[0], 0);
        let (first, over) = multiply_add(value[1], m, Self::LIMBS[1], over);
        let (second, over) = multiply_add(value[2], m, Self::LIMBS[2], over);
        let (third, over) = multiply_add(value[3], m, Self::LIMBS[3], over);
        let (fourth, over) = add_carry(value[4], over, 0);
        [first, second, third, fourth, carry + over]
    }
}

/// A residue modulo `M`, always the least one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Residue<M> {
    /// The residue times 2^256.
    limbs: Limbs,
    modulus: PhantomData<M>,
}

impl<M: Modulus> Residue<M> {
    /// The neutral element of addition.
    pub const ZERO: Self = Self::from_montgomery([0; 4]);
    /// The neutral element of multiplication.
    pub const ONE: Self = Self::from_montgomery(M::ONE);

    /// The residue whose product with 2^256 is `limbs`, which are below the modulus.
    pub(crate) const fn from_montgomery(limbs: Limbs) -> Self {
        Self { limbs, modulus: PhantomData }
    }

    /// The limbs of its product with 2^256.
    #[inline]
    pub(crate) fn montgomery(self) -> Limbs {
        self.limbs
    }

    /// The residue that is `limbs`, which are below the modulus.
    #[inline]
    pub(crate) fn from_limbs(limbs: Limbs) -> Self {
        Self::from_montgomery(multiply::<M>(limbs, M::SQUARE))
    }

    /// The limbs of the least residue.
    #[inline]
    pub(crate) fn to_limbs(self) -> Limbs {
        multiply::<M>(self.limbs, [1, 0, 0, 0])
    }

    /// The limbs of the least residue of `self * plain`, for limbs below the modulus: one multiplication, where
    /// [`Residue::from_limbs`] and [`Residue::to_limbs`] would take two more.
    #[inline]
    pub(crate) fn times_limbs(self, plain: Limbs) -> Limbs {
        multiply::<M>(self.limbs, plain)
    }

    /// The residue of 32 big-endian bytes; none if they are not below the modulus.
    pub fn from_be_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let limbs = limbs::from_be_bytes(bytes);
        limbs::is_below(limbs, M::LIMBS).then(|| Self::from_limbs(limbs))
    }

    /// The least residue as 32 big-endian bytes.
    pub fn to_be_bytes(self) -> [u8; 32] {
        limbs::to_be_bytes(self.to_limbs())
    }

    /// Whether it is 0.
    #[inline]
    pub fn is_zero(self) -> bool {
        self.limbs == [0; 4]
    }

    /// Twice the residue.
    #[inline]
    pub fn double(self) -> Self {
        self + self
    }

    /// The square.
    #[inline]
    pub fn square(self) -> Self {
        Self::from_montgomery(square::<M>(self.limbs))
    }

    /// The inverse; that of 0 is 0. How long it takes depends on the value.
    pub fn invert(self) -> Self {
        // What is inverted is the residue times 2^256, so that the inverse lacks 2^512.
        let inverse = inversion::invert(self.limbs, M::LIMBS, M::INVERSE);
        Self::from_limbs(multiply::<M>(inverse, M::SQUARE))
    }
}

/// Inverts all of `values`, none of which may be 0, with one inversion (Montgomery's trick): three multiplications each.
/// `products` is memory for as many.
///
/// # Panics
///
/// If the lengths differ.
pub fn invert_all<M: Modulus>(values: &mut [Residue<M>], products: &mut [Residue<M>]) {
    assert_eq!(values.len(), products.len());
    let mut product = Residue::ONE;
    for (value, before) in values.iter().zip(products.iter_mut()) {
        *before = product;
        product = product * *value;
    }
    let mut inverse = product.invert();
    for (value, before) in values.iter_mut().zip(products.iter()).rev() {
        let next = inverse * *value;
        *value = inverse * *before;
        inverse = next;
    }
}

impl<M: Modulus> Add for Residue<M> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (sum, carry) = limbs::add(self.limbs, other.limbs);
        Self::from_montgomery(limbs::subtract_once(sum, carry, M::LIMBS))
    }
}

impl<M: Modulus> Sub for Residue<M> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (difference, borrow) = limbs::subtract(self.limbs, other.limbs);
        let mask = 0u64.wrapping_sub(borrow);
        Self::from_montgomery(limbs::add(difference, M::LIMBS.map(|limb| limb & mask)).0)
    }
}

impl<M: Modulus> Neg for Residue<M> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl<M: Modulus> Mul for Residue<M> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self::from_montgomery(multiply::<M>(self.limbs, other.limbs))
    }
}

impl<M: Modulus> fmt::Debug for Residue<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_be_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// `left * right / 2^256` (Montgomery's product), with a limb of the reduction after each limb of the product.
#[inline(always)]
fn multiply<M: Modulus>(left: Limbs, right: Limbs) -> Limbs {
    let mut sum = [0; 5];
    for limb in right {
        let (first, carry) = multiply_add(sum[0], left[0], limb, 0);
        let (second, carry) = multiply_add(sum[1], left[1], limb, carry);
        let (third, carry) = multiply_add(sum[2], left[2], limb, carry);
        let (fourth, carry) = multiply_add(sum[3], left[3], limb, carry);
        let (fifth, carry) = add_carry(sum[4], carry, 0);
        sum = M::reduce_limb([first, second, third, fourth, fifth], carry);
    }
    limbs::subtract_once([sum[0], sum[1], sum[2], sum[3]], sum[4], M::LIMBS)
}

/// `value * value / 2^256`: each product of two different limbs once, doubled.
#[inline(always)]
fn square<M: Modulus>([a, b, c, d]: Limbs) -> Limbs {
    let (one, carry) = multiply_add(0, a, b, 0);
    let (two, carry) = multiply_add(0, a, c, carry);
    let (three, four) = multiply_add(0, a, d, carry);
    let (three, carry) = multiply_add(three, b, c, 0);
    let (four, five) = multiply_add(four, b, d, carry);
    let (five, six) = multiply_add(five, c, d, 0);
    let doubled = [
        one << 1,
        two << 1 | one >> 63,
        three << 1 | two >> 63,
        four << 1 | three >> 63,
        five << 1 | four >> 63,
        six << 1 | five >> 63,
        six >> 63,
    ];
    let (zero, carry) = multiply_add(0, a, a, 0);
    let (one, carry) = add_carry(doubled[0], carry, 0);
    let (two, carry) = multiply_add(doubled[1], b, b, carry);
    let (three, carry) = add_carry(doubled[2], carry, 0);
    let (four, carry) = multiply_add(doubled[3], c, c, carry);
    let (five, carry) = add_carry(doubled[4], carry, 0);
    let (six, carry) = multiply_add(doubled[5], d, d, carry);
    let (seven, _) = add_carry(doubled[6], carry, 0);
    let mut low = [zero, one, two, three, 0];
    for high in [four, five, six, seven] {
        let (top, carry) = add_carry(low[4], high, 0);
        low = M::reduce_limb([low[0], low[1], low[2], low[3], top], carry);
    }
    limbs::subtract_once([low[0], low[1], low[2], low[3]], low[4], M::LIMBS)
}

#[cfg(test)]
mod tests;

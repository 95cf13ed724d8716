//! The arithmetic of eight residues.

use std::marker::PhantomData;
use std::ops::{Add, Mul, Sub};

use super::ifma::{Ifma, LANES, Register};
use crate::field::Field;
use crate::limbs::Limbs;
use crate::residue::{Modulus, Residue};
use crate::scalar::Order;

/// Bits of a limb.
const BITS: u32 = 52;
const MASK: u64 = (1 << BITS) - 1;

/// A modulus that eight lanes compute with.
pub(crate) trait WideModulus: Modulus {
    /// The modulus, the lowest limb first.
    const WIDE: [u64; 5] = split(Self::LIMBS);

    /// Adds the multiple of the modulus that makes limb `at` zero, and its carry to the next.
    #[inline(always)]
    fn clear_limb(ifma: Ifma, sum: &mut [Register; 10], at: usize) {
        let factor = ifma.add_low(ifma.zero(), sum[at], ifma.splat(Self::INVERSE & MASK));
        for (limb, modulus) in Self::WIDE.into_iter().enumerate() {
            let modulus = ifma.splat(modulus);
            sum[at + limb] = ifma.add_low(sum[at + limb], factor, modulus);
            sum[at + limb + 1] = ifma.add_high(sum[at + limb + 1], factor, modulus);
        }
        sum[at + 1] = ifma.add(sum[at + 1], ifma.right::<BITS>(sum[at]));
    }
}

impl WideModulus for Order {}

impl WideModulus for Field {
    // The factor is the limb itself, and factor * (p + 1) = factor * (2^96 + 2^192 + 2^208 * (2^48 - 2^16)).
    #[inline(always)]
    fn clear_limb(ifma: Ifma, sum: &mut [Register; 10], at: usize) {
        let factor = sum[at];
        sum[at + 1] = ifma.add(sum[at + 1], ifma.right::<BITS>(factor));
        for (limb, part) in [(1, 1 << 44), (3, Self::WIDE[3]), (4, Self::WIDE[4])] {
            let part = ifma.splat(part);
            sum[at + limb] = ifma.add_low(sum[at + limb], factor, part);
            sum[at + limb + 1] = ifma.add_high(sum[at + limb + 1], factor, part);
        }
    }
}

/// Eight residues, each below four times the modulus.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wide<M> {
    limbs: [Register; 5],
    ifma: Ifma,
    modulus: PhantomData<M>,
}

impl<M: WideModulus> Wide<M> {
    #[inline(always)]
    fn new(ifma: Ifma, limbs: [Register; 5]) -> Self {
        Self { limbs, ifma, modulus: PhantomData }
    }

    /// Eight times 1.
    #[inline(always)]
    pub(crate) fn one(ifma: Ifma) -> Self {
        Self::splat(ifma, times_power(Residue::<M>::ONE, 4))
    }

    /// Eight times the residue whose product with 2^260 is `limbs`.
    #[inline(always)]
    pub(crate) fn splat(ifma: Ifma, limbs: Limbs) -> Self {
        let [a, b, c, d, e] = split(limbs);
        let limbs = [ifma.splat(a), ifma.splat(b), ifma.splat(c), ifma.splat(d), ifma.splat(e)];
        Self::new(ifma, limbs)
    }

    /// Eight times a residue.
    #[inline(always)]
    pub(crate) fn splat_residue(ifma: Ifma, residue: Residue<M>) -> Self {
        Self::splat(ifma, times_power(residue, 4))
    }

    /// That the processor can.
    #[inline(always)]
    pub(super) fn ifma(self) -> Ifma {
        self.ifma
    }

    /// The residues whose products with 2^260 are given by four limbs of 64 bits.
    #[inline(always)]
    pub(crate) fn from_limbs(ifma: Ifma, [a, b, c, d]: [Register; 4]) -> Self {
        let mask = ifma.splat(MASK);
        Self::new(
            ifma,
            [
                ifma.and(a, mask),
                ifma.and(ifma.or(ifma.right::<52>(a), ifma.left::<12>(b)), mask),
                ifma.and(ifma.or(ifma.right::<40>(b), ifma.left::<24>(c)), mask),
                ifma.and(ifma.or(ifma.right::<28>(c), ifma.left::<36>(d)), mask),
                ifma.right::<16>(d),
            ],
        )
    }

    /// The residues that are given by four limbs of 64 bits.
    #[inline(always)]
    pub(crate) fn from_plain(ifma: Ifma, limbs: [Register; 4]) -> Self {
        let square = times_power(Residue::<M>::from_montgomery(M::SQUARE), 8);
        Self::from_limbs(ifma, limbs) * Self::splat(ifma, square)
    }

    /// The residues themselves instead of their products with 2^260.
    #[inline(always)]
    pub(crate) fn plain(self) -> Self {
        self * Self::splat(self.ifma, [1, 0, 0, 0])
    }

    /// The least products with 2^260, by four limbs of 64 bits.
    #[inline(always)]
    pub(crate) fn to_limbs(self) -> [Register; 4] {
        let (ifma, [a, b, c, d, e]) = (self.ifma, self.least().limbs);
        [
            ifma.or(a, ifma.left::<52>(b)),
            ifma.or(ifma.right::<12>(b), ifma.left::<40>(c)),
            ifma.or(ifma.right::<24>(c), ifma.left::<28>(d)),
            ifma.or(ifma.right::<36>(d), ifma.left::<16>(e)),
        ]
    }

    /// The residue of one lane.
    #[inline(always)]
    pub(crate) fn lane(self, lane: usize) -> Residue<M> {
        let [a, b, c, d] = self.to_limbs();
        let of = |limb: Register| pulp::cast::<Register, [u64; LANES]>(limb)[lane];
        let limbs = [of(a), of(b), of(c), of(d)];
        // 2^4 too many: 2^252 takes them out.
        Residue::from_montgomery(Residue::<M>::from_montgomery(limbs).times_limbs([0, 0, 0, 1 << 60]))
    }

    /// The lanes that are 0.
    #[inline(always)]
    pub(crate) fn zeros(self) -> u8 {
        let (ifma, limbs) = (self.ifma, self.least().limbs);
        let mut any = limbs[0];
        for limb in limbs {
            any = ifma.or(any, limb);
        }
        !ifma.foundation._mm512_test_epi64_mask(any, any)
    }

    /// Each lane becomes that whose number differs in the bits of `distance`.
    #[inline(always)]
    pub(crate) fn swap(self, distance: usize) -> Self {
        let mut swapped = self;
        for limb in &mut swapped.limbs {
            *limb = self.ifma.swap(distance, *limb);
        }
        swapped
    }

    /// `self` in the lanes of the mask, `other` in the rest.
    #[inline(always)]
    pub(crate) fn or_else(self, mask: u8, other: Self) -> Self {
        let mut chosen = self;
        for (limb, other) in chosen.limbs.iter_mut().zip(other.limbs) {
            *limb = self.ifma.select(mask, *limb, other);
        }
        chosen
    }

    /// The opposites in the lanes of the mask, of residues that are not above the modulus.
    #[inline(always)]
    pub(crate) fn negate_lanes(self, mask: u8) -> Self {
        let (ifma, mut limbs) = (self.ifma, self.limbs);
        for (limb, modulus) in limbs.iter_mut().zip(M::WIDE) {
            *limb = ifma.foundation._mm512_mask_sub_epi64(*limb, mask, ifma.splat(modulus), *limb);
        }
        Self::new(ifma, carry(ifma, limbs))
    }

    /// The square: each product of two different limbs once, doubled.
    #[inline(always)]
    pub(crate) fn square(self) -> Self {
        let (ifma, value) = (self.ifma, self.limbs);
        let mut sum = [ifma.zero(); 10];
        for left in 0..5 {
            for right in left + 1..5 {
                sum[left + right] = ifma.add_low(sum[left + right], value[left], value[right]);
                sum[left + right + 1] = ifma.add_high(sum[left + right + 1], value[left], value[right]);
            }
        }
        for limb in &mut sum {
            *limb = ifma.add(*limb, *limb);
        }
        for (at, limb) in value.into_iter().enumerate() {
            sum[2 * at] = ifma.add_low(sum[2 * at], limb, limb);
            sum[2 * at + 1] = ifma.add_high(sum[2 * at + 1], limb, limb);
        }
        reduce(ifma, sum)
    }

    /// The least residues.
    #[inline(always)]
    fn least(self) -> Self {
        let (ifma, mut value) = (self.ifma, self);
        for times in [2, 1] {
            let mut less = value.limbs;
            for (limb, modulus) in less.iter_mut().zip(M::WIDE) {
                *limb = ifma.subtract(*limb, ifma.splat(times * modulus));
            }
            let less = carry(ifma, less);
            value = value.or_else(ifma.negative(less[4]), Self::new(ifma, less));
        }
        value
    }
}

impl Wide<Field> {
    /// Twice a product, which is below twice the modulus, SHIFT times over: three times at most.
    #[inline(always)]
    pub(crate) fn doubled<const SHIFT: u32>(self) -> Self {
        let (ifma, mut limbs) = (self.ifma, self.limbs);
        for limb in &mut limbs {
            *limb = ifma.left::<SHIFT>(*limb);
        }
        shrink(ifma, limbs)
    }

    /// Three times the residues.
    #[inline(always)]
    pub(crate) fn tripled(self) -> Self {
        let (ifma, mut limbs) = (self.ifma, self.limbs);
        for limb in &mut limbs {
            *limb = ifma.add(*limb, ifma.left::<1>(*limb));
        }
        shrink(ifma, limbs)
    }

    /// `self` less all of `others`.
    #[inline(always)]
    pub(crate) fn minus<const COUNT: usize>(self, others: [Self; COUNT]) -> Self {
        let (ifma, mut limbs) = (self.ifma, self.limbs);
        for (at, limb) in limbs.iter_mut().enumerate() {
            // Each of the others is below four times the modulus.
            *limb = ifma.add(*limb, ifma.splat(4 * COUNT as u64 * Field::WIDE[at]));
            for other in others {
                *limb = ifma.subtract(*limb, other.limbs[at]);
            }
        }
        shrink(ifma, limbs)
    }
}

impl<M: WideModulus> Mul for Wide<M> {
    type Output = Self;

    // Montgomery's product: below (4 * 4 / 16 + 1) times the modulus.
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let ifma = self.ifma;
        let mut sum = [ifma.zero(); 10];
        for (left, first) in self.limbs.into_iter().enumerate() {
            for (right, second) in other.limbs.into_iter().enumerate() {
                sum[left + right] = ifma.add_low(sum[left + right], first, second);
                sum[left + right + 1] = ifma.add_high(sum[left + right + 1], first, second);
            }
        }
        reduce(ifma, sum)
    }
}

impl Add for Wide<Field> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (ifma, mut limbs) = (self.ifma, self.limbs);
        for (limb, other) in limbs.iter_mut().zip(other.limbs) {
            *limb = ifma.add(*limb, other);
        }
        shrink(ifma, limbs)
    }
}

impl Sub for Wide<Field> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.minus([other])
    }
}

/// `sum / 2^260`.
#[inline(always)]
fn reduce<M: WideModulus>(ifma: Ifma, mut sum: [Register; 10]) -> Wide<M> {
    for at in 0..5 {
        M::clear_limb(ifma, &mut sum, at);
    }
    let [_, _, _, _, _, limbs @ ..] = sum;
    Wide::new(ifma, carry(ifma, limbs))
}

/// Brings limbs, which may have signs, between 0 and 2^52; the highest keeps what is above, and the sign.
#[inline(always)]
fn carry(ifma: Ifma, mut limbs: [Register; 5]) -> [Register; 5] {
    for at in 0..4 {
        limbs[at + 1] = ifma.add(limbs[at + 1], ifma.signed_right::<BITS>(limbs[at]));
        limbs[at] = ifma.and(limbs[at], ifma.splat(MASK));
    }
    limbs
}

/// Takes p out of a value below sixteen times p: once less than the highest bits say, since borrows may come from the lower
/// limbs. What is left is hardly more than twice p.
#[inline(always)]
fn shrink(ifma: Ifma, [a, b, c, d, e]: [Register; 5]) -> Wide<Field> {
    let times = ifma.signed_right::<48>(ifma.subtract(e, ifma.splat(1 << 48)));
    let limbs = [
        ifma.add(a, times),
        ifma.subtract(b, ifma.left::<44>(times)),
        c,
        ifma.subtract(d, ifma.left::<36>(times)),
        ifma.subtract(ifma.add(e, ifma.left::<16>(times)), ifma.left::<48>(times)),
    ];
    Wide::new(ifma, carry(ifma, limbs))
}

/// A residue's product with 2^256 times a power of 2.
fn times_power<M: Modulus>(residue: Residue<M>, power: u32) -> Limbs {
    (0..power).fold(residue, |residue, _| residue.double()).montgomery()
}

const fn split([a, b, c, d]: Limbs) -> [u64; 5] {
    [a & MASK, (a >> 52 | b << 12) & MASK, (b >> 40 | c << 24) & MASK, (c >> 28 | d << 36) & MASK, d >> 16]
}

#[cfg(test)]
mod tests;

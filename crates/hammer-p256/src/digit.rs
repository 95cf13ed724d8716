//! Scalars as digits, each of which has a multiple in a table.

use crate::limbs;
use crate::residue::Modulus;
use crate::scalar::{Order, Scalar};

/// Bits of a digit.
pub(crate) const WIDTH: usize = 10;
/// Multiples in a window: the odd ones below 2^WIDTH.
pub(crate) const WINDOW: usize = 1 << (WIDTH - 1);
/// Digits of a scalar.
pub(crate) const DIGITS: usize = 256usize.div_ceil(WIDTH);

/// Bits of a digit where the multiples are made for one product alone.
pub(crate) const NARROW_WIDTH: usize = 5;
/// As [`WINDOW`] is of [`WIDTH`].
pub(crate) const NARROW_WINDOW: usize = 1 << (NARROW_WIDTH - 1);
/// As [`DIGITS`] is of [`WIDTH`].
pub(crate) const NARROW_DIGITS: usize = 256usize.div_ceil(NARROW_WIDTH);

/// An odd digit between -2^w and 2^w for a width of w: its multiple's place in the window, and the sign in the highest bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digit(u16);

/// A scalar as odd digits, the lowest first. None is 0, so that no multiple is infinity.
pub(crate) type Digits = [Digit; DIGITS];

/// The same by digits of [`NARROW_WIDTH`].
pub(crate) type NarrowDigits = [Digit; NARROW_DIGITS];

impl Digit {
    const NEGATIVE: u16 = 1 << 15;

    #[inline(always)]
    pub(crate) fn is_negative(self) -> bool {
        self.0 & Self::NEGATIVE != 0
    }

    #[inline(always)]
    pub(crate) fn place(self) -> usize {
        usize::from(self.0 & !Self::NEGATIVE)
    }
}

/// The digits of a scalar.
pub(crate) fn digits(scalar: Scalar) -> Digits {
    odd_digits::<WIDTH, DIGITS>(scalar)
}

/// The same by digits of [`NARROW_WIDTH`].
pub(crate) fn narrow_digits(scalar: Scalar) -> NarrowDigits {
    odd_digits::<NARROW_WIDTH, NARROW_DIGITS>(scalar)
}

/// An odd scalar is the sum of `(2 b - (2^W - 1)) 2^(W i)` for the digits b, which are not negative, of half of it and of 2^(W COUNT).
/// An even one is the opposite of an odd one, n - scalar.
fn odd_digits<const W: usize, const COUNT: usize>(scalar: Scalar) -> [Digit; COUNT] {
    let limbs = scalar.to_limbs();
    let is_even = limbs[0] & 1 == 0;
    let [a, b, c, d] = if is_even { limbs::subtract(Order::LIMBS, limbs).0 } else { limbs };
    let mut half = [a >> 1 | b << 63, b >> 1 | c << 63, c >> 1 | d << 63, d >> 1, 0, 0];
    let window = 1 << (W - 1);
    let highest = W * COUNT - 1;
    half[highest / 64] |= 1 << (highest % 64);
    std::array::from_fn(|place| {
        let (at, shift) = (place * W / 64, place * W % 64);
        let bits = (u128::from(half[at + 1]) << 64 | u128::from(half[at])) >> shift;
        let digit = bits as usize & (2 * window - 1);
        let is_negative = digit < window;
        let multiple = if is_negative { window - 1 - digit } else { digit - window };
        Digit(multiple as u16 | if is_negative != is_even { Digit::NEGATIVE } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scalar that digits of that width stand for.
    fn value<const COUNT: usize>(digits: [Digit; COUNT], width: usize) -> Scalar {
        let power = Scalar::from_u64(1 << width);
        digits.iter().rev().fold(Scalar::ZERO, |sum, digit| {
            let multiple = Scalar::from_u64(2 * digit.place() as u64 + 1);
            sum * power + if digit.is_negative() { -multiple } else { multiple }
        })
    }

    #[test]
    fn digits_of_both_widths_stand_for_their_scalar() {
        let near = |steps: u64| -Scalar::from_u64(steps);
        let seeded = std::iter::successors(Some(Scalar::from_u64(7)), |last| {
            Some(*last * Scalar::from_u64(0x1234_5678_9abc_def1) + Scalar::ONE)
        });
        for scalar in (0..70).map(Scalar::from_u64).chain((1..70).map(near)).chain(seeded.take(200)) {
            assert_eq!(value(digits(scalar), WIDTH), scalar);
            assert_eq!(value(narrow_digits(scalar), NARROW_WIDTH), scalar);
        }
    }
}

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

/// An odd digit between -2^WIDTH and 2^WIDTH: its multiple's place in the window, and the sign in the highest bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digit(u16);

/// A scalar as odd digits, the lowest first. None is 0, so that no multiple is infinity.
pub(crate) type Digits = [Digit; DIGITS];

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

/// The digits of a scalar. An odd one is the sum of `(2 b - (2^WIDTH - 1)) 2^(WIDTH i)` for the digits b, which are not
/// negative, of half of it and of 2^(WIDTH DIGITS). An even one is the opposite of an odd one, n - scalar.
pub(crate) fn digits(scalar: Scalar) -> Digits {
    let limbs = scalar.to_limbs();
    let is_even = limbs[0] & 1 == 0;
    let [a, b, c, d] = if is_even { limbs::subtract(Order::LIMBS, limbs).0 } else { limbs };
    let mut half = [a >> 1 | b << 63, b >> 1 | c << 63, c >> 1 | d << 63, d >> 1, 0, 0];
    let highest = WIDTH * DIGITS - 1;
    half[highest / 64] |= 1 << (highest % 64);
    std::array::from_fn(|place| {
        let (at, shift) = (place * WIDTH / 64, place * WIDTH % 64);
        let bits = (u128::from(half[at + 1]) << 64 | u128::from(half[at])) >> shift;
        let digit = bits as usize & (2 * WINDOW - 1);
        let is_negative = digit < WINDOW;
        let multiple = if is_negative { WINDOW - 1 - digit } else { digit - WINDOW };
        Digit(multiple as u16 | if is_negative != is_even { Digit::NEGATIVE } else { 0 })
    })
}

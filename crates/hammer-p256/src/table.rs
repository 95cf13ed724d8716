//! Multiples of a point that is known beforehand, so that a product with it takes additions alone.

use std::fmt;
use std::sync::LazyLock;

use crate::jacobian::Jacobian;
use crate::lanes::Lanes;
use crate::point::Point;
use crate::scalar::Scalar;

/// Bits of a digit. Digits have a sign, so that a window needs half of its multiples: 9 bits take as much memory as 8
/// without a sign.
const WIDTH: usize = 9;
/// Multiples in a window: 1 to 2^(WIDTH - 1).
pub(crate) const WINDOW: usize = 1 << (WIDTH - 1);
/// Digits of a scalar: its 256 bits and the carry of the last one.
pub(crate) const DIGITS: usize = 257usize.div_ceil(WIDTH);

/// A scalar as digits from -2^(WIDTH - 1) to 2^(WIDTH - 1), the lowest first.
pub(crate) type Digits = [i16; DIGITS];

/// For each digit's place all multiples of a point: 29 windows of 256 points, 475,136 bytes.
#[derive(Clone)]
pub struct WindowTable {
    points: Vec<Point>,
}

/// The table of the base point, which all share.
pub fn generator() -> &'static WindowTable {
    static TABLE: LazyLock<WindowTable> = LazyLock::new(|| WindowTable::new(Point::generator()));
    &TABLE
}

impl WindowTable {
    /// Makes the table of `point`: some 7,400 additions, a few milliseconds.
    pub fn new(point: Point) -> Self {
        let (mut points, mut sums, mut lanes) =
            (Vec::with_capacity(DIGITS * WINDOW), Vec::new(), Lanes::new());
        let mut base = point;
        for window in (0..DIGITS).map(|window| window * WINDOW) {
            points.push(base);
            while points.len() < window + WINDOW {
                let last = points[points.len() - 1];
                lanes.add_to_base(last, &points[window..], &mut sums);
                points.extend_from_slice(&sums);
            }
            let last = points[points.len() - 1];
            lanes.add_to_base(last, &[last], &mut sums);
            base = sums[0];
        }
        Self { points }
    }

    /// The product with a scalar.
    pub fn multiply(&self, scalar: Scalar) -> Point {
        self.add_product(Jacobian::INFINITY, &digits(scalar)).to_point()
    }

    /// `sum` and the product with the scalar of these digits.
    pub(crate) fn add_product(&self, sum: Jacobian, digits: &Digits) -> Jacobian {
        let products = digits.iter().enumerate().map(|(place, digit)| self.product(place, *digit));
        products.fold(sum, Jacobian::add)
    }

    /// The product with a digit at a place.
    #[inline]
    pub(crate) fn product(&self, place: usize, digit: i16) -> Point {
        let Some(at) = usize::from(digit.unsigned_abs()).checked_sub(1) else { return Point::INFINITY };
        let point = self.points[place * WINDOW + at];
        if digit < 0 { point.negate() } else { point }
    }

    /// 1, 2, ... 256 times the point.
    pub(crate) fn multiples(&self) -> &[Point] {
        &self.points[..WINDOW]
    }
}

impl fmt::Debug for WindowTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowTable").field("point", &self.points[0]).finish_non_exhaustive()
    }
}

/// The digits of a scalar: what is above 2^(WIDTH - 1) is taken from the next digit.
pub(crate) fn digits(scalar: Scalar) -> Digits {
    let limbs = scalar.to_limbs();
    let limb = |at: usize| limbs.get(at).copied().unwrap_or(0);
    let (mut digits, mut carry) = ([0; DIGITS], 0);
    for (place, digit) in digits.iter_mut().enumerate() {
        let (at, shift) = (place * WIDTH / 64, place * WIDTH % 64);
        let bits = (u128::from(limb(at + 1)) << 64 | u128::from(limb(at))) >> shift;
        let value = (bits as usize & (2 * WINDOW - 1)) + carry;
        carry = usize::from(value > WINDOW);
        *digit = value as i16 - (carry * 2 * WINDOW) as i16;
    }
    digits
}

#[cfg(test)]
mod tests {
    use p256::elliptic_curve::sec1::ToSec1Point;
    use proptest::prelude::*;

    use super::*;

    fn agrees(bytes: &[u8; 32]) {
        let Some(scalar) = Scalar::from_be_bytes(bytes).filter(|scalar| !scalar.is_zero()) else { return };
        let theirs = p256::SecretKey::from_slice(bytes).unwrap().public_key().to_sec1_point(false);
        assert_eq!(generator().multiply(scalar).to_sec1(), theirs.as_bytes());
    }

    proptest! {
        #[test]
        fn products_are_those_of_p256(bytes in any::<[u8; 32]>()) {
            agrees(&bytes);
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn a_table_of_any_point_multiplies_it(factor in 1..u64::MAX, number in 0..u64::MAX) {
            let (factor, number) = (Scalar::from_u64(factor), Scalar::from_u64(number));
            let table = WindowTable::new(generator().multiply(factor));
            prop_assert_eq!(table.multiply(number), generator().multiply(factor * number));
        }
    }

    #[test]
    fn products_at_the_edges_are_those_of_p256() {
        for low in (0..600).chain([u64::MAX, 1 << 63]) {
            let small = Scalar::from_u64(low);
            agrees(&small.to_be_bytes());
            agrees(&(-small).to_be_bytes());
            agrees(&(Scalar::from_u64(2).invert() + small).to_be_bytes());
        }
        assert!(generator().multiply(Scalar::ZERO).is_infinity());
    }
}

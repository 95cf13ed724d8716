//! Multiples of a point that is known beforehand, so that a product with it takes additions alone.

use std::fmt;
use std::sync::LazyLock;

use crate::digit::{DIGITS, Digit, Digits, WIDTH, digits};
use crate::entry::Entry;
use crate::field::FieldElement;
use crate::jacobian::Jacobian;
use crate::lanes::Lanes;
use crate::limbs;
use crate::point::Point;
use crate::scalar::Scalar;
use crate::wide::{self, Ifma, LANES};
use crate::windows::Windows;

/// The odd multiples of a point, for each place of a digit.
#[derive(Clone)]
pub struct WindowTable {
    windows: Windows,
    ifma: Option<Ifma>,
}

/// The table of the base point, which all share.
pub fn generator() -> &'static WindowTable {
    static TABLE: LazyLock<WindowTable> = LazyLock::new(|| WindowTable::new(Point::generator()));
    &TABLE
}

/// The table of the base point without the arithmetic of eight lanes.
pub(crate) fn scalar_generator() -> &'static WindowTable {
    static TABLE: LazyLock<WindowTable> =
        LazyLock::new(|| WindowTable::for_arithmetic(Point::generator(), None));
    &TABLE
}

impl WindowTable {
    /// Makes the table of `point`: some 13,300 additions, a millisecond or two.
    pub fn new(point: Point) -> Self {
        Self::for_arithmetic(point, Ifma::try_new())
    }

    /// The table of `point` for the arithmetic of eight lanes, or for that of one.
    pub(crate) fn for_arithmetic(point: Point, ifma: Option<Ifma>) -> Self {
        let mut makers = Makers { ifma, lanes: Lanes::new(), sums: Vec::new(), walk: wide::Walk::default() };
        let start = Jacobian::INFINITY.add(point);
        let doubled = std::iter::successors(Some(start), |last| Some(last.double()));
        let powers = Jacobian::to_points(&doubled.take(DIGITS * WIDTH).collect::<Vec<_>>());
        let mut windows = Windows::empty();
        for window in powers.chunks(WIDTH) {
            makers.fill(window, windows.entries_mut());
        }
        Self { windows, ifma }
    }

    /// The product with a scalar.
    pub fn multiply(&self, scalar: Scalar) -> Point {
        let digits = digits(scalar);
        let wide = self.ifma.and_then(|ifma| wide::sum(ifma, &self.products(&digits)));
        wide.unwrap_or_else(|| self.add_product(Jacobian::INFINITY, &digits)).to_point()
    }

    /// `sum` and the product with the scalar of these digits.
    pub(crate) fn add_product(&self, sum: Jacobian, digits: &Digits) -> Jacobian {
        let products = digits.iter().enumerate().map(|(place, digit)| self.product(place, *digit));
        products.fold(sum, Jacobian::add)
    }

    /// The multiples whose sum is the product with the scalar of these digits; the opposite where the second is true.
    pub(crate) fn products(&self, digits: &Digits) -> [(&Entry, bool); DIGITS] {
        std::array::from_fn(|place| (self.windows.entry(place, digits[place]), digits[place].is_negative()))
    }

    /// The product with a digit at a place.
    #[inline]
    pub(crate) fn product(&self, place: usize, digit: Digit) -> Point {
        let entry = self.windows.entry(place, digit);
        let point = Point { x: self.coordinate(entry.x()), y: self.coordinate(entry.y()) };
        if digit.is_negative() { point.negate() } else { point }
    }

    /// The multiples as the arithmetic takes them.
    pub(crate) fn windows(&self) -> &Windows {
        &self.windows
    }

    #[inline]
    fn coordinate(&self, limbs: limbs::Limbs) -> FieldElement {
        let coordinate = FieldElement::from_montgomery(limbs);
        if self.ifma.is_none() {
            return coordinate;
        }
        // 2^252 for 2^256 takes 2^4 out.
        FieldElement::from_montgomery(coordinate.times_limbs([0, 0, 0, 1 << 60]))
    }

    /// The arithmetic of eight lanes where the table is made for it.
    pub(crate) fn ifma(&self) -> Option<Ifma> {
        self.ifma
    }
}

/// What makes the windows of a table.
struct Makers {
    ifma: Option<Ifma>,
    lanes: Lanes,
    sums: Vec<Point>,
    walk: wide::Walk,
}

impl Makers {
    /// Adds the window of a point that is given with its doubles: each of them, added to the odd multiples that are there,
    /// makes as many more.
    fn fill(&mut self, doubles: &[Point], entries: &mut Vec<Entry>) {
        let (few, rest) = doubles[1..].split_at(LANES.ilog2() as usize);
        let mut points = vec![doubles[0]];
        self.extend(&mut points, few);
        if let Some(ifma) = self.ifma {
            let first = std::array::from_fn(|at| Entry::of(points[at], true));
            if wide::fill_window(ifma, &first, rest, &mut self.walk, entries) {
                return;
            }
        }
        self.extend(&mut points, rest);
        entries.extend(points.iter().map(|point| Entry::of(*point, self.ifma.is_some())));
    }

    fn extend(&mut self, points: &mut Vec<Point>, doubles: &[Point]) {
        for double in doubles {
            self.lanes.add_to_base(*double, points, &mut self.sums);
            points.extend_from_slice(&self.sums);
        }
    }
}

impl fmt::Debug for WindowTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowTable").field("point", self.windows.first()).finish_non_exhaustive()
    }
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

//! Multiples of a point that is known beforehand, so that a product with it takes additions alone.

use std::fmt;
use std::sync::LazyLock;

use crate::entry::Entry;
use crate::field::FieldElement;
use crate::jacobian::Jacobian;
use crate::lanes::Lanes;
use crate::limbs;
use crate::point::Point;
use crate::residue::Modulus;
use crate::scalar::{Order, Scalar};
use crate::wide::{self, Ifma, LANES};

/// Bits of a digit.
const WIDTH: usize = 10;
/// Multiples in a window: the odd ones below 2^WIDTH.
const WINDOW: usize = 1 << (WIDTH - 1);
/// Digits of a scalar.
pub(crate) const DIGITS: usize = 256usize.div_ceil(WIDTH);

/// An odd digit between -2^WIDTH and 2^WIDTH: its multiple's place in the window, and the sign in the highest bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digit(u16);

/// A scalar as odd digits, the lowest first. None is 0, so that no multiple is infinity.
pub(crate) type Digits = [Digit; DIGITS];

/// For each digit's place the odd multiples of a point: 26 windows of 512 points, 851,968 bytes.
#[derive(Clone)]
pub struct WindowTable {
    /// As the arithmetic takes them that is there: times 2^260 for that of eight lanes.
    entries: Vec<Entry>,
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
        let mut entries = Vec::with_capacity(DIGITS * WINDOW);
        for window in powers.chunks(WIDTH) {
            makers.fill(window, &mut entries);
        }
        Self { entries, ifma }
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
        std::array::from_fn(|place| (self.entry(place, digits[place]), digits[place].is_negative()))
    }

    /// The product with a digit at a place.
    #[inline]
    pub(crate) fn product(&self, place: usize, digit: Digit) -> Point {
        let entry = self.entry(place, digit);
        let point = Point { x: self.coordinate(entry.x()), y: self.coordinate(entry.y()) };
        if digit.is_negative() { point.negate() } else { point }
    }

    /// The product with a digit at a place, but for the sign, as the table has it.
    #[inline(always)]
    pub(crate) fn entry(&self, place: usize, digit: Digit) -> &Entry {
        &self.entries[place * WINDOW + digit.place()]
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
            let first = std::array::from_fn(|at| entry_of(points[at], Some(ifma)));
            if wide::fill_window(ifma, &first, rest, &mut self.walk, entries) {
                return;
            }
        }
        self.extend(&mut points, rest);
        entries.extend(points.iter().map(|point| entry_of(*point, self.ifma)));
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
        f.debug_struct("WindowTable").field("point", &self.entries[0]).finish_non_exhaustive()
    }
}

/// A point as the arithmetic takes it.
pub(crate) fn entry_of(point: Point, ifma: Option<Ifma>) -> Entry {
    let coordinate = |residue: FieldElement| match ifma {
        Some(_) => residue.double().double().double().double().montgomery(),
        None => residue.montgomery(),
    };
    Entry::new(coordinate(point.x), coordinate(point.y))
}

impl Digit {
    const NEGATIVE: u16 = 1 << 15;

    #[inline(always)]
    pub(crate) fn is_negative(self) -> bool {
        self.0 & Self::NEGATIVE != 0
    }

    #[inline(always)]
    fn place(self) -> usize {
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

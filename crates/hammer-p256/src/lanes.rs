//! Many additions of points at once: all lanes share one inversion, so that each costs six multiplications.

use crate::field::FieldElement;
use crate::point::Point;
use crate::residue::invert_all;

/// Memory for the lanes, to be used again.
#[derive(Debug, Clone, Default)]
pub struct Lanes {
    inverses: Vec<FieldElement>,
    products: Vec<FieldElement>,
}

impl Lanes {
    /// Memory that grows with its first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds to each point of `left` the one of `right` at the same place.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn add_each(&mut self, left: &mut [Point], right: &[Point]) {
        assert_eq!(left.len(), right.len());
        self.invert(left.iter().zip(right).map(|(left, right)| denominator(*left, *right)));
        for ((left, right), inverse) in left.iter_mut().zip(right).zip(&self.inverses) {
            *left = add(*left, *right, *inverse);
        }
    }

    /// Writes `base + point` for each of `points`, in their order.
    pub fn add_to_base(&mut self, base: Point, points: &[Point], out: &mut Vec<Point>) {
        self.invert(points.iter().map(|point| denominator(base, *point)));
        out.clear();
        out.extend(points.iter().zip(&self.inverses).map(|(point, inverse)| add(base, *point, *inverse)));
    }

    /// Writes the x coordinate of `base + point` for each of `points`, in their order: one multiplication less each.
    pub(crate) fn x_of_sums(&mut self, base: Point, points: &[Point], out: &mut Vec<FieldElement>) {
        self.invert(points.iter().map(|point| denominator(base, *point)));
        out.clear();
        out.extend(points.iter().zip(&self.inverses).map(|(point, inverse)| add(base, *point, *inverse).x));
    }

    fn invert(&mut self, denominators: impl Iterator<Item = FieldElement>) {
        self.inverses.clear();
        self.inverses.extend(denominators);
        self.products.resize(self.inverses.len(), FieldElement::ONE);
        invert_all(&mut self.inverses, &mut self.products);
    }
}

/// The denominator of the slope: of the secant, of the tangent where the points are equal, 1 where there is none.
#[inline]
fn denominator(left: Point, right: Point) -> FieldElement {
    let secant = right.x - left.x;
    if left.is_infinity() || right.is_infinity() {
        FieldElement::ONE
    } else if !secant.is_zero() {
        secant
    } else if left.y == right.y {
        left.y.double()
    } else {
        FieldElement::ONE
    }
}

#[inline(always)]
fn add(left: Point, right: Point, inverse: FieldElement) -> Point {
    if left.is_infinity() {
        right
    } else if right.is_infinity() {
        left
    } else if left.x != right.x {
        on_line(left, right.x, (right.y - left.y) * inverse)
    } else if left.y == right.y {
        on_line(left, right.x, tangent(left.x) * inverse)
    } else {
        Point::INFINITY
    }
}

/// 3x^2 - 3, the numerator of the tangent's slope.
fn tangent(x: FieldElement) -> FieldElement {
    let less = x.square() - FieldElement::ONE;
    less.double() + less
}

/// The opposite of the third point on the line through `left` and a point at `x`.
#[inline(always)]
fn on_line(left: Point, x: FieldElement, slope: FieldElement) -> Point {
    let third = slope.square() - left.x - x;
    Point { x: third, y: slope * (left.x - third) - left.y }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;
    use crate::table;

    fn times(number: u64) -> Point {
        table::generator().multiply(Scalar::from_u64(number))
    }

    #[test]
    fn equal_opposite_and_infinite_points_are_added_like_all_others() {
        let five = times(5);
        let left = [five, five, five, Point::INFINITY, Point::INFINITY, times(3)];
        let right = [five, five.negate(), Point::INFINITY, five, Point::INFINITY, five];
        let expected = [times(10), Point::INFINITY, five, five, Point::INFINITY, times(8)];
        let mut sums = left;
        Lanes::new().add_each(&mut sums, &right);
        assert_eq!(sums, expected);
        let mut all = Vec::new();
        Lanes::new().add_to_base(five, &[five, five.negate(), Point::INFINITY, times(2)], &mut all);
        assert_eq!(all, [times(10), Point::INFINITY, five, times(7)]);
        Lanes::new().add_to_base(Point::INFINITY, &[five, Point::INFINITY], &mut all);
        assert_eq!(all, [five, Point::INFINITY]);
        let (points, mut xs) = ([five, five.negate(), Point::INFINITY, times(2)], Vec::new());
        Lanes::new().x_of_sums(five, &points, &mut xs);
        assert_eq!(xs, [times(10).x, Point::INFINITY.x, five.x, times(7).x]);
    }

    #[test]
    fn no_lanes_are_no_error() {
        Lanes::new().add_each(&mut [], &[]);
    }
}

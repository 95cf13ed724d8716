//! A point in Jacobian coordinates, for sums of few points where an inversion for each would cost more.

use crate::field::FieldElement;
use crate::point::Point;
use crate::residue::invert_all;

/// (X / Z^2, Y / Z^3); infinity where Z is 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jacobian {
    pub(crate) x: FieldElement,
    pub(crate) y: FieldElement,
    pub(crate) z: FieldElement,
}

impl Jacobian {
    pub(crate) const INFINITY: Self =
        Self { x: FieldElement::ONE, y: FieldElement::ONE, z: FieldElement::ZERO };

    /// The sum with a point given by its coordinates: 8 multiplications and 3 squares.
    #[inline]
    pub(crate) fn add(self, other: Point) -> Self {
        if other.is_infinity() {
            return self;
        }
        if self.z.is_zero() {
            return Self { x: other.x, y: other.y, z: FieldElement::ONE };
        }
        let square = self.z.square();
        let run = other.x * square - self.x;
        let rise = other.y * (square * self.z) - self.y;
        if run.is_zero() {
            return if rise.is_zero() { self.double() } else { Self::INFINITY };
        }
        let run_squared = run.square();
        let run_cubed = run_squared * run;
        let across = self.x * run_squared;
        let x = rise.square() - run_cubed - across.double();
        Self { x, y: rise * (across - x) - self.y * run_cubed, z: self.z * run }
    }

    /// Twice the point: dbl-2001-b of the Explicit-Formulas Database, for a = -3.
    pub(crate) fn double(self) -> Self {
        let (delta, gamma) = (self.z.square(), self.y.square());
        let beta = self.x * gamma;
        let product = (self.x - delta) * (self.x + delta);
        let alpha = product.double() + product;
        let four_beta = beta.double().double();
        let x = alpha.square() - four_beta.double();
        let z = (self.y + self.z).square() - gamma - delta;
        let y = alpha * (four_beta - x) - gamma.square().double().double().double();
        Self { x, y, z }
    }

    /// The point by its coordinates: one inversion.
    pub(crate) fn to_point(self) -> Point {
        self.divided(self.z.invert())
    }

    /// The points by their coordinates, none of which may be infinity: one inversion for all.
    pub(crate) fn to_points(all: &[Self]) -> Vec<Point> {
        let mut inverses: Vec<_> = all.iter().map(|one| one.z).collect();
        invert_all(&mut inverses, &mut vec![FieldElement::ONE; all.len()]);
        all.iter().zip(inverses).map(|(one, inverse)| one.divided(inverse)).collect()
    }

    fn divided(self, inverse: FieldElement) -> Point {
        let square = inverse.square();
        Point { x: self.x * square, y: self.y * square * inverse }
    }

    /// Whether its x is one of `candidates`, without an inversion. Infinity has no x.
    pub(crate) fn has_x(self, candidates: impl IntoIterator<Item = FieldElement>) -> bool {
        let square = self.z.square();
        !self.z.is_zero() && candidates.into_iter().any(|candidate| candidate * square == self.x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_opposite_and_infinite_points_are_added_like_all_others() {
        let point = Point::generator();
        let twice = Jacobian::INFINITY.add(point).add(point);
        let thrice = twice.add(point);
        assert_eq!(thrice.add(point.negate()).to_point(), twice.to_point());
        // The same point with another Z is recognised.
        assert_eq!(
            thrice.add(thrice.to_point()).to_point(),
            twice.add(twice.add(point).to_point()).add(point).to_point()
        );
        assert!(twice.add(twice.to_point().negate()).to_point().is_infinity());
        assert_eq!(twice.add(Point::INFINITY).to_point(), twice.to_point());
        assert!(!Jacobian::INFINITY.has_x([FieldElement::ONE, FieldElement::ZERO]));
        assert!(twice.has_x([FieldElement::ONE, twice.to_point().x]));
    }
}

//! The points and the inverses of a block's scalars, eight at a time where the processor can.

use std::sync::LazyLock;

use crate::entry::Entry;
use crate::field::FieldElement;
use crate::lanes::Lanes;
use crate::point::Point;
use crate::residue::invert_all;
use crate::scalar::Scalar;
use crate::table;
use crate::wide::{self, Ifma};

/// Numbers in a block.
pub(crate) const BLOCK: usize = 256;

/// The scalars of a block, and what their points are made from.
pub(crate) struct BlockSteps<'a> {
    /// One stride before the first.
    pub(crate) before: Scalar,
    pub(crate) stride: Scalar,
    pub(crate) multiples: &'a StrideMultiples,
}

/// 1, 2, ... 256 times the base point's product with a stride.
#[derive(Debug)]
pub(crate) struct StrideMultiples {
    points: Vec<Point>,
    wide: Option<wide::WideMultiples>,
}

/// Memory in which blocks are made.
#[derive(Debug, Default)]
pub(crate) struct BlockScratch {
    /// The coordinates themselves.
    pub(crate) points: Vec<Entry>,
    pub(crate) inverses: Vec<Scalar>,
    products: Vec<Scalar>,
    sums: Vec<Point>,
    xs: Vec<FieldElement>,
    lanes: Lanes,
    walk: wide::Walk,
    wide_inverses: wide::Inverses,
}

impl StrideMultiples {
    /// Those of the base point itself, which all share.
    pub(crate) fn of_one() -> &'static Self {
        static MULTIPLES: LazyLock<StrideMultiples> = LazyLock::new(|| StrideMultiples::of(Scalar::ONE));
        &MULTIPLES
    }

    /// Those of a stride.
    pub(crate) fn of(stride: Scalar) -> Self {
        Self::for_arithmetic(stride, Ifma::try_new())
    }

    fn for_arithmetic(stride: Scalar, ifma: Option<Ifma>) -> Self {
        let (mut lanes, mut sums) = (Lanes::new(), Vec::new());
        let mut points = vec![table::generator().multiply(stride)];
        while points.len() < BLOCK {
            lanes.add_to_base(points[points.len() - 1], &points, &mut sums);
            points.extend_from_slice(&sums);
        }
        let wide = ifma.map(|ifma| wide::WideMultiples::new(ifma, &points));
        Self { points, wide }
    }
}

impl BlockSteps<'_> {
    /// The scalars, in their order.
    pub(crate) fn scalars(&self) -> impl Iterator<Item = Scalar> {
        std::iter::successors(Some(self.before + self.stride), |last| Some(*last + self.stride)).take(BLOCK)
    }

    fn base(&self) -> Point {
        table::generator().multiply(self.before)
    }
}

impl BlockScratch {
    /// Replaces `points` by the points of a block.
    pub(crate) fn walk(&mut self, steps: &BlockSteps<'_>) {
        let (base, multiples) = (steps.base(), steps.multiples);
        let add = |wide: &wide::WideMultiples| wide.add_to::<true>(base, &mut self.walk, &mut self.points);
        if !multiples.wide.as_ref().is_some_and(add) {
            self.lanes.add_to_base(base, &multiples.points, &mut self.sums);
            self.points.clear();
            self.points.extend(self.sums.iter().map(|sum| Entry::new(sum.x.to_limbs(), sum.y.to_limbs())));
        }
    }

    /// Replaces `points` by the points of a block, of which only x is right.
    pub(crate) fn walk_xs(&mut self, steps: &BlockSteps<'_>) {
        let (base, multiples) = (steps.base(), steps.multiples);
        let add = |wide: &wide::WideMultiples| wide.add_to::<false>(base, &mut self.walk, &mut self.points);
        if !multiples.wide.as_ref().is_some_and(add) {
            self.lanes.x_of_sums(base, &multiples.points, &mut self.xs);
            self.points.clear();
            self.points.extend(self.xs.iter().map(|x| Entry::new(x.to_limbs(), [0; 4])));
        }
    }

    /// Replaces `inverses` by those of the scalars of a block, none of which may be 0.
    pub(crate) fn invert(&mut self, steps: &BlockSteps<'_>) {
        self.inverses.clear();
        self.inverses.extend(steps.scalars());
        let ifma = steps.multiples.wide.as_ref().and_then(|_| Ifma::try_new());
        if !ifma.is_some_and(|ifma| self.wide_inverses.invert(ifma, &mut self.inverses)) {
            self.products.resize(BLOCK, Scalar::ONE);
            invert_all(&mut self.inverses, &mut self.products);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(steps: &BlockSteps<'_>) -> (Vec<Entry>, Vec<Entry>, Vec<Scalar>) {
        let mut scratch = BlockScratch::default();
        scratch.walk_xs(steps);
        let xs = scratch.points.clone();
        scratch.walk(steps);
        scratch.invert(steps);
        (xs, scratch.points, scratch.inverses)
    }

    #[test]
    fn eight_lanes_and_one_make_the_same_blocks() {
        for stride in [1, 3, u64::MAX] {
            let stride = Scalar::from_u64(stride);
            let (wide, scalar) = (StrideMultiples::of(stride), StrideMultiples::for_arithmetic(stride, None));
            for before in
                [Scalar::from_limbs([1, 2, 3, 4]), Scalar::from_u64(2).invert(), -Scalar::from_u64(601)]
            {
                let of = |multiples| made(&BlockSteps { before, stride, multiples });
                let ((xs, points, inverses), expected) = (of(&wide), of(&scalar));
                assert_eq!((&points, &inverses), (&expected.1, &expected.2));
                let x = |entries: &[Entry]| entries.iter().map(Entry::x).collect::<Vec<_>>();
                assert_eq!(x(&xs), x(&expected.0));
                assert_eq!(x(&xs), x(&points));
                let steps = BlockSteps { before, stride, multiples: &wide };
                for ((scalar, entry), inverse) in steps.scalars().zip(&points).zip(&inverses) {
                    let point = table::generator().multiply(scalar);
                    assert_eq!(*entry, Entry::new(point.x.to_limbs(), point.y.to_limbs()));
                    assert_eq!(*inverse, scalar.invert());
                }
            }
        }
    }

    /// The base is among the multiples, and so one addition doubles.
    #[test]
    fn a_walk_that_meets_its_own_multiples_is_right() {
        for before in [Scalar::from_u64(7), Scalar::ZERO] {
            let steps = BlockSteps { before, stride: Scalar::ONE, multiples: StrideMultiples::of_one() };
            let (xs, points, _) = made(&steps);
            for (at, scalar) in steps.scalars().enumerate() {
                let point = table::generator().multiply(scalar);
                assert_eq!(points[at], Entry::new(point.x.to_limbs(), point.y.to_limbs()));
                assert_eq!(xs[at].x(), point.x.to_limbs());
            }
        }
    }
}

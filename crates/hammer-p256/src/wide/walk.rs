//! Sums of one base with many points.

use super::element::Wide;
use super::ifma::{Ifma, LANES};
use super::inversion::invert;
use super::point::WidePoint;
use crate::entry::Entry;
use crate::field::Field;
use crate::point::Point;

/// Points that are added to one base after another.
#[derive(Debug)]
pub(crate) struct WideMultiples {
    ifma: Ifma,
    points: Vec<WidePoint>,
}

/// Memory for the sums, to be used again.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    runs: Vec<Wide<Field>>,
    /// For each run the product of those before it.
    before: Vec<Wide<Field>>,
}

impl WideMultiples {
    /// Of points none of which is infinity, a multiple of eight in number.
    pub(crate) fn new(ifma: Ifma, points: &[Point]) -> Self {
        let entries: Vec<_> = points.iter().map(|point| Entry::of(*point, true)).collect();
        Self { ifma, points: ifma.vectorize(Load { ifma, entries: &entries }) }
    }

    /// Writes the coordinates of `base + point` for each of the points, in their order; zeros instead of y unless it is
    /// asked for. False, and nothing of use written, where equal or opposite points meet, or the base is infinity.
    pub(crate) fn add_to<const WITH_Y: bool>(
        &self,
        base: Point,
        walk: &mut Walk,
        sums: &mut Vec<Entry>,
    ) -> bool {
        let ifma = self.ifma;
        !base.is_infinity()
            && ifma.vectorize(Add::<WITH_Y> { ifma, points: &self.points, base, walk, sums }).is_some()
    }
}

struct Load<'a> {
    ifma: Ifma,
    entries: &'a [Entry],
}

impl pulp::NullaryFnOnce for Load<'_> {
    type Output = Vec<WidePoint>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let (eights, rest) = self.entries.as_chunks::<LANES>();
        assert!(rest.is_empty());
        let mut points = Vec::with_capacity(eights.len());
        for eight in eights {
            points.push(WidePoint::load(self.ifma, eight.each_ref(), 0));
        }
        points
    }
}

struct Add<'a, const WITH_Y: bool> {
    ifma: Ifma,
    points: &'a [WidePoint],
    base: Point,
    walk: &'a mut Walk,
    sums: &'a mut Vec<Entry>,
}

impl<const WITH_Y: bool> pulp::NullaryFnOnce for Add<'_, WITH_Y> {
    type Output = Option<()>;

    #[inline(always)]
    fn call(self) -> Option<()> {
        let Self { ifma, points, base, walk, sums } = self;
        let base = WidePoint::splat(ifma, base);
        let mut inverse = walk.invert_runs(ifma, points, base)?;
        sums.resize(points.len() * LANES, Entry { limbs: [0; 8] });
        let (eights, _) = sums.as_chunks_mut::<LANES>();
        let parts = points.iter().zip(&walk.runs).zip(&walk.before).zip(eights);
        for (((point, run), before), eight) in parts.rev() {
            let slope = (point.y - base.y) * (inverse * *before);
            inverse = inverse * *run;
            *eight = if WITH_Y {
                point.on_line(base, slope).coordinates(ifma)
            } else {
                WidePoint::abscissas(ifma, slope.square().minus([base.x, point.x]))
            };
        }
        Some(())
    }
}

impl Walk {
    /// Writes the sums of the base with each of the points behind them, and says whether no points met.
    #[inline(always)]
    pub(super) fn double_by(&mut self, ifma: Ifma, points: &mut Vec<WidePoint>, base: Point) -> Option<()> {
        let base = WidePoint::splat(ifma, base);
        let mut inverse = self.invert_runs(ifma, points, base)?;
        let count = points.len();
        points.extend_from_within(..);
        let (points, sums) = points.split_at_mut(count);
        let parts = points.iter().zip(&self.runs).zip(&self.before).zip(sums);
        for (((point, run), before), sum) in parts.rev() {
            let slope = (point.y - base.y) * (inverse * *before);
            inverse = inverse * *run;
            *sum = point.on_line(base, slope);
        }
        Some(())
    }

    /// The inverse of the product of all runs from the base to the points; none where one is 0.
    #[inline(always)]
    fn invert_runs(&mut self, ifma: Ifma, points: &[WidePoint], base: WidePoint) -> Option<Wide<Field>> {
        self.runs.clear();
        self.before.clear();
        let mut product = Wide::one(ifma);
        for point in points {
            let run = point.x - base.x;
            self.runs.push(run);
            self.before.push(product);
            product = product * run;
        }
        invert(product)
    }
}

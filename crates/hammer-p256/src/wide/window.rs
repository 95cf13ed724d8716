//! The multiples of a table's window.

use super::ifma::{Ifma, LANES};
use super::point::WidePoint;
use super::walk::Walk;
use crate::entry::Entry;
use crate::point::Point;

/// Writes eight points and, for each of the steps in turn, the sums of it with all that are there, as a table has them.
/// False, and nothing written, where equal or opposite points meet.
pub(crate) fn fill_window(
    ifma: Ifma,
    first: &[Entry; LANES],
    steps: &[Point],
    walk: &mut Walk,
    out: &mut Vec<Entry>,
) -> bool {
    ifma.vectorize(Fill { ifma, first, steps, walk, out }).is_some()
}

struct Fill<'a> {
    ifma: Ifma,
    first: &'a [Entry; LANES],
    steps: &'a [Point],
    walk: &'a mut Walk,
    out: &'a mut Vec<Entry>,
}

impl pulp::NullaryFnOnce for Fill<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn call(self) -> Option<()> {
        let Self { ifma, first, steps, walk, out } = self;
        let mut points = Vec::with_capacity(1 << steps.len());
        points.push(WidePoint::load(ifma, first.each_ref(), 0));
        for step in steps {
            walk.double_by(ifma, &mut points, *step)?;
        }
        for point in points {
            out.extend_from_slice(&point.store(ifma));
        }
        Some(())
    }
}

//! Eight points abreast.

use super::element::Wide;
use super::ifma::{Ifma, LANES, Register};
use crate::entry::Entry;
use crate::field::Field;
use crate::point::Point;

/// Eight points, none of them infinity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WidePoint {
    pub(crate) x: Wide<Field>,
    pub(crate) y: Wide<Field>,
}

impl WidePoint {
    /// The points of eight entries, and the opposites in the lanes of `negated`.
    #[inline(always)]
    pub(crate) fn load(ifma: Ifma, entries: [&Entry; LANES], negated: u8) -> Self {
        let mut limbs = [ifma.zero(); LANES];
        for (row, entry) in limbs.iter_mut().zip(entries) {
            *row = pulp::cast(entry.limbs);
        }
        let [a, b, c, d, e, f, g, h] = ifma.transpose(limbs);
        let y = Wide::from_limbs(ifma, [e, f, g, h]).negate_lanes(negated);
        Self { x: Wide::from_limbs(ifma, [a, b, c, d]), y }
    }

    /// Eight times a point.
    #[inline(always)]
    pub(crate) fn splat(ifma: Ifma, point: Point) -> Self {
        Self { x: Wide::splat_residue(ifma, point.x), y: Wide::splat_residue(ifma, point.y) }
    }

    /// The sums with others, on lines of these slopes through both.
    #[inline(always)]
    pub(crate) fn on_line(self, other: Self, slope: Wide<Field>) -> Self {
        let x = slope.square().minus([self.x, other.x]);
        Self { x, y: slope * (self.x - x) - self.y }
    }

    /// The eight entries.
    #[inline(always)]
    pub(crate) fn store(self, ifma: Ifma) -> [Entry; LANES] {
        entries(ifma, self.x.to_limbs(), self.y.to_limbs())
    }

    /// The coordinates themselves.
    #[inline(always)]
    pub(crate) fn coordinates(self, ifma: Ifma) -> [Entry; LANES] {
        entries(ifma, self.x.plain().to_limbs(), self.y.plain().to_limbs())
    }

    /// The coordinates themselves of points whose x alone is known, with zeros for y.
    #[inline(always)]
    pub(crate) fn abscissas(ifma: Ifma, x: Wide<Field>) -> [Entry; LANES] {
        entries(ifma, x.plain().to_limbs(), [ifma.zero(); 4])
    }
}

#[inline(always)]
fn entries(ifma: Ifma, [a, b, c, d]: [Register; 4], [e, f, g, h]: [Register; 4]) -> [Entry; LANES] {
    let mut entries = [Entry { limbs: [0; 8] }; LANES];
    for (entry, limbs) in entries.iter_mut().zip(ifma.transpose([a, b, c, d, e, f, g, h])) {
        entry.limbs = pulp::cast::<Register, [u64; LANES]>(limbs);
    }
    entries
}

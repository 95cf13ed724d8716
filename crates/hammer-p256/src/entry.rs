//! Two coordinates in a line of the processor's cache.

use crate::field::FieldElement;
use crate::limbs::Limbs;
use crate::point::Point;

/// x and y by four limbs each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Entry {
    pub(crate) limbs: [u64; 8],
}

impl Entry {
    #[inline]
    pub(crate) fn new([a, b, c, d]: Limbs, [e, f, g, h]: Limbs) -> Self {
        Self { limbs: [a, b, c, d, e, f, g, h] }
    }

    /// A point as the arithmetic takes it: that of eight lanes times 2^260, or that of one.
    pub(crate) fn of(point: Point, is_wide: bool) -> Self {
        let coordinate = |residue: FieldElement| match is_wide {
            true => residue.double().double().double().double().montgomery(),
            false => residue.montgomery(),
        };
        Self::new(coordinate(point.x), coordinate(point.y))
    }

    #[inline]
    pub(crate) fn x(&self) -> Limbs {
        let [limbs @ .., _, _, _, _] = self.limbs;
        limbs
    }

    #[inline]
    pub(crate) fn y(&self) -> Limbs {
        let [_, _, _, _, limbs @ ..] = self.limbs;
        limbs
    }
}

//! The sum of a few dozen points in Jacobian coordinates, without inversions: each lane adds an eighth of them.

use super::element::Wide;
use super::ifma::{Ifma, LANES};
use super::point::WidePoint;
use crate::entry::Entry;
use crate::field::Field;
use crate::jacobian::Jacobian;

/// The sum of points, or of the opposites where the second is true: at least eight of them. None where it is infinity or
/// some of them meet on the way.
pub(crate) fn sum(ifma: Ifma, points: &[(&Entry, bool)]) -> Option<Jacobian> {
    ifma.vectorize(Sum { ifma, points })
}

struct Sum<'a> {
    ifma: Ifma,
    points: &'a [(&'a Entry, bool)],
}

/// (X / Z^2, Y / Z^3). Where equal or opposite points meet Z becomes 0, and stays so.
#[derive(Clone, Copy)]
pub(super) struct WideJacobian {
    pub(super) x: Wide<Field>,
    pub(super) y: Wide<Field>,
    pub(super) z: Wide<Field>,
}

impl pulp::NullaryFnOnce for Sum<'_> {
    type Output = Option<Jacobian>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { ifma, points } = self;
        let (first, rest) = points.split_at(LANES);
        let WidePoint { x, y } = load(ifma, first, first[0]).0;
        let mut sum = WideJacobian { x, y, z: Wide::one(ifma) };
        for some in rest.chunks(LANES) {
            let (point, lanes) = load(ifma, some, first[0]);
            sum = sum.add_point(point).or_else(lanes, sum);
        }
        for distance in [1, 2, 4] {
            sum = sum.add(sum.swap(distance));
        }
        let (x, y, z) = (sum.x.lane(0), sum.y.lane(0), sum.z.lane(0));
        (!z.is_zero()).then_some(Jacobian { x, y, z })
    }
}

/// Up to eight points, and the lanes that they fill.
#[inline(always)]
fn load(ifma: Ifma, points: &[(&Entry, bool)], filler: (&Entry, bool)) -> (WidePoint, u8) {
    let (mut entries, mut negated) = ([filler.0; LANES], 0);
    for (lane, (entry, is_negated)) in points.iter().enumerate() {
        entries[lane] = entry;
        negated |= u8::from(*is_negated) << lane;
    }
    (WidePoint::load(ifma, entries, negated), (0xff_u16 >> (LANES - points.len())) as u8)
}

impl WideJacobian {
    /// The sums with points given by their coordinates.
    #[inline(always)]
    pub(super) fn add_point(self, other: WidePoint) -> Self {
        let square = self.z.square();
        let run = other.x * square - self.x;
        let rise = other.y * (square * self.z) - self.y;
        self.on_line((self.x, self.y), run, rise, self.z)
    }

    /// Twice the points: as in one lane, dbl-2001-b, but for Z.
    #[inline(always)]
    pub(super) fn double(self) -> Self {
        let (delta, gamma) = (self.z.square(), self.y.square());
        let four_beta = (self.x * gamma).doubled::<2>();
        let alpha = ((self.x - delta) * (self.x + delta)).tripled();
        let x = alpha.square().minus([four_beta, four_beta]);
        let y = alpha * (four_beta - x) - gamma.square().doubled::<3>();
        Self { x, y, z: (self.y * self.z).doubled::<1>() }
    }

    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        let (square, others) = (self.z.square(), other.z.square());
        let (x, y) = (self.x * others, self.y * (others * other.z));
        let run = other.x * square - x;
        let rise = other.y * (square * self.z) - y;
        self.on_line((x, y), run, rise, self.z * other.z)
    }

    /// The sums where the coordinates of one have been brought to the denominator `z` of both.
    #[inline(always)]
    fn on_line(
        self,
        (x, y): (Wide<Field>, Wide<Field>),
        run: Wide<Field>,
        rise: Wide<Field>,
        z: Wide<Field>,
    ) -> Self {
        let run_squared = run.square();
        let run_cubed = run_squared * run;
        let across = x * run_squared;
        let third = rise.square().minus([run_cubed, across, across]);
        Self { x: third, y: rise * (across - third) - y * run_cubed, z: z * run }
    }

    #[inline(always)]
    fn swap(self, distance: usize) -> Self {
        Self { x: self.x.swap(distance), y: self.y.swap(distance), z: self.z.swap(distance) }
    }

    #[inline(always)]
    fn or_else(self, mask: u8, other: Self) -> Self {
        Self {
            x: self.x.or_else(mask, other.x),
            y: self.y.or_else(mask, other.y),
            z: self.z.or_else(mask, other.z),
        }
    }
}

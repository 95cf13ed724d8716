//! Sums of products of the base point and of keys that are met once, eight abreast: a key for each lane.

use super::element::Wide;
use super::ifma::{Ifma, LANES};
use super::inversion::invert;
use super::jacobian::WideJacobian;
use super::pairs;
use super::point::WidePoint;
use crate::digit::{Digits, NARROW_DIGITS, NARROW_WIDTH, NARROW_WINDOW, NarrowDigits};
use crate::entry::Entry;
use crate::limbs::Limbs;
use crate::windows::Windows;

/// What one lane adds up, and holds against a coordinate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnceSum {
    /// As eight lanes take it.
    pub(crate) key: Entry,
    /// The factor of the key.
    pub(crate) of_key: NarrowDigits,
    /// The factor of the base point.
    pub(crate) of_base: Digits,
    /// The x that the sum should have, below the order.
    pub(crate) r: Limbs,
}

/// What was found of up to eight sums, a bit each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnceVerdicts {
    /// The sum has the x.
    pub(crate) holds: u8,
    /// Points met on the way, or the sum is infinity: nothing is known of the lane.
    pub(crate) met: u8,
}

/// Adds up one to eight sums; `base` is the table of the base point.
pub(crate) fn have_x_once(ifma: Ifma, sums: &[OnceSum], base: &Windows) -> OnceVerdicts {
    ifma.vectorize(HaveXOnce { ifma, sums, base })
}

struct HaveXOnce<'a> {
    ifma: Ifma,
    sums: &'a [OnceSum],
    base: &'a Windows,
}

/// The odd multiples of eight points, as a table has them.
type Multiples = [[Entry; LANES]; NARROW_WINDOW];

impl pulp::NullaryFnOnce for HaveXOnce<'_> {
    type Output = OnceVerdicts;

    #[inline(always)]
    fn call(self) -> OnceVerdicts {
        let Self { ifma, sums, base } = self;
        let mut multiples = [[Entry { limbs: [0; 8] }; LANES]; NARROW_WINDOW];
        if fill(ifma, sums, &mut multiples).is_none() {
            return OnceVerdicts { holds: 0, met: 0xff };
        }
        // The multiples of the keys by Horner's rule: no digit is 0, so that the first is a point.
        let WidePoint { x, y } = product(ifma, sums, &multiples, NARROW_DIGITS - 1);
        let mut sum = WideJacobian { x, y, z: Wide::one(ifma) };
        for place in (0..NARROW_DIGITS - 1).rev() {
            for _ in 0..NARROW_WIDTH {
                sum = sum.double();
            }
            sum = sum.add_point(product(ifma, sums, &multiples, place));
        }
        for place in 0..crate::digit::DIGITS {
            let mut entries = [base.entry(place, sums[0].of_base[place]); LANES];
            let mut negated = 0;
            for (lane, entry) in entries.iter_mut().enumerate() {
                // Where there are no eight the first fills up.
                let digit = sums.get(lane).unwrap_or(&sums[0]).of_base[place];
                *entry = base.entry(place, digit);
                negated |= u8::from(digit.is_negative()) << lane;
            }
            sum = sum.add_point(WidePoint::load(ifma, entries, negated));
        }
        let mut rs = [[0; 4]; LANES];
        for (r, sum) in rs.iter_mut().zip(sums) {
            *r = sum.r;
        }
        let expected = pairs::load(ifma, &rs) * sum.z.square();
        OnceVerdicts { holds: (sum.x - expected).zeros(), met: sum.z.zeros() }
    }
}

/// The multiples of the keys that one place of their factors asks for.
#[inline(always)]
fn product(ifma: Ifma, sums: &[OnceSum], multiples: &Multiples, place: usize) -> WidePoint {
    let mut entries = [&multiples[0][0]; LANES];
    let mut negated = 0;
    for (lane, entry) in entries.iter_mut().enumerate() {
        let digit = sums.get(lane).unwrap_or(&sums[0]).of_key[place];
        *entry = &multiples[digit.place()][lane];
        negated |= u8::from(digit.is_negative()) << lane;
    }
    WidePoint::load(ifma, entries, negated)
}

/// Writes the odd multiples of the keys; none where points met.
#[inline(always)]
fn fill(ifma: Ifma, sums: &[OnceSum], multiples: &mut Multiples) -> Option<()> {
    let mut keys = [&sums[0].key; LANES];
    for (key, sum) in keys.iter_mut().zip(sums) {
        *key = &sum.key;
    }
    let first = WidePoint::load(ifma, keys, 0);
    let one = WideJacobian { x: first.x, y: first.y, z: Wide::one(ifma) };
    let twice = one.double();
    let mut points = [one; NARROW_WINDOW];
    // Products of all z before each, so that one inversion serves all.
    let mut before = [one.z; NARROW_WINDOW];
    points[1] = twice.add_point(first);
    for at in 2..NARROW_WINDOW {
        points[at] = points[at - 1].add(twice);
        before[at] = before[at - 1] * points[at - 1].z;
    }
    let mut inverse = invert(before[NARROW_WINDOW - 1] * points[NARROW_WINDOW - 1].z)?;
    for at in (1..NARROW_WINDOW).rev() {
        let WideJacobian { x, y, z } = points[at];
        let over_z = inverse * before[at];
        inverse = inverse * z;
        let square = over_z.square();
        multiples[at] = WidePoint { x: x * square, y: y * (square * over_z) }.store(ifma);
    }
    multiples[0] = first.store(ifma);
    Some(())
}

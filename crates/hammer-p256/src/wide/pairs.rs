//! The sums of many signatures' points: eight signatures abreast, row by row, as many inversions as a row can be halved.

use super::element::Wide;
use super::ifma::{Ifma, LANES};
use super::inversion::invert;
use super::point::WidePoint;
use crate::digit::{DIGITS, Digits};
use crate::field::Field;
use crate::limbs::Limbs;
use crate::windows::Windows;

/// Memory for the sums, to be used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairs {
    /// Row by row, and in each row one for every eight signatures.
    points: Vec<WidePoint>,
    runs: Vec<Wide<Field>>,
    /// For each run the product of those before it.
    before: Vec<Wide<Field>>,
}

/// Signatures whose sums are asked for: for each its factors of both tables' points, and r.
#[derive(Clone, Copy)]
pub(crate) struct Sums<'a> {
    pub(crate) tables: [&'a Windows; 2],
    pub(crate) factors: &'a [[Digits; 2]],
    pub(crate) rs: &'a [Limbs],
}

impl Pairs {
    /// Writes for each signature whether r itself is the x of its sum. False, and nothing written, where equal or opposite
    /// points meet on the way.
    pub(crate) fn have_x(&mut self, ifma: Ifma, sums: Sums<'_>, verdicts: &mut Vec<bool>) -> bool {
        verdicts.clear();
        ifma.vectorize(HaveX { ifma, pairs: self, sums, verdicts }).is_some()
    }

    #[inline(always)]
    fn look_up(&mut self, ifma: Ifma, sums: Sums<'_>) {
        self.points.clear();
        for place in 0..DIGITS {
            for (factor, table) in sums.tables.into_iter().enumerate() {
                for some in sums.factors.chunks(LANES) {
                    let mut entries = [table.entry(place, some[0][factor][place]); LANES];
                    let mut negated = 0;
                    for (lane, entry) in entries.iter_mut().enumerate() {
                        // Where there are no eight the first fills up.
                        let digit = some.get(lane).unwrap_or(&some[0])[factor][place];
                        *entry = table.entry(place, digit);
                        negated |= u8::from(digit.is_negative()) << lane;
                    }
                    self.points.push(WidePoint::load(ifma, entries, negated));
                }
            }
        }
    }

    /// Adds the points after the first `upper` to the first ones.
    #[inline(always)]
    fn add(&mut self, ifma: Ifma, upper: usize) -> Option<()> {
        let (left, right) = self.points.split_at_mut(upper);
        self.runs.clear();
        self.before.clear();
        let mut product = Wide::one(ifma);
        for (left, right) in left.iter().zip(right.iter()) {
            let run = right.x - left.x;
            self.runs.push(run);
            self.before.push(product);
            product = product * run;
        }
        let mut inverse = invert(product)?;
        let inverted = self.runs.iter().zip(&self.before).rev();
        let count = right.len();
        for ((left, right), (run, before)) in left[..count].iter_mut().zip(right.iter()).rev().zip(inverted) {
            let slope = (right.y - left.y) * (inverse * *before);
            inverse = inverse * *run;
            *left = left.on_line(*right, slope);
        }
        self.points.truncate(upper);
        Some(())
    }
}

struct HaveX<'a> {
    ifma: Ifma,
    pairs: &'a mut Pairs,
    sums: Sums<'a>,
    verdicts: &'a mut Vec<bool>,
}

impl pulp::NullaryFnOnce for HaveX<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn call(self) -> Option<()> {
        let Self { ifma, pairs, sums, verdicts } = self;
        let columns = sums.rs.len().div_ceil(LANES);
        pairs.look_up(ifma, sums);
        let mut rows = 2 * DIGITS;
        while rows > 2 {
            rows = rows.div_ceil(2);
            pairs.add(ifma, rows * columns)?;
        }
        let (left, right) = pairs.points.split_at(columns);
        for ((left, right), rs) in left.iter().zip(right).zip(sums.rs.chunks(LANES)) {
            // The x of the last sum is (rise / run)^2 - x - x, which needs no division to be compared.
            let run = right.x - left.x;
            let expected = (load(ifma, rs) + left.x + right.x) * run.square();
            let (equal, met) = (((right.y - left.y).square() - expected).zeros(), run.zeros());
            if met != 0 {
                verdicts.clear();
                return None;
            }
            verdicts.extend((0..rs.len()).map(|lane| equal >> lane & 1 == 1));
        }
        Some(())
    }
}

/// Up to eight numbers below p.
#[inline(always)]
pub(super) fn load(ifma: Ifma, numbers: &[Limbs]) -> Wide<Field> {
    let mut limbs = [[0; LANES]; 4];
    for (lane, number) in numbers.iter().enumerate() {
        for (at, limb) in number.iter().enumerate() {
            limbs[at][lane] = *limb;
        }
    }
    let [a, b, c, d] = limbs;
    Wide::from_plain(ifma, [pulp::cast(a), pulp::cast(b), pulp::cast(c), pulp::cast(d)])
}

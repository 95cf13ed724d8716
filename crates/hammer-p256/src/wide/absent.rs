//! What stands for eight lanes where there are none: a token that nobody has.

use crate::digit::{Digits, NarrowDigits};
use crate::entry::Entry;
use crate::jacobian::Jacobian;
use crate::limbs::Limbs;
use crate::point::Point;
use crate::scalar::Scalar;
use crate::windows::Windows;

pub(crate) const LANES: usize = 8;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Ifma {}

impl Ifma {
    pub(crate) fn try_new() -> Option<Self> {
        None
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Pairs;

#[derive(Clone, Copy)]
pub(crate) struct Sums<'a> {
    pub(crate) tables: [&'a Windows; 2],
    pub(crate) factors: &'a [[Digits; 2]],
    pub(crate) rs: &'a [Limbs],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct OnceSum {
    pub(crate) key: Entry,
    pub(crate) of_key: NarrowDigits,
    pub(crate) of_base: Digits,
    pub(crate) r: Limbs,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct OnceVerdicts {
    pub(crate) holds: u8,
    pub(crate) met: u8,
}

pub(crate) fn have_x_once(ifma: Ifma, sums: &[OnceSum], _: &Windows) -> OnceVerdicts {
    let [OnceSum { key: _, of_key: [..], of_base: [..], r: [..] }, ..] = sums else {
        return OnceVerdicts { holds: 0, met: 0xff };
    };
    match ifma {}
}

#[derive(Debug)]
pub(crate) struct WideMultiples(Ifma);

#[derive(Debug, Default)]
pub(crate) struct Walk;

#[derive(Debug, Default)]
pub(crate) struct Inverses;

pub(crate) fn sum(ifma: Ifma, _: &[(&Entry, bool)]) -> Option<Jacobian> {
    match ifma {}
}

pub(crate) fn fill_window(
    ifma: Ifma,
    _: &[Entry; LANES],
    _: &[Point],
    _: &mut Walk,
    _: &mut Vec<Entry>,
) -> bool {
    match ifma {}
}

impl Pairs {
    pub(crate) fn have_x(&mut self, ifma: Ifma, sums: Sums<'_>, _: &mut Vec<bool>) -> bool {
        let Sums { tables: [_, _], factors: [..], rs: [..] } = sums;
        match ifma {}
    }
}

impl WideMultiples {
    pub(crate) fn new(ifma: Ifma, _: &[Point]) -> Self {
        match ifma {}
    }

    pub(crate) fn add_to<const WITH_Y: bool>(&self, _: Point, _: &mut Walk, _: &mut Vec<Entry>) -> bool {
        match self.0 {}
    }
}

impl Inverses {
    pub(crate) fn invert(&mut self, ifma: Ifma, _: &mut [Scalar]) -> bool {
        match ifma {}
    }
}

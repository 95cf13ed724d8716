//! The multiples of a table, by the place of a digit.

use crate::digit::{DIGITS, Digit, WINDOW};
use crate::entry::Entry;

/// For each digit's place the odd multiples of a point: 26 windows of 512 points, 851,968 bytes.
#[derive(Clone)]
pub(crate) struct Windows {
    /// As the arithmetic takes them that is there: times 2^260 for that of eight lanes.
    entries: Vec<Entry>,
}

impl Windows {
    /// Without any multiples yet, and with room for them.
    pub(crate) fn empty() -> Self {
        Self { entries: Vec::with_capacity(DIGITS * WINDOW) }
    }

    /// The multiples in their order, to be added to.
    pub(crate) fn entries_mut(&mut self) -> &mut Vec<Entry> {
        &mut self.entries
    }

    /// The product with 1.
    pub(crate) fn first(&self) -> &Entry {
        &self.entries[0]
    }

    /// The product with a digit at a place, but for the sign, as the table has it.
    #[inline(always)]
    pub(crate) fn entry(&self, place: usize, digit: Digit) -> &Entry {
        &self.entries[place * WINDOW + digit.place()]
    }
}

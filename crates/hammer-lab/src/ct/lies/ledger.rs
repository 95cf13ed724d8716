//! What was told, as far as it is listed.

use crate::told_lie::ToldLie;

/// The first lies, and the count of those beyond them.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    told: Vec<ToldLie>,
    unlisted: u64,
}

impl Ledger {
    pub(super) fn push(&mut self, lie: ToldLie) {
        if self.told.len() < MOST_LISTED {
            self.told.push(lie);
        } else {
            self.unlisted += 1;
        }
    }

    /// The list with these at its end, and the count of those beyond it.
    pub(super) fn with(&self, more: impl Iterator<Item = ToldLie>) -> (Vec<ToldLie>, u64) {
        let mut ledger = Self { told: self.told.clone(), unlisted: self.unlisted };
        more.for_each(|lie| ledger.push(lie));
        (ledger.told, ledger.unlisted)
    }
}

/// Lies that are listed one by one.
const MOST_LISTED: usize = 10_000;

//! What the times say that a log puts into its heads.

use std::time::Duration;

use hammer_tlog::logs::audit::{Kept, Published, ReceiptClock};
use hammer_tlog::logs::follow::Head;

use crate::messages::{BACKDATED_CHECKPOINT, FUTURE_CHECKPOINT};

/// Holds the times of a log's heads against each other, against what they cover, and against our clock. Each kind is found once.
pub(crate) struct HeadDates {
    clock: ReceiptClock,
    was_ahead: bool,
    was_back: bool,
}

/// A head whose time cannot be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MisdatedHead {
    /// The kind of the breach, as reports have it.
    pub(crate) kind: &'static str,
    /// What was found.
    pub(crate) detail: String,
    /// The head of a smaller tree that is dated later, where that is what was found.
    pub(crate) smaller: Option<Head>,
}

impl HeadDates {
    /// By that clock.
    pub(crate) fn new(clock: ReceiptClock) -> Self {
        Self { clock, was_ahead: false, was_back: false }
    }

    /// The clock by which they are held.
    pub(crate) fn clock(&self) -> &ReceiptClock {
        &self.clock
    }

    /// Takes a head that is served, and the newest one of its tree: finds the first that is dated before a smaller one, and the first that is
    /// dated in the future.
    pub(crate) fn dated(&mut self, head: &Head, newest: Option<&Head>) -> Vec<MisdatedHead> {
        let smaller = newest.filter(|newest| newest.size < head.size && newest.size > 0);
        // One that was dated ahead says nothing of those that follow.
        let signed_ms = |smaller: &Head| smaller.timestamp_ms.min(self.clock.unix_ms(smaller.fetched_ns));
        let later = smaller.filter(|smaller| self.is_before(head.timestamp_ms, signed_ms(smaller)));
        let back = later.and_then(|smaller| {
            let found = self.dated_back(&format!("a head of {head} is dated before {smaller}"))?;
            Some(MisdatedHead { smaller: Some(smaller.clone()), ..found })
        });
        back.into_iter().chain(self.ahead(head)).collect()
    }

    /// Takes a promise that was found kept: finds the first head that is dated before what it covers.
    pub(crate) fn covers(&mut self, kept: &Kept) -> Option<MisdatedHead> {
        let promised_ms = kept.receipt.promised_ms.min(self.clock.unix_ms(kept.receipt.received_ns));
        let &Published { size, timestamp_ms, .. } = kept.published.as_ref()?;
        if !self.is_before(timestamp_ms, promised_ms) {
            return None;
        }
        let index = kept.index;
        self.dated_back(&format!(
            "the head of size {size} is dated {timestamp_ms}, and its leaf {index} was promised at {promised_ms}"
        ))
    }

    /// Whether one time of the log's comes before another, which it must not, beyond the stated skew. Not every head has a time.
    pub(crate) fn is_before(&self, timestamp_ms: u64, earlier_ms: u64) -> bool {
        timestamp_ms > 0 && timestamp_ms.saturating_add(self.clock.skew_ms) < earlier_ms
    }

    /// Whether a head was found to be dated back: the times of such a log say nothing more.
    pub(crate) fn was_back(&self) -> bool {
        self.was_back
    }

    fn ahead(&mut self, head: &Head) -> Option<MisdatedHead> {
        if self.was_ahead || !self.clock.is_ahead(head.timestamp_ms, head.fetched_ns) {
            return None;
        }
        self.was_ahead = true;
        let ahead_ms = head.timestamp_ms.saturating_sub(self.clock.unix_ms(head.fetched_ns));
        let skew_ms = self.clock.skew_ms;
        let detail = format!(
            "a head of {head} is dated {ahead_ms} ms after it was fetched; the stated skew is {skew_ms} ms"
        );
        Some(MisdatedHead { kind: FUTURE_CHECKPOINT, detail, smaller: None })
    }

    fn dated_back(&mut self, found: &str) -> Option<MisdatedHead> {
        if std::mem::replace(&mut self.was_back, true) {
            return None;
        }
        let detail = format!("{found}; the stated skew is {} ms", self.clock.skew_ms);
        Some(MisdatedHead { kind: BACKDATED_CHECKPOINT, detail, smaller: None })
    }
}

/// The kind and the words of the breach that a head is whose time had not come yet as it was fetched, so long after an epoch in milliseconds since
/// 1970, of a log whose clock may be so far from ours. None of any other head.
pub fn future_head(head: &Head, epoch_unix_ms: u64, skew: Duration) -> Option<(&'static str, String)> {
    let clock = ReceiptClock { epoch_unix_ms, skew_ms: skew.as_millis() as u64, is_of_one_server: true };
    HeadDates::new(clock).ahead(head).map(|found| (found.kind, found.detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: ReceiptClock =
        ReceiptClock { epoch_unix_ms: 1_000_000, skew_ms: 100, is_of_one_server: true };

    /// A head that was fetched 1 s after the epoch, dated so many milliseconds after that.
    fn head(size: u64, dated_ms: i64) -> Head {
        let timestamp_ms = 1_001_000_u64.saturating_add_signed(dated_ms);
        Head { size, timestamp_ms, fetched_ns: 1_000_000_000, ..Head::empty() }
    }

    #[test]
    fn a_head_of_the_future_and_one_that_is_dated_before_a_smaller_one_are_found_once_and_beyond_the_skew() {
        let mut dates = HeadDates::new(CLOCK);
        let smaller = head(5, -200);
        let mut kinds = |size, dated_ms| {
            let found = dates.dated(&head(size, dated_ms), Some(&smaller));
            found.iter().map(|found| found.kind).collect::<Vec<_>>()
        };
        assert!(kinds(9, 100).is_empty() && kinds(9, -300).is_empty());
        assert_eq!(kinds(9, -301), [BACKDATED_CHECKPOINT]);
        assert_eq!(kinds(5, -301), [""; 0], "it is of the same tree");
        assert_eq!([kinds(9, 101), kinds(9, 102), kinds(9, -302)], [vec![FUTURE_CHECKPOINT], vec![], vec![]]);
    }
}

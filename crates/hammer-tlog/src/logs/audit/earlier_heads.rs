//! The heads before the one that covers a leaf.

use super::receipt_clock::ReceiptClock;
use crate::logs::follow::Head;

/// The heads before the first that covers a leaf: up to when they show that it was not covered. All are 0 where there was none.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct EarlierHeads {
    /// When the last of them was fetched, in nanoseconds since the caller's instant: publication came after it was signed.
    pub fetched_ns: u64,
    /// When one of them was asked for last, likewise: the log served nothing newer by then.
    pub asked_ns: u64,
    /// The latest time that the log put into one of them, in milliseconds since 1970, but for those that had not come yet.
    pub signed_ms: u64,
}

impl EarlierHeads {
    /// Takes a head that was followed; without a clock of ours its time is believed.
    pub(super) fn met(&mut self, head: &Head, clock: Option<&ReceiptClock>) {
        let signed_ms = match clock {
            Some(clock) if clock.is_ahead(head.timestamp_ms, head.fetched_ns) => 0,
            Some(clock) => head.timestamp_ms.min(clock.unix_ms(head.fetched_ns)),
            None => head.timestamp_ms,
        };
        self.fetched_ns = self.fetched_ns.max(head.fetched_ns);
        self.asked_ns = self.asked_ns.max(head.asked_ns);
        self.signed_ms = self.signed_ms.max(signed_ms);
    }
}

//! Our clock beside the log's.

use super::receipt::Receipt;
use super::verdict::Published;

/// Our clock beside the log's: what it says of the instants that heads and receipts are counted from, and how far the log's may be from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiptClock {
    /// The instant that heads' and receipts' are counted from, in milliseconds since 1970.
    pub epoch_unix_ms: u64,
    /// How far the log's clock may be from ours, in milliseconds.
    pub skew_ms: u64,
    /// Whether one server serves the heads: what one of several does not cover, another may have covered by then.
    pub is_of_one_server: bool,
}

impl ReceiptClock {
    /// An instant that was counted from the epoch, in milliseconds since 1970.
    pub fn unix_ms(&self, instant_ns: u64) -> u64 {
        self.epoch_unix_ms.saturating_add(instant_ns / 1_000_000)
    }

    /// By when a head must cover the leaf, in milliseconds since 1970 by our clock: the log's own deadline, and by what its clock was behind
    /// ours as it promised, up to the skew.
    pub fn deadline_ms(&self, receipt: &Receipt) -> u64 {
        let behind_ms = self.unix_ms(receipt.received_ns).saturating_sub(receipt.promised_ms);
        receipt.deadline_ms.saturating_add(behind_ms.min(self.skew_ms))
    }

    /// The same where the first head that covers the leaf is known: it was signed before it was fetched, so that the log's clock is not further
    /// behind ours than that. An answer may have come long after its promise.
    fn deadline_ms_by(&self, receipt: &Receipt, published: &Published) -> u64 {
        let received_ms = self.unix_ms(receipt.received_ns).saturating_sub(receipt.promised_ms);
        let head_ms = match published.timestamp_ms {
            0 => u64::MAX,
            signed_ms => self.unix_ms(published.fetched_ns).saturating_sub(signed_ms),
        };
        receipt.deadline_ms.saturating_add(received_ms.min(self.skew_ms).min(head_ms))
    }

    /// Whether a log's time of a head is one that had not come yet as the head was fetched, whatever the skew.
    pub fn is_ahead(&self, timestamp_ms: u64, fetched_ns: u64) -> bool {
        timestamp_ms > self.unix_ms(fetched_ns).saturating_add(self.skew_ms)
    }
}

impl Receipt {
    /// Whether the log had not covered the leaf when its delay was over: a head that does not cover it is dated behind the log's own
    /// deadline, or was asked for behind ours, of one server. That the first head that does is dated late says nothing: those before it may
    /// not have been fetched.
    pub fn is_late(&self, published: &Published, clock: Option<&ReceiptClock>) -> bool {
        let earlier = &published.earlier;
        let was_asked_late = |clock: &ReceiptClock| {
            let asked_ms = clock.unix_ms(earlier.asked_ns);
            let deadline_ms = clock.deadline_ms_by(self, published);
            clock.is_of_one_server && earlier.asked_ns > 0 && asked_ms > deadline_ms
        };
        earlier.signed_ms > self.deadline_ms || clock.is_some_and(was_asked_late)
    }
}

/// By when a head must cover the leaf: by our clock where there is one, or else by the log's.
pub(super) fn deadline_ms(receipt: &Receipt, clock: Option<&ReceiptClock>) -> u64 {
    clock.map_or(receipt.deadline_ms, |clock| clock.deadline_ms(receipt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;
    use crate::logs::audit::earlier_heads::EarlierHeads;
    use crate::logs::follow::Head;

    const EPOCH_MS: u64 = 1_700_000_000_000;
    const CLOCK: ReceiptClock =
        ReceiptClock { epoch_unix_ms: EPOCH_MS, skew_ms: 10_000, is_of_one_server: true };

    /// A promise for 3 s of a log whose clock is so many milliseconds ahead of ours, received 100 s after the epoch.
    fn promised(ahead_ms: i64) -> Receipt {
        let stamped_ms = (EPOCH_MS + 100_000).saturating_add_signed(ahead_ms);
        Receipt::new(1, Hash([1; 32]), Some(1), 100_000 * 1_000_000, stamped_ms).within(3_000)
    }

    /// The first head that covers the leaf, of the last that does not: so many milliseconds after the answer that was asked for, and then
    /// fetched, and then it is dated.
    fn covered(asked_ms: u64, fetched_ms: u64, dated_ms: i64) -> Published {
        let ns = |ms: u64| (100_000 + ms) * 1_000_000;
        let timestamp_ms = (EPOCH_MS + 100_000).saturating_add_signed(dated_ms);
        let (root, raw) = (Hash([2; 32]), [].into());
        let (fetched_ns, asked_ns) = (ns(fetched_ms), ns(asked_ms));
        let mut earlier = EarlierHeads::default();
        earlier.met(&Head { size: 1, root, timestamp_ms, fetched_ns, asked_ns, raw }, Some(&CLOCK));
        let fetched_ns = ns(60_000);
        // Of a log whose clock may be as far behind as that.
        Published { size: 2, fetched_ns, earlier, timestamp_ms: EPOCH_MS + 100_000 }
    }

    #[test]
    fn a_leaf_is_late_once_a_head_without_it_is_dated_or_asked_for_behind_the_deadline() {
        for (ahead_ms, published, is_late) in [
            (0, covered(500, 1_000, 900), false),
            (0, covered(3_000, 9_000, 3_000), false),
            // It was asked for in time, and came late: what was served meanwhile was not seen.
            (0, covered(3_000, 9_000, 100), false),
            (0, covered(500, 9_000, 3_001), true),
            // It is dated back, or kept: the log had nothing newer.
            (0, covered(3_001, 3_100, 100), true),
            // It is dated an hour ahead, or within the skew.
            (0, covered(500, 1_000, 3_600_000), false),
            (0, covered(500, 1_000, 9_000), false),
            // Five seconds behind, with a delay of three.
            (-5_000, covered(500, 1_000, -4_100), false),
            (-5_000, covered(3_000, 3_100, -2_000), false),
            (-5_000, covered(3_001, 3_100, -2_000), true),
            (-5_000, covered(500, 9_000, -1_999), true),
            // Beyond the skew what it is behind counts no more.
            (-60_000, covered(500, 9_000, -56_999), true),
            (5_000, covered(7_900, 8_000, 8_000), false),
        ] {
            let receipt = promised(ahead_ms);
            assert_eq!(receipt.is_late(&published, Some(&CLOCK)), is_late, "{ahead_ms} {published:?}");
        }
    }

    /// An answer that came 20 s after its promise, when its leaf had been covered for a moment.
    #[test]
    fn an_answer_that_comes_late_does_not_put_its_deadline_off() {
        let receipt = promised(-20_000);
        let [mut told, mut untold] = [covered(0, 100, -30_000); 2];
        for (published, timestamp_ms) in [(&mut told, EPOCH_MS + 99_000), (&mut untold, 0)] {
            (published.fetched_ns, published.timestamp_ms) = (100_000 * 1_000_000, timestamp_ms);
        }
        // The head of a moment ago says that the log's clock is a second behind ours at most; one without a time says nothing.
        assert!(receipt.is_late(&told, Some(&CLOCK)));
        assert!(receipt.is_late(&untold, Some(&CLOCK)), "twenty seconds, and the skew is ten");
        let wide = ReceiptClock { skew_ms: 60_000, ..CLOCK };
        assert!(receipt.is_late(&told, Some(&wide)) && !receipt.is_late(&untold, Some(&wide)));
    }

    #[test]
    fn a_head_of_one_of_several_servers_does_not_tell_what_another_covered() {
        let several = ReceiptClock { is_of_one_server: false, ..CLOCK };
        let late = |published| promised(0).is_late(&published, Some(&several));
        assert!(!late(covered(3_001, 9_000, 100)));
        // By its own time no server of the log has the leaf.
        assert!(late(covered(500, 9_000, 3_001)));
    }

    #[test]
    fn without_a_clock_of_ours_the_time_of_a_head_without_the_leaf_decides() {
        let late = [3_000, 3_001].map(|ms| promised(0).is_late(&covered(60_000, 60_000, ms), None));
        assert_eq!(late, [false, true]);
    }
}

//! When what a service stamps can have been stamped.

use std::fmt;
use std::time::Duration;

/// From when a request was sent until its answer came, and what the clocks may be apart at either end; milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StampWindow {
    /// The earliest.
    pub(super) not_before_ms: i64,
    /// The latest.
    pub(super) not_after_ms: i64,
    skew_ms: i64,
}

/// How far a stamp lies outside of its window; a text that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StampOff {
    /// Before the request was sent (less than 0), or after its answer came, in milliseconds.
    off_ms: i64,
    allowed_ms: i64,
}

impl StampWindow {
    /// The window of an exchange, where the service's clock may be off by `skew`.
    pub(super) fn new(sent_ms: i64, received_ms: i64, skew: Duration) -> Self {
        let skew_ms = skew.as_millis() as i64;
        Self { not_before_ms: sent_ms - skew_ms, not_after_ms: received_ms + skew_ms, skew_ms }
    }

    /// Whether a stamp in milliseconds is of it.
    pub(super) fn check(self, unix_ms: i64) -> Result<(), StampOff> {
        self.check_through(unix_ms, unix_ms)
    }

    /// The same of a stamp in seconds, which stands for each millisecond of its second.
    pub(super) fn check_second(self, unix_seconds: i64) -> Result<(), StampOff> {
        let first_ms = unix_seconds.saturating_mul(1000);
        self.check_through(first_ms, first_ms.saturating_add(999))
    }

    fn check_through(self, first_ms: i64, last_ms: i64) -> Result<(), StampOff> {
        let Self { not_before_ms, not_after_ms, skew_ms } = self;
        let off = |off_ms| Err(StampOff { off_ms, allowed_ms: skew_ms });
        if last_ms < not_before_ms {
            return off(last_ms.saturating_sub(not_before_ms.saturating_add(skew_ms)));
        }
        if first_ms > not_after_ms {
            return off(first_ms.saturating_sub(not_after_ms.saturating_sub(skew_ms)));
        }
        Ok(())
    }
}

impl fmt::Display for StampOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { off_ms, allowed_ms } = self;
        let of_what = if *off_ms < 0 { "before the request was sent" } else { "after the answer came" };
        write!(f, "{} ms {of_what} by our clock, {allowed_ms} ms allowed", off_ms.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_of_the_window_or_off_by_so_much() {
        let window = StampWindow::new(10_500, 11_200, Duration::from_millis(300));
        let off = |judged: Result<(), StampOff>| judged.map_err(|off| off.off_ms);
        for (ms, found) in [(10_200, Ok(())), (11_500, Ok(())), (10_199, Err(-301)), (11_502, Err(302))] {
            assert_eq!(off(window.check(ms)), found, "{ms}");
        }
        // 10 s is any instant until 10,999 ms.
        for (seconds, found) in [(10, Ok(())), (11, Ok(())), (9, Err(-501)), (12, Err(800))] {
            assert_eq!(off(window.check_second(seconds)), found, "{seconds}");
        }
        let told = |ms| window.check(ms).unwrap_err().to_string();
        assert_eq!(told(10_199), "301 ms before the request was sent by our clock, 300 ms allowed");
        assert_eq!(told(11_502), "302 ms after the answer came by our clock, 300 ms allowed");
    }
}

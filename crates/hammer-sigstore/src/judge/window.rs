//! When what a service stamps can have been stamped.

use std::time::Duration;

/// From when a request was sent until its answer came, and what the clocks may be apart at either end; milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StampWindow {
    /// The earliest.
    pub(super) not_before_ms: i64,
    /// The latest.
    pub(super) not_after_ms: i64,
}

impl StampWindow {
    /// The window of an exchange, where the service's clock may be off by `skew`.
    pub(super) fn new(sent_ms: i64, received_ms: i64, skew: Duration) -> Self {
        let skew_ms = skew.as_millis() as i64;
        Self { not_before_ms: sent_ms - skew_ms, not_after_ms: received_ms + skew_ms }
    }

    /// Whether a stamp in milliseconds is of it; else how many it is off, before (less than 0) or after.
    pub(super) fn check(self, unix_ms: i64) -> Result<(), i64> {
        self.check_through(unix_ms, unix_ms)
    }

    /// The same of a stamp in seconds, which stands for each millisecond of its second.
    pub(super) fn check_second(self, unix_seconds: i64) -> Result<(), i64> {
        let first_ms = unix_seconds.saturating_mul(1000);
        self.check_through(first_ms, first_ms.saturating_add(999))
    }

    fn check_through(self, first_ms: i64, last_ms: i64) -> Result<(), i64> {
        if last_ms < self.not_before_ms {
            return Err(last_ms - self.not_before_ms);
        }
        if first_ms > self.not_after_ms {
            return Err(first_ms - self.not_after_ms);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_of_the_window_or_off_by_so_much() {
        let window = StampWindow::new(10_500, 11_200, Duration::from_millis(300));
        for (ms, found) in [(10_200, Ok(())), (11_500, Ok(())), (10_199, Err(-1)), (11_502, Err(2))] {
            assert_eq!(window.check(ms), found, "{ms}");
        }
        // 10 s is any instant until 10,999 ms.
        for (seconds, found) in [(10, Ok(())), (11, Ok(())), (9, Err(-201)), (12, Err(500))] {
            assert_eq!(window.check_second(seconds), found, "{seconds}");
        }
    }
}

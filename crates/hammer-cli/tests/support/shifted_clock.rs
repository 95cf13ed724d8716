//! The clock of a log that is not set right.

use std::time::Duration;

use hammer_lab::clock::Sleep;
use hammer_lab::{Clock, SystemClock};

/// The machine's clock, so many milliseconds ahead of what it says.
#[derive(Debug)]
pub(crate) struct ShiftedClock {
    clock: SystemClock,
    ahead_ms: i64,
}

impl ShiftedClock {
    pub(crate) fn ahead_by(ahead_ms: i64) -> Self {
        Self { clock: SystemClock::new(), ahead_ms }
    }
}

impl Clock for ShiftedClock {
    fn unix_ms(&self) -> u64 {
        self.clock.unix_ms().saturating_add_signed(self.ahead_ms)
    }

    fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    fn sleep_until(&self, at: Duration) -> Sleep {
        self.clock.sleep_until(at)
    }
}

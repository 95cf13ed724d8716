//! The only module of the engine that reads the machine's clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hammer_measure::{Nanos, Now};

/// The monotonic clock since an epoch that all threads of a run share.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    epoch: Instant,
}

impl MonotonicClock {
    /// A clock whose epoch is this instant.
    #[expect(clippy::disallowed_methods, reason = "this module is the clock")]
    pub fn starting_now() -> Self {
        Self { epoch: Instant::now() }
    }

    /// The epoch, for timers of the operating system.
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch
    }
}

impl Now for MonotonicClock {
    fn now(&self) -> Nanos {
        Nanos::from(self.epoch.elapsed())
    }
}

/// The wall clock, milliseconds since the Unix epoch; zero before it.
#[expect(clippy::disallowed_methods, reason = "this module is the clock")]
pub fn unix_millis() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

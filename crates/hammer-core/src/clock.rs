//! The only module of the engine that reads the machine's clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hammer_measure::{Nanos, Now, WallNanos};

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

    fn wall(&self) -> Option<WallNanos> {
        Some(WallNanos(since_unix_epoch().as_nanos() as u64))
    }
}

/// The wall clock, milliseconds since the Unix epoch; zero before it.
pub fn unix_millis() -> u64 {
    since_unix_epoch().as_millis() as u64
}

#[expect(clippy::disallowed_methods, reason = "this module is the clock")]
fn since_unix_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

//! The only module of the engine that reads the machine's clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hammer_measure::{Nanos, Now, WallNanos};
use rustix::time::{ClockId, clock_gettime};

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

/// What the calling thread has used of a processor since it started, by CLOCK_THREAD_CPUTIME_ID: a system call.
pub(crate) fn thread_cpu() -> Nanos {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Nanos(used.tv_sec.cast_unsigned() * 1_000_000_000 + used.tv_nsec.cast_unsigned())
}

/// The wall clock, milliseconds since the Unix epoch; zero before it.
pub fn unix_millis() -> u64 {
    since_unix_epoch().as_millis() as u64
}

#[expect(clippy::disallowed_methods, reason = "this module is the clock")]
fn since_unix_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

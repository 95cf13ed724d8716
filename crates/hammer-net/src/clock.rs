//! The machine's clocks, for tests alone.

use hammer_measure::{Nanos, Now, WallNanos};
use rustix::time::{ClockId, clock_gettime};

/// The monotonic clock since the machine was started, and the wall clock.
pub(crate) struct MachineClock;

impl Now for MachineClock {
    fn now(&self) -> Nanos {
        Nanos(nanos(ClockId::Monotonic))
    }

    fn wall(&self) -> Option<WallNanos> {
        Some(WallNanos(nanos(ClockId::Realtime)))
    }
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

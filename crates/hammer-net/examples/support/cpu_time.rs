//! CPU time, by which an exchange is priced.

use hammer_measure::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// User and system time so far of whatever `clock` is of: this thread, or the process.
pub(crate) fn cpu_time(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

//! CPU time, of the process and of a thread.

use hammer_measure::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// What the process used since its start.
pub fn of_process() -> Nanos {
    read(ClockId::ProcessCPUTime)
}

/// What the calling thread used since its start.
pub fn of_thread() -> Nanos {
    read(ClockId::ThreadCPUTime)
}

fn read(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

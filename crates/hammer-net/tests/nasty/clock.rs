//! The clocks of the client under test: the machine's, by which the kernel's stamps count, and one that hardly moves.

use std::cell::Cell;
use std::rc::Rc;

use hammer_measure::{Nanos, Now, WallNanos};
use rustix::time::{ClockId, clock_gettime};

/// Which clock a case is told by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The machine's.
    Machine,
    /// One that moves by a nanosecond at each reading: nothing takes long by it.
    Ticking,
}

impl Clock {
    /// The clock itself.
    pub(crate) fn start(self) -> Rc<dyn Now> {
        match self {
            Self::Machine => Rc::new(MachineClock),
            Self::Ticking => Rc::new(Ticks(Cell::new(1))),
        }
    }
}

struct MachineClock;

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

struct Ticks(Cell<u64>);

impl Now for Ticks {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + 1);
        Nanos(self.0.get())
    }
}

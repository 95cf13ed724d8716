//! The clocks of the client under test: the machine's, by which the kernel's stamps count, and one that hardly moves.

use std::cell::Cell;
use std::rc::Rc;

use hammer_core::clock::MonotonicClock;
use hammer_measure::{Nanos, Now};

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
            Self::Machine => Rc::new(MonotonicClock::starting_now()),
            Self::Ticking => Rc::new(Ticks(Cell::new(1))),
        }
    }
}

struct Ticks(Cell<u64>);

impl Now for Ticks {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + 1);
        Nanos(self.0.get())
    }
}

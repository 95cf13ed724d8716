//! Threads that may wait: they prepare, verify and observe on the cores of the shards, which must be on time. Since Linux 6.6 a
//! thread that wakes, such as a shard whose time has come, waits for the end of the slice of the one that runs, which is several
//! milliseconds; so they offer the core again and again.

use std::thread;

/// Lets shards and supply go before the calling thread, and those that it starts, from now on; once for a thread. Not for supply: what it has not
/// prepared in time is not sent.
pub fn make_way() {
    // A refusal costs punctuality, which the report shows, and nothing else.
    let _ = rustix::process::nice(NICENESS);
}

/// Offers the core to whoever waits for it; for observers, after each piece of work that takes a good part of a millisecond.
pub fn give_way() {
    thread::yield_now();
}

/// Counts work done in a row, and offers the core now and then.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    done: usize,
}

impl Turn {
    /// After each piece of work.
    pub(crate) fn worked(&mut self) {
        self.worked_on(1);
    }

    /// After so many pieces that were one.
    pub(crate) fn worked_on(&mut self, pieces: usize) {
        self.done += pieces;
        if self.done >= IN_A_ROW {
            self.done = 0;
            give_way();
        }
    }
}

/// Added to the niceness of the process: about a tenth of a shard's weight.
const NICENESS: i32 = 10;
/// Pieces of a few microseconds each, beside which asking the kernel costs little.
const IN_A_ROW: usize = 8;

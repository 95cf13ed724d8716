//! Targets that can do so much at once.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use hammer_values::Count;
use serde::{Deserialize, Serialize};

use super::latency::Latency;

/// Each request occupies one of so many workers for a while; one that finds none free waits for its turn, however long. So the target has a
/// rate beyond which it only gets slower: that many, divided by the time that each takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workers {
    /// How many there are.
    pub count: Count,
    /// How long a request occupies one.
    pub latency: Latency,
}

/// Workers, and how long each that was ever occupied still is.
#[derive(Debug, Default)]
pub struct BusyWorkers {
    /// When they are free, on the target's clock.
    free_at: Mutex<BinaryHeap<Reverse<Duration>>>,
}

impl BusyWorkers {
    /// As after a start.
    pub fn restart(&self) {
        self.free_at.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// How long what comes `now` takes, which occupies one of `workers` for so long once one is free.
    #[must_use]
    pub fn occupy(&self, workers: Count, takes: Duration, now: Duration) -> Duration {
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let starts = match free_at.len() < workers.get() {
            true => now,
            false => free_at.pop().map_or(now, |Reverse(at)| at.max(now)),
        };
        let ends = starts + takes;
        free_at.push(Reverse(ends));
        ends - now
    }
}

//! What a rule has met so far.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use hammer_values::Count;

use super::overload::Overload;
use super::workers::BusyWorkers;

/// The counts of a rule at work.
#[derive(Debug, Default)]
pub(super) struct RuleState {
    /// Requests since the start, for a rule about the first ones.
    met: AtomicU64,
    /// When the next request would be due if all came at the rate that is served, nanoseconds of the target's clock.
    due_ns: AtomicU64,
    workers: BusyWorkers,
}

impl RuleState {
    /// As after a start.
    pub(super) fn restart(&self) {
        self.met.store(0, Ordering::Relaxed);
        self.due_ns.store(0, Ordering::Relaxed);
        self.workers.restart();
    }

    /// How long the request that comes now takes, which occupies one of `workers` for that time once one is free.
    pub(super) fn occupies(&self, workers: Count, takes: Duration, now: Duration) -> Duration {
        self.workers.occupy(workers, takes, now)
    }

    /// Whether the request that comes now is among the first.
    pub(super) fn is_among(&self, first: Count) -> bool {
        self.met.fetch_add(1, Ordering::Relaxed) < first.get() as u64
    }

    /// Whether the request that comes now is above the rate.
    pub(super) fn is_above(&self, overload: &Overload, now: Duration) -> bool {
        let each = 1e9 / overload.rate.per_second();
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        // The leaky bucket as a virtual clock: each request that is served moves it on by its share of a second.
        let serve = |due: u64| {
            let starts = due.max(now);
            (starts - now <= BURST_NS).then(|| starts.saturating_add(each as u64))
        };
        self.due_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, serve).is_err()
    }
}

const BURST_NS: u64 = 100_000_000;

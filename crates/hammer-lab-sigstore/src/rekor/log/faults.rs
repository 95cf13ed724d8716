//! What goes wrong behind the log, beyond the script of its server.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::rekor::plan::{Hang, RekorLabPlan};

/// The faults of a plan at work.
#[derive(Debug)]
pub(super) struct LogFaults {
    storage_full_after: u64,
    quota: usize,
    hang: Option<Hang>,
    /// Entries proposed while the fault lasted.
    in_hang: AtomicU64,
    started_ns: AtomicU64,
}

impl LogFaults {
    /// `elapsed` is the log's start.
    pub(super) fn new(plan: &RekorLabPlan, elapsed: Duration) -> Self {
        let faults = Self {
            storage_full_after: plan.storage_full_after.unwrap_or(u64::MAX),
            quota: plan.quota.map_or(usize::MAX, hammer_values::Count::get),
            hang: plan.hang.clone(),
            in_hang: AtomicU64::new(0),
            started_ns: AtomicU64::new(0),
        };
        faults.restart(elapsed);
        faults
    }

    pub(super) fn restart(&self, now: Duration) {
        self.started_ns.store(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.in_hang.store(0, Ordering::Relaxed);
    }

    /// Whether Trillian takes no further entry.
    pub(super) fn refuses(&self, accepted: u64, waiting: usize) -> bool {
        accepted >= self.storage_full_after || waiting >= self.quota
    }

    /// Whether the entry that is proposed now is never answered.
    pub(super) fn hangs(&self, now: Duration) -> bool {
        let started = Duration::from_nanos(self.started_ns.load(Ordering::Relaxed));
        let hang = self.hang.as_ref().filter(|hang| hang.is_on(now.saturating_sub(started)));
        hang.is_some_and(|hang| hang.holds(self.in_hang.fetch_add(1, Ordering::Relaxed)))
    }
}

//! How long flows waited until there was a device to verify, which is not the service's doing.

use std::sync::atomic::{AtomicU64, Ordering};

use hammer_measure::Nanos;

/// Flows that waited, counted; shards add, and whoever watches reads.
#[derive(Debug, Default)]
pub struct FlowWaits {
    count: AtomicU64,
    longest_ns: AtomicU64,
}

impl FlowWaits {
    /// One more, that waited so long. Waits that no figure shows are none.
    pub(crate) fn add(&self, waited: Nanos) {
        if waited < SHORTEST {
            return;
        }
        // Both are told once no shard adds any more.
        self.count.fetch_add(1, Ordering::Relaxed);
        self.longest_ns.fetch_max(waited.0, Ordering::Relaxed);
    }

    /// What the reader of a report must be told of them, where there are any.
    pub(crate) fn note(&self) -> Option<String> {
        let count = self.count.load(Ordering::Relaxed);
        let longest = Nanos(self.longest_ns.load(Ordering::Relaxed));
        (count > 0).then(|| {
            format!(
                "{count} flows waited, {longest} at most, until a device was provisioned that they could verify: that is in their response times, and no doing of the service. A `fill` provisions devices before the first arrival"
            )
        })
    }
}

const SHORTEST: Nanos = Nanos::from_millis(50);

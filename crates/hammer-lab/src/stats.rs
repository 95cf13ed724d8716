//! What a target has counted: requests by endpoint and status, and what its log holds.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::Serialize;

use crate::told_lie::ToldLie;

/// Requests by endpoint name and status; status 0 is a connection reset on purpose.
pub type RequestCounts = BTreeMap<String, BTreeMap<u16, u64>>;

/// Counts of a target at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LabStats {
    /// Requests answered, by endpoint and status.
    pub requests: RequestCounts,
    /// Connections accepted.
    pub connections: u64,
    /// Submissions answered with an SCT, duplicates included.
    pub accepted: u64,
    /// Submissions that made a new entry.
    pub distinct: u64,
    /// Entries that wait to be sequenced.
    pub outstanding: u64,
    /// Entries in the tree.
    pub tree_size: u64,
    /// Entries that the served checkpoint covers.
    pub published_size: u64,
    /// Rows of a store of endorsements: one for each reference value and trust anchor, as often as it was stored.
    pub store_rows: u64,
    /// Lists of revoked certificates that were fetched.
    pub revocation_lists: u64,
    /// Decisions of authorization that were found in a cache.
    pub authorization_cache_hits: u64,
    /// Decisions of authorization that had to be asked for.
    pub authorization_cache_misses: u64,
    /// Milliseconds that requests waited before their decision could be asked for, over all of them.
    pub authorization_wait_ms: u64,
    /// Lies that the log told because its plan said so, in order; bounded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lies: Vec<ToldLie>,
    /// Lies beyond those listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlisted_lies: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The counters behind [`LabStats::requests`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    connections: AtomicU64,
}

impl Counters {
    pub(crate) fn answered(&self, endpoint: &'static str, status: u16) {
        *self
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry((endpoint, status))
            .or_default() += 1;
    }

    pub(crate) fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> LabStats {
        let mut requests = RequestCounts::new();
        for (&(endpoint, status), &count) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner) {
            requests.entry(endpoint.to_owned()).or_default().insert(status, count);
        }
        LabStats { requests, connections: self.connections.load(Ordering::Relaxed), ..LabStats::default() }
    }
}

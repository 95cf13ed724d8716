//! What versions of a repository's metadata the clients of a run have got.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hammer_measure::Nanos;
use hammer_tuf::Role;

/// When each version was first received by any client of a workload, by its role, and by the root since which its keys sign: a
/// repository with other keys counts anew (specification section 5.3.11).
#[derive(Debug, Default)]
pub(super) struct SeenVersions {
    of: Mutex<BTreeMap<(u64, Role), BTreeMap<u64, Nanos>>>,
}

impl SeenVersions {
    /// Whether what was asked for at `sent` can have that version: a newer one that came more than `stale_for` before that says no.
    /// What can is noted as `received`.
    ///
    /// # Errors
    /// The newer version.
    pub(super) fn check(
        &self,
        (since, role): (u64, Role),
        version: u64,
        (sent, received): (Nanos, Nanos),
        stale_for: Nanos,
    ) -> Result<(), u64> {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let versions = of.entry((since, role)).or_default();
        let newer = versions.range(version.saturating_add(1)..);
        let before = sent.0.saturating_sub(stale_for.0);
        if let Some((newer, _)) = newer.into_iter().find(|(_, first)| first.0 < before) {
            return Err(*newer);
        }
        let first = versions.entry(version).or_insert(received);
        *first = (*first).min(received);
        if versions.len() > MOST_VERSIONS {
            versions.pop_first();
        }
        Ok(())
    }
}

const MOST_VERSIONS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_version_is_stale_for_so_long_and_then_rolled_back() {
        let seen = SeenVersions::default();
        let at = |since, version, sent, received| {
            let times = (Nanos(sent), Nanos(received));
            seen.check((since, Role::Timestamp), version, times, Nanos(10))
        };
        assert_eq!(at(1, 3, 100, 101), Ok(()));
        assert_eq!(at(1, 2, 111, 112), Ok(()));
        assert_eq!(at(1, 2, 112, 113), Err(3));
        assert_eq!(at(1, 3, 500, 501), Ok(()));
        // Told late by another thread, but received before.
        assert_eq!(at(1, 4, 90, 91), Ok(()));
        assert_eq!(at(1, 3, 102, 103), Err(4));
        // With other keys, versions start anew.
        assert_eq!(at(2, 1, 500, 501), Ok(()));
    }

    #[test]
    fn what_was_asked_for_before_a_newer_one_came_is_no_older() {
        let seen = SeenVersions::default();
        let at = |version, sent, received| {
            seen.check((1, Role::Snapshot), version, (Nanos(sent), Nanos(received)), Nanos::ZERO)
        };
        assert_eq!(at(2, 10, 20), Ok(()));
        assert_eq!(at(1, 15, 30), Ok(()));
        assert_eq!(at(1, 20, 30), Ok(()));
        assert_eq!(at(1, 21, 30), Err(2));
    }
}

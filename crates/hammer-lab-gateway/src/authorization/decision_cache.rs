//! Decisions of authorization that are remembered: least recently used, with an end.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

/// What a decision is of (as a SubjectAccessReview of a path has it).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AccessAttributes {
    /// Who asks.
    pub(crate) subject: String,
    /// By which method.
    pub(crate) method: String,
    /// For which path, without the query.
    pub(crate) path: String,
}

/// A bounded number of decisions.
#[derive(Debug)]
pub(super) struct DecisionCache {
    most: usize,
    decisions: HashMap<AccessAttributes, CachedDecision>,
    /// What was used at each use: the first is the least recently used.
    by_use: BTreeMap<u64, AccessAttributes>,
    uses: u64,
}

#[derive(Debug)]
struct CachedDecision {
    allowed: bool,
    until: Duration,
    used: u64,
}

impl DecisionCache {
    pub(super) fn new(most: usize) -> Self {
        Self { most, decisions: HashMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    /// The decision that still holds at `now`.
    pub(super) fn find(&mut self, request: &AccessAttributes, now: Duration) -> Option<bool> {
        let decision = self.decisions.get_mut(request)?;
        if now >= decision.until {
            self.by_use.remove(&decision.used);
            self.decisions.remove(request);
            return None;
        }
        let attributes = self.by_use.remove(&decision.used);
        self.uses += 1;
        decision.used = self.uses;
        self.by_use.extend(attributes.map(|attributes| (self.uses, attributes)));
        Some(decision.allowed)
    }

    /// Keeps a decision until an instant, in the place of the least recently used one where there is no room.
    pub(super) fn keep(&mut self, request: AccessAttributes, allowed: bool, now: Duration, until: Duration) {
        if until <= now {
            return;
        }
        self.uses += 1;
        let decision = CachedDecision { allowed, until, used: self.uses };
        if let Some(before) = self.decisions.insert(request.clone(), decision) {
            self.by_use.remove(&before.used);
        }
        self.by_use.insert(self.uses, request);
        if self.decisions.len() > self.most
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.decisions.remove(&oldest);
        }
    }

    pub(super) fn clear(&mut self) {
        self.decisions.clear();
        self.by_use.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> AccessAttributes {
        AccessAttributes { subject: "jane".into(), method: "GET".into(), path: path.into() }
    }

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_decision_holds_until_its_end_and_for_its_request_alone() {
        let mut cache = DecisionCache::new(10);
        cache.keep(of("/a"), true, at(0), at(5));
        cache.keep(of("/b"), false, at(0), at(3));
        assert_eq!((cache.find(&of("/a"), at(4)), cache.find(&of("/b"), at(2))), (Some(true), Some(false)));
        assert_eq!((cache.find(&of("/a"), at(5)), cache.find(&of("/b"), at(3))), (None, None));
        assert_eq!(cache.find(&AccessAttributes { method: "POST".into(), ..of("/a") }, at(1)), None);
        assert!(cache.decisions.is_empty() && cache.by_use.is_empty(), "what is over is gone");
    }

    #[test]
    fn the_least_recently_used_decision_goes_first() {
        let mut cache = DecisionCache::new(2);
        cache.keep(of("/a"), true, at(0), at(9));
        cache.keep(of("/b"), true, at(0), at(9));
        cache.keep(of("/a"), true, at(1), at(9));
        assert_eq!(cache.find(&of("/b"), at(1)), Some(true));
        cache.keep(of("/c"), true, at(2), at(9));
        let found = ["/a", "/b", "/c"].map(|path| cache.find(&of(path), at(2)).is_some());
        assert_eq!(found, [false, true, true]);
        assert_eq!((cache.decisions.len(), cache.by_use.len()), (2, 2));
    }
}

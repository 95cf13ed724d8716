//! Who may do what: decisions that are asked of an API, as by a SubjectAccessReview of Kubernetes, and remembered for a while.

mod decision_cache;
mod token_bucket;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hammer_lab::{
    LabError,
    clock::Clock,
    fault::{Latency, draw},
};

use crate::plan::AuthorizationPlan;
pub(crate) use decision_cache::AccessAttributes;
use decision_cache::DecisionCache;
use token_bucket::TokenBucket;

/// What decides. Requests that miss the cache at the same time each ask, as they do in kube-rbac-proxy.
#[derive(Debug)]
pub(crate) struct Authorizer {
    api: AccessReviewApi,
    cache: Mutex<DecisionCache>,
    bucket: Option<Mutex<TokenBucket>>,
    clock: Arc<dyn Clock>,
    allowed_for: Duration,
    denied_for: Duration,
    hits: AtomicU64,
    misses: AtomicU64,
    wait_ns: AtomicU64,
}

/// The API that knows, after a time.
#[derive(Debug)]
struct AccessReviewApi {
    latency: Latency,
    /// Of the draws of the latency.
    seed: u64,
    asked: AtomicU64,
    denied: Vec<String>,
}

/// What an [`Authorizer`] counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AuthorizationCounts {
    /// Decisions that the cache had.
    pub(crate) hits: u64,
    /// Decisions that were asked for.
    pub(crate) misses: u64,
    /// The time that requests waited before they could ask, over all of them.
    pub(crate) wait: Duration,
}

impl Authorizer {
    /// The authorizer of a plan, whose latencies are drawn by the seed.
    ///
    /// # Errors
    /// A rate of nothing, or a path to be denied that is none; the key is below `authorization`.
    pub(crate) fn new(plan: AuthorizationPlan, seed: u64, clock: Arc<dyn Clock>) -> Result<Self, LabError> {
        let wrong = |key: String, reason: &str| LabError::Plan { key: key.into(), reason: reason.to_owned() };
        if plan.rate.is_some_and(|rate| rate.per_second() <= 0.0) {
            return Err(wrong("rate".to_owned(), "nobody would ever have his turn"));
        }
        let denied: Vec<String> = plan.denied.into_iter().map(String::from).collect();
        if let Some(place) = denied.iter().position(|path| !path.starts_with('/') || path.contains('?')) {
            return Err(wrong(format!("denied[{place}]"), "it is no path that starts with a slash"));
        }
        let bucket = plan.rate.map(|rate| TokenBucket::new(rate.per_second(), plan.burst.get()));
        Ok(Self {
            api: AccessReviewApi { latency: plan.latency, seed, asked: AtomicU64::new(0), denied },
            cache: Mutex::new(DecisionCache::new(plan.max_entries.get())),
            bucket: bucket.map(Mutex::new),
            clock,
            allowed_for: plan.allowed_for.duration(),
            denied_for: plan.denied_for.duration(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            wait_ns: AtomicU64::new(0),
        })
    }

    /// Whether a request is allowed.
    pub(crate) async fn allows(&self, request: AccessAttributes) -> bool {
        if let Some(allowed) = self.cache().find(&request, self.clock.elapsed()) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return allowed;
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        self.take_turn().await;
        let allowed = self.api.decide(&request, &*self.clock).await;
        let now = self.clock.elapsed();
        let kept = if allowed { self.allowed_for } else { self.denied_for };
        self.cache().keep(request, allowed, now, now + kept);
        allowed
    }

    /// Forgets all decisions.
    pub(crate) fn forget(&self) {
        self.cache().clear();
    }

    pub(crate) fn counts(&self) -> AuthorizationCounts {
        AuthorizationCounts {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            wait: Duration::from_nanos(self.wait_ns.load(Ordering::Relaxed)),
        }
    }

    /// Completes when the request may ask. A turn that is reserved is used up, even if whoever waits for it goes away.
    async fn take_turn(&self) {
        let Some(bucket) = &self.bucket else { return };
        let now = self.clock.elapsed();
        // Whoever reserves first has the earlier instant.
        let wait = bucket.lock().unwrap_or_else(PoisonError::into_inner).reserve(now);
        if !wait.is_zero() {
            self.wait_ns.fetch_add(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
            self.clock.sleep_until(now + wait).await;
        }
    }

    fn cache(&self) -> MutexGuard<'_, DecisionCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AccessReviewApi {
    async fn decide(&self, request: &AccessAttributes, clock: &dyn Clock) -> bool {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let draw = |purpose| draw::uniform(self.seed, number, purpose);
        let latency = self.latency.sample(draw(LATENCY), draw(LATENCY + 1));
        if !latency.is_zero() {
            clock.sleep_until(clock.elapsed() + latency).await;
        }
        !self.denied.iter().any(|denied| is_at_or_below(&request.path, denied))
    }
}

/// Whether a path is the other one or lies below it, by whole segments.
fn is_at_or_below(path: &str, other: &str) -> bool {
    let behind = path.strip_prefix(other.trim_end_matches('/'));
    behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('/'))
}

/// The purpose of the draws of latencies; a script of faults uses low numbers.
const LATENCY: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_below_another_by_whole_segments() {
        for (path, other, is_below) in [
            ("/admin", "/admin", true),
            ("/admin/a", "/admin", true),
            ("/admin/a", "/admin/", true),
            ("/administrator", "/admin", false),
            ("/a/admin", "/admin", false),
            ("/anything", "/", true),
        ] {
            assert_eq!(is_at_or_below(path, other), is_below, "{path} {other}");
        }
    }
}

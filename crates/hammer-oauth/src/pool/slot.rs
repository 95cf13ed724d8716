//! One token of a pool.

use super::PoolPlan;
use crate::{grant::GrantedToken, secret::BearerToken};

/// A place for a token: what is kept there, and what is to be done about it.
#[derive(Debug, Clone)]
pub(super) struct TokenSlot {
    kept: Option<GrantedToken>,
    /// When to ask for the next one; none while it is being asked for, or never has to be.
    due_at: Option<i64>,
    /// Failures in a row to be granted one.
    failures: u32,
}

impl Default for TokenSlot {
    /// Empty, and due since ever.
    fn default() -> Self {
        Self { kept: None, due_at: Some(i64::MIN), failures: 0 }
    }
}

impl TokenSlot {
    pub(super) fn due_at(&self) -> Option<i64> {
        self.due_at
    }

    pub(super) fn expires_at(&self) -> Option<i64> {
        self.kept.as_ref()?.expires_at
    }

    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// The token, if it is good at `now`.
    pub(super) fn token(&self, now: i64) -> Option<BearerToken> {
        let kept = self.kept.as_ref()?;
        kept.expires_at.is_none_or(|end| now < end).then(|| kept.token.clone())
    }

    pub(super) fn ask(&mut self) {
        self.due_at = None;
    }

    pub(super) fn keep(&mut self, granted: GrantedToken, plan: &PoolPlan, now: i64) {
        let percent = i128::from(plan.refresh_percent.clamp(1, 99));
        self.due_at = granted.expires_at.map(|end| {
            let life = i128::from(end) - i128::from(now);
            let used = i64::try_from(life * percent / 100).unwrap_or(i64::MAX);
            // Not in the same second, or an issuer of short lives would be asked without an end.
            now.saturating_add(used.max(1))
        });
        self.kept = Some(granted);
        self.failures = 0;
    }

    /// The token that is there, if there is one, stays until its end.
    pub(super) fn fail(&mut self, plan: &PoolPlan, now: i64) {
        let doubled = plan.first_backoff.max(1).checked_mul(1 << self.failures.min(62));
        let wait = doubled.unwrap_or(i64::MAX).min(plan.longest_backoff.max(1));
        self.due_at = Some(now.saturating_add(wait));
        self.failures = self.failures.saturating_add(1);
    }

    /// Takes the token out if it is over, and says since when.
    pub(super) fn expire(&mut self, now: i64) -> Option<i64> {
        let end = self.expires_at().filter(|end| *end <= now)?;
        self.kept = None;
        Some(end)
    }
}

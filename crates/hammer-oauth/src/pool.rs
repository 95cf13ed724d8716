//! Tokens that are kept fresh: which one to use now, and when to ask for the next. A machine of states without input or output; who
//! drives it asks the issuer, and says what came of it.

mod slot;

use slot::TokenSlot;

use crate::{grant::GrantedToken, secret::BearerToken};

/// How many tokens are kept, and when they are refreshed. Spans are in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolPlan {
    /// How many tokens; 0 is taken for 1.
    pub size: usize,
    /// The share of a token's life after which the next one is asked for, in percent; taken for 1 below, and for 99 above.
    pub refresh_percent: u8,
    /// How long to wait after the first failure to be granted a token, at least 1; it doubles with every further one.
    pub first_backoff: i64,
    /// The longest wait.
    pub longest_backoff: i64,
}

impl Default for PoolPlan {
    fn default() -> Self {
        Self { size: 1, refresh_percent: 75, first_backoff: 1, longest_backoff: 60 }
    }
}

/// The place of a token in its pool, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PoolSlot(pub usize);

/// What became of a token. Each is told once, however often the token would have been used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolEvent {
    /// A token's end is over, and there is no other one in its place.
    Expired {
        /// The token's place.
        slot: PoolSlot,
        /// The first second at which it was no longer good.
        at: i64,
        /// How often a refresh had failed by then.
        failures: u32,
    },
}

/// Tokens of one issuer for one purpose. Times are seconds since the Unix epoch, and must not go back.
#[derive(Debug, Clone)]
pub struct TokenPool {
    plan: PoolPlan,
    slots: Vec<TokenSlot>,
    /// The place that is tried first when a token is used.
    next: usize,
}

impl TokenPool {
    /// A pool without tokens, all of which are to be asked for at once.
    pub fn new(plan: PoolPlan) -> Self {
        Self { plan, slots: vec![TokenSlot::default(); plan.size.max(1)], next: 0 }
    }

    /// A place whose token is to be asked for now; the caller answers with [`TokenPool::granted`] or [`TokenPool::failed`], and until
    /// then the place is not told again.
    pub fn take_due(&mut self, now: i64) -> Option<PoolSlot> {
        let place = self.slots.iter().position(|slot| slot.due_at().is_some_and(|due| due <= now))?;
        self.slots[place].ask();
        Some(PoolSlot(place))
    }

    /// When [`TokenPool::take_due`] or [`TokenPool::sweep`] has something to tell next; none while everything is asked for and
    /// nothing can expire.
    pub fn next_change(&self) -> Option<i64> {
        self.slots.iter().flat_map(|slot| [slot.due_at(), slot.expires_at()]).flatten().min()
    }

    /// When [`TokenPool::take_due`] has something to tell next; none while everything is asked for, or never has to be.
    pub fn next_due(&self) -> Option<i64> {
        self.slots.iter().filter_map(TokenSlot::due_at).min()
    }

    /// A token was granted for this place at `now`. One that is over already is a failure.
    pub fn granted(&mut self, slot: PoolSlot, granted: GrantedToken, now: i64) {
        let Some(kept) = self.slots.get_mut(slot.0) else { return };
        if granted.expires_at.is_some_and(|end| end <= now) {
            kept.fail(&self.plan, now);
        } else {
            kept.keep(granted, &self.plan, now);
        }
    }

    /// No token was granted for this place; `now` is when that was known.
    pub fn failed(&mut self, slot: PoolSlot, now: i64) {
        if let Some(kept) = self.slots.get_mut(slot.0) {
            kept.fail(&self.plan, now);
        }
    }

    /// The token to use at `now`: of those that are good, one after another. None where there is none.
    pub fn token(&mut self, now: i64) -> Option<BearerToken> {
        let count = self.slots.len();
        let places = (self.next..count).chain(0..self.next);
        let (place, token) =
            places.into_iter().find_map(|place| Some((place, self.slots[place].token(now)?)))?;
        self.next = (place + 1) % count;
        Some(token)
    }

    /// How many tokens are good at `now`.
    pub fn good(&self, now: i64) -> usize {
        self.slots.iter().filter(|slot| slot.token(now).is_some()).count()
    }

    /// Takes out what is over at `now`, and tells it.
    pub fn sweep(&mut self, now: i64) -> Vec<PoolEvent> {
        let expired = |(place, slot): (usize, &mut TokenSlot)| {
            let at = slot.expire(now)?;
            Some(PoolEvent::Expired { slot: PoolSlot(place), at, failures: slot.failures() })
        };
        self.slots.iter_mut().enumerate().filter_map(expired).collect()
    }
}

#[cfg(test)]
mod tests;

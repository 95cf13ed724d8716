//! A fill: so many operations that have to be accepted, whoever sends them, and how far it has come.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hammer_measure::{Fate, Outcome};

use crate::ended::Ended;

/// So many operations that are to be accepted, by users who wait for their answers. What fails is tried again as another operation, so
/// that nothing is sent twice, until too many fail. Every end crosses these counters: a fill is no measurement.
#[derive(Debug)]
pub struct FillGoal {
    operations: u64,
    first: u64,
    limits: FillLimits,
    accepted: AtomicU64,
    failed: AtomicU64,
    in_a_row: AtomicU64,
    has_given_up: AtomicBool,
    first_failure: Mutex<Option<FillFailure>>,
}

/// How many operations of a fill may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillLimits {
    /// In all.
    pub failed: u64,
    /// One after another, without one between them that is accepted.
    pub in_a_row: u64,
}

/// An operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillFailure {
    /// Its number.
    pub seq: u64,
    /// How it ended.
    pub ended: Ended,
    /// How many had been accepted by then.
    pub accepted: u64,
}

/// A shard's part of a goal: every n-th operation, and one more for each that fails.
#[derive(Debug)]
pub(super) struct FillShare {
    goal: std::sync::Arc<FillGoal>,
    place: u64,
    takers: u64,
    next: u64,
    end: u64,
    under_way: u64,
}

impl FillGoal {
    /// So many operations, numbered from `first` on.
    pub fn new(operations: u64, first: u64, limits: FillLimits) -> Self {
        Self {
            operations,
            first,
            limits,
            accepted: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            in_a_row: AtomicU64::new(0),
            has_given_up: AtomicBool::new(false),
            first_failure: Mutex::new(None),
        }
    }

    /// How many are to be accepted.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// How many were.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// How many failed.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Whether too many failed for it to go on.
    pub fn has_given_up(&self) -> bool {
        self.has_given_up.load(Ordering::Relaxed)
    }

    /// By what it gave up, as a sentence without its full stop; none where it did not.
    pub fn why_given_up(&self) -> Option<String> {
        let FillFailure { ended, .. } = self.first_failure().filter(|_| self.has_given_up())?;
        let (failed, fate) = (self.failed(), Fate::from(ended.outcome).name().replace('_', " "));
        let operations = if failed == 1 { "operation" } else { "operations" };
        Some(format!(
            "the fill gave up: {failed} {operations} failed, the first of the last row by {fate} ({})",
            ended.detail
        ))
    }

    /// The first failure since anything was accepted last, or of those that came last: what stopped the fill, where it stopped.
    pub fn first_failure(&self) -> Option<FillFailure> {
        *self.first_failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self, seq: u64, ended: Ended) {
        if ended.outcome == Outcome::Accepted {
            self.accepted.fetch_add(1, Ordering::Relaxed);
            self.in_a_row.store(0, Ordering::Relaxed);
            return;
        }
        let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
        let in_a_row = self.in_a_row.fetch_add(1, Ordering::Relaxed) + 1;
        if in_a_row == 1 {
            let failure = FillFailure { seq, ended, accepted: self.accepted() };
            *self.first_failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        }
        if failed > self.limits.failed || in_a_row >= self.limits.in_a_row {
            self.has_given_up.store(true, Ordering::Relaxed);
        }
    }
}

impl FillShare {
    /// That of the shard in this place among those that take part.
    pub(super) fn new(goal: std::sync::Arc<FillGoal>, place: u64, takers: u64) -> Self {
        let end = goal.operations.saturating_sub(place).div_ceil(takers);
        Self { goal, place, takers, next: 0, end, under_way: 0 }
    }

    /// The number of the next operation.
    pub(super) fn next(&mut self) -> Option<u64> {
        if self.next == self.end || self.goal.has_given_up() {
            return None;
        }
        let seq = self.goal.first + self.place + self.next * self.takers;
        self.next += 1;
        Some(seq)
    }

    /// An operation starts.
    pub(super) fn started(&mut self) {
        self.under_way += 1;
    }

    /// One has ended; another takes the place of one that failed.
    pub(super) fn ended(&mut self, seq: u64, ended: Ended) {
        self.under_way -= 1;
        self.goal.ended(seq, ended);
        self.end += u64::from(ended.outcome != Outcome::Accepted);
    }

    /// Whether one that is under way may yet need another in its place.
    pub(super) fn may_grow(&self) -> bool {
        self.under_way > 0 && !self.goal.has_given_up()
    }

    /// Whether nothing is left to ask for, as things stand.
    pub(super) fn is_asked(&self) -> bool {
        self.next == self.end || self.goal.has_given_up()
    }

    pub(super) fn has_given_up(&self) -> bool {
        self.goal.has_given_up()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const FAILED: Ended = Ended::of_status(500);
    const ACCEPTED: Ended = Ended::accepted(200);

    fn goal(operations: u64) -> Arc<FillGoal> {
        Arc::new(FillGoal::new(operations, 100, FillLimits { failed: 5, in_a_row: 3 }))
    }

    #[test]
    fn the_shares_of_shards_are_the_whole_and_no_number_comes_twice() {
        let goal = goal(11);
        let mut shares: Vec<_> = (0..3).map(|place| FillShare::new(goal.clone(), place, 3)).collect();
        // One that failed has another in its place, beyond all others.
        shares[1].next();
        shares[1].started();
        shares[1].ended(101, FAILED);
        let mut seqs: Vec<u64> =
            shares.iter_mut().flat_map(|share| std::iter::from_fn(|| share.next())).collect();
        seqs.push(101);
        seqs.sort_unstable();
        assert_eq!(seqs.len(), 12);
        assert!(seqs.windows(2).all(|two| two[0] < two[1]) && seqs[0] == 100, "{seqs:?}");
    }

    #[test]
    fn a_row_of_failures_ends_it_and_its_first_is_the_cause() {
        let goal = goal(100);
        let mut share = FillShare::new(goal.clone(), 0, 1);
        let mut carry_out = |ended| {
            let seq = share.next()?;
            share.started();
            share.ended(seq, ended);
            Some(seq)
        };
        for ended in [FAILED, ACCEPTED, FAILED, FAILED] {
            assert!(carry_out(ended).is_some() && !goal.has_given_up());
        }
        assert_eq!(carry_out(FAILED), Some(104));
        assert!(goal.has_given_up() && carry_out(ACCEPTED).is_none());
        assert_eq!(goal.first_failure(), Some(FillFailure { seq: 102, ended: FAILED, accepted: 1 }));
        assert_eq!((goal.accepted(), goal.failed()), (1, 4));
    }

    #[test]
    fn failures_apart_from_each_other_end_it_once_there_are_too_many() {
        let goal = goal(100);
        let mut share = FillShare::new(goal.clone(), 0, 1);
        let mut sent = 0;
        while let Some(seq) = share.next() {
            share.started();
            share.ended(seq, if sent % 2 == 0 { FAILED } else { ACCEPTED });
            sent += 1;
        }
        assert_eq!((goal.failed(), goal.accepted()), (6, 5));
    }
}

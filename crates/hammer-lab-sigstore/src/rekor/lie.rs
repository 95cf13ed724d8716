//! Promises that a log breaks on purpose, by rules; and the list of those that it broke. New entries are counted in the order in
//! which they are accepted, consistency proofs and heads in that in which they are answered; a fork starts once the tree has so
//! many, and is told once.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hammer_lab::lie_rule::LieRule;
use hammer_tlog::logs::merkle::{Hash, NodeReader as _, Tree, sha256};
use serde::{Deserialize, Serialize};

/// A lie that a log told. What it is of can be found out by whoever was lied to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldRekorLie<K> {
    /// What the lie was.
    pub kind: K,
    /// The uuid of the entry, in Rekor v1: 16 hex digits of the tree's id, and 64 of the leaf hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The index that the entry has in the tree, or was promised where it never got one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_index: Option<u64>,
    /// The hash of the leaf that was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf_hash: Option<Hash>,
    /// The size of the tree from which on it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_size: Option<u64>,
    /// The root of the other tree at that size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_hash: Option<Hash>,
}

/// A kind of lie.
pub(crate) trait LieAbout: Copy + Eq {
    /// What it is of.
    fn subject(self) -> LieSubject;
}

/// What a lie is of, which is what its rule counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LieSubject {
    /// One new entry.
    Entry,
    /// The whole tree, from some size on.
    Tree,
    /// One consistency proof.
    Proof,
    /// One answer with the log's head: its information, or its checkpoint.
    Head,
}

/// The rules at work, and what was told; an honest log has no rules.
#[derive(Debug)]
pub(crate) struct EntryLies<K> {
    inner: Mutex<LiesAtWork<K>>,
}

#[derive(Debug)]
struct LiesAtWork<K> {
    started_at: Duration,
    rules: Vec<CountedRule<K>>,
    told: Vec<ToldRekorLie<K>>,
    unlisted: u64,
}

/// A rule, and how far it has come.
#[derive(Debug)]
struct CountedRule<K> {
    rule: LieRule<K>,
    /// What was counted, started or not.
    seen: u64,
    /// What was counted since the start.
    started: u64,
    told: u64,
}

impl<K: LieAbout> EntryLies<K> {
    /// `elapsed` is the log's start.
    pub(crate) fn new(lies: Vec<LieRule<K>>, elapsed: Duration) -> Self {
        let rules = lies.into_iter().map(|rule| CountedRule { rule, seen: 0, started: 0, told: 0 });
        let inner = LiesAtWork { started_at: elapsed, rules: rules.collect(), told: Vec::new(), unlisted: 0 };
        Self { inner: Mutex::new(inner) }
    }

    /// Counts the times of the rules from `elapsed`.
    pub(crate) fn restart(&self, elapsed: Duration) {
        self.lock().started_at = elapsed;
    }

    /// Counts a new entry, and says what is lied about it.
    pub(crate) fn next_entry(&self, elapsed: Duration) -> Option<K> {
        self.next(elapsed, LieSubject::Entry)
    }

    /// Counts a consistency proof, and says what is lied about it.
    pub(crate) fn next_proof(&self, elapsed: Duration) -> Option<K> {
        self.next(elapsed, LieSubject::Proof)
    }

    /// Counts an answer with the log's head, and says what is lied in it.
    pub(crate) fn next_head(&self, elapsed: Duration) -> Option<K> {
        self.next(elapsed, LieSubject::Head)
    }

    fn next(&self, elapsed: Duration, subject: LieSubject) -> Option<K> {
        let mut inner = self.lock();
        let since = elapsed.saturating_sub(inner.started_at);
        let mut due = None;
        for counted in inner.rules.iter_mut().filter(|counted| counted.rule.kind.subject() == subject) {
            // Every rule counts each of them, whichever has it.
            let is_due = counted.next(since, due.is_none());
            due = due.or(is_due.then_some(counted.rule.kind));
        }
        due
    }

    /// Whether the tree of `size` leaves is to be another from now on; said once.
    pub(crate) fn forks(&self, elapsed: Duration, size: u64) -> Option<K> {
        let mut inner = self.lock();
        let since = elapsed.saturating_sub(inner.started_at);
        let mut rules = inner.rules.iter_mut();
        let forking = rules.find(|counted| {
            let due = counted.told == 0 && size >= counted.rule.after.max(1) && counted.has_begun(since);
            counted.rule.kind.subject() == LieSubject::Tree && due
        })?;
        forking.told = 1;
        Some(forking.rule.kind)
    }

    /// Notes a lie.
    pub(crate) fn tell(&self, lie: ToldRekorLie<K>) {
        let mut inner = self.lock();
        if inner.told.len() < MOST_LISTED {
            inner.told.push(lie);
        } else {
            inner.unlisted += 1;
        }
    }

    /// What was told, in order, and the count of lies beyond those that are listed.
    pub(crate) fn told(&self) -> (Vec<ToldRekorLie<K>>, u64)
    where
        K: Clone,
    {
        let inner = self.lock();
        (inner.told.clone(), inner.unlisted)
    }

    fn lock(&self) -> MutexGuard<'_, LiesAtWork<K>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> CountedRule<K> {
    /// Counts an entry, and says whether it has the lie, which it can only where it is `free`.
    fn next(&mut self, since: Duration, free: bool) -> bool {
        self.seen += 1;
        if self.seen <= self.rule.after || !self.has_begun(since) {
            return false;
        }
        let nth = self.started;
        self.started += 1;
        let due = free
            && nth.is_multiple_of(self.rule.every.get() as u64)
            && self.rule.times.is_none_or(|times| self.told < times);
        self.told += u64::from(due);
        due
    }

    fn has_begun(&self, since: Duration) -> bool {
        self.rule.at.is_none_or(|at| since >= at.duration())
    }
}

/// A tree with another first leaf: whoever has seen any head of the true one sees the fork.
pub(crate) fn forked(tree: &Tree) -> Tree {
    let first = tree.node(0, 0).map(|leaf| sha256(leaf.as_bytes()));
    first.into_iter().chain(tree.leaves().iter().skip(1).copied()).collect()
}

/// An audit path that leads to no root of the tree.
pub(crate) fn altered_path(mut path: Vec<Hash>) -> Vec<Hash> {
    match path.first_mut() {
        Some(hash) => hash.0[31] ^= 1,
        None => path.push(sha256(b"no sibling")),
    }
    path
}

/// Lies that are listed one by one.
const MOST_LISTED: usize = 10_000;

#[cfg(test)]
mod tests {
    use hammer_values::{Count, TimeSpan};

    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Kind {
        Entry,
        Other,
        Tree,
        Info,
    }

    impl LieAbout for Kind {
        fn subject(self) -> LieSubject {
            match self {
                Self::Entry | Self::Other => LieSubject::Entry,
                Self::Tree => LieSubject::Tree,
                Self::Info => LieSubject::Head,
            }
        }
    }

    fn dues(lie: LieRule<Kind>, count: u64) -> Vec<u64> {
        let lies = EntryLies::new(vec![lie], Duration::ZERO);
        (0..count).filter(|ms| lies.next_entry(Duration::from_millis(*ms)).is_some()).collect()
    }

    #[test]
    fn a_rule_starts_after_its_entries_and_has_every_nth_at_most_so_often() {
        let lie = LieRule { after: 3, every: Count::at_least_one(4), ..LieRule::of(Kind::Entry) };
        assert_eq!(dues(lie.clone(), 16), [3, 7, 11, 15]);
        assert_eq!(dues(LieRule { times: Some(2), ..lie.clone() }, 16), [3, 7]);
        assert_eq!(dues(LieRule { at: Some(TimeSpan::from_millis(10)), ..lie }, 16), [10, 14]);
    }

    #[test]
    fn a_tree_forks_once_it_has_its_size_and_never_again() {
        let lies = EntryLies::new(vec![LieRule { after: 5, ..LieRule::of(Kind::Tree) }], Duration::ZERO);
        let forks: Vec<u64> = (0..9).filter(|size| lies.forks(Duration::ZERO, *size).is_some()).collect();
        assert_eq!(forks, [5]);
        assert_eq!(lies.next_entry(Duration::ZERO), None);
    }

    #[test]
    fn a_rule_counts_what_it_is_of_alone() {
        let rule = |kind| LieRule { after: 1, ..LieRule::of(kind) };
        let lies = EntryLies::new(vec![rule(Kind::Entry), rule(Kind::Info)], Duration::ZERO);
        assert_eq!([(); 2].map(|()| lies.next_entry(Duration::ZERO)), [None, Some(Kind::Entry)]);
        assert_eq!([(); 2].map(|()| lies.next_head(Duration::ZERO)), [None, Some(Kind::Info)]);
        assert_eq!(lies.next_proof(Duration::ZERO), None);
    }

    #[test]
    fn an_altered_path_is_another_even_where_there_is_none() {
        for length in 0..3 {
            let path = vec![sha256(b"a sibling"); length];
            assert_ne!(altered_path(path.clone()), path);
        }
    }

    #[test]
    fn the_first_rule_that_is_due_has_the_entry_and_the_other_keeps_its_times() {
        let every_second = LieRule { every: Count::at_least_one(2), ..LieRule::of(Kind::Entry) };
        let twice = LieRule { times: Some(2), ..LieRule::of(Kind::Other) };
        let lies = EntryLies::new(vec![every_second, twice], Duration::ZERO);
        let told: Vec<_> = (0..6).map(|_| lies.next_entry(Duration::ZERO)).collect();
        let (entry, other) = (Some(Kind::Entry), Some(Kind::Other));
        assert_eq!(told, [entry, other, entry, other, entry, None]);
    }
}

//! The promises of one workload, counted by kind and by many threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hammer_measure::Ledger;

/// Which of the promises that its workload names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromiseKind(pub u8);

/// The promises of one workload. Only `made` and the verdicts are stored; what is pending is what is left.
#[derive(Debug)]
pub struct PromiseLedger {
    kinds: Vec<(&'static str, LedgerCells)>,
    /// Of those that are pending, the ones that nobody will judge any more.
    beyond: AtomicU64,
    /// Why promises are unchecked, as far as that was told.
    reasons: Mutex<Vec<String>>,
}

#[derive(Debug, Default)]
struct LedgerCells {
    made: AtomicU64,
    kept: AtomicU64,
    broken: AtomicU64,
    unchecked: AtomicU64,
}

impl PromiseLedger {
    /// An empty ledger of promises of these kinds.
    pub fn new(kinds: &[&'static str]) -> Self {
        let kinds = kinds.iter().map(|kind| (*kind, LedgerCells::default())).collect();
        Self { kinds, beyond: AtomicU64::new(0), reasons: Mutex::default() }
    }

    /// A promise was made; nothing follows from when that is seen, since a verdict on it comes later by a queue.
    pub(crate) fn made(&self, kind: PromiseKind) {
        self.cells(kind).made.fetch_add(1, Ordering::Relaxed);
    }

    // Verdicts are released after what they are about was made, and acquired before that is read: see `LedgerCells::read`.

    pub(crate) fn kept(&self, kind: PromiseKind) {
        self.cells(kind).kept.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn broken(&self, kind: PromiseKind) {
        self.cells(kind).broken.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn unchecked(&self, kind: PromiseKind) {
        self.cells(kind).unchecked.fetch_add(1, Ordering::Release);
    }

    /// Whether nobody told before why promises are unchecked; of too many reasons none is new.
    pub(crate) fn is_new_reason(&self, why: &str) -> bool {
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = reasons.len() < MOST_REASONS && !reasons.iter().any(|known| known == why);
        if is_new {
            reasons.push(why.to_owned());
        }
        is_new
    }

    /// Of the pending promises `now` will never be judged, and `before` were said to be so.
    pub(crate) fn beyond_judgement(&self, before: u64, now: u64) {
        // Released behind the verdicts of this thread that led to it: who sees it sees them when it looks again.
        self.beyond.fetch_add(now.wrapping_sub(before), Ordering::Release);
    }

    /// How many of the pending promises may still be judged.
    pub fn awaited(&self) -> u64 {
        // The second is read later, and may know of promises that the first does not: then none is awaited.
        self.read().pending.saturating_sub(self.beyond.load(Ordering::Acquire))
    }

    /// The ledger now, over all kinds.
    pub fn read(&self) -> Ledger {
        let mut all = Ledger::default();
        self.kinds.iter().for_each(|(_, cells)| all.add(&cells.read()));
        all
    }

    /// The ledger now, by kind.
    pub fn by_kind(&self) -> impl Iterator<Item = (&'static str, Ledger)> {
        self.kinds.iter().map(|(kind, cells)| (*kind, cells.read()))
    }

    fn cells(&self, PromiseKind(kind): PromiseKind) -> &LedgerCells {
        &self.kinds[usize::from(kind)].1
    }
}

impl LedgerCells {
    /// Verdicts are read before what was made, so that none is seen without its promise.
    fn read(&self) -> Ledger {
        let kept = self.kept.load(Ordering::Acquire);
        let broken = self.broken.load(Ordering::Acquire);
        let unchecked = self.unchecked.load(Ordering::Acquire);
        let made = self.made.load(Ordering::Acquire);
        // A promise that was judged twice must not wrap around: the ledger does not balance, and says so.
        let pending = made.saturating_sub(kept + broken + unchecked);
        Ledger { made, kept, broken, pending, unchecked }
    }
}

/// Reasons may name what is different in each promise.
const MOST_REASONS: usize = 16;

//! Where verdicts go.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hammer_measure::promise::Breach;

use super::fault::Fault;
use super::ledger::{PromiseKind, PromiseLedger};

/// The verdicts of one verifier thread.
pub struct Verdicts {
    workload: String,
    ledger: Arc<PromiseLedger>,
    broken: Box<dyn Fn(BrokenPromise) + Send>,
    resolved: u64,
    /// The parts of the workload whose promises are judged now, the outer first: a name, and what each kind of the part is of the
    /// workload's.
    parts: Vec<(Arc<str>, Arc<[PromiseKind]>)>,
    evidence: Arc<AtomicUsize>,
}

/// A promise that was found broken, and what the server said that shows it.
#[derive(Clone, Debug)]
pub struct BrokenPromise {
    /// Which, and how.
    pub breach: Breach,
    /// The record of the promise as the shard made it, as far as there is room for it.
    pub evidence: Option<Arc<[u8]>>,
}

impl Verdicts {
    /// Verdicts on the promises of `workload`; `broken` is told of each broken one.
    pub fn new(
        workload: &str,
        ledger: Arc<PromiseLedger>,
        broken: Box<dyn Fn(BrokenPromise) + Send>,
    ) -> Self {
        let (parts, evidence) = (Vec::new(), Arc::default());
        Self { workload: workload.to_owned(), ledger, broken, resolved: 0, parts, evidence }
    }

    /// The promises that `judge` judges were received by that part of the workload: what is found starts with its name, and its
    /// kinds are those of the workload that `kinds` says.
    pub fn of_part(&mut self, name: &Arc<str>, kinds: &Arc<[PromiseKind]>, judge: impl FnOnce(&mut Self)) {
        self.parts.push((name.clone(), kinds.clone()));
        judge(self);
        self.parts.pop();
    }

    /// The name of the innermost part whose promises are judged now, where there are parts.
    pub fn part(&self) -> Option<&Arc<str>> {
        self.parts.last().map(|(name, _)| name)
    }

    /// The promise was checked, and is true.
    pub fn kept(&mut self, kind: PromiseKind) {
        self.resolved += 1;
        self.ledger.kept(self.outermost(kind));
    }

    /// The promise of operation `seq` was checked, and is false; `record` is what shows it, where that is at hand.
    pub fn broken(&mut self, kind: PromiseKind, seq: u64, fault: Fault, record: Option<&[u8]>) {
        self.resolved += 1;
        self.ledger.broken(self.outermost(kind));
        let Fault { kind, place, detail } = fault;
        let detail = self.parts.iter().rev().fold(detail, |detail, (name, _)| format!("{name}: {detail}"));
        let (workload, kind) = (self.workload.clone(), kind.to_owned());
        let breach = Breach { workload, seq: Some(seq), kind, index: place, detail }.shortened();
        let evidence = record.filter(|record| self.has_room_for(record.len())).map(Arc::from);
        (self.broken)(BrokenPromise { breach, evidence });
    }

    /// The promise could not be checked: our fault.
    pub fn unchecked(&mut self, kind: PromiseKind) {
        let kind = self.outermost(kind);
        self.unchecked_as_received(kind);
    }

    /// The same of a promise whose kind is already that of the whole workload.
    pub(crate) fn unchecked_as_received(&mut self, kind: PromiseKind) {
        self.resolved += 1;
        self.ledger.unchecked(kind);
    }

    /// Of the pending promises `now` will never be judged, and `before` were said to be so: a run does not wait for them.
    pub fn beyond_judgement(&mut self, before: u64, now: u64) {
        self.ledger.beyond_judgement(before, now);
    }

    /// How many were judged here.
    pub fn resolved(&self) -> u64 {
        self.resolved
    }

    fn outermost(&self, kind: PromiseKind) -> PromiseKind {
        self.parts.iter().rev().fold(kind, |kind, (_, kinds)| kinds[usize::from(kind.0)])
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        // A sum that bounds memory: nothing else is seen by it.
        bytes <= MOST_OF_ONE && self.evidence.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST_EVIDENCE
    }
}

/// Bytes of evidence that a verifier thread keeps over a whole run: a log that lies in every answer shows the same thing each time.
const MOST_EVIDENCE: usize = 4 << 20;
/// Of one promise: a bundle and what it is held against.
const MOST_OF_ONE: usize = 1 << 20;

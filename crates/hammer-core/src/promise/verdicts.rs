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
    tell: Box<dyn Fn(Finding) + Send>,
    resolved: u64,
    /// The parts of the workload whose promises are judged now, the outer first: a name, and what each kind of the part is of the
    /// workload's.
    parts: Vec<(Arc<str>, Arc<[PromiseKind]>)>,
    evidence: Arc<AtomicUsize>,
}

/// What verifiers find that has to be told at once.
#[derive(Clone, Debug)]
pub enum Finding {
    /// A promise is broken.
    Broken(BrokenPromise),
    /// Promises are unchecked for this reason, which was not told before.
    Unverified(String),
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
    /// Verdicts on the promises of `workload`; `tell` is told of each broken one, and of each reason why others are unchecked.
    pub fn new(workload: &str, ledger: Arc<PromiseLedger>, tell: Box<dyn Fn(Finding) + Send>) -> Self {
        let (parts, evidence) = (Vec::new(), Arc::default());
        Self { workload: workload.to_owned(), ledger, tell, resolved: 0, parts, evidence }
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
        let detail = self.within_parts(detail);
        let (workload, kind) = (self.workload.clone(), kind.to_owned());
        let breach = Breach { workload, seq: Some(seq), kind, index: place, detail }.shortened();
        let evidence = record.filter(|record| self.has_room_for(record.len())).map(Arc::from);
        (self.tell)(Finding::Broken(BrokenPromise { breach, evidence }));
    }

    /// The promise cannot be checked here, since it is by something that is not known here: said once of each reason, as long as
    /// there are not too many of them.
    pub fn unverified(&mut self, kind: PromiseKind, why: &str) {
        self.unchecked(kind);
        if why.is_empty() {
            return;
        }
        let why = self.within_parts(why.to_owned());
        if self.ledger.is_new_reason(&why) {
            (self.tell)(Finding::Unverified(format!("promises of {} are unchecked: {why}", self.workload)));
        }
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

    fn within_parts(&self, detail: String) -> String {
        self.parts.iter().rev().fold(detail, |detail, (name, _)| format!("{name}: {detail}"))
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_reason_why_promises_are_unchecked_is_told_once_by_all_verifiers() {
        let ledger = Arc::new(PromiseLedger::new(&["sct"]));
        let told = Arc::new(Mutex::new(Vec::new()));
        let mut verdicts = [(), ()].map(|()| {
            let told = told.clone();
            let tell = move |finding| {
                let Finding::Unverified(text) = finding else { panic!("{finding:?}") };
                told.lock().unwrap().push(text);
            };
            Verdicts::new("sign", ledger.clone(), Box::new(tell))
        });
        let kind = PromiseKind::default();
        for verdicts in &mut verdicts {
            for why in ["", "another curve", "another curve"] {
                ledger.made(kind);
                verdicts.unverified(kind, why);
            }
            verdicts.of_part(&"v2".into(), &[kind].into(), |part| part.unverified(kind, "another curve"));
            ledger.made(kind);
        }
        assert_eq!(ledger.read().unchecked, 8);
        let expected = ["another curve", "v2: another curve"];
        assert_eq!(
            *told.lock().unwrap(),
            expected.map(|why| format!("promises of sign are unchecked: {why}"))
        );
        for number in 0..100 {
            ledger.made(kind);
            verdicts[0].unverified(kind, &number.to_string());
        }
        assert_eq!(told.lock().unwrap().len(), 16);
    }
}

//! Promises on their way to the threads that check them. Checks never run on a shard: it copies a record into a bounded
//! ring of bytes; what does not fit spills to a file and is checked in drain.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hammer_measure::promise::Breach;
use hammer_measure::{Ledger, Nanos};

mod pool;
mod transport;

pub use pool::{RingSender, VerifierWork, VerifyPool};
pub use transport::records::Records;
use transport::ring::RecordWriter;

/// Checks promises, on a thread of its own.
pub trait Verifier: Send {
    /// Judges the promise that operation `seq` received, or keeps it for [`Verifier::tick`].
    fn check(&mut self, seq: u64, record: &[u8], now: Nanos, verdicts: &mut Verdicts);

    /// Judges promises as [`Verifier::check`] would one after another, where a few at once are cheaper.
    fn check_all(&mut self, records: &Records, now: Nanos, verdicts: &mut Verdicts) {
        records.iter().for_each(|(seq, record)| self.check(seq, record, now, verdicts));
    }

    /// Judges what could not be judged at once; called again and again.
    fn tick(&mut self, _now: Nanos, _verdicts: &mut Verdicts) {}
}

/// Where verdicts go.
pub struct Verdicts {
    workload: String,
    ledger: Arc<LedgerCells>,
    broken: Box<dyn Fn(Breach) + Send>,
    resolved: u64,
    /// Which of several targets the promises are of that are judged now.
    target: Option<Arc<str>>,
}

/// The promises of one workload, counted by many threads; only `made` and the verdicts are stored, what is pending is
/// what is left.
#[derive(Debug, Default)]
pub struct LedgerCells {
    made: AtomicU64,
    kept: AtomicU64,
    broken: AtomicU64,
    unchecked: AtomicU64,
    /// Of those that are pending, the ones that nobody will judge any more.
    beyond: AtomicU64,
}

/// The shard's end: cheap to clone within the shard.
#[derive(Clone)]
pub struct PromiseSender {
    writer: Rc<RefCell<RecordWriter>>,
}

impl PromiseSender {
    pub(crate) fn new(writer: RecordWriter) -> Self {
        Self { writer: Rc::new(RefCell::new(writer)) }
    }

    pub(crate) fn send(&self, seq: u64, record: &[u8]) {
        self.writer.borrow_mut().write(seq, record);
    }

    /// A promise was made that nobody will be able to judge.
    pub(crate) fn leave_unchecked(&self) {
        self.writer.borrow().leave_unchecked();
    }

    pub(crate) fn wake(&self) {
        self.writer.borrow_mut().wake();
    }
}

impl Verdicts {
    /// Verdicts on the promises of `workload`; `broken` is told of each broken one.
    pub fn new(workload: &str, ledger: Arc<LedgerCells>, broken: Box<dyn Fn(Breach) + Send>) -> Self {
        Self { workload: workload.to_owned(), ledger, broken, resolved: 0, target: None }
    }

    /// Where `judge` finds a promise broken, what was found begins with the name of the target that made it.
    pub fn of_target(&mut self, name: &Arc<str>, judge: impl FnOnce(&mut Self)) {
        let outer = self.target.replace(name.clone());
        judge(self);
        self.target = outer;
    }

    /// The target that made the promises that are judged now, where there are several.
    pub fn target(&self) -> Option<&Arc<str>> {
        self.target.as_ref()
    }

    /// The promise was checked, and is true.
    pub fn kept(&mut self) {
        self.resolved += 1;
        self.ledger.kept.fetch_add(1, Ordering::Release);
    }

    /// The promise of operation `seq` was checked, and is false: `kind` in the field's words, `index` the entry that it is
    /// about, where there is one, `detail` what was found.
    pub fn broken(&mut self, seq: u64, kind: &str, index: Option<u64>, detail: String) {
        self.resolved += 1;
        self.ledger.broken.fetch_add(1, Ordering::Release);
        let detail = match &self.target {
            Some(name) => format!("{name}: {detail}"),
            None => detail,
        };
        let (workload, kind) = (self.workload.clone(), kind.to_owned());
        (self.broken)(Breach { workload, seq: Some(seq), kind, index, detail });
    }

    /// The promise could not be checked: our fault.
    pub fn unchecked(&mut self) {
        self.resolved += 1;
        self.ledger.unchecked.fetch_add(1, Ordering::Release);
    }

    /// Of the pending promises `now` will never be judged, and `before` were said to be so: a run does not wait for them.
    pub fn beyond_judgement(&mut self, before: u64, now: u64) {
        self.ledger.beyond.fetch_add(now.wrapping_sub(before), Ordering::Release);
    }

    /// How many were judged here.
    pub fn resolved(&self) -> u64 {
        self.resolved
    }
}

impl LedgerCells {
    pub(crate) fn unchecked(&self) {
        self.unchecked.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn made(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    /// How many of the pending promises may still be judged.
    pub fn awaited(&self) -> u64 {
        self.read().pending.saturating_sub(self.beyond.load(Ordering::Acquire))
    }

    /// The ledger now. Verdicts are read before what was made, so that none is seen without its promise.
    pub fn read(&self) -> Ledger {
        let kept = self.kept.load(Ordering::Acquire);
        let broken = self.broken.load(Ordering::Acquire);
        let unchecked = self.unchecked.load(Ordering::Acquire);
        let made = self.made.load(Ordering::Acquire);
        // A promise that was judged twice must not wrap around: the ledger does not balance, and says so.
        let pending = made.saturating_sub(kept + broken + unchecked);
        Ledger { made, kept, broken, pending, unchecked }
    }
}

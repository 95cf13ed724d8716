//! Promises that a server made, on their way to the threads that check them, and what became of them. Checks never run on a shard.

use std::cell::RefCell;
use std::rc::Rc;

use hammer_measure::Nanos;

mod fault;
mod ledger;
mod pool;
mod transport;
mod verdicts;

pub use fault::Fault;
pub use ledger::{PromiseKind, PromiseLedger};
pub use pool::{RingSender, VerifierWork, VerifyPool};
pub use transport::records::{PromiseRecord, Records};
pub use verdicts::{BrokenPromise, Verdicts};

use transport::ring::RecordWriter;

/// Checks promises, on a thread of its own.
pub trait Verifier: Send {
    /// Judges the promise that operation `seq` received, or keeps it for [`Verifier::tick`].
    fn check(&mut self, seq: u64, record: &[u8], now: Nanos, verdicts: &mut Verdicts);

    /// Judges promises as [`Verifier::check`] would one after another, where a few at once are cheaper.
    fn check_all(&mut self, records: &Records, now: Nanos, verdicts: &mut Verdicts) {
        records.iter().for_each(|promise| self.check(promise.seq, promise.bytes, now, verdicts));
    }

    /// Judges what could not be judged at once; called again and again.
    fn tick(&mut self, _now: Nanos, _verdicts: &mut Verdicts) {}
}

/// The shard's end of the way to a verifier: cheap to clone within the shard.
#[derive(Clone)]
pub struct PromiseSender {
    writer: Rc<RefCell<RecordWriter>>,
}

impl PromiseSender {
    fn new(writer: RecordWriter) -> Self {
        Self { writer: Rc::new(RefCell::new(writer)) }
    }

    pub(crate) fn send(&self, kind: PromiseKind, seq: u64, record: &[u8]) {
        self.writer.borrow_mut().write(kind, seq, record);
    }

    /// A promise was made that nobody will be able to judge.
    pub(crate) fn leave_unchecked(&self, kind: PromiseKind) {
        self.writer.borrow().leave_unchecked(kind);
    }

    pub(crate) fn wake(&self) {
        self.writer.borrow_mut().wake();
    }
}

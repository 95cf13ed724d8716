//! The way of a promise off the shard.

use std::cell::RefCell;
use std::rc::Rc;

use super::ledger::PromiseKind;
use super::transport::ring::RecordWriter;

/// The shard's end of the way to a verifier: cheap to clone within the shard.
#[derive(Clone)]
pub struct PromiseSender {
    writer: Rc<RefCell<RecordWriter>>,
}

impl PromiseSender {
    pub(super) fn new(writer: RecordWriter) -> Self {
        Self { writer: Rc::new(RefCell::new(writer)) }
    }

    pub(crate) fn send(&self, kind: PromiseKind, seq: u64, record: &[u8]) {
        self.writer.borrow_mut().write(kind, seq, record);
    }

    pub(crate) fn send_owned(&self, kind: PromiseKind, seq: u64, record: Vec<u8>) {
        self.writer.borrow_mut().write_owned(kind, seq, record);
    }

    /// A promise was made that nobody will be able to judge.
    pub(crate) fn leave_unchecked(&self, kind: PromiseKind) {
        self.writer.borrow().leave_unchecked(kind);
    }

    pub(crate) fn wake(&self) {
        self.writer.borrow_mut().wake();
    }
}

//! A bounded ring of length-prefixed records from one shard to one verifier thread.

use std::sync::Arc;
use std::thread::Thread;

use rtrb::{Producer, RingBuffer};

use super::frame::{PromiseRecord, encode};
use super::overflow::{OverflowReader, OverflowWriter, OwnedRecord, overflow};
use super::reader::RecordReader;
use crate::crew::CrewMember;
use crate::promise::ledger::{PromiseKind, PromiseLedger};

/// The shard's end.
pub(crate) struct RecordWriter {
    ring: Producer<u8>,
    overflow: OverflowWriter,
    ledger: Arc<PromiseLedger>,
    thread: Option<Thread>,
    since_wake: usize,
    scratch: Vec<u8>,
}

/// A ring of `bytes` bytes; `overflow` says where goes what does not fit.
pub(crate) fn ring(
    bytes: usize,
    ledger: Arc<PromiseLedger>,
    spill_folder: std::path::PathBuf,
    crew: CrewMember,
) -> (RecordWriter, RecordReader, OverflowReader) {
    let (producer, consumer) = RingBuffer::new(bytes);
    let (overflow, reader) = overflow(spill_folder, crew);
    let writer =
        RecordWriter { ring: producer, overflow, ledger, thread: None, since_wake: 0, scratch: Vec::new() };
    (writer, RecordReader::new(consumer), reader)
}

impl RecordWriter {
    pub(crate) fn served_by(&mut self, thread: Option<Thread>) {
        self.thread = thread;
    }

    /// Hands over a promise; it is made from now on, whatever becomes of the record.
    pub(crate) fn write(&mut self, kind: PromiseKind, seq: u64, record: &[u8]) {
        self.ledger.made(kind);
        if !self.write_small(PromiseRecord { seq, kind, bytes: record }) {
            self.write_whole(OwnedRecord { seq, kind, bytes: record.into() });
        }
        self.count_written();
    }

    /// The same of a record that is the caller's to give away: not copied where it is large.
    pub(crate) fn write_owned(&mut self, kind: PromiseKind, seq: u64, record: Vec<u8>) {
        self.ledger.made(kind);
        if !self.write_small(PromiseRecord { seq, kind, bytes: &record }) {
            self.write_whole(OwnedRecord { seq, kind, bytes: record });
        }
        self.count_written();
    }

    fn write_whole(&mut self, record: OwnedRecord) {
        let kind = record.kind;
        if !self.overflow.write(record) {
            self.ledger.unchecked(kind);
        }
    }

    fn count_written(&mut self) {
        self.since_wake += 1;
        if self.since_wake >= WAKE_EVERY {
            self.wake();
        }
    }

    /// Whether the ring has it now.
    fn write_small(&mut self, promise: PromiseRecord<'_>) -> bool {
        if promise.bytes.len() > LARGE {
            return false;
        }
        self.scratch.clear();
        encode(&mut self.scratch, promise);
        self.ring.push_entire_slice(&self.scratch).is_ok()
    }

    /// Counts a promise that was made and will not be judged.
    pub(crate) fn leave_unchecked(&self, kind: PromiseKind) {
        self.ledger.made(kind);
        self.ledger.unchecked(kind);
    }

    /// Wakes the verifier, if there were records since it was last woken.
    pub(crate) fn wake(&mut self) {
        if std::mem::take(&mut self.since_wake) > 0
            && let Some(thread) = &self.thread
        {
            thread.unpark();
        }
    }
}

const WAKE_EVERY: usize = 32;
/// What is larger is handed over whole: to copy it through the ring would cost more, and fill it.
const LARGE: usize = 64 << 10;

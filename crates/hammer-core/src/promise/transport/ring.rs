//! A bounded ring of length-prefixed records from one shard to one verifier thread.

use std::sync::Arc;
use std::thread::Thread;

use rtrb::{Consumer, Producer, RingBuffer};

use super::overflow::{OverflowReader, OverflowWriter, overflow};
use super::records::PromiseRecord;
use crate::crew::CrewMember;
use crate::promise::{PromiseKind, PromiseLedger};

/// The shard's end.
pub(crate) struct RecordWriter {
    ring: Producer<u8>,
    overflow: OverflowWriter,
    ledger: Arc<PromiseLedger>,
    thread: Option<Thread>,
    since_wake: usize,
    scratch: Vec<u8>,
}

/// The verifier's end of the ring itself.
pub(crate) struct RecordReader {
    ring: Consumer<u8>,
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
    (writer, RecordReader { ring: consumer }, reader)
}

impl RecordWriter {
    pub(crate) fn served_by(&mut self, thread: Option<Thread>) {
        self.thread = thread;
    }

    /// Hands over a promise; it is made from now on, whatever becomes of the record.
    pub(crate) fn write(&mut self, kind: PromiseKind, seq: u64, record: &[u8]) {
        self.ledger.made(kind);
        let promise = PromiseRecord { seq, kind, bytes: record };
        if !self.write_small(promise) && !self.overflow.write(promise) {
            self.ledger.unchecked(kind);
        }
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

impl RecordReader {
    /// Appends the next record to `out`, if a whole one is there; returns its kind and sequence number.
    pub(crate) fn read(&mut self, out: &mut Vec<u8>) -> Option<(PromiseKind, u64)> {
        let mut header = [0; HEADER];
        let chunk = self.ring.read_chunk(HEADER).ok()?;
        let (first, second) = chunk.as_slices();
        header[..first.len()].copy_from_slice(first);
        header[first.len()..].copy_from_slice(second);
        chunk.commit_all();
        let (kind, seq, length) = decode_header(header);
        let start = out.len();
        out.resize(start + length, 0);
        // Records are pushed whole, so the body follows its header.
        self.ring.pop_entire_slice(&mut out[start..]).ok()?;
        Some((kind, seq))
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.ring.is_abandoned() && self.ring.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

pub(super) fn encode(out: &mut Vec<u8>, promise: PromiseRecord<'_>) {
    out.extend_from_slice(&(promise.bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(&promise.seq.to_le_bytes());
    out.push(promise.kind.0);
    out.extend_from_slice(promise.bytes);
}

/// Kind, sequence number and length of the record after a header.
pub(super) fn decode_header(header: [u8; HEADER]) -> (PromiseKind, u64, usize) {
    let [a, b, c, d, seq @ .., kind] = header;
    (PromiseKind(kind), u64::from_le_bytes(seq), u32::from_le_bytes([a, b, c, d]) as usize)
}

pub(super) const HEADER: usize = 13;
const WAKE_EVERY: usize = 32;
/// What is larger is handed over whole: to copy it through the ring would cost more, and fill it.
const LARGE: usize = 64 << 10;

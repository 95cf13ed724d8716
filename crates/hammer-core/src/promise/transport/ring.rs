//! A bounded ring of length-prefixed records from one shard to one verifier thread.

use std::sync::Arc;
use std::thread::Thread;

use rtrb::{Consumer, Producer, RingBuffer};

use super::spill::Spill;
use crate::promise::LedgerCells;

/// The shard's end.
pub(crate) struct RecordWriter {
    ring: Producer<u8>,
    spill: Arc<Spill>,
    ledger: Arc<LedgerCells>,
    thread: Option<Thread>,
    since_wake: usize,
    scratch: Vec<u8>,
}

/// The verifier's end.
pub(crate) struct RecordReader {
    ring: Consumer<u8>,
}

/// A ring of `bytes` bytes; what does not fit goes to `spill`.
pub(crate) fn ring(
    bytes: usize,
    spill: Arc<Spill>,
    ledger: Arc<LedgerCells>,
) -> (RecordWriter, RecordReader) {
    let (producer, consumer) = RingBuffer::new(bytes);
    let writer =
        RecordWriter { ring: producer, spill, ledger, thread: None, since_wake: 0, scratch: Vec::new() };
    (writer, RecordReader { ring: consumer })
}

impl RecordWriter {
    pub(crate) fn served_by(&mut self, thread: Option<Thread>) {
        self.thread = thread;
    }

    /// Hands over a promise; it is made from now on, whatever becomes of the record.
    pub(crate) fn write(&mut self, seq: u64, record: &[u8]) {
        self.ledger.made();
        self.scratch.clear();
        encode(&mut self.scratch, seq, record);
        if self.ring.push_entire_slice(&self.scratch).is_err() {
            self.spill.write(&self.scratch);
        }
        self.since_wake += 1;
        if self.since_wake >= WAKE_EVERY {
            self.wake();
        }
    }

    /// Counts a promise that was made and will not be judged.
    pub(crate) fn leave_unchecked(&self) {
        self.ledger.made();
        self.ledger.unchecked();
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
    /// Appends the next record to `out`, if a whole one is there; returns its sequence number.
    pub(crate) fn read(&mut self, out: &mut Vec<u8>) -> Option<u64> {
        let mut header = [0; HEADER];
        let chunk = self.ring.read_chunk(HEADER).ok()?;
        let (first, second) = chunk.as_slices();
        header[..first.len()].copy_from_slice(first);
        header[first.len()..].copy_from_slice(second);
        chunk.commit_all();
        let (seq, length) = decode_header(header);
        let start = out.len();
        out.resize(start + length, 0);
        // Records are pushed whole, so the body follows its header.
        self.ring.pop_entire_slice(&mut out[start..]).ok()?;
        Some(seq)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.ring.is_abandoned() && self.ring.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

fn encode(out: &mut Vec<u8>, seq: u64, record: &[u8]) {
    out.extend_from_slice(&(record.len() as u32).to_le_bytes());
    out.extend_from_slice(&seq.to_le_bytes());
    out.extend_from_slice(record);
}

/// Sequence number and length of the record after a header.
pub(super) fn decode_header(header: [u8; HEADER]) -> (u64, usize) {
    let [a, b, c, d, seq @ ..] = header;
    (u64::from_le_bytes(seq), u32::from_le_bytes([a, b, c, d]) as usize)
}

pub(super) const HEADER: usize = 12;
const WAKE_EVERY: usize = 32;

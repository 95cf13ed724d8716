//! What comes out of a ring.

use rtrb::Consumer;

use super::frame::{HEADER, decode_header};
use crate::promise::ledger::PromiseKind;

/// The verifier's end of the ring itself.
pub(crate) struct RecordReader {
    ring: Consumer<u8>,
}

impl RecordReader {
    pub(super) fn new(ring: Consumer<u8>) -> Self {
        Self { ring }
    }

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

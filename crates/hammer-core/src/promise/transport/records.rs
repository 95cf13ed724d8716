//! Records that are judged together.

use std::ops::Range;

use super::frame::PromiseRecord;
use super::reader::RecordReader;
use crate::promise::ledger::PromiseKind;

/// Records with their sequence numbers: the small ones in one buffer that it keeps, large ones as they were handed over.
#[derive(Debug, Default)]
pub struct Records {
    bytes: Vec<u8>,
    places: Vec<(u64, PromiseKind, Place)>,
    /// Bytes of those that were handed over.
    whole_bytes: usize,
}

/// Where a record is.
#[derive(Debug)]
enum Place {
    Buffered(Range<usize>),
    Whole(Vec<u8>),
}

impl Records {
    /// Adds a record.
    pub fn push(&mut self, record: PromiseRecord<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record.bytes);
        self.places.push((record.seq, record.kind, Place::Buffered(start..self.bytes.len())));
    }

    /// Adds a record that is large, without a copy.
    pub(super) fn push_whole(&mut self, seq: u64, kind: PromiseKind, bytes: Vec<u8>) {
        self.whole_bytes += bytes.len();
        self.places.push((seq, kind, Place::Whole(bytes)));
    }

    /// The records in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = PromiseRecord<'_>> {
        self.places.iter().map(|(seq, kind, place)| PromiseRecord {
            seq: *seq,
            kind: *kind,
            bytes: match place {
                Place::Buffered(range) => &self.bytes[range.clone()],
                Place::Whole(bytes) => bytes,
            },
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Takes all of them out.
    pub fn clear(&mut self) {
        self.bytes.clear();
        // One huge record must not be held in memory for the rest of the run.
        self.bytes.shrink_to(MOST_BYTES);
        self.places.clear();
        self.whole_bytes = 0;
    }

    /// Whether those that are here are to be judged before there are more.
    pub(in crate::promise) fn is_full(&self) -> bool {
        self.places.len() >= MOST || self.bytes.len() + self.whole_bytes >= MOST_BYTES
    }

    /// Adds the next record of a ring; whether there was a whole one.
    pub(in crate::promise) fn take(&mut self, ring: &mut RecordReader) -> bool {
        let start = self.bytes.len();
        let read = ring.read(&mut self.bytes);
        self.places.extend(read.map(|(kind, seq)| (seq, kind, Place::Buffered(start..self.bytes.len()))));
        read.is_some()
    }
}

/// As many signatures as share nearly all that they can, and are verified before a shard that waits for the core is late.
const MOST: usize = 32;
const MOST_BYTES: usize = 1 << 20;

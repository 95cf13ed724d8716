//! Records that are judged together.

use std::ops::Range;

use super::frame::PromiseRecord;
use super::reader::RecordReader;
use crate::promise::ledger::PromiseKind;

/// Records with their sequence numbers, in one buffer that it keeps.
#[derive(Debug, Default)]
pub struct Records {
    bytes: Vec<u8>,
    places: Vec<(u64, PromiseKind, Range<usize>)>,
}

impl Records {
    /// Adds a record.
    pub fn push(&mut self, record: PromiseRecord<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record.bytes);
        self.places.push((record.seq, record.kind, start..self.bytes.len()));
    }

    /// The records in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = PromiseRecord<'_>> {
        self.places.iter().map(|(seq, kind, place)| PromiseRecord {
            seq: *seq,
            kind: *kind,
            bytes: &self.bytes[place.clone()],
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
    }

    /// Whether those that are here are to be judged before there are more.
    pub(in crate::promise) fn is_full(&self) -> bool {
        self.places.len() >= MOST || self.bytes.len() >= MOST_BYTES
    }

    /// Adds the next record of a ring; whether there was a whole one.
    pub(in crate::promise) fn take(&mut self, ring: &mut RecordReader) -> bool {
        let start = self.bytes.len();
        let read = ring.read(&mut self.bytes);
        self.places.extend(read.map(|(kind, seq)| (seq, kind, start..self.bytes.len())));
        read.is_some()
    }
}

/// As many signatures as share nearly all that they can, and are verified before a shard that waits for the core is late.
const MOST: usize = 32;
const MOST_BYTES: usize = 1 << 20;

//! Records that are judged together.

use std::ops::Range;

use super::ring::RecordReader;

/// Records with their sequence numbers, in one buffer that it keeps.
#[derive(Debug, Default)]
pub struct Records {
    bytes: Vec<u8>,
    places: Vec<(u64, Range<usize>)>,
}

impl Records {
    /// Adds the record of operation `seq`.
    pub fn push(&mut self, seq: u64, record: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record);
        self.places.push((seq, start..self.bytes.len()));
    }

    /// The records in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.places.iter().map(|(seq, place)| (*seq, &self.bytes[place.clone()]))
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
        self.places.clear();
    }

    /// Whether those that are here are to be judged before there are more.
    pub(in crate::promise) fn is_full(&self) -> bool {
        self.places.len() >= MOST || self.bytes.len() >= MOST_BYTES
    }

    /// Adds the next record of a ring; whether there was a whole one.
    pub(in crate::promise) fn take(&mut self, ring: &mut RecordReader) -> bool {
        let start = self.bytes.len();
        let seq = ring.read(&mut self.bytes);
        self.places.extend(seq.map(|seq| (seq, start..self.bytes.len())));
        seq.is_some()
    }
}

/// As many signatures as share nearly all that they can, and are verified before a shard that waits for the core is late.
const MOST: usize = 32;
const MOST_BYTES: usize = 1 << 20;

//! Spilled receipts and leaves, partition by partition.

use super::beside::Beside;
use super::earlier_heads::EarlierHeads;
use super::receipt::Receipt;
use super::receipt_clock::{ReceiptClock, deadline_ms};
use super::spill::Spill;
use super::verdict::{Finding, Published};
use crate::hash::Hash;

/// Partitions, by the first bits of the leaf's hash.
pub(super) const PARTITIONS: usize = 16;

/// Leaves of a partition that are spilled at once.
const CHUNK: usize = 1024 * LENGTH;
const LENGTH: usize = BESIDE + Beside::LENGTH;
const BESIDE: usize = 88;

const CLAIMED: u64 = 1 << 63;

/// A leaf that was read and led to a head's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) index: u64,
    pub(super) published: Option<Published>,
    /// Whether a receipt, other than a duplicate's, has found it to be its own.
    pub(super) claimed: bool,
    /// What stood beside it in its entry, where that was read.
    pub(super) beside: Option<Beside>,
}

/// Receipts that memory does not hold, and the leaves that were read since: one partition at a time is taken back, and
/// its receipts are held against its leaves.
#[derive(Debug)]
pub(super) struct SpillPartitions<S> {
    spill: S,
    /// By which deadlines are told; by the log's alone without it.
    clock: Option<ReceiptClock>,
    partitions: [SpillPartition; PARTITIONS],
    pub(super) findings: Vec<Finding>,
}

#[derive(Debug, Default)]
struct SpillPartition {
    receipts: u64,
    /// No receipt has an earlier deadline; in milliseconds since 1970.
    earliest_deadline_ms: u64,
    leaves: u64,
    /// Leaves that are not yet spilled.
    buffer: Vec<u8>,
}

/// The partition of a leaf.
pub(super) fn partition_of(leaf: &Hash) -> usize {
    usize::from(leaf.0[0] >> 4)
}

impl<S: Spill> SpillPartitions<S> {
    pub(super) fn new(spill: S) -> Self {
        Self { spill, clock: None, partitions: Default::default(), findings: Vec::new() }
    }

    pub(super) fn by_clock(&mut self, clock: ReceiptClock) {
        self.clock = Some(clock);
    }

    pub(super) fn receipts(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.receipts).sum()
    }

    pub(super) fn holds(&self, leaf: &Hash) -> bool {
        self.partitions[partition_of(leaf)].receipts > 0
    }

    /// Spills receipts of one partition; gives them back where that fails.
    pub(super) fn put(&mut self, number: usize, receipts: Vec<Receipt>) -> Result<(), Vec<Receipt>> {
        let bytes: Vec<u8> = receipts.iter().flat_map(Receipt::encode).collect();
        if let Err(error) = self.spill.append(number as u64, &bytes) {
            self.findings.push(Finding::Unspilled { receipts: 0, error: error.to_string() });
            return Err(receipts);
        }
        let partition = &mut self.partitions[number];
        let deadlines = receipts.iter().map(|receipt| deadline_ms(receipt, self.clock.as_ref()));
        let earliest_deadline_ms = deadlines.min().unwrap_or(u64::MAX);
        let held = if partition.receipts == 0 { u64::MAX } else { partition.earliest_deadline_ms };
        partition.earliest_deadline_ms = held.min(earliest_deadline_ms);
        partition.receipts += receipts.len() as u64;
        Ok(())
    }

    /// Notes a leaf for the receipts of its partition.
    pub(super) fn note(&mut self, leaf: Hash, seen: Seen) {
        let number = partition_of(&leaf);
        let partition = &mut self.partitions[number];
        partition.buffer.extend_from_slice(&encode(&leaf, &seen));
        partition.leaves += 1;
        // A buffer that cannot be spilled stays: a leaf that is lost would break the promise of its receipt.
        if partition.buffer.len().is_multiple_of(CHUNK)
            && self.spill.append((PARTITIONS + number) as u64, &partition.buffer).is_ok()
        {
            partition.buffer.clear();
        }
    }

    /// A partition with more leaves than receipts, to be taken now so that they do not become many more.
    pub(super) fn due(&self) -> Option<usize> {
        let due = |partition: &SpillPartition| {
            partition.receipts > 0 && partition.leaves >= partition.receipts.max(1024)
        };
        self.partitions.iter().position(due)
    }

    /// Partitions with receipts whose deadline is before.
    pub(super) fn due_before(&self, before_ms: u64) -> Vec<usize> {
        let signed = |number: &usize| {
            let partition = &self.partitions[*number];
            partition.receipts > 0 && partition.earliest_deadline_ms < before_ms
        };
        (0..PARTITIONS).filter(signed).collect()
    }

    /// Takes a partition: its receipts, and the leaves that were read while they lay there.
    pub(super) fn take(&mut self, number: usize) -> (Vec<Receipt>, Vec<(Hash, Seen)>) {
        let partition = std::mem::take(&mut self.partitions[number]);
        if partition.receipts == 0 {
            return (Vec::new(), Vec::new());
        }
        let receipts = self.bring(number).as_chunks().0.iter().map(Receipt::decode).collect::<Vec<_>>();
        let lost = partition.receipts.saturating_sub(receipts.len() as u64);
        let spilled = partition.leaves - (partition.buffer.len() / LENGTH) as u64;
        let mut leaves = if spilled > 0 { self.bring(PARTITIONS + number) } else { Vec::new() };
        let whole = leaves.len() as u64 == spilled * LENGTH as u64;
        leaves.extend(partition.buffer);
        let leaves = leaves.as_chunks().0.iter().map(decode).collect();
        if lost > 0 || !whole {
            let error = "the spill gave back less than it took".to_owned();
            self.findings
                .push(Finding::Unspilled { receipts: if whole { lost } else { partition.receipts }, error });
        }
        // Without their leaves nothing can be said of the receipts.
        (if whole { receipts } else { Vec::new() }, leaves)
    }

    fn bring(&mut self, partition: usize) -> Vec<u8> {
        self.spill.take(partition as u64).unwrap_or_default()
    }
}

fn encode(leaf: &Hash, seen: &Seen) -> [u8; LENGTH] {
    let none = Published { size: 0, fetched_ns: 0, earlier: EarlierHeads::default(), timestamp_ms: 0 };
    let Published { size, fetched_ns, earlier, timestamp_ms } = seen.published.unwrap_or(none);
    let claimed = if seen.claimed { CLAIMED } else { 0 };
    let mut bytes = [0; LENGTH];
    bytes[..32].copy_from_slice(&leaf.0);
    let numbers = [
        seen.index | claimed,
        size,
        fetched_ns,
        timestamp_ms,
        earlier.fetched_ns,
        earlier.asked_ns,
        earlier.signed_ms,
    ];
    for (slot, number) in bytes[32..].chunks_exact_mut(8).zip(numbers) {
        slot.copy_from_slice(&number.to_be_bytes());
    }
    // A digest over no fingerprints is not 0 either.
    bytes[BESIDE..].copy_from_slice(&seen.beside.map_or([0; Beside::LENGTH], Beside::encode));
    bytes
}

fn decode(bytes: &[u8; LENGTH]) -> (Hash, Seen) {
    let number = |at: usize| bytes[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let mut leaf = Hash([0; 32]);
    leaf.0.copy_from_slice(&bytes[..32]);
    let (place, size, fetched_ns) = (number(32), number(40), number(48));
    let timestamp_ms = number(56);
    let earlier = EarlierHeads { fetched_ns: number(64), asked_ns: number(72), signed_ms: number(80) };
    let published = (size > 0).then_some(Published { size, fetched_ns, earlier, timestamp_ms });
    let beside =
        bytes[BESIDE..].first_chunk().filter(|beside| **beside != [0; Beside::LENGTH]).map(Beside::decode);
    (leaf, Seen { index: place & !CLAIMED, published, claimed: place & CLAIMED != 0, beside })
}

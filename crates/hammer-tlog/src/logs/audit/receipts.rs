//! The receipts that wait for the tree, in memory and spilled.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::receipt::Receipt;
use super::receipt_clock::{ReceiptClock, deadline_ms};
use super::spill::Spill;
use super::verdict::Finding;
use crate::logs::tile::FULL_WIDTH;

/// Tiles in a partition: what is spilled and taken back at once, 3 MiB of receipts where each leaf has one.
const PARTITION: u64 = 64;

/// Receipts that wait for the tree, by the tile of their index. Beyond a bound those that came last are spilled.
#[derive(Debug)]
pub(super) struct Receipts<S> {
    bound: usize,
    tiles: BTreeMap<u64, Vec<Receipt>>,
    /// Time of the promise, index and sequence number of those in memory; empty where they are not looked for by their times.
    times: BTreeSet<(u64, u64, u64)>,
    has_times: bool,
    in_memory: usize,
    /// By which deadlines are told; by the log's alone without it.
    clock: Option<ReceiptClock>,
    /// No receipt in memory has an earlier deadline; in milliseconds since 1970.
    earliest_deadline_ms: u64,
    spilled: BTreeMap<u64, Spilled>,
    spill: S,
    pub(super) findings: Vec<Finding>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Spilled {
    count: u64,
    earliest_deadline_ms: u64,
}

impl<S: Spill> Receipts<S> {
    /// None in memory beyond `bound`; `has_times` says whether they are looked for by their times.
    pub(super) fn new(bound: usize, has_times: bool, spill: S) -> Self {
        let (tiles, times, spilled, findings) = Default::default();
        let (in_memory, clock, earliest_deadline_ms) = (0, None, u64::MAX);
        Self {
            bound,
            tiles,
            times,
            has_times,
            in_memory,
            clock,
            earliest_deadline_ms,
            spilled,
            spill,
            findings,
        }
    }

    pub(super) fn by_clock(&mut self, clock: ReceiptClock) {
        self.clock = Some(clock);
    }

    pub(super) fn in_memory(&self) -> usize {
        self.in_memory
    }

    pub(super) fn spilled(&self) -> u64 {
        self.spilled.values().map(|partition| partition.count).sum()
    }

    pub(super) fn push(&mut self, index: u64, receipt: Receipt) {
        self.hold(index, receipt);
        if self.in_memory > self.bound {
            self.spill();
        }
    }

    /// Takes the receipts of `indices`, which lie in one tile, in the order of their indices and sequence numbers.
    pub(super) fn take(&mut self, indices: std::ops::Range<u64>) -> Vec<Receipt> {
        let tile = indices.start / u64::from(FULL_WIDTH);
        self.bring_back(tile / PARTITION);
        let Some(held) = self.tiles.get_mut(&tile) else { return Vec::new() };
        let within = |receipt: &mut Receipt| receipt.index().is_some_and(|index| indices.contains(&index));
        let mut taken: Vec<_> = held.extract_if(.., within).collect();
        if held.is_empty() {
            self.tiles.remove(&tile);
        }
        self.in_memory -= taken.len();
        self.forget_times(&taken);
        taken.sort_unstable_by_key(|receipt| (receipt.index(), receipt.seq));
        taken
    }

    /// Those in memory that were promised at that time, by their indices.
    pub(super) fn of_time(&self, promised_ms: u64) -> impl DoubleEndedIterator<Item = &Receipt> {
        let same = self.times.range((promised_ms, 0, 0)..=(promised_ms, u64::MAX, u64::MAX));
        same.filter_map(|(_, index, seq)| self.held_at(*index, *seq))
    }

    /// That in memory with this index and sequence number.
    pub(super) fn held_at(&self, index: u64, seq: u64) -> Option<&Receipt> {
        let is_it = |receipt: &&Receipt| (receipt.index(), receipt.seq) == (Some(index), seq);
        self.tiles.get(&(index / u64::from(FULL_WIDTH)))?.iter().find(is_it)
    }

    /// Takes that in memory with this index and sequence number, if there is one.
    pub(super) fn take_at(&mut self, index: u64, seq: u64) {
        let tile = index / u64::from(FULL_WIDTH);
        let Some(held) = self.tiles.get_mut(&tile) else { return };
        let is_it = |receipt: &mut Receipt| (receipt.index(), receipt.seq) == (Some(index), seq);
        let taken: Vec<_> = held.extract_if(.., is_it).collect();
        if held.is_empty() {
            self.tiles.remove(&tile);
        }
        self.in_memory -= taken.len();
        self.forget_times(&taken);
    }

    /// Takes the receipts below `end` of the first tile that has any, with the tile.
    pub(super) fn take_first_below(&mut self, end: u64) -> Option<(u64, Vec<Receipt>)> {
        let full = u64::from(FULL_WIDTH);
        let first = self.tiles.keys().next().map_or(u64::MAX, |tile| tile / PARTITION);
        let spilled = self.spilled.keys().next().copied().filter(|partition| *partition <= first);
        if let Some(partition) = spilled.filter(|partition| partition * PARTITION * full < end) {
            self.bring_back(partition);
        }
        let tile = *self.tiles.keys().next()?;
        let indices = tile * full..end.min((tile + 1) * full);
        let taken = if indices.is_empty() { Vec::new() } else { self.take(indices) };
        (!taken.is_empty()).then_some((tile, taken))
    }

    /// Whether a deadline of those that wait may be before.
    pub(super) fn may_be_due(&self, before_ms: u64) -> bool {
        let mut spilled = self.spilled.values().filter(|partition| partition.count > 0);
        (self.in_memory > 0 && self.earliest_deadline_ms < before_ms)
            || spilled.any(|partition| partition.earliest_deadline_ms < before_ms)
    }

    /// Takes the receipts at or above `from` whose deadline is before `before_ms`.
    pub(super) fn take_due_before(&mut self, before_ms: u64, from: u64) -> Vec<Receipt> {
        let late = |partition: &Spilled| partition.count > 0 && partition.earliest_deadline_ms < before_ms;
        let due: Vec<_> = self.spilled.iter().filter(|(_, p)| late(p)).map(|(number, _)| *number).collect();
        due.into_iter().for_each(|partition| self.bring_back(partition));
        if self.earliest_deadline_ms >= before_ms {
            return Vec::new();
        }
        let mut taken = Vec::new();
        let (mut earliest_deadline_ms, clock) = (u64::MAX, self.clock);
        let due_ms = |receipt: &Receipt| deadline_ms(receipt, clock.as_ref());
        for held in self.tiles.values_mut() {
            let late = |receipt: &mut Receipt| {
                due_ms(receipt) < before_ms && receipt.index().is_some_and(|index| index >= from)
            };
            taken.extend(held.extract_if(.., late));
            earliest_deadline_ms = held.iter().map(due_ms).fold(earliest_deadline_ms, u64::min);
        }
        self.tiles.retain(|_, held| !held.is_empty());
        self.earliest_deadline_ms = earliest_deadline_ms;
        self.in_memory -= taken.len();
        self.forget_times(&taken);
        if self.in_memory > self.bound {
            self.spill();
        }
        taken
    }

    /// The receipts in memory, by tile.
    pub(super) fn held(&self) -> impl Iterator<Item = &Receipt> {
        self.tiles.values().flatten()
    }

    fn hold(&mut self, index: u64, receipt: Receipt) {
        let deadline_ms = deadline_ms(&receipt, self.clock.as_ref());
        self.earliest_deadline_ms = self.earliest_deadline_ms.min(deadline_ms);
        self.tiles.entry(index / u64::from(FULL_WIDTH)).or_default().push(receipt);
        if self.has_times {
            self.times.insert((receipt.promised_ms, index, receipt.seq));
        }
        self.in_memory += 1;
    }

    fn forget_times<'a>(&mut self, receipts: impl IntoIterator<Item = &'a Receipt>) {
        if !self.has_times {
            return;
        }
        for receipt in receipts {
            self.times.remove(&(receipt.promised_ms, receipt.index().unwrap_or_default(), receipt.seq));
        }
    }

    /// Spills partitions, until a quarter of the bound is free: those first whose oldest receipt came last, since a tree takes in what was
    /// promised first. An index says nothing of that where a log promises what lies far beyond its tree.
    fn spill(&mut self) {
        for partition in self.youngest_first() {
            if self.in_memory <= self.bound - self.bound / 4 || !self.spill_partition(partition) {
                return;
            }
        }
    }

    /// The partitions in memory, by when the oldest receipt of each came.
    fn youngest_first(&self) -> Vec<u64> {
        let mut oldest: BTreeMap<u64, u64> = BTreeMap::new();
        for (tile, held) in &self.tiles {
            let received_ns = held.iter().map(|receipt| receipt.received_ns).min().unwrap_or(u64::MAX);
            let known = oldest.entry(tile / PARTITION).or_insert(u64::MAX);
            *known = received_ns.min(*known);
        }
        let mut partitions: Vec<_> = oldest.into_iter().collect();
        partitions.sort_unstable_by_key(|(partition, received_ns)| Reverse((*received_ns, *partition)));
        partitions.into_iter().map(|(partition, _)| partition).collect()
    }

    /// Whether it could be spilled.
    fn spill_partition(&mut self, partition: u64) -> bool {
        let mut tiles = self.tiles.split_off(&(partition * PARTITION));
        self.tiles.append(&mut tiles.split_off(&((partition + 1) * PARTITION)));
        let mut bytes = Vec::new();
        let mut earliest_deadline_ms = u64::MAX;
        for receipt in tiles.values().flatten() {
            bytes.extend_from_slice(&receipt.encode());
            earliest_deadline_ms = earliest_deadline_ms.min(deadline_ms(receipt, self.clock.as_ref()));
        }
        if let Err(error) = self.spill.append(partition, &bytes) {
            // The receipts are worth more than the bound.
            self.bound = self.bound.saturating_mul(2);
            self.tiles.extend(tiles);
            self.findings.push(Finding::Unspilled { receipts: 0, error: error.to_string() });
            return false;
        }
        self.forget_times(tiles.values().flatten());
        let count = bytes.len() / Receipt::LENGTH;
        self.in_memory -= count;
        let spilled = self.spilled.entry(partition).or_insert(Spilled { count: 0, earliest_deadline_ms });
        spilled.count += count as u64;
        spilled.earliest_deadline_ms = spilled.earliest_deadline_ms.min(earliest_deadline_ms);
        true
    }

    fn bring_back(&mut self, partition: u64) {
        let Some(spilled) = self.spilled.remove(&partition) else { return };
        let mut count = 0;
        match self.spill.take(partition) {
            Ok(bytes) => {
                for bytes in bytes.as_chunks::<{ Receipt::LENGTH }>().0 {
                    let receipt = Receipt::decode(bytes);
                    self.hold(receipt.index().unwrap_or_default(), receipt);
                    count += 1;
                }
                self.lost(spilled.count.saturating_sub(count), "the spill gave back less than it took");
            }
            Err(error) => self.lost(spilled.count, &error.to_string()),
        }
    }

    fn lost(&mut self, receipts: u64, error: &str) {
        if receipts > 0 {
            self.findings.push(Finding::Unspilled { receipts, error: error.to_owned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::hash::Hash;

    /// What was spilled, by partition.
    #[derive(Debug, Default)]
    struct Spilt(BTreeMap<u64, Vec<u8>>);

    impl Spill for Spilt {
        fn append(&mut self, partition: u64, bytes: &[u8]) -> io::Result<()> {
            self.0.entry(partition).or_default().extend_from_slice(bytes);
            Ok(())
        }

        fn take(&mut self, partition: u64) -> io::Result<Vec<u8>> {
            Ok(self.0.remove(&partition).unwrap_or_default())
        }
    }

    #[test]
    fn what_came_last_is_spilled_first_however_far_the_index_is_that_was_promised_before() {
        let mut receipts = Receipts::new(64, true, Spilt::default());
        let width = PARTITION * u64::from(FULL_WIDTH);
        let promised = |index: u64, at: u64| Receipt::new(at, Hash([1; 32]), Some(index), at, at);
        receipts.push(900 * width, promised(900 * width, 1));
        // Of two partitions of the tree, the second is full of what came last.
        for at in 2..=70 {
            let index = if at < 10 { at } else { width + at };
            receipts.push(index, promised(index, at));
        }
        assert!(receipts.spilled() > 0 && receipts.in_memory() <= 64);
        assert_eq!(receipts.of_time(1).map(Receipt::index).collect::<Vec<_>>(), [Some(900 * width)]);
        assert_eq!(receipts.spilled.keys().collect::<Vec<_>>(), [&1], "of the tree's own what came last");
        assert_eq!(receipts.take(900 * width..900 * width + 1).len(), 1);
        assert_eq!(receipts.take(width + 10..width + 11).len(), 1, "what was spilled is found");
        assert!(receipts.findings.is_empty());
    }
}

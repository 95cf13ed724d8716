//! Devices that a service said it took in: one bit each, by which verify flows draw.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::plan::DevicesPlan;

/// The devices that were taken in, of each seed, stream and number of models; those of earlier runs too, where the service still has them.
#[derive(Clone, Debug, Default)]
pub struct ProvisionedPools {
    by_devices: Arc<Mutex<BTreeMap<(u64, u64, Option<u64>), Arc<ProvisionedDevices>>>>,
}

impl ProvisionedPools {
    /// Those of a seed and a plan.
    pub fn of(&self, seed: u64, devices: &DevicesPlan) -> Arc<ProvisionedDevices> {
        // Pools are added whole, so that a panic elsewhere leaves nothing halfway.
        let mut by_devices = self.by_devices.lock().unwrap_or_else(PoisonError::into_inner);
        by_devices.entry((seed, devices.stream, devices.models())).or_default().clone()
    }
}

/// The devices that were taken in. Shards set bits, and whoever prepares operations draws by them; nobody waits for anybody.
#[derive(Debug)]
pub struct ProvisionedDevices {
    /// Those of fills, whose operations are numbered from 2^40 on, and those of the run itself.
    sections: [Section; 2],
}

/// What is added to the number of an operation: of a run, and of its fill.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeviceOffsets {
    run: u64,
    filled: u64,
}

impl DeviceOffsets {
    /// The number of the device of operation `seq`.
    pub(crate) const fn index(self, seq: u64) -> u64 {
        seq + if seq >= FIRST_FILLED { self.filled } else { self.run }
    }
}

/// Devices from one number on.
#[derive(Debug)]
struct Section {
    first: u64,
    /// The lowest that was taken in.
    start: AtomicU64,
    /// One more than the highest.
    end: AtomicU64,
    /// How many were taken in.
    count: AtomicU64,
    blocks: Box<[OnceLock<Box<[AtomicU64]>>]>,
}

impl Default for ProvisionedDevices {
    fn default() -> Self {
        Self { sections: [Section::from(0), Section::from(FIRST_FILLED)] }
    }
}

impl ProvisionedDevices {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The service took device `index` in. Beyond what there is room for, 2^26 devices, nothing is remembered: such a device is not drawn.
    pub fn add(&self, index: u64) {
        let section = if index >= FIRST_FILLED { &self.sections[1] } else { &self.sections[0] };
        section.add(index - section.first);
    }

    /// What is added to the number of an operation so that its device is one that no earlier run provisioned: operations of fills are
    /// numbered apart.
    pub(crate) fn offsets(&self) -> DeviceOffsets {
        let [run, filled] = &self.sections;
        DeviceOffsets { run: run.end.load(Ordering::Relaxed), filled: filled.end.load(Ordering::Relaxed) }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.sections.iter().map(Section::count).sum()
    }

    /// A device that was taken in, by a number drawn evenly over all 64 bits; none while there is none.
    pub fn draw(&self, draw: u64) -> Option<u64> {
        let total = self.count();
        let place = draw.checked_rem(total)?;
        let [run, filled] = &self.sections;
        let of_run = run.count();
        let (section, place) = if place < of_run { (run, draw) } else { (filled, draw) };
        section.draw(place).map(|index| section.first + index)
    }
}

impl Section {
    fn from(first: u64) -> Self {
        let blocks = (0..BLOCKS).map(|_| OnceLock::new()).collect();
        Self {
            first,
            start: AtomicU64::new(u64::MAX),
            end: AtomicU64::new(0),
            count: AtomicU64::new(0),
            blocks,
        }
    }

    fn add(&self, index: u64) {
        let Some(block) = self.blocks.get((index / BLOCK_BITS) as usize) else { return };
        let words = block.get_or_init(|| (0..BLOCK_BITS / 64).map(|_| AtomicU64::new(0)).collect());
        let within = index % BLOCK_BITS;
        let bit = 1 << (within % 64);
        // The bit alone says that a device is there: nothing else is read because of it.
        let before = words[(within / 64) as usize].fetch_or(bit, Ordering::Relaxed);
        if before & bit == 0 {
            self.count.fetch_add(1, Ordering::Relaxed);
            self.start.fetch_min(index, Ordering::Relaxed);
            self.end.fetch_max(index + 1, Ordering::Relaxed);
        }
    }

    fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The first that was taken in from an evenly drawn place on, around the end; of a section with few holes, an even draw.
    fn draw(&self, draw: u64) -> Option<u64> {
        let (lowest, end) = (self.start.load(Ordering::Relaxed), self.end.load(Ordering::Relaxed));
        let start = lowest + draw.rotate_left(32).checked_rem(end.checked_sub(lowest)?)?;
        let words = end.div_ceil(64);
        let first = start / 64;
        let behind = self.word(first) & (u64::MAX << (start % 64));
        if behind != 0 {
            return Some(first * 64 + u64::from(behind.trailing_zeros()));
        }
        let around = (first + 1..words).chain(lowest / 64..=first);
        around
            .map(|word| (word, self.word(word)))
            .find(|(_, bits)| *bits != 0)
            .map(|(word, bits)| word * 64 + u64::from(bits.trailing_zeros()))
    }

    fn word(&self, word: u64) -> u64 {
        let block = self.blocks.get((word / (BLOCK_BITS / 64)) as usize).and_then(OnceLock::get);
        block.map_or(0, |words| words[(word % (BLOCK_BITS / 64)) as usize].load(Ordering::Relaxed))
    }
}

/// The number of the first operation of a fill.
const FIRST_FILLED: u64 = 1 << 40;
/// 64 Ki devices in 8 KiB.
const BLOCK_BITS: u64 = 1 << 16;
const BLOCKS: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn only_what_was_taken_in_is_drawn_and_all_of_it() {
        let devices = ProvisionedDevices::new();
        assert_eq!((devices.draw(7), devices.count()), (None, 0));
        let taken: BTreeSet<u64> =
            [0, 1, 2, 5, 63, 64, 200, 65_535, 65_536, 70_000, FIRST_FILLED, FIRST_FILLED + 70].into();
        taken.iter().chain(&taken).for_each(|index| devices.add(*index));
        assert_eq!(devices.count(), taken.len() as u64);
        let draws = hammer_core::draw::Draws::new(1, 2);
        let drawn: BTreeSet<u64> = (0..40_000).map(|seq| devices.draw(draws.bits(seq)).unwrap()).collect();
        assert!(drawn.is_subset(&taken), "{drawn:?}");
        // What stands alone behind many others is met seldom, but those at the edges of words and blocks are all met.
        assert!(drawn.contains(&FIRST_FILLED) && drawn.len() > 8, "{drawn:?}");
    }

    #[test]
    fn devices_without_holes_are_drawn_alike() {
        let devices = ProvisionedDevices::new();
        (0..1_000).for_each(|index| devices.add(index));
        let draws = hammer_core::draw::Draws::new(1, 2);
        let mut counts = [0; 10];
        (0..100_000).for_each(|seq| counts[(devices.draw(draws.bits(seq)).unwrap() / 100) as usize] += 1);
        // A tenth each, within five standard deviations.
        assert!(counts.iter().all(|count: &i32| count.abs_diff(10_000) < 475), "{counts:?}");
    }

    #[test]
    fn the_next_run_goes_on_behind_the_devices_of_the_last() {
        let pools = ProvisionedPools::default();
        let plan = |stream| DevicesPlan { stream, ..DevicesPlan::default() };
        let devices = pools.of(1, &plan(0));
        [0, 1, 7, FIRST_FILLED + 2].into_iter().for_each(|index| devices.add(index));
        let offsets = pools.clone().of(1, &plan(0)).offsets();
        assert_eq!((offsets.index(0), offsets.index(5)), (8, 13));
        assert_eq!(offsets.index(FIRST_FILLED), FIRST_FILLED + 3);
        for other in [pools.of(1, &plan(1)), pools.of(2, &plan(0))] {
            assert_eq!((other.count(), other.offsets().index(5)), (0, 5));
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_not_drawn() {
        let devices = ProvisionedDevices::new();
        devices.add(BLOCK_BITS * BLOCKS as u64);
        assert_eq!((devices.count(), devices.draw(1)), (0, None));
    }
}

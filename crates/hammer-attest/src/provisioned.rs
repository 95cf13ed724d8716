//! Devices that a service said it took in: one bit each, by which verify flows draw.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::plan::DevicesPlan;

/// The devices that were taken in, of each seed, stream and number of models; those of earlier runs too, where the service still has them.
#[derive(Clone, Debug, Default)]
pub struct ProvisionedPools {
    by_devices: Arc<Mutex<BTreeMap<PoolKey, Arc<ProvisionedDevices>>>>,
}

/// By what devices are the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PoolKey {
    seed: u64,
    stream: u64,
    models: Option<u64>,
}

impl ProvisionedPools {
    /// A quarter of the time that devices take to settle is over.
    pub(crate) fn grow_older(&self) {
        let by_devices = self.by_devices.lock().unwrap_or_else(PoisonError::into_inner);
        by_devices.values().for_each(|devices| devices.grow_older());
    }

    /// Those of a seed and a plan.
    pub fn of(&self, seed: u64, devices: &DevicesPlan) -> Arc<ProvisionedDevices> {
        // Pools are added whole, so that a panic elsewhere leaves nothing halfway.
        let mut by_devices = self.by_devices.lock().unwrap_or_else(PoisonError::into_inner);
        let key = PoolKey { seed, stream: devices.stream, models: devices.models() };
        by_devices.entry(key).or_default().clone()
    }
}

/// The devices that were taken in. Shards set bits, and whoever prepares operations draws by them; nobody waits for anybody.
///
/// A service may know a device a while after it said so, as behind a replica: one that was just taken in is fresh, and is not drawn before
/// it has settled.
#[derive(Debug)]
pub struct ProvisionedDevices {
    /// The lowest that was taken in.
    start: AtomicU64,
    /// One more than the highest.
    end: AtomicU64,
    /// How many have settled.
    count: AtomicU64,
    /// How many are fresh.
    fresh: AtomicU64,
    /// Which of the ages is the youngest.
    youngest: AtomicUsize,
    blocks: Box<[OnceLock<DeviceBlock>]>,
}

/// 64 Ki devices.
#[derive(Debug)]
struct DeviceBlock {
    settled: Box<[AtomicU64]>,
    /// Fresh ones by their age.
    by_age: [OnceLock<Box<[AtomicU64]>>; AGES],
}

impl Default for ProvisionedDevices {
    fn default() -> Self {
        let blocks = (0..BLOCKS).map(|_| OnceLock::new()).collect();
        let (start, youngest) = (AtomicU64::new(u64::MAX), AtomicUsize::new(0));
        let (end, count, fresh) = Default::default();
        Self { start, end, count, fresh, youngest, blocks }
    }
}

impl DeviceBlock {
    fn new() -> Self {
        Self { settled: words(), by_age: Default::default() }
    }
}

impl ProvisionedDevices {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The service took device `index` in, and may know it only later. From [`DevicesPlan::FIRST_FORGOTTEN`] on nothing is remembered: such a
    /// device is not drawn.
    pub fn add_fresh(&self, index: u64) {
        let age = self.youngest.load(Ordering::Relaxed);
        let is_new = self.set(index, |block| block.by_age[age].get_or_init(words));
        if is_new {
            self.fresh.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The service took device `index` in, and knows it.
    pub fn add(&self, index: u64) {
        if self.set(index, |block| &block.settled) {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sets the bit of a device; whether it was not set.
    fn set(&self, index: u64, words: impl Fn(&DeviceBlock) -> &[AtomicU64]) -> bool {
        let Some(block) = self.blocks.get((index / BLOCK_BITS) as usize) else { return false };
        let words = words(block.get_or_init(DeviceBlock::new));
        let within = index % BLOCK_BITS;
        let bit = 1 << (within % 64);
        // The bit alone says that a device is there: nothing else is read because of it.
        let before = words[(within / 64) as usize].fetch_or(bit, Ordering::Relaxed);
        self.start.fetch_min(index, Ordering::Relaxed);
        self.end.fetch_max(index + 1, Ordering::Relaxed);
        before & bit == 0
    }

    /// A quarter of the time that devices take to settle is over.
    pub(crate) fn grow_older(&self) {
        if !self.has_fresh() {
            return;
        }
        let oldest = (self.youngest.load(Ordering::Relaxed) + 1) % AGES;
        for block in self.blocks.iter().filter_map(OnceLock::get) {
            let Some(fresh) = block.by_age[oldest].get() else { continue };
            for (fresh, settled) in fresh.iter().zip(&block.settled) {
                let bits = fresh.swap(0, Ordering::Relaxed);
                let new = bits & !settled.fetch_or(bits, Ordering::Relaxed);
                self.fresh.fetch_sub(bits.count_ones().into(), Ordering::Relaxed);
                self.count.fetch_add(new.count_ones().into(), Ordering::Relaxed);
            }
        }
        // Whoever adds by the age of before has its device settle that much earlier.
        self.youngest.store(oldest, Ordering::Relaxed);
    }

    /// All have settled.
    pub(crate) fn settle(&self) {
        (0..AGES).for_each(|_| self.grow_older());
    }

    /// Whether some have not settled.
    pub(crate) fn has_fresh(&self) -> bool {
        self.fresh.load(Ordering::Relaxed) > 0
    }

    /// Whether device `index` has settled.
    pub(crate) fn has(&self, index: u64) -> bool {
        let block = self.blocks.get((index / BLOCK_BITS) as usize).and_then(OnceLock::get);
        let within = index % BLOCK_BITS;
        let word = block.map(|block| block.settled[(within / 64) as usize].load(Ordering::Relaxed));
        word.is_some_and(|word| word & 1 << (within % 64) != 0)
    }

    /// How many have settled.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The number behind the highest: of the first device that nobody provisioned yet.
    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// A device that has settled, by a number drawn evenly over all 64 bits; none while there is none. It is the first from an evenly drawn
    /// place on, around the end: where holes are few, an even draw.
    pub fn draw(&self, draw: u64) -> Option<u64> {
        let (lowest, end) = (self.start.load(Ordering::Relaxed), self.end());
        let start = lowest + draw.checked_rem(end.checked_sub(lowest)?)?;
        if self.count() == 0 {
            return None;
        }
        let words = end.div_ceil(64);
        let first = start / 64;
        let behind = self.word(first) & (u64::MAX << (start % 64));
        if behind != 0 {
            return Some(first * 64 + u64::from(behind.trailing_zeros()));
        }
        let around = (first + 1..words).chain(lowest / 64..=first);
        let found = around.map(|word| (word, self.word(word))).find(|(_, bits)| *bits != 0);
        found.map(|(word, bits)| word * 64 + u64::from(bits.trailing_zeros()))
    }

    fn word(&self, word: u64) -> u64 {
        let block = self.blocks.get((word / BLOCK_WORDS) as usize).and_then(OnceLock::get);
        block.map_or(0, |block| block.settled[(word % BLOCK_WORDS) as usize].load(Ordering::Relaxed))
    }
}

fn words() -> Box<[AtomicU64]> {
    (0..BLOCK_WORDS).map(|_| AtomicU64::new(0)).collect()
}

/// Those that settle next, and those that do after them: devices settle between all and five quarters of the time that it takes.
const AGES: usize = 5;
const BLOCK_BITS: u64 = 64 * BLOCK_WORDS;
/// 8 KiB.
const BLOCK_WORDS: u64 = 1 << 10;
const BLOCKS: usize = (DevicesPlan::FIRST_FORGOTTEN / BLOCK_BITS) as usize;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn only_what_was_taken_in_is_drawn_and_all_of_it() {
        let devices = ProvisionedDevices::new();
        assert_eq!((devices.draw(7), devices.count()), (None, 0));
        let taken: BTreeSet<u64> = [9, 10, 11, 14, 63, 64, 200, 65_535, 65_536, 70_000].into();
        taken.iter().chain(&taken).for_each(|index| devices.add(*index));
        assert_eq!((devices.count(), devices.end()), (taken.len() as u64, 70_001));
        let draws = hammer_core::draw::Draws::new(1, 2);
        let drawn: BTreeSet<u64> = (0..20_000).map(|seq| devices.draw(draws.bits(seq)).unwrap()).collect();
        assert!(drawn.is_subset(&taken) && drawn.contains(&70_000), "{drawn:?}");
        // The ends of words and blocks are met by numbers of their own.
        let of_place = |place: u64| devices.draw(place - 9).unwrap();
        assert!(taken.iter().all(|index| of_place(*index) == *index), "{drawn:?}");
        assert_eq!([12, 65, 201, 65_537].map(of_place), [14, 200, 65_535, 70_000]);
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
    fn devices_of_another_seed_stream_or_model_are_others() {
        let pools = ProvisionedPools::default();
        let plan = |stream| DevicesPlan { stream, ..DevicesPlan::default() };
        pools.of(1, &plan(0)).add(7);
        assert_eq!(pools.clone().of(1, &plan(0)).end(), 8);
        for other in [pools.of(1, &plan(1)), pools.of(2, &plan(0))] {
            assert_eq!((other.count(), other.end()), (0, 0));
        }
    }

    #[test]
    fn a_fresh_device_is_drawn_once_it_has_settled_and_not_before() {
        let devices = ProvisionedDevices::new();
        devices.add_fresh(70);
        devices.add_fresh(70);
        assert_eq!((devices.draw(1), devices.count(), devices.end()), (None, 0, 71));
        for quarter in 1..=AGES {
            devices.grow_older();
            let is_settled = quarter == AGES;
            assert_eq!((devices.draw(5), devices.has_fresh()), (is_settled.then_some(70), !is_settled));
        }
        assert_eq!([69, 70, 71, u64::MAX].map(|device| devices.has(device)), [false, true, false, false]);
        // What is there stays there, also where it is taken in again.
        devices.add_fresh(70);
        devices.add_fresh(3);
        assert_eq!(devices.draw(0), Some(70));
        devices.settle();
        assert_eq!((devices.draw(0), devices.count(), devices.has_fresh()), (Some(3), 2, false));
    }

    #[test]
    fn what_there_is_no_room_for_is_not_drawn() {
        let devices = ProvisionedDevices::new();
        devices.add(BLOCK_BITS * BLOCKS as u64);
        assert_eq!((devices.count(), devices.draw(1)), (0, None));
    }
}

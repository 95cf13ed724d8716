//! A sample of what the server has answered, for later operations to draw from: a chain to be submitted again, an entry to be
//! verified. Each shard has its own, so that no lock stands between an answer and its record.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::draw::Draws;

/// Something that is kept in a [`Reservoir`].
pub trait Sampled: Default {
    /// Bytes that it holds, itself included.
    fn weight(&self) -> usize;
}

/// A uniform sample, bounded in number and bytes, of all that was offered to it (Vitter's algorithm R).
#[derive(Debug)]
pub struct Reservoir<T> {
    sample: Vec<T>,
    /// Most that it keeps; fewer where they would take too much memory.
    places: usize,
    offered: u64,
    bytes: usize,
    most_bytes: usize,
    draws: Draws,
}

/// The samples of one shard by name: what one workload keeps, another may draw from.
#[derive(Clone, Default)]
pub struct ShardSamples {
    by_name: Rc<RefCell<BTreeMap<String, Rc<dyn Any>>>>,
}

impl<T: Sampled> Reservoir<T> {
    /// A sample of at most `places`, which hold at most `bytes` together once there is more than one.
    pub fn new(places: usize, bytes: usize, draws: Draws) -> Self {
        Self { sample: Vec::new(), places, offered: 0, bytes: 0, most_bytes: bytes, draws }
    }

    /// Takes something into the sample, or not; where it does, `write` puts it in the place of what was there before.
    pub fn offer(&mut self, write: impl FnOnce(&mut T)) {
        self.offered += 1;
        let place = if self.sample.len() < self.places {
            let empty = T::default();
            self.bytes += empty.weight();
            self.sample.push(empty);
            self.sample.len() - 1
        } else {
            (self.draws.bits(self.offered) % self.offered) as usize
        };
        let Some(kept) = self.sample.get_mut(place) else { return };
        self.bytes -= kept.weight();
        write(kept);
        self.bytes += kept.weight();
        self.make_room();
    }

    /// What the operation `seq` draws; none while there is nothing.
    pub fn draw(&self, seq: u64) -> Option<&T> {
        let place = self.draws.bits(!seq).checked_rem(self.sample.len() as u64)?;
        self.sample.get(place as usize)
    }

    /// All that is in the sample.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.sample.iter()
    }

    /// Bytes that the sample holds.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn make_room(&mut self) {
        while self.bytes > self.most_bytes && self.sample.len() > 1 {
            let place = self.draws.bits(self.offered) % self.sample.len() as u64;
            self.bytes -= self.sample.swap_remove(place as usize).weight();
            self.places = self.sample.len();
        }
    }
}

impl ShardSamples {
    /// The sample of that name, made by whoever asks for it first.
    ///
    /// # Panics
    /// When it was asked for as a sample of another type: two workloads that share a name do not share what it means.
    pub fn of<T: Sampled + 'static>(
        &self,
        name: &str,
        make: impl FnOnce() -> Reservoir<T>,
    ) -> Rc<RefCell<Reservoir<T>>> {
        let mut by_name = self.by_name.borrow_mut();
        let sample = by_name.entry(name.to_owned()).or_insert_with(|| Rc::new(RefCell::new(make())));
        sample.clone().downcast().unwrap_or_else(|_| panic!("the sample {name} is of another type"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Text(String);

    impl Sampled for Text {
        fn weight(&self) -> usize {
            size_of::<Self>() + self.0.len()
        }
    }

    fn offer(reservoir: &mut Reservoir<Text>, numbers: std::ops::Range<u32>) {
        numbers.for_each(|number| reservoir.offer(|text| text.0 = number.to_string()));
    }

    fn reservoir(places: usize, bytes: usize, seed: u64) -> Reservoir<Text> {
        Reservoir::new(places, bytes, Draws::new(seed, 2))
    }

    #[test]
    fn nothing_is_drawn_while_there_is_nothing_and_then_only_what_was_offered() {
        let mut reservoir = reservoir(8, 1 << 20, 1);
        assert_eq!(reservoir.draw(0), None);
        offer(&mut reservoir, 0..100);
        for seq in 0..50 {
            assert!(reservoir.draw(seq).unwrap().0.parse::<u32>().unwrap() < 100);
        }
        assert_eq!(reservoir.iter().count(), 8);
    }

    #[test]
    fn early_and_late_offers_are_kept_alike() {
        let mut early = 0;
        for run in 0..40 {
            let mut reservoir = reservoir(16, 1 << 20, run);
            offer(&mut reservoir, 0..64);
            early += reservoir.iter().filter(|text| text.0.parse::<u32>().unwrap() < 32).count();
        }
        // Half of 640, within five standard deviations.
        assert!((257..384).contains(&early), "{early}");
    }

    #[test]
    fn the_sample_stays_below_its_bytes() {
        let most = 10 * (size_of::<Text>() + 4);
        let mut reservoir = reservoir(1_000, most, 1);
        offer(&mut reservoir, 1_000..1_300);
        let held: usize = reservoir.iter().map(Sampled::weight).sum();
        assert_eq!((held, reservoir.iter().count()), (reservoir.bytes(), 10));
        assert!(held <= most);
    }

    #[test]
    fn what_one_workload_keeps_another_draws() {
        let samples = ShardSamples::default();
        let one = samples.of("entries", || reservoir(8, 1 << 20, 1));
        let other = samples.clone().of("entries", || panic!("it is there already"));
        offer(&mut one.borrow_mut(), 7..8);
        assert_eq!(other.borrow().draw(3), Some(&Text("7".into())));
    }
}

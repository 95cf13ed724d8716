//! Which operations of a series are kept one by one: the slowest, and a uniform sample of all. Both are those of the highest ranks, so
//! that the samples of shards and intervals add up to what one recorder would have kept, in whatever order they come.

use std::cmp::Reverse;

use crate::operation_sample::OperationSample;
use crate::timing::Nanos;

/// How many operations of a series, phase and interval are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleSizes {
    /// Of the slowest.
    pub slowest: usize,
    /// Of the uniform sample.
    pub uniform: usize,
}

/// An operation that may be kept.
#[derive(Clone, Copy, Debug)]
pub struct SampleCandidate {
    /// Its sequence number.
    pub seq: u64,
    /// A draw that is uniform over all 64 bits, and of this operation alone.
    pub draw: u64,
    /// How long it took; `None` where it never ended, which is slower than all that did.
    pub response_time: Option<Nanos>,
}

/// The operations of a series that ended in an interval, as far as they are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesSamples {
    sizes: SampleSizes,
    population: u64,
    slowest: RankedSamples,
    uniform: RankedSamples,
}

/// The operations of the highest ranks. What is taken out is written over.
#[derive(Clone, Debug, Default)]
struct RankedSamples {
    slots: Vec<(Rank, OperationSample)>,
    /// How many of the slots are kept; the others have been cleared.
    kept: usize,
    /// The place of the lowest rank among them.
    lowest: usize,
}

/// What is kept rather than another; of two operations never the same.
type Rank = (u64, Reverse<u64>);

impl SampleCandidate {
    fn slowness(&self) -> Rank {
        (self.response_time.unwrap_or(Nanos::MAX).0, Reverse(self.seq))
    }

    fn chance(&self) -> Rank {
        (self.draw, Reverse(self.seq))
    }
}

impl SeriesSamples {
    /// None yet, of so many.
    pub fn new(sizes: SampleSizes) -> Self {
        Self { sizes, ..Self::default() }
    }

    /// How many operations ended, kept or not.
    pub fn population(&self) -> u64 {
        self.population
    }

    /// An operation ended; where it is kept, `write` writes it down.
    pub fn offer(&mut self, candidate: SampleCandidate, write: impl Fn(&mut OperationSample)) {
        self.population += 1;
        if let Some(place) = self.slowest.place(self.sizes.slowest, candidate.slowness()) {
            write(place);
        }
        if let Some(place) = self.uniform.place(self.sizes.uniform, candidate.chance()) {
            write(place);
        }
    }

    /// Adds what another shard kept, or a later interval.
    pub fn merge(&mut self, other: &Self) {
        let SampleSizes { slowest, uniform } = other.sizes;
        self.sizes = SampleSizes {
            slowest: self.sizes.slowest.max(slowest),
            uniform: self.sizes.uniform.max(uniform),
        };
        self.population += other.population;
        self.slowest.merge(self.sizes.slowest, &other.slowest);
        self.uniform.merge(self.sizes.uniform, &other.uniform);
    }

    /// Forgets everything and keeps the allocations.
    pub fn clear(&mut self) {
        self.population = 0;
        self.slowest.kept = 0;
        self.uniform.kept = 0;
    }

    /// The slowest, from the slowest on.
    pub fn slowest(&self) -> Vec<&OperationSample> {
        self.slowest.in_order()
    }

    /// The uniform sample, each with how many operations it stands for: together they are all that ended.
    pub fn uniform(&self) -> Vec<(&OperationSample, u64)> {
        let kept = self.uniform.in_order();
        let (each, more) = match kept.len() as u64 {
            0 => (0, 0),
            count => (self.population / count, self.population % count),
        };
        // Which of them stands for one more is drawn, too: their order is that of their draws.
        let weighed = kept.into_iter().zip(0..);
        weighed.map(|(sample, place)| (sample, each + u64::from(place < more))).collect()
    }
}

impl RankedSamples {
    /// The place for an operation of that rank, where it is among the highest `most`.
    fn place(&mut self, most: usize, rank: Rank) -> Option<&mut OperationSample> {
        let place = if self.kept < most {
            self.kept += 1;
            self.kept - 1
        } else if most > 0 && rank > self.slots[self.lowest].0 {
            self.lowest
        } else {
            return None;
        };
        match self.slots.get_mut(place) {
            Some((of_slot, _)) => *of_slot = rank,
            None => self.slots.push((rank, OperationSample::default())),
        }
        self.lowest = (0..self.kept).min_by_key(|place| self.slots[*place].0).unwrap_or(0);
        Some(&mut self.slots[place].1)
    }

    fn merge(&mut self, most: usize, other: &Self) {
        for (rank, sample) in &other.slots[..other.kept] {
            if let Some(place) = self.place(most, *rank) {
                place.clone_from(sample);
            }
        }
    }

    fn in_order(&self) -> Vec<&OperationSample> {
        let mut kept: Vec<_> = self.slots[..self.kept].iter().collect();
        kept.sort_unstable_by_key(|(rank, _)| Reverse(*rank));
        kept.into_iter().map(|(_, sample)| sample).collect()
    }
}

/// What was cleared is no difference.
impl PartialEq for RankedSamples {
    fn eq(&self, other: &Self) -> bool {
        self.in_order() == other.in_order()
    }
}

#[cfg(test)]
mod tests;

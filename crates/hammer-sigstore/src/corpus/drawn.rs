//! Which entry of a file an operation reads: a pure function of the run's seed and the operation's number.

use hammer_core::draw::{Draws, Popularity};

use super::entry::CorpusEntry;
use crate::plan::{CorpusDraw, NewestEntries};

/// The entries of a file in the order of their indexes, and how they are drawn.
#[derive(Debug)]
pub(crate) struct DrawnCorpus {
    entries: Vec<CorpusEntry>,
    pattern: Pattern,
    draws: Draws,
}

#[derive(Debug)]
enum Pattern {
    /// Each alike from this place on.
    From(usize),
    /// The first alone.
    Hot,
    /// The first is the most popular.
    Zipf(Popularity),
}

impl DrawnCorpus {
    /// These entries; none where there are none.
    pub(crate) fn new(mut entries: Vec<CorpusEntry>, draw: CorpusDraw, draws: Draws) -> Option<Self> {
        if entries.is_empty() {
            return None;
        }
        entries.sort_by_key(|entry| entry.log_index);
        let pattern = match draw {
            CorpusDraw::Uniform => Pattern::From(0),
            CorpusDraw::Hot => Pattern::Hot,
            CorpusDraw::Newest(newest) => Pattern::From(entries.len() - newest.of(entries.len())),
            CorpusDraw::Zipf(exponent) => Pattern::Zipf(Popularity::zipf(entries.len(), exponent.value())),
        };
        Some(Self { entries, pattern, draws })
    }

    /// What the operation `seq` reads.
    pub(crate) fn draw(&self, seq: u64) -> &CorpusEntry {
        let place = match &self.pattern {
            Pattern::From(first) => {
                let count = (self.entries.len() - first) as u64;
                first + (self.draws.bits(seq) % count) as usize
            }
            Pattern::Hot => 0,
            Pattern::Zipf(popularity) => popularity.place(self.draws.unit(seq)),
        };
        &self.entries[place]
    }
}

impl NewestEntries {
    /// How many that is of so many: one at least.
    fn of(self, entries: usize) -> usize {
        let newest = match self {
            Self::Count(count) => count.get(),
            Self::Share(share) => (entries as f64 * share.of_100() / 100.0).round() as usize,
        };
        newest.clamp(1, entries)
    }
}

#[cfg(test)]
mod tests {
    use hammer_values::{Count, Percent, ZipfExponent};

    use super::*;

    fn counts(draw: CorpusDraw, seed: u64) -> Vec<usize> {
        // In another order than that of their indexes.
        let entries =
            (0..50).map(|index| CorpusEntry { log_index: (index + 20) % 50, ..CorpusEntry::default() });
        let corpus = DrawnCorpus::new(entries.collect(), draw, Draws::new(seed, 1)).unwrap();
        let mut counts = vec![0; 50];
        (0..100_000).for_each(|seq| counts[corpus.draw(seq).log_index as usize] += 1);
        counts
    }

    #[test]
    fn every_entry_is_drawn_alike_unless_the_plan_says_otherwise() {
        let counts = counts(CorpusDraw::Uniform, 1);
        // 2,000 each, within five standard deviations.
        assert!(counts.iter().all(|count| (1_780..2_220).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_popularity_of_an_entry_falls_with_its_rank_by_the_exponent() {
        let exponent = ZipfExponent::try_from(1.0).unwrap();
        let found = counts(CorpusDraw::Zipf(exponent), 7);
        let harmonic: f64 = (1..=50).map(|rank| 1.0 / f64::from(rank)).sum();
        for (place, count) in found.iter().enumerate() {
            let expected = 100_000.0 / harmonic / (place + 1) as f64;
            let off = (*count as f64 - expected).abs();
            assert!(off < 5.0 * expected.sqrt(), "{place}: {count}, expected {expected}");
        }
        assert_eq!(found, counts(CorpusDraw::Zipf(exponent), 7), "it follows from the seed");
        assert_ne!(found, counts(CorpusDraw::Zipf(exponent), 8));
    }

    #[test]
    fn the_newest_are_those_of_the_highest_indexes_and_the_hot_one_is_the_first() {
        let newest = |newest| counts(CorpusDraw::Newest(newest), 1).iter().position(|count| *count > 0);
        assert_eq!(newest(NewestEntries::Count(Count::at_least_one(7))), Some(43));
        assert_eq!(newest(NewestEntries::Share(Percent::try_from(10.0).unwrap())), Some(45));
        assert_eq!(newest(NewestEntries::Count(Count::at_least_one(1_000))), Some(0));
        assert_eq!(newest(NewestEntries::Share(Percent::try_from(0.1).unwrap())), Some(49));
        assert_eq!(counts(CorpusDraw::Hot, 1)[0], 100_000);
        assert!(DrawnCorpus::new(Vec::new(), CorpusDraw::Hot, Draws::new(1, 1)).is_none());
    }
}

//! Durations by powers of two: coarse enough to keep one for every interval, and to draw a heat map from.

use serde::{Deserialize, Serialize};

use crate::timing::Nanos;

/// Counts of durations that ended; each octave reaches twice as far as the one before it.
///
/// The first holds what is below 31.25 us, so that a bound falls on 1 ms; the last what is above 131 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Octaves {
    /// By octave, shortest first.
    pub counts: [u64; Octaves::COUNT],
}

impl Octaves {
    /// How many there are.
    pub const COUNT: usize = 24;

    /// The octave of a duration.
    pub const fn place(duration: Nanos) -> usize {
        let doublings = (u64::BITS - (duration.0 / FIRST).leading_zeros()) as usize;
        if doublings < Self::COUNT { doublings } else { Self::COUNT - 1 }
    }

    /// The bound below which the durations of the octave at `place` lie; [`Nanos::MAX`] for the last.
    pub const fn bound(place: usize) -> Nanos {
        if place + 1 < Self::COUNT { Nanos(FIRST << place) } else { Nanos::MAX }
    }

    /// Adds `count` durations of that length.
    pub fn record(&mut self, duration: Nanos, count: u64) {
        self.counts[Self::place(duration)] += count;
    }

    /// Adds all of another's.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// How many durations it holds.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Nanoseconds: 1 ms halved five times.
const FIRST: u64 = 31_250;

#[cfg(test)]
mod tests;

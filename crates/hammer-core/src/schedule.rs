//! When to send: pure, seeded, and splittable over shards without changing what is sent or when.
//!
//! A [`Profile`] says how many arrivals there are by an instant; its inverse is the instant of the n-th. Arrivals are
//! either even (the n-th is where the profile passes n) or Poisson (where it passes the sum of n unit exponentials).

use hammer_measure::Nanos;

mod burst;
mod constant;
mod poisson;
mod ramp;
mod steps;
mod trace;
pub mod warp;

pub use burst::Burst;
pub use constant::Constant;
pub use poisson::Poisson;
pub use ramp::Ramp;
pub use steps::{Step, Steps};
pub use trace::{Trace, TraceError};

/// One arrival: what is sent, and when after the load's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its place in the schedule, from 0; decides what is sent.
    pub seq: u64,
    /// The instant after the load's start.
    pub at: Nanos,
}

/// A rate over time, as its inverse: the seconds at which the cumulative number of arrivals passes `count`.
#[derive(Clone, Debug, PartialEq)]
pub enum Profile {
    /// One rate.
    Constant(Constant),
    /// From one rate to another.
    Ramp(Ramp),
    /// A rate for each of several spans.
    Steps(Steps),
    /// Several at once, again and again.
    Burst(Burst),
    /// Recorded instants.
    Trace(Trace),
}

/// A profile and how arrivals are spaced within it.
#[derive(Clone, Debug)]
pub struct Schedule {
    profile: Profile,
    poisson: Option<Poisson>,
    until: Nanos,
    operations: u64,
}

/// The arrivals of one shard.
#[derive(Clone, Debug)]
pub struct Arrivals {
    schedule: Schedule,
    shard: u64,
    shards: u64,
    next: u64,
}

impl Profile {
    /// Seconds at which the cumulative number of arrivals passes `count`; `None` when it never does.
    pub fn seconds_at(&self, count: f64) -> Option<f64> {
        match self {
            Self::Constant(profile) => profile.seconds_at(count),
            Self::Ramp(profile) => profile.seconds_at(count),
            Self::Steps(profile) => profile.seconds_at(count),
            Self::Burst(profile) => profile.seconds_at(count),
            Self::Trace(profile) => profile.seconds_at(count),
        }
    }
}

impl Schedule {
    /// Evenly spaced arrivals of the profile, without end.
    pub fn even(profile: Profile) -> Self {
        Self { profile, poisson: None, until: Nanos::MAX, operations: u64::MAX }
    }

    /// Poisson arrivals of the profile, without end; `seed` and `label` name the stream of draws.
    pub fn poisson(profile: Profile, seed: u64, label: u64) -> Self {
        Self { poisson: Some(Poisson::new(seed, label)), ..Self::even(profile) }
    }

    /// No arrival at `until` or later.
    #[must_use]
    pub fn until(mut self, until: Nanos) -> Self {
        self.until = self.until.min(until);
        self
    }

    /// No more than `operations` arrivals.
    #[must_use]
    pub fn operations(mut self, operations: u64) -> Self {
        self.operations = self.operations.min(operations);
        self
    }

    /// The arrivals of shard `shard` of `shards`: every n-th.
    ///
    /// # Panics
    /// When `shard >= shards`.
    pub fn arrivals(&self, shard: usize, shards: usize) -> Arrivals {
        assert!(shard < shards, "shard {shard} of {shards}");
        Arrivals { schedule: self.clone(), shard: shard as u64, shards: shards as u64, next: 0 }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let seq = self.skip_to_own()?;
        let count = match &mut self.schedule.poisson {
            Some(poisson) => poisson.next(),
            None => seq as f64,
        };
        self.next = seq + 1;
        let at = Nanos::from_secs_f64(self.schedule.profile.seconds_at(count)?);
        (at < self.schedule.until).then_some(Arrival { seq, at })
    }
}

impl Arrivals {
    /// Passes over the arrivals of other shards; a Poisson sum needs each of their draws.
    fn skip_to_own(&mut self) -> Option<u64> {
        let turn = self.next % self.shards;
        let seq = self.next + (self.shard + self.shards - turn) % self.shards;
        if let Some(poisson) = &mut self.schedule.poisson {
            (self.next..seq).for_each(|_| {
                poisson.next();
            });
        }
        (seq < self.schedule.operations).then_some(seq)
    }
}

#[cfg(test)]
mod tests;

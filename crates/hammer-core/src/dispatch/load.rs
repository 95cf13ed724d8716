//! How much is sent, and when: the two kinds of load.

use std::sync::Arc;

use hammer_measure::Nanos;

use crate::draw::Draws;
use crate::schedule::Schedule;

use super::fill_goal::FillGoal;
use super::share::{in_flight_share, share_of};
use super::stages::Stages;

/// A workload's load.
#[derive(Clone, Debug)]
pub enum Load {
    /// By schedule, whatever the answers.
    Open(Open),
    /// By users who wait for their answers.
    Closed(Closed),
}

/// Load by schedule.
#[derive(Clone, Debug)]
pub struct Open {
    /// When.
    pub schedule: Schedule,
    /// Most operations in flight at once, over all shards; each shard has room for one at least.
    pub in_flight: usize,
    /// Most operations that wait for a slot, over all shards; what arrives beyond it is shed.
    pub backlog: usize,
}

/// Load by users.
#[derive(Clone, Debug)]
pub struct Closed {
    /// How many users, over time.
    pub stages: Stages,
    /// Users a second that arrive of those who are there from the start; `None`: 10,000, so that the herd is not held up by the
    /// generator's own work for it.
    pub spawn_rate: Option<f64>,
    /// Between the end of an operation and the user's next.
    pub think: Think,
    /// What the users have to do.
    pub iterations: Iterations,
    /// The seed of think times.
    pub seed: u64,
}

/// What the users of a closed loop have to do.
#[derive(Clone, Debug)]
pub enum Iterations {
    /// As many as the time allows; an operation is named by its user and the user's iteration.
    Endless,
    /// So many, shared by all users; an operation is named by its place among them.
    Shared(u64),
    /// As many as it takes until so many are accepted, shared by all users; a user whose operation failed waits a moment.
    Accepted(Arc<FillGoal>),
}

/// The time between a user's operations, or before a step of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Always that long.
    Constant(Nanos),
    /// Uniform between the two, drawn for each operation.
    Uniform(Nanos, Nanos),
}

impl Load {
    /// Most operations in flight at once on that shard.
    pub fn in_flight_on(&self, shard: usize, shards: usize) -> usize {
        match self {
            Self::Open(open) => in_flight_share(open.in_flight, shard, shards),
            Self::Closed(closed) => share_of(closed.stages.most_users(), shard, shards),
        }
    }
}

impl Think {
    /// Drawn from `least` to `most`, or always `least` where there is no most; none where `most` is below it.
    pub fn between(least: Nanos, most: Option<Nanos>) -> Option<Self> {
        match most {
            None => Some(Self::Constant(least)),
            Some(most) => (most >= least).then_some(Self::Uniform(least, most)),
        }
    }

    /// The time of operation `seq`.
    pub fn after(self, draws: Draws, seq: u64) -> Nanos {
        match self {
            Self::Constant(nanos) => nanos,
            Self::Uniform(least, most) => {
                least.saturating_add(Nanos((draws.unit(seq) * most.since(least).0 as f64) as u64))
            }
        }
    }
}

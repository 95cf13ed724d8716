//! A workload's load, as a plan writes it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use hammer_core::dispatch::{Closed, Iterations, Load, Open, Stage, Stages, Think};
use hammer_core::schedule::{Burst, Constant, Profile, Ramp, Schedule, Step, Steps, Trace, TraceError};
use hammer_measure::recorder::MOST_GROUPS;
use hammer_values::{Agreed, Count, KeyConflict, PlanBlock, Rate, TimeSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spawn_rate::SpawnRate;

/// When a workload sends. Exactly one of `rate`, `ramp`, `steps`, `bursts`, `trace` (open loop) and `users` or `stages`
/// (closed loop).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LoadPlan {
    /// Open loop: so many arrivals a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<Rate>,
    /// Open loop: a rate that changes linearly, then holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ramp: Option<Agreed<RampPlan>>,
    /// Open loop: a rate for each of several spans; the last holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<StepPlan>,
    /// Open loop: several arrivals together, again and again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bursts: Option<Agreed<BurstPlan>>,
    /// Open loop: a file of instants, seconds since the start, one a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<PathBuf>,
    /// Open loop: how arrivals are spaced within the rate.
    #[serde(skip_serializing_if = "Spacing::is_even")]
    pub(crate) arrivals: Spacing,
    /// Closed loop: users who wait for their answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) users: Option<usize>,
    /// Closed loop: stages that change the number of users linearly, starting at `users` (or none).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stages: Vec<StagePlan>,
    /// Closed loop: so many groups, each of as many users as `users` and `stages` say; the report has counters of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) groups: Option<usize>,
    /// Closed loop: how many of the users who are there from the start enter in a second; 10,000/s without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spawn_rate: Option<SpawnRate>,
    /// Closed loop: time between a user's operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) think: Option<TimeSpan>,
    /// Closed loop: think time is drawn between `think` and this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) think_up_to: Option<TimeSpan>,
    /// No more than so many operations in all; in a closed loop they are shared by the users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operations: Option<u64>,
}

/// A linear change of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RampPlan {
    /// The rate at the start.
    pub(crate) from: Rate,
    /// The rate at the end, and after it.
    pub(crate) to: Rate,
    /// How long it takes.
    pub(crate) over: TimeSpan,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepPlan {
    /// Its rate.
    pub(crate) rate: Rate,
    /// Its length.
    pub(crate) r#for: TimeSpan,
}

/// Bursts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BurstPlan {
    /// Arrivals in one.
    pub(crate) size: Count,
    /// From the start of one to the start of the next.
    pub(crate) every: TimeSpan,
    /// The span that one is spread over; all at once without it.
    #[serde(default)]
    pub(crate) within: TimeSpan,
}

/// One stage of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StagePlan {
    /// Users at its end.
    pub(crate) users: usize,
    /// Its length.
    pub(crate) over: TimeSpan,
}

/// How arrivals are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Spacing {
    /// Evenly.
    #[default]
    Even,
    /// As a Poisson process.
    Poisson,
}

/// What a load needs beside its own keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadBounds {
    /// The run's seed.
    pub(crate) seed: u64,
    /// The workload's place in the plan.
    pub(crate) workload: u64,
    /// Most operations in flight.
    pub(crate) in_flight: usize,
    /// Most operations that wait for a slot.
    pub(crate) backlog: usize,
}

/// A load that cannot be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// Not exactly one kind of load.
    #[error(
        "give exactly one of rate, ramp, steps, bursts, trace (open loop) or users, stages (closed loop)"
    )]
    NotOne,
    /// An open and a closed loop.
    #[error("give either a rate or users, not both")]
    OpenAndClosed,
    /// The file of a trace cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// What it holds is no trace.
    #[error("{}: failed to {source}", path.display())]
    Trace { path: PathBuf, source: TraceError },
    /// A rate, ramp or steps in which nothing ever comes.
    #[error("at 0/s nothing is ever sent: give a rate above it")]
    NoArrival { key: &'static str },
    /// Think time in an open loop.
    #[error("think time belongs to users; a rate has none")]
    ThinkingRate,
    /// A rate at which users enter, in an open loop.
    #[error("users enter a closed loop; an open one has none")]
    SpawningRate,
    /// Groups of users, in an open loop.
    #[error("groups are of users, which an open loop has none of")]
    GroupedRate,
    /// No group, or more than are counted.
    #[error("there can be from 1 to {MOST_GROUPS} groups")]
    Groups,
    /// Spacing of recorded instants.
    #[error("a trace has its own spacing")]
    SpacedTrace,
    /// Spacing in a closed loop.
    #[error("arrivals are spaced in an open loop only; users come when their answers do")]
    SpacedUsers,
    /// A closed loop of nobody.
    #[error("there must be at least one user")]
    NoUser,
    /// A closed loop of more than a machine has memory for.
    #[error("there can be a million users at most: each takes some 4 kB")]
    TooManyUsers,
    /// The most think time is less than the least.
    #[error("think_up_to must not be below think")]
    Think,
}

impl LoadError {
    /// The key at fault, below the load; none where it is no single one.
    pub(super) fn key(&self) -> Option<&'static str> {
        match self {
            Self::NotOne | Self::OpenAndClosed => None,
            Self::Unreadable { .. } | Self::Trace { .. } => Some("trace"),
            Self::NoArrival { key } => Some(key),
            Self::ThinkingRate => Some("think"),
            Self::SpawningRate => Some("spawn_rate"),
            Self::SpacedTrace | Self::SpacedUsers => Some("arrivals"),
            Self::NoUser | Self::TooManyUsers => Some("users"),
            Self::GroupedRate | Self::Groups => Some("groups"),
            Self::Think => Some("think_up_to"),
        }
    }
}

impl PlanBlock for RampPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        (self.over == TimeSpan::ZERO).then(|| KeyConflict::at("over", "a ramp takes time: give more than 0s"))
    }
}

impl PlanBlock for BurstPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        if self.every == TimeSpan::ZERO {
            return Some(KeyConflict::at("every", "bursts have time between them: give more than 0s"));
        }
        let reason = || format!("it is longer than every, {}: a burst would reach into the next", self.every);
        (self.within > self.every).then(|| KeyConflict::at("within", reason()))
    }
}

impl Spacing {
    fn is_even(&self) -> bool {
        *self == Self::Even
    }
}

impl LoadPlan {
    /// The load.
    ///
    /// # Errors
    /// When not exactly one kind is given, or a key does not belong to it; when a trace cannot be read.
    pub(crate) fn load(&self, bounds: &LoadBounds) -> Result<Load, LoadError> {
        let closed = self.users.is_some() || !self.stages.is_empty();
        match (self.profile()?, closed) {
            (Some(_), true) => Err(LoadError::OpenAndClosed),
            (None, false) => Err(LoadError::NotOne),
            (Some(profile), false) => self.open(profile, bounds).map(Load::Open),
            (None, true) => self.closed(bounds.seed).map(Load::Closed),
        }
    }

    /// Whether none is given.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The users of a closed loop who are there so long after its start, by the plan.
    pub(crate) fn users_at(&self, since: Duration) -> Option<usize> {
        self.most_users()?;
        let (mut before, mut start) = (self.users.unwrap_or(0), Duration::ZERO);
        for StagePlan { users, over } in &self.stages {
            let end = start.saturating_add(over.duration());
            if since < end {
                let share = since.saturating_sub(start).as_secs_f64() / over.duration().as_secs_f64();
                let there = before as f64 + (*users as f64 - before as f64) * share;
                return Some(self.in_groups(there.ceil() as usize));
            }
            (before, start) = (*users, end);
        }
        Some(self.in_groups(before))
    }

    /// Whether it is a closed loop, and of how many users at most.
    pub(crate) fn most_users(&self) -> Option<usize> {
        let stages = self.stages.iter().map(|stage| stage.users).max();
        let of_group = self.users.into_iter().chain(stages).max();
        of_group.map(|users| self.in_groups(users))
    }

    /// The greatest planned rate of an open loop, arrivals a second.
    pub(crate) fn greatest_rate(&self) -> f64 {
        let steps = self.steps.iter().map(|step| step.rate.per_second());
        let ramp = self.ramp.iter().flat_map(|ramp| [ramp.from.per_second(), ramp.to.per_second()]);
        self.rate.iter().map(|rate| rate.per_second()).chain(steps).chain(ramp).fold(0.0, f64::max)
    }

    /// How long its users enter at a rate of the plan's, or its rate is ramped.
    pub(crate) fn ramp(&self) -> Duration {
        let users = self
            .users
            .zip(self.spawn_rate)
            .map(|(users, rate)| self.in_groups(users) as f64 / rate.per_second());
        let users = users.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let rate = self.ramp.map(|ramp| ramp.over.duration());
        users.into_iter().chain(rate).max().unwrap_or_default()
    }

    /// The users of all groups, where each has so many.
    fn in_groups(&self, users: usize) -> usize {
        users.saturating_mul(self.groups.unwrap_or(1))
    }

    /// Whether nothing of it says when it ends: neither a number of operations nor a trace.
    pub(crate) const fn is_endless(&self) -> bool {
        self.operations.is_none() && self.trace.is_none()
    }

    /// Every span and count of it in proportion.
    pub(crate) fn shorten(&mut self, factor: f64) {
        self.operations = self.operations.map(|count| scaled(count, factor));
        self.steps.iter_mut().for_each(|step| step.r#for = step.r#for.scaled(factor));
        self.stages.iter_mut().for_each(|stage| stage.over = stage.over.scaled(factor));
        // What rounds to no time stays as it is.
        let shortened = |ramp: Agreed<RampPlan>| {
            Agreed::new(RampPlan { over: ramp.over.scaled(factor), ..*ramp }).unwrap_or(ramp)
        };
        self.ramp = self.ramp.map(shortened);
    }

    /// The key of a load that is given as rates, all of which are none.
    fn without_arrivals(&self) -> Option<&'static str> {
        let key = match (self.rate, self.ramp, self.steps.is_empty()) {
            (Some(_), ..) => "rate",
            (None, Some(_), _) => "ramp",
            (None, None, false) => "steps",
            (None, None, true) => return None,
        };
        (self.greatest_rate() == 0.0).then_some(key)
    }

    fn profile(&self) -> Result<Option<Profile>, LoadError> {
        if let Some(key) = self.without_arrivals() {
            return Err(LoadError::NoArrival { key });
        }
        let mut profiles = Vec::new();
        if let Some(rate) = self.rate {
            profiles.push(Profile::Constant(Constant { rate: rate.per_second() }));
        }
        if let Some(ramp) = self.ramp {
            profiles.push(Profile::Ramp(Ramp {
                from: ramp.from.per_second(),
                to: ramp.to.per_second(),
                over: ramp.over.duration().as_secs_f64(),
            }));
        }
        if !self.steps.is_empty() {
            let step = |step: &StepPlan| Step {
                rate: step.rate.per_second(),
                seconds: step.r#for.duration().as_secs_f64(),
            };
            profiles.push(Profile::Steps(Steps { steps: self.steps.iter().map(step).collect() }));
        }
        if let Some(burst) = self.bursts {
            let (every, within) =
                (burst.every.duration().as_secs_f64(), burst.within.duration().as_secs_f64());
            profiles.push(Profile::Burst(Burst { size: burst.size.get() as u64, every, within }));
        }
        if let Some(path) = &self.trace {
            let text = std::fs::read_to_string(path)
                .map_err(|source| LoadError::Unreadable { path: path.clone(), source })?;
            let trace =
                Trace::parse(&text).map_err(|source| LoadError::Trace { path: path.clone(), source })?;
            profiles.push(Profile::Trace(trace));
        }
        if profiles.len() > 1 {
            return Err(LoadError::NotOne);
        }
        Ok(profiles.pop())
    }

    fn open(&self, profile: Profile, bounds: &LoadBounds) -> Result<Open, LoadError> {
        if self.think.is_some() || self.think_up_to.is_some() {
            return Err(LoadError::ThinkingRate);
        }
        if self.spawn_rate.is_some() {
            return Err(LoadError::SpawningRate);
        }
        if self.groups.is_some() {
            return Err(LoadError::GroupedRate);
        }
        let is_trace = matches!(profile, Profile::Trace(_));
        let schedule = match self.arrivals {
            Spacing::Even => Schedule::even(profile),
            Spacing::Poisson if is_trace => return Err(LoadError::SpacedTrace),
            Spacing::Poisson => Schedule::poisson(profile, bounds.seed, bounds.workload),
        };
        let schedule = schedule.operations(self.operations.unwrap_or(u64::MAX));
        Ok(Open { schedule, in_flight: bounds.in_flight, backlog: bounds.backlog })
    }

    fn closed(&self, seed: u64) -> Result<Closed, LoadError> {
        if self.arrivals != Spacing::Even {
            return Err(LoadError::SpacedUsers);
        }
        if self.groups.is_some_and(|groups| groups == 0 || groups > MOST_GROUPS) {
            return Err(LoadError::Groups);
        }
        let stage = |stage: &StagePlan| Stage {
            users: self.in_groups(stage.users),
            over: stage.over.duration().into(),
        };
        let first = self.in_groups(self.users.unwrap_or(0));
        let stages = Stages::ramped(first, self.stages.iter().map(stage).collect());
        let stages = stages.in_groups(self.groups.unwrap_or(0));
        if stages.most_users() == 0 {
            return Err(LoadError::NoUser);
        }
        if stages.most_users() > MOST_USERS {
            return Err(LoadError::TooManyUsers);
        }
        let least = self.think.unwrap_or(TimeSpan::ZERO).duration().into();
        let most = self.think_up_to.map(|most| most.duration().into());
        let think = Think::between(least, most).ok_or(LoadError::Think)?;
        let iterations = self.operations.map_or(Iterations::Endless, Iterations::Shared);
        let spawn_rate = self.spawn_rate.map(SpawnRate::per_second);
        Ok(Closed { stages, spawn_rate, think, iterations, seed })
    }
}

/// `count` in proportion, at least one of any.
pub(crate) fn scaled(count: u64, factor: f64) -> u64 {
    if count == 0 { 0 } else { ((count as f64 * factor).round() as u64).max(1) }
}

/// Users of a closed loop.
const MOST_USERS: usize = 1_000_000;

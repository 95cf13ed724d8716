//! Warm-up, measurement, drain: the plan's windows, and the phase of an instant.

use hammer_measure::{Nanos, Phase};

/// The windows of a run, from the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    /// The instant at which arrivals start: late enough that every shard is ready.
    pub start: Nanos,
    /// Length of warm-up.
    pub warm_up: Nanos,
    /// Length of measurement; `None` when something else ends it.
    pub measurement: Option<Nanos>,
    /// How long drain may take.
    pub drain: Nanos,
}

impl Phases {
    /// The phase of an operation intended at `at`.
    pub fn of(&self, intended: Nanos) -> Phase {
        if intended < self.measurement_start() { Phase::WarmUp } else { Phase::Measurement }
    }

    /// The end of warm-up.
    pub fn measurement_start(&self) -> Nanos {
        self.start.saturating_add(self.warm_up)
    }

    /// The planned end of arrivals; [`Nanos::MAX`] when something else ends them.
    pub fn arrivals_end(&self) -> Nanos {
        self.measurement.map_or(Nanos::MAX, |length| self.measurement_start().saturating_add(length))
    }
}

//! The phases of a run.

use hammer_measure::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One phase as it really was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseSpan {
    /// Which.
    pub phase: PhaseName,
    /// Its start.
    pub begin_ns: u64,
    /// Its end.
    pub end_ns: u64,
}

/// The name of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseName {
    /// Load whose figures do not count, but whose errors stay visible.
    WarmUp,
    /// What the report is about.
    Measurement,
    /// No new arrivals: what is under way may end until a deadline.
    Drain,
}

impl From<hammer_measure::Phase> for PhaseName {
    fn from(phase: hammer_measure::Phase) -> Self {
        match phase {
            hammer_measure::Phase::WarmUp => Self::WarmUp,
            hammer_measure::Phase::Measurement => Self::Measurement,
            hammer_measure::Phase::Drain => Self::Drain,
        }
    }
}

impl From<&(hammer_measure::Phase, Nanos, Nanos)> for PhaseSpan {
    fn from((phase, start, end): &(hammer_measure::Phase, Nanos, Nanos)) -> Self {
        Self { phase: (*phase).into(), begin_ns: start.0, end_ns: end.0 }
    }
}

impl PhaseName {
    /// Its name in sentences.
    pub const fn words(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Measurement => "measurement",
            Self::Drain => "drain",
        }
    }
}

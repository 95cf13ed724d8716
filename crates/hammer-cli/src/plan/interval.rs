//! The length of an interval.

use std::time::Duration;

use hammer_values::{TimeSpan, ValueError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time from one interval's end to the next one's; 10 ms at least, since each costs every shard a hand-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "TimeSpan", into = "TimeSpan")]
#[schemars(with = "TimeSpan")]
pub(crate) struct IntervalLength(TimeSpan);

impl IntervalLength {
    /// The time.
    pub(crate) const fn duration(self) -> Duration {
        self.0.duration()
    }

    /// The length times `factor`, but not below 50 ms where it was above that.
    #[must_use]
    pub(crate) fn shortened(self, factor: f64) -> Self {
        Self(self.0.scaled(factor).max(SHORTENED).min(self.0))
    }
}

/// A second.
impl Default for IntervalLength {
    fn default() -> Self {
        Self(TimeSpan::from_secs(1))
    }
}

impl TryFrom<TimeSpan> for IntervalLength {
    type Error = ValueError;

    fn try_from(length: TimeSpan) -> Result<Self, ValueError> {
        match length < LEAST {
            true => Err(ValueError::below(LEAST.to_string())),
            false => Ok(Self(length)),
        }
    }
}

impl From<IntervalLength> for TimeSpan {
    fn from(length: IntervalLength) -> Self {
        length.0
    }
}

/// Of figures of less, most would be of nothing.
const SHORTENED: TimeSpan = TimeSpan::from_millis(50);
const LEAST: TimeSpan = TimeSpan::from_millis(10);

//! How fast the users of a closed loop enter.

use hammer_values::{Rate, ValueError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many users enter in a second; more than none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Rate", into = "Rate")]
#[schemars(with = "Rate")]
pub(crate) struct SpawnRate(Rate);

impl SpawnRate {
    /// Users a second.
    pub(crate) const fn per_second(self) -> f64 {
        self.0.per_second()
    }
}

impl TryFrom<Rate> for SpawnRate {
    type Error = ValueError;

    fn try_from(rate: Rate) -> Result<Self, ValueError> {
        match rate.per_second() > 0.0 {
            true => Ok(Self(rate)),
            false => {
                Err(ValueError::Form { text: rate.to_string(), expected: "rate at which anyone enters" })
            }
        }
    }
}

impl From<SpawnRate> for Rate {
    fn from(rate: SpawnRate) -> Self {
        rate.0
    }
}

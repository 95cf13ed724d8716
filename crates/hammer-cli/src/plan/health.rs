//! What a plan says of the generator's own health.

use hammer_measure::health::{HealthPolicy, OnFail};
use hammer_values::TimeSpan;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// How late the generator may be, and what becomes of a run in which something of its own was wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HealthPlan {
    /// The longest that the 99th percentile of dispatch lag may be in any series; without it a twentieth of that of its response time,
    /// and 1 ms at least.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "attainable")]
    pub(crate) dispatch_lag_p99: Option<TimeSpan>,
    /// What a health finding does.
    pub(crate) on_fail: OnHealthFail,
}

/// What a health finding does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnHealthFail {
    /// The run is not believed: exit 5.
    #[default]
    Fail,
    /// It is told, and the run stands as it would without.
    Warn,
}

/// A bound that a run can keep.
fn attainable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TimeSpan>, D::Error> {
    let bound = Option::deserialize(deserializer)?;
    match bound {
        Some(TimeSpan::ZERO) => {
            Err(D::Error::custom("nothing is sent at the very instant: give more than 0s"))
        }
        bound => Ok(bound),
    }
}

impl HealthPlan {
    /// Whether it says nothing.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The same where somebody at the command line tolerates what is found.
    pub(crate) fn tolerated(self) -> Self {
        Self { on_fail: OnHealthFail::Warn, ..self }
    }

    /// The same for the run's judge.
    pub(crate) fn policy(self) -> HealthPolicy {
        HealthPolicy {
            dispatch_lag_p99: self.dispatch_lag_p99.map(|span| span.duration().into()),
            on_fail: match self.on_fail {
                OnHealthFail::Fail => OnFail::Fail,
                OnHealthFail::Warn => OnFail::Warn,
            },
        }
    }
}

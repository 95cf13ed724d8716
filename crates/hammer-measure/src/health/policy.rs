//! What a plan says of the generator's health.

use serde::{Deserialize, Serialize};

use crate::timing::Nanos;

/// What of lateness a plan takes as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthPolicy {
    /// The longest that the 99th percentile of dispatch lag may be in any series; `None` where that follows from its response time.
    pub dispatch_lag_p99: Option<Nanos>,
    /// What a finding does.
    pub on_fail: OnFail,
}

/// What a health finding does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFail {
    /// The run is not believed.
    #[default]
    Fail,
    /// It is told, and the run stands as it would without.
    Warn,
}

//! What is compared of a series.

use std::fmt;
use std::str::FromStr;

use hammer_report::report::Nanoseconds;
use hammer_report::text::number::per_second;
use serde::{Deserialize, Serialize};

/// A figure of a series in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Accepted a second of measurement.
    Rate,
    /// The mean response time, nanoseconds.
    Mean,
    /// The median.
    P50,
    /// 75th percentile.
    P75,
    /// 90th percentile.
    P90,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    #[serde(rename = "p99.9")]
    P999,
    /// The longest.
    Max,
}

/// No name of a [`Metric`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("compare {0}: it is none of rate, mean, p50, p75, p90, p95, p99, p99.9 and max")]
pub struct UnknownMetric(pub String);

impl Metric {
    /// All of them, as tables have them.
    pub const ALL: [Self; 9] = [
        Self::Rate,
        Self::Mean,
        Self::P50,
        Self::P75,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::P999,
        Self::Max,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P75 => "p75",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Max => "max",
        }
    }

    /// Whether more of it is better.
    pub const fn is_better_greater(self) -> bool {
        matches!(self, Self::Rate)
    }

    /// The share of operations that are slower than this percentile; none of what is none.
    pub(crate) const fn tail(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.5),
            Self::P75 => Some(0.25),
            Self::P90 => Some(0.1),
            Self::P95 => Some(0.05),
            Self::P99 => Some(0.01),
            Self::P999 => Some(0.001),
            Self::Rate | Self::Mean | Self::Max => None,
        }
    }

    /// A figure of it as it is printed: `931/s`, `67.2ms`.
    pub fn shown(self, figure: f64) -> String {
        match self {
            Self::Rate => per_second(figure),
            _ => Nanoseconds::At(figure.round() as u64).to_string(),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(text: &str) -> Result<Self, UnknownMetric> {
        let named = Self::ALL.into_iter().find(|metric| metric.name() == text);
        named.ok_or_else(|| UnknownMetric(text.to_owned()))
    }
}

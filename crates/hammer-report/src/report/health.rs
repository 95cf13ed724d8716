//! Can these numbers be believed? The generator's judgement of itself, as the report says it.

use hammer_measure::recorder::AlarmRecord;
use hammer_measure::{Nanos, health};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::{Durations, Nanoseconds, finite};

/// Whether the generator kept its own plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Whether there is no finding.
    pub healthy: bool,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How late alarms were heard in measurement and drain; not told in an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarms: Option<Alarms>,
}

/// How late the threads that send were: their alarms ring for what is due, and each 10 ms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alarms {
    /// Heard − due; `null` where none rang.
    pub late: Option<Durations>,
    /// How long these threads stood still, added up over them: an alarm was late and its thread did not run. What is below 1 ms is not in it.
    pub stood_ns: u64,
}

/// One reason not to believe the figures, with the figures of its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Which kind.
    pub kind: FindingKind,
    /// The finding as a sentence without its full stop.
    pub text: String,
    /// `standstill`: the series, as `workload/name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// `starved`, `exhausted`: operations that it cost; `standstill`: operations that were held up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// `standstill`: operations of the series that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// `standstill`: the longest that one of them was held up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ns: Option<u64>,
    /// `standstill`: the 99th percentile of the response time of those that were not held up, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_p99_ns: Option<Nanoseconds>,
    /// `standstill`: what it was, of `stood_still`, `read_late`, `supply` and `shed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// `dispatch_lag`, `read_lag`, `compute_wait`: its 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// `dispatch_lag`, `read_lag`, `compute_wait`: the longest that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_ns: Option<u64>,
    /// `cpu`: the share of all cores, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// `exhausted`: descriptors or local ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Operations were due and not prepared.
    Starved,
    /// The generator held up operations of a series: it stood still, or was late.
    Standstill,
    /// Arrivals were released too late.
    DispatchLag,
    /// Answers were read too long after the kernel had them.
    ReadLag,
    /// Computing in the middle of flows waited too long for a thread.
    ComputeWait,
    /// The process used up its cores.
    Cpu,
    /// Descriptors or local ports ran out.
    Exhausted,
}

impl FindingKind {
    /// Its name in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Starved => "starved",
            Self::Standstill => "standstill",
            Self::DispatchLag => "dispatch lag",
            Self::ReadLag => "read lag",
            Self::ComputeWait => "compute wait",
            Self::Cpu => "cpu",
            Self::Exhausted => "exhausted",
        }
    }
}

impl Health {
    /// The same, with the alarms of measurement.
    #[must_use]
    pub fn with_alarms(self, alarms: &AlarmRecord) -> Self {
        Self { alarms: Some(Alarms::from(alarms)), ..self }
    }
}

impl From<&AlarmRecord> for Alarms {
    fn from(alarms: &AlarmRecord) -> Self {
        Self { late: Durations::of(&alarms.late), stood_ns: alarms.stood.0 }
    }
}

impl From<&health::Health> for Health {
    fn from(health: &health::Health) -> Self {
        let findings = health.findings.iter().map(Finding::from).collect();
        Self { healthy: health.is_healthy(), findings, alarms: None }
    }
}

impl From<&health::Finding> for Finding {
    fn from(finding: &health::Finding) -> Self {
        let bare = |kind| Self {
            kind,
            text: finding.to_string(),
            series: None,
            count: None,
            of: None,
            longest_ns: None,
            free_p99_ns: None,
            causes: Vec::new(),
            p99_ns: None,
            bound_ns: None,
            share: None,
            what: None,
        };
        match finding {
            health::Finding::Starved { count } => Self { count: Some(*count), ..bare(FindingKind::Starved) },
            health::Finding::Standstill(standstill) => Self {
                series: Some(standstill.series.clone()),
                count: Some(standstill.count),
                of: Some(standstill.of),
                longest_ns: Some(standstill.longest.0),
                free_p99_ns: standstill.free_p99.map(Nanoseconds::from),
                causes: standstill.causes.iter().map(|cause| cause.name().to_owned()).collect(),
                ..bare(FindingKind::Standstill)
            },
            health::Finding::DispatchLag { p99: Nanos(p99), bound: Nanos(bound) } => {
                Self { p99_ns: Some(*p99), bound_ns: Some(*bound), ..bare(FindingKind::DispatchLag) }
            }
            health::Finding::ReadLag { p99: Nanos(p99), bound: Nanos(bound) } => {
                Self { p99_ns: Some(*p99), bound_ns: Some(*bound), ..bare(FindingKind::ReadLag) }
            }
            health::Finding::ComputeWait { p99: Nanos(p99), bound: Nanos(bound) } => {
                Self { p99_ns: Some(*p99), bound_ns: Some(*bound), ..bare(FindingKind::ComputeWait) }
            }
            health::Finding::Cpu { share } => Self { share: Some(finite(*share)), ..bare(FindingKind::Cpu) },
            health::Finding::Exhausted { count, what } => {
                Self { count: Some(*count), what: Some(what.clone()), ..bare(FindingKind::Exhausted) }
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Can these numbers be believed? The generator's judgement of itself, as the report says it.

use hammer_measure::health;
use hammer_measure::recorder::AlarmRecord;
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
    /// What took processors from the generator meanwhile, as sentences without their full stops: throttling by a quota, steal, pressure;
    /// none where there is no finding, and not told in an interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// What spoils no figure, and is to be known beside them; not told in an interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<HealthNote>,
    /// How late alarms were heard in measurement and drain; not told in an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarms: Option<Alarms>,
    /// What a finding does by the plan (`health.on_fail`); not told in an interval.
    #[serde(default, skip_serializing_if = "OnFail::is_fail")]
    pub on_fail: OnFail,
    /// The longest that the 99th percentile of dispatch lag may be by the plan, where it says so; not told in an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_lag_p99_ns: Option<u64>,
}

/// What a health finding does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFail {
    /// The run is not believed: exit 5.
    #[default]
    Fail,
    /// It is told, and the run stands as it would without.
    Warn,
}

/// Something to be known beside the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthNote {
    /// Which kind.
    pub kind: HealthNoteKind,
    /// The note as a sentence without its full stop.
    pub text: String,
    /// The series, as `workload/name`.
    pub series: String,
    /// `limit`: operations that ended per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_s: Option<f64>,
}

/// The kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthNoteKind {
    /// A lateness was over its bound, of so few operations that nothing follows from it.
    TooFew,
    /// A closed loop was as fast as the generator: the target does so many at least.
    Limit,
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
    /// What whoever runs hammer can do about it, as a sentence without its full stop.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// `standstill`, `dispatch_lag`, `read_lag`, `compute_wait`: the series, as `workload/name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// `starved`, `exhausted`: operations that it cost; `standstill`: operations that were held up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// `standstill`: operations of the series that ended; `dispatch_lag`, `read_lag`, `compute_wait`: those whose lateness was recorded.
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
    /// `dispatch_lag`, `read_lag`, `compute_wait`: the percentile of the series that it spoils, of 50, 90 and 99.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<u8>,
    /// `dispatch_lag`, `read_lag`, `compute_wait`: that percentile of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_ns: Option<u64>,
    /// The same where it is the 99th.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// `dispatch_lag`, `read_lag`, `compute_wait`: the longest that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_ns: Option<u64>,
    /// `cpu`: the share of all cores, or of one by a thread that sends, 0 to 1.
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
    /// The process used up its cores, or a thread that sends its own.
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

impl OnFail {
    /// Whether findings fail the run.
    pub const fn is_fail(&self) -> bool {
        matches!(self, Self::Fail)
    }
}

impl Health {
    /// That of a whole run, with the alarms of its measurement.
    #[must_use]
    pub fn of_run(health: &health::Health, alarms: &AlarmRecord) -> Self {
        let health::HealthPolicy { dispatch_lag_p99, on_fail } = health.policy;
        Self {
            causes: health.causes.iter().map(ToString::to_string).collect(),
            notes: health.notes.iter().map(HealthNote::from).collect(),
            alarms: Some(Alarms::from(alarms)),
            on_fail: on_fail.into(),
            dispatch_lag_p99_ns: dispatch_lag_p99.map(|bound| bound.0),
            ..Self::from(health)
        }
    }
}

impl From<health::OnFail> for OnFail {
    fn from(on_fail: health::OnFail) -> Self {
        match on_fail {
            health::OnFail::Fail => Self::Fail,
            health::OnFail::Warn => Self::Warn,
        }
    }
}

impl From<&health::HealthNote> for HealthNote {
    fn from(note: &health::HealthNote) -> Self {
        let (kind, series, per_s) = match note {
            health::HealthNote::TooFew(lateness) => (HealthNoteKind::TooFew, &lateness.series, None),
            health::HealthNote::Limit(limit) => {
                (HealthNoteKind::Limit, &limit.series, Some(finite(limit.per_s)))
            }
        };
        Self { kind, text: note.to_string(), series: series.clone(), per_s }
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
        Self { healthy: health.is_healthy(), findings, ..Self::default() }
    }
}

impl From<&health::Finding> for Finding {
    fn from(finding: &health::Finding) -> Self {
        let bare = |kind| Self {
            kind,
            text: finding.to_string(),
            remedy: finding.remedy().to_owned(),
            series: None,
            count: None,
            of: None,
            longest_ns: None,
            free_p99_ns: None,
            causes: Vec::new(),
            percentile: None,
            late_ns: None,
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
            health::Finding::Late(lateness) => Self {
                series: Some(lateness.series.clone()),
                of: Some(lateness.of),
                percentile: Some(lateness.percentile),
                late_ns: Some(lateness.late.0),
                p99_ns: Some(lateness.late.0).filter(|_| lateness.percentile == 99),
                bound_ns: Some(lateness.bound.0),
                ..bare(FindingKind::from(lateness.kind))
            },
            health::Finding::Cpu { share } | health::Finding::FullShard { share } => {
                Self { share: Some(finite(*share)), ..bare(FindingKind::Cpu) }
            }
            health::Finding::Exhausted { count, what } => {
                Self { count: Some(*count), what: Some(what.clone()), ..bare(FindingKind::Exhausted) }
            }
        }
    }
}

impl From<health::LatenessKind> for FindingKind {
    fn from(kind: health::LatenessKind) -> Self {
        match kind {
            health::LatenessKind::Dispatch => Self::DispatchLag,
            health::LatenessKind::Read => Self::ReadLag,
            health::LatenessKind::Compute => Self::ComputeWait,
        }
    }
}

#[cfg(test)]
mod tests;

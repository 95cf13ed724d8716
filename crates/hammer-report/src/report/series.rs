//! One series of a report: the operations of a workload that share a name, or one step within them.

use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Phase, SeriesInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cause::{self, Cause};
use super::figures::{Counts, DurationTable, EndCounts, Rates};

/// Everything about one series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// `workload/name`, as thresholds say it.
    pub path: String,
    /// The workload that it belongs to.
    pub workload: String,
    /// Its name within the workload.
    pub name: String,
    /// Whole operations, or one step within them.
    pub kind: SeriesKind,
    /// Whether users wait for answers, so that waiting is not in the figures.
    pub closed_loop: bool,
    /// Whether what it sends is wrong on purpose, so that a refusal is an answer as good as acceptance.
    #[serde(default)]
    pub refusals_meant: bool,
    /// What the reader must know about these figures, as sentences without a full stop.
    pub notes: Vec<String>,
    /// Closed loop: the workload's users divided by its rate of completed operations: the mean cycle of a user, and so
    /// at least the mean response time. `null` for open loops and for steps.
    pub users_over_rate: Option<UsersOverRate>,
    /// What the plan did not mean to measure, kept visible.
    pub warm_up: PhaseFigures,
    /// What the report is about.
    pub measurement: PhaseFigures,
    /// What of both phases ended after the measured time, and is in no rate.
    #[serde(default)]
    pub in_drain: EndCounts,
}

/// What a series is a series of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesKind {
    /// Whole operations: what the identity of fates and the totals count.
    Operation,
    /// One step within operations.
    Step,
}

/// Users divided by rate, to hold beside the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsersOverRate {
    /// The workload's users that were present, on average over measurement.
    pub users: f64,
    /// Operations of the whole workload completed per second of measurement.
    pub completed_per_s: f64,
    /// The quotient.
    pub mean_cycle_ns: u64,
}

/// The figures of the operations that were intended in one phase, whenever they ended; but for what ended in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseFigures {
    /// Arrivals and their fates.
    #[serde(flatten)]
    pub counts: Counts,
    /// What ended within the phase, whatever phase it was intended in.
    #[serde(default)]
    pub ended: EndCounts,
    /// The rates; `null` when the phase had no length.
    pub rates: Option<Rates>,
    /// What lies behind the fates, the most frequent first.
    pub causes: Vec<Cause>,
    /// The durations.
    pub durations: DurationTable,
}

impl Series {
    /// A series with its two records, over phases of so many seconds.
    pub fn new(info: &SeriesInfo, records: &[SeriesRecord; 2], seconds: [f64; 2]) -> Self {
        let [warm_up, measurement] =
            Phase::WITH_ARRIVALS.map(|phase| EndCounts::of(&SeriesRecord::ended_within(records, phase)));
        let crossed = Phase::WITH_ARRIVALS.map(|phase| SeriesRecord::crossed_within(records, phase));
        let of_all = EndCounts::of(&records[0].fates) + EndCounts::of(&records[1].fates);
        Self {
            warm_up: PhaseFigures::new(&records[0], warm_up, crossed[0], seconds[0]),
            measurement: PhaseFigures::new(&records[1], measurement, crossed[1], seconds[1]),
            in_drain: of_all - warm_up - measurement,
            ..Self::without_figures(info)
        }
    }

    /// A series of which nothing is counted yet.
    pub(crate) fn without_figures(info: &SeriesInfo) -> Self {
        Self {
            path: info.path(),
            workload: info.workload.clone(),
            name: info.name.clone(),
            kind: SeriesKind::of(info),
            closed_loop: info.closed_loop,
            refusals_meant: info.refusals_meant,
            notes: if info.closed_loop { vec![CLOSED_LOOP.to_owned()] } else { Vec::new() },
            users_over_rate: None,
            warm_up: PhaseFigures::default(),
            measurement: PhaseFigures::default(),
            in_drain: EndCounts::default(),
        }
    }
}

impl SeriesKind {
    /// The kind of a series.
    pub const fn of(info: &SeriesInfo) -> Self {
        if info.operation { Self::Operation } else { Self::Step }
    }
}

impl PhaseFigures {
    /// The figures of a record over a phase of so many seconds, in which so much ended and so many bytes crossed, `[out, in]`.
    pub fn new(record: &SeriesRecord, ended: EndCounts, crossed: [u64; 2], seconds: f64) -> Self {
        let counts = Counts::of(record);
        Self {
            counts,
            ended,
            rates: counts.rates(ended, crossed, seconds),
            causes: cause::causes(record),
            durations: DurationTable::of(record),
        }
    }
}

impl UsersOverRate {
    /// `None` when nothing was completed, or nobody was there.
    pub fn new(users: f64, completed_per_s: f64) -> Option<Self> {
        let mean_cycle_ns = (users / completed_per_s * 1e9) as u64;
        (completed_per_s > 0.0 && users > 0.0).then_some(Self { users, completed_per_s, mean_cycle_ns })
    }
}

/// The note of every closed loop.
pub const CLOSED_LOOP: &str = "closed loop: waiting is not in these figures";

#[cfg(test)]
mod tests;

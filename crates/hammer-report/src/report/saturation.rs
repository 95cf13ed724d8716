//! What a server does once its CPU is used up, and how many cores that is for so many operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::finite;
use super::series::{Series, SeriesKind};
use super::timeline::Interval;

/// Whether the CPU of a server was used up in measurement, and what it did then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saturation {
    /// The server: a component.
    pub component: String,
    /// The cores that it may use.
    pub cores: f64,
    /// The share of these (0 to 1) above which it is saturated.
    pub above: f64,
    /// For how long it has to be above that at each look.
    pub for_ns: u64,
    /// The greatest share of its cores (0 to 1) over such a time; `null` where there was none.
    pub most_share: Option<f64>,
    /// Whether hammer may run on cores that are the server's, too; `null` where nobody knows.
    pub shares_cores: Option<bool>,
    /// Cores that hammer itself used, on average over the run.
    pub hammer_cores: f64,
    /// The first time in which it was saturated; `null` where it never was for long enough.
    pub reached: Option<SaturatedSpan>,
    /// How many operations a minute are to be served, as the plan says; `null` where it says none.
    pub per_minute_wanted: Option<u64>,
    /// The cores that it takes to serve them: `per_minute_wanted` divided by what a core serves in a minute, which is what was seen while it was
    /// saturated, and otherwise what follows from the CPU time of an operation over measurement; `null` where nothing was.
    pub cores_needed: Option<f64>,
}

/// A time in which a server was saturated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SaturatedSpan {
    /// When it started: a look from which on all looks found it so.
    pub from_ns: u64,
    /// The last of these looks.
    pub to_ns: u64,
    /// Users of closed loops who were there as it started, as planned; `null` where there are none.
    pub users: Option<u64>,
    /// Operations that were accepted in the intervals whose middles lie in it.
    pub operations: u64,
    /// The length of these intervals.
    pub seconds: f64,
    /// Cores that the server used between the two looks.
    pub mean_cores: f64,
    /// Operations a minute; `null` where there is no interval.
    pub per_minute: Option<f64>,
    /// The same divided by the cores that were used.
    pub per_minute_core: Option<f64>,
}

impl SaturatedSpan {
    /// The span between two looks, between which so many CPU seconds were used, with what was accepted in it.
    pub fn new(
        (from_ns, to_ns): (u64, u64),
        cpu_s: f64,
        users: Option<u64>,
        (intervals, series): (&[Interval], &[Series]),
    ) -> Self {
        let is_within = |interval: &&Interval| {
            let middle = interval.at_ns.saturating_sub(interval.span_ns / 2);
            (from_ns..=to_ns).contains(&middle)
        };
        let within = || intervals.iter().filter(is_within);
        let seconds = within().map(|interval| interval.span_ns).sum::<u64>() as f64 / 1e9;
        let operations = within().map(|interval| accepted(interval, series)).sum::<u64>();
        let mean_cores = cpu_s / (to_ns.saturating_sub(from_ns).max(1) as f64 / 1e9);
        let per_minute = (seconds > 0.0).then(|| operations as f64 / seconds * 60.0);
        let per_minute_core = per_minute.filter(|_| mean_cores > 0.0).map(|rate| finite(rate / mean_cores));
        Self { from_ns, to_ns, users, operations, seconds, mean_cores, per_minute, per_minute_core }
    }
}

/// Operations that were accepted in an interval, without their steps.
fn accepted(interval: &Interval, series: &[Series]) -> u64 {
    let of_series = interval.series.iter().zip(series);
    let operations = of_series.filter(|(_, series)| series.kind == SeriesKind::Operation);
    operations.map(|(figures, _)| figures.fates.accepted).sum()
}

impl Saturation {
    /// The same with the cores that are needed, where an operation costs so much CPU time over measurement.
    #[must_use]
    pub fn sized(self, cpu_ns_per_operation: Option<u64>) -> Self {
        let seen = self.reached.and_then(|span| span.per_minute_core);
        let follows = cpu_ns_per_operation.filter(|cost| *cost > 0).map(|cost| 60e9 / cost as f64);
        let of_core = seen.or(follows).filter(|per_minute| *per_minute > 0.0);
        let wanted = self.per_minute_wanted.map(|wanted| wanted as f64);
        Self { cores_needed: wanted.zip(of_core).map(|(wanted, of_core)| finite(wanted / of_core)), ..self }
    }
}

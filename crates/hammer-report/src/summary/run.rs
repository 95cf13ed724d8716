//! One run of several, and its key figures.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::bounded_here;
use crate::report::{
    FlatSummary, Nanoseconds, ObservationSeries, PromiseCounts, Report, Series, SeriesKind, SteadyRate,
};
use crate::verdict::Verdict;

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryRun {
    /// What distinguishes it: `round`, or a swept key with its value.
    pub labels: BTreeMap<String, Value>,
    /// What the commands around it printed.
    pub hooks: Vec<HookOutput>,
    /// Its verdict.
    pub verdict: Verdict,
    /// All of its operations in one flat object, for scripts; `null` in summaries of versions that made none.
    #[serde(default)]
    pub summary: Option<FlatSummary>,
    /// Whether health had no finding.
    pub healthy: bool,
    /// The measured length.
    pub measured_seconds: f64,
    /// The planned length of the warm-up before that.
    #[serde(default)]
    pub warm_up_seconds: f64,
    /// How much of the measured time users were still entering, or a ramp of the rate went on.
    #[serde(default)]
    pub ramp_seconds: f64,
    /// Its promises, of all workloads.
    pub promises: PromiseCounts,
    /// The key figures of its operations over the measurement phase.
    pub series: Vec<KeyFigures>,
    /// The same of the steps within them.
    #[serde(default)]
    pub steps: Vec<KeyFigures>,
    /// Of the workloads of which as many operations were accepted in every interval, to one or two: how many.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub steady: BTreeMap<String, SteadyRate>,
    /// What was observed last, by name.
    #[serde(default)]
    pub observations: BTreeMap<String, f64>,
}

/// What a hook printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookOutput {
    /// The hook's name in the plan.
    pub name: String,
    /// A number, or a label.
    pub output: Value,
}

/// The key figures of one operation series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyFigures {
    /// `workload/name`.
    pub path: String,
    /// Whether users waited for answers before they sent again.
    #[serde(default)]
    pub closed_loop: bool,
    /// Whether it is of what is wrong on purpose, so that refusals are what is meant.
    #[serde(default)]
    pub refusals_meant: bool,
    /// Arrivals.
    pub offered: u64,
    /// Ends in any other way than accepted.
    pub failed: u64,
    /// Rate of those that ended by an answer, a failure or their deadline within measurement; `null` when no time was measured.
    #[serde(default)]
    pub completed_per_s: Option<f64>,
    /// Rate of ends within measurement in any other way than accepted, shed and starved arrivals included; `null` when no time was
    /// measured.
    #[serde(default)]
    pub failed_per_s: Option<f64>,
    /// Offered rate; `null` when no time was measured.
    pub offered_per_s: Option<f64>,
    /// Rate of those that were accepted within measurement; `null` when no time was measured.
    pub accepted_per_s: Option<f64>,
    /// Mean response time; `null` when nothing ended.
    pub response_mean_ns: Option<Nanoseconds>,
    /// Median response time.
    pub response_p50_ns: Option<Nanoseconds>,
    /// 95th percentile of the response time.
    #[serde(default)]
    pub response_p95_ns: Option<Nanoseconds>,
    /// 99th percentile of the response time.
    pub response_p99_ns: Option<Nanoseconds>,
    /// 99th percentile of the service time.
    pub service_p99_ns: Option<Nanoseconds>,
}

impl SummaryRun {
    /// The row of a report.
    pub fn of(report: &Report, labels: BTreeMap<String, Value>, hooks: Vec<HookOutput>) -> Self {
        let seconds = report.run.measured_seconds;
        let steps = report.series.iter().filter(|series| series.kind == SeriesKind::Step);
        let last = |seen: &ObservationSeries| (seen.name.clone(), seen.last.value);
        Self {
            labels,
            hooks,
            verdict: report.verdict.clone(),
            summary: report.summary.clone(),
            healthy: report.health.healthy,
            measured_seconds: seconds,
            warm_up_seconds: report.run.warm_up_ns as f64 / 1e9,
            ramp_seconds: 0.0,
            promises: report.promises.all,
            series: report.operations().map(|series| KeyFigures::of(series, seconds)).collect(),
            steps: steps.map(|series| KeyFigures::of(series, seconds)).collect(),
            steady: steady(report),
            observations: report.observations.iter().map(last).collect(),
        }
    }

    /// The same of a run with a ramp over its first so many seconds, warm-up included.
    #[must_use]
    pub fn ramped(self, seconds: f64) -> Self {
        let ramp_seconds = (seconds - self.warm_up_seconds).clamp(0.0, self.measured_seconds.max(0.0));
        Self { ramp_seconds, ..self }
    }

    /// Its place on the axis of that name: the value of a label, what the last hook of that name printed, or what was observed last.
    pub fn place(&self, by: &str) -> Option<Value> {
        let hook = || self.hooks.iter().rfind(|hook| hook.name == by).map(|hook| hook.output.clone());
        let observed = |name: &str| self.observations.get(name).map(|seen| Value::from(*seen));
        let label = self.labels.get(by).cloned();
        label.or_else(hook).or_else(|| observed(by)).or_else(|| observed(&format!("{OBSERVED}{by}")))
    }
}

fn steady(report: &Report) -> BTreeMap<String, SteadyRate> {
    let workloads: BTreeSet<&str> = report.operations().map(|series| series.workload.as_str()).collect();
    let of = |workload: &str| {
        let own = report.operations().filter(|series| series.workload == workload);
        if bounded_here(own, &report.intervals) {
            return None;
        }
        let paths: Vec<&str> = report
            .operations()
            .filter(|series| series.workload == workload)
            .map(|series| series.path.as_str())
            .collect();
        SteadyRate::of(&report.intervals, |path| paths.contains(&path))
    };
    workloads.into_iter().filter_map(|workload| Some((workload.to_owned(), of(workload)?))).collect()
}

impl KeyFigures {
    /// Those over so many seconds.
    fn of(series: &Series, seconds: f64) -> Self {
        let figures = &series.measurement;
        // What never got a slot is done with as it arrives.
        let failed = figures.ended.failed() + figures.counts.fates.shed + figures.counts.fates.starved;
        let response = figures.durations.response_time.as_ref();
        Self {
            path: series.path.clone(),
            closed_loop: series.closed_loop,
            refusals_meant: series.refusals_meant,
            offered: figures.counts.offered,
            failed: figures.counts.fates.failed(),
            completed_per_s: figures.rates.map(|rates| rates.completed_per_s),
            failed_per_s: figures.rates.map(|_| failed as f64 / seconds),
            offered_per_s: figures.rates.map(|rates| rates.offered_per_s),
            accepted_per_s: figures.rates.map(|rates| rates.accepted_per_s),
            response_mean_ns: response.map(|durations| durations.mean_ns),
            response_p50_ns: response.map(|durations| durations.p50_ns),
            response_p95_ns: response.map(|durations| durations.p95_ns),
            response_p99_ns: response.map(|durations| durations.p99_ns),
            service_p99_ns: figures.durations.service_time.as_ref().map(|durations| durations.p99_ns),
        }
    }
}

/// What stands before the name of what a plan observes.
const OBSERVED: &str = "observe/";

//! Runs out of hammer's own reports.

use std::collections::BTreeMap;

use hammer_report::report::{Durations, Nanoseconds, Series, SeriesKind};
use hammer_report::{ReasonKind, Report};

use crate::measured_run::{MeasuredRun, MeasuredSeries, add_failures};
use crate::metric::Metric;

/// The run of a report: what was measured, without warm-up; none where nothing was.
pub(crate) fn run(report: &Report) -> Option<MeasuredRun> {
    if report.run.measured_seconds <= 0.0 {
        return None;
    }
    let findings = report.verdict.reasons.iter().filter_map(|reason| match reason.reason {
        ReasonKind::NotBelievable => Some(format!("is not to be believed: {}", reason.text)),
        // The first is no fault of the run, and promises are counted.
        ReasonKind::ThresholdFailed | ReasonKind::PromiseBroken => None,
        _ => Some(format!("ended so: {}", reason.text)),
    });
    let keys = report.plan.as_object().into_iter().flatten();
    let keys = keys.filter(|(key, _)| !OF_NO_LOAD.contains(&key.as_str()));
    Some(MeasuredRun {
        tool: "hammer",
        plan: keys.map(|(key, value)| (key.clone(), value.to_string())).collect(),
        series: report.series.iter().map(series).collect(),
        findings: findings.collect(),
        measured_seconds: report.run.measured_seconds,
        broken: report.promises.all.broken,
    })
}

fn series(series: &Series) -> MeasuredSeries {
    let measured = &series.measurement;
    let response = measured.durations.response_time.as_ref();
    let rate = measured.rates.map(|rates| (Metric::Rate, rates.accepted_per_s));
    let offered = measured.counts.offered;
    let times = response.into_iter().flat_map(|times| TIMES.map(|(metric, of)| (metric, bounded(of(times)))));
    let failures = measured.causes.iter().filter(|cause| cause.fate != "accepted");
    let mut by_cause = BTreeMap::new();
    for cause in failures {
        add_failures(&mut by_cause, cause.cause.clone(), cause.count);
    }
    let measured = MeasuredSeries {
        path: series.path.clone(),
        is_step: series.kind == SeriesKind::Step,
        is_closed_loop: series.closed_loop,
        count: response.map_or(0, |times| times.count),
        offered,
        resolution_ns: 0.0,
        resolution: HISTOGRAM,
        lacks_failures: false,
        figures: rate.into_iter().chain(times).collect(),
        failures: by_cause,
    };
    // Of what is wrong on purpose nothing need be accepted.
    if series.refusals_meant { measured } else { measured.or_outage() }
}

/// What never ended is longer than all else.
fn bounded(time: Nanoseconds) -> f64 {
    match time {
        Nanoseconds::At(nanos) => nanos as f64,
        Nanoseconds::Beyond { .. } => f64::INFINITY,
    }
}

/// Histograms have three digits.
const HISTOGRAM: f64 = 1e-3;

type TimeOf = fn(&Durations) -> Nanoseconds;

const TIMES: [(Metric, TimeOf); 8] = [
    (Metric::Mean, |times| times.mean_ns),
    (Metric::P50, |times| times.p50_ns),
    (Metric::P75, |times| times.p75_ns),
    (Metric::P90, |times| times.p90_ns),
    (Metric::P95, |times| times.p95_ns),
    (Metric::P99, |times| times.p99_ns),
    (Metric::P999, |times| times.p99_9_ns),
    (Metric::Max, |times| times.max_ns),
];
/// Keys of a plan that say what is loaded, and not by what.
const OF_NO_LOAD: [&str; 2] = ["target", "seed"];

//! Runs out of hammer's own reports.

use std::collections::BTreeMap;

use hammer_measure::histogram::Distribution;
use hammer_report::report::{Durations, Nanoseconds, Series, SeriesKind};
use hammer_report::summary::SummaryRun;
use hammer_report::{ReasonKind, Report, Verdict};

use crate::component::ComponentUse;
use crate::measured_run::{GeneratorHealth, MeasuredRun, MeasuredSeries, add_failures};
use crate::metric::Metric;

/// The run of a report: what was measured, without warm-up; none where nothing was.
pub(crate) fn run(report: &Report) -> Option<MeasuredRun> {
    if report.run.measured_seconds <= 0.0 {
        return None;
    }
    let keys = report.plan.as_object().into_iter().flatten();
    let keys = keys.filter(|(key, _)| !OF_NO_LOAD.contains(&key.as_str()));
    let components = report.server_resources.iter().flat_map(|resources| &resources.components);
    let key_figures = SummaryRun::of(report, BTreeMap::new(), Vec::new());
    let failed = |path: &str| {
        let mut all = key_figures.series.iter().chain(&key_figures.steps);
        all.find(|figures| figures.path == path).and_then(|figures| figures.failed_per_s)
    };
    let failed_of_all = key_figures.series.iter().map(|figures| figures.failed_per_s).sum();
    let own =
        report.series.iter().map(|own| MeasuredSeries { failed_per_s: failed(&own.path), ..series(own) });
    let total = total(report).map(|total| MeasuredSeries { failed_per_s: failed_of_all, ..total });
    Some(MeasuredRun {
        tool: "hammer".to_owned(),
        plan: keys.map(|(key, value)| (key.clone(), value.to_string())).collect(),
        environment: environment(report),
        started: Some(report.run.epoch.clone()),
        series: own.chain(total).collect(),
        findings: findings(&report.verdict),
        measured_seconds: report.run.measured_seconds,
        broken: report.promises.all.broken,
        generator: Some(generator(report)),
        components: components.map(ComponentUse::of_report).collect(),
        at: BTreeMap::new(),
    })
}

/// What a verdict says against the run itself.
pub(crate) fn findings(verdict: &Verdict) -> Vec<String> {
    let findings = verdict.reasons.iter().filter_map(|reason| match reason.reason {
        ReasonKind::NotBelievable => Some(format!("is not to be believed: {}", reason.text)),
        // The first is no fault of the run, and promises are counted.
        ReasonKind::ThresholdFailed | ReasonKind::PromiseBroken => None,
        _ => Some(format!("ended so: {}", reason.text)),
    });
    findings.collect()
}

fn environment(report: &Report) -> BTreeMap<String, String> {
    let run = &report.run;
    let own = [
        ("version", report.tool.version.clone()),
        ("cores", run.cores.to_string()),
        ("shards", run.shards.to_string()),
    ];
    let of_plan =
        ["seed", "target"].into_iter().filter_map(|key| Some((key, report.plan.get(key)?.to_string())));
    own.into_iter().chain(of_plan).map(|(key, value)| (key.to_owned(), value)).collect()
}

fn generator(report: &Report) -> GeneratorHealth {
    let lag =
        |series: &Series| series.measurement.durations.dispatch_lag.as_ref().map(|lag| bounded(lag.p99_ns));
    let fates = report.totals.measurement.fates;
    GeneratorHealth {
        healthy: report.health.healthy,
        findings: report.health.findings.iter().map(|finding| finding.text.clone()).collect(),
        dispatch_lag_p99_ns: report.operations().filter_map(lag).reduce(f64::max),
        starved: Some(fates.starved),
        shed: Some(fates.shed),
    }
}

fn series(series: &Series) -> MeasuredSeries {
    let measured = &series.measurement;
    let response = measured.durations.response_time.as_ref();
    let rate = measured.rates.map(|rates| (Metric::Rate, rates.accepted_per_s));
    let failures = measured.causes.iter().filter(|cause| cause.fate != "accepted");
    let mut by_cause = BTreeMap::new();
    for cause in failures {
        add_failures(&mut by_cause, cause.cause.clone(), cause.count);
    }
    MeasuredSeries {
        path: series.path.clone(),
        is_step: series.kind == SeriesKind::Step,
        is_total: false,
        is_closed_loop: series.closed_loop,
        refusals_meant: series.refusals_meant,
        count: response.map_or(0, |times| times.count),
        offered: measured.counts.offered,
        accepted: measured.counts.fates.accepted,
        resolution_ns: 0.0,
        resolution: HISTOGRAM,
        lacks_failures: false,
        figures: rate.into_iter().chain(response.into_iter().flat_map(times)).collect(),
        failures: by_cause,
        failed_per_s: None,
    }
    .or_outage()
}

/// All operations together, where they are of several series; their response times are those of the merged histograms.
fn total(report: &Report) -> Option<MeasuredSeries> {
    let operations: Vec<&Series> = report.operations().collect();
    if operations.len() < 2 {
        return None;
    }
    let counts = report.totals.measurement;
    let rates = operations.iter().filter_map(|series| series.measurement.rates);
    let rate = rates.map(|rates| rates.accepted_per_s).sum::<f64>();
    let times = merged(&operations);
    let own = MeasuredSeries {
        path: TOTAL.to_owned(),
        is_total: true,
        is_closed_loop: operations.iter().all(|series| series.closed_loop),
        refusals_meant: operations.iter().any(|series| series.refusals_meant),
        count: times.as_ref().map_or(0, |times| times.count),
        offered: counts.offered,
        accepted: counts.fates.accepted,
        resolution: HISTOGRAM,
        figures: times.iter().flat_map(self::times).chain([(Metric::Rate, rate)]).collect(),
        ..MeasuredSeries::default()
    };
    Some(own.or_outage())
}

/// The response times of all of them; none where nothing was recorded, or a histogram was not kept.
fn merged(operations: &[&Series]) -> Option<Durations> {
    let recorded = operations.iter().filter_map(|series| series.measurement.durations.response_time.as_ref());
    let mut all = Distribution::default();
    for times in recorded {
        all.merge(&times.distribution()?);
    }
    all.summary().as_ref().map(Durations::from)
}

fn times(times: &Durations) -> impl Iterator<Item = (Metric, f64)> {
    TIMES.map(|(metric, of)| (metric, bounded(of(times)))).into_iter()
}

/// What never ended is longer than all else.
pub(crate) fn bounded(time: Nanoseconds) -> f64 {
    match time {
        Nanoseconds::At(nanos) => nanos as f64,
        Nanoseconds::Beyond { .. } => f64::INFINITY,
    }
}

/// Histograms have three digits.
pub(crate) const HISTOGRAM: f64 = 1e-3;

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
/// The series of all operations together; those of plans have a slash.
pub(crate) const TOTAL: &str = "total";

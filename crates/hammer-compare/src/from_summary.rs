//! Runs out of the summary of a sweep, by the key figures that it has of each.

use hammer_report::Summary;
use hammer_report::report::Nanoseconds;
use hammer_report::summary::{KeyFigures, SummaryRun};

use crate::from_report::{HISTOGRAM, TOTAL, bounded, findings};
use crate::measured_run::{GeneratorHealth, MeasuredRun, MeasuredSeries};
use crate::metric::Metric;

impl MeasuredRun {
    /// The runs of a sweep, each with the values that it was swept to; without those of which nothing was measured.
    pub fn of_sweep(summary: &Summary) -> Vec<Self> {
        summary.runs.iter().filter(|run| run.measured_seconds > 0.0).map(of_run).collect()
    }

    /// Whether it is one of a sweep.
    pub fn is_swept(&self) -> bool {
        !self.at.is_empty()
    }
}

fn of_run(run: &SummaryRun) -> MeasuredRun {
    let series = |is_step: bool| move |figures: &KeyFigures| of_series(figures, is_step);
    let operations = run.series.iter().map(series(false));
    let findings = findings(&run.verdict);
    let labels = run.labels.iter().filter(|(key, _)| *key != "round");
    MeasuredRun {
        tool: "hammer".to_owned(),
        series: operations.chain(run.steps.iter().map(series(true))).chain(total(run)).collect(),
        generator: Some(GeneratorHealth { healthy: run.healthy, ..GeneratorHealth::default() }),
        findings,
        measured_seconds: run.measured_seconds,
        broken: run.promises.broken,
        at: labels.map(|(key, value)| (key.clone(), value.clone())).collect(),
        ..MeasuredRun::default()
    }
}

/// The rate of all operations together, where they are of several series; of their response times a summary says nothing.
fn total(run: &SummaryRun) -> Option<MeasuredSeries> {
    let sum = |of: fn(&KeyFigures) -> Option<f64>| run.series.iter().map(of).sum::<Option<f64>>();
    let rate = sum(|figures| figures.accepted_per_s).filter(|_| run.series.len() > 1)?;
    let (offered, failed) = run.series.iter().fold((0_u64, 0_u64), |(offered, failed), figures| {
        (offered.saturating_add(figures.offered), failed.saturating_add(figures.failed))
    });
    Some(MeasuredSeries {
        path: TOTAL.to_owned(),
        is_total: true,
        is_closed_loop: run.series.iter().all(|figures| figures.closed_loop),
        refusals_meant: run.series.iter().any(|figures| figures.refusals_meant),
        offered,
        accepted: offered.saturating_sub(failed),
        failed_per_s: sum(|figures| figures.failed_per_s),
        figures: [(Metric::Rate, rate)].into(),
        ..MeasuredSeries::default()
    })
}

fn of_series(figures: &KeyFigures, is_step: bool) -> MeasuredSeries {
    let time = |metric: Metric, time: Option<Nanoseconds>| Some((metric, bounded(time?)));
    let times = [
        time(Metric::Mean, figures.response_mean_ns),
        time(Metric::P50, figures.response_p50_ns),
        time(Metric::P95, figures.response_p95_ns),
        time(Metric::P99, figures.response_p99_ns),
    ];
    let rate = figures.accepted_per_s.map(|rate| (Metric::Rate, rate));
    MeasuredSeries {
        path: figures.path.clone(),
        is_step,
        is_closed_loop: figures.closed_loop,
        refusals_meant: figures.refusals_meant,
        // As many as there can be: how many ended a summary does not say.
        count: figures.offered,
        offered: figures.offered,
        accepted: figures.offered.saturating_sub(figures.failed),
        failed_per_s: figures.failed_per_s,
        resolution: HISTOGRAM,
        figures: times.into_iter().flatten().chain(rate).collect(),
        ..MeasuredSeries::default()
    }
    .or_outage()
}

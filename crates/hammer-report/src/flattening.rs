//! From a report to its flat summary.

use hammer_measure::histogram::Distribution;

use crate::report::{Durations, FlatSummary, Nanoseconds, Rates, Report};

impl FlatSummary {
    /// That of a report.
    pub fn of(report: &Report) -> Self {
        let mut flat = Self {
            healthy: report.health.healthy,
            thresholds: report.thresholds.len() as u64,
            thresholds_failed: report.thresholds.iter().filter(|threshold| !threshold.holds).count() as u64,
            version: report.tool.version.clone(),
            started: report.run.epoch.clone(),
            seed: report.run.seed.clone(),
            measured_seconds: report.run.measured_seconds,
            duration_seconds: duration_seconds(report),
            ..Self::default()
        };
        flat.judge(&report.verdict);
        flat.count(report);
        flat.rate(report);
        if let Some(durations) = Durations::of(&response_times(report)) {
            flat.time(&durations);
        }
        flat
    }

    fn count(&mut self, report: &Report) {
        let counts = &report.totals.measurement;
        (self.offered, self.dispatched, self.completed) =
            (counts.offered, counts.dispatched, counts.completed);
        let fates = &counts.fates;
        (self.accepted, self.failed, self.refused) = (fates.accepted, fates.failed(), fates.refused);
        (self.pushback, self.server_error, self.malformed) =
            (fates.pushback, fates.server_error, fates.malformed);
        (self.unreachable, self.timed_out) = (fates.unreachable, fates.timed_out);
        (self.abandoned, self.shed, self.starved) = (fates.abandoned, fates.shed, fates.starved);
        let promises = &report.promises.all;
        (self.promises_made, self.promises_kept) = (promises.made, promises.kept);
        (self.promises_broken, self.promises_pending) = (promises.broken, promises.pending);
        self.promises_unchecked = promises.unchecked;
    }

    fn rate(&mut self, report: &Report) {
        let sum = |of: fn(&Rates) -> f64| {
            let mut rates = report.operations().filter_map(|series| series.measurement.rates);
            let first = rates.next()?;
            Some(rates.fold(of(&first), |sum, rates| sum + of(&rates)))
        };
        self.offered_per_s = sum(|rates| rates.offered_per_s);
        self.completed_per_s = sum(|rates| rates.completed_per_s);
        self.accepted_per_s = sum(|rates| rates.accepted_per_s);
        self.bytes_out_per_s = sum(|rates| rates.bytes_out_per_s);
        self.bytes_in_per_s = sum(|rates| rates.bytes_in_per_s);
    }

    fn time(&mut self, durations: &Durations) {
        (self.response_times, self.never_ended) = (durations.count, durations.infinite);
        let mut known = |figure: Nanoseconds| match figure {
            Nanoseconds::At(nanos) => Some(nanos),
            Nanoseconds::Beyond { .. } => {
                self.beyond = true;
                None
            }
        };
        self.mean_ns = known(durations.mean_ns);
        self.min_ns = known(durations.min_ns);
        self.p50_ns = known(durations.p50_ns);
        self.p75_ns = known(durations.p75_ns);
        self.p90_ns = known(durations.p90_ns);
        self.p95_ns = known(durations.p95_ns);
        self.p99_ns = known(durations.p99_ns);
        self.p99_9_ns = known(durations.p99_9_ns);
        self.max_ns = known(durations.max_ns);
    }
}

/// The response times of all operation series in measurement, merged.
pub(crate) fn response_times(report: &Report) -> Distribution {
    let mut all = Distribution::default();
    for series in report.operations() {
        let own = series.measurement.durations.response_time.as_ref();
        if let Some(own) = own.and_then(Durations::distribution) {
            all.merge(&own);
        }
    }
    all
}

fn duration_seconds(report: &Report) -> f64 {
    let start = report.phases.iter().map(|phase| phase.begin_ns).min();
    let end = report.phases.iter().map(|phase| phase.end_ns).max();
    start.zip(end).map_or(0.0, |(start, end)| end.saturating_sub(start) as f64 / 1e9)
}

#[cfg(test)]
mod tests;

//! The requests of a run as another tool counts them, so that figures of its reports can be held beside.

use hammer_measure::histogram::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accounted_job::AccountedJob;
use super::figures::{Nanoseconds, finite};
use super::operation_counters::OperationCounters;
use super::phase::{PhaseName, PhaseSpan};
use super::series::{PhaseFigures, Series};
use super::timeline::Interval;

/// The requests of a run as another tool counts them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestAccounting {
    /// Whose way it is: the plan's `compat`.
    pub compat: String,
    /// By job, of a tool that counts requests.
    pub jobs: Vec<JobRequests>,
    /// By type, of a tool that counts whole operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationCounters>,
}

/// The requests of one job since the start of the run, ramps included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobRequests {
    /// The job's name.
    pub job: String,
    /// Whole operations accepted in a second of measurement: hammer's own figure. `null` when no time was measured.
    pub operations_per_s: Option<f64>,
    /// Requests until the end of measurement, those of drain and those that were not sent included.
    pub requests: u64,
    /// Those of them that the other tool sends to a helper of its own, and hammer does not send.
    pub not_sent: u64,
    /// `requests` in a second, from the start of the run to the end of measurement: the running mean at its end.
    pub requests_per_s: f64,
    /// The mean over measurement of the running means at the ends of its intervals; `null` without an interval.
    pub mean_requests_per_s: Option<f64>,
    /// The 95th percentile of the service time of all these requests, of which those that were not sent count as the shortest; `null`
    /// where nothing was sent.
    pub p95_ns: Option<Nanoseconds>,
}

impl RequestAccounting {
    /// The requests or operations of these series as `compat` counts them, by jobs: over those phases and intervals, of which measurement had so
    /// many seconds.
    pub(super) fn of(
        compat: &str,
        jobs: &[AccountedJob],
        series: &[Series],
        (phases, intervals, measured_seconds): (&[PhaseSpan], &[Interval], f64),
    ) -> Self {
        let (of_operations, of_requests): (Vec<_>, Vec<_>) =
            jobs.iter().partition(|job| job.requests.is_empty());
        let requests = of_requests.into_iter().map(|job| JobRequests::of(phases, series, intervals, job));
        let counters =
            of_operations.into_iter().map(|job| OperationCounters::of(series, measured_seconds, job));
        Self { compat: compat.to_owned(), jobs: requests.collect(), operations: counters.collect() }
    }
}

impl JobRequests {
    fn of(spans: &[PhaseSpan], all: &[Series], intervals: &[Interval], job: &AccountedJob) -> Self {
        let series = |paths: &[String]| -> Vec<&Series> {
            all.iter().filter(|series| paths.contains(&series.path)).collect()
        };
        let (operations, requests) = (series(&job.operations), series(&job.requests));
        let phases = |series: &Series| [series.warm_up.clone(), series.measurement.clone()];
        let begun: u64 =
            operations.iter().flat_map(|series| phases(series)).map(|of| of.counts.dispatched).sum();
        let mut sent = Distribution::default();
        for figures in requests.iter().flat_map(|series| phases(series)) {
            service_time(&figures).iter().for_each(|taken| sent.merge(taken));
        }
        let not_sent = begun * job.not_sent;
        let requests = sent.count() + not_sent;
        let start = spans.first().map_or(0, |span| span.begin_ns);
        let measured = spans.iter().find(|span| span.phase == PhaseName::Measurement);
        let end = measured.map_or(start, |span| span.end_ns);
        let rates = operations.iter().filter_map(|series| series.measurement.rates);
        let accepted: Vec<f64> = rates.map(|rates| rates.accepted_per_s).collect();
        Self {
            job: job.job.to_owned(),
            operations_per_s: (!accepted.is_empty()).then(|| accepted.iter().sum()),
            requests,
            not_sent,
            requests_per_s: per_second(requests, start, end),
            mean_requests_per_s: measured
                .and_then(|span| running_mean(intervals, job, start, (span.begin_ns, span.end_ns))),
            p95_ns: p95(&sent, not_sent),
        }
    }
}

fn service_time(figures: &PhaseFigures) -> Option<Distribution> {
    figures.durations.service_time.as_ref()?.distribution()
}

/// The mean of the running means at the ends of the intervals of `measured`.
fn running_mean(
    intervals: &[Interval],
    job: &AccountedJob,
    start: u64,
    (begin, end): (u64, u64),
) -> Option<f64> {
    let (mut requests, mut sum, mut seen) = (0, 0.0, 0_u64);
    for interval in intervals {
        requests += requests_of(interval, job);
        if interval.at_ns > begin && interval.at_ns <= end {
            sum += per_second(requests, start, interval.at_ns);
            seen += 1;
        }
    }
    (seen > 0).then(|| sum / seen as f64)
}

fn requests_of(interval: &Interval, job: &AccountedJob) -> u64 {
    let of = |paths: &[String], path: &String| paths.contains(path);
    let sent = interval.series.iter().filter(|series| of(&job.requests, &series.path));
    let sent: u64 = sent.map(|series| series.service_time.map_or(0, |taken| taken.count)).sum();
    let begun = interval.series.iter().filter(|series| of(&job.operations, &series.path));
    let begun: u64 = begun
        .map(|series| {
            let kept = series.fates.shed + series.fates.starved;
            series.offered.saturating_sub(kept).saturating_add_signed(-series.fates.backlog)
        })
        .sum();
    sent + begun * job.not_sent
}

/// `shortest` requests took less than all of `sent`.
fn p95(sent: &Distribution, shortest: u64) -> Option<Nanoseconds> {
    let (count, all) = (sent.count() as f64, (sent.count() + shortest) as f64);
    let place = (0.95 * all - shortest as f64) / count;
    sent.quantile(place.clamp(0.0, 1.0)).map(Nanoseconds::from)
}

fn per_second(count: u64, start: u64, end: u64) -> f64 {
    let seconds = end.saturating_sub(start) as f64 / 1e9;
    finite(count as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use hammer_measure::{Nanos, Phase};

    use super::*;
    use crate::Report;
    use crate::fixture::{Story, operation, report_of, step};

    /// Ten flows of two steps each in warm-up and twenty in measurement, which take 2 ms a step.
    fn two_steps() -> Report {
        let mut story =
            Story::new(vec![operation("sign", "sign"), step("sign", "fulcio"), step("sign", "rekor")]);
        for (phase, flows) in [(Phase::WarmUp, 10), (Phase::Measurement, 20)] {
            (0..3).for_each(|series| story.accept(series, phase, flows, Nanos::from_millis(2)));
            story.interval(phase);
        }
        report_of(&story.finish(|_| {}))
    }

    fn signing(not_sent: u64) -> AccountedJob {
        AccountedJob {
            job: "signing",
            operations: vec!["sign/sign".to_owned()],
            requests: vec!["sign/fulcio".to_owned(), "sign/rekor".to_owned()],
            not_sent,
        }
    }

    #[test]
    fn requests_are_those_since_the_start_with_those_of_the_helper() {
        let report = two_steps();
        let of = |not_sent| report.accounted("tool", &[signing(not_sent)]).jobs.remove(0);
        let (plain, helped) = (of(0), of(1));
        assert_eq!((plain.requests, plain.not_sent), (60, 0));
        assert_eq!((helped.requests, helped.not_sent), (90, 30));
        let measured = report.phases.iter().find(|span| span.phase == PhaseName::Measurement).unwrap();
        let seconds = (measured.end_ns - report.phases[0].begin_ns) as f64 / 1e9;
        assert!((helped.requests_per_s - 90.0 / seconds).abs() < 1e-9, "{helped:?}");
        let accepted = report.series[0].measurement.rates.unwrap().accepted_per_s;
        assert_eq!(helped.operations_per_s, Some(accepted));
    }

    #[test]
    fn the_percentile_is_that_of_all_requests_of_which_the_helpers_are_the_shortest() {
        let mut sent = Distribution::default();
        (1..=100).for_each(|millis| sent.record(Nanos::from_millis(millis)));
        let millis = |shortest| p95(&sent, shortest).unwrap().least().saturating_add(500_000) / 1_000_000;
        assert_eq!((millis(0), millis(25)), (95, 94));
        // Of two thousand all but the shortest are in the last twentieth.
        assert_eq!(millis(1_900), 1);
        assert_eq!(p95(&Distribution::default(), 7), None);
    }

    #[test]
    fn the_mean_over_measurement_is_that_of_running_means_and_so_below_the_rate_of_its_end() {
        let interval = |at_s: u64, sent: u64| {
            let taken = super::super::timeline::IntervalDurations {
                count: sent,
                infinite: 0,
                p50_ns: Nanoseconds::At(1),
                p99_ns: Nanoseconds::At(1),
                max_ns: Nanoseconds::At(1),
            };
            let mut interval = two_steps().intervals.remove(0);
            interval.at_ns = at_s * 1_000_000_000;
            interval.series.retain(|series| series.path == "sign/fulcio");
            interval.series[0].service_time = Some(taken);
            interval
        };
        let second = 1_000_000_000;
        // A ramp of 10 a second for 10 s, then 100 a second: 100/10 is left out, 600/15 and 1,100/20 count.
        let intervals = [interval(10, 100), interval(15, 500), interval(20, 500), interval(25, 500)];
        let mean = running_mean(&intervals, &signing(1), 0, (10 * second, 20 * second)).unwrap();
        assert!((mean - (40.0 + 55.0) / 2.0).abs() < 1e-9, "{mean}");
        assert_eq!(running_mean(&intervals, &signing(1), 0, (30 * second, 40 * second)), None);
    }
}

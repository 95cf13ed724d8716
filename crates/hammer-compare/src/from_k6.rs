//! Runs out of the JSON that k6 1.0 writes (`--summary-export`): one series of all its requests. It does not say whether its users waited for answers, as
//! they do but with an executor of an arrival rate; with one of those it drops iterations, which are failures here.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::measured_run::{MeasuredRun, MeasuredSeries, add_failures};
use crate::metric::Metric;

/// Why nothing can be taken of it.
#[derive(Debug, thiserror::Error)]
pub enum K6Error {
    /// It is not the JSON that k6 writes.
    #[error("read what k6 wrote: {0}")]
    Json(#[from] serde_json::Error),
    /// Nothing was sent.
    #[error("read what k6 wrote: it has no HTTP request")]
    Empty,
}

#[derive(Deserialize)]
struct K6Model {
    metrics: MetricsModel,
}

#[derive(Deserialize)]
struct MetricsModel {
    http_reqs: CounterModel,
    /// Milliseconds.
    http_req_duration: BTreeMap<String, f64>,
    http_req_failed: Option<RateModel>,
    dropped_iterations: Option<CounterModel>,
}

#[derive(Deserialize)]
struct CounterModel {
    count: u64,
    rate: f64,
}

/// Of a rate those that pass are the ones it is of: requests that failed.
#[derive(Deserialize)]
struct RateModel {
    passes: u64,
}

/// The run of its JSON.
pub(crate) fn run(json: &str) -> Result<MeasuredRun, K6Error> {
    let K6Model { metrics } = serde_json::from_str(json)?;
    let CounterModel { count, rate } = metrics.http_reqs;
    if count == 0 || rate <= 0.0 {
        return Err(K6Error::Empty);
    }
    let times = metrics.http_req_duration.iter().filter_map(|(name, ms)| Some((metric(name)?, ms * 1e6)));
    let mut figures: BTreeMap<Metric, f64> = times.collect();
    let mut failures = BTreeMap::new();
    let failed = metrics.http_req_failed.map_or(0, |failed| failed.passes).min(count);
    let dropped = metrics.dropped_iterations.map_or(0, |dropped| dropped.count);
    for (cause, number) in [("failed request", failed), ("dropped iteration", dropped)] {
        if number > 0 {
            add_failures(&mut failures, cause.to_owned(), number);
        }
    }
    let seconds = count as f64 / rate;
    figures.insert(Metric::Rate, (count - failed) as f64 / seconds);
    let requests = MeasuredSeries {
        is_closed_loop: true,
        count,
        offered: count.saturating_add(dropped),
        figures,
        failures,
        ..MeasuredSeries::default()
    };
    Ok(MeasuredRun::of_requests(seconds, requests))
}

/// `avg`, `med`, `max`, `p(95)`.
fn metric(name: &str) -> Option<Metric> {
    match name {
        "avg" => Some(Metric::Mean),
        "med" | "p(50)" => Some(Metric::P50),
        "max" => Some(Metric::Max),
        _ => format!("p{}", name.strip_prefix("p(")?.strip_suffix(')')?).parse().ok(),
    }
}

/// A key that its JSON has, and a report of hammer has not.
pub(crate) const OF_K6: &str = "\"http_reqs\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_runs_read_as_they_say() {
        let stats = run(include_str!("../testdata/k6/stats.json")).unwrap();
        let series = &stats.series[0];
        assert_eq!((series.count, series.offered, series.failures["failed request"]), (2_000, 2_000, 194));
        assert!((series.figures[&Metric::Rate] - 1_666.606_652_161_122_4 * 0.903).abs() < 1e-6);
        let known: Vec<&str> = series.figures.keys().map(|metric| metric.name()).collect();
        assert_eq!(known, ["rate", "mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "max"]);
        assert!((series.figures[&Metric::P50] - 6_445_684.0).abs() < 1e-3);
        let plain = run(include_str!("../testdata/k6/plain.json")).unwrap();
        assert_eq!(plain.series[0].figures.len(), 6);
    }

    #[test]
    fn dropped_iterations_are_failures_and_what_sent_nothing_is_no_run() {
        let of = |count: u64, more: &str| {
            let text = format!(
                "{{\"metrics\":{{\"http_reqs\":{{\"count\":{count},\"rate\":{count}}},\"http_req_duration\":{{\"avg\":1}}{more}}}}}"
            );
            run(&text)
        };
        let dropped = of(10, ",\"dropped_iterations\":{\"count\":5,\"rate\":5}").unwrap();
        assert_eq!((dropped.series[0].offered, dropped.series[0].failures["dropped iteration"]), (15, 5));
        assert!(matches!(of(0, ""), Err(K6Error::Empty)));
        assert!(matches!(run("{\"http_reqs\": 1}"), Err(K6Error::Json(_))));
    }
}

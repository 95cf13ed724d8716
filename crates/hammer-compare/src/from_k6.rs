//! Runs out of the JSON that k6 1.0 writes (`--summary-export`): one series of all its requests. It does not say whether its users waited for answers, as
//! they do but with an executor of an arrival rate; with one of those it drops iterations, which are failures here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::measured_run::{MeasuredRun, MeasuredSeries, add_failures, is_measured};
use crate::metric::Metric;

/// Why nothing can be taken of it.
#[derive(Debug, thiserror::Error)]
pub enum K6Error {
    /// It is not the JSON that k6 writes.
    #[error("read what k6 wrote: {0}")]
    Json(#[from] serde_json::Error),
    /// A figure that nothing can have been measured as.
    #[error("read what k6 wrote: its {metric} is {figure}, which nobody can have measured")]
    Figure {
        /// What it is of.
        metric: Metric,
        /// The number, in the unit that k6 has it in.
        figure: f64,
    },
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
    http_reqs: MetricModel,
    /// Milliseconds.
    http_req_duration: MetricModel,
    /// Of a rate those that pass are the ones it is of: requests that failed.
    http_req_failed: Option<MetricModel>,
    dropped_iterations: Option<MetricModel>,
}

/// The values of a metric, thresholds beside them: of `--summary-export` here, of what a script's `handleSummary` is handed one level down.
#[derive(Deserialize)]
struct MetricModel {
    #[serde(default)]
    values: BTreeMap<String, Value>,
    #[serde(flatten)]
    beside: BTreeMap<String, Value>,
}

impl MetricModel {
    fn values(&self) -> impl Iterator<Item = (&str, f64)> {
        let values = self.values.iter().chain(&self.beside);
        values.filter_map(|(name, value)| Some((name.as_str(), value.as_f64()?)))
    }

    fn value(&self, name: &str) -> f64 {
        self.values().find(|(named, _)| *named == name).map_or(0.0, |(_, value)| value)
    }
}

/// The run of its JSON.
pub(crate) fn run(json: &str) -> Result<MeasuredRun, K6Error> {
    let K6Model { metrics } = serde_json::from_str(json)?;
    let (count, rate) = (metrics.http_reqs.value("count") as u64, metrics.http_reqs.value("rate"));
    if count == 0 || rate <= 0.0 {
        return Err(K6Error::Empty);
    }
    let times = metrics.http_req_duration.values().filter_map(|(name, ms)| Some((metric(name)?, ms)));
    let mut figures = BTreeMap::new();
    for (metric, ms) in times {
        if !is_measured(ms / 1e3) {
            return Err(K6Error::Figure { metric, figure: ms });
        }
        figures.insert(metric, ms * 1e6);
    }
    let mut failures = BTreeMap::new();
    let failed = metrics.http_req_failed.map_or(0, |failed| failed.value("passes") as u64).min(count);
    let dropped = metrics.dropped_iterations.map_or(0, |dropped| dropped.value("count") as u64);
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
    Ok(MeasuredRun::of_requests("k6", seconds, requests))
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
        // Thresholds stand beside the values, and a script's own summary has these one level down.
        for (text, count, failed) in [
            (include_str!("../testdata/k6/thresholds.json"), 500, 63),
            (include_str!("../testdata/k6/handled.json"), 500, 43),
        ] {
            let run = run(text).unwrap();
            let series = &run.series[0];
            assert_eq!(
                (series.count, series.failures["failed request"], series.figures.len()),
                (count, failed, 6)
            );
        }
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

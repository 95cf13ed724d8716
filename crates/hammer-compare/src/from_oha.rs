//! Runs out of the JSON of oha 1.16 (`--output-format json`): one series. It does not say whether its users waited for answers, as they do without `-q`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::measured_run::{MeasuredRun, MeasuredSeries, add_failures, is_measured, offered};
use crate::metric::Metric;

/// Why nothing can be taken of it.
#[derive(Debug, thiserror::Error)]
pub enum OhaError {
    /// It is not the JSON that oha writes.
    #[error("read what oha wrote: {0}")]
    Json(#[from] serde_json::Error),
    /// A figure that nothing can have been measured as.
    #[error("read what oha wrote: its {metric} is {figure}, which nobody can have measured")]
    Figure {
        /// What it is of.
        metric: Metric,
        /// The number, in the unit that oha has it in.
        figure: f64,
    },
    /// Nothing was sent.
    #[error("read what oha wrote: it has no request")]
    Empty,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OhaModel {
    summary: SummaryModel,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

/// Seconds; none where nothing was answered.
#[derive(Deserialize)]
struct SummaryModel {
    total: f64,
    slowest: Option<f64>,
    average: Option<f64>,
}

/// The run of its JSON.
pub(crate) fn run(json: &str) -> Result<MeasuredRun, OhaError> {
    let OhaModel { summary, latency_percentiles, status_code_distribution, error_distribution } =
        serde_json::from_str(json)?;
    let means = [(Metric::Mean, summary.average), (Metric::Max, summary.slowest)];
    let percentiles = latency_percentiles.iter().filter_map(|(name, time)| Some((name.parse().ok()?, *time)));
    let times = means.into_iter().chain(percentiles).filter_map(|(metric, time)| Some((metric, time?)));
    let mut figures = BTreeMap::new();
    for (metric, seconds) in times {
        if !is_measured(seconds) {
            return Err(OhaError::Figure { metric, figure: seconds });
        }
        figures.insert(metric, seconds * 1e9);
    }
    let (mut accepted, mut count, mut failures) = (0_u64, 0_u64, BTreeMap::new());
    for (status, answers) in status_code_distribution {
        count = count.saturating_add(answers);
        match status.starts_with('2') {
            true => accepted = accepted.saturating_add(answers),
            false => add_failures(&mut failures, format!("HTTP {status}"), answers),
        }
    }
    // What was under way at its own end is neither.
    let errors = error_distribution.into_iter().filter(|(why, _)| why != OWN_END);
    errors.for_each(|(why, number)| add_failures(&mut failures, why, number));
    if (count == 0 && failures.is_empty()) || summary.total <= 0.0 {
        return Err(OhaError::Empty);
    }
    figures.insert(Metric::Rate, accepted as f64 / summary.total);
    let offered = offered(accepted, &failures);
    let requests = MeasuredSeries {
        is_closed_loop: true,
        count,
        offered,
        figures,
        failures,
        ..MeasuredSeries::default()
    };
    Ok(MeasuredRun::of_requests("oha", summary.total, requests))
}

/// A key that its JSON has, and a report of hammer has not.
pub(crate) const OF_OHA: &str = "\"latencyPercentiles\"";
const OWN_END: &str = "aborted due to deadline";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_runs_read_as_they_say() {
        let closed = run(include_str!("../testdata/oha/closed.json")).unwrap();
        let series = &closed.series[0];
        assert_eq!((series.count, series.offered, series.failures["HTTP 503"]), (2_000, 2_000, 194));
        assert_eq!(series.figures[&Metric::Rate], 1_806.0 / 1.171_773_251);
        let times = [Metric::P50, Metric::P99, Metric::P999, Metric::Max]
            .map(|metric| series.figures[&metric].round());
        assert_eq!(times, [6_480_926.0, 7_453_023.0, 11_009_206.0, 11_057_053.0]);
        let rate = run(include_str!("../testdata/oha/rate.json")).unwrap();
        assert_eq!((rate.series[0].offered, rate.series[0].failures.len()), (499, 1));
    }

    #[test]
    fn where_nothing_was_accepted_every_time_is_beyond() {
        let none = run(include_str!("../testdata/oha/none.json")).unwrap();
        let series = &none.series[0];
        assert_eq!(
            (series.offered, series.figures[&Metric::Rate], series.figures[&Metric::P99]),
            (20, 0.0, f64::INFINITY)
        );
        assert!(matches!(run("{\"latencyPercentiles\": {}}").unwrap_err(), OhaError::Json(_)));
    }
}

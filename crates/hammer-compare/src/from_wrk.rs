//! Runs out of what wrk 4.1 and wrk2 4.0 print: one series, of a closed loop with wrk, and of a rate with wrk2, whose times start where the request was due.

use std::collections::BTreeMap;

use crate::measured_run::{MeasuredRun, MeasuredSeries, add_failures, offered};
use crate::metric::Metric;

/// Why nothing can be taken of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrkError {
    /// A figure is missing.
    #[error("read what wrk printed: it has no {0}")]
    Missing(&'static str),
    /// Nothing was answered.
    #[error("read what wrk printed: it has no request that was answered")]
    Unanswered,
}

/// The run of its text.
pub(crate) fn run(text: &str) -> Result<MeasuredRun, WrkError> {
    let lines = || text.lines().map(str::trim);
    let requests = lines().find_map(|line| line.split_once(" requests in "));
    let (count, behind) = requests.ok_or(WrkError::Missing("number of requests"))?;
    let count: u64 = count.parse().map_err(|_| WrkError::Missing("number of requests"))?;
    let seconds = behind.split(',').next().and_then(nanos).ok_or(WrkError::Missing("duration"))? / 1e9;
    if count == 0 || seconds <= 0.0 {
        return Err(WrkError::Unanswered);
    }
    let latency = lines()
        .find_map(|line| line.strip_prefix("Latency ").filter(|line| !line.starts_with("Distribution")));
    let latency: Vec<&str> =
        latency.ok_or(WrkError::Missing("line of latencies"))?.split_whitespace().collect();
    // Average, deviation, greatest, and how many are within a deviation.
    let [mean, _, greatest, ..] = *latency.as_slice() else {
        return Err(WrkError::Missing("line of latencies"));
    };
    let figure = |text| nanos(text).ok_or(WrkError::Missing("line of latencies"));
    let mut figures = BTreeMap::from([(Metric::Mean, figure(mean)?), (Metric::Max, figure(greatest)?)]);
    for line in lines() {
        let Some((share, time)) = line.split_once('%') else { continue };
        let percentile =
            share.parse::<f64>().ok().and_then(|share| format!("p{share}").parse::<Metric>().ok());
        if let Some((percentile, time)) = percentile.zip(nanos(time)) {
            figures.insert(percentile, time);
        }
    }
    let mut failures = BTreeMap::new();
    let refused =
        lines().find_map(|line| line.strip_prefix("Non-2xx or 3xx responses:")?.trim().parse().ok());
    let refused: u64 = refused.unwrap_or_default();
    if refused > 0 {
        add_failures(&mut failures, "HTTP status that is no success".to_owned(), refused);
    }
    for error in
        lines().filter_map(|line| line.strip_prefix("Socket errors:")).flat_map(|line| line.split(','))
    {
        if let Some((kind, number @ 1..)) =
            error.trim().split_once(' ').and_then(|(kind, number)| Some((kind, number.parse().ok()?)))
        {
            add_failures(&mut failures, format!("socket error ({kind})"), number);
        }
    }
    figures.insert(Metric::Rate, count.saturating_sub(refused) as f64 / seconds);
    let offered = offered(count.saturating_sub(refused), &failures);
    let requests = MeasuredSeries {
        is_closed_loop: !text.contains("HdrHistogram"),
        count,
        offered,
        resolution_ns: RESOLUTION,
        figures,
        failures,
        ..MeasuredSeries::default()
    };
    Ok(MeasuredRun::of_requests(seconds, requests))
}

/// `104.00us`, `2.76ms`, `1.02s`, `1.00m`.
fn nanos(text: &str) -> Option<f64> {
    let text = text.trim();
    let (unit, nanos) = UNITS.into_iter().find(|(unit, _)| text.ends_with(unit))?;
    let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
    Some(number * nanos).filter(|nanos| nanos.is_finite())
}

/// Those with more letters first, since they end as another does.
const UNITS: [(&str, f64); 5] = [("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 6e10), ("h", 3.6e12)];
/// It records microseconds.
const RESOLUTION: f64 = 1e3;
/// How its text starts.
pub(crate) const HEADER: &str = "Running ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_runs_read_as_they_say() {
        let accepted = run(include_str!("../testdata/wrk/accepted.txt")).unwrap();
        let series = &accepted.series[0];
        assert_eq!((series.count, series.offered, series.is_closed_loop), (151_161, 151_161, true));
        assert_eq!((series.figures[&Metric::P50], series.figures[&Metric::P99]), (104_000.0, 2_760_000.0));
        assert_eq!((series.figures[&Metric::Mean], series.figures[&Metric::Max]), (162_840.0, 6_230_000.0));
        assert_eq!((series.figures[&Metric::Rate], series.failures.len()), (75_580.5, 0));
    }

    #[test]
    fn refusals_and_socket_errors_are_failures() {
        let refused = run(include_str!("../testdata/wrk/refused.txt")).unwrap();
        let series = &refused.series[0];
        let failed = series.failures["HTTP status that is no success"];
        assert!(failed * 20 > series.count && failed * 5 < series.count, "{failed} of {}", series.count);
        let rate = (series.count - failed) as f64 / refused.measured_seconds;
        assert!((series.figures[&Metric::Rate] - rate).abs() < 1e-9);
        let text = "Running 1s test @ http://x\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.50m     2.00s    1.50h   90.00%\n  \
                    Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    1.00ms\n 99.900%    2.00s\n  10 requests in 1.00m, 1KB read\n  \
                    Socket errors: connect 0, read 3, write 0, timeout 2\n";
        let late = run(text).unwrap();
        let series = &late.series[0];
        assert_eq!(
            (series.figures[&Metric::P50], series.figures[&Metric::P999], series.figures[&Metric::Mean]),
            (1e6, 2e9, 9e10)
        );
        assert_eq!((series.offered, series.is_closed_loop, late.measured_seconds), (15, false, 60.0));
        assert_eq!(series.failures["socket error (timeout)"], 2);
    }

    #[test]
    fn what_lacks_a_figure_is_none() {
        assert_eq!(run("Running 1s test").unwrap_err(), WrkError::Missing("number of requests"));
        assert_eq!(run("  0 requests in 1.00s, 0.00B read\n").unwrap_err(), WrkError::Unanswered);
        assert_eq!(
            run("  1 requests in 1.00s, 1B read\n").unwrap_err(),
            WrkError::Missing("line of latencies")
        );
    }
}

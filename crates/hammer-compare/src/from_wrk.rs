//! Runs out of what wrk 4.1 and wrk2 4.0 print: one series, of a closed loop with wrk, and of a rate with wrk2, whose times start where the request was due.

use std::collections::BTreeMap;

use crate::measured_run::{MeasuredRun, MeasuredSeries, add_failures, is_measured, offered};
use crate::metric::Metric;

/// Why nothing can be taken of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrkError {
    /// A figure is missing.
    #[error("read what wrk printed: it has no {0}")]
    Missing(&'static str),
    /// A line is of another form.
    #[error("read what wrk printed: line {line} is of another form: {text}")]
    Line {
        /// Its number, from 1 on.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// Nothing was sent.
    #[error("read what wrk printed: it has no request")]
    Empty,
}

/// The run of its text.
pub(crate) fn run(text: &str) -> Result<MeasuredRun, WrkError> {
    let lines = || text.lines().map(str::trim);
    let after = |name: &str| lines().find_map(|line| line.strip_prefix(name).map(str::trim));
    let count = lines().find_map(|line| line.split_once(" requests in ")?.0.parse::<u64>().ok());
    let count = count.ok_or(WrkError::Missing("number of requests"))?;
    // The duration is rounded to a hundredth of its unit, the rate is not.
    let rate = after("Requests/sec:").and_then(|rate| rate.parse::<f64>().ok());
    let rate = rate.filter(|rate| is_measured(*rate)).ok_or(WrkError::Missing("Requests/sec"))?;
    // It says so before it keeps to a rate.
    let is_wrk2 = after("Thread calibration:").is_some();
    let mut failures = BTreeMap::new();
    let refused: u64 =
        after("Non-2xx or 3xx responses:").and_then(|count| count.parse().ok()).unwrap_or_default();
    for (kind, number) in errors(after("Socket errors:").unwrap_or_default()) {
        add_failures(&mut failures, format!("socket error ({kind})"), number);
    }
    if refused > 0 {
        add_failures(&mut failures, "HTTP status that is no success".to_owned(), refused);
    }
    // wrk counts an answer that came after its timeout as a request, and leaves its time out.
    let late = failures.get(TIMEOUTS).copied().filter(|_| !is_wrk2).unwrap_or_default();
    let accepted = count.saturating_sub(refused).saturating_sub(late);
    let offered = offered(accepted, &failures);
    if offered == 0 {
        return Err(WrkError::Empty);
    }
    let mut figures = times(text)?;
    if late > 0 {
        let is_beyond = |metric: Metric| metric.tail().is_none_or(|tail| tail * count as f64 <= late as f64);
        figures
            .iter_mut()
            .filter(|(metric, _)| is_beyond(**metric))
            .for_each(|(_, time)| *time = f64::INFINITY);
    }
    let seconds = if rate > 0.0 { count as f64 / rate } else { 0.0 };
    figures.insert(Metric::Rate, if seconds > 0.0 { accepted as f64 / seconds } else { 0.0 });
    let requests = MeasuredSeries {
        is_closed_loop: !is_wrk2,
        count,
        offered,
        resolution_ns: RESOLUTION,
        figures,
        failures,
        ..MeasuredSeries::default()
    };
    Ok(MeasuredRun::of_requests(if is_wrk2 { "wrk2" } else { "wrk" }, seconds, requests))
}

/// Mean, greatest and percentiles: of wrk2 the first ones, which start where a request was due.
fn times(text: &str) -> Result<BTreeMap<Metric, f64>, WrkError> {
    let lines = || text.lines().map(str::trim);
    let latency = lines()
        .find_map(|line| line.strip_prefix("Latency ").filter(|line| !line.starts_with("Distribution")));
    let missing = WrkError::Missing("line of latencies");
    let latency: Vec<&str> = latency.ok_or(missing.clone())?.split_whitespace().collect();
    // Average, deviation, greatest, and how many are within a deviation.
    let [mean, _, greatest, ..] = *latency.as_slice() else { return Err(missing) };
    let figure = |text| nanos(text).ok_or(missing.clone());
    let mut figures = BTreeMap::from([(Metric::Mean, figure(mean)?), (Metric::Max, figure(greatest)?)]);
    let distribution = lines().skip_while(|line| !line.starts_with("Latency Distribution")).skip(1);
    for (share, time) in distribution.map_while(|line| line.split_once('%')) {
        let percentile =
            share.parse::<f64>().ok().and_then(|share| format!("p{share}").parse::<Metric>().ok());
        let Some(metric) = percentile else { continue };
        let Some(nanos) = nanos(time) else {
            let index = text.lines().position(|line| line.contains(share) && line.contains(time));
            let text = format!("{share}%{}", time.chars().take(40).collect::<String>());
            return Err(WrkError::Line { line: index.map_or(0, |index| index + 1), text });
        };
        figures.insert(metric, nanos);
    }
    Ok(figures)
}

/// `connect 0, read 3, write 0, timeout 2`, but for those of which there is none.
fn errors(text: &str) -> impl Iterator<Item = (&str, u64)> {
    let each = text.split(',').filter_map(|error| error.trim().split_once(' '));
    each.filter_map(|(kind, number)| Some((kind, number.parse().ok()?))).filter(|(_, number)| *number > 0)
}

const TIMEOUTS: &str = "socket error (timeout)";

/// `104.00us`, `2.76ms`, `1.02s`, `1.00m`.
fn nanos(text: &str) -> Option<f64> {
    let text = text.trim();
    let (unit, nanos) = UNITS.into_iter().find(|(unit, _)| text.ends_with(unit))?;
    let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
    Some(number * nanos).filter(|_| is_measured(number * nanos / 1e9))
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
        assert_eq!((series.figures[&Metric::Rate].round() as u64, series.failures.len()), (75_566, 0));
    }

    #[test]
    fn refusals_and_socket_errors_are_failures() {
        let refused = run(include_str!("../testdata/wrk/refused.txt")).unwrap();
        let series = &refused.series[0];
        let failed = series.failures["HTTP status that is no success"];
        assert!(failed * 20 > series.count && failed * 5 < series.count, "{failed} of {}", series.count);
        let rate = (series.count - failed) as f64 / refused.measured_seconds;
        assert!((series.figures[&Metric::Rate] - rate).abs() < 1e-9);
    }

    #[test]
    fn answers_after_the_timeout_are_failures_whose_time_nobody_knows() {
        let late = run(include_str!("../testdata/wrk/late.txt")).unwrap();
        let series = &late.series[0];
        let timeouts = series.failures[TIMEOUTS];
        assert!(timeouts > 0 && timeouts < series.count && series.offered == series.count);
        assert!(series.figures[&Metric::P50].is_finite());
        for metric in [Metric::P99, Metric::Max, Metric::Mean] {
            assert_eq!(series.figures[&metric], f64::INFINITY, "{metric}");
        }
        assert!(
            (series.figures[&Metric::Rate] * late.measured_seconds - (series.count - timeouts) as f64).abs()
                < 1e-6
        );
    }

    /// Put together after the source of wrk2 4.0, with `-U`.
    #[test]
    fn of_wrk2_the_times_from_where_a_request_was_due_count() {
        let text = "Running 1m test @ http://x\n  1 threads and 10 connections\n  Thread calibration: mean lat.: 9747 usec, rate sampling interval: 21 msec\n  \
                    Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.50m     2.00s    1.50h   90.00%\n  \
                    Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%  800.00ms\n 99.900%    2.00s\n\n----------\n\n  \
                    Latency Distribution (HdrHistogram - Uncorrected Latency)\n 50.000%    1.00ms\n 99.900%    2.00ms\n  10 requests in 1.00m, 1KB read\n  \
                    Socket errors: connect 0, read 3, write 0, timeout 2\nRequests/sec:      0.20\n";
        let run = run(text).unwrap();
        let series = &run.series[0];
        let times = [Metric::P50, Metric::P999, Metric::Mean].map(|metric| series.figures[&metric]);
        assert_eq!(times, [8e8, 2e9, 9e10]);
        assert_eq!(
            (series.offered, series.is_closed_loop, run.measured_seconds, run.tool.as_str()),
            (15, false, 50.0, "wrk2")
        );
    }

    #[test]
    fn what_lacks_a_figure_is_none() {
        assert_eq!(run("Running 1s test").unwrap_err(), WrkError::Missing("number of requests"));
        assert_eq!(run("  1 requests in 1.00s, 1B read\n").unwrap_err(), WrkError::Missing("Requests/sec"));
        let of = |count: u64| {
            run(&format!("  {count} requests in 1.00s, 1B read\nRequests/sec: {count}\n")).unwrap_err()
        };
        assert_eq!([of(0), of(1)], [WrkError::Empty, WrkError::Missing("line of latencies")]);
    }
}

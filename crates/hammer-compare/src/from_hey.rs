//! Runs out of what hey 0.1.5 prints: its summary, and the CSV of `-o csv`. It has one series, of a closed loop, whose times start as a
//! request is sent, however late that is.

use std::collections::BTreeMap;

use crate::measured_run::{MeasuredRun, MeasuredSeries, add_failures, is_measured, offered};
use crate::metric::Metric;

/// Why nothing can be taken of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeyError {
    /// A figure is missing.
    #[error("read what hey printed: it has no `{0}`")]
    Missing(&'static str),
    /// A line is of another form.
    #[error("read what hey printed: line {line} is of another form: {text}")]
    Line {
        /// Its number, from 1 on.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// Nothing was sent.
    #[error("read what hey printed: it has no request")]
    Empty,
    /// There are not as many answers and errors as requests.
    #[error(
        "read what hey printed: it sent {sent} requests, and says of {told} what became of them (it keeps a million, or the text is cut off)"
    )]
    Counts {
        /// Requests by time and rate.
        sent: u64,
        /// Answers and errors.
        told: u64,
    },
}

/// The run of a summary.
pub(crate) fn summary(text: &str) -> Result<MeasuredRun, HeyError> {
    let seconds = |name: &'static str| {
        let figure = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
        let figure =
            figure.and_then(|figure| figure.trim().trim_end_matches("secs").trim().parse::<f64>().ok());
        let figure = figure.ok_or(HeyError::Missing(name))?;
        if is_measured(figure) {
            Ok(figure)
        } else {
            Err(line_of(text, |line| line.trim().starts_with(name)))
        }
    };
    let total = seconds("Total")?;
    let mut figures = BTreeMap::new();
    // Where nothing was answered it divides by nothing.
    if !text.lines().any(|line| line.trim().starts_with("Average:\tNaN")) {
        for (metric, name) in [(Metric::Mean, "Average"), (Metric::Max, "Slowest")] {
            figures.insert(metric, seconds(name)? * NANOS);
        }
    }
    for line in text.lines() {
        let Some((share, time)) = line.trim().split_once(" in ") else { continue };
        let metric = format!("p{}", share.trim_end_matches('%')).parse::<Metric>();
        let time = time.trim_end_matches("secs").trim().parse::<f64>();
        if let (Ok(metric), Ok(time)) = (metric, time) {
            if !is_measured(time) {
                return Err(line_of(text, |other| other == line));
            }
            figures.insert(metric, time * NANOS);
        }
    }
    let statuses = bracketed(text, "Status code distribution:");
    let errors = bracketed(text, "Error distribution:");
    let mut failures = BTreeMap::new();
    let (mut accepted, mut answered) = (0, 0);
    for (status, responses) in statuses {
        let count: u64 = responses.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or_default();
        answered = u64::saturating_add(answered, count);
        match status.starts_with('2') {
            true => accepted = u64::saturating_add(accepted, count),
            false => add_failures(&mut failures, format!("HTTP {status}"), count),
        }
    }
    for (count, why) in errors {
        add_failures(&mut failures, why.to_owned(), count.parse().unwrap_or_default());
    }
    let sent = (total * seconds("Requests/sec")?).round() as u64;
    let told = offered(accepted, &failures);
    // Both are printed with four digits behind the point.
    if sent.abs_diff(told) > 1 + sent / 100 {
        return Err(HeyError::Counts { sent, told });
    }
    if told == 0 {
        return Err(HeyError::Empty);
    }
    if total > 0.0 {
        figures.insert(Metric::Rate, accepted as f64 / total);
    }
    Ok(run((told, answered), total, figures, failures))
}

/// The run of a CSV.
pub(crate) fn csv(text: &str) -> Result<MeasuredRun, HeyError> {
    let (mut times, mut failures) = (Vec::new(), BTreeMap::new());
    let (mut accepted, mut end) = (0_u64, 0.0_f64);
    for (index, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        let row = row(line)
            .ok_or_else(|| HeyError::Line { line: index + 1, text: line.chars().take(80).collect() })?;
        let [time, status, offset] = row;
        times.push(time);
        end = end.max(offset + time);
        match (200.0..300.0).contains(&status) {
            true => accepted += 1,
            false => add_failures(&mut failures, format!("HTTP {status}"), 1),
        }
    }
    if times.is_empty() {
        return Err(HeyError::Empty);
    }
    times.sort_by(f64::total_cmp);
    let count = times.len();
    let at = |share: f64| times[((share * count as f64).ceil() as usize).clamp(1, count) - 1] * NANOS;
    let mean = times.iter().sum::<f64>() / count as f64 * NANOS;
    let mut figures = BTreeMap::from([(Metric::Mean, mean), (Metric::Max, at(1.0))]);
    figures.extend(Metric::ALL.into_iter().filter_map(|metric| Some((metric, at(1.0 - metric.tail()?)))));
    if end > 0.0 {
        figures.insert(Metric::Rate, accepted as f64 / end);
    }
    let mut run = run((count as u64, count as u64), end, figures, failures);
    run.series.iter_mut().for_each(|series| series.lacks_failures = true);
    Ok(run)
}

/// The first line that is so, which says what hey never does.
fn line_of(text: &str, is: impl Fn(&str) -> bool) -> HeyError {
    let found = text.lines().enumerate().find(|(_, line)| is(line));
    let (index, line) = found.unwrap_or_default();
    HeyError::Line { line: index + 1, text: line.trim().chars().take(80).collect() }
}

/// The response time, the status and the offset of a row.
fn row(line: &str) -> Option<[f64; 3]> {
    let cells = line.split(',').map(|cell| cell.trim().parse::<f64>().ok().filter(|cell| is_measured(*cell)));
    let cells = cells.collect::<Option<Vec<f64>>>()?;
    match *cells.as_slice() {
        [time, _, _, _, _, _, status, offset] => Some([time, status, offset]),
        _ => None,
    }
}

/// The lines `[a]<TAB>b` below that heading.
fn bracketed<'a>(text: &'a str, heading: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let below = text.lines().skip_while(move |line| line.trim() != heading).skip(1);
    let lines = below.map(str::trim).take_while(|line| line.starts_with('['));
    lines.filter_map(|line| line.strip_prefix('[')?.split_once(']')).map(|(one, other)| (one, other.trim()))
}

fn run(
    (offered, count): (u64, u64),
    measured_seconds: f64,
    figures: BTreeMap<Metric, f64>,
    failures: BTreeMap<String, u64>,
) -> MeasuredRun {
    let requests = MeasuredSeries {
        is_closed_loop: true,
        count,
        offered,
        resolution_ns: RESOLUTION,
        figures,
        failures,
        ..MeasuredSeries::default()
    };
    MeasuredRun::of_requests("hey", measured_seconds, requests)
}

/// It prints seconds with four digits behind the point.
const RESOLUTION: f64 = 1e5;
/// How its CSV starts.
pub(crate) const CSV_HEADER: &str = "response-time,";
const NANOS: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_statuses_that_are_no_success_are_failures() {
        let text = "Summary:\n  Total:\t2.0000 secs\n  Slowest:\t0.5000 secs\n  Average:\t0.1000 secs\n  Requests/sec:\t103.5\n\n\
                    Latency distribution:\n  50% in 0.0900 secs\n  95% in 0.3000 secs\n  99% in 0.0000 s\n\n\
                    Status code distribution:\n  [200]\t180 responses\n  [403]\t20 responses\n\n\
                    Error distribution:\n  [7]\tGet \"http://x\": context deadline exceeded\n";
        let run = summary(text).unwrap();
        let series = &run.series[0];
        assert_eq!((series.count, series.offered, series.figures[&Metric::Rate]), (200, 207, 90.0));
        assert_eq!((series.figures[&Metric::P50], series.figures[&Metric::P95]), (9e7, 3e8));
        assert!(!series.figures.contains_key(&Metric::P99));
        assert_eq!(series.failures["HTTP 403"], 20);
        assert_eq!(series.failures["Get \"http://x\": context deadline exceeded"], 7);
    }

    #[test]
    fn rows_of_a_csv_are_requests() {
        let mut text =
            "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n"
                .to_owned();
        for number in 0..100 {
            let status = if number < 10 { 500 } else { 200 };
            text += &format!("0.{:02},0,0,0,0,0,{status},{}.0\n", number % 100, number);
        }
        let run = csv(&text).unwrap();
        let series = &run.series[0];
        assert_eq!((series.count, series.failures["HTTP 500"]), (100, 10));
        assert_eq!((series.figures[&Metric::P50], series.figures[&Metric::Max]), (4.9e8, 9.9e8));
        assert!((series.figures[&Metric::Rate] - 90.0 / 99.99).abs() < 1e-9);
        let fault = csv("response-time,\n1,2\n").unwrap_err();
        assert_eq!(fault, HeyError::Line { line: 2, text: "1,2".to_owned() });
        assert_eq!(csv("response-time,\n").unwrap_err(), HeyError::Empty);
    }

    #[test]
    fn what_lacks_a_figure_is_no_summary() {
        assert_eq!(summary("Summary:\n").unwrap_err(), HeyError::Missing("Total"));
        let of = |average: &str, rate: &str, statuses: &str| {
            let text = format!(
                "Summary:\n  Total:\t2 secs\n  Slowest:\t1 secs\n  Average:\t{average} secs\n  Requests/sec:\t{rate}\n\n{statuses}"
            );
            summary(&text).map(|run| run.series[0].offered)
        };
        let statuses = "Status code distribution:\n  [200]\t100 responses\n";
        assert_eq!(of("0.1", "50.0", statuses), Ok(100));
        assert_eq!(of("NaN", "50.0", "Error distribution:\n  [100]\tdial\n"), Ok(100));
        assert_eq!(of("0.1", "5000.0", statuses), Err(HeyError::Counts { sent: 10_000, told: 100 }));
        let cut = &statuses[..statuses.len() - 12];
        assert_eq!(of("0.1", "50.0", cut), Err(HeyError::Counts { sent: 100, told: 10 }));
    }
}

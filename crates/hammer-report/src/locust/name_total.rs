//! What became of one name over a run, and the file of statistics: as the run told it, or out of its report.

use std::io::{self, Write};

use hammer_measure::histogram::Distribution;
use hammer_measure::{Fate, Nanos};

use super::row::{PERCENTILES, Row};
use crate::report::{DurationTable, Durations, Interval, Report, Series, SeriesKind};

/// A name over a run.
#[derive(Default)]
pub(super) struct NameTotal {
    pub(super) requests: u64,
    pub(super) failures: u64,
    pub(super) bytes: u64,
    pub(super) times: Distribution,
}

/// A report that has no histogram of what ended.
#[derive(Debug, thiserror::Error)]
#[error("the response times of {0} have no histogram")]
pub struct NoHistogram(String);

/// `_stats.csv` of a run that has ended: the same as [`super::LocustCsv`] writes of it. Of a run of over 3,600 intervals what is a second's may be a
/// little less: of several intervals that were merged it is not known in which the last answer came.
///
/// # Errors
/// A series whose response times have no histogram.
pub fn stats(report: &Report) -> Result<String, NoHistogram> {
    let mut all = NameTotal::default();
    let mut names = Vec::new();
    for series in &report.series {
        let total = NameTotal::of(series).ok_or_else(|| NoHistogram(series.path.clone()))?;
        if series.kind == SeriesKind::Operation {
            all.add(&total);
        }
        names.push(((series.workload.as_str(), series.name.as_str()), total));
    }
    let start = report.phases.first().map_or(0, |phase| phase.begin_ns);
    let has_answers = |interval: &&Interval| {
        let timed = Fate::ALL.into_iter().filter(|fate| fate.timed());
        let mut fates =
            timed.flat_map(|fate| interval.series.iter().map(move |series| series.fates.of(fate)));
        fates.any(|count| count > 0)
    };
    let last = report.intervals.iter().rfind(has_answers).map_or(0, |interval| interval.at_ns);
    let lasted = Nanos(last).since(Nanos(start)).as_secs_f64();
    let mut text = Vec::new();
    let rows = names.iter().map(|(name, total)| (*name, total)).chain([(AGGREGATED, &all)]);
    let written = write_stats(&mut text, rows, lasted);
    debug_assert!(written.is_ok(), "a vector takes everything");
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Writes the statistics of names, in a run that lasted so many seconds.
pub(super) fn write_stats<'a>(
    out: &mut dyn Write,
    names: impl Iterator<Item = ((&'a str, &'a str), &'a NameTotal)>,
    lasted: f64,
) -> io::Result<()> {
    Row::of(STATS_START).texts(PERCENTILES.map(|(name, _)| name)).write(out)?;
    for (name, total) in names {
        total.row(name, lasted).write(out)?;
    }
    Ok(())
}

impl NameTotal {
    /// Both phases of a series; none where a histogram is missing.
    fn of(series: &Series) -> Option<Self> {
        let mut total = Self::default();
        for figures in [&series.warm_up, &series.measurement] {
            let failed = Fate::ALL.into_iter().filter(|fate| is_failure(*fate, series.refusals_meant));
            total.add(&Self {
                requests: figures.counts.completed,
                failures: failed.map(|fate| figures.counts.fates.of(fate)).sum(),
                bytes: figures.counts.bytes_in,
                times: timed(&figures.durations)?,
            });
        }
        Some(total)
    }

    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.failures += other.failures;
        self.bytes += other.bytes;
        self.times.merge(&other.times);
    }

    fn row(&self, (kind, name): (&str, &str), lasted: f64) -> Row {
        let row = Row::of([kind, name]).texts([self.requests.to_string(), self.failures.to_string()]);
        let row = row.lengths(&self.times).texts([self.content()]);
        let row = row.texts([self.requests, self.failures].map(|count| rate(count, lasted).to_string()));
        if self.requests > 0 { row.percentiles(&self.times) } else { row.without_percentiles() }
    }

    /// Bytes that came for a request.
    pub(super) fn content(&self) -> String {
        (self.bytes as f64 / self.requests.max(1) as f64).to_string()
    }
}

/// Response times of what ended by an answer, a failure or its deadline.
fn timed(durations: &DurationTable) -> Option<Distribution> {
    let mut times = Distribution::default();
    for fate in Fate::ALL.into_iter().filter(|fate| fate.timed()) {
        let of_fate = durations.response_time_by_fate.get(fate.name());
        times.merge(&of_fate.map_or(Some(Distribution::default()), Durations::distribution)?);
    }
    Some(times)
}

/// Whether what ended so counts as a failure; what never was sent is no request.
pub(super) const fn is_failure(fate: Fate, refusals_meant: bool) -> bool {
    fate.timed() && !matches!(fate, Fate::Accepted) && !(refusals_meant && matches!(fate, Fate::Refused))
}

pub(super) fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// The name of all operations together.
pub(super) const AGGREGATED: (&str, &str) = ("", "Aggregated");
const STATS_START: [&str; 11] = [
    "Type",
    "Name",
    "Request Count",
    "Failure Count",
    "Median Response Time",
    "Average Response Time",
    "Min Response Time",
    "Max Response Time",
    "Average Content Size",
    "Requests/s",
    "Failures/s",
];

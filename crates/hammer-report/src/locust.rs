//! The run in the columns of Locust's CSV files (2.47: `PREFIX_stats.csv`, `PREFIX_stats_history.csv`, `PREFIX_failures.csv`), for those
//! who have tools for them. `docs/report.md` says what stands for what.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;

use hammer_measure::histogram::Distribution;
use hammer_measure::snapshot::{ResponseInterval, RunInfo, RunResult, SeriesFigures, Snapshot};
use hammer_measure::{Detail, Fate, Nanos, Reporter, RunEvent};

use crate::builder::rfc3339;

mod name_total;
mod row;

use name_total::{AGGREGATED, NameTotal, is_failure, rate, write_stats};
use row::{PERCENTILES, Row};

pub use name_total::{NoHistogram, stats};

/// Where the files go.
pub struct LocustWriters {
    /// `_stats.csv`: a row for each series, written at the end.
    pub stats: Box<dyn Write + Send>,
    /// `_stats_history.csv`: a row a second for each series.
    pub history: Box<dyn Write + Send>,
    /// `_failures.csv`: a row for each cause of failures, written at the end.
    pub failures: Box<dyn Write + Send>,
}

/// Writes the files. It needs [`Snapshot::responses`], which a run keeps where it is asked to.
pub struct LocustCsv {
    writers: LocustWriters,
    info: Option<Arc<RunInfo>>,
    start: Option<Nanos>,
    /// The end of the last interval in which something ended.
    last: Nanos,
    names: Vec<NameHistory>,
    /// All operations together.
    aggregated: NameHistory,
    failures: Vec<FailureRow>,
    written: Option<u64>,
    /// How many users there were in an interval that ended in a second which has its rows.
    unwritten: Option<String>,
    error: Option<io::Error>,
}

/// What became of one name so far, and over the last seconds.
#[derive(Default)]
struct NameHistory {
    window: VecDeque<NameInterval>,
    total: NameTotal,
}

/// A name in an interval.
struct NameInterval {
    at: Nanos,
    span: Nanos,
    requests: u64,
    failures: u64,
    times: Distribution,
}

/// A cause of failures.
struct FailureRow {
    series: usize,
    cause: (Fate, Detail),
    count: u64,
    first: Nanos,
    last: Nanos,
}

impl LocustCsv {
    /// Writes to those, which the caller opened before the first request.
    pub fn new(writers: LocustWriters) -> Self {
        Self {
            writers,
            info: None,
            start: None,
            last: Nanos::ZERO,
            names: Vec::new(),
            aggregated: NameHistory::default(),
            failures: Vec::new(),
            written: None,
            unwritten: None,
            error: None,
        }
    }

    /// Flushes, and says whether everything was written.
    ///
    /// # Errors
    /// The first error of a writer; nothing was written after it.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.writers.stats.flush()?;
        self.writers.history.flush()?;
        self.writers.failures.flush()
    }

    fn take(&mut self, event: &RunEvent) -> io::Result<()> {
        match event {
            RunEvent::Started(info) => {
                self.names = info.series.iter().map(|_| NameHistory::default()).collect();
                self.info = Some(Arc::clone(info));
                Row::of(HISTORY_START)
                    .texts(PERCENTILES.map(|(name, _)| name))
                    .texts(TOTALS)
                    .write(&mut self.writers.history)
            }
            RunEvent::Phase { at, .. } => {
                self.start.get_or_insert(*at);
                Ok(())
            }
            RunEvent::Interval(snapshot) => self.interval(snapshot),
            RunEvent::Finished(result) => self.end(result),
            _ => Ok(()),
        }
    }

    fn interval(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        let Some(info) = self.info.clone() else { return Ok(()) };
        let mut all = NameInterval::empty(snapshot.at, snapshot.span);
        let mut bytes = 0;
        for (place, series) in info.series.iter().enumerate() {
            let (Some(figures), Some(responses)) =
                (snapshot.series.get(place), snapshot.responses.get(place))
            else {
                continue;
            };
            self.failed(place, &figures.interval, snapshot.at, series.refusals_meant);
            let one = NameInterval::of(snapshot, &figures.interval, responses, series.refusals_meant);
            if one.requests > 0 {
                self.last = snapshot.at;
            }
            if series.operation {
                all.add(&one);
                bytes += figures.interval.bytes_in;
            }
            self.names[place].push(one, figures.interval.bytes_in);
        }
        self.aggregated.push(all, bytes);
        let second = snapshot.at.0 / SECOND.0;
        let users = snapshot
            .responses
            .iter()
            .map(|responses| responses.user_time)
            .fold(Nanos::ZERO, |sum, time| sum + time);
        let open: i64 = (info.series.iter().zip(&snapshot.series))
            .filter(|(series, _)| series.operation && !series.closed_loop)
            .map(|(_, figures)| figures.warm_up.in_flight + figures.measurement.in_flight)
            .sum();
        let present =
            (users.as_secs_f64() / snapshot.span.as_secs_f64().max(f64::MIN_POSITIVE)).round() as i64;
        let users = (present + open).to_string();
        if self.written.replace(second) == Some(second) {
            self.unwritten = Some(users);
            return Ok(());
        }
        self.unwritten = None;
        self.rows(&info, second, users)
    }

    /// A row of each name as it is at that second of the run.
    fn rows(&mut self, info: &RunInfo, second: u64, users: String) -> io::Result<()> {
        let before = [(info.epoch_unix_ms / 1_000 + second).to_string(), users];
        for (series, name) in info.series.iter().zip(&self.names) {
            name.history(&before, (&series.workload, &series.name)).write(&mut self.writers.history)?;
        }
        self.aggregated.history(&before, AGGREGATED).write(&mut self.writers.history)
    }

    fn failed(&mut self, series: usize, figures: &SeriesFigures, at: Nanos, refusals_meant: bool) {
        for (fate, detail, count) in &figures.failures {
            if !is_failure(*fate, refusals_meant) {
                continue;
            }
            let cause = (*fate, *detail);
            match self.failures.iter_mut().find(|known| (known.series, known.cause) == (series, cause)) {
                Some(known) => (known.count, known.last) = (known.count + count, at),
                None => self.failures.push(FailureRow { series, cause, count: *count, first: at, last: at }),
            }
        }
    }

    fn end(&mut self, result: &RunResult) -> io::Result<()> {
        let Some(info) = self.info.clone() else { return Ok(()) };
        // What ended behind the last whole second is in no row yet: by the next one all of it has.
        if let (Some(users), Some(second)) = (self.unwritten.take(), self.written) {
            self.rows(&info, second + 1, users)?;
        }
        let lasted = self.last.since(self.start.unwrap_or_default()).as_secs_f64();
        let names = info.series.iter().zip(&self.names);
        let names =
            names.map(|(series, name)| ((series.workload.as_str(), series.name.as_str()), &name.total));
        write_stats(&mut self.writers.stats, names.chain([(AGGREGATED, &self.aggregated.total)]), lasted)?;
        Row::of(FAILURES).write(&mut self.writers.failures)?;
        let instant = |at: Nanos| {
            let millis = info.epoch_unix_ms + at.0 / 1_000_000;
            rfc3339(millis / 1_000 * 1_000).replace(".000Z", "Z")
        };
        for failure in &self.failures {
            let FailureRow { series, cause: (fate, detail), count, first, last } = failure;
            let series = &info.series[*series];
            let error = match detail {
                Detail::None => fate.name().replace('_', " "),
                detail => detail.to_string(),
            };
            let row = Row::of([&series.workload, &series.name, &error]);
            row.texts([count.to_string(), instant(*first), instant(*last)])
                .write(&mut self.writers.failures)?;
        }
        debug_assert_eq!(result.total.series.len(), info.series.len(), "one run has one list of series");
        Ok(())
    }
}

impl Reporter for LocustCsv {
    fn event(&mut self, event: &RunEvent) {
        if self.error.is_none() {
            self.error = self.take(event).err();
        }
    }
}

impl NameInterval {
    fn empty(at: Nanos, span: Nanos) -> Self {
        Self { at, span, requests: 0, failures: 0, times: Distribution::default() }
    }

    fn of(
        snapshot: &Snapshot,
        figures: &SeriesFigures,
        responses: &ResponseInterval,
        refusals_meant: bool,
    ) -> Self {
        let failed = Fate::ALL.into_iter().filter(|fate| is_failure(*fate, refusals_meant));
        Self {
            requests: figures.completed,
            failures: failed.map(|fate| figures.fate(fate)).sum(),
            times: responses.times.clone(),
            ..Self::empty(snapshot.at, snapshot.span)
        }
    }

    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.failures += other.failures;
        self.times.merge(&other.times);
    }
}

impl NameHistory {
    fn push(&mut self, interval: NameInterval, bytes: u64) {
        let NameInterval { requests, failures, ref times, .. } = interval;
        self.total.times.merge(times);
        self.total.requests += requests;
        self.total.failures += failures;
        self.total.bytes += bytes;
        let start = interval.at.since(WINDOW);
        self.window.push_back(interval);
        // What began before the window is out of it, unless it is all there is.
        while self.window.len() > 1 && self.window.front().is_some_and(|first| first.at <= start) {
            self.window.pop_front();
        }
    }

    /// A row of the history, behind those fields.
    fn history(&self, before: &[String], (kind, name): (&str, &str)) -> Row {
        let mut window = NameInterval::empty(Nanos::ZERO, Nanos::ZERO);
        for interval in &self.window {
            window.add(interval);
            window.span += interval.span;
        }
        let per_second = |count: u64| format!("{:.6}", rate(count, window.span.as_secs_f64()));
        let row = Row::of(before)
            .texts([kind, name])
            .texts([per_second(window.requests), per_second(window.failures)]);
        let total = &self.total;
        let row = if total.requests > 0 { row.percentiles(&window.times) } else { row.without_percentiles() };
        row.texts([total.requests.to_string(), total.failures.to_string()])
            .lengths(&total.times)
            .texts([total.content()])
    }
}

const SECOND: Nanos = Nanos::from_secs(1);
const WINDOW: Nanos = Nanos::from_secs(10);
const HISTORY_START: [&str; 6] = ["Timestamp", "User Count", "Type", "Name", "Requests/s", "Failures/s"];
const TOTALS: [&str; 7] = [
    "Total Request Count",
    "Total Failure Count",
    "Total Median Response Time",
    "Total Average Response Time",
    "Total Min Response Time",
    "Total Max Response Time",
    "Total Average Content Size",
];
const FAILURES: [&str; 6] = ["Method", "Name", "Error", "Occurrences", "First Seen", "Last Seen"];

#[cfg(test)]
mod tests;

//! The response times of a window of a run, of the interval log that the run wrote.

use std::io::{self, BufRead, Read};

use hammer_measure::histogram::{Distribution, PayloadError};
use hammer_measure::interval_log::{LogLine, LoggedInterval};
use hammer_measure::{Nanos, shown};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::tag::tag;
use crate::report::response_times::ResponseTimeline;
use crate::report::{Report, ResponseTimes};
use crate::window::Window;

/// What an interval log has of a window of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedTimes {
    /// By series, in the order of the report's. Of what ended alone: what never did is in no log. Beyond 600 intervals neighbours are added up.
    pub series: Vec<ResponseTimes>,
    /// The intervals of the window in which something ended.
    pub intervals: u64,
    /// Of the intervals those that were added up to another one.
    pub merged: u64,
}

/// A log that is not read.
#[derive(Debug, thiserror::Error)]
pub enum LoggedTimesError {
    /// A line of it, from 1, is at fault; the last one where the whole is.
    #[error("line {line}: {fault}")]
    Line {
        /// Its number.
        line: u64,
        /// What is wrong.
        fault: LogFault,
    },
    /// The report does not say what the log is held against.
    #[error("the report {0}")]
    Report(String),
}

/// What is wrong with a log.
#[derive(Debug, thiserror::Error)]
pub enum LogFault {
    /// It cannot be read.
    #[error("{0}")]
    Unread(#[from] io::Error),
    /// A line without its end.
    #[error("it is cut off")]
    CutOff,
    /// A line that no log has.
    #[error("it is longer than {MOST_LINE} bytes")]
    Long,
    /// So many comments that there is no end to them.
    #[error("there are more than {MOST_COMMENTS} comments")]
    Comments,
    /// No line of a log.
    #[error("it is no line of an interval log of HdrHistogram")]
    Foreign,
    /// Another start than the run's.
    #[error("its {named} is {found}, and the run started at {expected}: it is the log of another run")]
    Start {
        /// `StartTime` or `BaseTime`.
        named: &'static str,
        /// Seconds since the Unix epoch.
        found: String,
        /// The run's epoch, likewise.
        expected: String,
    },
    /// A second start: two logs, one behind the other.
    #[error("there is a second {0}")]
    StartTwice(&'static str),
    /// Nobody knows what its instants are since.
    #[error("no line says StartTime and BaseTime before it")]
    NoStart,
    /// No tag, or that of another run's series.
    #[error("its tag `{0}` is that of no series of the report")]
    Tag(String),
    /// An interval before that of the line above, or within it.
    #[error("its interval starts at {start}, before that of the line above is over")]
    Order {
        /// Its start.
        start: Nanos,
    },
    /// A second line of a series and an interval.
    #[error("there is a line of `{0}` for this interval above")]
    Twice(String),
    /// An interval beyond the end of the run.
    #[error("its interval ends at {end}, and the run ended at {run}")]
    Beyond {
        /// Its end.
        end: Nanos,
        /// The run's.
        run: Nanos,
    },
    /// A histogram that cannot be read.
    #[error("failed to {0}")]
    Payload(#[from] PayloadError),
    /// A histogram of nothing, which no writer writes a line for.
    #[error("its histogram is empty")]
    Empty,
    /// A histogram whose longest is another than the line says.
    #[error("its maximum is {said} ms, and its histogram's {found} ms")]
    Longest {
        /// Milliseconds.
        said: String,
        /// Likewise.
        found: String,
    },
    /// More or fewer response times than the run had.
    #[error("of {path} it has {found} response times so far, and the report {expected}")]
    Count {
        /// The series.
        path: String,
        /// Those in the log.
        found: u64,
        /// Those that the report says have ended.
        expected: u64,
    },
}

/// A series, and what was read of it.
struct LoggedSeries<'a> {
    path: &'a str,
    tag: String,
    /// Those that ended, as the report has it.
    expected: u64,
    found: u64,
}

/// The lines of an interval.
#[derive(Default)]
struct OpenInterval {
    start: Nanos,
    span: Nanos,
    /// By series, empty where it has no line.
    times: Vec<Distribution>,
}

/// A log as far as it was read.
struct Reading<'a> {
    window: Window,
    /// The end of the run.
    end: Nanos,
    epoch: Nanos,
    /// Whether it was said what instants are since: `StartTime`, `BaseTime`.
    started: [bool; 2],
    comments: u64,
    series: Vec<LoggedSeries<'a>>,
    open: Option<OpenInterval>,
    timeline: ResponseTimeline,
    /// The end of the last interval of the window.
    charted_to: Option<Nanos>,
    intervals: u64,
    /// Those without a line, in which nothing ended.
    silent: u64,
}

impl LoggedTimes {
    /// Reads all of a log, and keeps what is of the window. The memory for it has a bound, whatever is read.
    ///
    /// # Errors
    /// Where it is not the whole log of that run: its tags, its start, and of each series the response times of what ended are the report's.
    pub fn read(mut log: impl BufRead, report: &Report, window: Window) -> Result<Self, LoggedTimesError> {
        let mut reading = Reading::of(report, window)?;
        let (mut text, mut line) = (Vec::new(), 0);
        loop {
            text.clear();
            let at = |fault| LoggedTimesError::Line { line: line + 1, fault };
            let read = log.by_ref().take(MOST_LINE).read_until(b'\n', &mut text);
            match read.map_err(|error| at(error.into()))? {
                0 => break,
                _ if text.ends_with(b"\n") => {}
                length if length as u64 == MOST_LINE => return Err(at(LogFault::Long)),
                _ => return Err(at(LogFault::CutOff)),
            }
            reading.line(&text).map_err(at)?;
            line += 1;
        }
        reading.finish().map_err(|fault| LoggedTimesError::Line { line, fault })
    }
}

impl<'a> Reading<'a> {
    fn of(report: &'a Report, window: Window) -> Result<Self, LoggedTimesError> {
        let failed = |why: String| LoggedTimesError::Report(why);
        let epoch = OffsetDateTime::parse(&report.run.epoch, &Rfc3339).ok();
        let epoch = epoch.and_then(|epoch| u64::try_from(epoch.unix_timestamp_nanos()).ok());
        let epoch = epoch.ok_or_else(|| failed("does not say when the run was".to_owned()))?;
        if report.response_times.is_empty() {
            return Err(failed("has no response times, which a log is held against".to_owned()));
        }
        let mut series: Vec<LoggedSeries<'a>> = Vec::with_capacity(report.response_times.len());
        for times in &report.response_times {
            let tag = tag(&times.path);
            if let Some(other) = series.iter().find(|of| of.tag == tag) {
                return Err(failed(format!(
                    "has two series with the tag `{tag}`: {} and {}",
                    other.path, times.path
                )));
            }
            let ended = times.stretches.iter().map(|stretch| stretch.count.saturating_sub(stretch.infinite));
            let expected = ended.fold(0, u64::saturating_add);
            series.push(LoggedSeries { path: &times.path, tag, expected, found: 0 });
        }
        Ok(Self {
            window,
            end: Window::whole(report).to(),
            epoch: Nanos(epoch),
            started: [false; 2],
            comments: 0,
            series,
            open: None,
            timeline: ResponseTimeline::default(),
            charted_to: None,
            intervals: 0,
            silent: 0,
        })
    }

    fn line(&mut self, text: &[u8]) -> Result<(), LogFault> {
        match LogLine::read(text).ok_or(LogFault::Foreign)? {
            LogLine::StartTime(at) => self.start(0, at),
            LogLine::BaseTime(at) => self.start(1, at),
            LogLine::Interval(interval) => self.interval(&interval),
            LogLine::Comment if self.comments >= MOST_COMMENTS => Err(LogFault::Comments),
            LogLine::Comment => {
                self.comments += 1;
                Ok(())
            }
        }
    }

    fn start(&mut self, place: usize, at: Nanos) -> Result<(), LogFault> {
        let named = ["StartTime", "BaseTime"][place];
        if std::mem::replace(&mut self.started[place], true) {
            return Err(LogFault::StartTwice(named));
        }
        if at != self.epoch {
            let [found, expected] = [at, self.epoch].map(|at| format!("{:.3}", at.as_secs_f64()));
            return Err(LogFault::Start { named, found, expected });
        }
        Ok(())
    }

    fn interval(&mut self, interval: &LoggedInterval<'_>) -> Result<(), LogFault> {
        if self.started != [true; 2] {
            return Err(LogFault::NoStart);
        }
        let named = interval.tag.unwrap_or_default();
        let place = self.series.iter().position(|of| of.tag == named);
        let place = place.ok_or_else(|| LogFault::Tag(shown(named, MOST_TAG).into_owned()))?;
        let times = Distribution::from_payload(interval.payload, 0)?;
        if times.count() == 0 {
            return Err(LogFault::Empty);
        }
        let found = times.longest().0 as f64 / 1e6;
        // A line has three decimals.
        if interval.longest.is_nan() || (found - interval.longest).abs() > 0.001 {
            let [said, found] = [interval.longest, found].map(|longest| format!("{longest:.3}"));
            return Err(LogFault::Longest { said, found });
        }
        let series = &mut self.series[place];
        series.found = series.found.saturating_add(times.count());
        if series.found > series.expected {
            return Err(series.differs());
        }
        self.add(interval, place, times)
    }

    fn add(
        &mut self,
        interval: &LoggedInterval<'_>,
        place: usize,
        times: Distribution,
    ) -> Result<(), LogFault> {
        let LoggedInterval { start, span, .. } = *interval;
        let end = Nanos(start.0.saturating_add(span.0));
        if end > self.end.saturating_add(ROUNDING) {
            return Err(LogFault::Beyond { end, run: self.end });
        }
        let is_next = match &self.open {
            None => true,
            Some(open) if (open.start, open.span) == (start, span) => false,
            Some(open) if start + ROUNDING < open.start + open.span => return Err(LogFault::Order { start }),
            Some(_) => true,
        };
        if is_next {
            self.close();
        }
        let count = self.series.len();
        let open = self.open.get_or_insert_with(|| OpenInterval {
            start,
            span,
            times: vec![Distribution::default(); count],
        });
        let before = std::mem::replace(&mut open.times[place], times);
        if before.count() > 0 {
            return Err(LogFault::Twice(self.series[place].path.to_owned()));
        }
        Ok(())
    }

    /// What is open is whole.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let end = open.start + open.span;
        if !self.window.has(end.0, open.span.0) {
            return;
        }
        // A log has no line where nothing ended: a chart has a gap there.
        let times: Vec<_> = open.times.iter().collect();
        if let Some(charted_to) = self.charted_to {
            let silence = open.start.since(charted_to);
            if silence.0 > open.span.0 / 2 {
                let nothing = Distribution::default();
                self.timeline.push_ended((open.start, silence), &vec![&nothing; times.len()]);
                self.silent += 1;
            }
        }
        self.timeline.push_ended((end, open.span), &times);
        self.charted_to = Some(end);
        self.intervals += 1;
    }

    fn finish(mut self) -> Result<LoggedTimes, LogFault> {
        if self.started != [true; 2] {
            return Err(LogFault::NoStart);
        }
        if let Some(series) = self.series.iter().find(|series| series.found != series.expected) {
            return Err(series.differs());
        }
        self.close();
        let paths: Vec<_> = self.series.iter().map(|series| series.path.to_owned()).collect();
        let series = self.timeline.of_series(&paths);
        let stretches = series.first().map_or(0, |times| times.stretches.len() as u64);
        Ok(LoggedTimes {
            series,
            intervals: self.intervals,
            merged: (self.intervals + self.silent).saturating_sub(stretches),
        })
    }
}

impl LoggedSeries<'_> {
    fn differs(&self) -> LogFault {
        LogFault::Count { path: self.path.to_owned(), found: self.found, expected: self.expected }
    }
}

/// Bytes of a line at most: more than a histogram with something at each of its places takes.
const MOST_LINE: u64 = 1 << 20;
/// Comments of a log at most.
const MOST_COMMENTS: u64 = 10_000;
/// Bytes of a tag that are shown.
const MOST_TAG: usize = 80;
/// Instants of a log are whole milliseconds: two that are the same may be one apart.
const ROUNDING: Nanos = Nanos::from_millis(2);

#[cfg(test)]
mod tests;

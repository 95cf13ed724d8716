//! The stream of a run: one JSON object a line, as it happens. `docs/events.md` says the same in prose.

use std::io::{self, Write};

use hammer_measure::headline::Headline;
use hammer_measure::snapshot::{PeerInterval, RunInfo, RunResult, SeriesSnapshot, Snapshot};
use hammer_measure::{Reporter, RunEvent, SeriesInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builder::rfc3339;
use crate::report::{
    Breach, Counts, DurationTable, Event, Health, PhaseName, PhaseSpan, PromiseCounts, Resources, SeriesKind,
    Threshold,
};

/// The version of the lines. A change that can break a reader raises the number.
pub const SCHEMA: &str = "hammer.events/1";

/// Writes each event as a line, and flushes it, so that a reader follows the run.
pub struct EventsWriter {
    writer: Box<dyn Write + Send>,
    series: Vec<SeriesInfo>,
    error: Option<io::Error>,
}

/// One line: `event` says which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Line {
    /// The first, an interval, or the last.
    Frame(Box<Frame>),
    /// A phase, a command, a breach, a note, a hook or a mark, as in the report.
    Event(Event),
}

/// A line that carries the state of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Frame {
    /// The run is about to send: the first line.
    Started(Started),
    /// An interval ended.
    Interval(IntervalLine),
    /// The run ended: the last line.
    Finished(Finished),
}

/// What the run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// `hammer.events/1`.
    pub schema: String,
    /// The wall clock at the epoch, RFC 3339 with milliseconds, UTC.
    pub epoch: String,
    /// The seed, a decimal integer below 2^64.
    pub seed: String,
    /// Shards that send.
    pub shards: u64,
    /// Planned length of warm-up.
    pub warm_up_ns: u64,
    /// Planned length of measurement; `null` when something else is to end it.
    pub measurement_ns: Option<u64>,
    /// How many operations are to be accepted, where the run is a fill ahead of the measured one; `null` of any other.
    #[serde(default)]
    pub fill_operations: Option<u64>,
    /// The series, in the order of every interval.
    pub series: Vec<StartedSeries>,
    /// The observations that a reader is to see first, in that order.
    #[serde(default)]
    pub headlines: Vec<StartedHeadline>,
}

/// An observation that a reader is to see first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartedHeadline {
    /// Its name; that of a named target (`<target>/<observation>`) is meant as well.
    pub observation: String,
    /// What a reader calls it.
    pub label: String,
    /// Whether it is a size, of which the growth says something, and not a level that goes up and down.
    pub grows: bool,
}

/// What one series is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartedSeries {
    /// `workload/name`.
    pub path: String,
    /// The workload that it belongs to.
    pub workload: String,
    /// Its name within the workload.
    pub name: String,
    /// Whole operations, or one step within them.
    pub kind: SeriesKind,
    /// Whether users wait for answers, so that waiting is not in the figures.
    pub closed_loop: bool,
    /// Whether what it sends is wrong on purpose, so that a refusal is an answer as good as acceptance.
    #[serde(default)]
    pub refusals_meant: bool,
}

/// The state of the run at the end of an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalLine {
    /// The interval's number, from 0.
    pub index: u64,
    /// Its end, nanoseconds since the epoch.
    pub at_ns: u64,
    /// Its length.
    pub span_ns: u64,
    /// The phase that its middle lies in.
    pub phase: PhaseName,
    /// By series.
    pub series: Vec<SeriesLine>,
    /// What went to each peer of the services that have several, over this interval; absent where none has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerLine>,
    /// Promises of all workloads so far.
    pub promises: PromiseCounts,
    /// What observers saw last; a number that JSON cannot say is left out.
    pub observations: Vec<ObservationLine>,
    /// Whether the generator kept its plan so far.
    pub health: Health,
    /// What the process used so far.
    pub resources: Resources,
}

/// One series at the end of an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesLine {
    /// `workload/name`.
    pub path: String,
    /// This interval alone, both phases together; `backlog` and `in_flight` are changes.
    pub interval: IntervalFigures,
    /// Warm-up so far.
    pub warm_up: Counts,
    /// Measurement so far.
    pub measurement: Counts,
}

/// What went to a peer of a service that has several, over one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerLine {
    /// The service's name, as in the report's `connections`.
    pub service: String,
    /// The peer's address and port.
    pub peer: String,
    /// Exchanges that ended on one of its connections, however they ended.
    pub requests: u64,
    /// Its share of those of the service, 0 to 1; 0 where nothing was sent to any.
    pub share: f64,
    /// Those of them that got no whole answer.
    pub failures: u64,
    /// Whole answers that say that the peer failed or has too much to do.
    pub error_answers: u64,
    /// Dials to it that made no connection.
    pub failed_dials: u64,
}

/// The figures of one series over one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalFigures {
    /// Arrivals and their fates.
    #[serde(flatten)]
    pub counts: Counts,
    /// The durations, without payloads and not by fate.
    pub durations: DurationTable,
}

/// A number that an observer saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationLine {
    /// What it is.
    pub name: String,
    /// When it was seen, nanoseconds since the epoch.
    pub at_ns: u64,
    /// Its value.
    pub value: f64,
}

/// How the run ended; the report says the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finished {
    /// Why the arrivals ended.
    pub stopped: String,
    /// Whether a signal ended it.
    pub interrupted: bool,
    /// The phases as they really were.
    pub phases: Vec<PhaseSpan>,
    /// Promises of all workloads.
    pub promises: PromiseCounts,
    /// The first broken promises, named.
    pub breaches: Vec<Breach>,
    /// The thresholds, judged.
    pub thresholds: Vec<Threshold>,
    /// Whether the generator kept its plan.
    pub health: Health,
}

impl EventsWriter {
    /// Writes to `writer`, which the caller opened before the first request.
    pub fn new(writer: Box<dyn Write + Send>) -> Self {
        Self { writer, series: Vec::new(), error: None }
    }

    /// Flushes, and says whether every line was written.
    ///
    /// # Errors
    /// The first error of the writer; nothing was written after it.
    pub fn finish(mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.writer.flush(),
        }
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.writer.write_all(&bytes)?;
        self.writer.flush()
    }
}

impl Reporter for EventsWriter {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Started(info) = event {
            self.series.clone_from(&info.series);
        }
        if self.error.is_some() {
            return;
        }
        if let Some(line) = Line::of(event, &self.series) {
            self.error = self.write(&line).err();
        }
    }
}

impl Line {
    /// The line of an event; `series` names them. None of what is shown alone, while the run goes on.
    fn of(event: &RunEvent, series: &[SeriesInfo]) -> Option<Self> {
        let frame = match event {
            RunEvent::Started(info) => Frame::Started(Started::of(info)),
            RunEvent::Interval(snapshot) => Frame::Interval(IntervalLine::of(snapshot, series)),
            RunEvent::Finished(result) => Frame::Finished(Finished::of(result)),
            _ => return Event::of(event).map(Self::Event),
        };
        Some(Self::Frame(Box::new(frame)))
    }
}

impl Started {
    fn of(info: &RunInfo) -> Self {
        let series = info.series.iter().map(|series| StartedSeries {
            path: series.path(),
            workload: series.workload.clone(),
            name: series.name.clone(),
            kind: SeriesKind::of(series),
            closed_loop: series.closed_loop,
            refusals_meant: series.refusals_meant,
        });
        Self {
            schema: SCHEMA.to_owned(),
            epoch: rfc3339(info.epoch_unix_ms),
            seed: info.seed.to_string(),
            shards: info.shards as u64,
            warm_up_ns: info.warm_up.0,
            measurement_ns: info.measurement.map(|measurement| measurement.0),
            fill_operations: info.goal,
            series: series.collect(),
            headlines: info.headlines.iter().map(StartedHeadline::of).collect(),
        }
    }
}

impl StartedHeadline {
    fn of(headline: &Headline) -> Self {
        let Headline { observation, label, grows } = headline.clone();
        Self { observation, label, grows }
    }
}

impl IntervalLine {
    fn of(snapshot: &Snapshot, series: &[SeriesInfo]) -> Self {
        let series = || series.iter().zip(&snapshot.series);
        let operations = series().filter(|(info, _)| info.operation);
        let completed = operations.map(|(_, s)| s.warm_up.completed + s.measurement.completed).sum();
        let observations = snapshot.observations.iter().filter(|seen| seen.value.is_finite());
        let observations = observations.map(|seen| ObservationLine {
            name: seen.name.clone(),
            at_ns: seen.at.0,
            value: seen.value,
        });
        Self {
            index: snapshot.index,
            at_ns: snapshot.at.0,
            span_ns: snapshot.span.0,
            phase: snapshot.phase.into(),
            series: series().map(SeriesLine::of).collect(),
            peers: PeerLine::all(&snapshot.peers),
            promises: snapshot.promises.into(),
            observations: observations.collect(),
            health: Health::from(&snapshot.health),
            resources: Resources::of(&snapshot.resources, completed),
        }
    }
}

impl PeerLine {
    fn all(peers: &[PeerInterval]) -> Vec<Self> {
        let one = |of: &PeerInterval| {
            let same = peers.iter().filter(|other| other.service == of.service);
            let all: u64 = same.map(|other| other.counts.requests).sum();
            Self {
                service: of.service.clone(),
                peer: of.peer.to_string(),
                requests: of.counts.requests,
                share: of.counts.requests as f64 / all.max(1) as f64,
                failures: of.counts.failures,
                error_answers: of.counts.error_answers,
                failed_dials: of.counts.failed_dials,
            }
        };
        peers.iter().map(one).collect()
    }
}

impl SeriesLine {
    fn of((info, series): (&SeriesInfo, &SeriesSnapshot)) -> Self {
        Self {
            path: info.path(),
            interval: IntervalFigures {
                counts: Counts::from(&series.interval),
                durations: DurationTable::from(&series.interval),
            },
            warm_up: Counts::from(&series.warm_up),
            measurement: Counts::from(&series.measurement),
        }
    }
}

impl Finished {
    fn of(result: &RunResult) -> Self {
        Self {
            stopped: result.stopped.clone(),
            interrupted: result.interrupted,
            phases: result.phases.iter().map(PhaseSpan::from).collect(),
            promises: result.promises.into(),
            breaches: result.breaches.iter().map(Breach::from).collect(),
            thresholds: result.verdicts.iter().map(Threshold::from).collect(),
            health: Health::of_run(&result.health, &result.total.alarms[1]),
        }
    }
}

#[cfg(test)]
mod tests;

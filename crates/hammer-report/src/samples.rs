//! Single operations of a run: one JSON object a line, as its intervals end. `docs/samples.md` says the same in prose.

use std::io::{self, Write};

use hammer_measure::recorder::phase_index;
use hammer_measure::snapshot::{RunInfo, RunResult, Snapshot};
use hammer_measure::{
    Detail, OperationSample, Phase, Reporter, RunEvent, SampleSizes, SampledWire, SeriesInfo, SeriesSamples,
    StepSample,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builder::rfc3339;
use crate::report::PhaseName;

/// The version of the lines. A change that can break a reader raises the number.
pub const SCHEMA: &str = "hammer.samples/1";

/// Writes the operations that are kept of each interval, and flushes them, so that a reader follows the run.
pub struct SamplesWriter {
    writer: Box<dyn Write + Send>,
    sizes: SampleSizes,
    series: Vec<SeriesInfo>,
    error: Option<io::Error>,
}

/// One line: `line` says which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum SamplesLine {
    /// The run is about to send: the first line.
    Started(SampledRun),
    /// An operation that ended.
    Operation(Box<SampledOperation>),
    /// The run ended: the last line.
    Finished(SampledEnd),
}

/// What the run is, and how many of its operations are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledRun {
    /// `hammer.samples/1`.
    pub schema: String,
    /// The wall clock at the epoch, RFC 3339 with milliseconds, UTC.
    pub epoch: String,
    /// The seed, a decimal integer below 2^64.
    pub seed: String,
    /// How many of the slowest are kept at most of each series, interval and phase.
    pub slowest: u64,
    /// How many are kept at most as a uniform sample, likewise.
    pub uniform: u64,
}

/// An operation. Instants are nanoseconds since the epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledOperation {
    /// `workload/name`.
    pub series: String,
    /// The number of the interval in which its fate was known, from 0.
    pub interval: u64,
    /// The phase that it was intended in.
    pub phase: PhaseName,
    /// Whether it is one of the slowest.
    pub slowest: bool,
    /// Of the uniform sample: how many operations it stands for; `null` of what is among the slowest alone. Those of a series, interval and
    /// phase add up to its `population`.
    pub weight: Option<u64>,
    /// How many operations of its series and phase got their fate in the interval.
    pub population: u64,
    /// Its sequence number.
    pub seq: u64,
    /// What it was of (`leaf`, `device`, `document`, `row`); `null` where its workload counts nothing of the kind, or it was never started.
    pub of: Option<String>,
    /// The number of that, from 0.
    pub index: Option<u64>,
    /// How it ended.
    pub fate: String,
    /// The cause behind that; `null` where there is none.
    pub cause: Option<String>,
    /// What the server said with a failure, or why it said nothing, of the first of its cause in an interval; else `null`.
    pub answer: Option<String>,
    /// The instant that the plan named.
    pub intended_ns: u64,
    /// When it was moved out of the schedule; `null` of what never was.
    pub released_ns: Option<u64>,
    /// When it got a slot; `null` where it never did.
    pub started_ns: Option<u64>,
    /// What it was on the wire.
    #[serde(flatten)]
    pub wire: SampledExchange,
    /// When the last byte of its answer arrived, it failed, or its fate was known otherwise.
    pub done_ns: u64,
    /// Done − intended; `null` of what never ended (shed, starved, abandoned), which counts as infinite.
    pub response_time_ns: Option<u64>,
    /// The parts of its response time, and its read lag.
    #[serde(flatten)]
    pub waits: SampledWaits,
    /// Its steps, as they ended; none where it is a single exchange.
    pub steps: Vec<SampledStep>,
}

/// What an operation waited for; `null` where it did not come to that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SampledWaits {
    /// Released − intended: the generator's own lateness.
    pub dispatch_lag_ns: Option<u64>,
    /// Started − released: waiting for a free slot.
    pub backlog_wait_ns: Option<u64>,
    /// Sent − started: pool, dial, TLS, stream slot.
    pub connection_wait_ns: Option<u64>,
    /// Done − sent.
    pub service_time_ns: Option<u64>,
    /// What of a flow lies in none of its exchanges; `null` of a single exchange.
    pub client_time_ns: Option<u64>,
    /// How much later than the kernel had them its answers were read; no part of response time.
    pub read_lag_ns: Option<u64>,
}

/// An operation, or a step, on the wire: of several exchanges the first that came to each instant, and the sums of their bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledExchange {
    /// When the connection was ready that was dialled for it; `null` where one was there, or none was made.
    pub connected_ns: Option<u64>,
    /// The first byte was handed to a connection that was ready; `null` where none was.
    pub sent_ns: Option<u64>,
    /// The first byte of an answer arrived.
    pub first_byte_ns: Option<u64>,
    /// The last byte of the answer was read; `null` where none was, or nobody knows when it had arrived.
    pub read_ns: Option<u64>,
    /// Bytes handed to connections.
    pub bytes_out: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// Whether its bytes left this machine twice.
    pub resent: bool,
    /// Whether it went over to another connection before anything of it had left.
    pub redialled: bool,
    /// The peer's address and port; `null` where no connection carried it.
    pub peer: Option<String>,
}

/// A step of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledStep {
    /// The name of its series within the workload.
    pub name: String,
    /// When it started.
    pub started_ns: u64,
    /// What it was on the wire.
    #[serde(flatten)]
    pub wire: SampledExchange,
    /// When the last byte of its answer arrived, or it failed.
    pub done_ns: u64,
    /// How it ended.
    pub fate: String,
    /// The cause behind that; `null` where there is none.
    pub cause: Option<String>,
}

/// How the run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledEnd {
    /// Why the arrivals ended.
    pub stopped: String,
    /// Whether a signal ended it.
    pub interrupted: bool,
}

impl SamplesWriter {
    /// Writes to `writer`, which the caller opened before the first request, what is kept in those sizes.
    pub fn new(writer: Box<dyn Write + Send>, sizes: SampleSizes) -> Self {
        Self { writer, sizes, series: Vec::new(), error: None }
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

    fn lines(&self, event: &RunEvent) -> Vec<SamplesLine> {
        match event {
            RunEvent::Started(info) => vec![SamplesLine::Started(SampledRun::of(info, self.sizes))],
            RunEvent::Interval(snapshot) => operations(snapshot, &self.series),
            RunEvent::Finished(result) => vec![SamplesLine::Finished(SampledEnd::of(result))],
            _ => Vec::new(),
        }
    }

    fn write(&mut self, lines: &[SamplesLine]) -> io::Result<()> {
        for line in lines {
            serde_json::to_writer(&mut self.writer, line)?;
            self.writer.write_all(b"\n")?;
        }
        self.writer.flush()
    }
}

impl Reporter for SamplesWriter {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Started(info) = event {
            self.series.clone_from(&info.series);
        }
        if self.error.is_some() {
            return;
        }
        let lines = self.lines(event);
        if !lines.is_empty() {
            self.error = self.write(&lines).err();
        }
    }
}

/// The operations that are kept of an interval, those of each series and phase together, the slowest first.
fn operations(snapshot: &Snapshot, series: &[SeriesInfo]) -> Vec<SamplesLine> {
    let mut lines = Vec::new();
    for (info, samples) in series.iter().zip(&snapshot.samples) {
        let path = info.path();
        for phase in Phase::WITH_ARRIVALS {
            let samples = &samples[phase_index(phase)];
            let of_interval = SampledInterval { path: &path, index: snapshot.index, samples, series };
            lines.extend(of_interval.lines());
        }
    }
    lines
}

/// What is kept of a series and phase in an interval.
struct SampledInterval<'a> {
    path: &'a str,
    index: u64,
    samples: &'a SeriesSamples,
    /// Of the run.
    series: &'a [SeriesInfo],
}

impl SampledInterval<'_> {
    fn lines(&self) -> Vec<SamplesLine> {
        let (slowest, uniform) = (self.samples.slowest(), self.samples.uniform());
        let weight = |seq| uniform.iter().find(|(other, _)| other.seq == seq).map(|(_, weight)| *weight);
        let is_slow = |seq| slowest.iter().any(|other| other.seq == seq);
        let slow = slowest.iter().map(|sample| self.line(sample, true, weight(sample.seq)));
        let others = uniform.iter().filter(|(sample, _)| !is_slow(sample.seq));
        let others = others.map(|(sample, weight)| self.line(sample, false, Some(*weight)));
        slow.chain(others).collect()
    }

    fn line(&self, sample: &OperationSample, slowest: bool, weight: Option<u64>) -> SamplesLine {
        let timing = sample.timing;
        SamplesLine::Operation(Box::new(SampledOperation {
            series: self.path.to_owned(),
            interval: self.index,
            phase: sample.phase.into(),
            slowest,
            weight,
            population: self.samples.population(),
            seq: sample.seq,
            of: sample.subject.map(|subject| subject.kind.to_owned()),
            index: sample.subject.map(|subject| subject.number),
            fate: sample.fate.name().to_owned(),
            cause: cause(sample.detail),
            answer: Some(sample.answer.clone()).filter(|answer| !answer.is_empty()),
            intended_ns: sample.intended.0,
            released_ns: timing.map(|timing| (timing.intended() + timing.dispatch_lag()).0),
            started_ns: timing.map(|timing| timing.start().0),
            wire: SampledExchange::from(&sample.wire),
            done_ns: sample.ended.0,
            response_time_ns: sample.response_time().map(|time| time.0),
            waits: SampledWaits::of(sample),
            steps: sample.steps.iter().map(|step| self.step(step)).collect(),
        }))
    }

    fn step(&self, step: &StepSample) -> SampledStep {
        SampledStep {
            name: self.series.get(step.series).map_or_else(String::new, |series| series.name.clone()),
            started_ns: step.started.0,
            wire: SampledExchange::from(&step.wire),
            done_ns: step.done.0,
            fate: step.fate.name().to_owned(),
            cause: cause(step.detail),
        }
    }
}

fn cause(detail: Detail) -> Option<String> {
    (detail != Detail::None).then(|| detail.to_string())
}

impl SampledRun {
    fn of(info: &RunInfo, sizes: SampleSizes) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            epoch: rfc3339(info.epoch_unix_ms),
            seed: info.seed.to_string(),
            slowest: sizes.slowest as u64,
            uniform: sizes.uniform as u64,
        }
    }
}

impl SampledEnd {
    fn of(result: &RunResult) -> Self {
        Self { stopped: result.stopped.clone(), interrupted: result.interrupted }
    }
}

impl SampledWaits {
    fn of(sample: &OperationSample) -> Self {
        let read_lag_ns = sample.read_lag.map(|lag| lag.0);
        let Some(timing) = sample.timing else { return Self { read_lag_ns, ..Self::default() } };
        let is_sent = sample.wire.sent.is_some();
        let (connection, service) = (timing.connection_wait(), timing.service_time());
        Self {
            dispatch_lag_ns: Some(timing.dispatch_lag().0),
            backlog_wait_ns: Some(timing.backlog_wait().0),
            // What was never sent waited for its connection until it failed.
            connection_wait_ns: Some(if is_sent { connection } else { connection + service }.0),
            service_time_ns: is_sent.then_some(service.0),
            client_time_ns: timing.client_time().map(|time| time.0),
            read_lag_ns,
        }
    }
}

impl From<&SampledWire> for SampledExchange {
    fn from(wire: &SampledWire) -> Self {
        Self {
            connected_ns: wire.connected.map(|at| at.0),
            sent_ns: wire.sent.map(|at| at.0),
            first_byte_ns: wire.first_byte.map(|at| at.0),
            read_ns: wire.read.map(|at| at.0),
            bytes_out: wire.bytes_out,
            bytes_in: wire.bytes_in,
            resent: wire.resent,
            redialled: wire.redialled,
            peer: wire.peer.map(|peer| peer.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;

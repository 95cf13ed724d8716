//! Runs told by hand, with records made by the real recorder.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use hammer_measure::headline::Headline;
use hammer_measure::health::{Finding, Health, HealthNote, Lateness, LatenessKind, Limit};
use hammer_measure::promise::{Breach, KindLedger};
use hammer_measure::recorder::{Completion, EndBounds, Interval, LateAlarm, UserGroup};
use hammer_measure::snapshot::{
    Observation, PeerInterval, Resources, ResponseInterval, RunInfo, RunResult, SeriesFigures,
    SeriesSnapshot, Snapshot, Surroundings,
};
use hammer_measure::threshold::Verdict;
use hammer_measure::timing::FlowTimes;
use hammer_measure::{
    Command, CommandId, ConnectionLog, Detail, Fate, Ledger, Nanos, Outcome, Phase, Recorder, Reporter,
    RunEvent, SeriesInfo, Timing,
};
use serde_json::json;

use crate::builder::ReportBuilder;
use crate::report::{FlatSummary, Report};

pub(crate) mod any;
pub(crate) mod schema;

/// A run in the making.
pub(crate) struct Story {
    pub(crate) events: Vec<RunEvent>,
    pub(crate) promises: Ledger,
    pub(crate) health: Health,
    pub(crate) observations: Vec<Observation>,
    info: Arc<RunInfo>,
    recorder: Recorder,
    total: Interval,
    intervals: u64,
    at: Nanos,
    /// The phase in which what is told ends; that of its intention unless it is said.
    ends_within: Option<Phase>,
}

/// Of each answer.
const READ_LAG: Nanos = Nanos::from_micros(3);
pub(crate) const SECOND: Nanos = Nanos::from_secs(1);

pub(crate) fn operation(workload: &str, name: &str) -> SeriesInfo {
    SeriesInfo {
        workload: workload.to_owned(),
        name: name.to_owned(),
        operation: true,
        closed_loop: false,
        refusals_meant: false,
    }
}

pub(crate) fn step(workload: &str, name: &str) -> SeriesInfo {
    SeriesInfo { operation: false, ..operation(workload, name) }
}

pub(crate) fn tree_size() -> Headline {
    Headline::size("tree_size", "tree size")
}

impl Story {
    /// A run of these series with a second of warm-up and ten of measurement, and the size of the tree as its headline.
    pub(crate) fn new(series: Vec<SeriesInfo>) -> Self {
        Self::headed(vec![tree_size()], series)
    }

    /// The same with other headlines.
    pub(crate) fn headed(headlines: Vec<Headline>, series: Vec<SeriesInfo>) -> Self {
        let count = series.len();
        let info = Arc::new(RunInfo {
            series,
            headlines,
            shards: 2,
            seed: u64::MAX,
            epoch_unix_ms: 1_790_000_000_123,
            warm_up: SECOND,
            measurement: Some(Nanos::from_secs(10)),
            goal: None,
        });
        Self {
            events: vec![RunEvent::Started(Arc::clone(&info))],
            promises: Ledger::default(),
            health: Health::default(),
            observations: Vec::new(),
            info,
            recorder: Recorder::new(count),
            total: Interval::with_series(count),
            intervals: 0,
            at: Nanos::ZERO,
            ends_within: None,
        }
    }

    /// What is told from now on ends within that phase.
    pub(crate) fn ends_within(&mut self, phase: Phase) {
        self.ends_within = Some(phase);
    }

    /// The recorder, which counts the ends of what was intended in that phase as it is told.
    fn ending(&mut self, intended: Phase) -> &mut Recorder {
        let (measurement_start, arrivals_end) = match self.ends_within.unwrap_or(intended) {
            Phase::WarmUp => (Nanos::MAX, Nanos::MAX),
            Phase::Measurement => (Nanos::ZERO, Nanos::MAX),
            Phase::Drain => (Nanos::ZERO, Nanos::ZERO),
        };
        self.recorder.bound(EndBounds { measurement_start, arrivals_end });
        &mut self.recorder
    }

    pub(crate) fn phase(&mut self, phase: Phase) {
        self.events.push(RunEvent::Phase { phase, at: self.at });
    }

    /// Offers and starts `count` operations that end so, the i-th after i times `step` of service time.
    pub(crate) fn end(
        &mut self,
        place: (usize, Phase),
        count: u64,
        step: Nanos,
        (outcome, detail): (Outcome, Detail),
    ) {
        let (series, phase) = place;
        for index in 1..=count {
            let released = self.at + Nanos::from_micros(20);
            let started = released + Nanos::from_micros(5);
            let sent = started + Nanos::from_micros(100);
            let timing =
                Timing::new(self.at, released).started(started).finished(sent, sent + Nanos(step.0 * index));
            self.recorder.offer(series, phase);
            self.recorder.queue(series, phase);
            self.recorder.start(series, phase, &timing);
            self.ending(phase).finish(series, phase, &timing, &completion(outcome, detail));
        }
    }

    pub(crate) fn accept(&mut self, series: usize, phase: Phase, count: u64, step: Nanos) {
        self.end((series, phase), count, step, (Outcome::Accepted, Detail::Status(200)));
    }

    /// The server said `text` with one that ended so.
    pub(crate) fn said(&mut self, (series, phase): (usize, Phase), cause: (Fate, Detail), text: &str) {
        self.recorder.answered(series, phase, cause, self.at, text);
    }

    /// So many users of the workload of that series were there for the ten seconds of measurement.
    pub(crate) fn users(&mut self, series: usize, users: u64) {
        self.recorder.present(series, Phase::Measurement, Nanos::from_secs(10) * users);
    }

    /// An accepted flow of measurement: a millisecond of service, and `client` in none of its exchanges.
    pub(crate) fn flow(&mut self, series: usize, client: Nanos) {
        let times = FlowTimes { connection: Nanos::from_micros(100), service: Nanos::from_millis(1), client };
        let timing = Timing::new(self.at, self.at).started(self.at).finished_flow(times);
        let completion = completion(Outcome::Accepted, Detail::Status(200));
        self.recorder.offer(series, Phase::Measurement);
        self.recorder.queue(series, Phase::Measurement);
        self.recorder.start(series, Phase::Measurement, &timing);
        self.ending(Phase::Measurement).finish(series, Phase::Measurement, &timing, &completion);
    }

    /// One step within an operation.
    pub(crate) fn step(&mut self, series: usize, service: Nanos) {
        let sent = self.at + Nanos::from_micros(100);
        let timing = Timing::new(self.at, self.at).started(self.at).finished(sent, sent + service);
        let completion = completion(Outcome::Accepted, Detail::Status(200));
        self.ending(Phase::Measurement).step(series, Phase::Measurement, &timing, &completion);
    }

    pub(crate) fn never(&mut self, series: usize, fate: Fate, count: u64) {
        for _ in 0..count {
            self.recorder.offer(series, Phase::Measurement);
            match fate {
                Fate::Shed => self.recorder.shed(series, Phase::Measurement),
                Fate::Starved => self.recorder.starve(series, Phase::Measurement),
                Fate::Abandoned => {
                    self.recorder.queue(series, Phase::Measurement);
                    self.recorder.abandon_queued(series, Phase::Measurement);
                }
                other => panic!("{other} is told by end"),
            }
        }
    }

    /// An alarm of measurement was heard so late, and its thread did not run for `stood` of that.
    pub(crate) fn alarm(&mut self, late: Nanos, stood: Nanos) {
        self.recorder.alarm(Phase::Measurement, LateAlarm { late, stood });
    }

    /// Where the clients of a service note what becomes of their connections.
    pub(crate) fn connections(&mut self, service: &str) -> ConnectionLog {
        self.recorder.connections(service)
    }

    /// Leaves `count` operations waiting for a slot.
    pub(crate) fn wait(&mut self, (series, phase): (usize, Phase), count: u64) {
        for _ in 0..count {
            self.recorder.offer(series, phase);
            self.recorder.queue(series, phase);
        }
    }

    /// Leaves `count` operations under way.
    pub(crate) fn start(&mut self, (series, phase): (usize, Phase), count: u64) {
        self.wait((series, phase), count);
        let timing = Timing::new(self.at, self.at).started(self.at);
        (0..count).for_each(|_| self.recorder.start(series, phase, &timing));
    }

    /// Accepts `count` operations that were under way, each so long after it was due.
    pub(crate) fn accept_started(&mut self, (series, phase): (usize, Phase), count: u64, took: Nanos) {
        let intended = Nanos(self.at.0 - took.0);
        let timing = Timing::new(intended, intended).started(intended).finished(intended, self.at);
        let completion = completion(Outcome::Accepted, Detail::Status(200));
        (0..count).for_each(|_| self.ending(phase).finish(series, phase, &timing, &completion));
    }

    /// An operation of a user of a group ended, beside what is told of its series.
    pub(crate) fn ended_in_group(
        &mut self,
        first_series: usize,
        phase: Phase,
        group: UserGroup,
        timing: &Timing,
        outcome: Outcome,
    ) {
        self.recorder.ended_in_group(first_series, phase, group, timing, outcome);
    }

    /// Ends an interval of measurement after less than a second.
    pub(crate) fn short_interval(&mut self, span: Nanos) {
        self.end_interval(Phase::Measurement, span);
    }

    /// Ends an interval after a second.
    pub(crate) fn interval(&mut self, phase: Phase) {
        self.end_interval(phase, SECOND);
    }

    fn end_interval(&mut self, phase: Phase, span: Nanos) {
        self.at += span;
        let empty = Interval::with_series(self.info.series.len());
        let interval = self.recorder.swap(self.at, empty);
        self.total.merge(&interval);
        let series = interval.series.iter().zip(&self.total.series).map(|([first, second], total)| {
            let mut both = first.clone();
            both.merge(second);
            SeriesSnapshot {
                interval: SeriesFigures::of(&both),
                warm_up: SeriesFigures::of(&total[0]),
                measurement: SeriesFigures::of(&total[1]),
            }
        });
        let responses = interval.series.iter().map(|[first, second]| {
            let mut both = first.clone();
            both.merge(second);
            ResponseInterval::of(&both)
        });
        let responses = responses.collect();
        let snapshot = Snapshot {
            index: self.intervals,
            at: self.at,
            span,
            phase,
            series: series.collect(),
            peers: PeerInterval::all(&interval.connections),
            responses,
            samples: Vec::new(),
            promises: self.promises,
            observations: self.observations.clone(),
            thresholds: Vec::new(),
            health: self.health.clone(),
            stood: interval.alarms[1].stood,
            resources: resources(),
        };
        self.intervals += 1;
        self.events.push(RunEvent::Interval(Arc::new(snapshot)));
    }

    pub(crate) fn observe(&mut self, name: &str, value: f64) {
        self.observations = vec![Observation::new(name, self.at, value)];
    }

    pub(crate) fn snapshots(&self) -> impl Iterator<Item = &Arc<Snapshot>> {
        self.events.iter().filter_map(|event| match event {
            RunEvent::Interval(snapshot) => Some(snapshot),
            _ => None,
        })
    }

    pub(crate) fn last_snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(self.snapshots().last().expect("an interval ended"))
    }

    pub(crate) fn info(&self) -> &RunInfo {
        &self.info
    }

    /// What the run leaves behind so far.
    pub(crate) fn result(&self) -> RunResult {
        RunResult {
            total: self.total.clone(),
            phases: vec![
                (Phase::WarmUp, Nanos::ZERO, SECOND),
                (Phase::Measurement, SECOND, Nanos::from_secs(11)),
                (Phase::Drain, Nanos::from_secs(11), Nanos::from_millis(11_412)),
            ],
            promises: self.promises,
            promises_by_workload: vec![("submit".to_owned(), self.promises)],
            promises_by_kind: vec![KindLedger {
                workload: "submit".to_owned(),
                kind: "sct".to_owned(),
                ledger: self.promises,
            }],
            evidence: Vec::new(),
            breaches: Vec::new(),
            observations: self.observations.clone(),
            health: self.health.clone(),
            resources: resources(),
            verdicts: Vec::new(),
            stopped: "the planned time was over".to_owned(),
            interrupted: false,
        }
    }

    /// Ends the run, `alter` having the last word on what it leaves behind.
    pub(crate) fn finish(mut self, alter: impl FnOnce(&mut RunResult)) -> Vec<RunEvent> {
        let mut result = self.result();
        alter(&mut result);
        self.events.push(RunEvent::Finished(Arc::new(result)));
        self.events
    }
}

/// The report of a run, as the same version would make it for ever.
pub(crate) fn report_of(events: &[RunEvent]) -> Report {
    build(ReportBuilder::new(), events)
}

pub(crate) fn build(mut builder: ReportBuilder, events: &[RunEvent]) -> Report {
    events.iter().for_each(|event| builder.event(event));
    let mut report = builder.build(json!({ "target": { "lab": "ct" } }), &[]).expect("the run finished");
    report.tool.version = "1.2.3".to_owned();
    report.summary = Some(FlatSummary::of(&report));
    report
}

/// The report as it is written.
pub(crate) fn written(report: &Report) -> String {
    let mut bytes = Vec::new();
    report.write(&mut bytes).expect("a vector takes everything");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// Ten seconds of submissions to a log that keeps its promises, each in two steps, after a warm-up with cold starts.
pub(crate) fn quickstart() -> Vec<RunEvent> {
    let post = SeriesInfo { operation: false, ..operation("submit", "add-chain/post") };
    let mut story = Story::new(vec![operation("submit", "add-chain"), post, operation("reads", "tile")]);
    story.phase(Phase::WarmUp);
    let refused = (Outcome::Unreachable, Detail::Failure("connection refused"));
    story.end((0, Phase::WarmUp), 20, Nanos::from_micros(100), refused);
    story.accept(0, Phase::WarmUp, 80, Nanos::from_micros(30));
    story.observe("tree_size", 1_000.0);
    story.interval(Phase::WarmUp);
    story.phase(Phase::Measurement);
    for second in 1..=10 {
        story.accept(0, Phase::Measurement, 500, Nanos::from_micros(10));
        (0..500).for_each(|_| story.step(1, Nanos::from_millis(2)));
        story.accept(2, Phase::Measurement, 200, Nanos::from_micros(4));
        let kept = 80 + 500 * second;
        story.promises = Ledger { made: kept, kept, ..Ledger::default() };
        story.observe("tree_size", 1_000.0 + kept as f64);
        story.interval(Phase::Measurement);
    }
    story.phase(Phase::Drain);
    story.finish(|result| result.verdicts = vec![verdict("p99(response) < 500ms", "4.96ms", true)])
}

/// Everything that can be said against a run, but a missing answer.
pub(crate) fn disaster() -> Vec<RunEvent> {
    let mut story = Story::new(vec![operation("submit", "add-chain")]);
    story.phase(Phase::Measurement);
    let at = (0, Phase::Measurement);
    story.accept(0, Phase::Measurement, 12_000, Nanos::from_micros(100));
    story.end(at, 300, Nanos::from_millis(1), (Outcome::Refused, Detail::Status(400)));
    story.end(at, 200, Nanos::from_millis(1), (Outcome::Pushback, Detail::Status(429)));
    story.end(at, 100, Nanos::from_millis(1), (Outcome::ServerError, Detail::Status(500)));
    story.end(at, 10, Nanos::from_millis(1), (Outcome::Malformed, Detail::Failure("body is no JSON")));
    let reset = (Outcome::Unreachable, Detail::Failure("connection reset"));
    story.end(at, 5, Nanos::from_millis(1), reset);
    story.end(at, 4, Nanos::from_millis(500), (Outcome::TimedOut, Detail::None));
    story.never(0, Fate::Shed, 1_800);
    story.never(0, Fate::Starved, 7);
    story.never(0, Fate::Abandoned, 3);
    story.promises = Ledger { made: 12_000, kept: 11_950, broken: 8, pending: 40, unchecked: 2 };
    story.health = Health {
        findings: vec![
            Finding::Starved { count: 7 },
            late(LatenessKind::Dispatch, Nanos::from_millis(4)),
            Finding::Cpu { share: 0.97 },
            Finding::Exhausted { count: 5, what: "local ports".to_owned() },
        ],
        notes: vec![HealthNote::Limit(Limit { series: "submit/add-chain".to_owned(), per_s: 2_479.5 })],
        ..Health::default()
    };
    (1..=1_000).for_each(|late| story.alarm(Nanos::from_micros(late), Nanos::ZERO));
    story.alarm(Nanos::from_millis(500), Nanos::from_millis(498));
    story.interval(Phase::Measurement);
    let at = SECOND;
    let command = Command::Rate { workload: None, factor: 2.0 };
    let text = "the backlog of submit is full, so that arrivals are shed".to_owned();
    story.events.push(RunEvent::Note { at, text });
    story.events.push(RunEvent::Command { id: CommandId(1), at, command, refused: Vec::new() });
    story.events.push(RunEvent::Breach { at, breach: breach(41) });
    story.finish(|result| {
        result.breaches = (41..47).map(breach).collect();
        result.verdicts = vec![
            verdict("p99(response) < 500ms", "> 2.00s", false),
            verdict("rate(accepted) > 290/s", "1200.0/s", true),
        ];
        interrupt(result);
    })
}

/// Ends its arrivals as a signal does.
pub(crate) fn interrupt(result: &mut RunResult) {
    result.interrupted = true;
    result.stopped = RunResult::INTERRUPTED.to_owned();
}

pub(crate) fn verdict(threshold: &str, found: &str, holds: bool) -> Verdict {
    Verdict { found: found.to_owned(), ..verdict_on("submit/add-chain", threshold, holds) }
}

pub(crate) fn verdict_on(series: &str, threshold: &str, holds: bool) -> Verdict {
    Verdict {
        series: series.to_owned(),
        threshold: threshold.to_owned(),
        found: "none".to_owned(),
        holds,
        aborted: false,
        numbers: None,
    }
}

pub(crate) fn breach(seq: u64) -> Breach {
    Breach {
        workload: "submit".to_owned(),
        seq: Some(seq),
        kind: "leaf index".to_owned(),
        index: Some(seq),
        detail: format!("index {seq} holds another leaf at tree size 12,000"),
    }
}

fn completion(outcome: Outcome, detail: Detail) -> Completion {
    let read_lag = Some(READ_LAG);
    Completion {
        outcome,
        detail,
        sent: true,
        read_lag,
        held_up: None,
        resent: false,
        redialled: false,
        bytes_out: 2_000,
        bytes_in: 400,
    }
}

fn resources() -> Resources {
    Resources {
        surroundings: Surroundings::default(),
        cpu_user: 1.25,
        cpu_system: 0.5,
        rss_bytes: 24_000_000,
        max_rss_bytes: 28_400_000,
        descriptors: 61,
        descriptor_limit: 1_024,
        cores: 2,
    }
}

/// Whoever was dialled.
pub(crate) const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 80);

/// A lateness that spoils the 99th percentile of submissions.
pub(crate) fn late(kind: LatenessKind, late: Nanos) -> Finding {
    let series = "submit/add-chain".to_owned();
    Finding::Late(Lateness { kind, series, percentile: 99, late, bound: Nanos::from_millis(1), of: 12_345 })
}

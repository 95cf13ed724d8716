//! A run: threads around shards, and one loop that merges what they record, judges it and tells reporters.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use hammer_measure::group_watch::GroupWatch;
use hammer_measure::health::Health;
use hammer_measure::peer_watch::PeerWatch;
use hammer_measure::promise::{Breach, KindLedger, by_workload};
use hammer_measure::snapshot::{Observation, Resources, RunInfo, RunResult, Snapshot, add_observation};
use hammer_measure::threshold::Verdict;
use hammer_measure::{Nanos, Now as _, Phase, Reporter, RunEvent, SeriesInfo};

use crate::background::give_way;
use crate::message::Message;
use crate::phase::Phases;
use crate::promise::BrokenPromise;
use crate::shard::{ShardCommand, ShardReport};

mod collector;
mod command;
mod control;
mod cpu;
mod judge;
mod judged_window;
mod lane_ends;
mod measured_end;
mod opening;
mod promises;
mod scope;
mod scoped_figures;
mod spec;
mod stop;
mod threads;
mod verdict_wait;

pub use crate::run_error::RunError;
pub use collector::Collector;
pub use control::{Control, Inbox, control};
pub use judge::ScopedThreshold;
pub use scope::Scope;
pub use spec::RunSpec;
pub use stop::StopRule;

use cpu::CpuMarks;
use judge::RunJudge;
use lane_ends::LaneEnds;
use promises::Promises;
use threads::Threads;
use verdict_wait::{VerdictWait, Waiting};

/// Carries the run out, telling `reporters` as it goes.
///
/// # Errors
/// When it cannot start, or a shard cannot go on; what the target does is never an error.
pub fn run(
    mut spec: RunSpec,
    inbox: Inbox,
    reporters: &mut [&mut dyn Reporter],
) -> Result<Arc<RunResult>, RunError> {
    let info = Arc::new(info(&spec));
    let threads = Threads::start(&mut spec, &inbox.sender)?;
    let mut run = Run::new(spec, &info, threads, inbox, reporters);
    run.tell(&RunEvent::Started(info));
    let outcome = run.open().and_then(|()| run.follow());
    match outcome {
        Ok(()) => run.finish(),
        Err(error) => {
            run.threads.quit();
            Err(error)
        }
    }
}

/// A run. `phase` and the collector say in which state it is:
///
/// | state | phase | function | left when |
/// |---|---|---|---|
/// | opening | none | `open` | every shard is ready; or the run is interrupted, and drain follows once every shard left |
/// | warm-up | `WarmUp` | `follow` | measurement starts, or arrivals end |
/// | measurement | `Measurement` | `follow` | arrivals end, or every shard is over |
/// | drain | `Drain` | `follow` | every shard is over |
/// | judging | `Drain` | `finish` | nothing is waited for any more ([`VerdictWait`]) |
///
/// `ended_at` is set where something other than the plan ended the arrivals, `measured_until` where open loads had none left; both may be
/// a little ahead, since shards apply them together. A failure of a thread ends the run from any state.
struct Run<'a, 'r> {
    spec: RunSpec,
    threads: Threads,
    inbox: Inbox,
    reporters: &'a mut [&'r mut dyn Reporter],
    collector: Collector,
    judge: RunJudge,
    phases: Phases,
    phase: Option<Phase>,
    phase_log: Vec<(Phase, Nanos, Nanos)>,
    lane_ends: LaneEnds,
    promises: Promises,
    peers: PeerWatch,
    groups: GroupWatch,
    observations: Vec<Observation>,
    cpu: CpuMarks,
    ended_at: Option<Nanos>,
    /// When measured time ended because no load had an arrival left.
    measured_until: Option<Nanos>,
    /// When a signal ended the drain.
    drain_cut_at: Option<Nanos>,
    stopped: Option<String>,
    interrupted: bool,
}

impl<'a, 'r> Run<'a, 'r> {
    fn new(
        spec: RunSpec,
        info: &RunInfo,
        threads: Threads,
        inbox: Inbox,
        reporters: &'a mut [&'r mut dyn Reporter],
    ) -> Self {
        let collector = Collector::new(info.series.len(), spec.shards.count());
        let lane_ends = LaneEnds::on(spec.shards.count()).of_open(measured_end::open_loads(&spec));
        let judge = RunJudge::new(spec.thresholds.clone(), info.series.clone(), spec.health);
        let judge = if spec.goal.is_some() { judge.of_fill() } else { judge };
        let phases = Phases {
            start: Nanos::ZERO,
            warm_up: spec.warm_up,
            measurement: spec.measurement,
            drain: spec.drain,
        };
        Self {
            spec,
            threads,
            inbox,
            reporters,
            collector,
            judge,
            phases,
            phase: None,
            phase_log: Vec::new(),
            lane_ends,
            promises: Promises::default(),
            observations: Vec::new(),
            peers: PeerWatch::default(),
            groups: GroupWatch::new(&info.series),
            cpu: CpuMarks::default(),
            ended_at: None,
            measured_until: None,
            drain_cut_at: None,
            stopped: None,
            interrupted: false,
        }
    }

    fn start(&mut self) {
        self.phases.start = self.spec.clock.now() + START_IN;
        self.collector.start(self.phases.start);
        self.threads.tell_shards(|| ShardCommand::Start(self.phases));
        self.enter(if self.spec.warm_up > Nanos::ZERO { Phase::WarmUp } else { Phase::Measurement });
    }

    /// Until every shard is over.
    fn follow(&mut self) -> Result<(), RunError> {
        while !self.collector.all_over() {
            let now = self.spec.clock.now();
            self.step_phase(now);
            let wait = self.next_edge().since(now).min(LOOK_EVERY).max(Nanos::from_millis(1));
            match self.inbox.messages.recv_timeout(Duration::from(wait)) {
                Ok(message) => self.take(message)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the run keeps a sender of its own"),
            }
        }
        Ok(())
    }

    fn take(&mut self, message: Message) -> Result<(), RunError> {
        match message {
            Message::Shard(_, ShardReport::Ready(_)) => {}
            Message::Shard(shard, ShardReport::LaneEnded(lane)) => self.lane_ended(lane, shard),
            Message::Shard(shard, ShardReport::Interval(index, interval)) => {
                self.collector.take(shard, index, interval);
                self.close_intervals();
            }
            Message::Shard(shard, ShardReport::Over(index, interval)) => {
                (0..self.spec.lanes.len()).for_each(|lane| self.lane_ended(lane, shard));
                self.collector.over(shard, index, interval);
                self.close_intervals();
            }
            Message::Failed(error) => return Err(error),
            Message::Observed(observation) => self.observe(observation),
            Message::Note(at, text) => self.tell(&RunEvent::Note { at, text }),
            Message::Beside(at, what) => self.tell(&RunEvent::Beside { at, what }),
            Message::Broken(at, promise) => {
                let BrokenPromise { breach, evidence } = promise;
                self.promises.keep_evidence(&breach, evidence);
                self.breach(at, breach);
            }
            Message::ObservedBreach(at, breach) => {
                self.promises.observed(&breach);
                self.breach(at, breach);
            }
            Message::Command(id, command) => self.command(id, command),
            Message::Interrupt => self.interrupt(),
        }
        Ok(())
    }

    fn observe(&mut self, observation: Observation) {
        // Each rule has to see all of them.
        let reached = self.spec.stops.iter_mut().filter_map(|stop| stop.reached(&observation));
        let reached = reached.reduce(|first, _| first);
        add_observation(&mut self.observations, observation);
        if let Some(reason) = reached {
            self.stop(&reason);
        }
    }

    fn breach(&mut self, at: Nanos, breach: Breach) {
        if self.promises.name(&breach) {
            self.tell(&RunEvent::Breach { at, breach });
        }
    }

    /// Ends the arrivals, once; whether it did, and not the plan or an earlier reason.
    fn stop(&mut self, reason: &str) -> bool {
        let at = self.spec.clock.now() + APPLY_IN;
        if self.ended_at.is_some() || at >= self.arrivals_end() {
            return false;
        }
        self.ended_at = Some(at);
        self.stopped = Some(reason.to_owned());
        let abandon_at = at.saturating_add(self.spec.drain);
        self.threads.tell_shards(|| ShardCommand::End(at, abandon_at));
        true
    }

    /// Ends the arrivals, or else the drain that follows them, which whoever asks a second time means.
    fn interrupt(&mut self) {
        let is_first = !std::mem::replace(&mut self.interrupted, true);
        let now = self.spec.clock.now();
        // Whoever asks as arrivals end means them.
        if is_first && now < self.arrivals_end().saturating_add(MEANT_FOR_ARRIVALS) {
            self.stop(RunResult::INTERRUPTED);
            return;
        }
        if self.drain_cut_at.is_none() {
            self.drain_cut_at = Some(now);
            self.threads.tell_shards(|| ShardCommand::End(now, now));
            self.tell(&RunEvent::Note { at: now, text: DRAIN_CUT.to_owned() });
        }
    }

    /// When arrivals end, as far as that is known; before the start it is not, since nothing counts from it yet.
    fn arrivals_end(&self) -> Nanos {
        let planned = self.phase.map_or(Nanos::MAX, |_| self.phases.arrivals_end());
        [self.ended_at, self.measured_until].into_iter().flatten().fold(planned, Nanos::min)
    }

    /// The phase that an instant lies in, by the plan and by what ended the arrivals.
    fn phase_at(&self, at: Nanos) -> Phase {
        if at < self.phases.measurement_start().min(self.arrivals_end()) {
            Phase::WarmUp
        } else if at < self.arrivals_end() {
            Phase::Measurement
        } else {
            Phase::Drain
        }
    }

    fn next_edge(&self) -> Nanos {
        match self.phase {
            Some(Phase::WarmUp) => self.phases.measurement_start(),
            Some(Phase::Measurement) => self.arrivals_end(),
            _ => Nanos::MAX,
        }
    }

    fn step_phase(&mut self, now: Nanos) {
        if self.phase == Some(Phase::WarmUp) && now >= self.phases.measurement_start() {
            self.enter(Phase::Measurement);
        }
        if self.phase != Some(Phase::Drain) && now >= self.arrivals_end() {
            self.enter(Phase::Drain);
        }
    }

    fn enter(&mut self, phase: Phase) {
        let at = match phase {
            Phase::WarmUp => self.phases.start,
            Phase::Measurement => self.phases.measurement_start(),
            Phase::Drain => self.arrivals_end().min(self.spec.clock.now()),
        };
        let cpu = Some((self.spec.clock.now(), (self.spec.resources)()));
        match phase {
            Phase::WarmUp => {}
            Phase::Measurement => self.cpu.start = cpu,
            Phase::Drain => self.cpu.end = cpu,
        }
        if let Some((_, _, end)) = self.phase_log.last_mut() {
            *end = at;
        }
        self.phase_log.push((phase, at, at));
        self.phase = Some(phase);
        self.tell(&RunEvent::Phase { phase, at });
    }

    /// Merges, tells and judges every interval that all shards have delivered.
    fn close_intervals(&mut self) {
        while let Some(merged) = self.collector.next_complete() {
            let resources = (self.spec.resources)();
            give_way();
            let health = self.health(resources);
            // It arrives when it is over, which for the last one of a phase is in the next.
            let phase = self.phase_at(self.collector.middle_of(&merged));
            let span = merged.at.since(self.collector.last_at());
            if phase == Phase::Measurement {
                let start = self.collector.last_at().max(self.phases.measurement_start());
                self.judge.take(&merged, (start, merged.at));
            }
            let peers = self.peers.look(&merged.connections, merged.at, span);
            let thresholds = self.standing(merged.at);
            let snapshot = self.collector.snapshot(
                merged,
                phase,
                self.promises.with(self.threads.promises()),
                self.observations.clone(),
                health,
                resources,
            );
            let snapshot = Snapshot { thresholds, ..snapshot };
            let at = snapshot.at;
            self.tell(&RunEvent::Interval(Arc::new(snapshot)));
            peers.into_iter().for_each(|what| self.tell(&RunEvent::Beside { at, what }));
            let highs = self.groups.look(self.collector.total());
            highs.into_iter().for_each(|(at, what)| self.tell(&RunEvent::Beside { at, what }));
            for (shard, empty) in self.collector.recycled() {
                self.threads.tell(shard, ShardCommand::Recycle(empty));
            }
            self.abort_on_failed_threshold(at);
        }
    }

    /// How the thresholds stand at an instant, where somebody looks on.
    fn standing(&self, at: Nanos) -> Vec<Verdict> {
        let since = at.min(self.arrivals_end()).since(self.phases.measurement_start());
        if !self.spec.shows_thresholds || since == Nanos::ZERO {
            return Vec::new();
        }
        let promises = by_workload(&self.promises.by_kind(self.threads.promises_by_kind()));
        self.judge.standing(self.collector.total(), &promises, since)
    }

    fn abort_on_failed_threshold(&mut self, at: Nanos) {
        let since = at.since(self.phases.measurement_start());
        if self.ended_at.is_some() || self.phase != Some(Phase::Measurement) || since == Nanos::ZERO {
            return;
        }
        let promises = by_workload(&self.promises.by_kind(self.threads.promises_by_kind()));
        let failed = self.judge.failed_midway(self.collector.total(), &promises, since);
        // One that fails as the plan ends the run anyway is judged by all of measurement, as the others are.
        if let Some((index, verdict)) = failed
            && self.stop(&format!("threshold failed: {}", verdict.threshold))
        {
            self.judge.ended_by(index, verdict);
        }
    }

    /// Lets the verifiers finish, and puts everything together.
    ///
    /// # Errors
    /// When a verifier or an observer panics: what it was to judge would stay pending, as if it had time left.
    fn finish(mut self) -> Result<Arc<RunResult>, RunError> {
        if self.phase != Some(Phase::Drain) {
            // Everything was done before the time was up: as the last of it was, and not as that is noticed here.
            self.ended_at.get_or_insert(self.collector.last_at());
            self.enter(Phase::Drain);
        }
        self.threads.judge();
        let deadline = self.drain_start(self.spec.clock.now()).saturating_add(self.spec.drain);
        let mut wait = VerdictWait::new(self.spec.clock.now(), deadline, self.spec.patience);
        loop {
            if let Some(at) = self.drain_cut_at {
                wait.cut(at);
            }
            let (at, awaited) = (self.spec.clock.now(), self.threads.awaited());
            let has_given_up = self.spec.goal.as_ref().is_some_and(|goal| goal.has_given_up());
            match wait.look(at, awaited, has_given_up) {
                Waiting::On => {}
                Waiting::Told(until) => self.tell(&RunEvent::Judging { at, awaited, until }),
                Waiting::Over => break,
                Waiting::Silent => {
                    let patience = self.spec.patience;
                    let text = format!(
                        "the fill gave up, and of {awaited} promises no verdict came for {patience}: drain ended"
                    );
                    self.tell(&RunEvent::Note { at, text });
                    break;
                }
            }
            if let Ok(message) = self.inbox.messages.recv_timeout(Duration::from(VERIFIED_POLL)) {
                self.take(message)?;
            }
        }
        let verified = self.threads.stop();
        while let Ok(message) = self.inbox.messages.try_recv() {
            self.take(message)?;
        }
        let end = self.spec.clock.now();
        if let Some((_, _, last)) = self.phase_log.last_mut() {
            *last = end;
        }
        let promises_by_kind = self.promises.by_kind(verified);
        let result = Arc::new(self.result(promises_by_kind));
        self.tell(&RunEvent::Finished(result.clone()));
        Ok(result)
    }

    fn result(&mut self, promises_by_kind: Vec<KindLedger>) -> RunResult {
        let promises_by_workload = by_workload(&promises_by_kind);
        let resources = (self.spec.resources)();
        let health = self.health(resources);
        let mut promises = hammer_measure::Ledger::default();
        promises_by_workload.iter().for_each(|(_, ledger)| promises.add(ledger));
        let has_started = self.phase_log.iter().any(|(phase, _, _)| *phase != Phase::Drain);
        let measured = self.phase_log.iter().find(|(phase, _, _)| *phase == Phase::Measurement);
        let seconds = measured.map_or(0.0, |(_, start, end)| end.since(*start).as_secs_f64());
        let verdicts = self.judge.verdicts(self.collector.total(), &promises_by_workload, seconds);
        RunResult {
            // What never started fails no expectation.
            verdicts: if has_started { verdicts } else { Vec::new() },
            total: self.collector.total().clone(),
            phases: std::mem::take(&mut self.phase_log),
            promises,
            promises_by_workload,
            promises_by_kind,
            evidence: self.promises.take_evidence(),
            breaches: std::mem::take(&mut self.promises).into_breaches(),
            observations: std::mem::take(&mut self.observations),
            health,
            resources,
            stopped: self
                .stopped
                .take()
                .or_else(|| self.spec.goal.as_ref()?.why_given_up())
                .unwrap_or_else(|| RunResult::AS_PLANNED.to_owned()),
            interrupted: self.interrupted,
        }
    }

    fn health(&self, resources: Resources) -> Health {
        let cpu = self.cpu.used(self.spec.clock.now(), resources, self.collector.busiest());
        self.judge.health(self.collector.total(), cpu)
    }

    fn tell(&mut self, event: &RunEvent) {
        self.reporters.iter_mut().for_each(|reporter| reporter.event(event));
    }
}

fn info(spec: &RunSpec) -> RunInfo {
    let series = spec.lanes.iter().flat_map(|lane| {
        lane.series().into_iter().map(|series| SeriesInfo {
            workload: lane.workload().to_owned(),
            name: series.name,
            operation: series.operation,
            closed_loop: lane.closed_loop(),
            refusals_meant: series.refusals_meant,
        })
    });
    RunInfo {
        series: series.collect(),
        headlines: spec.headlines.clone(),
        shards: spec.shards.count(),
        seed: spec.seed,
        epoch_unix_ms: spec.epoch_unix_ms,
        warm_up: spec.warm_up,
        measurement: spec.measurement,
        goal: spec.goal.as_ref().map(|goal| goal.operations()),
    }
}

const START_IN: Nanos = Nanos::from_millis(5);
/// Commands take effect a little later, so that all shards apply them at the same instant.
const APPLY_IN: Nanos = Nanos::from_millis(5);
const LOOK_EVERY: Nanos = Nanos::from_millis(250);
const MEANT_FOR_ARRIVALS: Nanos = Nanos::from_millis(500);
/// What is told where a signal comes, or a key that means the same, once arrivals have ended.
const DRAIN_CUT: &str =
    "drain was ended by hand: what was under way is abandoned, and promises without a verdict are pending";
const VERIFIED_POLL: Nanos = Nanos::from_millis(5);

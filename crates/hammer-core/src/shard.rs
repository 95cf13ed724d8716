//! A shard: one thread that releases, carries out and records its share of every workload's load, with no lock or
//! channel between an arrival and its record.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use futures::channel::mpsc::UnboundedReceiver;
use futures::{FutureExt as _, StreamExt as _};
use hammer_measure::recorder::{EndBounds, Interval};
use hammer_measure::{Command, Nanos, Recorder};

use crate::answers::ShardAnswers;
use crate::crew::Crew;
use crate::dispatch::{Lane, LanePlan, LaneShard, ShardBell};
use crate::phase::Phases;
use crate::promise::PromiseSender;
use crate::runtime::{Alarm, Runtime, yield_now};
use crate::sample::ShardSamples;
use crate::standstill::StandstillMeter;
use crate::supply::SupplyPool;
use crate::workload::FatalError;

/// What a shard is made of.
pub struct ShardSpec<R: Runtime> {
    /// The shard, from 0, among all of the run.
    pub shard: usize,
    /// How many the run has.
    pub shards: usize,
    /// Every workload with its load, and the way to its verifier.
    pub lanes: Vec<(Arc<dyn LanePlan<R>>, Option<PromiseSender>)>,
    /// The threads that prepare operations.
    pub supply: Arc<SupplyPool>,
    /// The shard's way to the threads that compute in the middle of flows.
    pub crew: Crew,
    /// The length of an interval.
    pub interval: Nanos,
}

/// What a shard is told.
#[derive(Debug)]
pub enum ShardCommand {
    /// Start; intervals are counted from `phases.start`.
    Start(Phases),
    /// Apply a command at that instant to the workload of that index, or to all.
    Apply(Nanos, Option<usize>, Command),
    /// No arrival from that instant on; what is left at the second is abandoned.
    End(Nanos, Nanos),
    /// No load has an arrival left: what ends from that instant on ends in drain. It cuts off nothing.
    MeasuredUntil(Nanos),
    /// An emptied interval to record into.
    Recycle(Interval),
}

/// What a shard tells.
#[derive(Debug)]
pub enum ShardReport {
    /// It is open: connections are up, supply is filled. By plan an answer may lie unread for so long.
    Ready(Nanos),
    /// The lane in that place has no arrival left: a command reaches nothing there. Told once of each, and not of those that a shard
    /// leaves by being over.
    LaneEnded(usize),
    /// What it recorded in the interval of that number, from 0.
    Interval(u64, Interval),
    /// Nothing is left: its last interval, and its number.
    Over(u64, Interval),
}

/// Runs a shard until nothing is left to arrive, wait or end.
///
/// # Errors
/// When a workload's session cannot be opened.
pub async fn run<R: Runtime>(
    runtime: R,
    spec: ShardSpec<R>,
    commands: UnboundedReceiver<ShardCommand>,
    report: impl Fn(ShardReport),
) -> Result<(), FatalError> {
    let mut shard = Shard::open(runtime, spec, commands).await?;
    shard.fill().await;
    report(ShardReport::Ready(shard.unread_at_most));
    if !shard.wait_for_start().await {
        return Ok(());
    }
    loop {
        // Before the answers are read, which takes a while and is no lateness of the alarm.
        shard.hear(shard.runtime.now());
        shard.answers.take();
        let now = shard.runtime.now();
        shard.advance(now, &report);
        shard.tell_intervals(now, &report).await;
        shard.settle().await;
        if shard.is_over(now) {
            break;
        }
        shard.wait(now).await;
    }
    let index = shard.index;
    let last = shard.swap(shard.runtime.now());
    report(ShardReport::Over(index, last));
    Ok(())
}

struct Shard<R: Runtime> {
    runtime: R,
    alarm: R::Alarm,
    bell: Rc<ShardBell>,
    answers: ShardAnswers,
    /// The longest that an answer may lie unread because nothing waits for it.
    unread_at_most: Nanos,
    lanes: Vec<Rc<dyn Lane>>,
    /// Of each lane, whether it was told that it has no arrival left.
    ended: Vec<bool>,
    recorder: Rc<RefCell<Recorder>>,
    series: usize,
    commands: UnboundedReceiver<ShardCommand>,
    meter: StandstillMeter,
    told_to_start: Option<Phases>,
    phases: Option<Phases>,
    pending: Vec<(Nanos, Option<usize>, Command)>,
    spare: Vec<Interval>,
    interval: Nanos,
    next_interval: Nanos,
    next_sweep: Nanos,
    index: u64,
    end: Option<Nanos>,
    abandon_at: Nanos,
    abandoned: bool,
    closed: bool,
}

impl<R: Runtime> Shard<R> {
    async fn open(
        runtime: R,
        spec: ShardSpec<R>,
        commands: UnboundedReceiver<ShardCommand>,
    ) -> Result<Self, FatalError> {
        let series = spec.lanes.iter().map(|(plan, _)| plan.series().len()).sum();
        let recorder = Rc::new(RefCell::new(Recorder::new(series)));
        let bell = Rc::new(ShardBell::default());
        let samples = ShardSamples::default();
        let answers = ShardAnswers::default();
        let meter = StandstillMeter::on(&runtime);
        let is_closed = spec.lanes.iter().all(|(plan, _)| plan.closed_loop());
        let mut lanes = Vec::new();
        let mut first_series = 0;
        for (plan, promises) in spec.lanes {
            let shard = LaneShard {
                runtime: runtime.clone(),
                shard: spec.shard,
                shards: spec.shards,
                recorder: recorder.clone(),
                first_series,
                supply: spec.supply.clone(),
                crew: spec.crew.clone(),
                samples: samples.clone(),
                answers: answers.clone(),
                meter: meter.clone(),
                bell: bell.clone(),
                promises,
            };
            lanes.push(plan.open(shard).await?);
            first_series += plan.series().len();
        }
        // The sweep is a look at all sockets, too.
        let unread_at_most = answers.within().filter(|_| !is_closed).unwrap_or_default().min(SWEEP_EVERY);
        meter.answers_may_wait(unread_at_most);
        Ok(Self {
            alarm: runtime.alarm()?,
            bell,
            unread_at_most,
            answers,
            runtime,
            ended: vec![false; lanes.len()],
            lanes,
            recorder,
            series,
            commands,
            meter,
            told_to_start: None,
            phases: None,
            pending: Vec::new(),
            spare: vec![Interval::with_series(series)],
            interval: spec.interval,
            next_interval: Nanos::MAX,
            next_sweep: Nanos::MAX,
            index: 0,
            end: None,
            abandon_at: Nanos::MAX,
            abandoned: false,
            closed: false,
        })
    }

    /// Waits until supply has prepared what it may, so that the first arrivals find their operations.
    async fn fill(&mut self) {
        let clock = self.runtime.clock();
        let give_up = self.runtime.now() + FILL_AT_MOST;
        while !self.lanes.iter().all(|lane| lane.is_filled()) && self.runtime.now() < give_up {
            let now = self.runtime.now();
            self.lanes.iter().for_each(|lane| lane.sweep(now));
            clock.sleep_until(now + FILL_POLL).await;
            match self.commands.next().now_or_never() {
                Some(Some(command)) => self.take(command),
                Some(None) => return,
                None => {}
            }
        }
    }

    /// Whether the run starts at all.
    async fn wait_for_start(&mut self) -> bool {
        loop {
            if let Some(phases) = self.told_to_start.take() {
                self.start(&phases);
                return true;
            }
            match self.commands.next().await {
                Some(command) => self.take(command),
                None => return false,
            }
        }
    }

    fn start(&mut self, phases: &Phases) {
        self.meter.mark();
        self.phases = Some(*phases);
        self.next_interval = phases.start.saturating_add(self.interval);
        self.next_sweep = phases.start;
        let end = phases.arrivals_end();
        self.end = Some(self.end.unwrap_or(Nanos::MAX).min(end)).filter(|end| *end < Nanos::MAX);
        self.abandon_at = self.abandon_at.min(end.saturating_add(phases.drain));
        let end = self.end.unwrap_or(Nanos::MAX).min(phases.arrivals_end());
        self.end = Some(end).filter(|end| *end < Nanos::MAX);
        // Something may have ended arrivals before they started.
        let arrivals_end = end;
        let bounds = EndBounds { measurement_start: phases.measurement_start(), arrivals_end };
        self.recorder.borrow_mut().bound(bounds);
        self.lanes.iter().for_each(|lane| lane.start_arrivals(phases));
    }

    /// Records how late the alarm was, where it was due.
    fn hear(&self, now: Nanos) {
        if let (Some(alarm), Some(phases)) = (self.meter.heard(now), &self.phases) {
            self.recorder.borrow_mut().alarm(phases.of(now), alarm);
        }
    }

    /// Everything that is due at `now`.
    fn advance(&mut self, now: Nanos, report: &impl Fn(ShardReport)) {
        self.apply_pending(now);
        self.lanes.iter().for_each(|lane| lane.pump(now, now));
        if now >= self.next_sweep {
            self.lanes.iter().for_each(|lane| lane.sweep(now));
            self.meter.mark();
            self.tell_ended_lanes(now, report);
            self.next_sweep = now + SWEEP_EVERY;
        }
        if let Some(end) = self.end
            && now >= end
        {
            self.end = None;
            self.lanes.iter().for_each(|lane| lane.end_arrivals(end));
        }
        if now >= self.abandon_at && !self.abandoned {
            self.abandoned = true;
            self.lanes.iter().for_each(|lane| lane.abandon());
        }
    }

    /// Hands over the intervals that ended by `now`, each with the instant at which it was to end: what happened since stands in the first of
    /// them, and where the shard stood still nothing did in the others.
    async fn tell_intervals(&mut self, now: Nanos, report: &impl Fn(ShardReport)) {
        if now >= self.next_interval {
            // What was just released into a slot starts in that slot's turn, and would be told as waiting.
            yield_now().await;
        }
        while now >= self.next_interval {
            let index = self.index;
            let full = self.swap(self.next_interval);
            report(ShardReport::Interval(index, full));
            self.index += 1;
            self.next_interval += self.interval;
        }
    }

    fn tell_ended_lanes(&mut self, now: Nanos, report: &impl Fn(ShardReport)) {
        for (place, (lane, ended)) in self.lanes.iter().zip(&mut self.ended).enumerate() {
            if !*ended && lane.has_ended(now) {
                *ended = true;
                report(ShardReport::LaneEnded(place));
            }
        }
    }

    /// Once everything was cut off: lets the tasks run in which that happens, so that what they did until then is recorded.
    async fn settle(&self) {
        let is_settled = || !self.abandoned || self.lanes.iter().all(|lane| lane.is_settled());
        for _ in 0..MOST_SETTLING_TURNS {
            if is_settled() {
                return;
            }
            yield_now().await;
        }
    }

    fn is_over(&self, now: Nanos) -> bool {
        self.abandoned || self.closed || self.lanes.iter().all(|lane| lane.is_over(now))
    }

    /// Waits for the next instant at which something is due, or for a command.
    async fn wait(&mut self, now: Nanos) {
        let due = self.lanes.iter().filter_map(|lane| Some(lane.next_due()?.max(now + lane.quantum())));
        let due = due.min().unwrap_or(Nanos::MAX);
        let pending = self.pending.iter().map(|(at, _, _)| *at).min().unwrap_or(Nanos::MAX);
        let control =
            self.next_sweep.min(self.next_interval).min(pending).min(self.end.unwrap_or(Nanos::MAX));
        let abandon = if self.abandoned { Nanos::MAX } else { self.abandon_at };
        let may_wait = self.lanes.iter().all(|lane| lane.lets_answers_wait());
        let read_by = self.answers.let_wait(may_wait).map_or(Nanos::MAX, |within| now.saturating_add(within));
        let at = due.min(control).min(abandon).min(read_by);
        self.alarm.set(at);
        self.bell.await_until(at);
        self.meter.expect(at);
        let Self { alarm, bell, commands, .. } = self;
        let command = poll_fn(|cx| {
            if let Poll::Ready(command) = commands.poll_next_unpin(cx) {
                return Poll::Ready(Some(command));
            }
            if bell.poll_rung(cx).is_ready() {
                return Poll::Ready(None);
            }
            alarm.poll_rung(cx).map(|()| None)
        })
        .await;
        match command {
            Some(Some(command)) => self.take(command),
            Some(None) => self.closed = true,
            None => {}
        }
    }

    fn take(&mut self, command: ShardCommand) {
        match command {
            ShardCommand::Start(phases) => self.told_to_start = Some(phases),
            ShardCommand::Apply(at, lane, command) => self.pending.push((at, lane, command)),
            ShardCommand::End(at, abandon_at) => {
                let at = at.min(self.end.unwrap_or(Nanos::MAX));
                self.end = Some(at);
                // At once, so that nothing later than it is released by then.
                self.lanes.iter().for_each(|lane| lane.end_arrivals(at));
                self.recorder.borrow_mut().end_arrivals(at);
                self.abandon_at = self.abandon_at.min(abandon_at);
            }
            ShardCommand::MeasuredUntil(at) => self.recorder.borrow_mut().end_arrivals(at),
            ShardCommand::Recycle(interval) => self.spare.push(interval),
        }
    }

    fn apply_pending(&mut self, now: Nanos) {
        while let Some(index) = self.pending.iter().position(|(at, _, _)| *at <= now) {
            let (at, lane, command) = self.pending.remove(index);
            // Arrivals before the command's instant are released under the old order.
            for (position, target) in self.lanes.iter().enumerate() {
                if lane.is_none_or(|lane| lane == position) {
                    target.pump(at, now);
                    target.command(at, &command);
                }
            }
        }
    }

    fn swap(&mut self, at: Nanos) -> Interval {
        let empty = self.spare.pop().unwrap_or_else(|| Interval::with_series(self.series));
        self.recorder.borrow_mut().swap(at, empty)
    }
}

/// In one turn each task that was woken runs once; whoever drops a future takes no more.
const MOST_SETTLING_TURNS: usize = 64;
const SWEEP_EVERY: Nanos = Nanos::from_millis(10);
const FILL_POLL: Nanos = Nanos::from_millis(1);
const FILL_AT_MOST: Nanos = Nanos::from_secs(30);

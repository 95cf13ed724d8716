//! A shard: one thread that releases, carries out and records its share of every workload's load, with no lock or
//! channel between an arrival and its record.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use futures::channel::mpsc::UnboundedReceiver;
use futures::future::{Either, select};
use futures::{FutureExt as _, StreamExt as _};
use hammer_measure::recorder::{EndBounds, Interval};
use hammer_measure::{Command, Nanos, Recorder};

use crate::answers::ShardAnswers;
use crate::crew::Crew;
use crate::dispatch::{Lane, LanePlan, LaneShard, OperationSampling, ShardBell};
use crate::phase::Phases;
use crate::promise::PromiseSender;
use crate::runtime::{Alarm, LocalFuture, Runtime, yield_now};
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
    pub lanes: Vec<PlannedLane<R>>,
    /// The threads that prepare operations.
    pub supply: Arc<SupplyPool>,
    /// The shard's way to the threads that compute in the middle of flows.
    pub crew: Crew,
    /// The length of an interval.
    pub interval: Nanos,
    /// How single operations are sampled, where they are.
    pub sampling: Option<OperationSampling>,
}

/// A workload with its load, and the way to its verifier.
pub type PlannedLane<R> = (Arc<dyn LanePlan<R>>, Option<PromiseSender>);

/// What a shard is told.
#[derive(Debug)]
pub enum ShardCommand {
    /// Start; intervals are counted from `phases.start`.
    Start(Phases),
    /// The run ends before it starts: what is being opened is let go of.
    Leave,
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

/// Runs a shard until nothing is left to arrive, wait or end, or until it is to leave before it starts.
///
/// # Errors
/// When a workload's session cannot be opened.
pub async fn run<R: Runtime>(
    runtime: R,
    spec: ShardSpec<R>,
    commands: UnboundedReceiver<ShardCommand>,
    report: impl Fn(ShardReport),
) -> Result<(), FatalError> {
    let mut shard = Shard::new(runtime, spec.interval, series_of(&spec.lanes), commands)?;
    if shard.open(spec).await? {
        shard.fill().await;
        report(ShardReport::Ready(shard.unread_at_most));
    }
    if shard.wait_for_start().await {
        shard.carry_out(&report).await;
    } else if !shard.leaves {
        return Ok(());
    }
    let index = shard.index;
    let last = shard.swap(shard.runtime.now());
    report(ShardReport::Over(index, last));
    Ok(())
}

/// How many series the lanes have together.
fn series_of<R: Runtime>(lanes: &[PlannedLane<R>]) -> usize {
    lanes.iter().map(|(plan, _)| plan.series().len()).sum()
}

type OpeningLane = LocalFuture<Result<Rc<dyn Lane>, FatalError>>;

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
    /// Whether it is to leave before it starts.
    leaves: bool,
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
    fn new(
        runtime: R,
        interval: Nanos,
        series: usize,
        commands: UnboundedReceiver<ShardCommand>,
    ) -> Result<Self, FatalError> {
        Ok(Self {
            alarm: runtime.alarm()?,
            bell: Rc::default(),
            answers: ShardAnswers::default(),
            unread_at_most: Nanos::ZERO,
            meter: StandstillMeter::on(&runtime),
            runtime,
            lanes: Vec::new(),
            ended: Vec::new(),
            recorder: Rc::new(RefCell::new(Recorder::new(series))),
            series,
            commands,
            told_to_start: None,
            phases: None,
            leaves: false,
            pending: Vec::new(),
            spare: vec![Interval::with_series(series)],
            interval,
            next_interval: Nanos::MAX,
            next_sweep: Nanos::MAX,
            index: 0,
            end: None,
            abandon_at: Nanos::MAX,
            abandoned: false,
            closed: false,
        })
    }

    /// Opens every workload; whether all of them are open.
    async fn open(&mut self, spec: ShardSpec<R>) -> Result<bool, FatalError> {
        let samples = ShardSamples::default();
        if let Some(sampling) = spec.sampling {
            self.recorder.borrow_mut().keep_samples(sampling.sizes);
        }
        let is_closed = spec.lanes.iter().all(|(plan, _)| plan.closed_loop());
        let mut first_series = 0;
        for (plan, promises) in spec.lanes {
            let opening = plan.open(LaneShard {
                runtime: self.runtime.clone(),
                shard: spec.shard,
                shards: spec.shards,
                recorder: self.recorder.clone(),
                first_series,
                supply: spec.supply.clone(),
                crew: spec.crew.clone(),
                samples: samples.clone(),
                answers: self.answers.clone(),
                meter: self.meter.clone(),
                bell: self.bell.clone(),
                promises,
                sampling: spec.sampling,
            });
            let Some(lane) = self.opened(opening).await else { return Ok(false) };
            self.lanes.push(lane?);
            first_series += plan.series().len();
        }
        self.ended = vec![false; self.lanes.len()];
        // The sweep is a look at all sockets, too.
        let within = self.answers.within().filter(|_| !is_closed);
        self.unread_at_most = within.unwrap_or_default().min(SWEEP_EVERY);
        self.meter.answers_may_wait(self.unread_at_most);
        Ok(true)
    }

    /// The lane, once it is open; `None` where the shard is to leave first, and what is dialled for it is let go of.
    async fn opened(&mut self, mut opening: OpeningLane) -> Option<Result<Rc<dyn Lane>, FatalError>> {
        loop {
            let next = select(opening, self.commands.next()).await;
            match next {
                Either::Left((lane, _)) => return Some(lane),
                Either::Right((None, _)) => return None,
                Either::Right((Some(command), still_opening)) => {
                    self.take(command);
                    opening = still_opening;
                }
            }
            if self.leaves {
                return None;
            }
        }
    }

    /// All of its run, from the start on.
    async fn carry_out(&mut self, report: &impl Fn(ShardReport)) {
        loop {
            // Before the answers are read, which takes a while and is no lateness of the alarm.
            self.hear(self.runtime.now());
            self.answers.take();
            let now = self.runtime.now();
            self.advance(now, report);
            self.tell_intervals(now, report).await;
            self.settle().await;
            if self.is_over(now) {
                return;
            }
            self.wait(now).await;
        }
    }

    /// Waits until supply has prepared what it may, so that the first arrivals find their operations.
    async fn fill(&mut self) {
        let clock = self.runtime.clock();
        let give_up = self.runtime.now() + FILL_AT_MOST;
        while !self.leaves && !self.lanes.iter().all(|lane| lane.is_filled()) && self.runtime.now() < give_up
        {
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
            if self.leaves {
                return false;
            }
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
        // What opening took is no part of the run.
        let _ = self.meter.mark();
        self.phases = Some(*phases);
        self.next_interval = phases.start.saturating_add(self.interval);
        self.next_sweep = phases.start;
        let end = phases.arrivals_end();
        self.abandon_at = self.abandon_at.min(end.saturating_add(phases.drain));
        // Something may have ended arrivals before they started.
        let arrivals_end = self.end.unwrap_or(Nanos::MAX).min(end);
        self.end = Some(arrivals_end).filter(|end| *end < Nanos::MAX);
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
            self.recorder.borrow_mut().ran(now, self.meter.mark());
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
        self.meter.expect(at, self.runtime.now());
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
            ShardCommand::Leave => self.leaves = true,
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

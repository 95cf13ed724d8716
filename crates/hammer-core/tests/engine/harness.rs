//! A server with scripted service times on the simulated clock, and a run of several shards against it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, mpsc};

use futures::channel::mpsc::{UnboundedSender, unbounded};
use hammer_core::crew::CrewMember;
use hammer_core::dispatch::{LanePlan, Load, LoadedWorkload, Open, OperationSampling};
use hammer_core::phase::Phases;
use hammer_core::promise::PromiseSender;
use hammer_core::record::{Exchange, OperationRecord, StepGuard};
use hammer_core::run::Collector;
use hammer_core::runtime::simulated::{SimulatedRuntime, Simulation};
use hammer_core::runtime::{Clock, Runtime as _};
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::shard::{self, ShardCommand, ShardReport, ShardSpec};
use hammer_core::shard_range::ShardRange;
use hammer_core::supply::{SupplyBounds, SupplyPool, SupplyWork};
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_measure::recorder::{Interval, SeriesRecord};
use hammer_measure::{Command, Nanos};

pub(crate) const MILLI: Nanos = Nanos::from_millis(1);
pub(crate) const SECOND: Nanos = Nanos::from_secs(1);

/// What the server received: (intended is not known to it) seq, bytes, and when.
pub(crate) type Received = Arc<Mutex<BTreeMap<u64, (Nanos, Vec<u8>)>>>;

/// A server that answers after `service`, and not between `stall.0` and `stall.1` after the epoch.
pub(crate) struct Scripted {
    pub(crate) service: Nanos,
    pub(crate) stall: (Nanos, Nanos),
    pub(crate) steps: usize,
    /// Between one step and the next.
    pub(crate) pause: Nanos,
    pub(crate) preparation: Preparation,
    /// Which operations it answers with 500.
    pub(crate) refuses: fn(u64) -> bool,
    pub(crate) received: Received,
}

impl Scripted {
    pub(crate) fn answering_after(service: Nanos) -> Self {
        let (stall, preparation) = ((Nanos::ZERO, Nanos::ZERO), Preparation::Inline);
        Self {
            service,
            stall,
            steps: 1,
            pause: Nanos::ZERO,
            preparation,
            refuses: |_| false,
            received: Received::default(),
        }
    }

    pub(crate) fn refusing(mut self, refuses: fn(u64) -> bool) -> Self {
        self.refuses = refuses;
        self
    }

    pub(crate) fn prepared_ahead(mut self) -> Self {
        self.preparation = Preparation::Ahead;
        self
    }

    pub(crate) fn stalled(mut self, from: Nanos, length: Nanos) -> Self {
        self.stall = (from, from + length);
        self
    }

    fn answer_at(&self, sent: Nanos) -> Nanos {
        let at = sent + self.service;
        if at > self.stall.0 && sent < self.stall.1 { at.max(self.stall.1) } else { at }
    }
}

impl Workload for Scripted {
    type Op = Vec<u8>;
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let mut series = vec![SeriesSpec::new("flow", true)];
        if self.steps > 1 {
            series.extend((0..self.steps).map(|step| SeriesSpec::new(format!("step-{step}"), false)));
        }
        series
    }

    fn preparation(&self) -> Preparation {
        self.preparation
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Vec<u8>>) -> Vec<u8> {
        let mut op = reuse.unwrap_or_default();
        op.clear();
        op.extend_from_slice(&bytes_of(seq));
        op
    }

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn execute(
        &self,
        clock: &Self::Session,
        (): &(),
        op: &mut Vec<u8>,
        record: &OperationRecord,
    ) -> Ended {
        let ended = Ended::of_status(if (self.refuses)(record.seq()) { 500 } else { 200 });
        self.received.lock().unwrap().insert(record.seq(), (clock.now(), op.clone()));
        for step in 0..self.steps {
            if step > 0 && self.pause > Nanos::ZERO {
                clock.sleep_until(clock.now() + self.pause).await;
            }
            let mut guard = if self.steps > 1 { record.step(1 + step) } else { record.exchange() };
            let sent = clock.now();
            *guard.wire() = Exchange { sent: Some(sent), bytes_out: op.len() as u64, ..Exchange::default() };
            clock.sleep_until(self.answer_at(sent)).await;
            guard.wire().bytes_in = 2;
            guard.end(ended);
        }
        ended
    }
}

/// Ends an exchange that was sent at `sent` and answered at `done`.
pub(crate) fn answered(mut exchange: StepGuard<'_>, sent: Nanos, done: Nanos) {
    *exchange.wire() = Exchange { sent: Some(sent), done: Some(done), ..Exchange::default() };
    exchange.end(Ended::accepted(200));
}

/// What is sent for `seq`.
pub(crate) fn bytes_of(seq: u64) -> [u8; 8] {
    seq.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

/// An open load of `rate` a second.
pub(crate) fn at_rate(rate: f64, in_flight: usize, backlog: usize) -> Load {
    let schedule = Schedule::even(Profile::Constant(Constant { rate }));
    Load::Open(Open { schedule, in_flight, backlog })
}

#[derive(Clone)]
pub(crate) struct Simulated {
    pub(crate) shards: ShardRange,
    pub(crate) phases: Phases,
    pub(crate) timeout: Nanos,
    pub(crate) supply: SupplyBounds,
    /// Supply prepares nothing between these instants.
    pub(crate) supply_stall: (Nanos, Nanos),
    /// When nobody runs, each with for how long.
    pub(crate) standstills: Vec<(Nanos, Nanos)>,
    /// Commands, each with the instant after the epoch at which it takes effect.
    pub(crate) commands: Vec<(Nanos, Command)>,
    /// How single operations are sampled.
    pub(crate) sampling: Option<OperationSampling>,
}

impl Simulated {
    pub(crate) fn measuring(length: Nanos) -> Self {
        let phases = Phases {
            start: SECOND,
            warm_up: Nanos::ZERO,
            measurement: Some(length),
            drain: Nanos::from_secs(10),
        };
        Self {
            shards: ShardRange::default(),
            phases,
            timeout: Nanos::from_secs(30),
            supply: SupplyBounds::default(),
            supply_stall: (Nanos::ZERO, Nanos::ZERO),
            standstills: Vec::new(),
            commands: Vec::new(),
            sampling: None,
        }
    }

    pub(crate) fn over(mut self, shards: impl Into<ShardRange>) -> Self {
        self.shards = shards.into();
        self
    }

    /// Runs to the end and returns the merged record. Fates are checked at every interval on the way.
    pub(crate) fn run<W: Workload>(&self, workload: W, load: Load) -> Interval {
        self.run_with(Arc::new(workload), load, |_, _| None)
    }

    /// The same, with a way to a verifier for each shard.
    pub(crate) fn run_with<W: Workload>(
        &self,
        workload: Arc<W>,
        load: Load,
        promises: impl Fn(&SimulatedRuntime, usize) -> Option<PromiseSender>,
    ) -> Interval {
        self.run_telling(workload, load, promises, |_, _| ())
    }

    /// The same; `told` sees each interval that all shards have delivered, and whether it is the last.
    pub(crate) fn run_telling<W: Workload>(
        &self,
        workload: Arc<W>,
        load: Load,
        promises: impl Fn(&SimulatedRuntime, usize) -> Option<PromiseSender>,
        told: impl Fn(Interval, bool) + Clone + 'static,
    ) -> Interval {
        let plan = LoadedWorkload {
            name: "scripted".to_owned(),
            workload,
            load,
            timeout: self.timeout,
            supply: self.supply,
        };
        self.run_lanes(&[Arc::new(plan)], promises, told)
    }

    /// The same of several lanes, all of which have the same way to a verifier.
    pub(crate) fn run_lanes(
        &self,
        plans: &[Arc<dyn LanePlan<SimulatedRuntime>>],
        promises: impl Fn(&SimulatedRuntime, usize) -> Option<PromiseSender>,
        told: impl Fn(Interval, bool) + Clone + 'static,
    ) -> Interval {
        let mut simulation = Simulation::new();
        let runtime = simulation.runtime();
        let (supply, rings) = SupplyPool::by_hand();
        let supply = Arc::new(supply);
        let series = plans.iter().map(|plan| plan.series().len()).sum();
        let collector = Rc::new(RefCell::new(Collector::new(series, self.shards.count())));
        for (place, shard) in self.shards.numbers().enumerate() {
            let lanes = plans.iter().map(|plan| (plan.clone(), promises(&runtime, shard))).collect();
            let spec = ShardSpec {
                shard,
                shards: self.shards.total(),
                lanes,
                supply: supply.clone(),
                crew: CrewMember::inline().of_shard(),
                interval: SECOND,
                sampling: self.sampling,
            };
            let commands = start(&runtime, place, spec, &collector, told.clone());
            commands.unbounded_send(ShardCommand::Start(self.phases)).unwrap();
            for (at, command) in &self.commands {
                let told = match command {
                    Command::Stop { .. } => ShardCommand::End(*at, *at + self.phases.drain),
                    command => ShardCommand::Apply(*at, None, command.clone()),
                };
                commands.unbounded_send(told).unwrap();
            }
        }
        runtime.spawn(Box::pin(prepare(runtime.clock(), rings, self.supply_stall, collector.clone())));
        runtime.spawn(Box::pin(stand_still(runtime.clone(), self.standstills.clone())));
        simulation.run();
        let collector = Rc::into_inner(collector).expect("every shard has ended").into_inner();
        assert!(collector.all_over(), "every shard ends");
        let total = collector.total().clone();
        assert!(total.series.iter().flatten().all(SeriesRecord::balances));
        total
    }
}

fn start(
    runtime: &SimulatedRuntime,
    place: usize,
    spec: ShardSpec<SimulatedRuntime>,
    collector: &Rc<RefCell<Collector>>,
    told: impl Fn(Interval, bool) + 'static,
) -> UnboundedSender<ShardCommand> {
    let (sender, receiver) = unbounded();
    let keep = sender.clone();
    let (task, runtime, collector) = (runtime.clone(), runtime.clone(), collector.clone());
    task.spawn(Box::pin(async move {
        let report = |report| {
            let mut collector = collector.borrow_mut();
            match report {
                ShardReport::Ready(_) | ShardReport::LaneEnded(_) => return,
                ShardReport::Interval(index, interval) => collector.take(place, index, interval),
                ShardReport::Over(index, interval) => collector.over(place, index, interval),
            }
            while let Some(merged) = collector.next_complete() {
                assert!(merged.series.iter().flatten().all(SeriesRecord::balances), "at every interval");
                told(merged, collector.is_done());
            }
        };
        shard::run(runtime, spec, receiver, report).await.unwrap();
        drop(keep);
    }));
    sender
}

/// Stops everything at these instants for so long.
async fn stand_still(runtime: SimulatedRuntime, standstills: Vec<(Nanos, Nanos)>) {
    for (at, length) in standstills {
        runtime.clock().sleep_until(at).await;
        runtime.stand_still(length);
    }
}

/// Supply's thread, as a task: it looks every 200 us until every shard is over.
async fn prepare(
    clock: Rc<dyn Clock>,
    rings: mpsc::Receiver<Box<dyn SupplyWork>>,
    stall: (Nanos, Nanos),
    collector: Rc<RefCell<Collector>>,
) {
    let mut works: Vec<Box<dyn SupplyWork>> = Vec::new();
    clock.sleep_until(Nanos(1)).await;
    works.extend(rings.try_iter());
    while !works.is_empty() && !collector.borrow().all_over() {
        if !(stall.0..stall.1).contains(&clock.now()) {
            works.iter_mut().for_each(|work| {
                work.work();
            });
        }
        clock.sleep_until(clock.now() + Nanos::from_micros(200)).await;
    }
}

//! The threads of a run: shards, supply, verifiers, and one for observers.

use std::convert::identity;
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::{join_all, select};
use hammer_measure::promise::KindLedger;
use hammer_measure::{Ledger, Nanos, Now as _};
use tokio::runtime::LocalOptions;
use tokio::sync::watch;

use crate::background;
use crate::clock::MonotonicClock;
use crate::crew::{CrewMember, CrewPool};
use crate::dispatch::{LanePlan, OperationSampling};
use crate::message::Message;
use crate::observe::{ObservationSink, Observer};
use crate::panics::PanicGuard;
use crate::promise::{Finding, VerifyPool};
use crate::run_error::RunError;
use crate::runtime::Clock as _;
use crate::runtime::threaded::ThreadedRuntime;
use crate::shard::{self, ShardCommand, ShardSpec};
use crate::supply::SupplyPool;

use super::spec::RunSpec;

/// All of them.
pub(super) struct Threads {
    shards: Vec<(UnboundedSender<ShardCommand>, JoinHandle<()>)>,
    supply: Option<Arc<SupplyPool>>,
    crew: Option<CrewPool>,
    verify: Vec<(String, Option<Arc<VerifyPool>>)>,
    observers: Option<ObserveThread>,
    /// What observers are told by that every operation has ended.
    is_judging: Arc<AtomicBool>,
    /// How much observers have seen that they cannot judge yet.
    undecided: Arc<AtomicU64>,
}

type ThreadedLane = Arc<dyn LanePlan<ThreadedRuntime>>;
type ObserveThread = (watch::Sender<bool>, JoinHandle<()>);

struct ShardThread {
    /// Among the shards of this process: what it reports comes under it.
    place: usize,
    /// Among all shards of the run: what it sends follows from it.
    shard: usize,
    shards: usize,
    clock: MonotonicClock,
    interval: Nanos,
    sampling: Option<OperationSampling>,
    lanes: Vec<(ThreadedLane, Option<Arc<VerifyPool>>)>,
    supply: Arc<SupplyPool>,
    crew: CrewMember,
}

impl Threads {
    pub(super) fn start(spec: &mut RunSpec, messages: &mpsc::Sender<Message>) -> Result<Self, RunError> {
        let failed = messages.clone();
        let supply = SupplyPool::start_watched(spec.supply_threads.max(1), move || {
            let _ = failed.send(Message::Failed(RunError::SupplyPanicked));
        });
        let supply = Arc::new(supply?);
        let failed = messages.clone();
        let crew = CrewPool::start(spec.supply_threads.max(1), spec.clock, move || {
            let _ = failed.send(Message::Failed(RunError::CrewPanicked));
        })?;
        let mut threads = Self {
            shards: Vec::new(),
            supply: Some(supply.clone()),
            crew: None,
            verify: Vec::new(),
            observers: None,
            is_judging: Arc::default(),
            undecided: Arc::default(),
        };
        for lane in &spec.lanes {
            let pool = verifiers(spec, lane.as_ref(), messages)?;
            threads.verify.push((lane.workload().to_owned(), pool));
        }
        for (place, shard) in spec.shards.numbers().enumerate() {
            let lanes = spec.lanes.iter().zip(&threads.verify);
            let work = ShardThread {
                place,
                shard,
                shards: spec.shards.total(),
                clock: spec.clock,
                interval: spec.interval,
                sampling: spec.samples.map(|sizes| OperationSampling { sizes, seed: spec.seed }),
                lanes: lanes.map(|(lane, (_, pool))| (lane.clone(), pool.clone())).collect(),
                supply: supply.clone(),
                crew: crew.crew_of(shard),
            };
            threads.shards.push(work.start(messages.clone())?);
        }
        threads.crew = Some(crew);
        let patience = spec.goal.as_ref().map(|_| spec.patience);
        let shared = (threads.is_judging.clone(), threads.undecided.clone());
        let sink = ObservationSink::new(messages.clone(), shared, patience);
        threads.observers = observe(spec, sink, messages)?;
        Ok(threads)
    }

    /// Tells the shard of that place among those of this process.
    pub(super) fn tell(&self, place: usize, command: ShardCommand) {
        // A shard that is over needs no command.
        let _ = self.shards[place].0.unbounded_send(command);
    }

    pub(super) fn tell_shards(&self, command: impl Fn() -> ShardCommand) {
        (0..self.shards.len()).for_each(|place| self.tell(place, command()));
    }

    pub(super) fn promises(&self) -> Ledger {
        let mut all = Ledger::default();
        self.verify.iter().filter_map(|(_, pool)| pool.as_ref()).for_each(|pool| all.add(&pool.ledger()));
        all
    }

    /// How many promises are pending that may still be judged, and how much of what observers saw may be.
    pub(super) fn awaited(&self) -> u64 {
        let promises: u64 = self.verify.iter().filter_map(|(_, pool)| Some(pool.as_ref()?.awaited())).sum();
        promises.saturating_add(self.undecided.load(Ordering::Relaxed))
    }

    pub(super) fn promises_by_kind(&self) -> Vec<KindLedger> {
        let pools = self.verify.iter().filter_map(|(name, pool)| Some((name, pool.as_ref()?.by_kind())));
        pools.flat_map(|(name, kinds)| kind_ledgers(name, kinds)).collect()
    }

    /// Tells observers that every operation has ended.
    pub(super) fn judge(&self) {
        self.is_judging.store(true, Ordering::Relaxed);
    }

    /// Ends every thread, verifiers last and once they are done.
    pub(super) fn stop(&mut self) -> Vec<KindLedger> {
        self.quit();
        let verify = std::mem::take(&mut self.verify);
        let ledgers = verify.into_iter().filter_map(|(name, pool)| {
            let kinds = match Arc::try_unwrap(pool?) {
                Ok(pool) => pool.stop(),
                Err(still_used) => still_used.by_kind(),
            };
            Some(kind_ledgers(&name, kinds))
        });
        ledgers.flatten().collect()
    }

    /// Ends shards, supply and observers.
    pub(super) fn quit(&mut self) {
        for (commands, handle) in self.shards.drain(..) {
            drop(commands);
            // A panic was told as a failure by the thread's guard.
            let _ = handle.join();
        }
        if let Some((stop, handle)) = self.observers.take() {
            let _ = stop.send(true);
            let _ = handle.join();
        }
        if let Some(pool) = self.supply.take().and_then(Arc::into_inner) {
            pool.stop();
        }
        if let Some(pool) = self.crew.take() {
            pool.stop();
        }
    }
}

fn kind_ledgers(workload: &str, kinds: Vec<(&'static str, Ledger)>) -> Vec<KindLedger> {
    let named = |(kind, ledger): (&'static str, Ledger)| KindLedger {
        workload: workload.to_owned(),
        kind: kind.to_owned(),
        ledger,
    };
    kinds.into_iter().map(named).collect()
}

fn verifiers(
    spec: &RunSpec,
    lane: &dyn LanePlan<ThreadedRuntime>,
    messages: &mpsc::Sender<Message>,
) -> Result<Option<Arc<VerifyPool>>, RunError> {
    let mut pool = None;
    for _ in 0..spec.verify_threads.max(1) {
        let Some(verifier) = lane.verifier() else { return Ok(None) };
        let pool = pool.get_or_insert_with(|| {
            VerifyPool::new(lane.promise_kinds(), spec.verify_ring_bytes, spec.spill_folder.clone())
        });
        let (clock, messages) = (spec.clock, messages.clone());
        let (failed, workload) = (messages.clone(), lane.workload().to_owned());
        let tell = move |finding| {
            let _ = messages.send(match finding {
                Finding::Broken(promise) => Message::Broken(clock.now(), promise),
                Finding::Unverified(text) => Message::note(clock.now(), text),
            });
        };
        let panicked = move || {
            let _ = failed.send(Message::Failed(RunError::VerifierPanicked(workload)));
        };
        pool.start(lane.workload(), verifier, move || clock.now(), tell, panicked)?;
    }
    Ok(pool.map(Arc::new))
}

impl ShardThread {
    fn start(
        self,
        messages: mpsc::Sender<Message>,
    ) -> Result<(UnboundedSender<ShardCommand>, JoinHandle<()>), RunError> {
        let (sender, commands) = unbounded();
        let builder = thread::Builder::new().name(format!("shard-{}", self.shard));
        let handle = builder.spawn(move || {
            let (shard, failed) = (self.shard, messages.clone());
            let _guard = PanicGuard::new(move || {
                let _ = failed.send(Message::Failed(RunError::Panicked(shard)));
            });
            self.run(commands, &messages);
        })?;
        Ok((sender, handle))
    }

    fn run(self, commands: UnboundedReceiver<ShardCommand>, messages: &mpsc::Sender<Message>) {
        let (place, shard) = (self.place, self.shard);
        let lanes = self.lanes.into_iter().map(|(lane, pool)| {
            let promises = pool.and_then(|pool| pool.sender(shard, self.crew.clone()));
            (lane, promises)
        });
        let spec = ShardSpec {
            shard,
            shards: self.shards,
            lanes: lanes.collect(),
            supply: self.supply,
            crew: self.crew.of_shard(),
            interval: self.interval,
            sampling: self.sampling,
        };
        let told = messages.clone();
        let report = move |report| {
            let _ = told.send(Message::Shard(place, report));
        };
        let failed = messages.clone();
        let runtime = ThreadedRuntime::new(self.clock).watched(move || {
            let _ = failed.send(Message::Failed(RunError::Panicked(shard)));
        });
        let work = async move {
            let ended = shard::run(runtime, spec, commands, report).await;
            ended.map_err(|error| RunError::Open(error.to_string()))
        };
        if let Err(error) = on_this_thread(work).and_then(identity) {
            let _ = messages.send(Message::Failed(error));
        }
    }
}

/// Runs `work` on a runtime of this thread's own, as one of its tasks: what wakes a task costs no system call, while what wakes the
/// future that the runtime blocks on does.
fn on_this_thread<T: 'static>(work: impl Future<Output = T> + 'static) -> Result<T, RunError> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().event_interval(EVENT_INTERVAL);
    let runtime = builder.build_local(LocalOptions::default())?;
    let ended = runtime.block_on(async { tokio::task::spawn_local(work).await });
    Ok(ended.unwrap_or_else(|ended| resume_unwind(ended.into_panic())))
}

fn observe(
    spec: &mut RunSpec,
    sink: ObservationSink,
    messages: &mpsc::Sender<Message>,
) -> Result<Option<ObserveThread>, RunError> {
    let observers: Vec<Box<dyn Observer>> = std::mem::take(&mut spec.observers);
    if observers.is_empty() {
        return Ok(None);
    }
    let (stop, stopped) = watch::channel(false);
    let (clock, failed) = (spec.clock, messages.clone());
    let handle = thread::Builder::new().name("observe".to_owned()).spawn(move || {
        let panicked = failed.clone();
        let _guard = PanicGuard::new(move || {
            let _ = panicked.send(Message::Failed(RunError::ObserverPanicked));
        });
        background::make_way();
        let ended = on_this_thread(async move {
            let looks = observers.into_iter().map(|observer| {
                observer.observe(sink.clone(), Rc::new(clock), Box::pin(ended(stopped.clone())))
            });
            let looks = join_all(looks.collect::<Vec<_>>());
            let out_of_time = async {
                ended(stopped.clone()).await;
                clock.sleep_until(clock.now() + LAST_LOOK).await;
            };
            select(pin!(looks), pin!(out_of_time)).await;
        });
        if let Err(error) = ended {
            let _ = failed.send(Message::Failed(error));
        }
    })?;
    Ok(Some((stop, handle)))
}

/// Ready when the run is over; a dropped sender says so too.
async fn ended(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

const LAST_LOOK: Nanos = Nanos::from_secs(2);
/// Tasks that run between two looks at the sockets and the alarm: fewer than tokio's 61, so that releases are not held
/// up behind a full queue of answers.
const EVENT_INTERVAL: u32 = 31;

//! What is kept up beside the operations because they live by it, such as the tokens that they show: exchanges that no load names, which
//! fall due by themselves. They are steps with series of their own, and in no operation's figures. One shard of a process carries them
//! out, one after another.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use hammer_measure::{Command, Nanos};

use crate::phase::Phases;
use crate::promise::Verifier;
use crate::record::{Admission, OperationRecord, RecordParts};
use crate::runtime::{LocalFuture, Runtime};
use crate::workload::{FatalError, SeriesSpec, ShardContext};

use super::bell::ShardBell;
use super::context::{ABANDONED, TIMED_OUT};
use super::lane::{Lane, LanePlan, LaneShard};
use super::quantum;
use super::slot::{OperationSlot, SlotList};

/// Something that operations live by, and that has to be renewed.
pub trait Upkeep: Send + Sync + 'static {
    /// What the shard that carries it out keeps for it.
    type Session: 'static;

    /// The names of its series, all of them steps.
    fn series(&self) -> Vec<&'static str>;

    /// Opens it, on one shard of a process.
    ///
    /// # Errors
    /// When the run cannot go on.
    fn open(&self, context: ShardContext) -> impl Future<Output = Result<Self::Session, FatalError>>;

    /// When the next exchange is due, asked at `now` while none is under way; none where none ever will be. The last one may have been
    /// dropped halfway.
    fn next_due(&self, session: &Self::Session, now: Nanos) -> Option<Nanos>;

    /// Carries out what is due. Dropped when it takes longer than it may.
    fn keep_up(&self, session: &Self::Session, record: &OperationRecord) -> impl Future<Output = ()>;
}

/// An upkeep, named, before any shard opens it.
pub struct UpkeepPlan<U> {
    /// Its name: what stands before those of its series.
    pub name: String,
    /// What is kept up.
    pub upkeep: Arc<U>,
    /// How long an exchange may take.
    pub timeout: Nanos,
    /// Whether a shard of this process carries it out already.
    is_taken: AtomicBool,
}

impl<U> UpkeepPlan<U> {
    /// An upkeep under a name.
    pub fn new(name: impl Into<String>, upkeep: U, timeout: Nanos) -> Self {
        Self { name: name.into(), upkeep: Arc::new(upkeep), timeout, is_taken: AtomicBool::new(false) }
    }
}

impl<U: Upkeep, R: Runtime> LanePlan<R> for UpkeepPlan<U> {
    fn workload(&self) -> &str {
        &self.name
    }

    fn series(&self) -> Vec<SeriesSpec> {
        let step = |name: &str| SeriesSpec::new(name, false);
        self.upkeep.series().into_iter().map(step).collect()
    }

    /// The next exchange follows the answer to the last one.
    fn closed_loop(&self) -> bool {
        true
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &[]
    }

    fn refuses(&self, command: &Command, _: usize) -> Option<&'static str> {
        match command {
            Command::Rate { .. } | Command::InFlight { .. } => {
                Some("it is no load: it is sent as it falls due")
            }
            Command::Pause | Command::Resume | Command::Stop { .. } | Command::Mark { .. } => None,
        }
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        None
    }

    fn open(&self, shard: LaneShard<R>) -> LocalFuture<Result<Rc<dyn Lane>, FatalError>> {
        // Whichever shard comes first: nothing is read because of it.
        let is_taken = self.is_taken.swap(true, Ordering::Relaxed);
        let (upkeep, timeout) = (self.upkeep.clone(), self.timeout);
        Box::pin(async move {
            let lane = Rc::new(UpkeepLane::new(&shard));
            if !is_taken {
                let context = ShardContext {
                    shard: 0,
                    shards: 1,
                    in_flight: 1,
                    clock: shard.runtime.clock(),
                    samples: shard.samples.clone(),
                    answers: shard.answers.clone(),
                    recorder: shard.recorder.clone(),
                };
                let session = upkeep.open(context).await?;
                let work = UpkeepWork { upkeep, session, timeout, lane: lane.clone() };
                let runtime = shard.runtime.clone();
                let record = OperationRecord::new(RecordParts {
                    recorder: shard.recorder,
                    clock: runtime.clock(),
                    crew: shard.crew,
                    answers: shard.answers,
                    promises: shard.promises,
                    first_series: shard.first_series,
                    is_sampled: false,
                });
                let at = runtime.clone();
                runtime.spawn(Box::pin(work.live(record, shard.first_series, at)));
            }
            Ok(lane as Rc<dyn Lane>)
        })
    }
}

/// An upkeep on a shard.
struct UpkeepLane {
    bell: Rc<ShardBell>,
    slots: SlotList<()>,
    slot: Rc<OperationSlot<()>>,
    phases: Cell<Option<Phases>>,
    end: Cell<Nanos>,
    /// When its task wants to be woken.
    due: Cell<Nanos>,
    is_busy: Cell<bool>,
}

/// The task of the shard that carries it out.
struct UpkeepWork<U: Upkeep> {
    upkeep: Arc<U>,
    session: U::Session,
    timeout: Nanos,
    lane: Rc<UpkeepLane>,
}

impl UpkeepLane {
    fn new<R: Runtime>(shard: &LaneShard<R>) -> Self {
        let slots = SlotList::default();
        let slot = slots.add();
        Self {
            bell: shard.bell.clone(),
            slots,
            slot,
            phases: Cell::new(None),
            end: Cell::new(Nanos::MAX),
            due: Cell::new(Nanos::MAX),
            is_busy: Cell::new(false),
        }
    }
}

impl<U: Upkeep> UpkeepWork<U> {
    async fn live<R: Runtime>(self, record: OperationRecord, series: usize, runtime: R) {
        let lane = &self.lane;
        let phases = lane.started().await;
        let mut seq = 0;
        while let Some(due) = self.upkeep.next_due(&self.session, runtime.now()) {
            if !lane.until(due.max(phases.start), &runtime).await {
                break;
            }
            let started = runtime.now();
            let phase = phases.of(started);
            record.start_beside(Admission { seq, series, phase, intended: due, started });
            lane.is_busy.set(true);
            {
                let work = pin!(self.upkeep.keep_up(&self.session, &record));
                // What is cut off has recorded itself.
                let _ = lane.slot.until_deadline(started.saturating_add(self.timeout), &record, work).await;
            }
            lane.is_busy.set(false);
            // The shard may have been waiting for nothing else.
            lane.bell.due(Nanos::ZERO);
            seq += 1;
        }
    }
}

impl UpkeepLane {
    async fn started(&self) -> Phases {
        poll_fn(|cx| match self.phases.get() {
            Some(phases) => Poll::Ready(phases),
            None => {
                self.slot.wait(cx.waker());
                Poll::Pending
            }
        })
        .await
    }

    /// Waits for that instant; whether it comes before the end of arrivals.
    async fn until<R: Runtime>(&self, at: Nanos, runtime: &R) -> bool {
        poll_fn(|cx| {
            if at >= self.end.get() || self.end.get() <= runtime.now() {
                return Poll::Ready(false);
            }
            if at <= runtime.now() {
                return Poll::Ready(true);
            }
            self.due.set(at);
            self.bell.due(at);
            self.slot.wait(cx.waker());
            Poll::Pending
        })
        .await
    }
}

impl Lane for UpkeepLane {
    fn start_arrivals(&self, phases: &Phases) {
        self.phases.set(Some(*phases));
        self.end.set(self.end.get().min(phases.arrivals_end()));
        self.slot.wake();
    }

    fn is_filled(&self) -> bool {
        true
    }

    fn pump(&self, until: Nanos, _now: Nanos) {
        if self.due.get() <= until {
            self.due.set(Nanos::MAX);
            self.slot.wake();
        }
    }

    fn next_due(&self) -> Option<Nanos> {
        Some(self.due.get()).filter(|due| *due < Nanos::MAX)
    }

    /// What is under way is a step, and says itself that it wants its answer.
    fn lets_answers_wait(&self) -> bool {
        true
    }

    fn quantum(&self) -> Nanos {
        quantum::SHORTEST
    }

    fn sweep(&self, now: Nanos) {
        self.slots.expire(now, TIMED_OUT);
    }

    fn command(&self, _now: Nanos, _command: &Command) {}

    fn end_arrivals(&self, at: Nanos) {
        self.end.set(self.end.get().min(at));
        self.due.set(Nanos::MAX);
        self.slot.wake();
    }

    fn has_ended(&self, now: Nanos) -> bool {
        now >= self.end.get()
    }

    fn abandon(&self) {
        self.end.set(Nanos::ZERO);
        self.slots.expire(Nanos::MAX, ABANDONED);
    }

    fn is_settled(&self) -> bool {
        !self.is_busy.get()
    }

    /// It outlives no operation; what is under way comes to its end.
    fn is_over(&self, _now: Nanos) -> bool {
        !self.is_busy.get()
    }
}

//! From what is due to what is under way. An open lane releases by its schedule, whatever became of earlier
//! operations; a closed lane's users wait for their answers. Both carry operations out in slots: long-lived tasks, so
//! that an operation allocates none.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use hammer_measure::{Command, Nanos, Recorder};

use crate::crew::Crew;
use crate::phase::Phases;
use crate::promise::{PromiseSender, Verifier};
use crate::runtime::{LocalFuture, Runtime};
use crate::sample::ShardSamples;
use crate::supply::{SupplyBounds, SupplyPool};
use crate::workload::{FatalError, SeriesSpec, ShardContext, Workload};

mod bell;
mod check;
mod closed;
mod context;
mod load;
mod open;
mod quantum;
mod queue;
mod slot;
mod source;
mod stages;

pub use bell::ShardBell;
pub use load::{Closed, Iterations, Load, Open, Think};
pub use stages::{Stage, Stages};

/// One workload's load on one shard.
pub trait Lane {
    /// The phases are known: arrivals begin at `phases.begin`.
    fn begin(&self, phases: &Phases);
    /// Whether all that was to be prepared ahead is there.
    fn is_filled(&self) -> bool;
    /// Releases what is due by `until`, `now` being the instant at which that happens, and starts what can start.
    fn pump(&self, until: Nanos, now: Nanos);
    /// When something is due next; `None` when nothing is until something under way ends.
    fn next_due(&self) -> Option<Nanos>;
    /// What is due within this span goes together.
    fn quantum(&self) -> Nanos;
    /// Ends what is past its deadline, and wakes the threads beside the shard.
    fn sweep(&self, now: Nanos);
    /// Applies a command.
    fn command(&self, now: Nanos, command: &Command);
    /// No arrival from `at` on. Told when that is known, and again when it has come.
    fn end_arrivals(&self, at: Nanos);
    /// Cuts off what waits and what is under way.
    fn abandon(&self);
    /// Whether everything that was cut off has recorded itself.
    fn is_settled(&self) -> bool;
    /// Whether nothing more will arrive, wait or end here; `now` is when the lane was last pumped.
    fn is_over(&self, now: Nanos) -> bool;
}

/// A workload and its load, before any shard opens it.
pub trait LanePlan<R: Runtime>: Send + Sync {
    /// The workload's name in the plan.
    fn workload(&self) -> &str;
    /// Its series.
    fn series(&self) -> Vec<SeriesSpec>;
    /// Whether its load waits for answers.
    fn closed_loop(&self) -> bool;
    /// The kinds of promises that it receives.
    fn promise_kinds(&self) -> &[&'static str];
    /// A verifier, when the workload receives promises.
    fn verifier(&self) -> Option<Box<dyn Verifier>>;
    /// Opens it on a shard.
    fn open(&self, shard: LaneShard<R>) -> LocalFuture<Result<Rc<dyn Lane>, FatalError>>;
}

/// What a lane is opened with.
pub struct LaneShard<R: Runtime> {
    /// The shard's runtime.
    pub runtime: R,
    /// The shard, from 0.
    pub shard: usize,
    /// How many there are.
    pub shards: usize,
    /// The shard's recorder.
    pub recorder: Rc<RefCell<Recorder>>,
    /// The index of the workload's first series.
    pub first_series: usize,
    /// The threads that prepare operations.
    pub supply: Arc<SupplyPool>,
    /// The shard's way to the threads that compute in the middle of flows.
    pub crew: Crew,
    /// What the shard's workloads keep of answers for one another.
    pub samples: ShardSamples,
    /// Wakes the shard.
    pub bell: Rc<ShardBell>,
    /// The way to the workload's verifier.
    pub promises: Option<PromiseSender>,
}

/// A workload, named, and its load.
pub struct LoadedWorkload<W: Workload> {
    /// Its name in the plan.
    pub name: String,
    /// What is sent.
    pub workload: Arc<W>,
    /// When, and how much of it at once.
    pub load: Load,
    /// How long an operation may take from its start.
    pub timeout: Nanos,
    /// The bounds of what is prepared ahead, per shard.
    pub supply: SupplyBounds,
}

impl<W: Workload, R: Runtime> LanePlan<R> for LoadedWorkload<W> {
    fn workload(&self) -> &str {
        &self.name
    }

    fn series(&self) -> Vec<SeriesSpec> {
        self.workload.series()
    }

    fn closed_loop(&self) -> bool {
        matches!(self.load, Load::Closed(_))
    }

    fn promise_kinds(&self) -> &[&'static str] {
        self.workload.promise_kinds()
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        self.workload.verifier()
    }

    fn open(&self, shard: LaneShard<R>) -> LocalFuture<Result<Rc<dyn Lane>, FatalError>> {
        let (workload, load) = (self.workload.clone(), self.load.clone());
        let (timeout, bounds) = (self.timeout, self.supply);
        Box::pin(async move {
            let context = ShardContext {
                shard: shard.shard,
                shards: shard.shards,
                in_flight: load.in_flight_on(shard.shard, shard.shards),
                clock: shard.runtime.clock(),
                samples: shard.samples.clone(),
            };
            let session = workload.open(context).await?;
            let context = context::LaneContext::new(workload, session, timeout, shard);
            let lane: Rc<dyn Lane> = match load {
                Load::Open(open) => open::OpenLane::new(context, &open, bounds),
                Load::Closed(closed) => closed::ClosedLane::new(context, &closed, bounds),
            };
            Ok(lane)
        })
    }
}

/// Most operations in flight at once on one shard: its share of `limit`, and at least one, since its arrivals would
/// wait for ever.
fn in_flight_share(limit: usize, shard: usize, shards: usize) -> usize {
    share_of(limit, shard, shards).max(limit.min(1))
}

/// `whole` split over shards so that the parts add up to it.
fn share_of(whole: usize, shard: usize, shards: usize) -> usize {
    whole / shards + usize::from(shard < whole % shards)
}

//! From what is due to what is under way. An open lane releases by its schedule, whatever became of earlier
//! operations; a closed lane's users wait for their answers. Both carry operations out in slots: long-lived tasks, so
//! that an operation allocates none.

use std::rc::Rc;
use std::sync::Arc;

use hammer_measure::{Command, Nanos};

use crate::promise::Verifier;
use crate::runtime::{LocalFuture, Runtime};
use crate::supply::SupplyBounds;
use crate::workload::{FatalError, SeriesSpec, ShardContext, Workload};

mod bell;
mod check;
mod checks;
mod closed;
mod context;
mod fill_goal;
mod lane;
mod load;
mod open;
mod operation;
mod quantum;
mod queue;
mod sampled;
mod share;
mod slot;
mod source;
mod stages;
mod upkeep;

pub use bell::ShardBell;
pub use fill_goal::{FillFailure, FillGoal, FillLimits};
pub use lane::{Lane, LanePlan, LaneShard};
pub use load::{Closed, Iterations, Load, Open, Think};
pub use sampled::OperationSampling;
pub use stages::{Stage, Stages};
pub use upkeep::{Upkeep, UpkeepPlan};

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

    fn refuses(&self, command: &Command, shards: usize) -> Option<&'static str> {
        match (&self.load, command) {
            (Load::Closed(_), Command::Rate { .. }) => {
                Some("its load is closed: users wait for their answers, and there is no rate to change")
            }
            (Load::Closed(closed), Command::InFlight { limit, .. })
                if *limit > closed.stages.most_users() =>
            {
                Some("its load is closed: a command leaves users out, and brings no more than its plan has")
            }
            (Load::Open(_), Command::InFlight { limit, .. }) if *limit < shards => Some(BELOW_SHARDS),
            // A shard has its share of what users have to do, and nobody else does it.
            (Load::Closed(closed), Command::InFlight { limit, .. })
                if *limit < shards.min(closed.stages.most_users()) =>
            {
                Some(BELOW_SHARDS)
            }
            _ => None,
        }
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
                answers: shard.answers.clone(),
                recorder: shard.recorder.clone(),
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

/// Why a limit in flight is refused that leaves a shard with none.
const BELOW_SHARDS: &str = "each shard has one in flight at least, and there are more shards than that";

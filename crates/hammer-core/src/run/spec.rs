//! What a run is made of.

use std::path::PathBuf;
use std::sync::Arc;

use hammer_measure::headline::Headline;
use hammer_measure::health::HealthPolicy;
use hammer_measure::snapshot::Resources;
use hammer_measure::{Nanos, SampleSizes};

use crate::clock::{MonotonicClock, unix_millis};
use crate::dispatch::{FillGoal, LanePlan};
use crate::observe::Observer;
use crate::runtime::threaded::ThreadedRuntime;
use crate::shard_range::ShardRange;

use super::judge::ScopedThreshold;
use super::stop::StopRule;

/// What a run is made of.
pub struct RunSpec {
    /// The clock that every instant of the run is read from.
    pub clock: MonotonicClock,
    /// The wall clock at the clock's epoch, milliseconds since the Unix epoch.
    pub epoch_unix_ms: u64,
    /// The seed of everything that is drawn or minted.
    pub seed: u64,
    /// The threads that send: all of the run's, or those that fall to this process. Limits are those of the whole run.
    pub shards: ShardRange,
    /// Threads that prepare operations.
    pub supply_threads: usize,
    /// Threads that check promises, for each workload that receives any.
    pub verify_threads: usize,
    /// Bytes of the ring between a shard and a verifier.
    pub verify_ring_bytes: usize,
    /// Where records go that do not fit their ring.
    pub spill_folder: PathBuf,
    /// Length of warm-up.
    pub warm_up: Nanos,
    /// Length of measurement; `None` when something else ends it.
    pub measurement: Option<Nanos>,
    /// How long drain may take.
    pub drain: Nanos,
    /// Length of an interval.
    pub interval: Nanos,
    /// Every workload with its load.
    pub lanes: Vec<Arc<dyn LanePlan<ThreadedRuntime>>>,
    /// Who looks at the target beside the load.
    pub observers: Vec<Box<dyn Observer>>,
    /// What of that reports name first, in that order; none unless somebody says so.
    pub headlines: Vec<Headline>,
    /// What ends the arrivals besides time.
    pub stops: Vec<StopRule>,
    /// How far it comes, where the run is a fill; reporters tell how far it has come.
    pub goal: Option<Arc<FillGoal>>,
    /// How long a fill waits for verdicts: each behind the last, once it gave up, and otherwise until what they are read from cannot be
    /// reached for so long, which its observers tell.
    pub patience: Nanos,
    /// What the plan expects of the figures.
    pub thresholds: Vec<ScopedThreshold>,
    /// Whether every interval tells how the thresholds stand: somebody looks on.
    pub shows_thresholds: bool,
    /// What the plan says of the generator's health.
    pub health: HealthPolicy,
    /// How many operations of each series, phase and interval are kept one by one; none unless somebody says so.
    pub samples: Option<SampleSizes>,
    /// Reads what the process used so far.
    pub resources: Box<dyn FnMut() -> Resources>,
}

impl RunSpec {
    /// A run of these workloads that starts now and ends when they do: one thread of each kind, rings of 1 MiB, intervals of a
    /// second, 5 s of drain, 30 s of patience; no warm-up, observer, headline, stop rule or threshold, and nothing said of resources.
    pub fn new(lanes: Vec<Arc<dyn LanePlan<ThreadedRuntime>>>) -> Self {
        Self {
            clock: MonotonicClock::starting_now(),
            epoch_unix_ms: unix_millis(),
            seed: 1,
            shards: ShardRange::default(),
            supply_threads: 1,
            verify_threads: 1,
            verify_ring_bytes: 1 << 20,
            spill_folder: std::env::temp_dir(),
            warm_up: Nanos::ZERO,
            measurement: None,
            drain: Nanos::from_secs(5),
            interval: Nanos::from_secs(1),
            lanes,
            observers: Vec::new(),
            headlines: Vec::new(),
            stops: Vec::new(),
            goal: None,
            patience: Nanos::from_secs(30),
            thresholds: Vec::new(),
            shows_thresholds: false,
            health: HealthPolicy::default(),
            samples: None,
            resources: Box::new(Resources::default),
        }
    }
}

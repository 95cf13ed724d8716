//! A lane: a workload's load on a shard, and what it is opened with.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use hammer_measure::{Command, Nanos, Recorder};

use crate::answers::ShardAnswers;
use crate::crew::Crew;
use crate::phase::Phases;
use crate::promise::{PromiseSender, Verifier};
use crate::runtime::{LocalFuture, Runtime};
use crate::sample::ShardSamples;
use crate::standstill::StandstillMeter;
use crate::supply::SupplyPool;
use crate::workload::{FatalError, SeriesSpec};

use super::bell::ShardBell;
use super::sampled::OperationSampling;

/// One workload's load on one shard.
pub trait Lane {
    /// The phases are known: arrivals start at `phases.start`.
    fn start_arrivals(&self, phases: &Phases);
    /// Whether all that was to be prepared ahead is there.
    fn is_filled(&self) -> bool;
    /// Releases what is due by `until`, `now` being the instant at which that happens, and starts what can start.
    fn pump(&self, until: Nanos, now: Nanos);
    /// When something is due next; `None` when nothing is until something under way ends.
    fn next_due(&self) -> Option<Nanos>;
    /// Whether answers may wait to be read until the shard wakes for something else: nothing that is due waits for one.
    fn lets_answers_wait(&self) -> bool;
    /// What is due within this span goes together.
    fn quantum(&self) -> Nanos;
    /// Ends what is past its deadline, and wakes the threads beside the shard.
    fn sweep(&self, now: Nanos);
    /// Applies a command.
    fn command(&self, now: Nanos, command: &Command);
    /// No arrival from `at` on. Told when that is known, and again when it has come.
    fn end_arrivals(&self, at: Nanos);
    /// Whether no arrival is left, whatever is still waiting or under way; `now` is when the lane was last pumped.
    fn has_ended(&self, now: Nanos) -> bool;
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
    /// Why its lanes on so many shards would not do what a command asks for; `None` where they would.
    fn refuses(&self, command: &Command, shards: usize) -> Option<&'static str>;
    /// A verifier, when the workload receives promises.
    fn verifier(&self) -> Option<Box<dyn Verifier>>;
    /// Opens it on a shard.
    fn open(&self, shard: LaneShard<R>) -> LocalFuture<Result<Rc<dyn Lane>, FatalError>>;
}

/// What a lane is opened with.
pub struct LaneShard<R: Runtime> {
    /// The shard's runtime.
    pub runtime: R,
    /// The shard, from 0, among all of the run.
    pub shard: usize,
    /// How many the run has.
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
    /// What the shard waits for.
    pub answers: ShardAnswers,
    /// When the shard stood still.
    pub meter: StandstillMeter,
    /// Wakes the shard.
    pub bell: Rc<ShardBell>,
    /// The way to the workload's verifier.
    pub promises: Option<PromiseSender>,
    /// How its operations are sampled, where they are.
    pub sampling: Option<OperationSampling>,
}

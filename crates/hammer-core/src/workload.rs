//! What is sent: the seam between the engine and the protocols.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use hammer_measure::{ConnectionLog, Recorder};

pub use crate::ended::Ended;

use crate::answers::ShardAnswers;
use crate::promise::Verifier;
use crate::record::OperationRecord;
use crate::runtime::Clock;
use crate::sample::ShardSamples;

/// A run that cannot go on.
pub type FatalError = Box<dyn std::error::Error + Send + Sync>;

/// A kind of operation, or a mix of them, against one target.
///
/// What is sent is a pure function of the seed (which the workload was made with), the sequence number and, within a
/// flow, the server's earlier answers.
pub trait Workload: Send + Sync + 'static {
    /// An operation, prepared: minted, signed, encoded. It is handed back for reuse.
    type Op: Send + 'static;
    /// What a shard keeps for it: connections and scratch buffers.
    type Session: 'static;
    /// What a user keeps from its first operation to its last; most keep nothing.
    type User: Default + 'static;
    /// What whoever prepares operations keeps from one to the next; what is prepared does not depend on it.
    type Scratch: Default + Send + 'static;

    /// Its series: operations first, in the order that [`Workload::series_of`] numbers them, then steps.
    fn series(&self) -> Vec<SeriesSpec>;

    /// Which of its series the operation `seq` is: a pure draw.
    fn series_of(&self, _seq: u64) -> usize {
        0
    }

    /// Where operations are prepared: ahead where at least some of them are.
    fn preparation(&self) -> Preparation {
        Preparation::Inline
    }

    /// Where the operation `seq` is prepared; inline where [`Workload::preparation`] says so.
    fn preparation_of(&self, _seq: u64) -> Preparation {
        self.preparation()
    }

    /// The scratch of who prepares the operations of one of so many shards; mostly every so-many-th.
    fn scratch(&self, _shards: usize) -> Self::Scratch {
        Self::Scratch::default()
    }

    /// Prepares the operation `seq`, in the allocations of an earlier one where there is one. Pure.
    fn prepare(&self, scratch: &mut Self::Scratch, seq: u64, reuse: Option<Self::Op>) -> Self::Op;

    /// Bytes that a prepared operation holds, for the bound of supply.
    fn weight(&self, _op: &Self::Op) -> usize {
        size_of::<Self::Op>()
    }

    /// Opens a shard's session: dials, warms up.
    ///
    /// # Errors
    /// When the run cannot go on; a target that does not answer is no such error, but the outcome of each operation.
    fn open(&self, context: ShardContext) -> impl Future<Output = Result<Self::Session, FatalError>>;

    /// Makes what the user of that number keeps as long as it is there: a token that it fetches, a device that it is. Its
    /// exchanges are steps, in no operation's figures. In a closed loop a user enters as it arrives; in an open one each slot has
    /// a user, which enters with the slot's first operation and delays it.
    ///
    /// A user whose entering ended in any other way than accepted is not there; it tries again.
    fn enter(
        &self,
        _session: &Self::Session,
        _user: u64,
        _record: &OperationRecord,
    ) -> impl Future<Output = Result<Self::User, Ended>> {
        async { Ok(Self::User::default()) }
    }

    /// Carries the operation out and says how it ended; every exchange is told to `record`. Dropped at its deadline.
    fn execute(
        &self,
        session: &Self::Session,
        user: &Self::User,
        op: &mut Self::Op,
        record: &OperationRecord,
    ) -> impl Future<Output = Ended>;

    /// Reads what the operation's promise is held against, where [`OperationRecord::check_beside`] asked for that: its fate
    /// and instants are fixed, and its slot is free. Dropped once it has taken as long as an operation may; a check that hands
    /// over no promise of that kind by its end leaves it unchecked, whatever else it hands over.
    fn check(
        &self,
        _session: &Self::Session,
        _op: &mut Self::Op,
        _record: &OperationRecord,
    ) -> impl Future<Output = ()> {
        async {}
    }

    /// The kinds of promises that it receives, in the field's words (`sct`, `inclusion`): what [`crate::promise::PromiseKind`] numbers.
    fn promise_kinds(&self) -> &[&'static str] {
        &["promise"]
    }

    /// A verifier for the promises that executions hand to [`OperationRecord::promise`]; one for each verifier thread.
    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        None
    }
}

/// A series of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesSpec {
    /// Its name within the workload.
    pub name: String,
    /// A whole operation, or one step within it.
    pub operation: bool,
    /// Whether what it sends is wrong on purpose, so that a refusal is an answer as good as acceptance.
    pub refusals_meant: bool,
}

impl SeriesSpec {
    /// A series whose operations, or steps, are to be accepted.
    pub fn new(name: impl Into<String>, operation: bool) -> Self {
        Self { name: name.into(), operation, refusals_meant: false }
    }

    /// The same of what is wrong on purpose.
    #[must_use]
    pub fn with_refusals_meant(self) -> Self {
        Self { refusals_meant: true, ..self }
    }
}

/// Where operations are prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// On the shard, as it starts: for what costs next to nothing.
    Inline,
    /// Ahead of time on supply's own threads.
    Ahead,
}

/// What a session knows of its shard.
#[derive(Clone)]
pub struct ShardContext {
    /// The shard, from 0, among all of the run, those of other processes included.
    pub shard: usize,
    /// How many the run has.
    pub shards: usize,
    /// Most operations in flight at once on this shard.
    pub in_flight: usize,
    /// The shard's clock.
    pub clock: Rc<dyn Clock>,
    /// What the shard's workloads keep of answers for one another.
    pub samples: ShardSamples,
    /// What the shard waits for; clients tell it where their answers come from.
    pub answers: ShardAnswers,
    pub(crate) recorder: Rc<RefCell<Recorder>>,
}

impl ShardContext {
    /// Where the clients of a service note what becomes of their connections: on one shard the same log for the same name,
    /// whichever workload asks. The report tells it by that name.
    pub fn connections(&self, service: &str) -> ConnectionLog {
        self.recorder.borrow_mut().connections(service)
    }
}

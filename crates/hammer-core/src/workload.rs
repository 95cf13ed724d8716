//! What is sent: the seam between the engine and the protocols.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use hammer_measure::recorder::Completion;
use hammer_measure::{Detail, Nanos, Outcome, Phase, Recorder, Timing};

use crate::promise::{PromiseSender, Verifier};
use crate::runtime::Clock;

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
    /// What whoever prepares operations keeps from one to the next; what is prepared does not depend on it.
    type Scratch: Default + Send + 'static;

    /// Its series: operations first, in the order that [`Workload::series_of`] numbers them, then steps.
    fn series(&self) -> Vec<SeriesSpec>;

    /// Which of its series the operation `seq` is: a pure draw.
    fn series_of(&self, _seq: u64) -> usize {
        0
    }

    /// Where operations are prepared.
    fn preparation(&self) -> Preparation {
        Preparation::Inline
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

    /// Carries the operation out and says how it ended; every exchange is told to `steps`. Dropped at its deadline.
    fn execute(
        &self,
        session: &Self::Session,
        op: &mut Self::Op,
        steps: &mut OperationRecord,
    ) -> impl Future<Output = Ended>;

    /// When an operation that was dropped at its deadline had sent its first byte.
    fn sent_before_deadline(&self, _session: &Self::Session, _op: &Self::Op) -> Option<Nanos> {
        None
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
    /// The shard, from 0.
    pub shard: usize,
    /// How many there are.
    pub shards: usize,
    /// Most operations in flight at once on this shard.
    pub in_flight: usize,
    /// The shard's clock.
    pub clock: Rc<dyn Clock>,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The answer as said.
    pub outcome: Outcome,
    /// The cause behind it.
    pub detail: Detail,
}

/// One exchange with the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The first byte handed to an established connection or granted stream; `None` when none ever was.
    pub sent: Option<Nanos>,
    /// The last byte of the body read, or the failure.
    pub done: Nanos,
    /// Bytes handed to connections.
    pub bytes_out: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// It was sent again because the server had closed the idle connection.
    pub retried: bool,
}

/// The record of one operation under way.
pub struct OperationRecord {
    recorder: Rc<RefCell<Recorder>>,
    first_series: usize,
    promises: Option<PromiseSender>,
    phase: Phase,
    seq: u64,
    intended: Nanos,
    flow: Option<Exchange>,
    /// The part's place of each series, where a part of the workload carries the operation out.
    part: Option<Rc<[usize]>>,
    /// When the last exchange beside the flow was done.
    beside: Option<Nanos>,
}

impl Ended {
    /// Accepted, by that status.
    pub const fn accepted(status: u16) -> Self {
        Self { outcome: Outcome::Accepted, detail: Detail::Status(status) }
    }

    /// What an HTTP status says.
    pub const fn of_status(status: u16) -> Self {
        Self { outcome: Outcome::of_status(status), detail: Detail::Status(status) }
    }

    /// A failure of that name.
    pub const fn failed(outcome: Outcome, failure: &'static str) -> Self {
        Self { outcome, detail: Detail::Failure(failure) }
    }
}

impl OperationRecord {
    pub(crate) fn new(
        recorder: Rc<RefCell<Recorder>>,
        first_series: usize,
        promises: Option<PromiseSender>,
    ) -> Self {
        let (phase, intended, flow, beside, part) = (Phase::Measurement, Nanos::ZERO, None, None, None);
        Self { recorder, first_series, promises, phase, seq: 0, intended, flow, beside, part }
    }

    pub(crate) fn begin(&mut self, seq: u64, intended: Nanos, phase: Phase) {
        self.seq = seq;
        self.intended = intended;
        self.phase = phase;
        self.flow = None;
        self.part = None;
        self.beside = None;
    }

    /// A part of the workload carries the operation out: what it calls its series `i` is `series[i]` of the workload.
    pub fn of_part(&mut self, series: Rc<[usize]>) {
        self.part = Some(series);
    }

    /// The operation's sequence number.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The instant at which the plan wanted it sent.
    pub fn intended(&self) -> Nanos {
        self.intended
    }

    /// The operation's exchange, or the next of several: a flow begins with its first and ends with its last.
    pub fn exchange(&mut self, exchange: &Exchange) {
        let flow = self.flow.get_or_insert_with(Exchange::default);
        flow.sent = flow.sent.or(exchange.sent);
        flow.done = exchange.done;
        flow.bytes_out += exchange.bytes_out;
        flow.bytes_in += exchange.bytes_in;
        flow.retried |= exchange.retried;
    }

    /// An exchange that is also a step with a series of its own: the `series`-th of the workload, taken up at `begun`.
    pub fn step(&mut self, series: usize, begun: Nanos, exchange: &Exchange, ended: Ended) {
        self.exchange(exchange);
        self.record(series, begun, exchange, ended);
    }

    /// An exchange like [`OperationRecord::step`], which is not of the operation's flow: it is made to check what the operation was
    /// given, and the operation's instants are those of its own exchanges.
    pub fn beside(&mut self, series: usize, begun: Nanos, exchange: &Exchange, ended: Ended) {
        self.beside = self.beside.max(Some(exchange.done));
        self.record(series, begun, exchange, ended);
    }

    fn record(&self, series: usize, begun: Nanos, exchange: &Exchange, ended: Ended) {
        let timing = Timing::new(begun, begun).started(begun);
        let timing = timing.finished(exchange.sent.unwrap_or(begun), exchange.done);
        let completion = completion(ended, exchange);
        let series = self.part.as_ref().map_or(series, |part| part[series]);
        self.recorder.borrow_mut().step(self.first_series + series, self.phase, &timing, &completion);
    }

    /// Hands a promise that the server made to the workload's verifier.
    ///
    /// # Panics
    /// When the workload has no verifier.
    pub fn promise(&mut self, record: &[u8]) {
        let promises = self.promises.as_ref().expect("a workload that receives promises has a verifier");
        promises.send(self.seq, record);
    }

    pub(crate) fn flow(&self) -> Option<Exchange> {
        self.flow
    }

    /// When the slot was free again that did the operation until `done`.
    pub(crate) fn free_since(&self, done: Nanos) -> Nanos {
        self.beside.map_or(done, |beside| beside.max(done))
    }
}

pub(crate) fn completion(ended: Ended, exchange: &Exchange) -> Completion {
    Completion {
        outcome: ended.outcome,
        detail: ended.detail,
        sent: exchange.sent.is_some(),
        retried: exchange.retried,
        bytes_out: exchange.bytes_out,
        bytes_in: exchange.bytes_in,
    }
}

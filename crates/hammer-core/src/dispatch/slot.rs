//! Slots: long-lived tasks that carry operations out one after another, and what they share.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use hammer_measure::{Nanos, Outcome, Phase, Recorder, Timing};

use crate::promise::PromiseSender;
use crate::runtime::Runtime;
use crate::supply::SupplyPool;
use crate::workload::{Ended, Exchange, OperationRecord, Workload, completion};

use super::quantum::Quantum;
use super::{LaneShard, ShardBell};

/// What the slots of a lane share.
pub(super) struct LaneContext<W: Workload, R: Runtime> {
    pub(super) workload: Arc<W>,
    pub(super) runtime: R,
    pub(super) recorder: Rc<RefCell<Recorder>>,
    pub(super) first_series: usize,
    pub(super) shard: usize,
    pub(super) shards: usize,
    pub(super) supply: Arc<SupplyPool>,
    pub(super) bell: Rc<ShardBell>,
    pub(super) quantum: Quantum,
    session: W::Session,
    /// Of the operations that are prepared here.
    scratch: RefCell<W::Scratch>,
    promises: Option<PromiseSender>,
    timeout: Nanos,
    /// No slot's deadline is before it.
    next_deadline: Cell<Nanos>,
    slots: RefCell<Vec<Rc<OperationSlot<W::Op>>>>,
}

/// One slot: a mailbox of one job, and the deadline of the job under way.
pub(super) struct OperationSlot<Op> {
    pub(super) index: usize,
    mailbox: RefCell<Option<PendingOperation<Op>>>,
    waker: RefCell<Option<Waker>>,
    deadline: Cell<Nanos>,
    expired: Cell<bool>,
    under_way: Cell<Option<(usize, Phase)>>,
}

/// An operation on its way to a slot. `op` is `None` where the slot prepares it itself.
pub(super) struct PendingOperation<Op> {
    pub(super) seq: u64,
    pub(super) series: usize,
    pub(super) phase: Phase,
    pub(super) timing: Timing,
    pub(super) op: Option<Op>,
}

impl<W: Workload, R: Runtime> LaneContext<W, R> {
    pub(super) fn new(workload: Arc<W>, session: W::Session, timeout: Nanos, shard: LaneShard<R>) -> Self {
        Self {
            scratch: RefCell::new(workload.scratch(shard.shards)),
            workload,
            runtime: shard.runtime,
            recorder: shard.recorder,
            first_series: shard.first_series,
            shard: shard.shard,
            shards: shard.shards,
            supply: shard.supply,
            bell: shard.bell,
            quantum: Quantum::default(),
            session,
            promises: shard.promises,
            timeout,
            next_deadline: Cell::new(Nanos::MAX),
            slots: RefCell::default(),
        }
    }

    /// Another slot; its task is the caller's to spawn.
    pub(super) fn add_slot(&self) -> Rc<OperationSlot<W::Op>> {
        let mut slots = self.slots.borrow_mut();
        let slot = Rc::new(OperationSlot::new(slots.len()));
        slots.push(slot.clone());
        slot
    }

    pub(super) fn slot(&self, index: usize) -> Rc<OperationSlot<W::Op>> {
        self.slots.borrow()[index].clone()
    }

    pub(super) fn slot_count(&self) -> usize {
        self.slots.borrow().len()
    }

    pub(super) fn steps(&self) -> OperationRecord {
        OperationRecord::new(self.recorder.clone(), self.first_series, self.promises.clone())
    }

    /// The series of operation `seq`, among all of the run.
    pub(super) fn series_of(&self, seq: u64) -> usize {
        self.first_series + self.workload.series_of(seq)
    }

    /// Carries a job out in `slot` from `started` on, in `op` where the job brings none; returns when it was done, and
    /// with it what was checked beside it.
    pub(super) async fn perform(
        &self,
        slot: &OperationSlot<W::Op>,
        job: PendingOperation<W::Op>,
        started: Nanos,
        op: &mut Option<W::Op>,
        steps: &mut OperationRecord,
    ) -> Nanos {
        let timing = job.timing.started(started);
        self.recorder.borrow_mut().start(job.series, job.phase, &timing);
        let deadline = started.saturating_add(self.timeout);
        self.next_deadline.set(self.next_deadline.get().min(deadline));
        slot.begin(deadline, job.series, job.phase);
        steps.begin(job.seq, job.timing.intended(), job.phase);
        let prepared = job.op.unwrap_or_else(|| self.prepare(job.seq, op.take()));
        let op = op.insert(prepared);
        let ended = slot.until_deadline(self.workload.execute(&self.session, op, steps)).await;
        let (ended, exchange) = self.outcome(ended, op, steps);
        if let Some(sent) = exchange.sent {
            self.quantum.answered(exchange.done.since(sent));
        }
        if slot.end() {
            let timing = timing.finished(exchange.sent.unwrap_or(started), exchange.done);
            let completion = completion(ended, &exchange);
            self.recorder.borrow_mut().finish(job.series, job.phase, &timing, &completion);
        }
        steps.free_since(exchange.done)
    }

    fn prepare(&self, seq: u64, reuse: Option<W::Op>) -> W::Op {
        self.workload.prepare(&mut self.scratch.borrow_mut(), seq, reuse)
    }

    fn outcome(&self, ended: Option<Ended>, op: &W::Op, steps: &OperationRecord) -> (Ended, Exchange) {
        match (ended, steps.flow()) {
            (Some(ended), Some(flow)) => (ended, flow),
            (Some(ended), None) => (ended, Exchange { done: self.runtime.now(), ..Exchange::default() }),
            (None, flow) => {
                let flow = flow.unwrap_or_default();
                let sent = flow.sent.or_else(|| self.workload.sent_before_deadline(&self.session, op));
                let timed_out = Ended::failed(Outcome::TimedOut, "deadline of the operation");
                (timed_out, Exchange { sent, done: self.runtime.now(), ..flow })
            }
        }
    }

    /// Ends what is past its deadline, and wakes the verifier.
    pub(super) fn sweep(&self, now: Nanos) {
        if self.next_deadline.get() <= now {
            self.expire(now);
        }
        if let Some(promises) = &self.promises {
            promises.wake();
        }
    }

    fn expire(&self, now: Nanos) {
        let mut next = Nanos::MAX;
        for slot in self.slots.borrow().iter().filter(|slot| slot.under_way.get().is_some()) {
            match slot.deadline.get() {
                deadline if deadline <= now => slot.expire(),
                deadline => next = next.min(deadline),
            }
        }
        self.next_deadline.set(next);
    }

    /// Records what is under way, or about to be, as abandoned.
    pub(super) fn abandon(&self) {
        for slot in self.slots.borrow().iter() {
            if let Some(job) = slot.mailbox.take() {
                self.abandon_queued(&job);
            }
            if let Some((series, phase)) = slot.under_way.take() {
                self.recorder.borrow_mut().abandon_in_flight(series, phase);
                slot.expire();
            }
        }
    }

    /// Records a job that waited for a slot as abandoned.
    pub(super) fn abandon_queued(&self, job: &PendingOperation<W::Op>) {
        self.recorder.borrow_mut().abandon_queued(job.series, job.phase);
    }
}

impl<Op> OperationSlot<Op> {
    fn new(index: usize) -> Self {
        Self {
            index,
            mailbox: RefCell::new(None),
            waker: RefCell::new(None),
            deadline: Cell::new(Nanos::MAX),
            expired: Cell::new(false),
            under_way: Cell::new(None),
        }
    }

    /// Gives it its next job; it must be waiting for one.
    pub(super) fn assign(&self, job: PendingOperation<Op>) {
        *self.mailbox.borrow_mut() = Some(job);
        self.wake();
    }

    /// Waits for the next job.
    pub(super) async fn next_job(&self) -> PendingOperation<Op> {
        poll_fn(|cx| match self.mailbox.borrow_mut().take() {
            Some(job) => Poll::Ready(job),
            None => {
                self.wait(cx.waker());
                Poll::Pending
            }
        })
        .await
    }

    fn begin(&self, deadline: Nanos, series: usize, phase: Phase) {
        self.deadline.set(deadline);
        self.expired.set(false);
        self.under_way.set(Some((series, phase)));
    }

    /// Whether it was still under way, not abandoned.
    fn end(&self) -> bool {
        self.under_way.take().is_some()
    }

    /// The future's value, or `None` when the deadline came first.
    async fn until_deadline<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if let Poll::Ready(value) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(value));
            }
            if self.expired.get() {
                return Poll::Ready(None);
            }
            self.wait(cx.waker());
            Poll::Pending
        })
        .await
    }

    fn expire(&self) {
        self.expired.set(true);
        self.wake();
    }

    pub(super) fn wait(&self, waker: &Waker) {
        let mut waiting = self.waker.borrow_mut();
        match &mut *waiting {
            Some(known) => known.clone_from(waker),
            None => *waiting = Some(waker.clone()),
        }
    }

    pub(super) fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }
}

//! What the slots of a lane share, and how one of them carries an operation out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use hammer_measure::{Nanos, Outcome, Phase, Recorder};

use crate::ended::Ended;
use crate::promise::PromiseSender;
use crate::record::{Admission, OperationRecord, RecordParts};
use crate::runtime::Runtime;
use crate::supply::SupplyPool;
use crate::workload::Workload;

use super::check::Checks;
use super::quantum::Quantum;
use super::slot::{OperationSlot, PendingOperation, SlotList};
use super::{LaneShard, ShardBell};

/// What the slots of a lane share.
pub(super) struct LaneContext<W: Workload, R: Runtime> {
    pub(super) workload: Arc<W>,
    pub(super) runtime: R,
    pub(super) recorder: Rc<RefCell<Recorder>>,
    pub(super) shard: usize,
    pub(super) shards: usize,
    pub(super) supply: Arc<SupplyPool>,
    pub(super) bell: Rc<ShardBell>,
    pub(super) quantum: Quantum,
    pub(super) session: W::Session,
    pub(super) timeout: Nanos,
    pub(super) first_series: usize,
    /// Of the operations that are prepared here.
    scratch: RefCell<W::Scratch>,
    promises: Option<PromiseSender>,
    /// No slot's deadline is before it.
    next_deadline: Cell<Nanos>,
    pub(super) slots: SlotList<PendingOperation<W::Op>>,
    pub(super) checks: Checks<W>,
    record_parts: RecordParts,
}

/// What a slot keeps from one operation to the next.
pub(super) struct SlotState<W: Workload> {
    pub(super) op: Option<W::Op>,
    pub(super) user: Option<W::User>,
    pub(super) record: OperationRecord,
}

impl<W: Workload, R: Runtime> LaneContext<W, R> {
    pub(super) fn new(
        workload: Arc<W>,
        session: W::Session,
        timeout: Nanos,
        shard: LaneShard<R>,
    ) -> Rc<Self> {
        let record_parts = RecordParts {
            recorder: shard.recorder.clone(),
            clock: shard.runtime.clock(),
            crew: shard.crew,
            promises: shard.promises.clone(),
            first_series: shard.first_series,
        };
        Rc::new(Self {
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
            slots: SlotList::default(),
            checks: Checks::default(),
            record_parts,
        })
    }

    /// What a slot starts with.
    pub(super) fn slot_state(&self) -> SlotState<W> {
        SlotState { op: None, user: None, record: self.new_record() }
    }

    pub(super) fn new_record(&self) -> OperationRecord {
        OperationRecord::new(self.record_parts.clone())
    }

    /// The series of operation `seq`, among all of the run.
    pub(super) fn series_of(&self, seq: u64) -> usize {
        self.first_series + self.workload.series_of(seq)
    }

    /// The deadline of what starts now.
    pub(super) fn deadline_from(&self, started: Nanos) -> Nanos {
        let deadline = started.saturating_add(self.timeout);
        self.next_deadline.set(self.next_deadline.get().min(deadline));
        deadline
    }

    /// Carries an operation out in `slot` from `started` on, in the slot's own where `pending` brings none; returns when it was done.
    pub(super) async fn perform(
        self: &Rc<Self>,
        slot: &OperationSlot<PendingOperation<W::Op>>,
        pending: PendingOperation<W::Op>,
        started: Nanos,
        state: &mut SlotState<W>,
    ) -> Nanos {
        let PendingOperation { seq, series, phase, timing, op } = pending;
        let timing = timing.started(started);
        self.recorder.borrow_mut().start(series, phase, &timing);
        let deadline = self.deadline_from(started);
        let admission =
            Admission { seq, series, phase, intended: timing.intended(), started: timing.start() };
        let SlotState { op: kept, user, record } = state;
        record.start(admission);
        let prepared = op.unwrap_or_else(|| self.prepare(seq, kept.take()));
        let op = kept.insert(prepared);
        let user_number = self.user_of(slot.index);
        let work = async {
            let user = match user {
                Some(user) => user,
                None => user.insert(self.workload.enter(&self.session, user_number, record).await?),
            };
            Ok(self.workload.execute(&self.session, user, op, record).await)
        };
        let ended: Result<Result<Ended, Ended>, Ended> = slot.until_deadline(deadline, record, work).await;
        let ended = ended.unwrap_or_else(Ok).unwrap_or_else(|not_entered| not_entered);
        let (timing, completion) = record.finish(timing, ended);
        self.recorder.borrow_mut().finish(series, phase, &timing, &completion);
        if completion.sent {
            self.quantum.answered(timing.service_time());
        }
        if let Some(kind) = record.owes_check()
            && let Some(op) = kept.take()
        {
            *kept = self.check(op, kind, admission, record);
        }
        timing.done()
    }

    /// Has the slot's user make what it keeps, outside of any operation; whether it did.
    pub(super) async fn enter(
        &self,
        slot: &OperationSlot<PendingOperation<W::Op>>,
        phase: Phase,
        state: &mut SlotState<W>,
    ) -> bool {
        let (user, now) = (self.user_of(slot.index), self.runtime.now());
        let admission =
            Admission { seq: user, series: self.first_series, phase, intended: now, started: now };
        state.record.start_beside(admission);
        let enter = self.workload.enter(&self.session, user, &state.record);
        let entered = slot.until_deadline(self.deadline_from(now), &state.record, enter).await;
        state.user = entered.ok().and_then(Result::ok);
        state.user.is_some()
    }

    /// The number of a slot's user, over all shards.
    fn user_of(&self, slot: usize) -> u64 {
        (slot * self.shards + self.shard) as u64
    }

    fn prepare(&self, seq: u64, reuse: Option<W::Op>) -> W::Op {
        let reuse = reuse.or_else(|| self.checks.take_spare());
        self.workload.prepare(&mut self.scratch.borrow_mut(), seq, reuse)
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
        let next = self.slots.expire(now, TIMED_OUT);
        self.next_deadline.set(next.min(self.checks.expire(now, TIMED_OUT)));
    }

    /// Cuts off what is under way, and records what is about to be as abandoned; returns how many of the latter there were. What is cut
    /// off records itself once its task is polled.
    pub(super) fn abandon(&self) -> usize {
        let mut never_started = 0;
        self.slots.take_back(|pending| {
            self.abandon_queued(&pending);
            never_started += 1;
        });
        self.slots.expire(Nanos::MAX, ABANDONED);
        self.checks.expire(Nanos::MAX, ABANDONED);
        never_started
    }

    /// Records an operation that waited for a slot as abandoned.
    pub(super) fn abandon_queued(&self, pending: &PendingOperation<W::Op>) {
        self.recorder.borrow_mut().abandon_queued(pending.series, pending.phase);
    }

    /// Counts an arrival that got its turn at once: it neither waits nor is shed.
    pub(super) fn offer(&self, series: usize, phase: Phase) {
        let mut recorder = self.recorder.borrow_mut();
        recorder.offer(series, phase);
        recorder.queue(series, phase);
    }
}

const TIMED_OUT: Ended = Ended::failed(Outcome::TimedOut, "deadline of the operation");
const ABANDONED: Ended = Ended::failed(Outcome::Abandoned, "end of drain");

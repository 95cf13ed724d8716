//! What the slots of a lane share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use hammer_measure::recorder::QUEUED_AT_THE_END;
use hammer_measure::{Fate, Nanos, Outcome, Phase, Recorder};

use crate::answers::ShardAnswers;
use crate::draw::Draws;
use crate::ended::Ended;
use crate::promise::PromiseSender;
use crate::record::{OperationRecord, RecordParts};
use crate::runtime::Runtime;
use crate::standstill::StandstillMeter;
use crate::supply::SupplyPool;
use crate::workload::Workload;

use super::bell::ShardBell;
use super::checks::Checks;
use super::lane::LaneShard;
use super::quantum::Quantum;
use super::sampled::UnstartedOperation;
use super::slot::{PendingOperation, SlotList};

/// What the slots of a lane share.
pub(super) struct LaneContext<W: Workload, R: Runtime> {
    pub(super) workload: Arc<W>,
    pub(super) runtime: R,
    pub(super) recorder: Rc<RefCell<Recorder>>,
    pub(super) shard: usize,
    pub(super) shards: usize,
    pub(super) supply: Arc<SupplyPool>,
    pub(super) bell: Rc<ShardBell>,
    pub(super) answers: ShardAnswers,
    pub(super) meter: StandstillMeter,
    pub(super) quantum: Quantum,
    pub(super) session: W::Session,
    pub(super) timeout: Nanos,
    pub(super) first_series: usize,
    /// By which the uniform sample of its operations is taken, where there is one.
    pub(super) sample_draws: Option<Draws>,
    /// Of the operations that are prepared here.
    pub(super) scratch: RefCell<W::Scratch>,
    promises: Option<PromiseSender>,
    /// No slot's deadline is before it.
    next_deadline: Cell<Nanos>,
    pub(super) slots: SlotList<PendingOperation<W::Op>>,
    pub(super) checks: Checks<W>,
    record_parts: RecordParts,
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
            answers: shard.answers.clone(),
            promises: shard.promises.clone(),
            first_series: shard.first_series,
            is_sampled: shard.sampling.is_some(),
        };
        Rc::new(Self {
            scratch: RefCell::new(workload.scratch(shard.shards)),
            workload,
            runtime: shard.runtime,
            recorder: shard.recorder,
            first_series: shard.first_series,
            sample_draws: shard.sampling.map(|sampling| sampling.draws_of(shard.first_series)),
            shard: shard.shard,
            shards: shard.shards,
            supply: shard.supply,
            bell: shard.bell,
            answers: shard.answers,
            meter: shard.meter,
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
        let PendingOperation { seq, series, phase, timing, .. } = *pending;
        let mut recorder = self.recorder.borrow_mut();
        recorder.abandon_queued(series, phase);
        let operation = UnstartedOperation { seq, series, phase, intended: timing.intended() };
        let ended = (Fate::Abandoned, QUEUED_AT_THE_END);
        self.sample_unstarted(&mut recorder, operation, self.runtime.now(), ended);
    }

    /// Counts an arrival that got its turn at once: it neither waits nor is shed.
    pub(super) fn offer(&self, series: usize, phase: Phase) {
        let mut recorder = self.recorder.borrow_mut();
        recorder.offer(series, phase);
        recorder.queue(series, phase);
    }
}

pub(super) const TIMED_OUT: Ended = Ended::failed(Outcome::TimedOut, "deadline of the operation");
pub(super) const ABANDONED: Ended = Ended::failed(Outcome::Abandoned, "end of drain");

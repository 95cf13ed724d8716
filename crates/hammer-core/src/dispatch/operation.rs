//! How a slot carries an operation out.

use std::pin::pin;
use std::rc::Rc;

use hammer_measure::recorder::{Completion, UserGroup};
use hammer_measure::{Nanos, Outcome, Phase};

use crate::ended::Ended;
use crate::record::{Admission, FinishedOperation, OperationRecord};
use crate::runtime::Runtime;
use crate::workload::Workload;

use super::context::LaneContext;
use super::slot::{OperationSlot, PendingOperation};

/// What a slot keeps from one operation to the next.
pub(super) struct SlotState<W: Workload> {
    pub(super) op: Option<W::Op>,
    pub(super) user: Option<W::User>,
    pub(super) record: OperationRecord,
    /// The group of its user, where users are counted by group.
    pub(super) group: Option<UserGroup>,
}

impl<W: Workload, R: Runtime> LaneContext<W, R> {
    /// What a slot starts with.
    pub(super) fn slot_state(&self) -> SlotState<W> {
        SlotState { op: None, user: None, record: self.new_record(), group: None }
    }

    /// Carries an operation out in `slot` from `started` on, in the slot's own where `pending` brings none; returns when
    /// its user has what it got, and how it ended.
    pub(super) async fn perform(
        self: &Rc<Self>,
        slot: &OperationSlot<PendingOperation<W::Op>>,
        pending: PendingOperation<W::Op>,
        started: Nanos,
        state: &mut SlotState<W>,
    ) -> (Nanos, Ended) {
        let PendingOperation { seq, series, phase, timing, has_waited, hold_up, op } = pending;
        let timing = if has_waited { timing.started(started) } else { timing.taken_up(started) };
        self.recorder.borrow_mut().start(series, phase, &timing);
        let deadline = self.deadline_from(started);
        let admission =
            Admission { seq, series, phase, intended: timing.intended(), started: timing.start() };
        let SlotState { op: kept, user, record, group } = state;
        record.start(admission);
        let prepared = op.unwrap_or_else(|| self.prepare(seq, kept.take()));
        let op = kept.insert(prepared);
        let user_number = self.user_of(slot.index);
        let ended: Result<Result<Ended, Ended>, Ended> = {
            let work = pin!(async {
                let user = match user {
                    Some(user) => user,
                    None => user.insert(self.workload.enter(&self.session, user_number, record).await?),
                };
                Ok(self.workload.execute(&self.session, user, op, record).await)
            });
            slot.until_deadline(deadline, record, work).await
        };
        let ended = ended.unwrap_or_else(Ok).unwrap_or_else(|not_entered| not_entered);
        let finished = record.finish(timing, ended);
        let FinishedOperation { timing, completion, at_hand } = finished;
        self.meter.look(at_hand);
        let held_up = self.meter.held_up(hold_up, completion.read_lag, at_hand);
        let completion = Completion { held_up, ..completion };
        {
            let mut recorder = self.recorder.borrow_mut();
            recorder.finish(series, phase, &timing, &completion);
            if let Some(group) = *group {
                recorder.ended_in_group(self.first_series, phase, group, &timing, completion.outcome);
            }
        }
        if completion.outcome != Outcome::Accepted {
            record.tell_answer(&finished);
        }
        self.sample(series, record, &finished);
        if completion.sent {
            self.quantum.answered(timing.service_time());
        }
        if let Some(kind) = record.owes_check()
            && let Some(op) = kept.take()
        {
            *kept = self.check(op, kind, admission, record);
        }
        (at_hand, ended)
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
        let entered = {
            let enter = pin!(self.workload.enter(&self.session, user, &state.record));
            slot.until_deadline(self.deadline_from(now), &state.record, enter).await
        };
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
}

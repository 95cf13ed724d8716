//! What is read beside operations, so that their promises can be checked: bounded in number, with a deadline, and in nobody's way.
//! An operation whose check finds no room, or does not come to an end in time, leaves its promise unchecked.

use std::pin::pin;
use std::rc::Rc;

use hammer_measure::Nanos;

use crate::promise::PromiseKind;
use crate::record::{Admission, OperationRecord};
use crate::runtime::Runtime;
use crate::workload::Workload;

use super::checks::PendingCheck;
use super::context::LaneContext;
use super::slot::OperationSlot;

impl<W: Workload, R: Runtime> LaneContext<W, R> {
    /// Starts the check of an operation that has ended; gives `op` back where there is no room for it.
    pub(super) fn check(
        self: &Rc<Self>,
        op: W::Op,
        kind: PromiseKind,
        admission: Admission,
        record: &OperationRecord,
    ) -> Option<W::Op> {
        if self.checks.under_way() >= MOST_CHECKS {
            record.leave_unchecked(kind);
            return Some(op);
        }
        self.checks.under_way.set(self.checks.under_way() + 1);
        let free = self.checks.free.borrow_mut().pop();
        let slot = free.map_or_else(|| self.new_check_slot(), |index| self.checks.slots.get(index));
        slot.assign(PendingCheck { op, kind, admission });
        None
    }

    fn new_check_slot(self: &Rc<Self>) -> Rc<OperationSlot<PendingCheck<W::Op>>> {
        let slot = self.checks.slots.add();
        self.runtime.spawn(Box::pin(self.clone().serve_checks(slot.clone())));
        slot
    }

    /// One check after another.
    async fn serve_checks(self: Rc<Self>, slot: Rc<OperationSlot<PendingCheck<W::Op>>>) {
        let record = self.new_record();
        loop {
            let PendingCheck { mut op, kind, admission } = slot.next_task().await;
            let started = self.runtime.now();
            record.start_check(Admission { started, ..admission }, kind);
            {
                let check = pin!(self.workload.check(&self.session, &mut op, &record));
                // A check that is cut off says nothing of the operation, whose end is recorded already.
                let _ = slot.until_deadline(self.deadline_from(started), &record, check).await;
            }
            if let Some(kind) = record.owes_check() {
                record.leave_unchecked(kind);
            }
            self.checks.give_back(op);
            self.checks.under_way.set(self.checks.under_way() - 1);
            self.checks.free.borrow_mut().push(slot.index);
            if self.checks.under_way() == 0 {
                // The shard may have been waiting for nothing else.
                self.bell.due(Nanos::ZERO);
            }
        }
    }
}

/// Most checks of a workload on one shard at once: as many as a server that answers in a tenth of a second gets asked by
/// 2,500 reads a second. Each holds its operation's answer.
const MOST_CHECKS: usize = 256;

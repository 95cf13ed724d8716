//! The checks of a lane that are under way, and what they leave behind.

use std::cell::{Cell, RefCell};

use hammer_measure::Nanos;

use crate::ended::Ended;
use crate::promise::PromiseKind;
use crate::record::Admission;
use crate::workload::Workload;

use super::slot::SlotList;

/// The checks of a lane on one shard.
pub(super) struct Checks<W: Workload> {
    pub(super) slots: SlotList<PendingCheck<W::Op>>,
    pub(super) free: RefCell<Vec<usize>>,
    pub(super) under_way: Cell<usize>,
    /// Operations whose check is over, for the memory that they hold.
    spare: RefCell<Vec<W::Op>>,
}

/// An operation on its way to its check.
pub(super) struct PendingCheck<Op> {
    pub(super) op: Op,
    /// Of the promise that the check is to make.
    pub(super) kind: PromiseKind,
    pub(super) admission: Admission,
}

impl<W: Workload> Default for Checks<W> {
    fn default() -> Self {
        Self {
            slots: SlotList::default(),
            free: RefCell::default(),
            under_way: Cell::new(0),
            spare: RefCell::default(),
        }
    }
}

impl<W: Workload> Checks<W> {
    /// How many are under way.
    pub(super) fn under_way(&self) -> usize {
        self.under_way.get()
    }

    pub(super) fn take_spare(&self) -> Option<W::Op> {
        self.spare.borrow_mut().pop()
    }

    /// Cuts off those whose deadline is `now` or before; returns the next one's.
    pub(super) fn expire(&self, now: Nanos, ended: Ended) -> Nanos {
        self.slots.expire(now, ended)
    }

    /// Keeps the memory of an operation whose check is over.
    pub(super) fn give_back(&self, op: W::Op) {
        let mut spare = self.spare.borrow_mut();
        if spare.len() < MOST_SPARE {
            spare.push(op);
        }
    }
}

/// Operations kept for the memory that they hold.
const MOST_SPARE: usize = 64;

//! A slot: the mailbox and the deadline of a long-lived task that carries one thing out after another.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use hammer_measure::{Nanos, Phase, Timing};

use crate::ended::Ended;
use crate::record::OperationRecord;
use crate::standstill::HoldUp;

/// One slot: a mailbox of one task, and the deadline of the task under way.
///
/// | state | mailbox | busy | who moves it on |
/// |---|---|---|---|
/// | free | empty | no | `assign` by the lane, which took it off its list of free slots |
/// | assigned | full | no | its task, once it is polled; or the end of drain, which takes the task out |
/// | busy | empty | yes | what it carries out; or `expire`, by its deadline or the end of drain |
/// | expired | empty | yes | its task, which drops what it carries out and records it |
pub(super) struct OperationSlot<T> {
    pub(super) index: usize,
    mailbox: RefCell<Option<T>>,
    waker: RefCell<Option<Waker>>,
    deadline: Cell<Nanos>,
    expired: Cell<Option<Ended>>,
    is_busy: Cell<bool>,
}

/// The slots of one kind on a shard; there are never fewer than there were.
pub(super) struct SlotList<T> {
    slots: RefCell<Vec<Rc<OperationSlot<T>>>>,
}

/// An operation on its way to a slot. `op` is `None` where the slot prepares it itself.
pub(super) struct PendingOperation<Op> {
    pub(super) seq: u64,
    pub(super) series: usize,
    pub(super) phase: Phase,
    pub(super) timing: Timing,
    /// Whether it found no slot free, and waited in the backlog.
    pub(super) has_waited: bool,
    /// What held it up before it was released.
    pub(super) hold_up: HoldUp,
    pub(super) op: Option<Op>,
}

impl<T> Default for SlotList<T> {
    fn default() -> Self {
        Self { slots: RefCell::default() }
    }
}

impl<T> SlotList<T> {
    /// Another slot; its task is the caller's to spawn.
    pub(super) fn add(&self) -> Rc<OperationSlot<T>> {
        let mut slots = self.slots.borrow_mut();
        let slot = Rc::new(OperationSlot::new(slots.len()));
        slots.push(slot.clone());
        slot
    }

    pub(super) fn get(&self, index: usize) -> Rc<OperationSlot<T>> {
        self.slots.borrow()[index].clone()
    }

    pub(super) fn count(&self) -> usize {
        self.slots.borrow().len()
    }

    /// Cuts off what has its deadline at `now` or before, as `ended`; returns the next deadline.
    pub(super) fn expire(&self, now: Nanos, ended: Ended) -> Nanos {
        let mut next = Nanos::MAX;
        for slot in self.slots.borrow().iter() {
            match slot.deadline() {
                Some(deadline) if deadline <= now => slot.expire(ended),
                Some(deadline) => next = next.min(deadline),
                None => {}
            }
        }
        next
    }

    /// Takes back what was assigned and has not started.
    pub(super) fn take_back(&self, mut take: impl FnMut(T)) {
        self.slots.borrow().iter().filter_map(|slot| slot.take_back()).for_each(&mut take);
    }
}

impl<T> OperationSlot<T> {
    fn new(index: usize) -> Self {
        Self {
            index,
            mailbox: RefCell::new(None),
            waker: RefCell::new(None),
            deadline: Cell::new(Nanos::MAX),
            expired: Cell::new(None),
            is_busy: Cell::new(false),
        }
    }

    /// Gives it its next task; it must be waiting for one.
    pub(super) fn assign(&self, task: T) {
        *self.mailbox.borrow_mut() = Some(task);
        self.wake();
    }

    /// Takes the task back that it was assigned and has not taken up.
    fn take_back(&self) -> Option<T> {
        self.mailbox.take()
    }

    /// Waits for the next task.
    pub(super) async fn next_task(&self) -> T {
        poll_fn(|cx| match self.mailbox.borrow_mut().take() {
            Some(task) => Poll::Ready(task),
            None => {
                self.wait(cx.waker());
                Poll::Pending
            }
        })
        .await
    }

    /// The future's value; where the deadline or the end of drain comes first, the caller drops the future, with `record` knowing
    /// why, and so do the steps that are under way in it.
    pub(super) async fn until_deadline<F: Future>(
        &self,
        deadline: Nanos,
        record: &OperationRecord,
        // Pinned where the caller made it: taken by value it would be copied twice, and every slot would have room for two.
        mut future: Pin<&mut F>,
    ) -> Result<F::Output, Ended> {
        self.deadline.set(deadline);
        self.expired.set(None);
        self.is_busy.set(true);
        let ended = poll_fn(|cx| {
            if let Poll::Ready(value) = future.as_mut().poll(cx) {
                return Poll::Ready(Ok(value));
            }
            if let Some(ended) = self.expired.get() {
                record.cut_off(ended);
                return Poll::Ready(Err(ended));
            }
            self.wait(cx.waker());
            Poll::Pending
        })
        .await;
        self.is_busy.set(false);
        ended
    }

    /// Its deadline, while it is busy.
    fn deadline(&self) -> Option<Nanos> {
        self.is_busy.get().then(|| self.deadline.get())
    }

    /// Cuts off what it carries out, which ends as `ended`.
    fn expire(&self, ended: Ended) {
        if self.is_busy.get() && self.expired.get().is_none() {
            self.expired.set(Some(ended));
            self.wake();
        }
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

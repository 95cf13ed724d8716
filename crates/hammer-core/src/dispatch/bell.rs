//! A way for a lane to wake its shard before the instant that the shard's alarm is set to.

use std::cell::{Cell, RefCell};
use std::task::{Context, Poll, Waker};

use hammer_measure::Nanos;

/// Rung by a lane's tasks when something became due earlier than the shard knows.
#[derive(Debug, Default)]
pub struct ShardBell {
    awaited: Cell<Nanos>,
    rung: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl ShardBell {
    /// The shard looks again by `at`.
    pub(super) fn due(&self, at: Nanos) {
        if at < self.awaited.get() {
            self.awaited.set(at);
            self.rung.set(true);
            if let Some(waker) = self.waker.borrow_mut().take() {
                waker.wake();
            }
        }
    }

    /// The shard looks again at `at`, whoever rings.
    pub(crate) fn await_until(&self, at: Nanos) {
        self.awaited.set(at);
        self.rung.set(false);
    }

    /// Ready once it was rung.
    pub(crate) fn poll_rung(&self, cx: &Context<'_>) -> Poll<()> {
        if self.rung.take() {
            return Poll::Ready(());
        }
        let mut waker = self.waker.borrow_mut();
        match &mut *waker {
            Some(known) => known.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

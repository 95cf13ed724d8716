//! The one task that waits for something.

use std::cell::Cell;
use std::task::{Context, Waker};

/// Whoever waits: the last one that said so.
#[derive(Default)]
pub(super) struct WaitingTask(Cell<Option<Waker>>);

impl WaitingTask {
    /// The task of `cx` waits from now on.
    pub(super) fn set(&self, cx: &Context<'_>) {
        let same = self.0.take().filter(|waker| waker.will_wake(cx.waker()));
        self.0.set(Some(same.unwrap_or_else(|| cx.waker().clone())));
    }

    /// Wakes whoever waits, once.
    pub(super) fn wake(&self) {
        if let Some(waker) = self.0.take() {
            waker.wake();
        }
    }
}

//! What is known of one socket between two calls of epoll.

use std::cell::Cell;
use std::task::{Context, Poll};

use rustix::event::epoll::EventFlags;

use super::waiting_task::WaitingTask;

/// Whether a socket may be read and written, and who waits for that: one task that reads and one that writes, or one for both.
#[derive(Default)]
pub(crate) struct Readiness {
    is_readable: Cell<bool>,
    is_writable: Cell<bool>,
    is_ending: Cell<bool>,
    has_failed: Cell<bool>,
    reader: WaitingTask,
    writer: WaitingTask,
}

impl Readiness {
    /// Notes what epoll said, and wakes whoever waited for it.
    pub(super) fn mark(&self, flags: EventFlags) {
        let failed = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        let ending = failed || flags.contains(EventFlags::RDHUP);
        if failed {
            self.has_failed.set(true);
        }
        if ending {
            self.is_ending.set(true);
        }
        if ending || flags.contains(EventFlags::IN) {
            self.is_readable.set(true);
            self.reader.wake();
        }
        if failed || flags.contains(EventFlags::OUT) {
            self.is_writable.set(true);
            self.writer.wake();
        }
    }

    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        poll(&self.is_readable, &self.reader, cx)
    }

    pub(crate) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<()> {
        poll(&self.is_writable, &self.writer, cx)
    }

    /// The last read took all that was there; what ends stays readable.
    pub(crate) fn note_short_read(&self) {
        self.is_readable.set(self.is_ending.get());
    }

    /// The kernel said that there is nothing to read, whatever was known.
    pub(crate) fn note_nothing_to_read(&self) {
        self.is_readable.set(false);
    }

    /// The kernel said that it takes no more.
    pub(crate) fn note_full(&self) {
        self.is_writable.set(false);
    }

    /// Whether there is nothing to read, and neither an end nor an error.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.is_readable.get()
    }

    /// Whether the socket may have an error to tell of.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.get()
    }
}

fn poll(is_ready: &Cell<bool>, waiting: &WaitingTask, cx: &Context<'_>) -> Poll<()> {
    if is_ready.get() {
        return Poll::Ready(());
    }
    waiting.set(cx);
    Poll::Pending
}

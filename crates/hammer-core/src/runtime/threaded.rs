//! The runtime of a real shard: tokio's current-thread runtime, with a timerfd for releases finer than tokio's wheel.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use hammer_measure::{Nanos, Now};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::{Alarm, Clock, LocalFuture, Runtime};
use crate::clock::MonotonicClock;

/// The runtime of the thread it is used on; it must be used within a tokio `LocalSet`.
#[derive(Clone, Copy, Debug)]
pub struct ThreadedRuntime {
    clock: MonotonicClock,
}

/// A timerfd.
#[derive(Debug)]
pub struct TimerFd {
    clock: MonotonicClock,
    fd: AsyncFd<OwnedFd>,
    due: bool,
}

impl ThreadedRuntime {
    /// A runtime on that clock.
    pub fn new(clock: MonotonicClock) -> Self {
        Self { clock }
    }
}

impl Runtime for ThreadedRuntime {
    type Alarm = TimerFd;

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn alarm(&self) -> io::Result<TimerFd> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; an OwnedFd cannot close or change its descriptor"
        )]
        let fd = AsyncFd::with_interest(fd, Interest::READABLE)?;
        Ok(TimerFd { clock: self.clock, fd, due: false })
    }

    fn spawn(&self, task: LocalFuture<()>) {
        tokio::task::spawn_local(task);
    }

    fn clock(&self) -> Rc<dyn Clock> {
        Rc::new(self.clock)
    }
}

impl Clock for MonotonicClock {
    fn sleep_until(&self, at: Nanos) -> LocalFuture<()> {
        let deadline = self.epoch() + at.into();
        Box::pin(tokio::time::sleep_until(deadline.into()))
    }
}

impl Alarm for TimerFd {
    fn set(&mut self, at: Nanos) {
        let span = at.since(self.clock.now());
        self.due = span == Nanos::ZERO;
        if self.due {
            return;
        }
        let value = Timespec { tv_sec: (span.0 / SECOND) as i64, tv_nsec: (span.0 % SECOND) as i64 };
        let once = Itimerspec { it_interval: Timespec::default(), it_value: value };
        // A valid span on our own descriptor cannot be refused; if it were, ringing at once is the safe answer.
        self.due = timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::empty(), &once).is_err();
    }

    fn poll_rung(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.due {
            self.due = false;
            return Poll::Ready(());
        }
        // Each expiry is a new edge, so the descriptor need not be read, only tokio's note of it cleared.
        if let Ok(mut guard) = ready!(self.fd.poll_read_ready(cx)) {
            guard.clear_ready();
        }
        Poll::Ready(())
    }
}

const SECOND: u64 = 1_000_000_000;

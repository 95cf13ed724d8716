//! The runtime of a real shard: tokio's current-thread runtime, with a timerfd for releases finer than tokio's wheel.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hammer_measure::{Nanos, Now};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::{Alarm, Clock, LocalFuture, Runtime};
use crate::clock::{MonotonicClock, thread_cpu};
use crate::panics::PanicGuard;

/// The runtime of the thread it is used on; it must be used where local tasks can be spawned.
#[derive(Clone)]
pub struct ThreadedRuntime {
    clock: MonotonicClock,
    /// Told when a task that it started panics: tokio keeps that to itself, and the operations that the task had would never end.
    panicked: Rc<dyn Fn()>,
}

/// A timerfd.
#[derive(Debug)]
pub struct TimerFd {
    clock: MonotonicClock,
    fd: AsyncFd<OwnedFd>,
    at: Nanos,
    due: bool,
}

impl ThreadedRuntime {
    /// A runtime on that clock.
    pub fn new(clock: MonotonicClock) -> Self {
        Self { clock, panicked: Rc::new(|| ()) }
    }

    /// The same; `panicked` is told when one of its tasks ends by a panic.
    #[must_use]
    pub fn watched(self, panicked: impl Fn() + 'static) -> Self {
        Self { panicked: Rc::new(panicked), ..self }
    }
}

impl Runtime for ThreadedRuntime {
    type Alarm = TimerFd;

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn thread_cpu(&self) -> Nanos {
        thread_cpu()
    }

    fn alarm(&self) -> io::Result<TimerFd> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; an OwnedFd cannot close or change its descriptor"
        )]
        let fd = AsyncFd::with_interest(fd, Interest::READABLE)?;
        Ok(TimerFd { clock: self.clock, fd, at: Nanos::MAX, due: false })
    }

    fn spawn(&self, task: LocalFuture<()>) {
        let panicked = self.panicked.clone();
        tokio::task::spawn_local(async move {
            // Dropped while the panic unwinds through here.
            let _guard = PanicGuard::new(move || panicked());
            task.await;
        });
    }

    fn clock(&self) -> Rc<dyn Clock> {
        Rc::new(self.clock)
    }
}

impl Clock for MonotonicClock {
    fn sleep_until(&self, at: Nanos) -> LocalFuture<()> {
        let deadline = self.epoch() + Duration::from(at);
        Box::pin(tokio::time::sleep_until(deadline.into()))
    }
}

impl Alarm for TimerFd {
    fn set(&mut self, at: Nanos) {
        self.at = at;
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
        while !self.due {
            // Each expiry is a new edge, so the descriptor need not be read, only tokio's note of it cleared.
            match ready!(self.fd.poll_read_ready(cx)) {
                Ok(mut guard) => guard.clear_ready(),
                Err(_) => break,
            }
            // The note may be of an expiry before the last `set`.
            self.due = self.clock.now() >= self.at;
        }
        self.due = false;
        self.at = Nanos::MAX;
        Poll::Ready(())
    }
}

const SECOND: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    const MICRO: Nanos = Nanos::from_micros(1);

    /// Runs `test` with an alarm on a runtime like a shard's; an alarm that never rings fails it.
    fn with_alarm<F: Future<Output = ()>>(test: impl FnOnce(MonotonicClock, TimerFd) -> F) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let clock = MonotonicClock::starting_now();
        runtime.block_on(async {
            let alarm = ThreadedRuntime::new(clock).alarm().unwrap();
            tokio::time::timeout(Duration::from_secs(20), test(clock, alarm)).await.expect("the alarm rings");
        });
    }

    async fn rings(alarm: &mut TimerFd) {
        poll_fn(|cx| alarm.poll_rung(cx)).await;
    }

    #[test]
    fn an_alarm_rings_each_time_that_it_is_set_and_never_early() {
        with_alarm(|clock, mut alarm| async move {
            for turn in 0..5_000 {
                let at = clock.now() + MICRO * (turn % 200);
                alarm.set(at);
                rings(&mut alarm).await;
                assert!(clock.now() >= at);
            }
        });
    }

    #[test]
    fn an_alarm_that_is_set_again_before_it_rang_rings_at_the_later_instant() {
        with_alarm(|clock, mut alarm| async move {
            for _ in 0..500 {
                let now = clock.now();
                alarm.set(now + MICRO * 50);
                alarm.set(now + MICRO * 300);
                rings(&mut alarm).await;
                assert!(clock.now() >= now + MICRO * 300);
            }
        });
    }

    #[test]
    fn an_alarm_that_rang_while_nobody_polled_is_not_lost() {
        with_alarm(|clock, mut alarm| async move {
            for _ in 0..100 {
                alarm.set(clock.now() + MICRO * 20);
                clock.sleep_until(clock.now() + MICRO * 1_000).await;
                rings(&mut alarm).await;
            }
        });
    }

    #[test]
    fn an_alarm_set_again_after_it_rang_unheard_does_not_ring_early() {
        with_alarm(|clock, mut alarm| async move {
            for turn in 0..200 {
                alarm.set(clock.now() + MICRO * 20);
                if turn % 2 == 0 {
                    // The expiry reaches tokio, and nobody asks for it.
                    clock.sleep_until(clock.now() + MICRO * 1_000).await;
                } else {
                    // The expiry waits in the kernel.
                    let until = clock.now() + MICRO * 40;
                    while clock.now() < until {
                        std::hint::spin_loop();
                    }
                }
                let at = clock.now() + MICRO * 500;
                alarm.set(at);
                rings(&mut alarm).await;
                assert!(clock.now() >= at);
            }
        });
    }
}

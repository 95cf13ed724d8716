//! The waker of a connection that is driven by whoever uses it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Wake, Waker};

use atomic_waker::AtomicWaker;

/// Tells a wake that comes from within the connection's own poll, which only means "poll again", from one that comes
/// from the socket, which wakes the task. Without it every request costs its task a poll for nothing.
#[derive(Default)]
pub(crate) struct Signal {
    state: AtomicU8,
    task: AtomicWaker,
}

impl Signal {
    /// A poll on behalf of `task` starts.
    pub(crate) fn enter(&self, task: &Waker) {
        self.task.register(task);
        // Released behind the registration: a wake that finds this poll, or the end of it, knows of the task.
        self.state.store(POLLING, Ordering::Release);
    }

    /// The poll ends; whether it was woken meanwhile.
    pub(crate) fn leave(&self) -> bool {
        // Acquires what a wake of another thread was about, so that the poll that follows sees it; releases the registration to
        // the next wake, which finds that nobody polls.
        self.state.swap(IDLE, Ordering::AcqRel) == WOKEN
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // During a poll it leaves a note, released to `leave`; a second note says nothing new. Beside a poll it wakes the task,
        // whose registration is acquired.
        if self.state.compare_exchange(POLLING, WOKEN, Ordering::AcqRel, Ordering::Acquire) == Err(IDLE) {
            self.task.wake();
        }
    }
}

const IDLE: u8 = 0;
const POLLING: u8 = 1;
const WOKEN: u8 = 2;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_wake_from_within_a_poll_is_told_to_the_poll_and_not_to_the_task() {
        let (count, signal) = (Arc::new(Count::default()), Arc::new(Signal::default()));
        let waker = Waker::from(Arc::clone(&signal));
        signal.enter(&Waker::from(Arc::clone(&count)));
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert!(signal.leave());
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_wake_from_the_socket_wakes_the_task_once() {
        let (count, signal) = (Arc::new(Count::default()), Arc::new(Signal::default()));
        let waker = Waker::from(Arc::clone(&signal));
        signal.enter(&Waker::from(Arc::clone(&count)));
        assert!(!signal.leave());
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }
}

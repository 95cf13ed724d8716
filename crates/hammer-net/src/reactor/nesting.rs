//! An epoll's place in tokio's, and the task that turns it.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::waiting_task::WaitingTask;

/// Whether the thread is woken by what becomes ready in an epoll: then it is in tokio's epoll, too.
pub(super) struct Nesting {
    epoll: Rc<OwnedFd>,
    state: Cell<NestingState>,
    nested: RefCell<Option<AsyncFd<Rc<OwnedFd>>>>,
    driver: WaitingTask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NestingState {
    /// Nothing is registered yet, and there is no task.
    Idle,
    Eager,
    Lazy,
    /// The reactor is gone.
    Ended,
}

impl Nesting {
    pub(super) fn new(epoll: Rc<OwnedFd>) -> Self {
        Self {
            epoll,
            state: Cell::new(NestingState::Idle),
            nested: RefCell::default(),
            driver: WaitingTask::default(),
        }
    }

    /// Whether the task is to be spawned: once.
    pub(super) fn start(&self) -> bool {
        let is_first = self.state.get() == NestingState::Idle;
        if is_first {
            self.state.set(NestingState::Lazy);
        }
        is_first
    }

    /// Nests the epoll or takes it out of tokio's. Whether it is newly nested.
    pub(super) fn set(&self, is_eager: bool) -> bool {
        let wanted = if is_eager { NestingState::Eager } else { NestingState::Lazy };
        if matches!(self.state.get(), NestingState::Idle | NestingState::Ended) || self.state.get() == wanted
        {
            return false;
        }
        self.state.set(wanted);
        // A kernel that refuses it is dealt with where the task looks for it.
        self.nested.replace(is_eager.then(|| nest(&self.epoll)).and_then(Result::ok));
        self.driver.wake();
        is_eager
    }

    pub(super) fn end(&self) {
        self.state.set(NestingState::Ended);
        self.nested.replace(None);
        self.driver.wake();
    }

    /// Whether the kernel did not take the epoll (no memory, or too many watches).
    fn is_refused(&self) -> bool {
        self.state.get() == NestingState::Eager && self.nested.borrow().is_none()
    }

    /// Ready as soon as there may be something to take; an error once tokio's reactor is gone.
    fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.driver.set(cx);
        let nested = self.nested.borrow();
        let Some(nested) = &*nested else {
            return Poll::Pending;
        };
        // Cleared before the events are taken: what comes in between is taken with them, and what comes later is another edge of
        // the outer epoll, which is told of every event of the inner one.
        ready!(nested.poll_read_ready(cx))?.clear_ready();
        Poll::Ready(Ok(()))
    }
}

#[expect(deprecated, reason = "its successor is unsafe; an OwnedFd cannot close or change its descriptor")]
fn nest(epoll: &Rc<OwnedFd>) -> io::Result<AsyncFd<Rc<OwnedFd>>> {
    AsyncFd::with_interest(Rc::clone(epoll), Interest::READABLE)
}

/// Calls `turn` whenever there may be something to take, until the reactor is gone.
pub(super) async fn drive(nesting: Rc<Nesting>, turn: impl Fn()) {
    poll_fn(|cx| poll_turns(&nesting, &turn, cx)).await;
}

fn poll_turns(nesting: &Nesting, turn: &impl Fn(), cx: &mut Context<'_>) -> Poll<()> {
    while nesting.state.get() != NestingState::Ended {
        let ready = nesting.poll_ready(cx);
        if nesting.is_refused() {
            // Without the outer epoll, looking again and again is all that is left: slow, but nothing hangs.
            turn();
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        match ready {
            Poll::Ready(Ok(())) => turn(),
            Poll::Ready(Err(_)) => return Poll::Ready(()),
            Poll::Pending => return Poll::Pending,
        }
    }
    Poll::Ready(())
}

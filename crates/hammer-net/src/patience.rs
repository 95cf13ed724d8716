//! How long dials may take, without a timer for each: to set one wakes the runtime through its own descriptor, a write for every dial.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

/// The deadlines of a client's dials, all equally long, which one task looks at as long as there are any.
pub(crate) struct DialPatience {
    tick: Duration,
    ticks: Cell<u64>,
    /// In the order of their deadlines.
    under_way: RefCell<VecDeque<Rc<Deadline>>>,
    has_task: Cell<bool>,
}

struct Deadline {
    /// It has passed with that tick.
    tick: u64,
    waker: RefCell<Option<Waker>>,
}

/// A dial that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfPatience;

impl DialPatience {
    /// Dials may take `limit`, or up to a sixteenth longer.
    pub(crate) fn new(limit: Duration) -> Rc<Self> {
        Rc::new(Self {
            tick: (limit / TICKS).max(SHORTEST_TICK),
            ticks: Cell::new(0),
            under_way: RefCell::default(),
            has_task: Cell::new(false),
        })
    }

    /// What becomes of `dial` within the limit.
    pub(crate) async fn limit<F: Future>(self: &Rc<Self>, dial: F) -> Result<F::Output, OutOfPatience> {
        let deadline = self.start();
        let _ends = Ended { patience: self, deadline: &deadline };
        let mut dial = pin!(dial);
        poll_fn(|cx| {
            if let Poll::Ready(output) = dial.as_mut().poll(cx) {
                return Poll::Ready(Ok(output));
            }
            if self.ticks.get() >= deadline.tick {
                return Poll::Ready(Err(OutOfPatience));
            }
            deadline.waker.replace(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await
    }

    fn start(self: &Rc<Self>) -> Rc<Deadline> {
        if !self.has_task.replace(true) {
            tokio::task::spawn_local(look(Rc::downgrade(self)));
        }
        // The tick under way is over at any moment.
        let tick = self.ticks.get() + u64::from(TICKS) + 1;
        let deadline = Rc::new(Deadline { tick, waker: RefCell::default() });
        self.under_way.borrow_mut().push_back(Rc::clone(&deadline));
        deadline
    }

    /// Wakes what has waited for too long.
    fn pass(&self) {
        let tick = self.ticks.get() + 1;
        self.ticks.set(tick);
        let under_way = self.under_way.borrow();
        under_way.iter().take_while(|deadline| deadline.tick <= tick).for_each(|deadline| {
            if let Some(waker) = deadline.waker.take() {
                waker.wake();
            }
        });
    }
}

/// A deadline that is needed no more.
struct Ended<'a> {
    patience: &'a DialPatience,
    deadline: &'a Rc<Deadline>,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let mut under_way = self.patience.under_way.borrow_mut();
        // Dials end in about the order in which they start, so that this looks at few.
        if let Some(place) = under_way.iter().position(|other| Rc::ptr_eq(other, self.deadline)) {
            under_way.remove(place);
        }
    }
}

/// Ticks for as long as dials come, and a little longer: to begin anew is a write, too.
async fn look(patience: Weak<DialPatience>) {
    let mut idle = 0;
    while let Some(tick) = patience.upgrade().map(|patience| patience.tick) {
        tokio::time::sleep(tick).await;
        let Some(patience) = patience.upgrade() else { return };
        patience.pass();
        idle = if patience.under_way.borrow().is_empty() { idle + 1 } else { 0 };
        if idle > LINGER {
            patience.has_task.set(false);
            return;
        }
    }
}

/// In a limit.
const TICKS: u32 = 16;
const SHORTEST_TICK: Duration = Duration::from_millis(1);
/// Ticks without a dial until nobody looks any more.
const LINGER: u32 = 16;

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const LIMIT: Duration = Duration::from_millis(160);

    /// Runs `test` with the clock of tokio paused, so that it moves on whenever all wait.
    fn run<T>(test: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().start_paused(true).build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, test)
    }

    #[test]
    fn a_dial_has_its_limit_and_little_more() {
        run(async {
            let patience = DialPatience::new(LIMIT);
            for _ in 0..3 {
                let waited = tokio::time::timeout(LIMIT, patience.limit(pending::<()>())).await;
                assert!(waited.is_err(), "it is given up before its limit");
                let rest = tokio::time::timeout(LIMIT * 5 / 4, patience.limit(pending::<()>())).await;
                assert_eq!(rest, Ok(Err(OutOfPatience)));
                // Long enough that nobody looks any more.
                tokio::time::sleep(LIMIT * 3).await;
                assert!(!patience.has_task.get());
            }
        });
    }

    #[test]
    fn a_dial_that_ends_leaves_no_deadline() {
        run(async {
            let patience = DialPatience::new(LIMIT);
            assert_eq!(patience.limit(ready(7)).await, Ok(7));
            let slow = patience.limit(async {
                tokio::time::sleep(LIMIT / 2).await;
                8
            });
            assert_eq!(slow.await, Ok(8));
            assert!(patience.under_way.borrow().is_empty());
        });
    }
}

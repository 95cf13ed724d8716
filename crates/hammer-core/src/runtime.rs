//! What a shard stands on: a clock, an alarm finer than a millisecond, and tasks of its own thread. The threaded one
//! is tokio's, the simulated one advances its clock by hand, so that dispatch is tested to the nanosecond.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hammer_measure::{Nanos, Now};

pub mod simulated;
pub mod threaded;

/// A future of one thread.
pub type LocalFuture<T> = Pin<Box<dyn Future<Output = T>>>;

/// The ground under a shard.
pub trait Runtime: Clone + 'static {
    /// Its alarm.
    type Alarm: Alarm;

    /// The instant now.
    fn now(&self) -> Nanos;

    /// What the calling thread, which is the runtime's, has used of a processor.
    fn thread_cpu(&self) -> Nanos;

    /// A new alarm, silent.
    ///
    /// # Errors
    /// When the operating system has no timer left.
    fn alarm(&self) -> std::io::Result<Self::Alarm>;

    /// Starts a task on this thread; it ends with the shard.
    fn spawn(&self, task: LocalFuture<()>);

    /// The clock for sessions and tests.
    fn clock(&self) -> Rc<dyn Clock>;
}

/// A clock that can be waited on.
pub trait Clock: Now {
    /// Ends at `at`, to the precision of the runtime's alarm.
    fn sleep_until(&self, at: Nanos) -> LocalFuture<()>;
}

/// A timer that is set again and again without an allocation.
pub trait Alarm {
    /// Rings at `at` instead of when it was set before; at once when that has passed.
    fn set(&mut self, at: Nanos);

    /// Ready once it has rung since it was set; it is silent after that.
    fn poll_rung(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

/// Lets the thread's other tasks run once.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

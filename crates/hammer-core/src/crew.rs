//! Threads that compute what a flow needs in its middle: a signature over a nonce that the server chose, a CMS structure over
//! what it answered. They stand beside supply, which prepares what can be known ahead, so that no shard computes while
//! releases are due.

use std::rc::Rc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use futures::channel::oneshot;
use hammer_measure::{Nanos, Now as _};
use tokio::sync::Semaphore;

use crate::clock::MonotonicClock;
use crate::panics::PanicGuard;

/// The threads that compute. They end once every [`Crew`] and the pool itself are gone.
#[derive(Debug)]
pub struct CrewPool {
    clock: MonotonicClock,
    members: Vec<mpsc::Sender<Task>>,
    threads: Vec<JoinHandle<()>>,
}

/// A thread of the crew, as it is told to a shard's thread.
#[derive(Clone, Debug)]
pub struct CrewMember {
    /// `None`: the shard computes itself.
    thread: Option<(mpsc::Sender<Task>, MonotonicClock)>,
}

/// A shard's way to its thread of the crew. Cheap to clone within the shard.
#[derive(Clone)]
pub struct Crew {
    member: CrewMember,
    room: Rc<Semaphore>,
}

/// What was computed, and how long it waited for the thread before.
#[derive(Debug)]
pub(crate) struct Computed<T> {
    pub(crate) value: T,
    pub(crate) waited: Nanos,
}

type Task = Box<dyn FnOnce() + Send>;

impl CrewPool {
    /// Starts `threads` threads that tell the time by `clock`; `panicked` is told when one of them ends by a panic.
    ///
    /// # Errors
    /// When the operating system starts none.
    pub fn start(
        threads: usize,
        clock: MonotonicClock,
        panicked: impl FnOnce() + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut pool = Self { clock, members: Vec::new(), threads: Vec::new() };
        for index in 0..threads {
            let (sender, tasks) = mpsc::channel::<Task>();
            let guard = PanicGuard::new(panicked.clone());
            let builder = thread::Builder::new().name(format!("crew-{index}"));
            pool.threads.push(builder.spawn(move || {
                let _guard = guard;
                tasks.iter().for_each(|task| task());
            })?);
            pool.members.push(sender);
        }
        Ok(pool)
    }

    /// The thread that computes for that shard.
    pub fn crew_of(&self, shard: usize) -> CrewMember {
        let member = self.members.get(shard % self.members.len().max(1)).cloned();
        CrewMember { thread: member.map(|member| (member, self.clock)) }
    }

    /// Ends the threads once they have computed what they were given.
    pub fn stop(self) {
        drop(self.members);
        self.threads.into_iter().for_each(|thread| {
            // A panic was told by the thread's guard.
            let _ = thread.join();
        });
    }
}

impl CrewMember {
    /// The shard itself, which computes at once: for a simulated clock, on which computing takes no time.
    pub fn inline() -> Self {
        Self { thread: None }
    }

    /// Gives it something to do that nobody waits for.
    pub(crate) fn give(&self, work: impl FnOnce() + Send + 'static) {
        match &self.thread {
            // A thread that panicked does nothing any more; its guard ends the run.
            Some((thread, _)) => drop(thread.send(Box::new(work))),
            None => work(),
        }
    }

    /// The way there of a shard, to be made on the shard's own thread.
    pub fn of_shard(self) -> Crew {
        Crew { member: self, room: Rc::new(Semaphore::new(MOST_TASKS)) }
    }
}

impl Crew {
    /// Has `work` computed. Where the thread has as much before it as it may, that is waited for in order.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Computed<T> {
        let Some((member, clock)) = &self.member.thread else {
            return Computed { value: work(), waited: Nanos::ZERO };
        };
        let (asked, clock) = (clock.now(), *clock);
        // The permit is held until the value is back, and given back as well when the flow is cut off before that.
        let _room = self.room.acquire().await;
        let (answer, value) = oneshot::channel();
        let task: Task = Box::new(move || {
            let waited = clock.now().since(asked);
            // A flow that was cut off does not wait for it any more; then nothing need be computed.
            if !answer.is_canceled() {
                let _ = answer.send(Computed { value: work(), waited });
            }
        });
        // A thread that panicked takes no task and gives no value; its guard ends the run, and until then the flow waits.
        let _ = member.send(task);
        match value.await {
            Ok(computed) => computed,
            Err(_) => std::future::pending().await,
        }
    }
}

/// Most tasks of one shard that wait or are computed at once.
const MOST_TASKS: usize = 256;

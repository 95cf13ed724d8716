//! Operations prepared ahead of time on threads of their own, each shard's in one bounded ring: bounded in operations,
//! and in bytes once the weight of one is known. Requests carry the allocations of earlier operations back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use rtrb::{Consumer, Producer, RingBuffer};

use crate::background::Turn;
use crate::panics::PanicGuard;
use crate::workload::Workload;

/// The bounds of a shard's ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupplyBounds {
    /// Operations prepared ahead at most.
    pub operations: usize,
    /// Bytes that they may hold at most.
    pub bytes: usize,
}

impl Default for SupplyBounds {
    fn default() -> Self {
        Self { operations: 2048, bytes: 16 << 20 }
    }
}

/// The threads that prepare operations.
#[derive(Debug)]
pub struct SupplyPool {
    workers: Vec<(mpsc::Sender<Box<dyn SupplyWork>>, Thread)>,
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

/// The preparing side of one ring.
pub trait SupplyWork: Send {
    /// Prepares all that is requested; whether there was anything.
    fn work(&mut self) -> bool;

    /// Whether nothing more can be requested.
    fn closed(&self) -> bool;
}

/// The requesting side of one ring.
pub(crate) struct Supply<W: Workload> {
    requests: Producer<(u64, Option<W::Op>)>,
    ready: Consumer<(u64, W::Op)>,
    outstanding: usize,
    depth: usize,
    weighed: bool,
    bounds: SupplyBounds,
    thread: Option<Thread>,
    since_wake: usize,
}

struct SupplyWorker<W: Workload> {
    workload: Arc<W>,
    scratch: W::Scratch,
    requests: Consumer<(u64, Option<W::Op>)>,
    ready: Producer<(u64, W::Op)>,
    turn: Turn,
}

impl SupplyPool {
    /// Starts `threads` threads.
    ///
    /// # Errors
    /// When the operating system starts none.
    pub fn start(threads: usize) -> std::io::Result<Self> {
        Self::start_watched(threads, || {})
    }

    /// The same; `panicked` is told when one of them ends by a panic.
    ///
    /// # Errors
    /// When the operating system starts none.
    pub fn start_watched(
        threads: usize,
        panicked: impl FnOnce() + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut pool = Self { workers: Vec::new(), threads: Vec::new(), stop: stop.clone() };
        for index in 0..threads {
            let (sender, receiver) = mpsc::channel();
            let stop = stop.clone();
            let guard = PanicGuard::new(panicked.clone());
            let builder = thread::Builder::new().name(format!("supply-{index}"));
            let handle = builder.spawn(move || {
                let _guard = guard;
                serve(&receiver, &stop);
            })?;
            pool.workers.push((sender, handle.thread().clone()));
            pool.threads.push(handle);
        }
        Ok(pool)
    }

    /// A pool without a thread, and the rings that are to be worked by hand, on a simulated clock.
    pub fn by_hand() -> (Self, mpsc::Receiver<Box<dyn SupplyWork>>) {
        let (sender, rings) = mpsc::channel();
        let workers = vec![(sender, thread::current())];
        (Self { workers, threads: Vec::new(), stop: Arc::default() }, rings)
    }

    /// Gives a ring to one of the threads; returns whom to wake.
    pub(crate) fn add(&self, index: usize, work: Box<dyn SupplyWork>) -> Option<Thread> {
        let (sender, thread) = self.workers.get(index % self.workers.len().max(1))?;
        sender.send(work).ok()?;
        thread.unpark();
        Some(thread.clone())
    }

    /// Ends the threads.
    pub fn stop(self) {
        // Nothing is read because of it, so nothing need be seen with it.
        self.stop.store(true, Ordering::Relaxed);
        self.workers.iter().for_each(|(_, thread)| thread.unpark());
        self.threads.into_iter().for_each(|thread| {
            // A panic was told by the thread's guard.
            let _ = thread.join();
        });
    }
}

fn serve(incoming: &mpsc::Receiver<Box<dyn SupplyWork>>, stop: &AtomicBool) {
    let mut works: Vec<Box<dyn SupplyWork>> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        works.extend(incoming.try_iter());
        works.retain(|work| !work.closed());
        let mut worked = false;
        for work in &mut works {
            worked |= work.work();
        }
        if !worked {
            thread::park_timeout(IDLE);
        }
    }
}

impl<W: Workload> Supply<W> {
    /// The ring of one of so many shards, and its preparing side.
    pub(crate) fn new(workload: Arc<W>, shards: usize, bounds: SupplyBounds) -> (Self, Box<dyn SupplyWork>) {
        let (requests, requested) = RingBuffer::new(bounds.operations);
        let (prepared, ready) = RingBuffer::new(bounds.operations);
        let scratch = workload.scratch(shards);
        let turn = Turn::default();
        let worker = SupplyWorker { workload, scratch, requests: requested, ready: prepared, turn };
        // What one weighs is known once the first is there.
        let depth = bounds.operations.min(UNWEIGHED);
        let supply = Self {
            requests,
            ready,
            outstanding: 0,
            depth,
            weighed: false,
            bounds,
            thread: None,
            since_wake: 0,
        };
        (supply, Box::new(worker))
    }

    pub(crate) fn served_by(&mut self, thread: Option<Thread>) {
        self.thread = thread;
    }

    /// Operations prepared ahead at most, by both bounds.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether another request fits the bounds.
    pub(crate) fn has_room(&self) -> bool {
        self.outstanding < self.depth
    }

    /// Asks for the operation `seq`; the caller made sure that there is room.
    pub(crate) fn request(&mut self, seq: u64, reuse: Option<W::Op>) {
        if self.requests.push((seq, reuse)).is_ok() {
            self.outstanding += 1;
            self.since_wake += 1;
            if self.since_wake * WAKE_SHARE >= self.depth {
                self.wake();
            }
        }
    }

    /// Wakes the preparing thread, if there were requests since it was last woken.
    pub(crate) fn wake(&mut self) {
        if std::mem::take(&mut self.since_wake) > 0
            && let Some(thread) = &self.thread
        {
            thread.unpark();
        }
    }

    /// The oldest operation that is ready.
    pub(crate) fn pop(&mut self, workload: &W) -> Option<(u64, W::Op)> {
        let (seq, op) = self.ready.pop().ok()?;
        self.outstanding -= 1;
        self.bound_by(workload.weight(&op));
        Some((seq, op))
    }

    /// Bounds the ring by the weight of its first operation, once that is ready.
    pub(crate) fn weigh(&mut self, workload: &W) {
        if !self.weighed
            && let Ok((_, op)) = self.ready.peek()
        {
            let weight = workload.weight(op);
            self.bound_by(weight);
        }
    }

    /// A depth that rose with every byte less would ask for more operations than come back to be used again.
    fn bound_by(&mut self, weight: usize) {
        let depth = (self.bounds.bytes / weight.max(1)).clamp(1, self.bounds.operations);
        if !self.weighed || depth < self.depth || depth > self.depth + self.depth / DEPTH_SHARE {
            self.depth = depth;
        }
        self.weighed = true;
    }

    /// The sequence number of the oldest operation that is ready.
    pub(crate) fn peek(&self) -> Option<u64> {
        self.ready.peek().ok().map(|(seq, _)| *seq)
    }

    /// Whether all that was requested is ready.
    pub(crate) fn is_filled(&self) -> bool {
        self.ready.slots() >= self.outstanding
    }
}

impl<W: Workload> SupplyWork for SupplyWorker<W> {
    fn work(&mut self) -> bool {
        let mut worked = false;
        while !self.ready.is_full() {
            let Ok((seq, reuse)) = self.requests.pop() else { break };
            let op = self.workload.prepare(&mut self.scratch, seq, reuse);
            // Room was seen above, and nobody else pushes.
            worked |= self.ready.push((seq, op)).is_ok();
            self.turn.worked();
        }
        worked
    }

    fn closed(&self) -> bool {
        self.requests.is_abandoned()
    }
}

/// Operations prepared before the weight of one is known.
const UNWEIGHED: usize = 16;
/// How long the thread goes without a look when nobody wakes it; what is asked for meanwhile is prepared as one.
const IDLE: Duration = Duration::from_millis(20);
/// The depth rises once it would by more than an eighth.
const DEPTH_SHARE: usize = 8;
/// The thread is woken when a quarter of the ring was used.
const WAKE_SHARE: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ended::Ended;
    use crate::record::OperationRecord;
    use crate::workload::{FatalError, SeriesSpec, ShardContext};

    /// Operations of a thousand bytes, every other one lighter by so many.
    struct Heavy(usize);

    impl Workload for Heavy {
        type Op = u64;
        type Session = ();
        type User = ();
        type Scratch = ();

        fn series(&self) -> Vec<SeriesSpec> {
            Vec::new()
        }

        fn prepare(&self, (): &mut (), seq: u64, _reuse: Option<u64>) -> u64 {
            seq
        }

        fn weight(&self, op: &u64) -> usize {
            1_000 - self.0 * (*op % 2) as usize
        }

        async fn open(&self, _context: ShardContext) -> Result<(), FatalError> {
            Ok(())
        }

        async fn execute(&self, (): &(), (): &(), _op: &mut u64, _record: &OperationRecord) -> Ended {
            Ended::accepted(200)
        }
    }

    #[test]
    fn a_ring_holds_no_more_bytes_than_its_bound() {
        for (bytes, most) in [(100_000, 100), (20_000, 20), (10, 16)] {
            let bounds = SupplyBounds { operations: 2048, bytes };
            let (mut supply, mut worker) = Supply::new(Arc::new(Heavy(0)), 1, bounds);
            let mut seq = 0;
            for _ in 0..10 {
                while supply.has_room() {
                    supply.request(seq, None);
                    seq += 1;
                }
                worker.work();
                supply.weigh(&Heavy(0));
            }
            assert!(supply.is_filled());
            assert_eq!(seq, most, "16 are asked for before the weight of one is known");
            assert_eq!(supply.pop(&Heavy(0)), Some((0, 0)));
        }
    }

    #[test]
    fn a_ring_asks_for_one_operation_for_each_that_is_taken() {
        for (lighter, depth) in [(0, 100), (60, 100), (500, 200)] {
            let workload = Heavy(lighter);
            let (mut supply, mut worker) =
                Supply::new(Arc::new(Heavy(lighter)), 1, SupplyBounds { operations: 2048, bytes: 100_000 });
            let (mut asked, mut taken, mut deepest) = (0, 0, 0);
            for _ in 0..1_000 {
                while supply.has_room() {
                    supply.request(asked, None);
                    asked += 1;
                }
                worker.work();
                deepest = deepest.max(asked - taken);
                assert!(supply.pop(&workload).is_some());
                taken += 1;
            }
            assert_eq!(deepest, depth, "{lighter} bytes lighter");
        }
    }
}

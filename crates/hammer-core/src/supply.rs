//! Operations prepared ahead of time on threads of their own, each shard's in one bounded ring: bounded in operations,
//! and in bytes once the weight of one is known. Requests carry the allocations of earlier operations back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use rtrb::{Consumer, Producer, RingBuffer};

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
    bounds: SupplyBounds,
    thread: Option<Thread>,
    since_wake: usize,
}

struct Worker<W: Workload> {
    workload: Arc<W>,
    requests: Consumer<(u64, Option<W::Op>)>,
    ready: Producer<(u64, W::Op)>,
}

impl SupplyPool {
    /// Starts `threads` threads.
    ///
    /// # Errors
    /// When the operating system starts none.
    pub fn start(threads: usize) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut pool = Self { workers: Vec::new(), threads: Vec::new(), stop: stop.clone() };
        for index in 0..threads {
            let (sender, receiver) = mpsc::channel();
            let stop = stop.clone();
            let builder = thread::Builder::new().name(format!("supply-{index}"));
            let handle = builder.spawn(move || serve(&receiver, &stop))?;
            pool.workers.push((sender, handle.thread().clone()));
            pool.threads.push(handle);
        }
        Ok(pool)
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
        self.stop.store(true, Ordering::Relaxed);
        self.workers.iter().for_each(|(_, thread)| thread.unpark());
        self.threads.into_iter().for_each(|thread| {
            // A panic of a supply thread has starved the run and been counted; there is nothing to add here.
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
    /// A ring and its preparing side.
    pub(crate) fn new(workload: Arc<W>, bounds: SupplyBounds) -> (Self, Box<dyn SupplyWork>) {
        let (requests, requested) = RingBuffer::new(bounds.operations);
        let (prepared, ready) = RingBuffer::new(bounds.operations);
        let worker = Worker { workload, requests: requested, ready: prepared };
        let depth = bounds.operations;
        let supply = Self { requests, ready, outstanding: 0, depth, bounds, thread: None, since_wake: 0 };
        (supply, Box::new(worker))
    }

    pub(crate) fn served_by(&mut self, thread: Option<Thread>) {
        self.thread = thread;
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
        let weight = workload.weight(&op).max(1);
        self.depth = (self.bounds.bytes / weight).clamp(1, self.bounds.operations);
        Some((seq, op))
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

impl<W: Workload> SupplyWork for Worker<W> {
    fn work(&mut self) -> bool {
        let mut worked = false;
        while !self.ready.is_full() {
            let Ok((seq, reuse)) = self.requests.pop() else { break };
            let op = self.workload.prepare(seq, reuse);
            // Room was seen above, and nobody else pushes.
            worked |= self.ready.push((seq, op)).is_ok();
        }
        worked
    }

    fn closed(&self) -> bool {
        self.requests.is_abandoned()
    }
}

const IDLE: Duration = Duration::from_millis(5);
/// The thread is woken when a quarter of the ring was used.
const WAKE_SHARE: usize = 4;

//! The verifier threads of one workload.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use hammer_measure::{Ledger, Nanos};

use crate::background::{self, Turn};
use crate::crew::CrewMember;
use crate::panics::PanicGuard;

use super::ledger::PromiseLedger;
use super::sender::PromiseSender;
use super::transport::overflow::OverflowReader;
use super::transport::reader::RecordReader;
use super::transport::records::Records;
use super::transport::ring::ring;
use super::verdicts::{Finding, Verdicts};
use super::verifier::Verifier;

/// The verifier threads of one workload. Without a thread its rings are worked by hand, on a simulated clock.
pub struct VerifyPool {
    ledger: Arc<PromiseLedger>,
    spill_folder: PathBuf,
    ring_bytes: usize,
    threads: Vec<VerifierThread>,
    stop: Arc<AtomicBool>,
}

/// Where the rings of shards are handed to a verifier thread.
pub struct RingSender(mpsc::Sender<Ring>);

type Ring = (RecordReader, OverflowReader);

struct VerifierThread {
    rings: RingSender,
    thread: Thread,
    handle: JoinHandle<()>,
}

/// What one thread works on.
pub struct VerifierWork {
    judge: VerifierBatch,
    incoming: mpsc::Receiver<Ring>,
    rings: Vec<Ring>,
}

/// A verifier, and the records that it is to judge next.
struct VerifierBatch {
    verifier: Box<dyn Verifier>,
    verdicts: Verdicts,
    records: Records,
    turn: Turn,
}

impl VerifyPool {
    /// A pool for promises of these kinds, whose rings hold `ring_bytes` each and whose files lie in `spill_folder`.
    pub fn new(kinds: &[&'static str], ring_bytes: usize, spill_folder: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ledger = Arc::new(PromiseLedger::new(kinds));
        Self { ledger, spill_folder, ring_bytes, threads: Vec::new(), stop }
    }

    /// Starts a thread around `verifier`. `now` is the run's clock, `tell` is told what it finds, `panicked` when the
    /// thread ends by a panic: what it had before it would stay pending.
    ///
    /// # Errors
    /// When the operating system starts none.
    pub fn start(
        &mut self,
        workload: &str,
        verifier: Box<dyn Verifier>,
        now: impl Fn() -> Nanos + Send + 'static,
        tell: impl Fn(Finding) + Send + 'static,
        panicked: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        let (rings, mut bench) = self.bench(workload, verifier, tell);
        let stop = self.stop.clone();
        let name = format!("verify-{}", self.threads.len());
        let guard = PanicGuard::new(panicked);
        let handle = thread::Builder::new().name(name).spawn(move || {
            let _guard = guard;
            background::make_way();
            // Acquired, so that the last look finds every ring and record that was handed over before the stop.
            while !stop.load(Ordering::Acquire) {
                if !bench.work(now()) {
                    thread::park_timeout(IDLE);
                }
            }
            bench.finish(now());
        })?;
        self.threads.push(VerifierThread { rings, thread: handle.thread().clone(), handle });
        Ok(())
    }

    /// A verifier to be worked by hand, and where its rings go.
    pub fn bench(
        &self,
        workload: &str,
        verifier: Box<dyn Verifier>,
        tell: impl Fn(Finding) + Send + 'static,
    ) -> (RingSender, VerifierWork) {
        let (rings, incoming) = mpsc::channel();
        let verdicts = Verdicts::new(workload, self.ledger.clone(), Box::new(tell));
        let judge = VerifierBatch { verifier, verdicts, records: Records::default(), turn: Turn::default() };
        (RingSender(rings), VerifierWork { judge, incoming, rings: Vec::new() })
    }

    /// A ring for a shard, served by the shard's thread of the pool.
    pub fn sender(&self, shard: usize, crew: CrewMember) -> Option<PromiseSender> {
        let worker = self.threads.get(shard % self.threads.len().max(1))?;
        let sender = self.sender_into(&worker.rings, Some(worker.thread.clone()), crew)?;
        worker.thread.unpark();
        Some(sender)
    }

    /// A ring for a shard, into `rings`; `thread` is woken when there is something in it.
    pub fn sender_into(
        &self,
        rings: &RingSender,
        thread: Option<Thread>,
        crew: CrewMember,
    ) -> Option<PromiseSender> {
        let (mut writer, reader, overflow) =
            ring(self.ring_bytes, self.ledger.clone(), self.spill_folder.clone(), crew);
        rings.0.send((reader, overflow)).ok()?;
        writer.served_by(thread);
        Some(PromiseSender::new(writer))
    }

    /// The promises so far.
    pub fn ledger(&self) -> Ledger {
        self.ledger.read()
    }

    /// The promises so far, by kind.
    pub fn by_kind(&self) -> Vec<(&'static str, Ledger)> {
        self.ledger.by_kind().collect()
    }

    /// How many of the pending promises may still be judged.
    pub fn awaited(&self) -> u64 {
        self.ledger.awaited()
    }

    /// Ends the threads once they have judged what they can, and returns the last state of the ledger.
    pub fn stop(mut self) -> Vec<(&'static str, Ledger)> {
        // Released behind what the shards did, which have ended.
        self.stop.store(true, Ordering::Release);
        for worker in std::mem::take(&mut self.threads) {
            worker.thread.unpark();
            // A panic was told by the thread's guard.
            let _ = worker.handle.join();
        }
        self.by_kind()
    }
}

impl VerifierWork {
    /// Judges what is there, as many records at once as there are; whether there was anything.
    pub fn work(&mut self, now: Nanos) -> bool {
        self.rings.extend(self.incoming.try_iter());
        let Self { judge, rings, .. } = self;
        let mut worked = false;
        for (ring, overflow) in &mut *rings {
            for _ in 0..TURN {
                if !judge.records.take(ring) && !overflow.take(&mut judge.records) {
                    break;
                }
                judge.settle_if_full(now);
                worked = true;
            }
            if !worked && ring.is_empty() {
                judge.drain(overflow, now);
            }
        }
        judge.settle(now);
        if !worked {
            rings.retain(|(ring, overflow)| !ring.is_closed() || !overflow.is_empty());
        }
        judge.verifier.tick(now, &mut judge.verdicts);
        worked
    }

    /// Judges all that is left.
    pub fn finish(&mut self, now: Nanos) {
        while self.work(now) {}
        self.rings.iter().for_each(|(_, overflow)| self.judge.drain(overflow, now));
        self.judge.verifier.finish(now, &mut self.judge.verdicts);
    }
}

impl VerifierBatch {
    fn settle(&mut self, now: Nanos) {
        if !self.records.is_empty() {
            self.verifier.check_all(&self.records, now, &mut self.verdicts);
            self.turn.worked_on(self.records.len());
            self.records.clear();
        }
    }

    fn settle_if_full(&mut self, now: Nanos) {
        if self.records.is_full() {
            self.settle(now);
        }
    }

    fn drain(&mut self, overflow: &OverflowReader, now: Nanos) {
        let lost = overflow.drain(|record| {
            self.records.push(record);
            self.settle_if_full(now);
        });
        self.settle(now);
        lost.into_iter().for_each(|kind| self.verdicts.unchecked_as_received(kind));
    }
}

/// How long the thread goes without a look when nobody wakes it; what comes meanwhile is judged as one batch.
const IDLE: Duration = Duration::from_millis(20);
/// Most records of one ring before the next has its turn.
const TURN: usize = 256;

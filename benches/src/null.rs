//! The null target, and runs against it by the whole engine: schedule, supply, backlog, slots, recorder, intervals,
//! collector and snapshots.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hammer_core::dispatch::{Load, LoadedWorkload};
use hammer_core::record::{Exchange, OperationRecord};
use hammer_core::run::{RunSpec, control, run};
use hammer_core::runtime::Clock;
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::snapshot::{Resources, RunResult};
use hammer_measure::{Fate, Nanos, Reporter, RunEvent};

use crate::cpu;

/// A target that has answered as soon as it was asked.
pub struct Null {
    preparation: Preparation,
    shard_cpu: Arc<AtomicU64>,
}

/// A prepared operation: its sequence number, where a real one has its request.
#[derive(Debug)]
pub struct Request(u64);

/// A shard's session: its clock, and what its thread had used when it was opened.
pub struct Session {
    clock: Rc<dyn Clock>,
    used: Nanos,
    shard_cpu: Arc<AtomicU64>,
}

/// What a run against the null target gave.
pub struct NullRun {
    /// What the run left behind.
    pub result: Arc<RunResult>,
    /// Intervals that a reporter received.
    pub intervals: u64,
    /// CPU time of the shard's thread from the opening of its session to its end.
    pub shard_cpu: Nanos,
    /// CPU time of the whole process over the run.
    pub process_cpu: Nanos,
}

#[derive(Default)]
struct Count {
    intervals: u64,
}

impl Workload for Null {
    type Op = Request;
    type Session = Session;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("null", true)]
    }

    fn preparation(&self) -> Preparation {
        self.preparation
    }

    fn prepare(&self, (): &mut (), seq: u64, _reuse: Option<Request>) -> Request {
        Request(seq)
    }

    async fn open(&self, context: ShardContext) -> Result<Session, FatalError> {
        Ok(Session { clock: context.clock, used: cpu::of_thread(), shard_cpu: self.shard_cpu.clone() })
    }

    async fn execute(&self, session: &Session, (): &(), op: &mut Request, record: &OperationRecord) -> Ended {
        assert_eq!(op.0, record.seq(), "each arrival gets its own operation");
        let at = session.clock.now();
        let mut exchange = record.exchange();
        *exchange.wire() = Exchange { sent: Some(at), done: Some(at), bytes_out: 1, ..Exchange::default() };
        exchange.end(Ended::accepted(200));
        Ended::accepted(200)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shard_cpu.fetch_add(cpu::of_thread().since(self.used).0, Ordering::Relaxed);
    }
}

impl Reporter for Count {
    fn event(&mut self, event: &RunEvent) {
        self.intervals += u64::from(matches!(event, RunEvent::Interval(_)));
    }
}

impl NullRun {
    /// Puts `load` on the null target, on one shard; `measurement` ends it unless the load does.
    ///
    /// # Panics
    /// When the run cannot go on.
    pub fn of(load: Load, preparation: Preparation, measurement: Option<Nanos>) -> Self {
        let shard_cpu = Arc::new(AtomicU64::new(0));
        let workload = Arc::new(Null { preparation, shard_cpu: shard_cpu.clone() });
        let (mut count, used) = (Count::default(), cpu::of_process());
        let (_control, inbox) = control();
        let result = run(spec(workload, load, measurement), inbox, &mut [&mut count]);
        let result = result.expect("a run against nothing cannot fail");
        let process_cpu = cpu::of_process().since(used);
        let shard_cpu = Nanos(shard_cpu.load(Ordering::Relaxed));
        Self { result, intervals: count.intervals, shard_cpu, process_cpu }
    }

    /// The record of its operations.
    pub fn record(&self) -> &SeriesRecord {
        &self.result.total.series[0][1]
    }

    /// Holds the counters against each other and against the `operations` that the load was to make.
    ///
    /// # Panics
    /// When they do not reconcile.
    pub fn reconcile(&self, operations: u64) {
        let record = self.record();
        assert_eq!(record.offered, operations, "every arrival was offered");
        assert_eq!(record.fates.iter().sum::<u64>(), operations, "every arrival has its fate");
        assert_eq!((record.backlog, record.in_flight), (0, 0), "nothing is left over");
        assert_eq!(record.response_time().count(), operations, "every arrival has its response time");
        assert_eq!(record.bytes_out, record.fate(Fate::Accepted), "what was accepted was sent");
        assert!(self.intervals > 1, "intervals were emitted");
    }
}

fn spec(workload: Arc<Null>, load: Load, measurement: Option<Nanos>) -> RunSpec {
    let lane = LoadedWorkload {
        name: "null".to_owned(),
        workload,
        load,
        timeout: Nanos::from_secs(5),
        supply: SupplyBounds::default(),
    };
    RunSpec {
        measurement,
        interval: Nanos::from_millis(100),
        resources: Box::new(|| Resources { cores: 1, ..Resources::default() }),
        ..RunSpec::new(vec![Arc::new(lane)])
    }
}

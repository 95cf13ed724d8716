//! A run over loopback, and the log under it.

use std::collections::BTreeMap;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{LanePlan, Load, LoadedWorkload, Open};
use hammer_core::observe::Observer;
use hammer_core::run::{RunSpec, StopRule, control, run};
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::Workload;
use hammer_ct::{CtRun, LogKind, LogTarget, SubmitPlan, roots};
use hammer_lab::ct::Flavour;
use hammer_lab::{CtLabHandle, CtLabPlan, LogConfig};
use hammer_measure::snapshot::RunResult;
use hammer_measure::{Detail, Fate, Nanos, Phase, Reporter, RunEvent};
use hammer_net::ClientConfig;
use hammer_tlog::keys::key::LogKey;
use hammer_values::{Percent, TimeSpan, Weights, WholePercent};

pub(crate) const SEED: u64 = 7;

/// A drain of tests that wait for its end: long enough for all answers, on a slow machine too.
pub(crate) const DRAIN_TO_THE_END: Nanos = Nanos::from_secs(2);

/// One run: its clock, and what it is made of.
pub(crate) struct TestRun {
    pub(crate) clock: MonotonicClock,
    pub(crate) epoch_unix_ms: u64,
    pub(crate) shards: usize,
    pub(crate) lanes: Vec<Arc<dyn LanePlan<ThreadedRuntime>>>,
    pub(crate) observers: Vec<Box<dyn Observer>>,
    pub(crate) stops: Vec<StopRule>,
    pub(crate) measurement: Option<Nanos>,
    /// Milliseconds by which the run believes to have started later than it did.
    pub(crate) ahead_ms: i64,
    pub(crate) drain: Nanos,
    pub(crate) timeout: Nanos,
}

/// What a run left, and the notes that it told.
pub(crate) struct Outcome {
    pub(crate) result: Arc<RunResult>,
    pub(crate) notes: Vec<String>,
    /// The series that are of operations, and not of steps.
    pub(crate) operations: Vec<usize>,
}

impl TestRun {
    pub(crate) fn new() -> Self {
        Self {
            clock: MonotonicClock::starting_now(),
            epoch_unix_ms: unix_millis(),
            shards: 1,
            lanes: Vec::new(),
            observers: Vec::new(),
            stops: Vec::new(),
            measurement: None,
            ahead_ms: 0,
            drain: Nanos::from_secs(20),
            timeout: Nanos::from_secs(20),
        }
    }

    pub(crate) fn ct(&self) -> CtRun {
        let epoch_unix_ms = self.epoch_unix_ms.checked_add_signed(self.ahead_ms).unwrap();
        CtRun { seed: SEED, epoch_unix_ms, workload: self.lanes.len() as u64 }
    }

    /// Adds `operations` at `rate` a second.
    pub(crate) fn load<W: Workload>(&mut self, workload: W, rate: f64, operations: u64) {
        self.load_with(workload, rate, operations, 64);
    }

    /// Adds `operations` at `rate` a second, of which at most `in_flight` are under way at once.
    pub(crate) fn load_with<W: Workload>(
        &mut self,
        workload: W,
        rate: f64,
        operations: u64,
        in_flight: usize,
    ) {
        let schedule = Schedule::even(Profile::Constant(Constant { rate })).operations(operations);
        self.lanes.push(Arc::new(LoadedWorkload {
            name: format!("w{}", self.lanes.len()),
            workload: Arc::new(workload),
            load: Load::Open(Open { schedule, in_flight, backlog: 10_000 }),
            timeout: self.timeout,
            supply: SupplyBounds::default(),
        }));
    }

    pub(crate) fn run(self) -> Outcome {
        let spill = tempfile::tempdir().unwrap();
        let (_control, inbox) = control();
        let mut notes = Notes::default();
        let series = self.lanes.iter().flat_map(|lane| lane.series()).enumerate();
        let operations = series.filter(|(_, series)| series.operation).map(|(place, _)| place).collect();
        let spec = RunSpec {
            clock: self.clock,
            epoch_unix_ms: self.epoch_unix_ms,
            seed: SEED,
            shards: self.shards.into(),
            spill_folder: spill.path().to_owned(),
            measurement: self.measurement,
            drain: self.drain,
            interval: Nanos::from_millis(250),
            observers: self.observers,
            stops: self.stops,
            ..RunSpec::new(self.lanes)
        };
        let result = run(spec, inbox, &mut [&mut notes]).unwrap();
        Outcome { result, notes: notes.0, operations }
    }
}

#[derive(Default)]
struct Notes(Vec<String>);

impl Reporter for Notes {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Note { text, .. } = event {
            self.0.push(text.clone());
        }
    }
}

impl Outcome {
    /// Ends of that fate in the series, both phases together.
    pub(crate) fn fate(&self, series: usize, fate: Fate) -> u64 {
        self.result.total.series[series].iter().map(|record| record.fate(fate)).sum()
    }

    pub(crate) fn causes(&self, series: usize) -> Vec<(Fate, Detail)> {
        let record =
            &self.result.total.series[series][hammer_measure::recorder::phase_index(Phase::Measurement)];
        record.causes.iter().map(|(fate, detail, _)| (*fate, *detail)).collect()
    }

    /// All promises were kept, so many.
    pub(crate) fn assert_kept(&self, promises: u64) {
        let ledger = self.result.promises;
        assert_eq!((ledger.made, ledger.kept), (promises, promises), "{ledger:?} {:?}", self.result.breaches);
    }

    /// All promises were broken, each with that kind.
    pub(crate) fn assert_broken(&self, promises: u64, kind: &str) {
        let ledger = self.result.promises;
        assert_eq!((ledger.made, ledger.broken), (promises, promises), "{ledger:?}");
        assert!(!self.result.breaches.is_empty());
        for breach in &self.result.breaches {
            assert_eq!(breach.kind, kind, "{breach:?}");
        }
    }
}

/// A log that accepts the chains of `plan`, quick to publish.
pub(crate) fn lab(plan: &SubmitPlan, log: CtLabPlan) -> CtLabHandle {
    let log = CtLabPlan {
        batch_max_age: TimeSpan::from_millis(20),
        checkpoint_interval: TimeSpan::from_millis(50),
        ..log
    };
    lab_as(plan, log)
}

/// A log that accepts the chains of `plan`, as it says.
pub(crate) fn lab_as(plan: &SubmitPlan, log: CtLabPlan) -> CtLabHandle {
    let mut config = LogConfig::from_plan(log).unwrap();
    for root in roots(plan, SEED).unwrap().certificates {
        config.add_root_der(root);
    }
    CtLabHandle::spawn(config).unwrap()
}

/// The log as a workload knows it.
pub(crate) fn target(lab: &CtLabHandle, flavour: Flavour) -> LogTarget {
    let kind = match flavour {
        Flavour::StaticCt => LogKind::StaticCt,
        Flavour::Rfc6962 => LogKind::Rfc6962,
    };
    let key = LogKey::from_der(lab.log_key_spki()).unwrap();
    let mut target = LogTarget::new(kind, lab.url.parse().unwrap(), key);
    target.origin = lab.origin().to_owned();
    target
}

pub(crate) fn client(target: &LogTarget) -> ClientConfig {
    ClientConfig::new(target.submission[0].clone())
}

pub(crate) fn percent(of_100: f64) -> Percent {
    Percent::try_from(of_100).unwrap()
}

pub(crate) fn whole_percent(of_100: u8) -> WholePercent {
    WholePercent::try_from(of_100).unwrap()
}

/// Things by their weights.
pub(crate) fn weights<K: Ord, N: Copy + Into<u64>>(
    things: impl IntoIterator<Item = (K, N)>,
) -> Weights<K, N> {
    Weights::try_from(things.into_iter().collect::<BTreeMap<_, _>>()).unwrap()
}

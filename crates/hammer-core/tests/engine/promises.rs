use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use hammer_core::crew::CrewMember;
use hammer_core::dispatch::{Closed, FillGoal, FillLimits, Iterations, Load, LoadedWorkload, Stages, Think};
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::promise::{Fault, Finding, PromiseKind, Records, Verdicts, Verifier, VerifyPool};
use hammer_core::record::OperationRecord;
use hammer_core::run::{RunError, RunSpec, control, run};
use hammer_core::runtime::{Clock, LocalFuture, Runtime as _};
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_measure::{Ledger, Nanos, Reporter, RunEvent};

use crate::harness::{MILLI, SECOND, Simulated, answered, at_rate};

const WITNESS: PromiseKind = PromiseKind(0);

/// A server whose every answer promises that a witness will see the operation; the witness is late.
struct Promising {
    answer: Nanos,
    /// Bytes of each record behind its instant.
    padding: usize,
}

/// Knows only at `kept_after` that a promise was kept; those of multiples of `liar` are broken at once.
struct Late {
    kept_after: Nanos,
    liar: u64,
    waiting: Vec<Nanos>,
}

impl Workload for Promising {
    type Op = ();
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("promise", true)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, _reuse: Option<()>) {}

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn execute(&self, clock: &Self::Session, (): &(), (): &mut (), record: &OperationRecord) -> Ended {
        let sent = clock.now();
        clock.sleep_until(sent + self.answer).await;
        answered(record.exchange(), sent, clock.now());
        let mut bytes = clock.now().0.to_le_bytes().to_vec();
        bytes.resize(8 + self.padding, 0);
        record.promise(WITNESS, &bytes);
        Ended::accepted(200)
    }
}

impl Verifier for Late {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let made = Nanos(u64::from_le_bytes(record[..8].try_into().unwrap()));
        if self.liar > 0 && seq.is_multiple_of(self.liar) {
            verdicts.broken(WITNESS, seq, Fault::new("witness", format!("never saw {seq}")), Some(record));
        } else {
            self.waiting.push(made + self.kept_after);
        }
    }

    fn tick(&mut self, now: Nanos, verdicts: &mut Verdicts) {
        let before = self.waiting.len();
        self.waiting.retain(|due| *due > now);
        (self.waiting.len()..before).for_each(|_| verdicts.kept(WITNESS));
    }
}

/// Keeps every promise, and notes which records were judged together.
struct Together {
    batches: Arc<Mutex<Vec<Vec<u64>>>>,
}

impl Verifier for Together {
    fn check(&mut self, seq: u64, _record: &[u8], _now: Nanos, _verdicts: &mut Verdicts) {
        unreachable!("{seq} was judged alone");
    }

    fn check_all(&mut self, records: &Records, _now: Nanos, verdicts: &mut Verdicts) {
        self.batches.lock().unwrap().push(records.iter().map(|record| record.seq).collect());
        records.iter().for_each(|_| verdicts.kept(WITNESS));
    }
}

/// 1,000 operations a second for two seconds over two shards; what the ledger was over time, and the breaches.
fn ledgers(ring_bytes: usize, late: impl Verifier + 'static) -> (Vec<Ledger>, Vec<u64>) {
    let pool = Rc::new(VerifyPool::new(&["witness"], ring_bytes, std::env::temp_dir()));
    let breaches = Arc::new(Mutex::new(Vec::new()));
    let seen = breaches.clone();
    let (rings, bench) = pool.bench("promising", Box::new(late), move |found| {
        let Finding::Broken(broken) = found else { panic!("{found:?}") };
        seen.lock().unwrap().extend(broken.breach.seq);
    });
    let bench = Rc::new(RefCell::new(Some(bench)));
    let over_time = Rc::new(RefCell::new(Vec::new()));
    let run = Simulated::measuring(Nanos::from_secs(2)).over(2);
    run.run_with(
        Arc::new(Promising { answer: MILLI, padding: 0 }),
        at_rate(1_000.0, 100, 100),
        |runtime, _| {
            if let Some(mut bench) = bench.borrow_mut().take() {
                // The verifier's thread, as a task: it looks every 100 ms.
                let (clock, over_time, pool) = (runtime.clock(), over_time.clone(), pool.clone());
                runtime.spawn(Box::pin(async move {
                    for look in 1..=60 {
                        clock.sleep_until(MILLI * 100 * look).await;
                        bench.work(clock.now());
                        over_time.borrow_mut().push(pool.ledger());
                    }
                    bench.finish(clock.now());
                    over_time.borrow_mut().push(pool.ledger());
                }));
            }
            pool.sender_into(&rings, None, CrewMember::inline())
        },
    );
    let breaches = breaches.lock().unwrap().clone();
    (Rc::into_inner(over_time).unwrap().into_inner(), breaches)
}

#[test]
fn a_promise_stays_pending_until_it_resolves() {
    let (over_time, breaches) = ledgers(1 << 20, Late { kept_after: SECOND, liar: 0, waiting: Vec::new() });
    assert!(over_time.iter().all(Ledger::balances));
    let pending = over_time.iter().map(|ledger| ledger.pending).max().unwrap();
    assert!((950..=1_300).contains(&pending), "{pending}: a second's worth");
    let last = over_time.last().unwrap();
    assert_eq!((last.made, last.kept, last.pending), (2_000, 2_000, 0));
    assert!(breaches.is_empty());
}

#[test]
fn a_promise_with_time_left_is_not_broken_when_the_run_ends() {
    let (over_time, _) = ledgers(1 << 20, Late { kept_after: SECOND * 86_400, liar: 0, waiting: Vec::new() });
    let last = over_time.last().unwrap();
    assert_eq!((last.made, last.pending, last.broken, last.unchecked), (2_000, 2_000, 0, 0));
}

#[test]
fn a_broken_promise_names_its_operation() {
    let (over_time, mut breaches) =
        ledgers(1 << 20, Late { kept_after: MILLI, liar: 500, waiting: Vec::new() });
    breaches.sort_unstable();
    assert_eq!(breaches, [0, 500, 1_000, 1_500]);
    assert_eq!(over_time.last().unwrap().broken, 4);
}

/// As each look finds some 50 records in each of two rings, 32 are judged together, and then those that are left.
#[test]
fn the_records_that_are_there_are_judged_together_and_in_order() {
    for ring_bytes in [1 << 20, 200] {
        let batches = Arc::<Mutex<Vec<Vec<u64>>>>::default();
        let (over_time, _) = ledgers(ring_bytes, Together { batches: batches.clone() });
        let last = over_time.last().unwrap();
        assert_eq!((last.made, last.kept), (2_000, 2_000));
        let batches = batches.lock().unwrap();
        assert!(batches.iter().all(|batch| (1..=32).contains(&batch.len())), "{batches:?}");
        if ring_bytes > 200 {
            assert!(batches.iter().filter(|batch| batch.len() == 32).count() >= 45, "{batches:?}");
        }
        for shard in 0..2 {
            let of_shard: Vec<u64> =
                batches.iter().flatten().copied().filter(|seq| seq % 2 == shard).collect();
            assert_eq!(of_shard.len(), 1_000);
            assert!(ring_bytes == 200 || of_shard.is_sorted());
        }
    }
}

#[test]
fn what_does_not_fit_the_ring_spills_and_is_checked_all_the_same() {
    let (over_time, _) = ledgers(200, Late { kept_after: MILLI, liar: 0, waiting: Vec::new() });
    let last = over_time.last().unwrap();
    assert_eq!((last.made, last.kept, last.unchecked), (2_000, 2_000, 0));
}

/// Forty records of a mebibyte, of which the queue takes 16 before the crew makes room; what became of their promises.
fn large(spill_folder: &str) -> Ledger {
    let pool = VerifyPool::new(&["witness"], 1 << 20, spill_folder.into());
    let late = Late { kept_after: MILLI, liar: 0, waiting: vec![] };
    let (rings, mut work) = pool.bench("w", Box::new(late), |_| {});
    let promising = Promising { answer: MILLI, padding: 1 << 20 };
    Simulated::measuring(SECOND).run_with(Arc::new(promising), at_rate(40.0, 10, 10), |_, _| {
        pool.sender_into(&rings, None, CrewMember::inline())
    });
    work.finish(SECOND * 60);
    work.finish(SECOND * 61);
    pool.ledger()
}

#[test]
fn large_records_wait_in_memory_and_then_in_a_file() {
    let ledger = large(&std::env::temp_dir().to_string_lossy());
    assert_eq!((ledger.made, ledger.kept, ledger.unchecked), (40, 40, 0));
}

#[test]
fn what_can_neither_wait_nor_spill_is_unchecked() {
    let ledger = large("/nonexistent/spill");
    assert!(ledger.balances() && ledger.pending == 0, "{ledger:?}");
    assert!((8..40).contains(&ledger.unchecked), "{ledger:?}");
}

/// Falls over the first record that it sees.
struct Panics;

impl Verifier for Panics {
    fn check(&mut self, _seq: u64, _record: &[u8], _now: Nanos, _verdicts: &mut Verdicts) {
        panic!("the verifier falls over its record");
    }
}

impl Observer for Panics {
    fn observe(
        self: Box<Self>,
        _sink: ObservationSink,
        _clock: Rc<dyn Clock>,
        _ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(async { panic!("the observer falls over") })
    }
}

/// A run on threads of its own, of workloads that receive promises.
fn on_threads(
    verifier: fn() -> Box<dyn Verifier>,
    observers: Vec<Box<dyn Observer>>,
) -> Result<(), RunError> {
    let lane = LoadedWorkload {
        name: "promising".to_owned(),
        workload: Arc::new(Judged { verifier, answered: u64::MAX }),
        load: at_rate(100.0, 10, 10),
        timeout: SECOND,
        supply: SupplyBounds::default(),
    };
    let (_control, inbox) = control();
    let spec = RunSpec { measurement: Some(SECOND), observers, ..RunSpec::new(vec![Arc::new(lane)]) };
    run(spec, inbox, &mut []).map(drop)
}

/// A workload with another verifier, whose server is gone behind so many answers.
struct Judged {
    verifier: fn() -> Box<dyn Verifier>,
    answered: u64,
}

const PROMISING: Promising = Promising { answer: MILLI, padding: 0 };

impl Workload for Judged {
    type Op = ();
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        PROMISING.series()
    }

    fn prepare(&self, (): &mut (), _seq: u64, _reuse: Option<()>) {}

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        PROMISING.open(context).await
    }

    async fn execute(&self, clock: &Self::Session, (): &(), (): &mut (), record: &OperationRecord) -> Ended {
        if record.seq() < self.answered {
            return PROMISING.execute(clock, &(), &mut (), record).await;
        }
        record.exchange().end(Ended::of_status(503));
        Ended::of_status(503)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &["witness"]
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some((self.verifier)())
    }
}

#[test]
fn a_run_whose_verifier_or_observer_panics_cannot_go_on() {
    let falls = on_threads(|| Box::new(Panics), Vec::new());
    assert!(matches!(falls, Err(RunError::VerifierPanicked(of)) if of == "promising"));
    let keeps = || Box::new(Late { kept_after: MILLI, liar: 0, waiting: vec![] }) as Box<dyn Verifier>;
    let falls = on_threads(keeps, vec![Box::new(Panics)]);
    assert!(matches!(falls, Err(RunError::ObserverPanicked)));
    assert!(on_threads(keeps, Vec::new()).is_ok());
}

/// What is told while verdicts are waited for.
#[derive(Default)]
struct Told {
    awaited: Vec<u64>,
    notes: Vec<String>,
}

impl Reporter for Told {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Judging { at, awaited, until } => {
                assert!(until > at && *until <= *at + SECOND * 2, "{at} {until}");
                self.awaited.push(*awaited);
            }
            RunEvent::Note { text, .. } => self.notes.push(text.clone()),
            _ => {}
        }
    }
}

#[test]
fn a_fill_that_gave_up_waits_no_longer_than_verdicts_come_and_says_so() {
    let goal = Arc::new(FillGoal::new(1_000, 0, FillLimits { failed: 100, in_a_row: 10 }));
    let iterations = Iterations::Accepted(Arc::clone(&goal));
    let (stages, think) = (Stages::constant(1), Think::Constant(MILLI));
    let never =
        || Box::new(Late { kept_after: SECOND * 86_400, liar: 0, waiting: vec![] }) as Box<dyn Verifier>;
    let lane = LoadedWorkload {
        name: "promising".to_owned(),
        workload: Arc::new(Judged { verifier: never, answered: 5 }),
        load: Load::Closed(Closed { stages, spawn_rate: None, think, iterations, seed: 3 }),
        timeout: SECOND,
        supply: SupplyBounds::default(),
    };
    let spec = RunSpec {
        goal: Some(Arc::clone(&goal)),
        drain: SECOND * 20,
        patience: MILLI * 1_500,
        ..RunSpec::new(vec![Arc::new(lane)])
    };
    let (mut told, (_control, inbox)) = (Told::default(), control());
    let result = run(spec, inbox, &mut [&mut told]).unwrap();
    assert!(goal.has_given_up() && goal.accepted() == 5, "{goal:?}");
    let why = "the fill gave up: 10 operations failed, the first of the last row by pushback (HTTP 503)";
    assert_eq!(result.stopped, why);
    let (_, start, end) = result.phases.last().unwrap();
    assert!(end.since(*start) < SECOND * 10, "it drained for {}", end.since(*start));
    assert_eq!((told.awaited, result.promises.pending), (vec![5], 5));
    assert!(told.notes.iter().any(|note| note.contains("of 5 promises no verdict came")), "{:?}", told.notes);
}

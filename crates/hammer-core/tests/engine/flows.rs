//! What the record of a flow says of the step that hangs, of what is read beside it, of computing in its middle and of its user.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hammer_core::crew::CrewMember;
use hammer_core::dispatch::{Closed, Iterations, Load, LoadedWorkload, Stages, Think};
use hammer_core::promise::{PromiseKind, Verdicts, Verifier, VerifyPool};
use hammer_core::record::OperationRecord;
use hammer_core::run::{RunError, RunSpec, control, run};
use hammer_core::runtime::Clock;
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Fate, Ledger, Nanos, Outcome};

use crate::harness::{MILLI, SECOND, Scripted, Simulated, answered, at_rate};

/// Two steps of which the second meets a stall that starts 500 ms into the run and outlasts it.
fn hanging() -> Scripted {
    let from = SECOND + MILLI * 500;
    Scripted { steps: 2, ..Scripted::answering_after(MILLI * 2) }.stalled(from, SECOND * 100)
}

fn step_and_flow(run: &Simulated) -> [SeriesRecord; 3] {
    let total = run.run(hanging(), at_rate(100.0, 1_000, 10));
    [0, 1, 2].map(|series| total.series[series][1].clone())
}

#[test]
fn the_step_that_a_deadline_cuts_off_has_its_samples_and_its_bytes() {
    let mut run = Simulated::measuring(SECOND);
    run.timeout = MILLI * 100;
    let [flow, first, second] = step_and_flow(&run);
    let hung = first.fate(Fate::TimedOut) + second.fate(Fate::TimedOut);
    assert!(hung >= 49, "{hung}");
    assert_eq!(flow.fate(Fate::TimedOut), hung, "each operation that timed out has the step that did");
    assert_eq!(first.response_time().count(), first.offered, "each step that started has its sample");
    assert_eq!(flow.bytes_out, first.bytes_out + second.bytes_out, "what was sent was counted");
    assert_eq!(first.bytes_out, first.offered * 8);
}

#[test]
fn the_step_that_the_end_of_drain_cuts_off_is_abandoned_with_its_operation() {
    let mut run = Simulated::measuring(SECOND);
    run.phases.drain = SECOND;
    let [flow, first, second] = step_and_flow(&run);
    let hung = first.fate(Fate::Abandoned) + second.fate(Fate::Abandoned);
    assert!(hung >= 49, "{hung}");
    assert_eq!((flow.fate(Fate::Abandoned), flow.in_flight), (hung, 0));
    assert_eq!(flow.bytes_out, (first.offered + second.offered) * 8);
}

#[test]
fn a_pause_between_two_steps_is_client_time_and_in_the_figures_of_neither() {
    let pausing = || Scripted { steps: 2, pause: MILLI * 200, ..Scripted::answering_after(MILLI * 2) };
    let total = Simulated::measuring(SECOND).run(pausing(), at_rate(100.0, 1_000, 10));
    let [flow, first, second] = [0, 1, 2].map(|series| total.series[series][1].clone());
    assert_eq!([&flow, &first, &second].map(|of| of.fate(Fate::Accepted)), [100; 3]);
    let told = |of: &hammer_measure::Distribution| of.summary().unwrap().max.to_string();
    assert_eq!([told(&flow.client_time), told(&flow.service_time)], ["200ms", "4.00ms"]);
    assert_eq!(told(&flow.response_time()), "204ms");
    assert_eq!([&first, &second].map(|step| told(&step.response_time())), ["2.00ms"; 2]);
    // A deadline that comes within it cuts off the operation, and no exchange.
    let mut run = Simulated::measuring(SECOND);
    run.timeout = MILLI * 100;
    let total = run.run(pausing(), at_rate(100.0, 1_000, 10));
    let [flow, first, second] = [0, 1, 2].map(|series| total.series[series][1].clone());
    assert_eq!((flow.fate(Fate::TimedOut), first.fate(Fate::Accepted), second.offered), (100, 100, 0));
}

/// Answers in a millisecond, and is checked by reads that take `check`, without end where that is `None`: by one, or by one before a pause
/// and one behind it. Ahead of them it promises a head where it `has_head`.
#[derive(Clone, Copy)]
struct CheckedBeside {
    check: Option<Nanos>,
    pause: Option<Nanos>,
    has_head: bool,
}

impl Workload for CheckedBeside {
    type Op = u64;
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let spec = SeriesSpec::new;
        vec![spec("read", true), spec("proof", false)]
    }

    fn prepare(&self, (): &mut (), seq: u64, _reuse: Option<u64>) -> u64 {
        seq
    }

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn execute(
        &self,
        clock: &Self::Session,
        (): &(),
        _op: &mut u64,
        record: &OperationRecord,
    ) -> Ended {
        let (exchange, sent) = (record.exchange(), clock.now());
        clock.sleep_until(sent + MILLI).await;
        answered(exchange, sent, clock.now());
        record.check_beside(PROOF);
        Ended::accepted(200)
    }

    async fn check(&self, clock: &Self::Session, op: &mut u64, record: &OperationRecord) {
        assert_eq!(record.seq(), *op, "a check is of its own operation");
        if self.has_head {
            record.promise(HEAD, b"head");
        }
        for pause in std::iter::once(None).chain(self.pause.map(Some)) {
            if let Some(pause) = pause {
                clock.sleep_until(clock.now() + pause).await;
            }
            let (step, sent) = (record.step(1), clock.now());
            clock.sleep_until(sent + self.check.unwrap_or(SECOND * 1_000)).await;
            answered(step, sent, clock.now());
        }
        record.promise(PROOF, b"read");
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &KINDS
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(Box::new(Believing))
    }
}

const KINDS: [&str; 2] = ["proof", "head"];
const PROOF: PromiseKind = PromiseKind(0);
const HEAD: PromiseKind = PromiseKind(1);

struct Believing;

impl Verifier for Believing {
    fn check(&mut self, _seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        verdicts.kept(if record == b"head" { HEAD } else { PROOF });
    }
}

/// 100 operations a second for two seconds with room for five at once; reads, proofs, and what became of promises.
fn checked(check: Option<Nanos>, rate: f64) -> (SeriesRecord, SeriesRecord, Ledger) {
    checked_by(CheckedBeside { check, pause: None, has_head: false }, rate)
}

fn checked_by(workload: CheckedBeside, rate: f64) -> (SeriesRecord, SeriesRecord, Ledger) {
    let pool = VerifyPool::new(&KINDS, 1 << 20, std::env::temp_dir());
    let (rings, work) = pool.bench("read", Box::new(Believing), |_| ());
    let work = RefCell::new(work);
    let mut run = Simulated::measuring(SECOND * 2);
    run.timeout = SECOND;
    let total = run.run_with(Arc::new(workload), at_rate(rate, 5, 10), |_, _| {
        pool.sender_into(&rings, None, CrewMember::inline())
    });
    work.borrow_mut().finish(Nanos::from_secs(100));
    let [read, proof] = [0, 1].map(|series| total.series[series][1].clone());
    (read, proof, pool.ledger())
}

#[test]
fn a_slow_check_is_in_no_figure_of_its_operation_and_takes_no_slot() {
    let (read, proof, ledger) = checked(Some(MILLI * 900), 100.0);
    assert_eq!((read.fate(Fate::Accepted), read.fate(Fate::Shed)), (200, 0));
    assert!(read.response_time().summary().unwrap().max.to_string().starts_with("1.0"), "{read:?}");
    assert_eq!((proof.fate(Fate::Accepted), proof.service_time.count()), (200, 200));
    assert_eq!((ledger.made, ledger.kept, ledger.unchecked), (200, 200, 0));
}

#[test]
fn a_pause_between_the_reads_of_a_check_is_in_no_figure_of_them() {
    let workload = CheckedBeside { check: Some(MILLI), pause: Some(MILLI * 300), has_head: false };
    let (_, proof, ledger) = checked_by(workload, 100.0);
    assert_eq!((proof.fate(Fate::Accepted), ledger.kept), (400, 200));
    let [waited, took] =
        [&proof.connection_wait, &proof.response_time()].map(|one| one.summary().unwrap().max);
    assert!(waited < MILLI && took < MILLI * 2, "{waited} {took}");
}

#[test]
fn a_check_beyond_its_deadline_leaves_its_promise_unchecked() {
    let (read, proof, ledger) = checked(None, 100.0);
    assert_eq!(read.fate(Fate::Accepted), 200);
    assert_eq!(proof.fate(Fate::TimedOut), 200, "the read that hung has its samples");
    assert_eq!((ledger.made, ledger.kept, ledger.unchecked), (200, 0, 200));
}

#[test]
fn a_check_beyond_its_deadline_leaves_its_promise_unchecked_whatever_else_it_promised() {
    for (check, kept, unchecked) in [(None, 200, 200), (Some(MILLI), 400, 0)] {
        let (_, _, ledger) = checked_by(CheckedBeside { check, pause: None, has_head: true }, 100.0);
        assert_eq!((ledger.made, ledger.kept, ledger.unchecked), (400, kept, unchecked), "{check:?}");
    }
}

#[test]
fn checks_are_bounded_in_number_and_what_finds_no_room_is_unchecked() {
    let (read, proof, ledger) = checked(None, 1_000.0);
    assert_eq!(read.fate(Fate::Accepted), 2_000);
    assert!(proof.offered < 1_000, "{}: at most 256 at once for a second each", proof.offered);
    assert_eq!((ledger.made, ledger.unchecked), (2_000, 2_000));
}

/// Fetches a token as a user enters, and computes on the crew in the middle of each of its operations.
#[derive(Default)]
struct WithToken {
    entered: Arc<AtomicU64>,
    refused: u64,
    panics: bool,
}

#[derive(Default)]
struct Token(u64);

impl Workload for WithToken {
    type Op = ();
    type Session = Rc<dyn Clock>;
    type User = Token;
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let spec = SeriesSpec::new;
        vec![spec("flow", true), spec("token", false)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, _reuse: Option<()>) {}

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn enter(
        &self,
        clock: &Self::Session,
        user: u64,
        record: &OperationRecord,
    ) -> Result<Token, Ended> {
        let (step, sent) = (record.step(1), clock.now());
        clock.sleep_until(sent + MILLI).await;
        let fetched = self.entered.fetch_add(1, Ordering::Relaxed);
        if fetched < self.refused {
            let refused = Ended::of_status(403);
            step.end(refused);
            return Err(refused);
        }
        answered(step, sent, clock.now());
        Ok(Token(user + 1))
    }

    async fn execute(
        &self,
        clock: &Self::Session,
        token: &Token,
        (): &mut (),
        record: &OperationRecord,
    ) -> Ended {
        assert!(token.0 > 0, "an operation has a user that has entered");
        let (exchange, sent) = (record.exchange(), clock.now());
        clock.sleep_until(sent + MILLI).await;
        answered(exchange, sent, clock.now());
        let (number, panics) = (token.0, self.panics);
        let computed = record.compute(move || {
            assert!(!panics, "what is computed panics");
            std::hint::black_box(
                (0..20_000u64).fold(number, |sum, one| std::hint::black_box(sum ^ one ^ one)),
            )
        });
        match computed.await == token.0 {
            true => Ended::accepted(200),
            false => Ended::failed(Outcome::Malformed, "another user's value"),
        }
    }
}

fn users(count: usize, operations: u64) -> Load {
    Load::Closed(Closed {
        stages: Stages::constant(count),
        spawn_rate: Some(1_000.0),
        think: Think::Constant(Nanos::ZERO),
        iterations: Iterations::Shared(operations),
        seed: 1,
    })
}

#[test]
fn each_user_enters_once_and_its_entering_is_in_no_operations_figures() {
    let workload = WithToken { refused: 2, ..WithToken::default() };
    let total = Simulated::measuring(SECOND * 10).run(workload, users(4, 8_000));
    let [flow, token] = [0, 1].map(|series| &total.series[series][1]);
    assert_eq!((flow.offered, flow.fate(Fate::Accepted)), (8_000, 8_000));
    assert_eq!((token.fate(Fate::Refused), token.fate(Fate::Accepted)), (2, 4), "a refused user tries again");
    let longest = flow.response_time().summary().unwrap().max;
    assert_eq!(longest.to_string(), "1.00ms", "entering took a second for two of them");
}

#[test]
fn in_an_open_loop_each_slot_has_a_user() {
    let workload = WithToken::default();
    let entered = workload.entered.clone();
    let total = Simulated::measuring(SECOND).run(workload, at_rate(1_000.0, 4, 1_000));
    assert_eq!(total.series[0][1].fate(Fate::Accepted), 1_000);
    assert!((1..=4).contains(&entered.load(Ordering::Relaxed)), "{entered:?}");
}

fn on_threads(workload: WithToken) -> Result<Arc<hammer_measure::snapshot::RunResult>, RunError> {
    let lane = LoadedWorkload {
        name: "with-token".to_owned(),
        workload: Arc::new(workload),
        load: users(4, 200),
        timeout: Nanos::from_secs(20),
        supply: SupplyBounds::default(),
    };
    let (_control, inbox) = control();
    run(RunSpec::new(vec![Arc::new(lane)]), inbox, &mut [])
}

#[test]
fn what_a_flow_computes_on_the_crew_is_client_time_and_its_wait_is_known() {
    let result = on_threads(WithToken::default()).unwrap();
    let flow = &result.total.series[0][1];
    assert_eq!(flow.fate(Fate::Accepted), 200);
    assert_eq!((flow.client_time.count(), flow.compute_wait.count()), (200, 200));
    assert!(flow.client_time.summary().unwrap().max > Nanos::ZERO, "{flow:?}");
}

#[test]
fn a_run_whose_crew_panics_cannot_go_on() {
    let ended = on_threads(WithToken { panics: true, ..WithToken::default() });
    assert!(matches!(ended, Err(RunError::CrewPanicked)), "{ended:?}");
}

/// Operations of one step, which is refused; it says so where that is not known yet, and counts how often it did.
#[derive(Clone, Default)]
struct Refused {
    said: Arc<AtomicU64>,
}

impl Workload for Refused {
    type Op = ();
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("flow", true), SeriesSpec::new("step", false)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, _reuse: Option<()>) {}

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn enter(&self, _: &Self::Session, _: u64, _: &OperationRecord) -> Result<(), Ended> {
        Ok(())
    }

    async fn execute(&self, clock: &Self::Session, (): &(), (): &mut (), record: &OperationRecord) -> Ended {
        let (mut step, refused) = (record.step(1), Ended::of_status(403));
        clock.sleep_until(clock.now() + MILLI).await;
        if !step.has_been_said(refused) {
            self.said.fetch_add(1, Ordering::Relaxed);
            step.says(format!("no to operation {}", record.seq()));
        }
        step.end(refused);
        refused
    }
}

#[test]
fn what_is_known_of_a_cause_is_not_said_again() {
    let workload = Refused::default();
    let said = Arc::clone(&workload.said);
    let total = Simulated::measuring(SECOND * 2).run(workload, at_rate(1_000.0, 4, 1_000));
    for series in [0, 1] {
        let record = &total.series[series][1];
        assert_eq!(record.fate(Fate::Refused), 2_000);
        let texts: Vec<&str> = record.answers.iter().map(|answer| answer.text.as_str()).collect();
        assert_eq!(texts, ["no to operation 0"], "{series}");
    }
    // Each interval has its own, since intervals of several shards are put together.
    let said = said.load(Ordering::Relaxed);
    assert!((1..=10).contains(&said), "{said}");
}

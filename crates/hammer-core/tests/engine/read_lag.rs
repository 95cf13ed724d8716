//! Answers that arrive in time and are read late: whose lateness that is.

use std::rc::Rc;
use std::sync::Arc;

use hammer_core::answers::AnswerSource;
use hammer_core::dispatch::{Closed, FillGoal, FillLimits, Iterations, Load, LoadedWorkload, Stages, Think};
use hammer_core::record::{Exchange, OperationRecord};
use hammer_core::run::{RunSpec, control, run};
use hammer_core::runtime::Clock;
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_measure::health::{Finding, HealthNote, Lateness, LatenessKind};
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Distribution, Nanos};

use crate::harness::{MILLI, SECOND, Simulated, at_rate};

/// Operations of so many exchanges, each answered after a millisecond and read three later.
struct ReadLate {
    exchanges: usize,
}

impl Workload for ReadLate {
    type Op = ();
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let spec = SeriesSpec::new;
        vec![spec("operation", true), spec("step", false)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, _reuse: Option<()>) {}

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn execute(&self, clock: &Self::Session, (): &(), (): &mut (), record: &OperationRecord) -> Ended {
        for _ in 0..self.exchanges {
            let (mut step, sent) = (record.step(1), clock.now());
            let (done, read) = (sent + MILLI, sent + MILLI * 4);
            clock.sleep_until(read).await;
            let (sent, done, read) = (Some(sent), Some(done), Some(read));
            *step.wire() = Exchange { sent, done, read, ..Exchange::default() };
            step.end(Ended::accepted(200));
        }
        Ended::accepted(200)
    }
}

/// The operations and the steps within them.
fn figures(exchanges: usize, load: Load) -> [SeriesRecord; 2] {
    let total = Simulated::measuring(SECOND).run(ReadLate { exchanges }, load);
    [0, 1].map(|series| total.series[series][1].clone())
}

/// The one duration that was recorded, to the precision of a histogram.
fn only(durations: &Distribution) -> (u64, f64) {
    let summary = durations.summary().unwrap();
    assert!(summary.max.0 - summary.min.0 <= summary.max.0 / 500, "{summary:?}");
    (summary.count, (summary.mean / 1e4).round() / 1e2)
}

#[test]
fn an_answer_that_is_read_late_makes_no_server_slow() {
    let [operations, steps] = figures(1, at_rate(10.0, 4, 4));
    for record in [&operations, &steps] {
        assert_eq!((only(&record.service_time), only(&record.read_lag)), ((10, 1.0), (10, 3.0)));
        assert_eq!(only(&record.response_time()), (10, 1.0));
    }
    assert_eq!(operations.client_time.count(), 0);
}

#[test]
fn a_user_goes_on_when_the_answer_was_read_and_not_when_it_arrived() {
    let (stages, think) = (Stages::constant(1), Think::Constant(Nanos::ZERO));
    let iterations = Iterations::Endless;
    let load = Load::Closed(Closed { stages, spawn_rate: None, think, iterations, seed: 3 });
    let [operations, _] = figures(1, load);
    assert_eq!(only(&operations.response_time()), (250, 1.0), "one every 4 ms");
    assert_eq!(operations.dispatch_lag.summary().unwrap().max, Nanos::ZERO);
}

#[test]
fn what_a_flow_reads_late_between_two_exchanges_is_client_time_and_all_of_it_is_read_lag() {
    let [operations, steps] = figures(2, at_rate(10.0, 4, 4));
    assert_eq!((only(&operations.service_time), only(&operations.client_time)), ((10, 2.0), (10, 3.0)));
    assert_eq!((only(&operations.read_lag), only(&operations.response_time())), ((10, 6.0), (10, 5.0)));
    assert_eq!(only(&steps.read_lag), (20, 3.0));
}

/// Operations whose answers lay unread for 5 ms, in sockets that are said to let them.
struct Lying {
    within: Nanos,
}

struct Sockets;

impl AnswerSource for Sockets {
    fn take(&self) {}

    fn let_wait(&self, _may_wait: bool) {}
}

impl Workload for Lying {
    type Op = ();
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("operation", true)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, _reuse: Option<()>) {}

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        context.answers.add(Rc::new(Sockets), self.within);
        Ok(context.clock)
    }

    async fn execute(&self, clock: &Self::Session, (): &(), (): &mut (), record: &OperationRecord) -> Ended {
        let now = clock.now();
        let mut exchange = record.exchange();
        let (sent, done, read) = (Some(now), Some(now), Some(now + MILLI * 5));
        *exchange.wire() = Exchange { sent, done, read, ..Exchange::default() };
        exchange.end(Ended::accepted(200));
        Ended::accepted(200)
    }
}

/// Whether a run of such operations is said to be late to read.
fn is_found_late(within: Nanos, load: Load) -> bool {
    is_late_of(None, within, load)
}

/// The same of a fill of `goal` operations, where there is one.
fn is_late_of(goal: Option<u64>, within: Nanos, load: Load) -> bool {
    let lane = LoadedWorkload {
        name: "lying".to_owned(),
        workload: Arc::new(Lying { within }),
        load,
        timeout: SECOND,
        supply: SupplyBounds::default(),
    };
    let limits = FillLimits { failed: 0, in_a_row: 1 };
    let goal = goal.map(|operations| Arc::new(FillGoal::new(operations, 0, limits)));
    let spec = RunSpec { measurement: Some(MILLI * 100), goal, ..RunSpec::new(vec![Arc::new(lane)]) };
    let (_control, inbox) = control();
    let result = run(spec, inbox, &mut []).unwrap();
    assert!(result.total.series[0][1].read_lag.count() > 0);
    let is_reading = |of: &Lateness| of.kind == LatenessKind::Read;
    let is_late = |finding: &Finding| matches!(finding, Finding::Late(late) if is_reading(late));
    let is_noted = |note: &HealthNote| matches!(note, HealthNote::TooFew(late) if is_reading(late));
    // A run of a tenth of a second has few of them.
    result.health.findings.iter().any(is_late) || result.health.notes.iter().any(is_noted)
}

#[test]
fn an_open_loop_that_lets_answers_lie_as_planned_is_not_late_and_a_closed_one_is() {
    assert!(!is_found_late(MILLI * 10, at_rate(100.0, 4, 4)));
    assert!(is_found_late(MILLI, at_rate(100.0, 4, 4)), "longer than planned");
    let (stages, think) = (Stages::constant(1), Think::Constant(MILLI));
    let iterations = Iterations::Endless;
    let closed = Load::Closed(Closed { stages, spawn_rate: None, think, iterations, seed: 3 });
    assert!(is_found_late(MILLI * 10, closed), "a closed loop lets none lie");
}

#[test]
fn a_fill_measures_nothing_that_lateness_could_spoil() {
    assert!(is_late_of(None, MILLI, at_rate(100.0, 4, 4)));
    assert!(!is_late_of(Some(10), MILLI, at_rate(100.0, 4, 4)));
}

//! What is kept up beside the operations: when it is sent, and that nothing of it is in their figures.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use hammer_core::dispatch::{
    Closed, Iterations, LanePlan, Load, LoadedWorkload, Stages, Think, Upkeep, UpkeepPlan,
};
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::runtime::simulated::SimulatedRuntime;
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::{FatalError, ShardContext};
use hammer_measure::recorder::Interval;
use hammer_measure::{Fate, Nanos};

use crate::harness::{MILLI, SECOND, Scripted, Simulated, answered, at_rate};

/// Renews something every second, which takes so long.
struct EverySecond {
    takes: Nanos,
    sent: Arc<Mutex<Vec<Nanos>>>,
}

struct Renewing {
    clock: Rc<dyn Clock>,
    next: Cell<Nanos>,
}

impl Upkeep for EverySecond {
    type Session = Renewing;

    fn series(&self) -> Vec<&'static str> {
        vec!["token"]
    }

    async fn open(&self, context: ShardContext) -> Result<Renewing, FatalError> {
        Ok(Renewing { clock: context.clock, next: Cell::new(Nanos::ZERO) })
    }

    fn next_due(&self, session: &Renewing, _now: Nanos) -> Option<Nanos> {
        Some(session.next.get())
    }

    async fn keep_up(&self, session: &Renewing, record: &OperationRecord) {
        let sent = session.clock.now();
        session.next.set(sent + SECOND);
        self.sent.lock().unwrap().push(sent);
        let step = record.step(0);
        session.clock.sleep_until(sent + self.takes).await;
        answered(step, sent, session.clock.now());
    }
}

/// What became of flows, beside which something is renewed, and when that was.
fn beside(run: &Simulated, takes: Nanos, load: Load) -> (Interval, Vec<Nanos>) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let upkeep = EverySecond { takes, sent: sent.clone() };
    let flows = LoadedWorkload {
        name: "flows".to_owned(),
        workload: Arc::new(Scripted::answering_after(MILLI)),
        load,
        timeout: SECOND,
        supply: SupplyBounds::default(),
    };
    let lanes: [Arc<dyn LanePlan<SimulatedRuntime>>; 2] =
        [Arc::new(flows), Arc::new(UpkeepPlan::new("oauth", upkeep, MILLI * 500))];
    let total = run.run_lanes(&lanes, |_, _| None, |_, _| ());
    let sent = sent.lock().unwrap().clone();
    (total, sent)
}

#[test]
fn what_is_kept_up_is_sent_as_it_falls_due_by_one_shard_and_is_a_step() {
    for shards in [1, 3] {
        let mut run = Simulated::measuring(SECOND * 4).over(shards);
        run.phases.warm_up = SECOND * 2;
        let (total, sent) = beside(&run, MILLI * 10, at_rate(100.0, 10, 10));
        assert_eq!(sent, (1..7).map(|second| SECOND * second).collect::<Vec<_>>());
        let [warm_up, measurement] = &total.series[1];
        assert_eq!((warm_up.fate(Fate::Accepted), measurement.fate(Fate::Accepted)), (2, 4));
        assert_eq!((measurement.offered, measurement.service_time.count()), (4, 4));
        assert_eq!(total.series[0][1].fate(Fate::Accepted), 400, "flows have nothing to do with it");
    }
}

#[test]
fn what_is_kept_up_is_cut_off_at_its_deadline_and_goes_on() {
    let (total, sent) = beside(&Simulated::measuring(SECOND * 3), SECOND * 30, at_rate(10.0, 1, 1));
    assert_eq!(total.series[1][1].fate(Fate::TimedOut), 3);
    // The deadline is found by the sweep, every 10 ms.
    assert_eq!(sent, [SECOND, SECOND * 2, SECOND * 3]);
}

#[test]
fn operations_that_are_all_done_end_a_run_whatever_is_kept_up() {
    let mut run = Simulated::measuring(SECOND);
    run.phases.measurement = None;
    let load = Load::Closed(Closed {
        stages: Stages::constant(1),
        spawn_rate: None,
        think: Think::Constant(MILLI * 99),
        iterations: Iterations::Shared(25),
        seed: 1,
    });
    let (total, sent) = beside(&run, MILLI * 300, load);
    assert_eq!(total.series[0][1].fate(Fate::Accepted), 25);
    assert_eq!(sent, [SECOND, SECOND * 2, SECOND * 3]);
    assert_eq!(total.series[1][1].fate(Fate::Accepted), 3, "what is under way then ends");
}

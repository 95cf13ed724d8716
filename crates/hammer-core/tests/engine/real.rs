//! The same engine on real threads and the real clock, against tasks of its own process.

use std::rc::Rc;
use std::sync::Arc;

use crate::harness::answered;
use hammer_core::dispatch::{Closed, Iterations, Load, LoadedWorkload, Open, Stages, Think};
use hammer_core::record::OperationRecord;
use hammer_core::run::{RunError, RunSpec, StopRule, control, run};
use hammer_core::runtime::Clock;
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::shard_range::ShardRange;
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_measure::event::CommandRefusal;
use hammer_measure::headline::Headline;
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::snapshot::{Resources, RunResult};
use hammer_measure::{Command, Fate, Nanos, Phase, Reporter, RunEvent};

struct Ahead;

impl Workload for Ahead {
    type Op = Vec<u8>;
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("echo", true)]
    }

    fn preparation(&self) -> Preparation {
        Preparation::Ahead
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Vec<u8>>) -> Vec<u8> {
        let mut op = reuse.unwrap_or_default();
        op.clear();
        op.extend_from_slice(&seq.to_be_bytes());
        op
    }

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn execute(
        &self,
        clock: &Self::Session,
        (): &(),
        op: &mut Vec<u8>,
        record: &OperationRecord,
    ) -> Ended {
        assert_eq!(op.as_slice(), record.seq().to_be_bytes(), "each arrival gets its own operation");
        let sent = clock.now();
        clock.sleep_until(sent + Nanos::from_millis(2)).await;
        answered(record.exchange(), sent, clock.now());
        Ended::accepted(200)
    }
}

#[derive(Default)]
struct Seen {
    headlines: Vec<Headline>,
    phases: Vec<Phase>,
    /// Of the intervals.
    spans: Vec<Nanos>,
    /// The ends of the last interval of measurement and of measurement itself.
    measured_to: [Nanos; 2],
    commands: u64,
}

struct Watch(Arc<std::sync::Mutex<Seen>>);

impl Reporter for Watch {
    fn event(&mut self, event: &RunEvent) {
        let mut seen = self.0.lock().unwrap();
        match event {
            RunEvent::Started(info) => seen.headlines.clone_from(&info.headlines),
            RunEvent::Phase { phase, at } => {
                seen.phases.push(*phase);
                seen.measured_to[1] = *at;
            }
            RunEvent::Interval(snapshot) => {
                if snapshot.phase == Phase::Measurement {
                    seen.measured_to[0] = snapshot.at;
                }
                assert!(snapshot.series.iter().all(|series| series.measurement.balances()));
                seen.spans.push(snapshot.span);
            }
            RunEvent::Command { .. } => seen.commands += 1,
            _ => {}
        }
    }
}

fn spec(measurement: Nanos) -> RunSpec {
    let schedule = Schedule::even(Profile::Constant(Constant { rate: 500.0 }));
    let lane = LoadedWorkload {
        name: "ahead".to_owned(),
        workload: Arc::new(Ahead),
        load: Load::Open(Open { schedule, in_flight: 100, backlog: 10_000 }),
        timeout: Nanos::from_secs(5),
        supply: SupplyBounds::default(),
    };
    RunSpec {
        shards: 2.into(),
        warm_up: Nanos::from_millis(200),
        measurement: Some(measurement),
        drain: Nanos::from_secs(2),
        interval: Nanos::from_millis(100),
        stops: vec![StopRule::at_least("tree_size", 1.0)],
        headlines: vec![Headline::size("tree_size", "tree size")],
        resources: Box::new(|| Resources { cores: 2, ..Resources::default() }),
        ..RunSpec::new(vec![Arc::new(lane)])
    }
}

fn watched(spec: RunSpec, inbox: hammer_core::run::Inbox) -> (Arc<RunResult>, Seen) {
    let seen = Arc::new(std::sync::Mutex::new(Seen::default()));
    let result = run(spec, inbox, &mut [&mut Watch(seen.clone())]).unwrap();
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (result, seen)
}

#[test]
fn a_real_run_goes_through_its_phases_and_sends_what_was_planned() {
    let (_control, inbox) = control();
    let (result, seen) = watched(spec(Nanos::from_millis(800)), inbox);
    assert_eq!(seen.phases, [Phase::WarmUp, Phase::Measurement, Phase::Drain]);
    assert_eq!(
        seen.headlines,
        [Headline::size("tree_size", "tree size")],
        "reporters are told what comes first"
    );
    let (_last, planned) = seen.spans.split_last().unwrap();
    assert!(planned.len() >= 10, "{planned:?}");
    let tenth = Nanos::from_millis(100);
    assert!(planned.iter().all(|span| *span == tenth), "intervals end when they are to: {planned:?}");
    let [told, measured] = seen.measured_to;
    assert!(
        told.0.abs_diff(measured.0) <= 50_000_000,
        "an interval is of the phase that it lies in: {told:?} {measured:?}"
    );
    let [warm_up, measured] = &result.total.series[0];
    assert_eq!((warm_up.offered, measured.offered), (100, 400));
    assert_eq!(measured.fate(Fate::Accepted) + measured.fate(Fate::Starved), 400);
    assert_eq!(result.stopped, "as planned");
    assert!((result.measured_seconds() - 0.8).abs() < 1e-9);
}

/// Whose session is never open, as where a server takes a connection and says nothing.
struct NeverOpen;

impl Workload for NeverOpen {
    type Op = ();
    type Session = ();
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("never", true)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, _reuse: Option<()>) {}

    async fn open(&self, _context: ShardContext) -> Result<(), FatalError> {
        std::future::pending().await
    }

    async fn execute(&self, (): &(), (): &(), (): &mut (), _record: &OperationRecord) -> Ended {
        Ended::accepted(200)
    }
}

#[test]
fn an_interrupt_while_shards_open_ends_that_and_reports_that_nothing_was_sent() {
    for stop in [None, Some(Command::Stop { reason: "enough".to_owned() })] {
        let lane = LoadedWorkload {
            name: "never".to_owned(),
            workload: Arc::new(NeverOpen),
            load: crate::harness::at_rate(100.0, 100, 100),
            timeout: Nanos::from_secs(5),
            supply: SupplyBounds::default(),
        };
        let (control, inbox) = control();
        control.command(Command::Pause);
        let is_interrupted = stop.is_none();
        let expected = if is_interrupted { "interrupted by a signal" } else { "enough" };
        match stop {
            Some(stop) => {
                control.command(stop);
            }
            None => control.interrupt(),
        }
        let spec = RunSpec { lanes: vec![Arc::new(lane)], ..spec(Nanos::from_secs(60)) };
        let (result, seen) = watched(spec, inbox);
        assert_eq!((result.interrupted, result.stopped.as_str()), (is_interrupted, expected));
        assert_eq!(result.total.series, [<[SeriesRecord; 2]>::default()]);
        assert_eq!((seen.phases, result.measured_seconds()), (vec![Phase::Drain], 0.0));
        assert!(result.verdicts.is_empty(), "{:?}", result.verdicts);
    }
}

struct InterruptAfter(hammer_core::run::Control, u64);

impl Reporter for InterruptAfter {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Interval(snapshot) = event
            && snapshot.index == self.1
        {
            self.0.interrupt();
        }
    }
}

#[test]
fn an_interrupt_in_the_middle_keeps_the_identity() {
    let (control, inbox) = control();
    let result = run(spec(Nanos::from_secs(60)), inbox, &mut [&mut InterruptAfter(control, 3)]).unwrap();
    assert!(result.interrupted);
    assert_eq!(result.stopped, "interrupted by a signal");
    let measured = &result.total.series[0][1];
    assert!(measured.balances() && measured.offered > 0 && measured.offered < 5_000);
    assert_eq!((measured.backlog, measured.in_flight), (0, 0));
}

/// Operations that end when they are cut off, and not before.
struct Hangs;

impl Workload for Hangs {
    type Op = ();
    type Session = ();
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("hangs", true)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, _reuse: Option<()>) {}

    async fn open(&self, _context: ShardContext) -> Result<(), FatalError> {
        Ok(())
    }

    async fn execute(&self, (): &(), (): &(), (): &mut (), _record: &OperationRecord) -> Ended {
        std::future::pending().await
    }
}

/// Interrupts in each interval of drain, and notes what is said of it.
struct InterruptInDrain(hammer_core::run::Control, Vec<String>);

impl Reporter for InterruptInDrain {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Interval(snapshot) if snapshot.phase == Phase::Drain => self.0.interrupt(),
            RunEvent::Note { text, .. } => self.1.push(text.clone()),
            _ => {}
        }
    }
}

#[test]
fn an_interrupt_in_drain_ends_that_and_reports() {
    let (control, inbox) = control();
    let lane = LoadedWorkload {
        name: "hangs".to_owned(),
        workload: Arc::new(Hangs),
        load: crate::harness::at_rate(100.0, 100, 100),
        timeout: Nanos::from_secs(3_600),
        supply: SupplyBounds::default(),
    };
    let spec = spec(Nanos::from_millis(100));
    let spec = RunSpec { lanes: vec![Arc::new(lane)], drain: Nanos::from_secs(3_600), ..spec };
    let mut interrupts = InterruptInDrain(control, Vec::new());
    let result = run(spec, inbox, &mut [&mut interrupts]).unwrap();
    assert!(result.interrupted);
    assert_eq!(result.stopped, "as planned", "its arrivals ended as they should");
    let measured = &result.total.series[0][1];
    assert!(measured.balances() && measured.fate(Fate::Abandoned) > 0, "{measured:?}");
    let [said] = &interrupts.1[..] else { panic!("{:?}", interrupts.1) };
    assert!(said.starts_with("drain was ended by hand"), "{said}");
}

/// Supply that falls over its tenth operation.
struct Falls;

impl Workload for Falls {
    type Op = ();
    type Session = ();
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("falls", true)]
    }

    fn preparation(&self) -> Preparation {
        Preparation::Ahead
    }

    fn prepare(&self, (): &mut (), seq: u64, _reuse: Option<()>) {
        assert!(seq < 10, "the operation cannot be prepared");
    }

    async fn open(&self, _context: ShardContext) -> Result<(), FatalError> {
        Ok(())
    }

    async fn execute(&self, (): &(), (): &(), (): &mut (), _record: &OperationRecord) -> Ended {
        Ended::accepted(200)
    }
}

#[test]
fn a_run_whose_supply_panics_cannot_go_on() {
    let (_control, inbox) = control();
    let stages = Stages::constant(4);
    let load = Closed {
        spawn_rate: None,
        stages,
        think: Think::Constant(Nanos::ZERO),
        iterations: Iterations::Shared(1_000),
        seed: 1,
    };
    let lane = LoadedWorkload {
        name: "falls".to_owned(),
        workload: Arc::new(Falls),
        load: Load::Closed(load),
        timeout: Nanos::from_secs(5),
        supply: SupplyBounds::default(),
    };
    let spec = RunSpec { lanes: vec![Arc::new(lane)], measurement: None, ..spec(Nanos::from_secs(1)) };
    assert!(matches!(run(spec, inbox, &mut []), Err(RunError::SupplyPanicked)));
}

/// A shard that falls over its third operation, while others are under way.
struct FallsOnTheShard;

impl Workload for FallsOnTheShard {
    type Op = u64;
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("falls", true)]
    }

    fn prepare(&self, (): &mut (), seq: u64, _reuse: Option<u64>) -> u64 {
        seq
    }

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn execute(&self, clock: &Self::Session, (): &(), op: &mut u64, record: &OperationRecord) -> Ended {
        let (exchange, sent) = (record.exchange(), clock.now());
        clock.sleep_until(sent + Nanos::from_millis(50)).await;
        assert!(*op < 3, "the operation cannot be carried out");
        answered(exchange, sent, clock.now());
        Ended::accepted(200)
    }
}

#[test]
fn a_run_whose_shard_panics_cannot_go_on() {
    let (_control, inbox) = control();
    let lane = LoadedWorkload {
        name: "falls".to_owned(),
        workload: Arc::new(FallsOnTheShard),
        load: crate::harness::at_rate(1_000.0, 100, 10),
        timeout: Nanos::from_secs(5),
        supply: SupplyBounds::default(),
    };
    let spec = RunSpec { lanes: vec![Arc::new(lane)], ..spec(Nanos::from_secs(60)) };
    assert!(matches!(run(spec, inbox, &mut []), Err(RunError::Panicked(_))));
}

/// Sends a command when it is told of what it waits for, notes what was answered, and interrupts the run when it was told of what
/// that has to show.
struct Asks {
    control: hammer_core::run::Control,
    command: Command,
    when: fn(&RunEvent) -> bool,
    until: fn(&RunEvent) -> bool,
    asked: bool,
    refused: Option<Vec<CommandRefusal>>,
    shown: bool,
}

impl Reporter for Asks {
    fn event(&mut self, event: &RunEvent) {
        if !self.asked && (self.when)(event) {
            self.asked = true;
            self.control.command(self.command.clone());
        }
        if let RunEvent::Command { refused, .. } = event {
            self.refused = Some(refused.clone());
        }
        if self.refused.is_some() && !self.shown && (self.until)(event) {
            self.shown = true;
            self.control.interrupt();
        }
    }
}

/// At the end of the first interval in which the first workload sent nothing, after all that there is of ten operations.
fn after_ten(event: &RunEvent) -> bool {
    let RunEvent::Interval(snapshot) = event else { return false };
    let ahead = &snapshot.series[0];
    ahead.warm_up.offered + ahead.measurement.offered == 10 && ahead.interval.offered == 0
}

/// At the end of the third interval, 300 ms after the start.
fn in_the_middle(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Interval(snapshot) if snapshot.index == 2)
}

fn in_drain(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Phase { phase: Phase::Drain, .. })
}

fn once_answered(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Command { .. })
}

/// At the end of an interval in which the second workload's two users, who send every 7 ms, sent nothing.
fn once_silent(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Interval(snapshot) if snapshot.series[1].interval.offered == 0)
}

fn never(_: &RunEvent) -> bool {
    false
}

/// Which workloads of a run refuse a command, and why; and what became of the run, which is interrupted at `until`.
fn answered_in(
    spec: RunSpec,
    command: Command,
    when: fn(&RunEvent) -> bool,
    until: fn(&RunEvent) -> bool,
) -> (Vec<(String, String)>, Arc<RunResult>) {
    let (control, inbox) = control();
    let mut asks = Asks { control, command, when, until, asked: false, refused: None, shown: false };
    let result = run(spec, inbox, &mut [&mut asks]).unwrap();
    let refused = asks.refused.expect("every command is answered").into_iter();
    (refused.map(|refusal| (refusal.workload, refusal.why)).collect(), result)
}

/// Which workloads of an open and a closed one refuse a command, and why.
fn refusals(command: Command) -> Vec<(String, String)> {
    answered_in(open_and_closed(LONG), command, in_the_middle, once_answered).0
}

/// Longer than any machine holds a run up that ends as soon as it has shown what it has to.
const LONG: Nanos = Nanos::from_secs(60);

/// An open workload and a closed one, of two users.
fn open_and_closed(measurement: Nanos) -> RunSpec {
    let mut spec = spec(measurement);
    let load = Closed {
        stages: Stages::constant(2),
        spawn_rate: None,
        think: Think::Constant(Nanos::from_millis(5)),
        iterations: Iterations::Endless,
        seed: 1,
    };
    spec.lanes.push(Arc::new(LoadedWorkload {
        name: "closed".to_owned(),
        workload: Arc::new(Ahead),
        load: Load::Closed(load),
        timeout: Nanos::from_secs(5),
        supply: SupplyBounds::default(),
    }));
    spec
}

#[test]
fn a_command_is_answered_by_the_workloads_that_cannot_do_it() {
    let rate = |workload: Option<&str>| Command::Rate { workload: workload.map(str::to_owned), factor: 2.0 };
    assert_eq!(refusals(rate(Some("ahead"))), []);
    let [(workload, why)] = refusals(rate(None)).try_into().unwrap();
    assert_eq!(workload, "closed");
    assert!(why.starts_with("its load is closed"), "{why}");
    let [(workload, why)] = refusals(rate(Some("other"))).try_into().unwrap();
    assert_eq!((workload.as_str(), why.as_str()), ("other", "no workload has that name"));
    assert_eq!(refusals(Command::Pause), []);
    assert_eq!(refusals(Command::Mark { text: "here".to_owned() }), []);
    let users = |limit| Command::InFlight { workload: Some("closed".to_owned()), limit };
    assert_eq!(refusals(users(2)), []);
    // Nobody else does what a shard without users has to do.
    for workload in ["ahead", "closed"] {
        let one = Command::InFlight { workload: Some(workload.to_owned()), limit: 1 };
        let [(_, why)] = refusals(one).try_into().unwrap();
        assert!(why.starts_with("each shard has one in flight at least"), "{why}");
    }
    let [(workload, why)] = refusals(users(3)).try_into().unwrap();
    assert_eq!(workload, "closed");
    assert!(why.contains("no more than its plan has"), "{why}");
}

/// At the end of the eighth interval.
fn half_a_second_later(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Interval(snapshot) if snapshot.index == 8)
}

#[test]
fn a_command_for_one_workload_changes_no_other() {
    let mut spec = spec(LONG);
    let schedule = Schedule::even(Profile::Constant(Constant { rate: 500.0 }));
    spec.lanes.push(Arc::new(LoadedWorkload {
        name: "beside".to_owned(),
        workload: Arc::new(Ahead),
        load: Load::Open(Open { schedule, in_flight: 100, backlog: 10_000 }),
        timeout: Nanos::from_secs(5),
        supply: SupplyBounds::default(),
    }));
    let command = Command::Rate { workload: Some("beside".to_owned()), factor: 4.0 };
    let (refused, result) = answered_in(spec, command, in_the_middle, half_a_second_later);
    assert_eq!(refused, []);
    let offered = |place: usize| result.total.series[place].iter().map(|record| record.offered).sum::<u64>();
    // Four times the rate for half a second and more.
    assert!(offered(1) > offered(0) + 300, "{} and {} offered", offered(0), offered(1));
}

#[test]
fn two_real_runs_of_half_the_shards_send_what_one_was_planned_to() {
    let halves = [0, 1].map(|first| {
        let (_control, inbox) = control();
        let shards = ShardRange::part(first, 1, 2).unwrap();
        let (result, _) = watched(RunSpec { shards, ..spec(Nanos::from_millis(400)) }, inbox);
        result.total.series[0].clone().map(|record| record.offered)
    });
    assert_eq!(halves, [[50, 100], [50, 100]], "500/s for 200 ms and 400 ms, every other arrival");
}

const ENDED: &str = "its arrivals have ended";

#[test]
fn a_command_after_the_planned_end_is_refused_by_all() {
    let stop = Command::Stop { reason: "enough".to_owned() };
    for command in [Command::Pause, stop] {
        let (refused, result) =
            answered_in(open_and_closed(Nanos::from_millis(300)), command, in_drain, never);
        assert_eq!(
            refused,
            [("ahead".to_owned(), ENDED.to_owned()), ("closed".to_owned(), ENDED.to_owned())]
        );
        assert_eq!(result.stopped, "as planned");
    }
}

#[test]
fn a_workload_that_has_sent_all_it_was_to_refuses_and_the_others_do_what_is_asked() {
    let with_ten_operations = || {
        let mut spec = open_and_closed(LONG);
        let schedule = Schedule::even(Profile::Constant(Constant { rate: 500.0 })).operations(10);
        spec.lanes[0] = Arc::new(LoadedWorkload {
            name: "ahead".to_owned(),
            workload: Arc::new(Ahead),
            load: Load::Open(Open { schedule, in_flight: 100, backlog: 10_000 }),
            timeout: Nanos::from_secs(5),
            supply: SupplyBounds::default(),
        });
        spec
    };
    let ended = ("ahead".to_owned(), ENDED.to_owned());
    let (refused, result) = answered_in(with_ten_operations(), Command::Pause, after_ten, once_silent);
    assert_eq!(refused, std::slice::from_ref(&ended));
    assert!(result.interrupted, "the users who are paused send nothing");
    let rate = Command::Rate { workload: Some("ahead".to_owned()), factor: 2.0 };
    assert_eq!(answered_in(with_ten_operations(), rate, after_ten, once_answered).0, [ended]);
    // A stop is for the run, which has arrivals left.
    let stop = Command::Stop { reason: "enough".to_owned() };
    let (refused, result) = answered_in(with_ten_operations(), stop, after_ten, never);
    assert_eq!((refused, result.stopped.as_str()), (Vec::new(), "enough"));
}

//! Two halves of a run, each on a simulation of its own, that hand on what they recorded: together they are the run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::dispatch::{Closed, Iterations, Load, Open, Stage, Stages, Think};
use hammer_core::run::Collector;
use hammer_core::schedule::{Profile, Ramp, Schedule};
use hammer_core::shard_range::ShardRange;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_measure::health::Health;
use hammer_measure::part::PartInterval;
use hammer_measure::recorder::Interval;
use hammer_measure::snapshot::{Resources, SeriesSnapshot};
use hammer_measure::{Fate, Ledger, Nanos, Phase};

use crate::harness::{MILLI, SECOND, Scripted, Simulated};

/// When each operation was intended and sent, and what was sent, by its number.
type Sent = BTreeMap<u64, (Nanos, Nanos, Vec<u8>)>;

/// Sends as [`Scripted`] does, and notes what was intended.
struct Noted {
    server: Scripted,
    sent: Arc<Mutex<Sent>>,
}

impl Workload for Noted {
    type Op = Vec<u8>;
    type Session = <Scripted as Workload>::Session;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        self.server.series()
    }

    fn preparation(&self) -> Preparation {
        self.server.preparation()
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Vec<u8>>) -> Vec<u8> {
        self.server.prepare(&mut (), seq, reuse)
    }

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        self.server.open(context).await
    }

    async fn execute(
        &self,
        clock: &Self::Session,
        (): &(),
        op: &mut Vec<u8>,
        record: &hammer_core::record::OperationRecord,
    ) -> Ended {
        let noted = (record.intended(), clock.now(), op.clone());
        let before = self.sent.lock().unwrap().insert(record.seq(), noted);
        assert_eq!(before, None, "each operation is sent once");
        self.server.execute(clock, &(), op, record).await
    }
}

/// What was sent by some shards of a run, and the intervals that they handed on.
struct Told {
    sent: Sent,
    parts: Vec<PartInterval>,
}

/// A run of the load's shards in that range, against a server that answers in 3 ms but for a stall of 300 ms.
fn told(run: &Simulated, load: &Load, ahead: bool) -> Told {
    let stall = run.phases.start + SECOND;
    let server = Scripted::answering_after(MILLI * 3).stalled(stall, MILLI * 300);
    let server = if ahead { server.prepared_ahead() } else { server };
    let (sent, parts) = (Arc::new(Mutex::new(Sent::new())), Arc::new(Mutex::new(Vec::new())));
    let (workload, taken) = (Noted { server, sent: sent.clone() }, parts.clone());
    run.run_telling(
        Arc::new(workload),
        load.clone(),
        |_, _| None,
        move |interval, is_last| {
            let mut parts = taken.lock().unwrap_or_else(PoisonError::into_inner);
            let index = parts.len() as u64;
            parts.push(PartInterval::new((index, is_last), interval, Vec::new(), Vec::new()));
        },
    );
    let sent = std::mem::take(&mut *sent.lock().unwrap());
    let parts = std::mem::take(&mut *parts.lock().unwrap());
    Told { sent, parts }
}

/// What a run shows at the end of each interval: its end and length, and its figures; and the total.
fn shown(
    series: usize,
    start: Nanos,
    parts: Vec<Vec<PartInterval>>,
) -> (Vec<(Nanos, Nanos, Vec<SeriesSnapshot>)>, Interval) {
    let mut collector = Collector::new(series, parts.len());
    collector.start(start);
    for (place, intervals) in parts.into_iter().enumerate() {
        for PartInterval { index, is_last, interval, .. } in intervals {
            if is_last {
                collector.over(place, index, interval);
            } else {
                collector.take(place, index, interval);
            }
        }
    }
    let mut shown = Vec::new();
    while let Some(merged) = collector.next_complete() {
        let (ledger, health) = (Ledger::default(), Health::default());
        let used = Resources::default();
        let snapshot = collector.snapshot(merged, Phase::Measurement, ledger, Vec::new(), health, used);
        shown.push((snapshot.at, snapshot.span, snapshot.series));
    }
    assert!(collector.is_done(), "every part tells which interval is its last");
    (shown, collector.total().clone())
}

/// Holds two halves of a run of four shards, of which the second has the larger, against the run; returns its total.
fn halves_are_the_whole(run: Simulated, load: &Load, ahead: bool) -> Interval {
    let start = run.phases.start;
    let run = run.over(4);
    let whole = told(&run, load, ahead);
    let halves = [(0, 1), (1, 3)].map(|(first, count)| {
        let part = ShardRange::part(first, count, 4).unwrap();
        told(&Simulated { shards: part, ..run.clone() }, load, ahead)
    });
    let mut sent = Sent::new();
    let mut parts = Vec::new();
    for half in halves {
        assert!(!half.sent.is_empty() && half.sent.len() < whole.sent.len(), "each sends a part");
        assert!(half.sent.keys().all(|seq| !sent.contains_key(seq)), "no operation is sent by both");
        sent.extend(half.sent);
        let sent_on = half.parts.iter().map(|part| PartInterval::from_bytes(&part.to_bytes(), 1).unwrap());
        parts.push(sent_on.collect());
    }
    assert!(sent == whole.sent, "the same operations, intended and sent at the same instants");
    let (shown_by_halves, total) = shown(1, start, parts);
    let (shown_by_whole, total_of_whole) = shown(1, start, vec![whole.parts]);
    assert!(shown_by_halves == shown_by_whole, "every interval has the same figures");
    assert_eq!(total, total_of_whole);
    total
}

#[test]
fn halves_of_an_open_load_share_its_schedule_and_its_limits() {
    for ahead in [false, true] {
        let schedule = Schedule::poisson(Profile::Ramp(Ramp { from: 100.0, to: 900.0, over: 2.0 }), 11, 0);
        let load = Load::Open(Open { schedule, in_flight: 9, backlog: 30 });
        let total = halves_are_the_whole(Simulated::measuring(SECOND * 3), &load, ahead);
        let record = &total.series[0][1];
        assert!(record.fate(Fate::Accepted) > 1_000 && record.fate(Fate::Shed) > 50, "{record:?}");
    }
}

#[test]
fn halves_of_a_closed_load_share_its_users() {
    for ahead in [false, true] {
        let stages =
            Stages::ramped(3, vec![Stage { users: 11, over: SECOND }, Stage { users: 5, over: SECOND }]);
        let think = Think::Uniform(MILLI * 5, MILLI * 50);
        let load =
            Closed { stages, spawn_rate: Some(100.0), think, iterations: Iterations::Endless, seed: 3 };
        let total = halves_are_the_whole(Simulated::measuring(SECOND * 3), &Load::Closed(load), ahead);
        assert!(total.series[0][1].fate(Fate::Accepted) > 300 && total.series[0][1].user_time > SECOND * 10);
    }
}

#[test]
fn halves_of_a_load_of_shared_operations_carry_each_out_once() {
    for ahead in [false, true] {
        let mut run = Simulated::measuring(SECOND);
        run.phases.measurement = None;
        let (stages, think) = (Stages::constant(14), Think::Constant(Nanos::ZERO));
        let load = Closed { stages, spawn_rate: None, think, iterations: Iterations::Shared(1_001), seed: 3 };
        let total = halves_are_the_whole(run, &Load::Closed(load), ahead);
        assert_eq!(total.series[0][1].fate(Fate::Accepted), 1_001);
    }
}

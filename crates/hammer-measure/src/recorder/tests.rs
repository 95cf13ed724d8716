use std::collections::{BTreeMap, VecDeque};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixture::{Parts, any_completion, any_parts, carry_out, completion, of_nanos};
use crate::histogram::Summary;
use crate::snapshot::SeriesFigures;

const PHASE: Phase = Phase::Measurement;
const SERIES: usize = 2;

/// Where something is counted: its series and its phase.
type Place = (usize, Phase);

/// What a shard can tell its recorder. What would have no operation to happen to happens to a new one.
#[derive(Clone, Copy, Debug)]
enum Act {
    Shed,
    Starve,
    Queue,
    Start(Parts),
    Finish(Completion),
    AbandonQueued,
    AbandonInFlight,
    Step(Parts, Completion),
    /// Something in the middle of a flow waited so long for a thread.
    Computed(Nanos),
    /// Users were present for so long.
    Present(Nanos),
}

/// A plain count of what was told about one place, without histograms, merging or swapping.
#[derive(Clone, Debug, Default)]
struct Tally {
    offered: u64,
    dispatched: u64,
    waiting: u64,
    under_way: VecDeque<Parts>,
    resent: u64,
    redialled: u64,
    bytes: [u64; 2],
    fates: [u64; Fate::COUNT],
    causes: Vec<(Fate, Detail)>,
    lags: Vec<u64>,
    backlogs: Vec<u64>,
    connections: Vec<u64>,
    services: Vec<u64>,
    clients: Vec<u64>,
    read_lags: Vec<u64>,
    computed: Vec<u64>,
    user_time: Nanos,
    responses: Vec<(Fate, Option<u64>)>,
}

impl Tally {
    fn never_ended(&mut self, fate: Fate) {
        self.fates[fate as usize] += 1;
        self.responses.push((fate, None));
    }

    fn ended(&mut self, parts: Parts, completion: &Completion) {
        let fate = Fate::from(completion.outcome);
        self.fates[fate as usize] += 1;
        self.resent += u64::from(completion.resent);
        self.redialled += u64::from(completion.redialled);
        self.bytes[0] += completion.bytes_out;
        self.bytes[1] += completion.bytes_in;
        if completion.detail != Detail::None {
            self.causes.push((fate, completion.detail));
        }
        self.responses.push((fate, fate.timed().then_some(parts.sum().0)));
        if fate.timed() {
            self.clients.extend(parts.client.map(|client| client.0));
            self.read_lags.extend(completion.read_lag.map(|lag| lag.0));
        }
        match (fate.timed(), completion.sent) {
            (false, _) => {}
            (true, true) => {
                self.connections.push(parts.connection.0);
                self.services.push(parts.service.0);
            }
            (true, false) => self.connections.push(parts.connection.0 + parts.service.0),
        }
    }

    fn figures(&self) -> SeriesFigures {
        let summary = |lengths: &[u64]| of_nanos(lengths.iter().copied()).summary();
        let mut responses = of_nanos(self.responses.iter().filter_map(|(_, response)| *response));
        let never = self.responses.iter().filter(|(_, response)| response.is_none());
        never.for_each(|_| responses.record_infinite());
        // What a tally does not know of is as in an empty record.
        let mut figures = SeriesFigures::of(&SeriesRecord::default());
        figures.offered = self.offered;
        figures.dispatched = self.dispatched;
        figures.completed = self.responses.iter().filter(|(_, response)| response.is_some()).count() as u64;
        figures.fates = self.fates;
        figures.backlog = self.waiting as i64;
        figures.in_flight = self.under_way.len() as i64;
        (figures.resent, figures.redialled) = (self.resent, self.redialled);
        [figures.bytes_out, figures.bytes_in] = self.bytes;
        figures.dispatch_lag = summary(&self.lags);
        figures.backlog_wait = summary(&self.backlogs);
        figures.connection_wait = summary(&self.connections);
        figures.service_time = summary(&self.services);
        figures.client_time = summary(&self.clients);
        figures.read_lag = summary(&self.read_lags);
        figures.response_time = responses.summary();
        figures.response_octaves = responses.octaves();
        let mut failures = BTreeMap::new();
        for cause in self.causes.iter().filter(|(fate, _)| *fate != Fate::Accepted) {
            *failures.entry(*cause).or_insert(0) += 1;
        }
        figures.failures =
            failures.into_iter().map(|((fate, detail), count)| (fate, detail, count)).collect();
        figures
    }
}

/// The tallies of all places, which say what an act means where nothing waits or is under way.
#[derive(Clone, Debug, Default)]
struct Tallies([[Tally; 2]; SERIES]);

impl Tallies {
    /// Counts the act, and tells it to the recorder.
    fn tell(&mut self, recorder: &mut Recorder, place: Place, act: Act) {
        let (series, phase) = place;
        let tally = &mut self.0[series][phase_index(phase)];
        match act {
            Act::Start(parts) if tally.waiting > 0 => {
                tally.waiting -= 1;
                tally.dispatched += 1;
                tally.lags.push(parts.lag.0);
                tally.backlogs.push(parts.backlog.0);
                tally.under_way.push_back(parts);
                recorder.start(series, phase, &parts.timing(Nanos(7)));
            }
            Act::AbandonQueued if tally.waiting > 0 => {
                tally.waiting -= 1;
                tally.causes.push((Fate::Abandoned, QUEUED_AT_THE_END));
                tally.never_ended(Fate::Abandoned);
                recorder.abandon_queued(series, phase);
            }
            Act::Finish(completion) if !tally.under_way.is_empty() => {
                let parts = tally.under_way.pop_front().unwrap();
                tally.ended(parts, &completion);
                recorder.finish(series, phase, &parts.timing(Nanos(7)), &completion);
            }
            Act::AbandonInFlight if !tally.under_way.is_empty() => {
                tally.under_way.pop_front();
                tally.never_ended(Fate::Abandoned);
                recorder.abandon_in_flight(series, phase);
            }
            Act::Step(parts, completion) => {
                tally.offered += 1;
                tally.dispatched += 1;
                tally.ended(parts, &completion);
                recorder.step(series, phase, &parts.timing(Nanos(7)), &completion);
            }
            Act::Computed(waited) => {
                tally.computed.push(waited.0);
                recorder.computed(series, phase, waited);
            }
            Act::Present(time) => {
                tally.user_time += time;
                recorder.present(series, phase, time);
            }
            Act::Shed => {
                tally.offered += 1;
                tally.never_ended(Fate::Shed);
                recorder.offer(series, phase);
                recorder.shed(series, phase);
            }
            Act::Starve => {
                tally.offered += 1;
                tally.never_ended(Fate::Starved);
                recorder.offer(series, phase);
                recorder.starve(series, phase);
            }
            _ => {
                tally.offered += 1;
                tally.waiting += 1;
                recorder.offer(series, phase);
                recorder.queue(series, phase);
            }
        }
    }
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        1 => Just(Act::Shed),
        1 => Just(Act::Starve),
        6 => Just(Act::Queue),
        5 => any_parts().prop_map(Act::Start),
        4 => any_completion().prop_map(Act::Finish),
        1 => Just(Act::AbandonQueued),
        1 => Just(Act::AbandonInFlight),
        2 => (any_parts(), any_completion()).prop_map(|(parts, completion)| Act::Step(parts, completion)),
        1 => (0..1_000_000u64).prop_map(|waited| Act::Computed(Nanos(waited))),
        1 => (0..1_000_000_000u64).prop_map(|time| Act::Present(Nanos(time))),
    ]
}

fn any_acts() -> impl Strategy<Value = Vec<(Place, Act)>> {
    let place = (0..SERIES, prop::sample::select(&Phase::WITH_ARRIVALS[..]));
    vec((place, any_act()), 0..120)
}

/// Everything that a record says, to compare two of them by: its figures and what they leave out, and causes, of which
/// the order means nothing.
type Told = (SeriesFigures, Vec<Option<Summary>>, Nanos, Vec<(Fate, String, u64)>);

fn told(record: &SeriesRecord) -> Told {
    let mut causes: Vec<_> =
        record.causes.iter().map(|(fate, detail, count)| (*fate, detail.to_string(), *count)).collect();
    causes.sort_by_key(|(fate, detail, _)| (*fate as usize, detail.clone()));
    let besides =
        record.response_time.iter().chain([&record.compute_wait]).map(Distribution::summary).collect();
    (SeriesFigures::of(record), besides, record.user_time, causes)
}

fn all_told(interval: &Interval) -> Vec<Told> {
    interval.series.iter().flatten().map(told).collect()
}

fn fresh() -> Interval {
    Interval::with_series(SERIES)
}

/// Tells the acts to one recorder that is swapped after each of `cuts`, and gives the intervals with the tallies.
fn intervals(acts: &[(Place, Act)], cuts: &[usize]) -> (Vec<Interval>, Tallies) {
    let (mut recorder, mut tallies, mut intervals) = (Recorder::new(SERIES), Tallies::default(), Vec::new());
    for (index, (place, act)) in acts.iter().enumerate() {
        tallies.tell(&mut recorder, *place, *act);
        if cuts.contains(&index) {
            intervals.push(recorder.swap(Nanos(index as u64), fresh()));
        }
    }
    intervals.push(recorder.swap(Nanos(acts.len() as u64), fresh()));
    (intervals, tallies)
}

fn sum<'a>(intervals: impl IntoIterator<Item = &'a Interval>) -> Interval {
    let mut total = fresh();
    intervals.into_iter().for_each(|interval| total.merge(interval));
    total
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_is_told_balances_in_each_interval_and_adds_up_to_a_plain_count(
        acts in any_acts(), cuts in vec(0..120usize, 0..8),
    ) {
        let (intervals, tallies) = intervals(&acts, &cuts);
        for interval in &intervals {
            for record in interval.series.iter().flatten() {
                prop_assert!(record.balances() && SeriesFigures::of(record).balances(), "{:?}", SeriesFigures::of(record));
            }
        }
        let total = sum(&intervals);
        prop_assert_eq!(total.at, Nanos(acts.len() as u64));
        for (record, tally) in total.series.iter().flatten().zip(tallies.0.iter().flatten()) {
            prop_assert_eq!(SeriesFigures::of(record), tally.figures());
            prop_assert_eq!(record.compute_wait.summary(), of_nanos(tally.computed.iter().copied()).summary());
            prop_assert_eq!(record.user_time, tally.user_time);
            for (fate, found) in Fate::ALL.into_iter().zip(&record.response_time) {
                prop_assert_eq!(found.count(), record.fate(fate), "{} with a response time", fate);
            }
            for (fate, detail, count) in &record.causes {
                let counted = tally.causes.iter().filter(|cause| **cause == (*fate, *detail)).count();
                prop_assert_eq!(*count, counted as u64, "{} by {}", fate, detail);
            }
            prop_assert_eq!(record.causes.iter().map(|(_, _, count)| *count).sum::<u64>(), tally.causes.len() as u64);
        }
    }

    #[test]
    fn how_often_a_run_is_cut_changes_no_total(acts in any_acts(), cuts in vec(0..120usize, 0..8)) {
        let (whole, _) = intervals(&acts, &[]);
        let (parts, _) = intervals(&acts, &cuts);
        prop_assert_eq!(all_told(&sum(&parts)), all_told(&whole[0]));
        prop_assert_eq!(all_told(&sum(parts.iter().rev())), all_told(&whole[0]));
    }

    #[test]
    fn shards_merged_are_one_shard(acts in any_acts(), dealt in vec(0..3usize, 120)) {
        let (whole, _) = intervals(&acts, &[]);
        let mut shards: Vec<Recorder> = (0..3).map(|_| Recorder::new(SERIES)).collect();
        let mut tallies = Tallies::default();
        for ((place, act), shard) in acts.iter().zip(dealt) {
            tallies.tell(&mut shards[shard], *place, *act);
        }
        let told: Vec<Interval> = shards.iter_mut().map(|shard| shard.swap(Nanos(1), fresh())).collect();
        prop_assert_eq!(all_told(&sum(&told)), all_told(&whole[0]));
        prop_assert_eq!(all_told(&sum(told.iter().rev())), all_told(&whole[0]));
    }

    #[test]
    fn an_interval_that_was_used_before_is_as_a_new_one(before in any_acts(), acts in any_acts()) {
        let (used, _) = intervals(&before, &[]);
        let mut recycled = used.into_iter().next().unwrap();
        recycled.clear();
        prop_assert_eq!(recycled.at, Nanos::ZERO);
        prop_assert_eq!(all_told(&recycled), all_told(&fresh()));
        let mut recorder = Recorder::new(SERIES);
        recorder.swap(Nanos(1), recycled);
        let mut tallies = Tallies::default();
        acts.iter().for_each(|(place, act)| tallies.tell(&mut recorder, *place, *act));
        let (expected, _) = intervals(&acts, &[]);
        prop_assert_eq!(all_told(&recorder.swap(Nanos(2), fresh())), all_told(&expected[0]));
    }

    #[test]
    fn once_nothing_is_left_open_every_arrival_has_its_fate(acts in any_acts()) {
        let (mut recorder, mut tallies) = (Recorder::new(SERIES), Tallies::default());
        acts.iter().for_each(|(place, act)| tallies.tell(&mut recorder, *place, *act));
        for series in 0..SERIES {
            for phase in Phase::WITH_ARRIVALS {
                let tally = tallies.0[series][phase_index(phase)].clone();
                (0..tally.waiting).for_each(|_| recorder.abandon_queued(series, phase));
                tally.under_way.iter().for_each(|_| recorder.abandon_in_flight(series, phase));
            }
        }
        for record in recorder.swap(Nanos(1), fresh()).series.iter().flatten() {
            prop_assert_eq!((record.backlog, record.in_flight), (0, 0));
            prop_assert_eq!(record.fates.iter().sum::<u64>(), record.offered);
            prop_assert_eq!(record.response_time().count(), record.offered);
            prop_assert!(record.answered() <= record.completed() && record.completed() <= record.dispatched);
        }
    }
}

#[test]
fn fates_balance_in_each_interval_and_over_all() {
    let timing = Parts::of_service(Nanos(5_000)).timing(Nanos::ZERO);
    let mut recorder = Recorder::new(1);
    let mut total = Interval::with_series(1);
    for _ in 0..3 {
        recorder.offer(0, PHASE);
        recorder.queue(0, PHASE);
    }
    recorder.start(0, PHASE, &timing);
    recorder.offer(0, PHASE);
    recorder.shed(0, PHASE);
    let first = recorder.swap(Nanos(10), Interval::with_series(1));
    assert_eq!((first.series[0][1].backlog, first.series[0][1].in_flight), (2, 1));
    total.merge(&first);
    recorder.finish(0, PHASE, &timing, &completion(Outcome::Accepted, Detail::Status(200)));
    recorder.abandon_queued(0, PHASE);
    recorder.offer(0, PHASE);
    recorder.starve(0, PHASE);
    let second = recorder.swap(Nanos(20), Interval::with_series(1));
    assert!(second.series[0][1].balances());
    total.merge(&second);
    let record = &total.series[0][1];
    assert!(record.balances());
    assert_eq!((record.offered, record.backlog, record.in_flight), (5, 1, 0));
    assert_eq!(record.response_time().count(), 4);
    let queued = (Fate::Abandoned, QUEUED_AT_THE_END, 1);
    assert_eq!(record.causes, [(Fate::Accepted, Detail::Status(200), 1), queued]);
}

#[test]
fn one_count_too_many_or_too_few_does_not_balance() {
    let mut recorder = Recorder::new(1);
    let accepted = completion(Outcome::Accepted, Detail::None);
    carry_out(&mut recorder, Parts::default(), &accepted);
    let sound = recorder.swap(Nanos(1), Interval::with_series(1)).series[0][1].clone();
    assert!(sound.balances() && SeriesFigures::of(&sound).balances());
    let alterations: [fn(&mut SeriesRecord); 5] = [
        |record| record.offered += 1,
        |record| record.fates[Fate::Accepted as usize] -= 1,
        |record| record.fates[Fate::Starved as usize] += 1,
        |record| record.backlog -= 1,
        |record| record.in_flight += 1,
    ];
    for (index, alter) in alterations.into_iter().enumerate() {
        let mut altered = sound.clone();
        alter(&mut altered);
        assert!(!altered.balances() && !SeriesFigures::of(&altered).balances(), "alteration {index}");
    }
}

#[test]
fn what_was_never_sent_has_no_service_time() {
    let mut recorder = Recorder::new(1);
    let unsent = Completion { sent: false, ..completion(Outcome::Unreachable, Detail::None) };
    let parts = Parts::of_service(Nanos::from_millis(5));
    recorder.step(0, PHASE, &parts.timing(Nanos::ZERO), &unsent);
    let record = &recorder.swap(Nanos(1), Interval::with_series(1)).series[0][1];
    assert_eq!(record.service_time.count(), 0);
    let waited = of_nanos([8_000_000]).summary();
    assert_eq!(record.connection_wait.summary(), waited, "until its failure: 3 ms and 5 ms");
}

#[test]
fn an_operation_that_was_cut_off_counts_as_infinite_and_has_no_parts_after_its_start() {
    let mut recorder = Recorder::new(1);
    carry_out(&mut recorder, Parts::default(), &completion(Outcome::Abandoned, Detail::None));
    let record = &recorder.swap(Nanos(1), Interval::with_series(1)).series[0][1];
    let response = record.response_time().summary().unwrap();
    assert_eq!((response.count, response.infinite), (1, 1));
    assert_eq!((record.dispatch_lag.count(), record.backlog_wait.count()), (1, 1));
    assert_eq!((record.connection_wait.count(), record.service_time.count()), (0, 0));
    assert_eq!((record.fate(Fate::Abandoned), record.completed(), record.answered()), (1, 0, 0));
}

#[test]
fn a_timeout_counts_at_its_elapsed_time() {
    let mut recorder = Recorder::new(1);
    let parts = Parts::of_service(Nanos::from_secs(2));
    carry_out(&mut recorder, parts, &completion(Outcome::TimedOut, Detail::None));
    let record = &recorder.swap(Nanos(1), Interval::with_series(1)).series[0][1];
    assert_eq!(record.response_time().summary(), of_nanos([parts.sum().0]).summary());
    assert_eq!((record.completed(), record.answered()), (1, 0));
}

#[test]
fn causes_are_told_apart_by_fate_and_by_detail() {
    let mut recorder = Recorder::new(1);
    let ends = [
        (Outcome::Refused, Detail::Status(400)),
        (Outcome::Refused, Detail::Status(404)),
        (Outcome::Malformed, Detail::Status(400)),
        (Outcome::Refused, Detail::Status(400)),
        (Outcome::Unreachable, Detail::PORTS_EXHAUSTED),
        (Outcome::TimedOut, Detail::None),
    ];
    for (outcome, detail) in ends {
        carry_out(&mut recorder, Parts::default(), &completion(outcome, detail));
    }
    let causes = recorder.swap(Nanos(1), Interval::with_series(1)).series[0][1].causes.clone();
    let expected = [
        (Fate::Refused, Detail::Status(400), 2),
        (Fate::Refused, Detail::Status(404), 1),
        (Fate::Malformed, Detail::Status(400), 1),
        (Fate::Unreachable, Detail::PORTS_EXHAUSTED, 1),
    ];
    assert_eq!(causes, expected);
}

#[test]
fn phases_are_kept_apart_and_drain_is_measurement() {
    let mut recorder = Recorder::new(1);
    recorder.offer(0, Phase::WarmUp);
    recorder.shed(0, Phase::WarmUp);
    recorder.offer(0, Phase::Drain);
    recorder.queue(0, Phase::Drain);
    let interval = recorder.swap(Nanos(1), Interval::with_series(1));
    assert_eq!(interval.series[0][0].fate(Fate::Shed), 1);
    assert_eq!((interval.series[0][1].offered, interval.series[0][1].backlog), (1, 1));
    assert_eq!(interval.series[0][1].fate(Fate::Shed), 0);
    assert_eq!(Phase::WITH_ARRIVALS.map(phase_index), [0, 1]);
}

#[test]
fn the_end_of_merged_intervals_is_the_latest_end() {
    let ending = |at| Interval { at: Nanos(at), ..fresh() };
    assert_eq!(sum(&[ending(5), ending(9), ending(7)]).at, Nanos(9));
}

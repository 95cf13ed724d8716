use proptest::prelude::*;

use super::*;
use crate::outcome::Fate;

fn of<const N: usize>(durations: [(Nanos, u64); N]) -> Distribution {
    let mut distribution = Distribution::default();
    for (duration, count) in durations {
        (0..count).for_each(|_| distribution.record(duration));
    }
    distribution
}

fn millis(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

/// A series that was released so late and answered after so long.
fn series(dispatch_lag: Distribution, response: Distribution) -> SeriesRecord {
    let mut record = SeriesRecord { dispatch_lag, ..SeriesRecord::default() };
    record.response_time[Fate::Accepted as usize] = response;
    record
}

fn judged(record: &SeriesRecord) -> Vec<Judged> {
    Judged::of_series("web/get", record, Nanos::ZERO, &HealthPolicy::default())
}

/// What is said against so many operations, all of which were as late and took as long.
fn of_many(count: u64, late: Nanos, response: Nanos) -> Option<Judged> {
    judged(&series(of([(late, count)]), of([(response, count)]))).pop()
}

#[test]
fn lateness_is_held_against_the_response_time_of_its_own_series() {
    assert!(matches!(of_many(1_000, millis(2), millis(3)), Some(Judged::Spoiled(_))), "two thirds of it");
    assert_eq!(of_many(1_000, millis(2), millis(100)), None, "2 ms late of 100 ms");
}

#[test]
fn each_percentile_is_held_against_the_same_one_of_the_response_time() {
    let lag = || of([(Nanos::from_micros(50), 1_900), (Nanos::from_micros(1_070), 100)]);
    let slow = of([(millis(10), 1_900), (millis(1_800), 100)]);
    assert_eq!(judged(&series(lag(), slow)), [], "1.07 ms beside a p99 of 1.8 s");
    let [Judged::Spoiled(found)] = &judged(&series(lag(), of([(millis(10), 2_000)])))[..] else { panic!() };
    assert_eq!((found.percentile, found.bound, found.of), (99, millis(1), 2_000));
    let slow_end = of([(millis(3), 1_900), (millis(1_800), 100)]);
    let [Judged::Spoiled(found)] = &judged(&series(of([(millis(2), 2_000)]), slow_end))[..] else { panic!() };
    assert_eq!(found.percentile, 90, "what spoils the rest is found beside a slow end");
}

#[test]
fn nothing_moves_a_percentile_that_never_ended() {
    let mut response = of([(millis(5), 1_000)]);
    (0..1_000).for_each(|_| response.record_infinite());
    let late = of([(Nanos::from_micros(10), 1_900), (millis(40), 100)]);
    assert_eq!(judged(&series(late, response)), []);
}

#[test]
fn a_thousand_are_enough_and_of_fewer_ten_that_waited_for_longer_than_a_slice() {
    let is_spoiled = |count, late| matches!(of_many(count, late, millis(6)), Some(Judged::Spoiled(_)));
    assert!(is_spoiled(1_000, millis(2)));
    let Some(Judged::TooFew(found)) = of_many(999, millis(2), millis(6)) else { panic!("too few") };
    assert_eq!((found.percentile, found.of, found.bound), (99, 999, millis(1)));
    assert!(is_spoiled(10, millis(12)) && !is_spoiled(9, millis(12)) && !is_spoiled(100, millis(9)));
    assert_eq!(of_many(1, Nanos::from_micros(999), millis(6)), None);
}

#[test]
fn one_late_arrival_in_a_hundred_is_not_the_99th_percentile() {
    let of_late = |late| {
        let lag = of([(Nanos::from_micros(50), 1_000 - late), (millis(1_000), late)]);
        judged(&series(lag, of([(millis(1), 1_000)])))
    };
    assert_eq!(of_late(10), []);
    assert!(matches!(of_late(11)[..], [Judged::Spoiled(Lateness { percentile: 99, .. })]));
}

#[test]
fn reading_late_and_waiting_to_compute_are_held_to_the_same_bound_but_for_what_is_meant() {
    let kind = |record: &SeriesRecord, unread| match &Judged::of_series(
        "web/get",
        record,
        unread,
        &HealthPolicy::default(),
    )[..]
    {
        [] => None,
        [Judged::Spoiled(found)] => Some((found.kind, found.bound)),
        other => panic!("{other:?}"),
    };
    let base = series(Distribution::default(), of([(millis(5), 1_000)]));
    let read = |late| SeriesRecord { read_lag: of([(late, 1_000)]), ..base.clone() };
    assert_eq!(kind(&read(millis(2)), Nanos::ZERO), Some((LatenessKind::Read, millis(1))));
    assert_eq!(kind(&read(millis(10)), millis(10)), None);
    assert_eq!(kind(&read(millis(12)), millis(10)), Some((LatenessKind::Read, millis(11))));
    let computed = SeriesRecord { compute_wait: of([(millis(2), 1_000)]), ..base.clone() };
    assert_eq!(kind(&computed, millis(10)), Some((LatenessKind::Compute, millis(1))));
}

#[test]
fn the_plan_may_say_the_bound_of_dispatch_lag_which_then_holds_of_every_number() {
    let policy = HealthPolicy { dispatch_lag_p99: Some(millis(5)), ..HealthPolicy::default() };
    let found = |count, late| {
        let record = series(of([(late, count)]), of([(millis(1), count)]));
        Judged::of_series("web/get", &record, Nanos::ZERO, &policy)
    };
    assert_eq!(found(2_000, millis(4)), []);
    assert!(matches!(found(3, millis(6))[..], [Judged::Spoiled(_)]));
}

proptest! {
    #[test]
    fn what_is_found_is_beyond_its_own_bound(lag in 0..10_000_000u64, response in 0..1_000_000_000u64) {
        let found = of_many(1_000, Nanos(lag), Nanos(response));
        let exact = (response / 20).max(1_000_000);
        let doubt = exact / 500;
        match found {
            Some(Judged::Spoiled(Lateness { late, bound, .. })) => {
                prop_assert!(late > bound && bound >= millis(1));
                prop_assert!(lag + doubt >= exact, "{lag} ns are not late of {response}");
            }
            Some(other) => prop_assert!(false, "{other:?}"),
            None => prop_assert!(lag <= exact + doubt, "{lag} ns are late of {response}"),
        }
    }
}

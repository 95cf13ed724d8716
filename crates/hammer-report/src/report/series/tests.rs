use hammer_measure::{Detail, Fate, Nanos, Outcome, Phase};

use super::*;
use crate::fixture::{Story, operation};

/// Thirty operations of warm-up and forty of measurement, a quarter of them refused.
fn records() -> [SeriesRecord; 2] {
    let mut story = Story::new(vec![operation("submit", "add-chain")]);
    let refused = (Outcome::Refused, Detail::Status(400));
    story.accept(0, Phase::WarmUp, 30, Nanos::from_micros(10));
    story.accept(0, Phase::Measurement, 30, Nanos::from_micros(10));
    story.end((0, Phase::Measurement), 10, Nanos::from_micros(10), refused);
    story.interval(Phase::Measurement);
    story.result().total.series.remove(0)
}

#[test]
fn a_series_is_named_as_in_the_plan_and_has_the_figures_of_both_phases() {
    let series = Series::new(&operation("submit", "add-chain"), &records(), [2.0, 8.0]);
    assert_eq!((series.path.as_str(), series.kind), ("submit/add-chain", SeriesKind::Operation));
    assert_eq!((series.workload.as_str(), series.name.as_str()), ("submit", "add-chain"));
    assert_eq!((series.closed_loop, series.notes.len(), series.users_over_rate), (false, 0, None));
    assert_eq!((series.warm_up.counts.offered, series.measurement.counts.offered), (30, 40));
    let (warm_up, measurement) = (series.warm_up.rates.unwrap(), series.measurement.rates.unwrap());
    assert_eq!((warm_up.offered_per_s, warm_up.accepted_per_s), (15.0, 15.0));
    assert_eq!((measurement.offered_per_s, measurement.completed_per_s), (5.0, 5.0));
    assert_eq!((measurement.dispatched_per_s, measurement.accepted_per_s), (5.0, 3.75));
}

#[test]
fn a_step_and_a_closed_loop_say_that_they_are() {
    let step = SeriesInfo { operation: false, ..operation("submit", "add-chain/post") };
    assert_eq!(Series::new(&step, &records(), [1.0, 1.0]).kind, SeriesKind::Step);
    let closed = SeriesInfo { closed_loop: true, ..operation("get", "get") };
    let series = Series::new(&closed, &records(), [1.0, 1.0]);
    assert_eq!((series.closed_loop, series.notes), (true, vec![CLOSED_LOOP.to_owned()]));
}

#[test]
fn a_phase_without_a_length_has_counts_and_no_rates() {
    let [_, record] = records();
    let figures = PhaseFigures::new(&record, EndCounts::default(), [0; 2], 0.0);
    assert_eq!((figures.counts.offered, figures.rates), (40, None));
    let causes: Vec<(&str, u64)> =
        figures.causes.iter().map(|cause| (cause.cause.as_str(), cause.count)).collect();
    assert_eq!(causes, [("HTTP 200", 30), ("HTTP 400", 10)]);
    assert_eq!(figures.durations.response_time_by_fate.len(), 2);
    assert_eq!(figures.durations.response_time_by_fate[Fate::Refused.name()].count, 10);
}

#[test]
fn what_ends_later_is_in_the_rate_of_its_end_and_in_the_fates_of_its_start() {
    let mut story = Story::new(vec![operation("submit", "add-chain")]);
    let refused = (Outcome::Refused, Detail::Status(400));
    story.accept(0, Phase::WarmUp, 30, Nanos::from_micros(10));
    story.ends_within(Phase::Measurement);
    story.accept(0, Phase::WarmUp, 10, Nanos::from_micros(10));
    story.accept(0, Phase::Measurement, 20, Nanos::from_micros(10));
    story.ends_within(Phase::Drain);
    story.accept(0, Phase::WarmUp, 5, Nanos::from_micros(10));
    story.accept(0, Phase::Measurement, 30, Nanos::from_micros(10));
    story.end((0, Phase::Measurement), 10, Nanos::from_micros(10), refused);
    story.interval(Phase::Measurement);
    let records = story.result().total.series.remove(0);
    let series = Series::new(&operation("submit", "add-chain"), &records, [2.0, 10.0]);
    let (warm_up, measurement) = (&series.warm_up, &series.measurement);
    assert_eq!((warm_up.counts.completed, measurement.counts.completed), (45, 60));
    assert_eq!(warm_up.ended, EndCounts { completed: 30, accepted: 30 });
    assert_eq!(measurement.ended, EndCounts { completed: 30, accepted: 30 });
    assert_eq!(series.in_drain, EndCounts { completed: 45, accepted: 35 });
    let (before, within) = (warm_up.rates.unwrap(), measurement.rates.unwrap());
    assert_eq!((before.completed_per_s, within.completed_per_s, within.offered_per_s), (15.0, 3.0, 6.0));
}

#[test]
fn users_divided_by_rate_is_their_cycle() {
    let users = UsersOverRate::new(50.0, 20_000.0).unwrap();
    assert_eq!((users.users, users.completed_per_s, users.mean_cycle_ns), (50.0, 20_000.0, 2_500_000));
    assert_eq!(UsersOverRate::new(50.0, 0.0), None);
    assert_eq!(UsersOverRate::new(50.0, f64::NAN), None);
    assert_eq!(UsersOverRate::new(0.0, 1.0), None);
}

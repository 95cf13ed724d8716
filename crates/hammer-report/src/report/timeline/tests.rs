use hammer_measure::health::Finding;
use hammer_measure::{Fate, Ledger, Nanos, Phase};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, told};
use crate::fixture::{Story, operation};

/// One interval of a single accepted operation, as it would stand at `second`.
fn interval(template: &Snapshot, second: u64) -> Snapshot {
    let at = Nanos::from_secs(second + 1);
    let mut snapshot = Snapshot { index: second, at, ..template.clone() };
    let response = snapshot.series[0].interval.response_time.as_mut().unwrap();
    response.p50 = hammer_measure::Quantile::At(Nanos::from_millis(second % 50 + 1));
    if second == 1 {
        response.p99 = hammer_measure::Quantile::Beyond(Nanos::from_millis(3));
    }
    snapshot.observations = vec![Observation::new("tree_size", at, second as f64)];
    snapshot
}

#[test]
fn a_long_run_is_thinned_out_and_no_arrival_is_lost() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::Measurement, 1, Nanos::from_millis(50));
    story.interval(Phase::Measurement);
    let template = story.last_snapshot();
    let mut timeline = Timeline::default();
    let seconds = 2 * MOST_INTERVALS as u64 + 7;
    for second in 0..seconds {
        timeline.push(&["get/get".to_owned()], &interval(&template, second));
        assert!(timeline.intervals().len() <= MOST_INTERVALS);
    }
    let intervals = timeline.intervals();
    let offered: u64 = intervals.iter().map(|interval| interval.series[0].offered).sum();
    let merged: u64 = intervals.iter().map(|interval| interval.merged).sum();
    assert_eq!((offered, merged), (seconds, seconds));
    assert_eq!(
        (intervals[0].merged, intervals[0].span_ns, intervals[0].at_ns),
        (4, 4_000_000_000, 4_000_000_000)
    );
    assert!(intervals.windows(2).all(|pair| pair[0].at_ns + pair[1].span_ns == pair[1].at_ns));

    let first = intervals[0].series[0].response_time.unwrap();
    assert_eq!(first.count, 4);
    assert_eq!(first.p50_ns, Nanoseconds::At(4_000_000), "the longest median, not a mean of medians");
    assert_eq!(first.p99_ns, Nanoseconds::Beyond { beyond_ns: 3_000_000 }, "what never ended is the longest");

    let seen = timeline.observations().clone().into_series().remove(0);
    assert!(seen.points.len() <= MOST_INTERVALS);
    assert_eq!((seen.first.value, seen.last.value), (0.0, seconds as f64 - 1.0));
}

#[test]
fn merged_intervals_add_changes_and_take_the_later_levels() {
    let mut story = Story::new(vec![operation("get", "get")]);
    let paths = ["get/get".to_owned()];
    story.wait((0, Phase::Measurement), 5);
    story.interval(Phase::Measurement);
    let mut merged = Interval::of(&paths, &story.last_snapshot());
    story.wait((0, Phase::Measurement), 2);
    story.interval(Phase::Measurement);
    merged.merge(&Interval::of(&paths, &story.last_snapshot()));
    let series = &merged.series[0];
    assert_eq!((series.offered, series.fates.backlog, series.backlog_at_end), (7, 7, 7));
    assert_eq!((series.response_time, merged.merged), (None, 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn however_the_intervals_are_folded_every_count_stays(chapters in any_run(), folds in vec(any::<prop::sample::Index>(), 0..12)) {
        let story = told(&chapters);
        let paths: Vec<String> = story.info().series.iter().map(hammer_measure::SeriesInfo::path).collect();
        let mut intervals: Vec<Interval> = story.snapshots().map(|snapshot| Interval::of(&paths, snapshot)).collect();
        let (count, end) = (intervals.len() as u64, intervals.last().unwrap().at_ns);
        for fold in folds.iter().filter(|_| count > 1) {
            let left = fold.index(intervals.len());
            if left + 1 < intervals.len() {
                let later = intervals.remove(left + 1);
                intervals[left].merge(&later);
            }
        }
        prop_assert_eq!(intervals.iter().map(|interval| interval.merged).sum::<u64>(), count);
        prop_assert_eq!(intervals.iter().map(|interval| interval.span_ns).sum::<u64>(), end);
        prop_assert_eq!(intervals.last().unwrap().at_ns, end);
        let result = story.result();
        for (place, [warm_up, measurement]) in result.total.series.iter().enumerate() {
            let mut whole = Counts::of(warm_up);
            whole.add(&Counts::of(measurement));
            let mut folded = Counts::default();
            for interval in &intervals {
                let SeriesInterval { offered, fates, .. } = interval.series[place];
                folded.add(&Counts { offered, fates, ..Counts::default() });
            }
            prop_assert_eq!((folded.offered, folded.fates), (whole.offered, whole.fates));
            prop_assert!(folded.balances());
            let last = &intervals.last().unwrap().series[place];
            prop_assert_eq!((last.backlog_at_end, last.in_flight_at_end), (whole.fates.backlog, whole.fates.in_flight));
            let timed = intervals.iter().filter_map(|interval| interval.series[place].response_time);
            prop_assert_eq!(timed.map(|durations| durations.count).sum::<u64>(), whole.fates.ended());
        }
    }

    #[test]
    fn a_merged_percentile_is_the_longest_of_its_parts(chapters in any_run()) {
        let story = told(&chapters);
        let paths: Vec<String> = story.info().series.iter().map(hammer_measure::SeriesInfo::path).collect();
        let parts: Vec<Interval> = story.snapshots().map(|snapshot| Interval::of(&paths, snapshot)).collect();
        let mut whole = parts[0].clone();
        parts[1..].iter().for_each(|later| whole.merge(later));
        for place in 0..paths.len() {
            let longest = |figure: fn(&IntervalDurations) -> Nanoseconds| {
                parts.iter().filter_map(|part| part.series[place].response_time.as_ref()).map(figure).reduce(Nanoseconds::longer)
            };
            let merged = whole.series[place].response_time;
            prop_assert_eq!(merged.map(|merged| merged.p50_ns), longest(|part| part.p50_ns));
            prop_assert_eq!(merged.map(|merged| merged.p99_ns), longest(|part| part.p99_ns));
            prop_assert_eq!(merged.map(|merged| merged.max_ns), longest(|part| part.max_ns));
        }
    }
}

#[test]
fn a_merged_interval_ends_as_its_later_part() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.phase(Phase::WarmUp);
    story.interval(Phase::WarmUp);
    story.promises = Ledger { made: 3, kept: 3, ..Ledger::default() };
    story.health.findings.push(Finding::Starved { count: 1 });
    story.interval(Phase::Measurement);
    let snapshots: Vec<_> = story.snapshots().collect();
    let paths = ["get/get".to_owned()];
    let (mut merged, later) = (Interval::of(&paths, snapshots[0]), Interval::of(&paths, snapshots[1]));
    assert_eq!((merged.healthy, merged.promises.made, merged.phase), (true, 0, PhaseName::WarmUp));
    merged.merge(&later);
    assert_eq!((merged.healthy, merged.promises.made, merged.phase), (false, 3, PhaseName::Measurement));
    assert_eq!((merged.at_ns, merged.span_ns, merged.merged), (2_000_000_000, 2_000_000_000, 2));
}

#[test]
fn an_interval_has_the_figures_of_its_snapshot() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::WarmUp, 10, Nanos::from_millis(1));
    story.accept(0, Phase::Measurement, 10, Nanos::from_millis(2));
    story.never(0, Fate::Shed, 1);
    story.interval(Phase::Measurement);
    let snapshot = story.last_snapshot();
    let interval = Interval::of(&["get/get".to_owned()], &snapshot);
    let (found, told) = (&interval.series[0], &snapshot.series[0].interval);
    assert_eq!((found.path.as_str(), found.offered), ("get/get", 21));
    let (response, summary) = (found.response_time.unwrap(), told.response_time.as_ref().unwrap());
    assert_eq!((response.count, response.infinite), (21, 1));
    assert_eq!(response.p50_ns, Nanoseconds::from(summary.p50));
    assert_eq!(
        response.p99_ns,
        Nanoseconds::Beyond { beyond_ns: summary.max.0 },
        "the last of 21 never ended"
    );
    let (service, summary) = (found.service_time.unwrap(), told.service_time.as_ref().unwrap());
    assert_eq!((service.count, service.max_ns), (20, Nanoseconds::At(summary.max.0)));
}

fn seen(name: &str, at: u64, value: f64) -> Observation {
    Observation::new(name, Nanos(at), value)
}

#[test]
fn an_observation_is_kept_once_and_by_its_name() {
    let mut observations = Observations::default();
    for observation in [
        seen("tree_size", 10, 100.0),
        seen("ratio", 10, 0.5),
        seen("tree_size", 10, 100.0),
        seen("tree_size", 20, f64::NAN),
        seen("tree_size", 30, 120.0),
        seen("tree_size", 25, 999.0),
    ] {
        observations.push(&observation);
    }
    let series = observations.into_series();
    let names: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["tree_size", "ratio"], "in the order in which they were first seen");
    let points: Vec<(u64, f64)> = series[0].points.iter().map(|point| (point.at_ns, point.value)).collect();
    assert_eq!(points, [(10, 100.0), (30, 120.0)], "neither again, nor late, nor what JSON cannot say");
    assert_eq!((series[0].first.value, series[0].last.value), (100.0, 120.0));
}

#[test]
fn long_observations_keep_their_first_and_last_points() {
    let mut observations = Observations::default();
    let last = 3 * MOST_INTERVALS as u64;
    (0..=last).for_each(|at| observations.push(&seen("tree_size", at, at as f64)));
    let series = observations.into_series().remove(0);
    assert!(series.points.len() <= MOST_INTERVALS && series.points.len() > MOST_INTERVALS / 2);
    assert_eq!(series.points.first(), Some(&series.first));
    assert_eq!(series.points.last(), Some(&series.last));
    assert_eq!((series.first.at_ns, series.last.at_ns), (0, last));
    assert!(series.points.is_sorted_by_key(|point| point.at_ns));
}

use hammer_measure::{Nanos, Phase};

use super::*;
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
    snapshot.observations = vec![Observation { name: "tree_size".to_owned(), at, value: second as f64 }];
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
    story.wait(0, 5);
    story.interval(Phase::Measurement);
    let mut merged = Interval::of(&paths, &story.last_snapshot());
    story.wait(0, 2);
    story.interval(Phase::Measurement);
    merged.merge(&Interval::of(&paths, &story.last_snapshot()));
    let series = &merged.series[0];
    assert_eq!((series.offered, series.fates.backlog, series.backlog_at_end), (7, 7, 7));
    assert_eq!((series.response_time, merged.merged), (None, 2));
}

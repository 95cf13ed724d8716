use hammer_measure::health::LatenessKind;
use hammer_measure::{Detail, Fate, Ledger, Nanos, Outcome, Phase};
use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, told};
use crate::fixture::{Story, late, operation};

#[test]
fn the_line_says_rates_percentiles_and_what_is_open() {
    let mut story = Story::new(vec![operation("submit", "add-chain")]);
    story.accept(0, Phase::Measurement, 1_500, Nanos::from_micros(2));
    story.wait((0, Phase::Measurement), 30);
    story.promises = Ledger { made: 1_500, kept: 1_400, pending: 100, ..Ledger::default() };
    story.interval(Phase::Measurement);
    assert_eq!(
        line(&story.last_snapshot(), story.info()),
        "   1s measurement: offered 1,530/s, accepted 1,500/s, failed 0, response p50 1.63ms p99 3.10ms, \
         0 in flight, 30 waiting, promises 1,400 kept 100 pending, health ok"
    );
}

#[test]
fn a_wait_for_verdicts_says_for_how_many_and_how_long_at_most() {
    let at = Nanos::from_secs(12);
    let words = |awaited, left_ms| judging(at, awaited, at + Nanos::from_millis(left_ms));
    assert_eq!(words(1_240, 299_900), "drain, 5m00s left: 1,240 promises pending");
    assert_eq!(words(1, 28_001), "drain, 29.0s left: 1 promise pending");
}

#[test]
fn of_several_series_the_slowest_is_named() {
    let mut story = Story::new(vec![operation("submit", "add-chain"), operation("reads", "tile")]);
    story.accept(0, Phase::WarmUp, 10, Nanos::from_millis(1));
    story.accept(1, Phase::WarmUp, 10, Nanos::from_millis(2));
    story.never(0, Fate::Shed, 5);
    story.promises = Ledger { made: 3, kept: 1, broken: 1, unchecked: 1, ..Ledger::default() };
    let lag = late(LatenessKind::Dispatch, Nanos(3));
    story.health.findings.extend([lag.clone(), lag]);
    story.interval(Phase::WarmUp);
    assert_eq!(
        line(&story.last_snapshot(), story.info()),
        "   1s warm-up: offered 25/s, accepted 20/s, failed 5, response p50 8.13ms p99 > 10.1ms of \
         submit/add-chain, 0 in flight, 0 waiting, promises 1 kept 0 pending 1 BROKEN 1 UNCHECKED, \
         UNHEALTHY: dispatch lag"
    );
}

#[test]
fn an_interval_without_an_end_has_no_percentiles() {
    let mut story = Story::new(vec![operation("http", "get")]);
    story.wait((0, Phase::Measurement), 2);
    story.interval(Phase::Drain);
    assert_eq!(
        line(&story.last_snapshot(), story.info()),
        "   1s drain: offered 2/s, accepted 0/s, failed 0, no response, 0 in flight, 2 waiting, health ok"
    );
}

/// The number that stands before, or after, a word of the line.
fn number(line: &str, before: &str, after: &str) -> f64 {
    let rest = &line[line.find(before).unwrap() + before.len()..];
    rest[..rest.find(after).unwrap()].replace(',', "").trim().parse().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_line_has_the_figures_of_the_operations_of_its_interval(chapters in any_run()) {
        let story = told(&chapters);
        for snapshot in story.snapshots() {
            let line = line(snapshot, story.info());
            let operations = || [0, 2, 3].map(|place| &snapshot.series[place]);
            let interval = |count: fn(&SeriesFigures) -> u64| operations().map(|series| count(&series.interval)).iter().sum::<u64>();
            prop_assert_eq!(number(&line, "offered ", "/s"), interval(|figures| figures.offered) as f64);
            prop_assert_eq!(number(&line, "accepted ", "/s"), interval(|figures| figures.fate(Fate::Accepted)) as f64);
            let ended = interval(|figures| figures.fates.iter().sum());
            let failed = ended - interval(|figures| figures.fate(Fate::Accepted));
            prop_assert_eq!(number(&line, "failed ", ","), failed as f64);
            prop_assert_eq!(line.contains("no response"), ended == 0, "{}", line);
            let open = |count: fn(&SeriesFigures) -> i64| {
                operations().map(|series| count(&series.warm_up) + count(&series.measurement)).iter().sum::<i64>()
            };
            let (waiting, under_way) = (open(|figures| figures.backlog), open(|figures| figures.in_flight));
            prop_assert!(line.contains(&format!(", {under_way} in flight, {waiting} waiting")), "{}", line);
            prop_assert!(!line.contains('\n') && line.is_ascii());
        }
    }
}

#[test]
fn steps_are_in_none_of_its_figures() {
    let step = SeriesInfo { operation: false, ..operation("submit", "add-chain/post") };
    let mut story = Story::new(vec![operation("submit", "add-chain"), step]);
    story.accept(0, Phase::Measurement, 3, Nanos::from_millis(1));
    (0..50).for_each(|_| story.step(1, Nanos::from_secs(5)));
    story.interval(Phase::Measurement);
    let line = line(&story.last_snapshot(), story.info());
    assert!(
        line.contains("offered 3/s, accepted 3/s, failed 0, response p50 2.13ms p99 3.13ms, 0"),
        "{line}"
    );
}

#[test]
fn of_several_without_an_end_the_one_that_took_longest_is_named() {
    for (first, second, slowest) in [(5, 1, "submit/add-chain"), (1, 5, "reads/tile")] {
        let mut story = Story::new(vec![operation("submit", "add-chain"), operation("reads", "tile")]);
        story.accept(0, Phase::Measurement, 1, Nanos::from_secs(first));
        story.accept(1, Phase::Measurement, 1, Nanos::from_secs(second));
        (0..2).for_each(|series| story.never(series, Fate::Shed, 1));
        story.interval(Phase::Measurement);
        let line = line(&story.last_snapshot(), story.info());
        assert!(line.contains(&format!("p99 > 5.00s of {slowest},")), "{line}");
    }
}

#[test]
fn failures_of_every_kind_are_counted_and_grouped() {
    let mut story = Story::new(vec![operation("http", "get")]);
    let refused = (Outcome::Refused, Detail::Status(404));
    story.end((0, Phase::Measurement), 1_200, Nanos::from_micros(1), refused);
    story.end((0, Phase::WarmUp), 30, Nanos::from_micros(1), (Outcome::TimedOut, Detail::None));
    story.never(0, Fate::Starved, 4);
    story.interval(Phase::Measurement);
    assert!(line(&story.last_snapshot(), story.info()).contains("accepted 0/s, failed 1,234, response"));
}

#[test]
fn an_interval_without_a_length_has_no_rate() {
    let mut story = Story::new(vec![operation("http", "get")]);
    story.accept(0, Phase::Measurement, 3, Nanos::from_millis(1));
    story.interval(Phase::Measurement);
    let snapshot = Snapshot { span: Nanos::ZERO, ..Snapshot::clone(&story.last_snapshot()) };
    assert!(line(&snapshot, story.info()).contains("offered 0/s, accepted 0/s"));
}

use hammer_measure::Phase;
use hammer_measure::snapshot::{Observation, add_observation};
use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, events};
use crate::fixture::{SECOND, Story, operation, report_of, tree_size};
use crate::report::Report;

/// The report of a run with these headlines, in which an observer sees the numbers of each name second by second.
fn report(headlines: Vec<Headline>, seen: &[(&str, &[f64])]) -> Report {
    let mut story = Story::headed(headlines, vec![operation("get", "get")]);
    story.accept(0, Phase::Measurement, 1, Nanos(1));
    let seconds = seen.iter().map(|(_, values)| values.len()).max().unwrap_or_default();
    for second in 0..seconds {
        let now = |(name, values): &(&str, &[f64])| {
            let value = *values.get(second)?;
            Some(Observation::new(*name, SECOND * (second as u64 + 1), value))
        };
        story.observations = seen.iter().filter_map(now).collect();
        story.interval(Phase::Measurement);
    }
    report_of(&story.finish(|_| {}))
}

#[test]
fn a_size_grows_by_so_much_in_the_time_between_its_first_and_its_last() {
    let report = report(vec![tree_size()], &[("tree_size", &[10.0, 20.0, 40.0])]);
    let expected = HeadlineFigures {
        observation: "tree_size".to_owned(),
        label: "tree size".to_owned(),
        target: None,
        first: 10.0,
        last: 40.0,
        grown: Some(30.0),
        grown_per_s: Some(15.0),
    };
    assert_eq!(report.headlines, [expected]);
    assert_eq!(report.tree_size, Some(TreeSize { first: 10.0, last: 40.0, grown: 30.0 }));
}

#[test]
fn a_size_grows_from_what_was_seen_first_within_the_first_interval() {
    let mut story = Story::headed(vec![tree_size()], vec![operation("get", "get")]);
    story.accept(0, Phase::Measurement, 1, Nanos(1));
    for (at, value) in [(Nanos(0), 40.0), (Nanos::from_millis(500), 60.0), (SECOND, 73.0)] {
        add_observation(&mut story.observations, Observation::new("tree_size", at, value));
    }
    story.interval(Phase::Measurement);
    add_observation(&mut story.observations, Observation::new("tree_size", SECOND * 2, 77.0));
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|_| {}));
    assert_eq!(report.tree_size, Some(TreeSize { first: 40.0, last: 77.0, grown: 37.0 }));
    let tree = &report.headlines[0];
    assert_eq!((tree.first, tree.grown, tree.grown_per_s), (40.0, Some(37.0), Some(18.5)));
    let seen = &report.observations[0];
    assert_eq!((seen.first.at_ns, seen.first.value), (0, 40.0));
    let points: Vec<f64> = seen.points.iter().map(|point| point.value).collect();
    assert_eq!(points, [40.0, 73.0, 77.0], "the first, then those at the ends of intervals");
}

#[test]
fn a_size_that_was_seen_at_one_instant_has_no_rate() {
    let report = report(vec![tree_size()], &[("tree_size", &[10.0])]);
    assert_eq!((report.headlines[0].grown, report.headlines[0].grown_per_s), (Some(0.0), None));
}

#[test]
fn a_level_has_its_values_and_does_not_grow() {
    let depth = Headline::level("queue_depth", "queue");
    let report = report(vec![depth], &[("queue_depth", &[5.0, 9.0, 2.0])]);
    let queue = &report.headlines[0];
    assert_eq!((queue.first, queue.last, queue.grown, queue.grown_per_s), (5.0, 2.0, None, None));
}

#[test]
fn each_target_has_its_headline_in_the_order_of_the_headlines_and_of_the_names() {
    let headlines = vec![Headline::level("queue_depth", "queue"), tree_size()];
    let one: &[f64] = &[1.0, 2.0];
    let seen = [("b/tree_size", one), ("a/tree_size", one), ("subtree_size", one), ("a/queue_depth", one)];
    let report = report(headlines, &seen);
    let told: Vec<_> =
        report.headlines.iter().map(|seen| (seen.label.as_str(), seen.target.as_deref())).collect();
    assert_eq!(told, [("queue", Some("a")), ("tree size", Some("a")), ("tree size", Some("b"))]);
    assert_eq!(report.tree_size, None, "of two trees neither is the tree");
}

#[test]
fn what_no_headline_names_is_an_observation_like_the_others() {
    let report = report(Vec::new(), &[("tree_size", &[1.0, 2.0])]);
    assert_eq!((report.headlines.as_slice(), report.tree_size), ([].as_slice(), None));
    assert_eq!(report.observations.len(), 1);
}

#[test]
fn a_report_that_was_written_before_there_were_headlines_is_read() {
    let mut json = serde_json::to_value(report(vec![tree_size()], &[("tree_size", &[1.0])])).unwrap();
    json.as_object_mut().unwrap().remove("headlines");
    let read = Report::parse(&json.to_string()).unwrap();
    assert_eq!((read.headlines.len(), read.tree_size.is_some()), (0, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn headlines_are_observations_and_the_key_of_the_tree_is_one_of_them(chapters in any_run()) {
        let report = report_of(&events(&chapters));
        for headline in &report.headlines {
            let mut seen = report.observations.iter().filter(|seen| seen.name == headline.observation);
            let seen = seen.next().unwrap();
            prop_assert_eq!((seen.first.value, seen.last.value), (headline.first, headline.last));
        }
        let of_trees = |name: &str| name == "tree_size" || name == "mirror/tree_size";
        let trees: Vec<_> = report.observations.iter().filter(|seen| of_trees(&seen.name)).collect();
        let levels = report.observations.iter().filter(|seen| seen.name == "queue_depth").count();
        prop_assert_eq!(report.headlines.len(), trees.len() + levels, "a ratio is no headline");
        let expected = (trees.len() == 1).then(|| (trees[0].first.value, trees[0].last.value));
        prop_assert_eq!(report.tree_size.map(|tree| (tree.first, tree.last)), expected);
    }
}

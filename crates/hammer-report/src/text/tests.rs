use hammer_measure::{Nanos, Phase, SeriesInfo};

use super::*;
use crate::builder::ReportBuilder;
use crate::fixture::{Story, build, disaster, operation, quickstart, report_of};

fn assert_fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{} columns: {line}", line.chars().count());
        assert!(line.is_ascii(), "{line}");
        assert_eq!(line, line.trim_end());
    }
}

#[test]
fn a_run_that_passed_reads_so() {
    let text = render(&report_of(&quickstart()));
    assert_fits(&text);
    assert!(text.starts_with("PASS, exit 0\nhealth"));
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_that_failed_says_why_before_its_figures() {
    let text = render(&report_of(&disaster()));
    assert_fits(&text);
    assert!(text.starts_with("FAIL, exit 4: 8 promises broken; not to be believed for 2"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_closed_loop_says_that_waiting_is_not_in_its_figures() {
    let closed = SeriesInfo { closed_loop: true, ..operation("http", "get") };
    let mut story = Story::new(vec![closed]);
    story.accept(0, Phase::Measurement, 200_000, Nanos(20));
    story.users(0, 50);
    story.interval(Phase::Measurement);
    let text = render(&build(ReportBuilder::new(), &story.finish(|_| {})));
    assert_fits(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn a_shed_percentile_prints_as_beyond() {
    let text = render(&report_of(&disaster()));
    let row = text.lines().find(|line| line.starts_with("  response time")).unwrap();
    assert!(row.contains("> 2.00s"), "{row}");
    assert!(!text.lines().any(|line| line.starts_with("  service time") && line.contains('>')));
}

#[test]
fn a_million_operations_do_not_run_into_the_name_of_their_row() {
    let mut report = report_of(&quickstart());
    report.series[0].measurement.durations.connection_wait.as_mut().unwrap().count = 1_234_567;
    let text = render(&report);
    assert!(text.contains("  connection wait    1.23M"), "{text}");
}

#[test]
fn what_only_sounds_like_the_tree_is_told_beside_it() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::Measurement, 1, Nanos(10));
    story.observe("tree_size", 1_000.0);
    story.interval(Phase::Measurement);
    story.observe("subtree_size", 2_000.0);
    story.interval(Phase::Measurement);
    let text = render(&report_of(&story.finish(|_| {})));
    assert!(
        text.contains("tree size  1,000 to 1,000") && text.contains("observed   subtree_size 2,000"),
        "{text}"
    );
}

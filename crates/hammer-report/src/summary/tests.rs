use std::collections::BTreeMap;
use std::sync::LazyLock;

use hammer_measure::{Detail, Nanos, Outcome, Phase};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fixture::any::{any_run, events};
use crate::fixture::schema::Schema;
use crate::fixture::{Story, disaster, operation, quickstart, report_of};
use crate::verdict::{Reason, Verdict};

fn run(events: &[hammer_measure::RunEvent], round: u64) -> SummaryRun {
    let labels = BTreeMap::from([("round".to_owned(), json!(round)), ("users".to_owned(), json!(2 * round))]);
    let hooks = vec![HookOutput { name: "commit".to_owned(), output: json!("a1b2c3") }];
    SummaryRun::of(&report_of(events), labels, hooks)
}

#[test]
fn runs_stand_side_by_side() {
    let summary = Summary::of(vec![run(&quickstart(), 1), run(&disaster(), 2)]);
    assert_eq!(summary.exit_code, 4);
    insta::assert_snapshot!(summary.render());
}

#[test]
fn a_summary_comes_back_from_its_json_whole() {
    let summary = Summary::of(vec![run(&quickstart(), 1), run(&disaster(), 2)]);
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}

#[test]
fn every_run_passed_is_exit_zero() {
    assert_eq!(Summary::of(vec![run(&quickstart(), 1)]).exit_code, 0);
}

static PASSED: LazyLock<SummaryRun> = LazyLock::new(|| run(&quickstart(), 1));

/// A run with these reasons against it.
fn judged(kinds: &[ReasonKind]) -> SummaryRun {
    let reasons = kinds.iter().map(|kind| Reason::new(*kind, format!("{kind:?}")));
    let mut verdict = Verdict::of(reasons.collect());
    verdict.expect();
    SummaryRun { verdict, ..PASSED.clone() }
}

fn any_kinds() -> impl Strategy<Value = Vec<ReasonKind>> {
    prop::collection::vec(prop::sample::select(ReasonKind::ALL.to_vec()), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_summary_of_any_runs_is_as_its_schema_says_and_comes_back(runs in prop::collection::vec(any_run(), 0..3)) {
        let runs = runs.iter().enumerate().map(|(round, chapters)| run(&events(chapters), round as u64));
        let summary = Summary::of(runs.collect());
        let json = serde_json::to_value(&summary).unwrap();
        prop_assert_eq!(Schema::of::<Summary>().hold(&json), Ok(()));
        let text = serde_json::to_string(&summary).unwrap();
        let back: Summary = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), text);
        prop_assert_eq!(back, summary);
    }

    #[test]
    fn key_figures_are_those_of_the_report(chapters in any_run()) {
        let report = report_of(&events(&chapters));
        let run = SummaryRun::of(&report, BTreeMap::new(), Vec::new());
        prop_assert_eq!((&run.verdict, run.healthy, run.promises), (&report.verdict, report.health.healthy, report.promises.all));
        prop_assert_eq!(run.series.len(), report.operations().count());
        for (key, series) in run.series.iter().zip(report.operations()) {
            let figures = &series.measurement;
            prop_assert_eq!((&key.path, key.offered), (&series.path, figures.counts.offered));
            prop_assert_eq!((key.closed_loop, key.refusals_meant), (series.closed_loop, series.refusals_meant));
            let open = figures.counts.fates.backlog + figures.counts.fates.in_flight;
            let accepted = figures.counts.fates.accepted;
            prop_assert_eq!(key.failed + accepted, figures.counts.offered.checked_add_signed(-open).unwrap());
            let response = figures.durations.response_time.as_ref();
            prop_assert_eq!(key.response_mean_ns, response.map(|durations| durations.mean_ns));
            prop_assert_eq!(key.response_p50_ns, response.map(|durations| durations.p50_ns));
            prop_assert_eq!(key.response_p99_ns, response.map(|durations| durations.p99_ns));
            prop_assert_eq!(key.service_p99_ns, figures.durations.service_time.as_ref().map(|durations| durations.p99_ns));
            prop_assert_eq!(key.accepted_per_s, Some(figures.ended.accepted as f64 / 10.0));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_gravest_reason_of_all_runs_takes_the_exit_code(runs in prop::collection::vec(any_kinds(), 0..4)) {
        let summary = Summary::of(runs.iter().map(|kinds| judged(kinds)).collect());
        let gravest = ReasonKind::ALL.into_iter().find(|kind| runs.iter().flatten().any(|held| held == kind));
        prop_assert_eq!(summary.exit_code, gravest.map_or(0, |kind| ExitCode::Because(kind).number()));
        let passed = runs.iter().filter(|kinds| kinds.is_empty()).count();
        let first = format!("{passed} of {} runs passed, exit {}\n", runs.len(), summary.exit_code);
        prop_assert!(summary.render().starts_with(&first), "{}", summary.render());
    }
}

#[test]
fn the_mark_of_a_run_says_its_code_and_whether_it_can_be_believed() {
    use ReasonKind::{Interrupted, NotBelievable, PromiseBroken, ThresholdFailed};
    for (kinds, expected) in [
        (&[][..], "PASS"),
        (&[ThresholdFailed], "FAIL 1"),
        (&[NotBelievable], "FAIL 5"),
        (&[NotBelievable, ThresholdFailed], "FAIL 5"),
        (&[NotBelievable, PromiseBroken], "FAIL 4, 5"),
        (&[Interrupted], "INTERRUPTED 130"),
    ] {
        assert_eq!(mark(&judged(kinds)), expected, "{kinds:?}");
    }
}

#[test]
fn the_mark_of_a_run_whose_lateness_is_tolerated_says_so() {
    let late = SummaryRun { healthy: false, ..PASSED.clone() };
    assert_eq!(mark(&late), "PASS, late");
    assert_eq!(mark(&SummaryRun { verdict: Verdict::default(), ..late }), "no expectation, late");
}

#[test]
fn runs_of_which_nothing_was_expected_passed_in_no_table_and_are_counted_apart() {
    let unexpecting = SummaryRun { verdict: Verdict::default(), ..PASSED.clone() };
    assert_eq!(mark(&unexpecting), "no expectation");
    let summary = Summary::of(vec![PASSED.clone(), unexpecting]);
    let text = summary.render();
    assert!(text.starts_with("1 of 2 runs passed, 1 without an expectation, exit 0\n"), "{text}");
    // Of both runs together something was not expected.
    let rows = summary.tables.iter().flat_map(|table| &table.series).flat_map(|series| &series.rows);
    assert!(rows.clone().count() > 0 && rows.clone().all(|row| row.standing == Standing::NoExpectation));
    assert_eq!(text.matches("no expectation\n").count(), rows.count() + summary.runs[1].series.len());
}

#[test]
fn a_table_is_as_wide_as_its_widest_cells() {
    let mut wide = run(&quickstart(), 1);
    wide.series[0].path = "a-workload-with-a-long-name/and-a-long-operation".to_owned();
    wide.series[0].failed = 12_345_678;
    wide.series[1].response_p99_ns = Some(Nanoseconds::Beyond { beyond_ns: 7_199_000_000_000 });
    let text = Summary::of(vec![wide, run(&disaster(), 1_000_000)]).render();
    let table: Vec<&str> = text.lines().skip(2).take(4).collect();
    for (column, name) in ["offered", "accepted", "failed", "p50", "p99"].iter().enumerate() {
        let end = table[0].find(name).unwrap() + name.len();
        for row in &table {
            assert_ne!(row.as_bytes()[end - 1], b' ', "column {column} of {row}");
            assert_eq!(row.as_bytes()[end], b' ', "column {column} of {row}");
        }
    }
    for name in ["series", "verdict"] {
        let start = table[0].find(name).unwrap();
        assert!(
            table.iter().all(|row| row.as_bytes()[start - 1] == b' ' && row.as_bytes()[start] != b' '),
            "{text}"
        );
    }
}

#[test]
fn what_was_never_measured_reads_none() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.end((0, Phase::WarmUp), 1, Nanos(10), (Outcome::Accepted, Detail::None));
    story.interval(Phase::WarmUp);
    let report = report_of(&story.finish(|result| result.phases.truncate(1)));
    let run = SummaryRun::of(&report, BTreeMap::new(), Vec::new());
    assert_eq!((run.series[0].offered_per_s, run.series[0].response_mean_ns), (None, None));
    let text = Summary::of(vec![run]).render();
    let row: Vec<&str> = text.lines().nth(3).unwrap().split_whitespace().collect();
    assert_eq!(
        row,
        ["run", "get/get", "none", "none", "0", "none", "none", "FAIL", "1"],
        "a run without labels is one"
    );
}

#[test]
fn what_a_hook_printed_stands_with_its_run_as_it_was_printed() {
    let mut hooked = run(&quickstart(), 3);
    hooked.labels = BTreeMap::from([("rate".to_owned(), json!(1_000)), ("log".to_owned(), json!("a b"))]);
    hooked.hooks = vec![
        HookOutput { name: "rows".to_owned(), output: json!(12.5) },
        HookOutput { name: "commit".to_owned(), output: json!("a1b2c3") },
    ];
    let text = Summary::of(vec![hooked]).render();
    assert!(
        text.contains("\nlog a b, rate 1000: rows said 12.5\nlog a b, rate 1000: commit said a1b2c3\n"),
        "{text}"
    );
}

#[test]
fn what_ended_the_runs_is_said_and_counts_as_what_is_said_against_one() {
    let all = Summary::of(vec![run(&quickstart(), 1)]);
    assert!(all.render().starts_with("1 of 1 runs passed, exit 0\n"), "{}", all.render());
    let stopped = Reason::new(ReasonKind::Interrupted, "interrupted by a signal".to_owned());
    let summary = Summary::of(vec![run(&quickstart(), 1)]).of_planned(3, Some(stopped));
    assert_eq!(summary.exit_code, 130);
    let said = "1 of 1 runs passed, 2 of 3 were not carried out, exit 130\ninterrupted by a signal\n";
    assert!(summary.render().starts_with(said), "{}", summary.render());
    let failed = Summary::of(vec![run(&disaster(), 1)]);
    let code = failed.exit_code;
    let stopped = Reason::new(ReasonKind::Interrupted, String::new());
    assert_eq!(failed.of_planned(2, Some(stopped)).exit_code, code, "what a run found is graver");
}

use hammer_measure::health::{Finding, Health, HealthPolicy, OnFail};
use hammer_measure::snapshot::RunResult;
use hammer_measure::{Detail, Fate, Ledger, Nanos, Outcome, Phase, SeriesInfo};

use crate::fixture::{Story, interrupt, operation, report_of, step, verdict_on};
use crate::verdict::{Standing, Verdict};

const MEASURED: Phase = Phase::Measurement;
const UNEXPECTING: &str = "no expectation, exit 0: the plan has no threshold, and no answer was verified";

const fn refused(status: u16) -> (Outcome, Detail) {
    (Outcome::Refused, Detail::Status(status))
}

fn said(story: Story) -> String {
    report_of(&story.finish(|_| {})).verdict.to_string()
}

#[test]
fn a_run_without_any_answer_exits_with_three() {
    let mut story = Story::new(vec![operation("get", "get")]);
    let refused = (Outcome::Unreachable, Detail::Failure("connection refused"));
    story.end((0, MEASURED), 10, Nanos(10), refused);
    story.interval(MEASURED);
    let report = report_of(&story.finish(|result| result.interrupted = true));
    assert_eq!(report.verdict.exit_code, 3);
    assert_eq!(report.verdict.reasons.len(), 2);
    let said = &report.verdict.reasons[0].text;
    assert_eq!(said, "no operation ever got an answer: 10 unreachable (connection refused)");
}

#[test]
fn what_hammer_lacked_itself_is_why_nothing_was_answered_and_not_hidden_by_the_silence() {
    let of = |on_fail| {
        let mut story = Story::new(vec![operation("get", "get")]);
        story.end((0, MEASURED), 10, Nanos(10), (Outcome::Unreachable, Detail::DESCRIPTORS_EXHAUSTED));
        story.interval(MEASURED);
        let health = Health {
            findings: vec![Finding::Exhausted { count: 10, what: "descriptors".to_owned() }],
            policy: HealthPolicy { on_fail, ..HealthPolicy::default() },
            ..Health::default()
        };
        report_of(&story.finish(|result| result.health = health)).verdict.exit_code
    };
    assert_eq!((of(OnFail::Fail), of(OnFail::Warn)), (5, 3));
}

#[test]
fn a_run_in_which_nothing_was_offered_says_so() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.interval(MEASURED);
    assert_eq!(said(story), "FAIL, exit 3: no operation was ever offered");
}

#[test]
fn a_run_whose_operations_all_went_in_warm_up_measured_nothing() {
    let of = |measured: u64, interrupted: bool| {
        let mut story = Story::new(vec![operation("get", "get")]);
        story.accept(0, Phase::WarmUp, 10, Nanos(10));
        story.interval(Phase::WarmUp);
        if measured > 0 {
            story.accept(0, MEASURED, measured, Nanos(10));
            story.interval(MEASURED);
        }
        report_of(&story.finish(|result| result.interrupted = interrupted))
    };
    let report = of(0, false);
    let said = "FAIL, exit 1: nothing was measured: the operations ended in warm-up";
    assert_eq!(report.verdict.to_string(), said);
    assert_eq!(of(1, false).verdict.exit_code, 0);
    assert_eq!(of(0, true).verdict.exit_code, 130);
}

/// Two workloads, of which the first is a flow of two steps that are always refused in measurement by the second.
fn refused_flows(accepted_in_warm_up: u64) -> Story {
    let series = vec![
        operation("sign", "sign"),
        step("sign", "fulcio"),
        step("sign", "rekor"),
        operation("get", "get"),
    ];
    let mut story = Story::new(series);
    if accepted_in_warm_up > 0 {
        story.accept(0, Phase::WarmUp, accepted_in_warm_up, Nanos(10));
    }
    story.end((0, MEASURED), 1_200, Nanos(10), refused(400));
    story.end((2, MEASURED), 1_200, Nanos(10), refused(400));
    story.accept(3, MEASURED, 5, Nanos(10));
    story.interval(MEASURED);
    story
}

#[test]
fn a_workload_of_which_nothing_was_accepted_is_no_pass_and_the_step_and_cause_are_named() {
    for accepted_in_warm_up in [0, 7] {
        let said = said(refused_flows(accepted_in_warm_up));
        assert_eq!(said, "FAIL, exit 1: nothing of sign was accepted: 1,200 refused (rekor: HTTP 400)");
    }
}

/// Sign flows and verify flows of one workload, with a step of either that reads or writes the log; all of the first are accepted.
fn mix() -> Story {
    let series = vec![
        operation("mixed", "sign/sign"),
        operation("mixed", "verify/verify"),
        step("mixed", "sign/rekor"),
        step("mixed", "verify/rekor"),
    ];
    let mut story = Story::new(series);
    story.accept(0, MEASURED, 50, Nanos(10));
    story
}

#[test]
fn a_series_of_which_nothing_was_accepted_is_no_pass_though_its_workload_was_served() {
    let mut story = mix();
    story.end((1, MEASURED), 20, Nanos(10), refused(404));
    // More often in a step of the flows that went on in spite of it.
    story.end((2, MEASURED), 90, Nanos(10), refused(404));
    story.end((3, MEASURED), 20, Nanos(10), refused(404));
    story.interval(MEASURED);
    let report = report_of(&story.finish(|result| {
        let kept = Ledger { made: 70, kept: 70, ..Ledger::default() };
        result.promises = kept;
        result.promises_by_workload = vec![("mixed".to_owned(), kept)];
    }));
    let expected =
        "FAIL, exit 1: nothing of mixed/verify/verify was accepted: 20 refused (verify/rekor: HTTP 404)";
    assert_eq!(report.verdict.to_string(), expected);
}

#[test]
fn a_workload_is_named_as_a_whole_where_what_else_it_has_was_not_sent() {
    let series = ["tile", "bundle", "names"].map(|name| operation("reads", name));
    let mut story = Story::new(series.into_iter().chain([operation("get", "get")]).collect());
    story.end((0, MEASURED), 3, Nanos(10), refused(404));
    story.end((1, MEASURED), 5, Nanos(10), refused(403));
    story.never(2, Fate::Starved, 9);
    story.end((3, MEASURED), 4, Nanos(10), (Outcome::ServerError, Detail::Status(500)));
    story.interval(MEASURED);
    let expected = "FAIL, exit 1: nothing of reads and get was accepted: 8 refused, 5 of them (HTTP 403)";
    assert_eq!(said(story), expected);
}

#[test]
fn refusals_are_a_pass_in_a_series_that_means_them_and_nowhere_else() {
    let failing = (Outcome::ServerError, Detail::Status(500));
    let accepted = (Outcome::Accepted, Detail::Status(200));
    for (valid, invalid, expected) in [
        (Some(accepted), refused(400), UNEXPECTING),
        (None, refused(400), UNEXPECTING),
        (None, accepted, UNEXPECTING),
        (
            Some(refused(403)),
            refused(400),
            "FAIL, exit 1: nothing of submit/add-chain was accepted: 6 refused (HTTP 403)",
        ),
        (
            Some(accepted),
            failing,
            "FAIL, exit 1: nothing of submit/invalid was accepted: 6 server error (HTTP 500)",
        ),
        (None, failing, "FAIL, exit 1: nothing of submit was accepted: 6 server error (HTTP 500)"),
    ] {
        let means = SeriesInfo { refusals_meant: true, ..operation("submit", "invalid") };
        let mut story = Story::new(vec![operation("submit", "add-chain"), means]);
        valid.into_iter().for_each(|end| story.end((0, MEASURED), 6, Nanos(10), end));
        story.end((1, MEASURED), 6, Nanos(10), invalid);
        story.interval(MEASURED);
        assert_eq!(said(story), expected);
    }
}

#[test]
fn a_cause_is_told_with_its_own_count_where_a_fate_has_several() {
    let mut story = Story::new(vec![operation("get", "get")]);
    for (status, count) in [(400, 10), (401, 11), (404, 10)] {
        story.end((0, MEASURED), count, Nanos(10), refused(status));
    }
    story.interval(MEASURED);
    assert_eq!(said(story), "FAIL, exit 1: nothing of get was accepted: 31 refused, 11 of them (HTTP 401)");
}

#[test]
fn the_most_frequent_cause_is_told_though_another_fate_is_more_frequent() {
    let mut story = Story::new(vec![operation("get", "get")]);
    for status in [400, 401, 404] {
        story.end((0, MEASURED), 10, Nanos(10), refused(status));
    }
    story.end((0, MEASURED), 12, Nanos(10), (Outcome::ServerError, Detail::Status(500)));
    // What was never sent says nothing of the server.
    story.never(0, Fate::Shed, 500);
    story.interval(MEASURED);
    assert_eq!(said(story), "FAIL, exit 1: nothing of get was accepted: 12 server error (HTTP 500)");
}

#[test]
fn of_several_steps_with_one_cause_that_is_named_in_which_it_was_most_frequent_and_what_was_said_there() {
    let steps = ["fulcio", "rekor", "timestamp"].map(|name| step("sign", name));
    let mut story = Story::new([operation("sign", "sign")].into_iter().chain(steps).collect());
    story.end((0, MEASURED), 1_200, Nanos(10), refused(400));
    for (series, count) in [(1, 3), (2, 1_195), (3, 2)] {
        story.end((series, MEASURED), count, Nanos(10), refused(400));
    }
    let cause = (Fate::Refused, Detail::Status(400));
    story.said((0, MEASURED), cause, "by fulcio");
    story.said((1, MEASURED), cause, "by fulcio");
    story.said((2, MEASURED), cause, "by rekor");
    story.interval(MEASURED);
    let expected = "FAIL, exit 1: nothing of sign was accepted: \
                    1,200 refused, 1,195 of them (rekor: HTTP 400, by rekor)";
    assert_eq!(said(story), expected);
}

#[test]
fn one_cause_of_several_series_is_counted_over_all_of_them() {
    let series = ["tile", "bundle", "names"].map(|name| operation("reads", name));
    let mut story = Story::new(series.into_iter().chain([operation("get", "get")]).collect());
    for (series, end) in [(0, refused(404)), (1, refused(403)), (2, refused(404))] {
        story.end((series, MEASURED), 5, Nanos(10), end);
    }
    story.end((1, MEASURED), 2, Nanos(10), refused(410));
    story.accept(3, MEASURED, 1, Nanos(10));
    story.interval(MEASURED);
    let expected = "FAIL, exit 1: nothing of reads was accepted: 17 refused, 10 of them (HTTP 404)";
    assert_eq!(said(story), expected);
}

#[test]
fn a_step_that_few_of_the_failures_were_in_is_not_where_they_are_counted() {
    let operations = ["add-chain", "duplicate"].map(|name| operation("submit", name));
    let step = step("submit", "nothing-to-repeat");
    let mut story = Story::new(operations.into_iter().chain([step]).collect());
    story.end((0, MEASURED), 657, Nanos(10), refused(404));
    story.end((1, MEASURED), 51, Nanos(10), refused(404));
    story.end((2, MEASURED), 51, Nanos(10), refused(404));
    story.interval(MEASURED);
    assert_eq!(said(story), "FAIL, exit 1: nothing of submit was accepted: 708 refused (HTTP 404)");
}

#[test]
fn refusals_that_a_threshold_wants_are_a_pass() {
    for (on, text) in [
        ("sign", "share(refused) == 100%"),
        ("total", "count(refused) > 0"),
        ("sign/sign", "rate(accepted) == 0/s"),
        ("sign/rekor", "share(refused) == 100%"),
        ("sign", "share(accepted) < 10%"),
        ("sign", "count(accepted) < 1"),
    ] {
        let meant = |result: &mut RunResult| result.verdicts = vec![verdict_on(on, text, true)];
        let verdict = report_of(&refused_flows(0).finish(meant)).verdict;
        assert_eq!((verdict.reasons, verdict.standing), (Vec::new(), Standing::Passed), "{text} on {on}");
    }
    // On another workload, or about something else.
    for (on, text) in [
        ("get", "share(refused) == 100%"),
        ("total", "count(refused) < 9000"),
        ("sign", "p99(response) < 1s"),
    ] {
        let other = |result: &mut RunResult| result.verdicts = vec![verdict_on(on, text, true)];
        assert_eq!(report_of(&refused_flows(0).finish(other)).verdict.exit_code, 1, "{text} on {on}");
    }
    // On another series of the workload.
    let mut story = mix();
    story.end((1, MEASURED), 20, Nanos(10), refused(404));
    story.interval(MEASURED);
    let other = |result: &mut RunResult| {
        result.verdicts = vec![verdict_on("mixed/sign/sign", "count(refused) >= 1", true)];
    };
    assert_eq!(report_of(&story.finish(other)).verdict.exit_code, 1);
}

#[test]
fn a_run_is_a_pass_by_a_threshold_or_a_promise_that_was_kept_and_else_nothing_was_expected() {
    let standing = |ledger: Ledger, verdicts: Vec<&str>| {
        let mut story = Story::new(vec![operation("submit", "add-chain")]);
        story.accept(0, MEASURED, 5, Nanos(10));
        story.promises = ledger;
        story.interval(MEASURED);
        let verdicts = verdicts.iter().map(|text| verdict_on("submit", text, true)).collect();
        report_of(&story.finish(|result| result.verdicts = verdicts)).verdict.standing
    };
    let pending = Ledger { made: 5, pending: 5, ..Ledger::default() };
    assert_eq!(standing(Ledger::default(), Vec::new()), Standing::NoExpectation);
    assert_eq!(standing(pending, Vec::new()), Standing::NoExpectation, "nobody looked yet");
    assert_eq!(standing(pending, vec!["count(broken) == 0"]), Standing::Passed);
    assert_eq!(standing(Ledger { made: 5, kept: 1, pending: 4, ..pending }, Vec::new()), Standing::Passed);
}

#[test]
fn promises_that_were_kept_do_not_make_failures_a_pass() {
    let promised = |result: &mut RunResult| {
        let kept = Ledger { made: 1_200, kept: 1_200, ..Ledger::default() };
        result.promises = kept;
        result.promises_by_workload = vec![("sign".to_owned(), kept)];
    };
    for accepted_in_warm_up in [0, 7] {
        assert_eq!(report_of(&refused_flows(accepted_in_warm_up).finish(promised)).verdict.exit_code, 1);
    }
}

#[test]
fn what_was_never_sent_is_not_told_as_not_accepted() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::WarmUp, 3, Nanos(10));
    story.never(0, Fate::Starved, 9);
    story.interval(MEASURED);
    assert_eq!(report_of(&story.finish(|_| {})).verdict, Verdict::default(), "health says it");
}

#[test]
fn what_an_interruption_cut_off_says_nothing_of_the_server() {
    let rare = |abandoned, timed_out, interrupted| {
        let mut story = Story::new(vec![operation("sign", "sign"), operation("names", "names")]);
        story.accept(0, MEASURED, 50, Nanos(10));
        story.never(1, Fate::Abandoned, abandoned);
        story.end((1, MEASURED), timed_out, Nanos(10), (Outcome::TimedOut, Detail::None));
        story.interval(MEASURED);
        let cut = |result: &mut RunResult| {
            if interrupted {
                interrupt(result);
            }
        };
        report_of(&story.finish(cut)).verdict.to_string()
    };
    assert_eq!(rare(1, 0, true), "INTERRUPTED, exit 130: interrupted by a signal");
    assert_eq!(
        rare(1, 0, false),
        "FAIL, exit 1: nothing of names was accepted: 1 abandoned (end of drain, never sent)"
    );
    // What went wrong before the signal did not by it.
    let expected = "FAIL, exit 1: nothing of names was accepted: 1 timed out; interrupted by a signal";
    assert_eq!(rare(5, 1, true), expected);
    for (stopped, said) in [
        ("a key of the dashboard", "interrupted: a key of the dashboard"),
        ("as planned", "interrupted in drain"),
        ("threshold failed: p99(response) < 1ms", "interrupted in drain"),
    ] {
        let mut ended = Story::new(vec![operation("sign", "sign")]);
        ended.accept(0, MEASURED, 50, Nanos(10));
        ended.interval(MEASURED);
        let cut = |result: &mut RunResult| {
            result.interrupted = true;
            result.stopped = stopped.to_owned();
        };
        let verdict = report_of(&ended.finish(cut)).verdict.to_string();
        assert_eq!(verdict, format!("INTERRUPTED, exit 130: {said}"));
    }
}

#[test]
fn an_interruption_before_any_answer_is_no_silence_of_the_server() {
    let early = |ends: &[(Outcome, Detail)], abandoned, interrupted| {
        let mut story = Story::new(vec![operation("get", "get")]);
        story.never(0, Fate::Abandoned, abandoned);
        ends.iter().for_each(|end| story.end((0, MEASURED), 1, Nanos(10), *end));
        story.interval(MEASURED);
        let cut = |result: &mut RunResult| {
            if interrupted {
                interrupt(result);
            }
        };
        report_of(&story.finish(cut)).verdict.to_string()
    };
    let said = "INTERRUPTED, exit 130: interrupted, before any operation got an answer";
    assert_eq!(early(&[], 3, true), said);
    assert_eq!(
        early(&[], 3, false),
        "FAIL, exit 3: no operation ever got an answer: 3 abandoned (end of drain, never sent)"
    );
    assert_eq!(early(&[], 0, true), said, "none was offered yet");
    // What went wrong before the signal did not by it.
    let silent = "FAIL, exit 3: no operation ever got an answer: 1 timed out; interrupted by a signal";
    assert_eq!(early(&[(Outcome::TimedOut, Detail::None)], 3, true), silent);
}

#[test]
fn a_run_whose_log_signed_heads_that_were_not_proved_is_not_believed() {
    let said = |name: &str, left: f64| {
        let mut story = Story::new(vec![operation("verify", "verify")]);
        story.accept(0, MEASURED, 5, Nanos(10));
        story.observe(name, left);
        story.interval(MEASURED);
        said(story)
    };
    let proved = said("heads_unproved", 0.0);
    assert_eq!(proved, UNEXPECTING);
    for name in ["heads_unproved", "rekor-tiles/heads_unproved"] {
        assert_eq!(said(name, 2.0), "FAIL, exit 5: not to be believed for 2 heads of a log not proved");
    }
}

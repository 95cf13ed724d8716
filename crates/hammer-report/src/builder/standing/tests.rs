use hammer_measure::health::{Finding, HealthPolicy, OnFail};
use hammer_measure::{Detail, Ledger, Nanos, Outcome};

use super::*;
use crate::fixture::{SECOND, Story, operation, report_of, verdict};
use crate::verdict::Standing;

const MEASURED: Phase = Phase::Measurement;
const REFUSED: (Outcome, Detail) = (Outcome::Unreachable, Detail::Failure("connection refused"));

fn standing(story: &Story) -> StandingSoFar {
    StandingSoFar::of(&Arc::new(story.info().clone()), &story.last_snapshot())
}

fn said(story: &Story) -> String {
    standing(story).verdict.to_string()
}

#[test]
fn a_run_stands_as_its_report_would_say() {
    for (accepted, refused) in [(0, 3), (3, 0), (3, 3)] {
        let mut story = Story::new(vec![operation("get", "get"), operation("get", "put")]);
        story.accept(0, MEASURED, accepted, Nanos(10));
        story.end((1, MEASURED), refused, Nanos(10), REFUSED);
        story.interval(MEASURED);
        let so_far = said(&story);
        assert_eq!(so_far, report_of(&story.finish(|_| {})).verdict.to_string());
    }
}

#[test]
fn a_server_that_nobody_reaches_is_silent() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.end((0, MEASURED), 3, Nanos(10), REFUSED);
    story.interval(MEASURED);
    let silent = "FAIL, exit 3: no operation ever got an answer: 3 unreachable (connection refused)";
    assert_eq!(said(&story), silent);
}

#[test]
fn a_run_whose_first_answers_are_on_their_way_has_not_failed() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.interval(Phase::WarmUp);
    assert_eq!(standing(&story).verdict, Verdict::default(), "nothing was sent yet");
    story.start((0, Phase::WarmUp), 3);
    story.interval(Phase::WarmUp);
    assert_eq!(standing(&story).verdict, Verdict::default(), "nothing has ended yet");
    story.accept_started((0, Phase::WarmUp), 3, SECOND);
    story.interval(Phase::WarmUp);
    assert_eq!(standing(&story).verdict, Verdict::default(), "measurement is still to come");
    story.interval(Phase::Drain);
    assert_eq!(said(&story), "FAIL, exit 1: nothing was measured: the operations ended in warm-up");
}

#[test]
fn a_server_that_answers_in_drain_alone_has_not_failed_before() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.start((0, MEASURED), 3);
    story.interval(MEASURED);
    story.interval(Phase::Drain);
    assert_eq!(standing(&story).verdict, Verdict::default(), "all are under way");
    story.accept_started((0, MEASURED), 3, SECOND);
    story.interval(Phase::Drain);
    assert_eq!(standing(&story).verdict, Verdict::default(), "all are accepted");
}

#[test]
fn what_is_expected_and_what_is_tolerated_is_told() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, MEASURED, 3, Nanos(10));
    story.promises = Ledger { made: 3, kept: 2, pending: 1, ..Ledger::default() };
    story.health.findings = vec![Finding::Starved { count: 12 }];
    story.interval(MEASURED);
    let StandingSoFar { verdict, tolerated } = standing(&story);
    assert_eq!(verdict.to_string(), "FAIL, exit 5: not to be believed for 1 health finding");
    assert_eq!(tolerated, None);
    story.health.policy = HealthPolicy { on_fail: OnFail::Warn, ..HealthPolicy::default() };
    story.interval(MEASURED);
    let StandingSoFar { verdict, tolerated } = standing(&story);
    assert_eq!(verdict.standing, Standing::Passed, "{verdict}");
    assert_eq!(tolerated.as_deref(), Some("1 health finding tolerated"));
}

#[test]
fn the_thresholds_are_those_of_the_interval() {
    let mut story = Story::new(vec![operation("submit", "add-chain")]);
    story.accept(0, MEASURED, 3, Nanos(10));
    story.interval(MEASURED);
    let mut last = Snapshot::clone(&story.last_snapshot());
    last.thresholds = vec![verdict("p99(response) < 100ms", "118ms", false)];
    let StandingSoFar { verdict, .. } = StandingSoFar::of(&Arc::new(story.info().clone()), &Arc::new(last));
    assert!(
        verdict.to_string().starts_with("FAIL, exit 1: 1 of 1 threshold failed, first p99(response) < 100ms"),
        "{verdict}"
    );
}

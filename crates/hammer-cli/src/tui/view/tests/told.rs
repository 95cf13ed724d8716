//! What pages say of a run at some point of it.

use hammer_measure::Phase;
use hammer_measure::health::{HealthPolicy, OnFail};

use super::*;
use crate::tui::spec::RunPlace;

fn head(run: &Run) -> String {
    trimmed(&run.state, 120, 24).lines().nth(1).unwrap().split("  ").next().unwrap().to_owned()
}

#[test]
fn a_server_that_nobody_reaches_stands_as_the_end_says() {
    let mut run = Run::of_web();
    run.fail(0, (Outcome::Unreachable, Detail::Failure("connection refused")), 10, "");
    run.interval(SECOND);
    assert!(
        head(&run).starts_with("so far: FAIL, exit 3: no operation ever got an answer"),
        "{}",
        head(&run)
    );
}

#[test]
fn before_the_first_threshold_is_judged_nothing_can_be_said() {
    let mut run = Run::of_web();
    assert_eq!(head(&run), "so far: nothing yet");
    run.end(0, Outcome::Accepted, [5]);
    run.interval(SECOND);
    assert_eq!(head(&run), "so far: nothing is expected");
    run.state.thresholds = 2;
    assert_eq!(head(&run), "so far: nothing can be said yet");
}

#[test]
fn what_is_tolerated_stands_beside_the_verdict() {
    let mut run = in_trouble();
    run.promises.broken = 0;
    run.promises.unchecked = 0;
    run.promises.kept += 3;
    run.interval(SECOND);
    assert_eq!(head(&run), "so far: FAIL, exit 5: not to be believed for 1 health finding");
    run.health.policy = HealthPolicy { on_fail: OnFail::Warn, ..HealthPolicy::default() };
    run.interval(SECOND);
    assert_eq!(head(&run), "so far: PASS, though 1 health finding tolerated");
}

#[test]
fn in_drain_nothing_is_offered_and_its_limit_is_said() {
    let mut run = busy();
    run.state.take(&RunEvent::Phase { phase: Phase::Drain, at: Nanos::from_secs(40) });
    let shown = trimmed(&run.state, 120, 24);
    assert!(shown.contains(": drain 0s of 30s "), "{shown}");
    assert!(shown.contains("\nWrite (128 workers): nothing is offered in drain\n"), "{shown}");
    assert!(!shown.contains("Current max"), "{shown}");
}

#[test]
fn before_an_interval_can_tell_it_rates_and_the_share_of_cores_are_dashes() {
    let mut run = Run::of_web();
    run.end(0, Outcome::Accepted, [1]);
    run.interval(Nanos::from_millis(17));
    let shown = trimmed(&run.state, 80, 24);
    assert!(shown.contains("| cpu - of 2 cores |") && !shown.contains("/s  "), "{shown}");
    run.interval(SECOND);
    run.end(0, Outcome::Accepted, [1; 40]);
    run.interval(SECOND);
    run.interval(Nanos::from_micros(120));
    let shown = trimmed(&run.state, 80, 24);
    assert!(shown.contains("\nlast 1s             offered") && shown.contains(" 40/s"), "{shown}");
}

#[test]
fn one_of_several_runs_says_which_it_is() {
    let title = |run: &Run, width| trimmed(&run.state, width, 24).lines().next().unwrap().to_owned();
    let mut run = busy();
    run.state.place = Some(RunPlace { number: 2, of: 3, labels: "rate 100/s".to_owned() });
    let whole = "hammer e2-micro, run 2 of 3 (rate 100/s): measurement 40s of 12h00m ";
    assert!(title(&run, 120).starts_with(whole), "{}", title(&run, 120));
    assert!(
        title(&run, 80).starts_with("hammer run 2 of 3: measurement 40s of 12h00m "),
        "{}",
        title(&run, 80)
    );
    run.state.place.as_mut().unwrap().labels = "users 10".to_owned();
    run.state.title.clear();
    let unnamed = "hammer run 2 of 3 (users 10): measurement 40s of 12h00m ";
    assert!(title(&run, 120).starts_with(unnamed), "{}", title(&run, 120));
}

#[test]
fn counts_say_whether_warm_up_is_in_them() {
    let mut run = Run::recorded("http");
    assert!(trimmed(&run.state, 120, 40).contains("\nfates so far ─"));
    std::sync::Arc::make_mut(run.state.run.as_mut().unwrap()).warm_up = SECOND;
    assert!(trimmed(&run.state, 120, 40).contains("\nfates so far, warm-up included ─"));
    run.state.screen.tab = Tab::Protocol;
    let shown = trimmed(&run.state, 120, 40);
    assert!(shown.contains("counts and times since warm-up; accepted/s: last 1s\n"), "{shown}");
}

#[test]
fn the_help_has_the_keys_that_do_something_in_this_plan() {
    let mut run = Run::of_web();
    run.state.screen.tab = Tab::Help;
    let shown = trimmed(&run.state, 80, 40);
    assert!(
        shown.contains("\n> <                         rate of operations up, down by a tenth\n"),
        "{shown}"
    );
    assert!(!shown.contains("+ -"), "nothing reads: {shown}");
    for key in ["Esc", "right, shift-tab left", "1 to 4", "PgUp PgDn, Home End"] {
        assert!(shown.contains(key), "{key}: {shown}");
    }
    run.state.workloads[0].closed_loop = true;
    assert!(!trimmed(&run.state, 80, 40).contains("> <"), "a closed loop has no rate");
}

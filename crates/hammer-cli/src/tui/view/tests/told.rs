//! What pages say of a run at some point of it.

use super::*;

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

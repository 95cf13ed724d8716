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

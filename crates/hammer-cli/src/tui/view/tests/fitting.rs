//! What pages say where the screen is small, and what they fill where it is large.

use super::*;

#[test]
fn the_top_of_the_log_fills_the_page() {
    let mut run = Run::of_log();
    for second in 0..30 {
        run.state.take(&RunEvent::Note { at: Nanos::from_secs(second), text: format!("note {second}") });
    }
    run.state.screen.tab = Tab::Log;
    run.state.screen.below = 1_000;
    let shown = trimmed(&run.state, 80, 24);
    assert!(shown.contains("\nlog, up to 18 of 31 ─"), "{shown}");
    assert!(shown.contains("measurement starts") && shown.contains("note 16"), "{shown}");
    let size = Size { width: 80, height: 24 };
    assert_eq!(furthest(&run.state, &Palette::MONOCHROME, size), 13, "no key goes further");
}

//! What pages say where the screen is small, and what they fill where it is large.

use super::*;

fn line_of(shown: &str, start: &str) -> String {
    shown.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned()
}

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

#[test]
fn a_figure_that_does_not_fit_is_left_out_whole() {
    let mut run = busy();
    let end =
        |shown: &str, start: &str| line_of(shown, start).split_whitespace().next_back().unwrap().to_owned();
    let shown = trimmed(&run.state, 60, 24);
    assert_eq!((end(&shown, "last 1s"), end(&shown, "series ")), ("accepted".to_owned(), "max".to_owned()));
    assert_eq!(end(&shown, "add-chain"), "118ms");
    run.state.screen.tab = Tab::Series;
    let shown = trimmed(&run.state, 60, 24);
    assert_eq!((end(&shown, "last 1s"), end(&shown, ">submit")), ("p95".to_owned(), "114ms".to_owned()));
}

#[test]
fn as_many_series_as_there_is_room_for_stand_on_the_overview() {
    for (name, size) in [("sigstore", (200, 60)), ("http", (120, 40)), ("ct", (120, 40))] {
        let run = Run::recorded(name);
        let shown = trimmed(&run.state, size.0, size.1);
        for info in &run.state.run.as_ref().unwrap().series {
            let path: String = info.path().chars().take(26).collect();
            assert!(shown.lines().any(|line| line.starts_with(&path)), "{path}: {shown}");
        }
    }
    let shown = trimmed(&Run::recorded("http").state, 80, 24);
    assert!(
        shown.contains("\nsession ") && shown.contains("\nend ") && !shown.contains("see Series"),
        "{shown}"
    );
    let shown = trimmed(&Run::recorded("http").state, 80, 20);
    assert!(shown.contains("\nsession ") && shown.contains("\nand 3 more: see Series\n"), "{shown}");
}

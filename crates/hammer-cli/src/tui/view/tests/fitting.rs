//! What pages say where the screen is small, and what they fill where it is large.

use super::*;

fn line_of(shown: &str, start: &str) -> String {
    shown.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned()
}

#[test]
fn on_a_narrow_screen_a_pause_is_shown_and_the_end_has_its_key() {
    let mut run = in_trouble();
    run.state.place = Some(crate::tui::spec::RunPlace { number: 2, of: 3, labels: String::new() });
    let shown = trimmed(&run.state, 60, 24);
    let first = shown.lines().next().unwrap();
    assert_eq!(first, "run 2 of 3: measurement 41s of 12h00m PAUSED      [Overview]");
    assert_eq!(shown.lines().last(), Some("+ - reads  space resume  tab pages  ? help  q quit"));
    let narrower = trimmed(&run.state, 40, 24);
    assert_eq!(narrower.lines().last(), Some("space resume  tab pages  ? help  q quit"));
}

#[test]
fn what_is_cut_off_at_the_edge_says_so() {
    let shown = trimmed(&failing().state, 60, 40);
    for start in ["   1,234 refused, HTTP 400", "promises "] {
        let line = line_of(&shown, start);
        assert!(line.ends_with('…') && line.chars().count() == 60, "{line}: {shown}");
    }
    let ct = trimmed(&Run::recorded("ct").state, 80, 24);
    assert!(line_of(&ct, "Observed-time").ends_with('…'), "{ct}");
    assert!(line_of(&ct, "hammer ct").starts_with("hammer ct-quick…: "), "{ct}");
}

#[test]
fn a_list_of_which_one_row_fits_shows_that_and_says_of_how_many() {
    let run = Run::recorded("ct");
    let lines = |height| trimmed(&run.state, 60, height);
    for height in 13..24 {
        let shown = lines(height);
        let mut lines = shown.lines();
        while let Some(line) = lines.next() {
            let is_head = line.starts_with("last ") || line.starts_with("slowest ");
            let next = lines.clone().next().unwrap_or_default();
            assert!(!(is_head && next.starts_with("and ")), "{shown}");
            let is_first = !line.starts_with("threshold") && next.starts_with("threshold and");
            assert!(!is_first, "{shown}");
        }
    }
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

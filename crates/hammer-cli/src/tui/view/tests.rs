use hammer_measure::health::{Finding, Health};
use hammer_measure::{CommandId, Detail, Ledger, Nanos, Outcome, RunEvent};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

mod fitting;
mod picture;
mod told;

use super::*;
use crate::tui::fixture::{PANEL_OF_LOG, PANEL_OF_NOTARY, Run, SECOND};
use crate::tui::spec::{DashboardSpec, PanelSpec};
use crate::tui::state::RunEnding;

fn drawn(state: &DashboardState, width: u16, height: u16, palette: Palette) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state, &palette)).unwrap();
    terminal.backend().clone()
}

fn screen(state: &DashboardState, width: u16, height: u16) -> String {
    drawn(state, width, height, Palette::MONOCHROME).to_string()
}

/// The screen without what fills its lines.
fn trimmed(state: &DashboardState, width: u16, height: u16) -> String {
    let screen = screen(state, width, height);
    let lines = screen.lines().map(|line| line.trim_matches('"').trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

/// 40 s of a log that answers in 4 to 130 ms, sheds for a while, and grows.
fn busy() -> Run {
    let mut run = Run::of_log();
    run.state.take(&RunEvent::Note { at: Nanos::ZERO, text: "the lab serves on 127.0.0.1:40000".to_owned() });
    for second in 0..40_u64 {
        let slow = if (10..20).contains(&second) { 8 } else { 1 };
        run.end(0, Outcome::Accepted, (2..60).map(|millis| millis * slow));
        run.end(1, Outcome::Accepted, (4..24).map(|millis| millis * slow));
        run.end(2, Outcome::Accepted, [1, 1, 2, 3]);
        if slow > 1 {
            run.shed(0, 30);
            run.end(0, Outcome::Pushback, [3, 4, 5]);
        }
        if second == 39 {
            run.wait(0, 45);
        }
        run.promises.made += 78;
        run.promises.kept = run.promises.made - 78;
        run.promises.pending = 78;
        run.observe(PANEL_OF_LOG.size.unwrap().observation, 679_958.0 + 62.0 * second as f64);
        run.interval(SECOND);
    }
    run
}

/// The same with everything that can be wrong.
fn in_trouble() -> Run {
    let mut run = busy();
    run.promises = Ledger { broken: 2, unchecked: 1, made: run.promises.made + 3, ..run.promises };
    run.observe(PANEL_OF_LOG.overdue.unwrap(), 17.0);
    run.health = Health { findings: vec![Finding::Starved { count: 12 }], ..Health::default() };
    run.interval(SECOND);
    run.state.dropped = 31;
    run.state.paused = true;
    run
}

#[test]
fn the_overview_on_the_smallest_screen() {
    insta::assert_snapshot!(screen(&busy().state, 80, 24));
}

#[test]
fn the_overview_on_a_large_screen() {
    insta::assert_snapshot!(screen(&busy().state, 120, 40));
}

#[test]
fn trouble_is_in_words() {
    insta::assert_snapshot!(screen(&in_trouble().state, 80, 24));
}

#[test]
fn the_overview_of_a_plan_without_a_log() {
    let mut run = Run::of_web();
    run.end(0, Outcome::Accepted, 1..200);
    run.end(0, Outcome::TimedOut, [900, 950]);
    run.interval(SECOND);
    insta::assert_snapshot!(screen(&run.state, 80, 24));
}

/// A log of which a part refuses what it is sent, and another one is not there.
fn failing() -> Run {
    let mut run = busy();
    let refused = (Outcome::Unreachable, Detail::Failure("connection refused"));
    let told = "failed to connect to 127.0.0.1:9: Connection refused (os error 111)";
    run.fail(2, refused, 40, told);
    run.fail(0, (Outcome::Refused, Detail::Status(400)), 1_234, "{\"error\":\"the chain leads to no root\"}");
    run.interval(SECOND);
    // Later ones, of which the first is known.
    run.fail(2, refused, 2, "failed to connect to 127.0.0.1:9: Connection refused (os error 111), again");
    run.interval(SECOND);
    run
}

#[test]
fn failures_are_told_by_their_causes_with_what_was_first_said() {
    insta::assert_snapshot!(screen(&failing().state, 120, 40));
}

#[test]
fn the_smallest_screen_has_the_most_frequent_cause_alone() {
    let screen = screen(&failing().state, 80, 24);
    assert!(screen.contains("1,234 refused, HTTP 400 (submit/add-chain): {"), "{screen}");
    assert!(!screen.contains("connection refused") && screen.contains("fates so far"), "{screen}");
}

#[test]
fn the_series() {
    let mut run = busy();
    run.state.screen.tab = Tab::Series;
    run.state.screen.series = 1;
    insta::assert_snapshot!(screen(&run.state, 80, 24));
}

#[test]
fn the_log() {
    let mut run = busy();
    run.state.screen.tab = Tab::Log;
    let command = hammer_measure::Command::Rate { workload: Some("submit".to_owned()), factor: 1.1 };
    run.state.take(&RunEvent::Command {
        id: CommandId(1),
        at: Nanos::from_millis(40_200),
        command,
        refused: Vec::new(),
    });
    let breach = hammer_measure::promise::Breach {
        workload: "submit".to_owned(),
        seq: Some(4_711),
        kind: "bad-sct-signature".to_owned(),
        index: None,
        detail: "it does not verify \u{1b}[2J".to_owned(),
    };
    run.state.take(&RunEvent::Breach { at: Nanos::from_millis(40_300), breach });
    insta::assert_snapshot!(screen(&run.state, 80, 24));
}

#[test]
fn what_is_waited_for_in_drain_is_said() {
    let mut run = busy();
    let (at, until) = (Nanos::from_secs(41), Nanos::from_secs(71));
    run.state.take(&RunEvent::Judging { at, awaited: 1_240, until });
    let screen = screen(&run.state, 80, 24);
    assert!(screen.contains("drain, 30.0s left: 1,240 promises pending"), "{screen}");
}

#[test]
fn the_help() {
    let mut run = busy();
    run.state.screen.tab = Tab::Help;
    insta::assert_snapshot!(screen(&run.state, 80, 24));
}

/// Three seconds of a notary that seals pages.
fn notary(panel: PanelSpec) -> Run {
    let mut run = Run::of_notary(panel);
    for second in 0..3 {
        run.end(0, Outcome::Accepted, 2..52);
        run.promises.made += 50;
        run.promises.kept += 50;
        run.observe("pages", 400.0 + 50.0 * f64::from(second));
        for (name, seconds) in [("bound_min", 0.25), ("bound_avg", 0.75), ("bound_max", 1.5)] {
            run.observe(name, seconds);
        }
        run.interval(SECOND);
    }
    run
}

#[test]
fn a_panel_of_other_words() {
    insta::assert_snapshot!(screen(&notary(PANEL_OF_NOTARY).state, 80, 24));
}

#[test]
fn the_help_in_other_words() {
    let mut run = notary(PANEL_OF_NOTARY);
    run.state.screen.tab = Tab::Help;
    insta::assert_snapshot!(screen(&run.state, 80, 24));
}

#[test]
fn a_panel_that_names_neither_size_nor_times_is_shorter() {
    let lines = |panel| {
        let text = screen(&notary(panel).state, 80, 40);
        let is_of_panel = |line: &&str| line.starts_with("\"│");
        text.lines().filter(is_of_panel).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = lines(PANEL_OF_NOTARY);
    let starts = |line: &str, label: &str| line.trim_start_matches(['"', '│']).starts_with(label);
    assert!(
        whole.len() == 5 && starts(&whole[2], "Pages: 500") && starts(&whole[4], "Bound: 250ms"),
        "{whole:?}"
    );
    let short = lines(PanelSpec { size: None, times: None, ..PANEL_OF_NOTARY });
    assert_eq!(short, [0, 1, 3].map(|line| whole[line].clone()));
}

#[test]
fn the_help_of_a_plan_without_a_panel_explains_none() {
    let mut run = Run::of_web();
    run.state.screen.tab = Tab::Help;
    let text = screen(&run.state, 80, 24);
    assert!(
        text.contains("rate of operations up") && !text.contains("Oversupply") && !text.contains("Elsewhere"),
        "{text}"
    );
}

#[test]
fn without_colour_no_cell_has_any() {
    let has_colour = |palette| {
        let backend = drawn(&in_trouble().state, 80, 24, palette);
        let mut cells = backend.buffer().content().iter();
        cells.any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    assert!(!has_colour(Palette::MONOCHROME));
    assert!(has_colour(Palette::COLOUR));
}

#[test]
fn dropped_events_are_red() {
    let backend = drawn(&in_trouble().state, 80, 24, Palette::COLOUR);
    let health = backend.buffer().content().iter().skip(80 * 22).take(80);
    let red: String =
        health.filter(|cell| cell.fg == Color::Red).map(ratatui::buffer::Cell::symbol).collect();
    assert!(red.starts_with("31 EVENTS DROPPEDUNHEALTHY: starved"), "{red}");
}

const QUICKSTARTS: [&str; 5] = ["ct", "http", "sigstore", "attest", "pki"];
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

#[test]
fn each_quickstart_reads_on_each_screen() {
    for name in QUICKSTARTS {
        let mut run = Run::recorded(name);
        for tab in [Tab::Overview, Tab::Protocol] {
            run.state.screen.tab = tab;
            for (width, height) in SIZES {
                let page = run.state.name_of(tab).replace(' ', "_").to_lowercase();
                let shown = trimmed(&run.state, width, height);
                insta::assert_snapshot!(format!("{name}_{page}_{width}x{height}"), shown);
            }
        }
    }
}

#[test]
fn all_series_stand_on_the_overview_where_there_is_room() {
    let run = Run::recorded("pki");
    let series = &run.state.run.as_ref().unwrap().series;
    let shown = trimmed(&run.state, 200, 60);
    for info in series.iter().filter(|info| info.operation) {
        assert!(shown.lines().any(|line| line.starts_with(&info.path())), "{}: {shown}", info.path());
    }
}

#[test]
fn the_head_says_whether_the_run_would_pass_now_and_what_is_loaded() {
    let head = |run: &Run| trimmed(&run.state, 80, 24).lines().nth(1).unwrap().to_owned();
    let mut run = busy();
    assert_eq!(head(&run), format!("so far: PASS{:>68}", "http://127.0.0.1:40000"));
    let judged = |holds| hammer_measure::threshold::Verdict {
        series: "submit".to_owned(),
        threshold: "p99(response) < 100ms".to_owned(),
        found: "118ms".to_owned(),
        holds,
        aborted: false,
        numbers: None,
    };
    run.thresholds = vec![judged(true), judged(true)];
    run.interval(SECOND);
    assert!(head(&run).starts_with("so far: PASS, 2 thresholds hold  "), "{}", head(&run));
    run.thresholds = vec![judged(true), judged(false)];
    run.interval(SECOND);
    assert_eq!(
        head(&run),
        "so far: FAIL, exit 1: 1 of 2 thresholds failed, first p99(response) < 100ms on …"
    );
    let shown = trimmed(&run.state, 80, 30);
    assert!(shown.contains("\nthreshold FAILS: p99(response) < 100ms on submit, found 118ms\n"), "{shown}");
    assert!(head(&in_trouble()).starts_with("so far: FAIL, exit 4: 2 promises broken; "));
}

#[test]
fn a_series_that_ends_nothing_is_the_slowest() {
    let mut run = Run::of_log();
    run.end(0, Outcome::Accepted, [60_000]);
    run.wait(1, 12);
    run.interval(SECOND);
    let shown = trimmed(&run.state, 80, 24);
    assert!(shown.contains("\nadd-pre-chain  nothing ended; 12 under way or waiting\n"), "{shown}");
}

#[test]
fn a_page_that_does_not_fit_says_that_more_follows() {
    let mut run = busy();
    run.state.screen.tab = Tab::Series;
    let last_of_list = |run: &Run| {
        let shown = trimmed(&run.state, 80, 13);
        shown.lines().find(|line| line.starts_with("series ")).unwrap_or_default().to_owned()
    };
    assert_eq!(last_of_list(&run), "series 1 to 1 of 3, more below: PgDn");
    run.state.screen.series = 2;
    assert_eq!(last_of_list(&run), "series 3 to 3 of 3, more above: PgUp");
    run.state.screen.tab = Tab::Help;
    let shown = trimmed(&run.state, 80, 15);
    assert!(shown.contains(", more below: PgDn"), "{shown}");
    run.state.screen.above = 1_000;
    let shown = trimmed(&run.state, 80, 15);
    assert!(shown.contains("\nHeat map") && shown.contains(", more above: PgUp"), "{shown}");
}

#[test]
fn the_footer_names_the_keys_that_do_something_in_this_plan() {
    let foot = |state: &DashboardState| trimmed(state, 80, 24).lines().last().unwrap().to_owned();
    let mut run = Run::of_web();
    assert_eq!(foot(&run.state), "> < operations  w W in flight  space pause  tab pages  ? help  q quit");
    run.state.workloads[0].closed_loop = true;
    assert_eq!(foot(&run.state), "w W in flight  space pause  tab pages  ? help  q quit");
    run.state.screen.tab = Tab::Series;
    assert_eq!(foot(&run.state), "m last interval or measurement  tab pages  ? help  q quit");
    run.state.ending = RunEnding::Asked;
    assert_eq!(foot(&run.state), "q again ends the run and writes the report; Esc goes on");
}

#[test]
fn every_size_of_every_page_is_drawn() {
    let mut run = in_trouble();
    let before = DashboardState::new(DashboardSpec::default());
    for tab in Tab::ALL {
        run.state.screen.tab = tab;
        for (width, height) in [(1, 1), (10, 3), (40, 12), (79, 23), (300, 100)] {
            drawn(&run.state, width, height, Palette::COLOUR);
            drawn(&before, width, height, Palette::COLOUR);
        }
    }
}

#[test]
fn a_series_of_which_nothing_was_accepted_is_said_so_while_others_are_served() {
    let mut run = Run::of_log();
    run.end(0, Outcome::Accepted, [5, 6]);
    run.end(1, Outcome::ServerError, [5]);
    run.interval(SECOND);
    let shown = trimmed(&run.state, 80, 24);
    assert!(shown.contains("so far: FAIL, exit 1: nothing of submit/add-pre-chain was accepted"), "{shown}");
}

use hammer_measure::health::{Finding, Health};
use hammer_measure::{Ledger, Nanos, Outcome, RunEvent};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::*;
use crate::tui::fixture::{Run, SECOND};

fn drawn(state: &State, width: u16, height: u16, palette: Palette) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state, &palette)).unwrap();
    terminal.backend().clone()
}

fn screen(state: &State, width: u16, height: u16) -> String {
    drawn(state, width, height, Palette::MONOCHROME).to_string()
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
        run.observe("tree_size", 679_958.0 + 62.0 * second as f64);
        run.interval(SECOND);
    }
    run
}

/// The same with everything that can be wrong.
fn in_trouble() -> Run {
    let mut run = busy();
    run.promises = Ledger { broken: 2, unchecked: 1, made: run.promises.made + 3, ..run.promises };
    run.observe("overdue", 17.0);
    run.health = Health { findings: vec![Finding::Starved { count: 12 }] };
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
    run.state.take(&RunEvent::Command { at: Nanos::from_millis(40_200), command, refused: Vec::new() });
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
fn the_help() {
    let mut run = busy();
    run.state.screen.tab = Tab::Help;
    insta::assert_snapshot!(screen(&run.state, 80, 24));
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

#[test]
fn every_size_of_every_page_is_drawn() {
    let mut run = in_trouble();
    let before = State::new(String::new(), Vec::new());
    for tab in Tab::ALL {
        run.state.screen.tab = tab;
        for (width, height) in [(1, 1), (10, 3), (40, 12), (79, 23), (300, 100)] {
            drawn(&run.state, width, height, Palette::COLOUR);
            drawn(&before, width, height, Palette::COLOUR);
        }
    }
}

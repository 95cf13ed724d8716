//! What became of every arrival.

use hammer_measure::snapshot::SeriesFigures;
use hammer_measure::{Fate, SeriesInfo};
use hammer_report::text::number::grouped;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::palette::Palette;
use crate::tui::state::DashboardState;

/// Columns of it, with the gap to what stands beside it.
pub(super) const WIDTH: u16 = 44;
/// Lines of it, with its title.
pub(super) const HEIGHT: u16 = 6;

/// Draws them, since the start of the run.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let title = if state.has_warm_up() { "fates so far, warm-up included " } else { "fates so far " };
    let block = Block::new().borders(Borders::TOP).title(title);
    frame.render_widget(Paragraph::new(fates(state, *palette)).block(block), area);
}

fn fates(state: &DashboardState, palette: Palette) -> Vec<Line<'static>> {
    let half = Fate::COUNT / 2;
    let pair = |(left, right): (&Fate, &Fate)| {
        Line::from(vec![fate(state, *left, palette), Span::raw("  "), fate(state, *right, palette)])
    };
    Fate::ALL[..half].iter().zip(&Fate::ALL[half..]).map(pair).collect()
}

fn fate(state: &DashboardState, fate: Fate, palette: Palette) -> Span<'static> {
    let last = state.last.iter();
    let places = state.operations(None);
    let count: u64 = last
        .flat_map(|last| places.iter().filter_map(|place| last.series.get(*place)))
        .map(|series| series.warm_up.fate(fate) + series.measurement.fate(fate))
        .sum();
    let style = palette.bad_if(fate != Fate::Accepted && count > 0);
    Span::styled(format!("{:<12}{:>8}", fate.name().replace('_', " "), short(count)), style)
}

/// What ended in any other way than it should have.
pub(super) fn failed(info: &SeriesInfo, figures: &SeriesFigures) -> u64 {
    let is_meant = |fate: &Fate| *fate == Fate::Accepted || (info.refusals_meant && *fate == Fate::Refused);
    Fate::ALL.iter().filter(|fate| !is_meant(fate)).map(|fate| figures.fate(*fate)).sum()
}

/// In eight columns: `999,999`, then `1.23M`.
pub(super) fn short(count: u64) -> String {
    match count {
        0..1_000_000 => grouped(count),
        1_000_000..1_000_000_000 => format!("{:.2}M", count as f64 / 1e6),
        _ => format!("{:.2}G", count as f64 / 1e9),
    }
}

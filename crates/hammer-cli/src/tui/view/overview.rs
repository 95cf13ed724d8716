//! The first page: TesseraCT's panel, then what it lacks.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};

use super::palette::Palette;
use super::{fates, heat, loads, log, panel, responses};
use crate::tui::state::State;
use crate::tui::state::panel::Panel;
use crate::tui::state::workload::Kind;

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, palette: &Palette) {
    let figures = Panel::of(state);
    let panel_height = if figures.is_some() { panel::HEIGHT } else { 0 };
    let rows = rows(state.workloads.len(), area.height.saturating_sub(panel_height));
    let [top, rates, times, lower, said] = Layout::vertical([
        Constraint::Length(panel_height),
        Constraint::Length(rows + 1),
        Constraint::Length(rows + 1),
        Constraint::Max(heat::TALLEST),
        Constraint::Fill(1),
    ])
    .areas(area);
    if let Some(figures) = figures {
        panel::draw(frame, top, &figures);
    }
    loads::draw(frame, rates, state, palette);
    responses::draw(frame, times, state, palette);
    let [left, right] =
        Layout::horizontal([Constraint::Length(fates::WIDTH), Constraint::Min(0)]).areas(lower);
    fates::draw(frame, Rect { width: left.width.saturating_sub(GAP), ..left }, state, palette);
    let kind = state.has(Kind::Write).then_some(Kind::Write);
    heat::draw(frame, right, state, palette, &heat::Choice::of(state, kind));
    log::tail(frame, said, state, palette);
}

/// Lines for workloads in each of two tables, so that the lower part keeps its height.
fn rows(workloads: usize, height: u16) -> u16 {
    let most = height.saturating_sub(2 + fates::HEIGHT) / 2;
    u16::try_from(workloads).unwrap_or(u16::MAX).min(most).max(1)
}

const GAP: u16 = 2;

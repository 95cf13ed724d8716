//! The first page: the panel of what is loaded, where it has one, then what holds for every load.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};

use super::palette::Palette;
use super::{causes, fates, heat, loads, log, panel, responses};
use crate::tui::spec::PanelSide;
use crate::tui::state::DashboardState;
use crate::tui::state::causes::MetCause;
use crate::tui::state::panel::PanelFigures;

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let figures = PanelFigures::of(state);
    let panel_height = figures.as_ref().map_or(0, |figures| panel::height(&figures.spec));
    let rows = rows(state.workloads.len(), area.height.saturating_sub(panel_height));
    let met = MetCause::all(state);
    let upper = panel_height + 2 * (rows + 1);
    let room = area.height.saturating_sub(upper + fates::HEIGHT);
    let [top, rates, times, lower, causes, said] = Layout::vertical([
        Constraint::Length(panel_height),
        Constraint::Length(rows + 1),
        Constraint::Length(rows + 1),
        Constraint::Max(heat::TALLEST),
        Constraint::Length(causes::height(&met, room)),
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
    let side = state.has(PanelSide::Writes).then_some(PanelSide::Writes);
    heat::draw(frame, right, state, palette, &heat::Choice::of(state, side));
    causes::draw(frame, causes, (state, &met), palette);
    log::tail(frame, said, state, palette);
}

/// Lines for workloads in each of two tables, so that the lower part keeps its height.
fn rows(workloads: usize, height: u16) -> u16 {
    let most = height.saturating_sub(2 + fates::HEIGHT) / 2;
    u16::try_from(workloads).unwrap_or(u16::MAX).min(most).max(1)
}

const GAP: u16 = 2;

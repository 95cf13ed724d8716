//! The first page: the panel of what is loaded, where it has one, then what holds for every load.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};

use super::palette::Palette;
use super::rates as accepted_rates;
use super::{causes, fates, heat, loads, log, panel, responses, thresholds};
use crate::tui::spec::PanelSide;
use crate::tui::state::DashboardState;
use crate::tui::state::causes::MetCause;
use crate::tui::state::panel::PanelFigures;

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let figures = PanelFigures::of(state);
    let framed = area.height >= TALL;
    let panel_height = figures.as_ref().map_or(0, |figures| panel::height(&figures.spec, framed));
    let met = MetCause::all(state);
    let heights = PartHeights::of(state, &met, area.height.saturating_sub(panel_height));
    let [top, rates, times, judged, lower, met_causes, accepted, said] = Layout::vertical([
        Constraint::Length(panel_height),
        Constraint::Length(heights.loads),
        Constraint::Length(heights.responses),
        Constraint::Length(heights.thresholds),
        Constraint::Max(heights.heat),
        Constraint::Length(heights.causes),
        Constraint::Length(heights.accepted),
        Constraint::Fill(1),
    ])
    .areas(area);
    if let Some(figures) = figures {
        panel::draw(frame, top, &figures, framed);
    }
    thresholds::draw(frame, judged, state, palette);
    if heights.accepted > 0 {
        accepted_rates::draw(frame, accepted, state, palette);
    }
    loads::draw(frame, rates, state, palette);
    responses::draw(frame, times, state, palette);
    let [left, right] =
        Layout::horizontal([Constraint::Length(fates::WIDTH), Constraint::Min(0)]).areas(lower);
    fates::draw(frame, Rect { width: left.width.saturating_sub(GAP), ..left }, state, palette);
    let side = state.has(PanelSide::Writes).then_some(PanelSide::Writes);
    heat::draw(frame, right, state, palette, &heat::Choice::of(state, side));
    causes::draw(frame, met_causes, (state, &met), palette);
    log::tail(frame, said, state, palette);
}

/// Lines of the parts below the panel.
struct PartHeights {
    loads: u16,
    responses: u16,
    thresholds: u16,
    heat: u16,
    causes: u16,
    accepted: u16,
}

impl PartHeights {
    /// Of so many lines together. First every part has its least, the lower one what the fates take; then what is left over goes to the
    /// thresholds, to the causes of failures, to as many series behind the slowest ones as fit, and to the map and the rates over time.
    fn of(state: &DashboardState, met: &[MetCause], height: u16) -> Self {
        let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let workloads = count(state.workloads.len());
        let rows = workloads.min(height.saturating_sub(2 + fates::HEIGHT) / 2).max(1);
        let mut left = height.saturating_sub(2 * (rows + 1) + fates::HEIGHT);
        let thresholds = thresholds::height(state).min(left);
        left -= thresholds;
        let causes = causes::height(met, left);
        left -= causes;
        // A short page has no log.
        let for_log = if height >= TALL { LOG } else { 0 };
        let others = count(responses::count(state)).saturating_sub(rows).min(left.saturating_sub(for_log));
        left -= others;
        let mut take_all = |wanted: u16| {
            let taken = if wanted <= left.saturating_sub(LOG) { wanted } else { 0 };
            left -= taken;
            taken
        };
        let accepted = if height >= TALL { take_all(accepted_rates::height(state)) } else { 0 };
        let tallest = if height >= VERY_TALL { heat::TALLEST + height / 6 } else { heat::TALLEST };
        // The log has its lines before the map, where there are any.
        let heat = tallest.min(fates::HEIGHT + if left > LOG { left - LOG } else { left });
        Self { loads: rows + 1, responses: rows + 1 + others, thresholds, heat, causes, accepted }
    }
}

const GAP: u16 = 2;
/// Lines of a page from which on the panel is framed, and rates are drawn over time.
const TALL: u16 = 28;
/// Lines from which on the map may be larger.
const VERY_TALL: u16 = 40;
/// Lines that are left to the log.
const LOG: u16 = 4;

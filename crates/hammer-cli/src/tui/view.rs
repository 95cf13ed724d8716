//! Drawing the state onto a frame: pure, and readable without colour.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Size};

mod causes;
mod clock;
mod cut;
mod fates;
mod footer;
mod head;
mod headline;
mod heat;
mod help;
mod listed;
mod loads;
mod log;
mod overview;
mod pager;
pub(super) mod palette;
mod panel;
mod protocol;
mod rates;
mod responses;
mod series;
mod standing;
mod table_width;
#[cfg(test)]
mod tests;
mod thresholds;

use super::state::{DashboardState, Tab};
use cut::cut_line;
use palette::Palette;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, state: &DashboardState, palette: &Palette) {
    let [head, standing, page, promises, health, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    head::draw(frame, head, state, palette);
    headline::draw(frame, standing, state, palette);
    match state.screen.tab {
        Tab::Overview => overview::draw(frame, page, state, palette),
        Tab::Series => series::draw(frame, page, state, palette),
        Tab::Log => log::draw(frame, page, state, palette),
        Tab::Protocol => protocol::draw(frame, page, state, palette),
        Tab::Help => help::draw(frame, page, state, palette),
    }
    let columns = usize::from(keys.width);
    frame.render_widget(cut_line(standing::promises(state, palette), columns), promises);
    frame.render_widget(cut_line(standing::health(state, palette, columns), columns), health);
    frame.render_widget(footer::line(state, palette, columns), keys);
}

/// How far the page that is shown can be scrolled on a terminal of that size: lines above it, of the log entries below it.
pub(super) fn furthest(state: &DashboardState, palette: &Palette, terminal: Size) -> usize {
    let height = terminal.height.saturating_sub(AROUND);
    let page = Size { height, ..terminal };
    match state.screen.tab {
        Tab::Protocol => pager::furthest(protocol::lines(state, palette).len(), height),
        Tab::Help => pager::furthest(help::lines(state, palette, page.width).len(), height),
        Tab::Log => log::furthest(state, page, palette),
        Tab::Overview | Tab::Series => 0,
    }
}

/// Lines around every page.
const AROUND: u16 = 5;

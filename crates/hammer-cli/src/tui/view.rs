//! Drawing the state onto a frame: pure, and readable without colour.

use hammer_measure::Phase;
use hammer_report::progress::filled;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect, Size};
use ratatui::text::{Line, Span};

mod causes;
mod clock;
mod cut;
mod fates;
mod footer;
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

use super::state::{DashboardState, Tab, words};
use clock::clock;
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
    let tabs = tabs(state, palette);
    let room = usize::from(head.width).saturating_sub(tabs.width());
    frame.render_widget(tabs.right_aligned(), head);
    let left = Rect { width: u16::try_from(room).unwrap_or(head.width), ..head };
    frame.render_widget(title(state, palette, room), left);
    headline::draw(frame, standing, state, palette);
    match state.screen.tab {
        Tab::Overview => overview::draw(frame, page, state, palette),
        Tab::Series => series::draw(frame, page, state, palette),
        Tab::Log => log::draw(frame, page, state, palette),
        Tab::Protocol => protocol::draw(frame, page, state, palette),
        Tab::Help => help::draw(frame, page, state, palette),
    }
    frame.render_widget(standing::promises(state, palette), promises);
    frame.render_widget(standing::health(state, palette, usize::from(health.width)), health);
    frame.render_widget(footer::line(state, palette), keys);
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

/// How far the run is, and as much of the plan's name as there is room for.
fn title(state: &DashboardState, palette: &Palette, room: usize) -> Line<'static> {
    let progress = progress(state);
    let paused = if state.paused { " PAUSED" } else { "" };
    let name_room = room.saturating_sub(HAMMER.len() + progress.len() + paused.len() + NAME_END);
    let mut name: String = state.title.chars().take(name_room).collect();
    if !name.is_empty() {
        name.push_str(": ");
    }
    Line::from(vec![
        Span::styled(HAMMER, palette.strong()),
        Span::raw(name),
        Span::raw(progress),
        Span::styled(paused, palette.warning()),
    ])
}

fn progress(state: &DashboardState) -> String {
    let Some(phase) = state.phase() else { return "connecting".to_owned() };
    if let Some(judging) = &state.judging {
        return judging.clone();
    }
    if let Some(filled) =
        state.run.as_ref().zip(state.last.as_ref()).and_then(|(run, last)| filled(last, run))
    {
        return filled;
    }
    let start = state.phase.map_or(state.now(), |(_, start)| start);
    let gone = state.now().since(start).as_secs_f64();
    let planned = state.run.as_ref().and_then(|run| match phase {
        Phase::WarmUp => Some(run.warm_up),
        Phase::Measurement => run.measurement,
        Phase::Drain => None,
    });
    let of = planned.map_or(String::new(), |planned| format!(" of {}", clock(planned.as_secs_f64())));
    format!("{} {}{of}", words(phase), clock(gone))
}

fn tabs(state: &DashboardState, palette: &Palette) -> Line<'static> {
    let mut spans = Vec::new();
    for tab in state.tabs() {
        let name = state.name_of(tab);
        // The brackets say it where there is no colour.
        if tab == state.screen.tab {
            spans.push(Span::styled(format!("[{name}]"), palette.strong()));
        } else {
            spans.push(Span::styled(format!(" {name} "), palette.faint()));
        }
    }
    Line::from(spans)
}

const HAMMER: &str = "hammer ";
/// Columns behind the plan's name, and before the pages.
const NAME_END: usize = 3;
/// Lines around every page.
const AROUND: u16 = 5;

//! Drawing the state onto a frame: pure, and readable without colour.

use hammer_measure::Phase;
use hammer_report::progress::filled;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

mod causes;
mod clock;
mod fates;
mod heat;
mod help;
mod loads;
mod log;
mod overview;
pub(super) mod palette;
mod panel;
mod responses;
mod series;
mod standing;
#[cfg(test)]
mod tests;

use super::spec::PanelSide;
use super::state::{DashboardState, Tab, words};
use clock::clock;
use palette::Palette;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, state: &DashboardState, palette: &Palette) {
    let [head, page, promises, health, keys] = Layout::vertical([
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
    match state.screen.tab {
        Tab::Overview => overview::draw(frame, page, state, palette),
        Tab::Series => series::draw(frame, page, state, palette),
        Tab::Log => log::draw(frame, page, state, palette),
        Tab::Help => help::draw(frame, page, state, palette),
    }
    frame.render_widget(standing::promises(state, palette), promises);
    frame.render_widget(standing::health(state, palette, usize::from(health.width)), health);
    frame.render_widget(footer(state, palette), keys);
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
    for tab in Tab::ALL {
        // The brackets say it where there is no colour.
        if tab == state.screen.tab {
            spans.push(Span::styled(format!("[{}]", tab.name()), palette.strong()));
        } else {
            spans.push(Span::styled(format!(" {} ", tab.name()), palette.faint()));
        }
    }
    Line::from(spans)
}

fn footer(state: &DashboardState, palette: &Palette) -> Line<'static> {
    let quitting = match state.quits {
        0 => None,
        1 => Some("draining, then the report; q again ends the drain"),
        _ => Some("then the report; q again leaves at once, without it"),
    };
    if let Some(text) = quitting {
        return Line::styled(text, palette.warning());
    }
    let text = match state.screen.tab {
        Tab::Overview | Tab::Help => {
            let [reads, writes] = [PanelSide::Reads, PanelSide::Writes].map(|side| state.plural(side));
            format!("+ - {reads}  > < {writes}  w W in flight  space pause  tab pages  ? help  q quit")
        }
        Tab::Series => "up down mark a series  m last interval or measurement  tab pages  q quit".to_owned(),
        Tab::Log => "up down pgup pgdn scroll  tab pages  ? help  q quit".to_owned(),
    };
    Line::styled(text, palette.faint())
}

const HAMMER: &str = "hammer ";
/// Columns behind the plan's name, and before the pages.
const NAME_END: usize = 3;

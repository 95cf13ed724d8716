//! The first line of every page: how far the run is, and which pages there are.

use hammer_measure::Phase;
use hammer_report::progress::filled;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::clock::clock;
use super::cut::{cut, cut_line};
use super::palette::Palette;
use crate::tui::state::{DashboardState, words};

/// Draws it. How far the run is comes first; where the pages do not fit beside it, that which is shown alone is named.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let width = usize::from(area.width);
    let least =
        HAMMER.len() + run(state).chars().count() + progress(state).chars().count() + paused(state).len();
    let all = tabs(state, palette);
    let tabs = if least + GAP + all.width() <= width { all } else { shown_tab(state, palette) };
    let room = width.saturating_sub(tabs.width() + GAP);
    frame.render_widget(tabs.right_aligned(), area);
    let left = Rect { width: u16::try_from(room).unwrap_or(area.width), ..area };
    frame.render_widget(title(state, palette, room), left);
}

/// How far the run is, which of several it is, and as much of what tells it from others and of the plan's name as there is room for.
fn title(state: &DashboardState, palette: &Palette, room: usize) -> Line<'static> {
    let (progress, paused, run) = (progress(state), paused(state), run(state));
    let mut left = room.saturating_sub(progress.chars().count() + paused.len());
    let mut take = |text: String| {
        let columns = text.chars().count();
        let taken = columns <= left;
        left -= if taken { columns } else { 0 };
        if taken { text } else { String::new() }
    };
    let run = take(run);
    let hammer = take(HAMMER.to_owned());
    let labels = state.place.as_ref().filter(|place| !run.is_empty() && !place.labels.is_empty());
    let labels = labels.map_or_else(String::new, |place| take(format!(" ({})", place.labels)));
    let before_run = if run.is_empty() { "" } else { SEPARATOR };
    let columns = left.saturating_sub(NAME_END.len().max(before_run.len()));
    let name = match state.title.chars().count() {
        1.. if columns >= LEAST_NAME => cut(&state.title, columns) + before_run,
        length @ 1.. if length <= columns => state.title.clone() + before_run,
        _ => String::new(),
    };
    let end = if run.is_empty() && name.is_empty() { "" } else { NAME_END };
    let line = Line::from(vec![
        Span::styled(hammer, palette.strong()),
        Span::raw(format!("{name}{}{labels}{end}", run.trim_end_matches(NAME_END))),
        Span::raw(progress),
        Span::styled(paused, palette.warning()),
    ]);
    cut_line(line, room)
}

/// Which of several runs it is, with what stands behind it.
fn run(state: &DashboardState) -> String {
    state
        .place
        .as_ref()
        .map_or_else(String::new, |place| format!("run {} of {}{NAME_END}", place.number, place.of))
}

const fn paused(state: &DashboardState) -> &'static str {
    if state.paused { " PAUSED" } else { "" }
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
    let run = state.run.as_ref();
    let planned = match phase {
        Phase::WarmUp => run.map(|run| run.warm_up),
        Phase::Measurement => run.and_then(|run| run.measurement),
        Phase::Drain => state.drain,
    };
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

fn shown_tab(state: &DashboardState, palette: &Palette) -> Line<'static> {
    Line::styled(format!("[{}]", state.name_of(state.screen.tab)), palette.strong())
}

const HAMMER: &str = "hammer ";
/// Behind the plan's name, and what stands beside it.
const NAME_END: &str = ": ";
/// Between the plan's name and the number of the run.
const SEPARATOR: &str = ", ";
/// Columns below which a name that is cut off says nothing.
const LEAST_NAME: usize = 8;
/// Columns before the pages.
const GAP: usize = 1;

//! The page of what was said.

use hammer_measure::shown;
use hammer_report::text::number::grouped;
use ratatui::Frame;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::palette::Palette;
use crate::tui::state::DashboardState;
use crate::tui::state::log::{Entry, EntryKind};

/// Draws the last lines, or those above them where it was scrolled up; at the top the first ones.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let until = state.log.len() - state.screen.below.min(furthest(state, area.as_size(), palette));
    let forgotten = match state.log.forgotten() {
        0 => String::new(),
        count => format!("; {} older ones are gone", grouped(count)),
    };
    let title = format!("log, up to {until} of {}{forgotten} ", state.log.len());
    pane(frame, area, title, state.log.entries().take(until).rev(), palette);
}

/// Entries that are below a page of that size whose first line is the log's first.
pub(super) fn furthest(state: &DashboardState, size: Size, palette: &Palette) -> usize {
    let mut room = lines_of(size.height);
    let fits = |entry: &&Entry| {
        let lines = wrapped(entry, columns_of(size.width), palette).len();
        let fits = lines <= room;
        room = room.saturating_sub(lines);
        fits
    };
    // One that is longer than the page stands there alone.
    let first = state.log.entries().take_while(fits).count().max(1);
    state.log.len().saturating_sub(first)
}

/// Draws the last lines below another page; nothing where there is no room.
pub(super) fn tail(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    if area.height > 1 {
        pane(frame, area, "log ".to_owned(), state.log.entries().rev(), palette);
    }
}

/// As many of the `latest` as fit, latest first, drawn oldest first.
fn pane<'a>(
    frame: &mut Frame<'_>,
    area: Rect,
    title: String,
    latest: impl Iterator<Item = &'a Entry>,
    palette: &Palette,
) {
    let room = lines_of(area.height);
    let mut lines = Vec::with_capacity(room);
    for entry in latest.take(room) {
        lines.extend(wrapped(entry, columns_of(area.width), palette).into_iter().rev());
    }
    lines.truncate(room);
    lines.reverse();
    let block = Block::new().borders(Borders::TOP).title(title);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Lines of entries on a page of that height: those below its title.
fn lines_of(height: u16) -> usize {
    usize::from(height).saturating_sub(1)
}

/// Columns of an entry's text on a page of that width.
fn columns_of(width: u16) -> usize {
    usize::from(width).saturating_sub(HEAD).max(1)
}

fn wrapped(entry: &Entry, width: usize, palette: &Palette) -> Vec<Line<'static>> {
    let style = match entry.kind {
        EntryKind::Broken => palette.bad(),
        EntryKind::Command => palette.warning(),
        EntryKind::Phase | EntryKind::Hook | EntryKind::Mark | EntryKind::Server => palette.strong(),
        EntryKind::Note => Style::new(),
    };
    // What a server said may hold what a terminal would obey.
    let text = entry.text.replace(char::is_whitespace, " ");
    let text = shown(&text, usize::MAX);
    let mut parts = textwrap::wrap(&text, width).into_iter();
    let first = Line::from(vec![
        Span::raw(format!("{:>8.1}s ", entry.at.as_secs_f64())),
        Span::styled(format!("{:<7}", entry.kind.mark()), style),
        Span::raw(format!(" {}", parts.next().unwrap_or_default())),
    ]);
    let rest = parts.map(|part| Line::from(format!("{:HEAD$}{part}", "")));
    std::iter::once(first).chain(rest).collect()
}

/// Columns before an entry's text.
const HEAD: usize = 18;

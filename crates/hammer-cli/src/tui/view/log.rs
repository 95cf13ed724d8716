//! The page of what was said.

use hammer_measure::shown;
use hammer_report::text::number::grouped;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::palette::Palette;
use crate::tui::state::DashboardState;
use crate::tui::state::log::{Entry, EntryKind};

/// Draws the last lines, or those above them where it was scrolled up.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let until = state.log.len().saturating_sub(state.screen.below);
    let forgotten = match state.log.forgotten() {
        0 => String::new(),
        count => format!("; {} older ones are gone", grouped(count)),
    };
    let title = format!("log, up to {until} of {}{forgotten} ", state.log.len());
    pane(frame, area, title, state.log.entries().take(until).rev(), palette);
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
    let room = usize::from(area.height).saturating_sub(1);
    let width = usize::from(area.width).saturating_sub(HEAD).max(1);
    let mut lines = Vec::with_capacity(room);
    for entry in latest.take(room) {
        lines.extend(wrapped(entry, width, palette).into_iter().rev());
    }
    lines.truncate(room);
    lines.reverse();
    let block = Block::new().borders(Borders::TOP).title(title);
    frame.render_widget(Paragraph::new(lines).block(block), area);
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

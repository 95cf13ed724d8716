//! The page of what was said.

use hammer_report::text::number::grouped;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::palette::Palette;
use crate::tui::state::State;
use crate::tui::state::log::{Entry, EntryKind};

/// Draws the last lines, or those above them where it was scrolled up.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, palette: &Palette) {
    let room = usize::from(area.height).saturating_sub(1);
    let until = state.log.len().saturating_sub(state.screen.below).max(room.min(state.log.len()));
    let from = until.saturating_sub(room);
    let mut lines = vec![Line::styled(head(state, from, until), palette.strong())];
    lines.extend(state.log.entries().skip(from).take(until - from).map(|entry| line(entry, palette)));
    frame.render_widget(Paragraph::new(lines), area);
}

fn head(state: &State, from: usize, until: usize) -> String {
    let forgotten = match state.log.forgotten() {
        0 => String::new(),
        count => format!(", {} older ones are gone", grouped(count)),
    };
    format!("lines {} to {until} of {}{forgotten}", (from + 1).min(until), state.log.len())
}

fn line(entry: &Entry, palette: &Palette) -> Line<'static> {
    let style = match entry.kind {
        EntryKind::Broken => palette.bad(),
        EntryKind::Command => palette.warning(),
        EntryKind::Phase => palette.strong(),
        EntryKind::Note => ratatui::style::Style::new(),
    };
    // What a server said may hold what a terminal would obey.
    let text: String = entry.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Line::from(vec![
        Span::raw(format!("{:>8.1}s ", entry.at.as_secs_f64())),
        Span::styled(format!("{:<8}", entry.kind.mark()), style),
        Span::raw(text),
    ])
}

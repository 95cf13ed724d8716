//! How the thresholds stand, those that fail first.

use hammer_measure::threshold::Verdict;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::cut::cut_lines;
use super::listed::listed;
use super::palette::Palette;
use crate::tui::state::DashboardState;

/// Lines of them.
pub(super) fn height(state: &DashboardState) -> u16 {
    u16::try_from(judged(state).len()).unwrap_or(u16::MAX)
}

/// Draws as many as fit, and says how many do not.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let mut judged: Vec<&Verdict> = judged(state).iter().collect();
    judged.sort_by_key(|verdict| verdict.holds);
    let room = usize::from(area.height);
    let (shown, more) = listed(judged.len(), room);
    // Where no line is left to say it, the first says how many there are.
    let of =
        if more == 0 && shown < judged.len() { format!(", 1 of {}", judged.len()) } else { String::new() };
    let shown = judged.iter().take(shown);
    let mut lines: Vec<Line<'_>> = shown.map(|verdict| line(verdict, &of, palette)).collect();
    if more > 0 {
        lines.push(Line::styled(format!("threshold and {more} more"), palette.faint()));
    }
    frame.render_widget(Paragraph::new(cut_lines(lines, area.width)), area);
}

fn judged(state: &DashboardState) -> &[Verdict] {
    state.last.as_ref().map_or(&[], |last| &last.thresholds)
}

fn line(verdict: &Verdict, of: &str, palette: &Palette) -> Line<'static> {
    let Verdict { threshold, series, found, holds, .. } = verdict;
    let (mark, style) = if *holds { ("holds", palette.good()) } else { ("FAILS", palette.bad()) };
    Line::from(vec![
        Span::raw("threshold "),
        Span::styled(mark, style),
        Span::raw(format!("{of}: {threshold} on {series}, found {found}")),
    ])
}

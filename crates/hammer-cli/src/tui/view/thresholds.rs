//! How the thresholds stand, those that fail first.

use hammer_measure::threshold::Verdict;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

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
    let shown = if judged.len() > room { room.saturating_sub(1) } else { judged.len() };
    let mut lines: Vec<Line<'_>> = judged.iter().take(shown).map(|verdict| line(verdict, palette)).collect();
    let more = judged.len() - shown;
    if more > 0 {
        lines.push(Line::styled(format!("threshold and {more} more"), palette.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn judged(state: &DashboardState) -> &[Verdict] {
    state.last.as_ref().map_or(&[], |last| &last.thresholds)
}

fn line(verdict: &Verdict, palette: &Palette) -> Line<'static> {
    let Verdict { threshold, series, found, holds, .. } = verdict;
    let (mark, style) = if *holds { ("holds", palette.good()) } else { ("FAILS", palette.bad()) };
    Line::from(vec![
        Span::raw("threshold "),
        Span::styled(mark, style),
        Span::raw(format!(": {threshold} on {series}, found {found}")),
    ])
}

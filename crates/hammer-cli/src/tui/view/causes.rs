//! What operations failed by so far, the most frequent first, with what was first said of each.

use hammer_report::text::number::grouped;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph};

use super::cut::{cut, cut_lines};
use super::palette::Palette;
use crate::tui::state::DashboardState;
use crate::tui::state::causes::MetCause;

/// The lines that they take where there is room for `most`: one for each, below a title where that leaves room for any.
pub(super) fn height(causes: &[MetCause], most: u16) -> u16 {
    let lines = u16::try_from(causes.len().min(MOST_CAUSES)).unwrap_or(u16::MAX);
    let title = u16::from(lines > 0 && most > 1);
    (lines + title).min(most)
}

/// Draws them: a line each, cut off at the edge.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    (state, causes): (&DashboardState, &[MetCause]),
    palette: &Palette,
) {
    let room = usize::from(area.height);
    let has_title = room > 1;
    let lines = causes.iter().take(room - usize::from(has_title).min(room));
    let lines = lines.map(|cause| Line::styled(told(state, cause), palette.bad()));
    let lines = cut_lines(lines, area.width);
    let mut drawn = Paragraph::new(lines);
    if has_title {
        drawn = drawn.block(Block::new().borders(Borders::TOP).title(cut(title(state), area.width.into())));
    }
    frame.render_widget(drawn, area);
}

fn title(state: &DashboardState) -> &'static str {
    match state.has_warm_up() {
        true => "failures so far, warm-up included, each with what was said first ",
        false => "failures so far, each with what was said first ",
    }
}

/// `1,234 unreachable, connection refused (web/get): failed to connect to 127.0.0.1:9: ...`
fn told(state: &DashboardState, cause: &MetCause) -> String {
    let count = grouped(cause.count);
    let fate = cause.fate.name().replace('_', " ");
    let series = state.run.as_ref().and_then(|run| run.series.get(cause.series));
    let series = series.map_or_else(String::new, |series| format!(" ({})", series.path()));
    let answer = cause.answer.as_ref().map_or_else(String::new, |answer| format!(": {answer}"));
    format!("{count:>8} {fate}, {}{series}{answer}", cause.detail)
}

/// Of how many there are.
const MOST_CAUSES: usize = 4;

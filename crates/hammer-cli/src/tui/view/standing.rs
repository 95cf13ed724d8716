//! One line: whether the figures can be believed, and what the process uses.

use hammer_report::text::number::grouped;
use ratatui::text::{Line, Span};

use super::palette::Palette;
use crate::tui::state::State;

/// The line.
pub(super) fn line(state: &State, palette: &Palette) -> Line<'static> {
    let Some(last) = &state.last else { return Line::styled("no interval yet", palette.faint()) };
    let used = &last.resources;
    let mut spans = Vec::new();
    if last.health.is_healthy() {
        spans.push(Span::raw("health ok"));
    } else {
        spans.push(Span::styled(format!("UNHEALTHY: {}", last.health), palette.bad()));
    }
    spans.push(Span::raw(format!(
        " | cpu {:.1}s of {} cores | memory {} MB, most {} MB | {} of {} descriptors",
        used.cpu_seconds(),
        used.cores,
        used.rss_bytes / 1_000_000,
        used.max_rss_bytes / 1_000_000,
        grouped(used.descriptors),
        grouped(used.descriptor_limit),
    )));
    Line::from(spans)
}

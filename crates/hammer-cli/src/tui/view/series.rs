//! The page of all series: percentiles of response time above those of service time, and the heat map of the marked one.

use hammer_measure::snapshot::SeriesFigures;
use hammer_measure::{Nanos, SeriesInfo, Summary};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::clock::clock;
use super::heat;
use super::palette::Palette;
use crate::tui::state::DashboardState;

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let (Some(run), Some(last)) = (&state.run, &state.last) else { return };
    let heat_height = area.height.saturating_sub(1).min(heat::TALLEST).min(area.height / 2);
    let [head, list, map] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(heat_height)])
            .areas(area);
    let over = if state.screen.whole { "measurement".to_owned() } else { latest(state.span) };
    let text = format!(
        "{over:<NAME$}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}",
        "p50", "p75", "p90", "p95", "p99", "p99.9", "max"
    );
    frame.render_widget(Line::styled(text, palette.strong()), head);
    let room = usize::from(list.height) / 2;
    // The marked one stays on the screen.
    let first = (state.screen.series + 1).saturating_sub(room);
    let shown = run.series.iter().zip(&last.series).enumerate().skip(first).take(room);
    let lines = shown.flat_map(|(place, (info, figures))| {
        let figures = if state.screen.whole { &figures.measurement } else { &figures.interval };
        rows(info, figures, place == state.screen.series, palette)
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), list);
    if let Some(marked) = run.series.get(state.screen.series) {
        let choice = heat::Choice { name: marked.path(), places: vec![state.screen.series] };
        heat::draw(frame, map, state, palette, &choice);
    }
}

/// Intervals end a little early or late: `last 1s`, `last 250ms`.
fn latest(span: Nanos) -> String {
    if span < Nanos::from_millis(950) {
        format!("last {span}")
    } else {
        format!("last {}", clock(span.as_secs_f64()))
    }
}

fn rows(info: &SeriesInfo, figures: &SeriesFigures, marked: bool, palette: &Palette) -> [Line<'static>; 2] {
    let mark = if marked { '>' } else { ' ' };
    let name: String = info.path().chars().take(NAME - 2).collect();
    let response = percentiles(&format!("{mark}{name}"), figures.response_time.as_ref());
    let service = percentiles("   service time", figures.service_time.as_ref());
    let style = if marked { palette.marked() } else { palette.strong() };
    [Line::styled(response, style), Line::from(service)]
}

fn percentiles(name: &str, summary: Option<&Summary>) -> String {
    let Some(summary) = summary else { return format!("{name:<NAME$}{:>8}", "-") };
    format!(
        "{name:<NAME$}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}",
        summary.p50, summary.p75, summary.p90, summary.p95, summary.p99, summary.p999, summary.max
    )
}

const NAME: usize = 24;

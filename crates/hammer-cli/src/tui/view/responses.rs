//! Percentiles of response time beside service time, for the slowest series of each workload.

use hammer_measure::Summary;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::palette::Palette;
use crate::tui::state::DashboardState;

/// Draws them, of the last interval.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let head = format!(
        "{:<NAME$}{:>8}{:>8}{:>8}{:>8}{:>8} {:>8}{:>8}{:>8}",
        "slowest series", "resp p50", "p90", "p99", "p99.9", "max", "serv p50", "p99", "max"
    );
    let mut lines = vec![Line::styled(head, palette.strong())];
    let room = usize::from(area.height).saturating_sub(1);
    lines.extend(state.workloads.iter().take(room).map(|workload| {
        let nothing = || Line::styled(format!("{}: nothing ended", workload.name), palette.faint());
        slowest(state, &workload.name).unwrap_or_else(nothing)
    }));
    frame.render_widget(Paragraph::new(lines), area);
}

/// Percentiles of several series cannot be put together: those of the slowest are shown, and it is named.
fn slowest(state: &DashboardState, workload: &str) -> Option<Line<'static>> {
    let (run, last) = (state.run.as_ref()?, state.last.as_ref()?);
    let pairs = run.series.iter().zip(&last.series);
    let slowest = pairs
        .filter(|(series, _)| series.operation && series.workload == workload)
        .filter_map(|(series, figures)| {
            Some((series, &figures.interval, figures.interval.response_time.as_ref()?))
        })
        .max_by_key(|(_, _, response)| response.p99.nanos())?;
    let (series, figures, response) = slowest;
    let name: String = series.name.chars().take(NAME - 1).collect();
    let [s50, s99, smax] = service(figures.service_time.as_ref());
    Some(Line::from(format!(
        "{name:<NAME$}{:>8}{:>8}{:>8}{:>8}{:>8} {s50:>8}{s99:>8}{smax:>8}",
        response.p50, response.p90, response.p99, response.p999, response.max
    )))
}

fn service(summary: Option<&Summary>) -> [String; 3] {
    summary.map_or_else(
        || ["-".to_owned(), "-".to_owned(), "-".to_owned()],
        |summary| [summary.p50.to_string(), summary.p99.to_string(), summary.max.to_string()],
    )
}

const NAME: usize = 15;

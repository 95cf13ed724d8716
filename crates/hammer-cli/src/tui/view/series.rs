//! The page of all series: percentiles of response time above those of service time, and the heat map of the marked one.

use hammer_measure::snapshot::SeriesFigures;
use hammer_measure::{SeriesInfo, Summary};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::clock::latest;
use super::cut::cut;
use super::heat;
use super::pager;
use super::palette::Palette;
use super::table_width::TableWidth;
use crate::tui::state::DashboardState;

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let (Some(run), Some(last)) = (&state.run, &state.last) else { return };
    let heat_height = area.height.saturating_sub(1).min(heat::TALLEST).min(area.height / 2);
    // Each series has two lines; what they leave over is the map's.
    let listed = u16::try_from(2 * run.series.len()).unwrap_or(u16::MAX);
    let heat_height = heat_height.max(area.height.saturating_sub(2 + listed)).min(2 * heat::TALLEST);
    let [head, list, map] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(heat_height)])
            .areas(area);
    let rated = state.rated.as_ref();
    let over = match (state.screen.whole, rated) {
        (true, _) => "measurement".to_owned(),
        (false, Some(rated)) => latest(rated.span),
        (false, None) => "no interval yet".to_owned(),
    };
    let name = name_columns(area.width);
    let width = TableWidth::of(area.width);
    let text =
        width.row(format!("{over:<name$}"), cells(["p50", "p75", "p90", "p95", "p99", "p99.9", "max"]));
    frame.render_widget(Line::styled(text, palette.strong()), head);
    let has_all = run.series.len() * 2 <= usize::from(list.height);
    let room = (usize::from(list.height) - usize::from(!has_all && list.height > 0)) / 2;
    // The marked one stays on the screen.
    let first = (state.screen.series + 1).saturating_sub(room);
    let shown = run.series.iter().zip(&last.series).enumerate().skip(first).take(room);
    let lines = shown.flat_map(|(place, (info, figures))| {
        let measured = state.screen.whole.then_some(&figures.measurement);
        let figures = measured.or_else(|| rated?.series(place));
        rows(info, figures, (place == state.screen.series, name), (width, palette))
    });
    let mut lines: Vec<Line<'_>> = lines.collect();
    if !has_all {
        let place = pager::place((first + 1, first + room, run.series.len()));
        lines.push(Line::styled(format!("series {place}"), palette.strong()));
    }
    frame.render_widget(Paragraph::new(lines), list);
    if let Some(marked) = run.series.get(state.screen.series) {
        let choice = heat::Choice { name: marked.path(), places: vec![state.screen.series] };
        heat::draw(frame, map, state, palette, &choice);
    }
}

fn rows(
    info: &SeriesInfo,
    figures: Option<&SeriesFigures>,
    (marked, columns): (bool, usize),
    (width, palette): (TableWidth, &Palette),
) -> [Line<'static>; 2] {
    let mark = if marked { '>' } else { ' ' };
    let name = cut(&info.path(), columns - 2);
    let response = percentiles(
        width,
        &format!("{mark}{name}"),
        columns,
        figures.and_then(|of| of.response_time.as_ref()),
    );
    let service =
        percentiles(width, "   service time", columns, figures.and_then(|of| of.service_time.as_ref()));
    let style = if marked { palette.marked() } else { palette.strong() };
    [Line::styled(response, style), Line::from(service)]
}

fn percentiles(width: TableWidth, name: &str, columns: usize, summary: Option<&Summary>) -> String {
    let name = format!("{name:<columns$}");
    let Some(summary) = summary else { return width.row(name, cells(["-"])) };
    let Summary { p50, p75, p90, p95, p99, p999, max, .. } = *summary;
    width.row(name, cells([p50, p75, p90, p95, p99, p999]).chain(cells([max])))
}

fn cells<const COUNT: usize>(figures: [impl ToString; COUNT]) -> impl Iterator<Item = (String, usize)> {
    figures.into_iter().map(|figure| (figure.to_string(), CELL))
}

/// Columns of a name: what the seven figures leave, within reason.
fn name_columns(width: u16) -> usize {
    usize::from(width).saturating_sub(FIGURES).clamp(LEAST_NAME, MOST_NAME)
}

const LEAST_NAME: usize = 24;
const MOST_NAME: usize = 60;
/// Columns of the figures.
const FIGURES: usize = 7 * CELL;
/// Columns of one.
const CELL: usize = 8;

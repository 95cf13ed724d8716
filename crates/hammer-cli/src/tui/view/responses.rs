//! Percentiles of response time beside service time: of every series where there is room, else of the slowest of each workload.

use hammer_measure::snapshot::{SeriesFigures, SeriesSnapshot};
use hammer_measure::{SeriesInfo, Summary};
use hammer_report::text::number::grouped;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::palette::Palette;
use super::table_width::TableWidth;
use crate::tui::state::DashboardState;

/// Draws them, of the last interval, and says how many workloads there is no room for.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let width = TableWidth::of(area.width);
    let room = usize::from(area.height).saturating_sub(1);
    let all = operations(state, None).len();
    let has_all = all <= room && all > state.workloads.len();
    let mut lines = vec![Line::styled(head(width, has_all), palette.strong())];
    if has_all {
        lines.extend(all_rows(state, width, palette));
    } else {
        lines.extend(slowest_rows(state, room, width, palette));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// Every series by its path; by its name, which is shorter, where the screen is small and no two share one.
fn all_rows(state: &DashboardState, width: TableWidth, palette: &Palette) -> Vec<Line<'static>> {
    let all = operations(state, None);
    let by_path = width.is_wide() || all.iter().any(|(info, _)| !is_alone(state, info));
    let named = |info: &SeriesInfo| if by_path { info.path() } else { info.name.clone() };
    all.iter().map(|(info, series)| row(width, &named(info), series, palette)).collect()
}

fn slowest_rows(
    state: &DashboardState,
    room: usize,
    width: TableWidth,
    palette: &Palette,
) -> Vec<Line<'static>> {
    let all = state.workloads.len();
    let shown = if all > room { room.saturating_sub(1) } else { all };
    let row = |workload: &str| match slowest(state, workload) {
        Some((info, series)) => {
            let name =
                if width.is_wide() || !is_alone(state, info) { info.path() } else { info.name.clone() };
            row(width, &name, series, palette)
        }
        None => Line::styled(format!("{workload}: nothing yet"), palette.faint()),
    };
    let mut lines: Vec<_> = state.workloads.iter().take(shown).map(|workload| row(&workload.name)).collect();
    if all > shown {
        lines.push(Line::styled(format!("and {} more: see Series", all - shown), palette.faint()));
    }
    lines
}

/// Whether no other series of operations has its name.
fn is_alone(state: &DashboardState, info: &SeriesInfo) -> bool {
    operations(state, None).iter().filter(|(other, _)| other.name == info.name).count() == 1
}

/// The whole operations of a workload, or of all.
fn operations<'a>(
    state: &'a DashboardState,
    workload: Option<&str>,
) -> Vec<(&'a SeriesInfo, &'a SeriesSnapshot)> {
    let Some((run, last)) = state.run.as_ref().zip(state.last.as_ref()) else { return Vec::new() };
    let pairs = run.series.iter().zip(&last.series);
    let is_shown = |info: &SeriesInfo| info.operation && workload.is_none_or(|name| info.workload == name);
    pairs.filter(|(info, _)| is_shown(info)).collect()
}

/// Percentiles of several series cannot be put together: those of the slowest are shown, and it is named. One of which operations are under
/// way and none ended is slower than all others.
fn slowest<'a>(state: &'a DashboardState, workload: &str) -> Option<(&'a SeriesInfo, &'a SeriesSnapshot)> {
    let key = |series: &SeriesSnapshot| match &series.interval.response_time {
        Some(times) => (0, i64::from(times.infinite * 100 > times.count), times.p99.nanos().0),
        None => (open(series).signum(), 0, 0),
    };
    operations(state, Some(workload)).into_iter().max_by_key(|(_, series)| key(series))
}

/// Operations that wait or are under way.
fn open(series: &SeriesSnapshot) -> i64 {
    let of = |figures: &SeriesFigures| figures.backlog + figures.in_flight;
    (of(&series.warm_up) + of(&series.measurement)).max(0)
}

fn head(width: TableWidth, has_all: bool) -> String {
    let name = if has_all { "series" } else { "slowest series" };
    let cells = match width.is_wide() {
        true => vec!["resp p50", "p75", "p90", "p95", "p99", "p99.9", "max", "serv p50", "p90", "p99", "max"],
        false => vec!["resp p50", "p90", "p99", "p99.9", "max", "serv p50", "p99", "max"],
    };
    line(width, name, &cells.into_iter().map(str::to_owned).collect::<Vec<_>>())
}

fn row(width: TableWidth, name: &str, series: &SeriesSnapshot, palette: &Palette) -> Line<'static> {
    let Some(response) = &series.interval.response_time else {
        let name: String = name.chars().take(width.name().saturating_sub(1)).collect();
        let open = open(series);
        let text = match u64::try_from(open) {
            Ok(count @ 1..) => format!("nothing ended; {} under way or waiting", grouped(count)),
            _ => "nothing sent".to_owned(),
        };
        let style = if open > 0 { palette.warning() } else { palette.faint() };
        return Line::styled(format!("{name:<0$}{text}", width.name()), style);
    };
    Line::from(line(width, name, &cells(width, response, series.interval.service_time.as_ref())))
}

fn cells(width: TableWidth, response: &Summary, service: Option<&Summary>) -> Vec<String> {
    let of = |times: &Summary| {
        let Summary { p50, p75, p90, p95, p99, p999, max, .. } = times;
        [
            p50.to_string(),
            p75.to_string(),
            p90.to_string(),
            p95.to_string(),
            p99.to_string(),
            p999.to_string(),
            max.to_string(),
        ]
    };
    let nothing = || ["-"; 7].map(str::to_owned);
    let [p50, p75, p90, p95, p99, p999, max] = of(response);
    let [serv_p50, _, serv_p90, _, serv_p99, _, serv_max] = service.map_or_else(nothing, of);
    match width.is_wide() {
        true => vec![p50, p75, p90, p95, p99, p999, max, serv_p50, serv_p90, serv_p99, serv_max],
        false => vec![p50, p90, p99, p999, max, serv_p50, serv_p99, serv_max],
    }
}

/// Nine columns for the first of service time, which parts the two.
fn line(width: TableWidth, name: &str, cells: &[String]) -> String {
    let name: String = name.chars().take(width.name() - 1).collect();
    let responses = if width.is_wide() { 7 } else { 5 };
    let mut line = format!("{name:<0$}", width.name());
    for (place, cell) in cells.iter().enumerate() {
        let columns = if place == responses { 9 } else { 8 };
        line.push_str(&format!("{cell:>columns$}"));
    }
    line
}

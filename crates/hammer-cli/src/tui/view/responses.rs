//! Percentiles of response time beside service time: of every series where there is room, else of the slowest of each workload first.

use hammer_measure::snapshot::{SeriesFigures, SeriesSnapshot};
use hammer_measure::{SeriesInfo, Summary};
use hammer_report::text::number::grouped;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::cut::cut;
use super::listed::listed;
use super::palette::Palette;
use super::table_width::TableWidth;
use crate::tui::state::DashboardState;

/// A series as it stands in a row.
struct SeriesRow<'a> {
    info: &'a SeriesInfo,
    /// Over the last interval that tells rates.
    latest: Option<&'a SeriesFigures>,
    /// Operations that wait or are under way.
    open: u64,
}

/// Which series are shown.
struct Selection {
    /// Their places in the run.
    places: Vec<usize>,
    /// What they are.
    heading: String,
    /// How many a line says to be left out.
    more: usize,
}

/// Draws them, of the last interval, and says how many there is no room for.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let width = TableWidth::of(area.width);
    let all = rows(state);
    let shown = Selection::of(state, &all, usize::from(area.height).saturating_sub(1));
    let mut lines = vec![Line::styled(head(width, &shown.heading), palette.strong())];
    // A name is shorter, and enough where no other series that may be shown has it.
    let has_steps = shown.places.iter().any(|place| !all[*place].info.operation);
    let named = |info: &SeriesInfo| {
        let others = all.iter().filter(|other| has_steps || other.info.operation);
        let is_alone = others.filter(|other| other.info.name == info.name).count() == 1;
        if width.is_wide() || !is_alone { info.path() } else { info.name.clone() }
    };
    let rows = shown.places.iter().map(|place| &all[*place]);
    lines.extend(rows.map(|series| row(width, &named(series.info), series, palette)));
    if shown.more > 0 {
        lines.push(Line::styled(format!("and {} more: see Series", shown.more), palette.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// Lines of all series.
pub(super) fn count(state: &DashboardState) -> usize {
    state.run.as_ref().map_or(0, |run| run.series.len())
}

fn rows(state: &DashboardState) -> Vec<SeriesRow<'_>> {
    let series = state.run.iter().flat_map(|run| &run.series).enumerate();
    let row = |(place, info)| SeriesRow {
        info,
        latest: state.rated.as_ref().and_then(|rated| rated.series(place)),
        open: state.last.as_ref().and_then(|last| last.series.get(place)).map_or(0, open),
    };
    series.map(row).collect()
}

impl Selection {
    /// As many as there is room for, in the order of the run.
    fn of(state: &DashboardState, all: &[SeriesRow<'_>], room: usize) -> Self {
        let workloads = state.workloads.len();
        let (shown, more) = match listed(all.len(), room) {
            // With a row for each workload the heading says that others are left out.
            (_, 1..) if room == workloads => (room, 0),
            listed => listed,
        };
        let mut places = by_rank(state, all);
        places.truncate(shown);
        places.sort_unstable();
        let heading = match shown < all.len() && shown <= workloads {
            false => "series".to_owned(),
            true if more > 0 => "slowest series".to_owned(),
            true => format!("slowest of {}", all.len()),
        };
        Self { places, heading, more }
    }
}

/// The places of all series: the slowest of each workload, then its other operations, then the steps.
fn by_rank(state: &DashboardState, all: &[SeriesRow<'_>]) -> Vec<usize> {
    let slowest: Vec<usize> =
        state.workloads.iter().filter_map(|workload| slowest(all, &workload.name)).collect();
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by_key(|place| {
        let rank = slowest.iter().position(|known| known == place).unwrap_or(slowest.len());
        (rank, !all[*place].info.operation, *place)
    });
    places
}

/// Percentiles of several series cannot be put together: those of the slowest come first, and it is named. One of which operations are under
/// way and none ended is slower than all others.
fn slowest(all: &[SeriesRow<'_>], workload: &str) -> Option<usize> {
    let key = |series: &SeriesRow<'_>| match series.latest.and_then(|latest| latest.response_time.as_ref()) {
        Some(times) => (0, u8::from(times.infinite * 100 > times.count), times.p99.nanos().0),
        None => (u8::from(series.open > 0), 0, 0),
    };
    let operations = all.iter().enumerate();
    let operations = operations.filter(|(_, of)| of.info.operation && of.info.workload == workload);
    operations.max_by_key(|(_, series)| key(series)).map(|(place, _)| place)
}

fn open(series: &SeriesSnapshot) -> u64 {
    let of = |figures: &SeriesFigures| figures.backlog + figures.in_flight;
    u64::try_from(of(&series.warm_up) + of(&series.measurement)).unwrap_or(0)
}

fn head(width: TableWidth, name: &str) -> String {
    let cells = match width.is_wide() {
        true => vec!["resp p50", "p75", "p90", "p95", "p99", "p99.9", "max", "serv p50", "p90", "p99", "max"],
        false => vec!["resp p50", "p90", "p99", "p99.9", "max", "serv p50", "p99", "max"],
    };
    line(width, name, &cells.into_iter().map(str::to_owned).collect::<Vec<_>>())
}

fn row(width: TableWidth, name: &str, series: &SeriesRow<'_>, palette: &Palette) -> Line<'static> {
    let Some(response) = series.latest.and_then(|latest| latest.response_time.as_ref()) else {
        let name = cut(name, width.name() - 1);
        let text = match (series.open, series.latest) {
            (1.., _) => format!("nothing ended; {} under way or waiting", grouped(series.open)),
            (0, Some(_)) => "nothing sent".to_owned(),
            (0, None) => "nothing yet".to_owned(),
        };
        let style = if series.open > 0 { palette.warning() } else { palette.faint() };
        return Line::styled(format!("{name:<0$}{text}", width.name()), style);
    };
    let service = series.latest.and_then(|latest| latest.service_time.as_ref());
    Line::from(line(width, name, &cells(width, response, service)))
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
    let name = cut(name, width.name() - 1);
    let responses = if width.is_wide() { 7 } else { 5 };
    let columns = |place: usize| if place == responses { 9 } else { 8 };
    let cells = cells.iter().enumerate().map(|(place, cell)| (cell.clone(), columns(place)));
    width.row(format!("{name:<0$}", width.name()), cells)
}

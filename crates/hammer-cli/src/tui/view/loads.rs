//! By workload: the four rates of the last interval, and what is open.

use hammer_measure::Fate;
use hammer_measure::snapshot::SeriesFigures;
use hammer_report::text::number::{grouped, per_second};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::clock::latest;
use super::cut::cut;
use super::fates::{self, short};
use super::listed::listed;
use super::palette::Palette;
use super::table_width::TableWidth;
use crate::tui::state::DashboardState;

/// Draws as many workloads as fit, and says how many do not.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let width = TableWidth::of(area.width);
    let room = usize::from(area.height).saturating_sub(1);
    let all = state.workloads.len();
    let (shown, more) = listed(all, room);
    let mut name = name_of_rows(state, width);
    if more == 0 && shown < all {
        name.push_str(&format!(", 1 of {all}"));
    }
    // Four columns of the first rate are free for what stands before it.
    let columns = width.name() + 1 + 4;
    let failed = width.is_wide().then_some(("failed so far", 15));
    let heads = [
        ("offered", 7),
        ("dispatched", 11),
        ("completed", 11),
        ("accepted", 11),
        ("in flight", 10),
        ("waiting", 10),
    ];
    let heads = heads.into_iter().chain(failed).map(|(head, columns)| (head.to_owned(), columns));
    let head = width.row(format!("{name:<columns$}"), heads);
    let mut lines = vec![Line::styled(head, palette.strong())];
    lines.extend(
        state.workloads.iter().take(shown).map(|workload| row(state, &workload.name, width, palette)),
    );
    if more > 0 {
        let text = format!("and {more} more: see Series");
        lines.push(Line::styled(text, palette.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// What the rows are, and over which time their rates, where there is room for both.
fn name_of_rows(state: &DashboardState, width: TableWidth) -> String {
    match &state.rated {
        Some(rated) if width.is_wide() => format!("workload, {}", latest(rated.span)),
        Some(rated) => latest(rated.span),
        None => "workload".to_owned(),
    }
}

fn row(state: &DashboardState, workload: &str, width: TableWidth, palette: &Palette) -> Line<'static> {
    let name = cut(workload, width.name());
    let Some(last) = &state.last else { return Line::from(name) };
    let places = places(state, workload);
    let rate = |count: fn(&SeriesFigures) -> u64| {
        let Some(rated) = &state.rated else { return "-".to_owned() };
        let of_each = places.iter().filter_map(|place| rated.series(*place));
        per_second(rated.per_second(of_each.map(count).sum()))
    };
    let open = |count: fn(&SeriesFigures) -> i64| {
        let of_each = places.iter().filter_map(|place| last.series.get(*place));
        let total: i64 = of_each.map(|series| count(&series.warm_up) + count(&series.measurement)).sum();
        grouped(u64::try_from(total).unwrap_or(0))
    };
    let columns = width.name() + 1;
    let cells = [
        (rate(|figures| figures.offered), 11),
        (rate(|figures| figures.dispatched), 11),
        (rate(|figures| figures.completed), 11),
        (rate(|figures| figures.fate(Fate::Accepted)), 11),
        (open(|figures| figures.in_flight), 10),
        (open(|figures| figures.backlog), 10),
    ];
    let mut row = Line::from(width.row(format!("{name:<columns$}"), cells));
    if width.is_wide() {
        let failed = failed(state, workload);
        row.push_span(Span::styled(format!("{:>15}", short(failed)), palette.bad_if(failed > 0)));
    }
    row
}

/// Operations that ended in any other way than they should have, since the start.
fn failed(state: &DashboardState, workload: &str) -> u64 {
    let Some((run, last)) = state.run.as_ref().zip(state.last.as_ref()) else { return 0 };
    let of_place = |place: usize| {
        let (info, series) = run.series.get(place).zip(last.series.get(place))?;
        Some(fates::failed(info, &series.warm_up) + fates::failed(info, &series.measurement))
    };
    places(state, workload).into_iter().filter_map(of_place).sum()
}

/// The places of the whole operations of a workload among the series.
fn places(state: &DashboardState, workload: &str) -> Vec<usize> {
    let series = state.run.iter().flat_map(|run| &run.series).enumerate();
    let its = series.filter(|(_, series)| series.operation && series.workload == workload);
    its.map(|(place, _)| place).collect()
}

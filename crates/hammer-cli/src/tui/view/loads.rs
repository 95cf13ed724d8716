//! By workload: the four rates of the last interval, and what is open.

use hammer_measure::snapshot::{SeriesFigures, Snapshot};
use hammer_measure::{Fate, SeriesInfo};
use hammer_report::text::number::{grouped, per_second};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::fates::{self, short};
use super::palette::Palette;
use super::table_width::TableWidth;
use crate::tui::state::DashboardState;

/// Draws as many workloads as fit, and says how many do not.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    let width = TableWidth::of(area.width);
    let columns = width.name() + 1;
    let mut head = format!(
        "{:<columns$}{:>11}{:>11}{:>11}{:>11}{:>10}{:>10}",
        "workload", "offered", "dispatched", "completed", "accepted", "in flight", "waiting"
    );
    if width.is_wide() {
        head.push_str(&format!("{:>15}", "failed so far"));
    }
    let mut lines = vec![Line::styled(head, palette.strong())];
    let room = usize::from(area.height).saturating_sub(1);
    let all = state.workloads.len();
    let shown = if all > room { room.saturating_sub(1) } else { all };
    lines.extend(
        state.workloads.iter().take(shown).map(|workload| row(state, &workload.name, width, palette)),
    );
    if all > shown {
        let text = format!("and {} more: see Series", all - shown);
        lines.push(Line::styled(text, palette.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn row(state: &DashboardState, workload: &str, width: TableWidth, palette: &Palette) -> Line<'static> {
    let name: String = workload.chars().take(width.name()).collect();
    let (Some(run), Some(last)) = (&state.run, &state.last) else { return Line::from(name) };
    let of = |series: &SeriesInfo| series.operation && series.workload == workload;
    let seconds = state.span.as_secs_f64();
    let rate = |count: fn(&SeriesFigures) -> u64| {
        let total: u64 = operations(&run.series, last, of).map(|(interval, _)| count(interval)).sum();
        per_second(if seconds > 0.0 { total as f64 / seconds } else { 0.0 })
    };
    let open = |count: fn(&SeriesFigures) -> i64| {
        let total: i64 =
            operations(&run.series, last, of).map(|(_, phases)| phases.map(count).sum::<i64>()).sum();
        grouped(u64::try_from(total).unwrap_or(0))
    };
    let columns = width.name() + 1;
    let mut row = Line::from(format!(
        "{name:<columns$}{:>11}{:>11}{:>11}{:>11}{:>10}{:>10}",
        rate(|figures| figures.offered),
        rate(|figures| figures.dispatched),
        rate(|figures| figures.completed),
        rate(|figures| figures.fate(Fate::Accepted)),
        open(|figures| figures.in_flight),
        open(|figures| figures.backlog),
    ));
    if width.is_wide() {
        let failed = failed(state, workload);
        row.push_span(Span::styled(format!("{:>15}", short(failed)), palette.bad_if(failed > 0)));
    }
    row
}

/// Operations that ended in any other way than they should have, since the start.
fn failed(state: &DashboardState, workload: &str) -> u64 {
    let Some((run, last)) = state.run.as_ref().zip(state.last.as_ref()) else { return 0 };
    let pairs = run.series.iter().zip(&last.series);
    let its = pairs.filter(|(series, _)| series.operation && series.workload == workload);
    its.map(|(info, series)| fates::failed(info, &series.warm_up) + fates::failed(info, &series.measurement))
        .sum()
}

/// The figures of the last interval, and those of both phases so far.
fn operations<'a>(
    series: &'a [SeriesInfo],
    last: &'a Snapshot,
    of: impl Fn(&SeriesInfo) -> bool + 'a,
) -> impl Iterator<Item = (&'a SeriesFigures, impl Iterator<Item = &'a SeriesFigures>)> {
    let pairs = series.iter().zip(&last.series).filter(move |(series, _)| of(series));
    pairs.map(|(_, figures)| (&figures.interval, [&figures.warm_up, &figures.measurement].into_iter()))
}

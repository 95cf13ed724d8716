//! What is loaded, in the words of its users.

use hammer_measure::snapshot::SeriesFigures;
use hammer_measure::{Fate, Nanos, SeriesInfo, shown};
use hammer_report::text::number::{bytes, grouped, per_second};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::clock::latest;
use super::cut::cut;
use super::fates::{failed, short};
use super::palette::Palette;
use super::{pager, standing};
use crate::tui::spec::{NumberUnit, PageNumber, PagePart};
use crate::tui::state::DashboardState;

/// Draws the pages of all protocols that are loaded, one below the other.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &DashboardState, palette: &Palette) {
    pager::draw(frame, area, lines(state, palette), state.screen.above, palette);
}

/// All lines of it.
pub(super) fn lines(state: &DashboardState, palette: &Palette) -> Vec<Line<'static>> {
    let has_several = state.pages.len() > 1;
    let mut lines = vec![Line::styled(covered(state), palette.faint())];
    for (place, page) in state.pages.iter().enumerate() {
        if has_several {
            lines.push(Line::styled(page.name.to_uppercase(), palette.strong()));
        }
        page.parts.iter().for_each(|part| lines.extend(of_part(state, place, *part, palette)));
    }
    lines
}

/// Over which time the figures of operations and steps are.
fn covered(state: &DashboardState) -> String {
    let since = if state.has_warm_up() { "warm-up" } else { "the start" };
    let rates = state
        .rated
        .as_ref()
        .map_or_else(String::new, |rated| format!("; accepted/s: {}", latest(rated.span)));
    format!("operations, steps: counts and times since {since}{rates}")
}

fn of_part(state: &DashboardState, page: usize, part: PagePart, palette: &Palette) -> Vec<Line<'static>> {
    let (title, lines) = match part {
        PagePart::Numbers(title, numbers) => {
            (title, numbers.iter().filter_map(|number| self::number(state, *number)).collect())
        }
        PagePart::Promises(title) => (title, vec![standing::promises(state, palette)]),
        PagePart::Operations(title) => return series(state, title, (page, true), palette),
        PagePart::Steps(title) => return series(state, title, (page, false), palette),
        PagePart::Answers(title) => (title, answers(state, page, palette)),
    };
    titled(title, lines, palette)
}

/// Lines below a title; none where there is nothing to say.
fn titled(title: &str, lines: Vec<Line<'static>>, palette: &Palette) -> Vec<Line<'static>> {
    if lines.is_empty() {
        return lines;
    }
    std::iter::once(Line::styled(title.to_owned(), palette.strong())).chain(lines).collect()
}

fn number(state: &DashboardState, number: PageNumber) -> Option<Line<'static>> {
    let seen = state.observed_of_all(number.observation);
    if seen.is_empty() {
        return None;
    }
    let sum = || seen.iter().sum::<f64>().max(0.0) as u64;
    let figure = match number.unit {
        NumberUnit::Count => grouped(sum()),
        NumberUnit::Bytes => bytes(sum()),
        NumberUnit::Seconds => Nanos::from_secs_f64(seen.iter().copied().fold(0.0, f64::max)).to_string(),
    };
    Some(Line::from(format!("  {:<LABEL$}{figure:>12}", number.label)))
}

/// The series of the page's workloads, whole operations or steps.
fn of_page(
    state: &DashboardState,
    (page, operation): (usize, bool),
) -> impl Iterator<Item = (&SeriesInfo, usize)> {
    let is_of_page = move |series: &SeriesInfo| {
        let workload = state.workloads.iter().find(|workload| workload.name == series.workload);
        series.operation == operation && workload.is_some_and(|workload| workload.page == Some(page))
    };
    let series = state.run.iter().flat_map(|run| run.series.iter().zip(0..));
    series.filter(move |(series, _)| is_of_page(series))
}

fn series(
    state: &DashboardState,
    title: &str,
    which: (usize, bool),
    palette: &Palette,
) -> Vec<Line<'static>> {
    let rows: Vec<Line<'static>> =
        of_page(state, which).filter_map(|(info, place)| row(state, info, place, palette)).collect();
    if rows.is_empty() {
        return rows;
    }
    // A title that does not fit beside the columns stands above them.
    let (above, beside) = if title.chars().count() < NAME { (None, title) } else { (Some(title), "") };
    let columns = format!(
        "{beside:<NAME$}{:>9}{:>10}{:>9}{:>8}{:>8}{:>8}",
        "accepted", "so far", "failed", "p50", "p99", "max"
    );
    let head = above.map(str::to_owned).into_iter().chain([columns]);
    head.map(|text| Line::styled(text, palette.strong())).chain(rows).collect()
}

/// Rates are those of the last interval that tells them, all else is of measurement.
fn row(state: &DashboardState, info: &SeriesInfo, place: usize, palette: &Palette) -> Option<Line<'static>> {
    let series = state.last.as_ref()?.series.get(place)?;
    let figures = &series.measurement;
    let accepted = |figures: &SeriesFigures| figures.fate(Fate::Accepted);
    let rated = state.rated.as_ref();
    let rate = rated.and_then(|rated| Some(rated.per_second(accepted(rated.series(place)?))));
    let rate = rate.map_or_else(|| "-".to_owned(), per_second);
    let failed = failed(info, figures);
    let times = figures.response_time.as_ref();
    let times = times.map(|times| [times.p50.to_string(), times.p99.to_string(), times.max.to_string()]);
    let times = times.unwrap_or_else(|| ["-", "-", "-"].map(str::to_owned));
    let name = cut(&format!("  {}", info.path()), NAME - 1);
    Some(Line::from(vec![
        Span::raw(format!("{name:<NAME$}{rate:>9}{:>10}", short(accepted(figures)))),
        Span::styled(format!("{:>9}", short(failed)), palette.bad_if(failed > 0)),
        Span::raw(format!("{:>8}{:>8}{:>8}", times[0], times[1], times[2])),
    ]))
}

/// What operations ended by, most frequent first.
fn answers(state: &DashboardState, page: usize, palette: &Palette) -> Vec<Line<'static>> {
    let Some(last) = &state.last else { return Vec::new() };
    let mut accepted = 0;
    let mut others: Vec<(String, u64)> = Vec::new();
    for (_, place) in of_page(state, (page, true)) {
        let Some(series) = last.series.get(place) else { continue };
        accepted += series.measurement.fate(Fate::Accepted);
        for (fate, detail, count) in &series.measurement.failures {
            let name = format!("{detail} ({})", fate.name().replace('_', " "));
            match others.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known += count,
                None => others.push((name, *count)),
            }
        }
    }
    others.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let line = |name: &str, count: u64, palette: &Palette, is_bad: bool| {
        let name = cut(&shown(name, usize::MAX), LABEL - 1);
        Line::styled(format!("  {name:<LABEL$}{:>12}", grouped(count)), palette.bad_if(is_bad))
    };
    let first = line("as they should be", accepted, palette, false);
    let others = others.iter().take(MOST_ANSWERS).map(|(name, count)| line(name, *count, palette, true));
    std::iter::once(first).chain(others).collect()
}

const NAME: usize = 27;
const LABEL: usize = 44;
const MOST_ANSWERS: usize = 12;

//! A line for each series: rates, what failed, percentiles of response time; steps stand below their operations.

use crate::report::{Durations, Nanoseconds, Rates, Report, Series, SeriesKind};
use crate::text::number::{per_second, short};

use super::super::screen::Tone;
use super::toned_page::{TonedCell, TonedPage};

/// Adds the table, and what is to be known about its figures.
pub(super) fn render(page: &mut TonedPage, report: &Report) {
    let series = in_order(report);
    let longest = series.iter().map(|of| name(of, report).chars().count()).max().unwrap_or(0);
    let columns = columns(&series, longest.max(HEAD.len()), page.width());
    let widths: Vec<usize> = columns.iter().map(|column| column.width(&series)).collect();
    let room = page.width().saturating_sub(widths.iter().map(|width| width + GAP).sum());
    let name_width = longest.clamp(HEAD.len().min(room), room);
    let head = columns.iter().map(|column| (column.head().to_owned(), Tone::Strong));
    line(page, (HEAD, Tone::Strong), name_width, head.zip(&widths));
    for of in series {
        let figures = columns.iter().map(|column| (column.cell(of), column.tone(of)));
        line(page, (&name(of, report), Tone::Plain), name_width, figures.zip(&widths));
    }
    notes(page, report);
}

/// The operations of each workload, then its steps.
fn in_order(report: &Report) -> Vec<&Series> {
    let mut workloads: Vec<&str> = Vec::new();
    for series in &report.series {
        if !workloads.contains(&series.workload.as_str()) {
            workloads.push(&series.workload);
        }
    }
    workloads
        .into_iter()
        .flat_map(|workload| [(workload, SeriesKind::Operation), (workload, SeriesKind::Step)])
        .flat_map(|(workload, kind)| of_workload(report, workload, kind))
        .collect()
}

fn of_workload<'a>(
    report: &'a Report,
    workload: &'a str,
    kind: SeriesKind,
) -> impl Iterator<Item = &'a Series> {
    report.series.iter().filter(move |series| series.workload == workload && series.kind == kind)
}

/// As its row is called. Below several operations nobody could tell whose steps these are.
fn name(series: &Series, report: &Report) -> String {
    let is_among_several = || of_workload(report, &series.workload, SeriesKind::Operation).nth(1).is_some();
    match series.kind {
        SeriesKind::Operation => series.path.clone(),
        SeriesKind::Step if is_among_several() => format!("  {}", series.path),
        SeriesKind::Step => format!("  {}", series.name),
    }
}

/// A name that is longer than its column has a line of its own.
fn line<'a>(
    page: &mut TonedPage,
    (name, tone): (&str, Tone),
    name_width: usize,
    cells: impl Iterator<Item = ((String, Tone), &'a usize)>,
) {
    let mut shown = name;
    if name.chars().count() > name_width {
        page.cells(&[TonedCell { text: name.to_owned(), tone }]);
        shown = "";
    }
    let first = TonedCell { text: format!("{shown:<name_width$}"), tone };
    let figures =
        cells.map(|((text, tone), width)| TonedCell { text: format!("{text:>0$}", width + GAP), tone });
    page.cells(&std::iter::once(first).chain(figures).collect::<Vec<_>>());
}

/// What the reader must know about the figures: notes that differ in their numbers alone once, with the series that the first is of.
fn notes(page: &mut TonedPage, report: &Report) {
    let mut told: Vec<(String, &str, Vec<&str>)> = Vec::new();
    for series in &report.series {
        for note in &series.notes {
            let words = without_numbers(note);
            match told.iter_mut().find(|(known, ..)| *known == words) {
                Some((_, _, paths)) => paths.push(&series.path),
                None => told.push((words, note, vec![&series.path])),
            }
        }
    }
    for (_, note, paths) in told {
        let whose = match paths.as_slice() {
            [_] if report.series.len() == 1 => String::new(),
            [first] => format!(" ({first})"),
            [first, others @ ..] => format!(" ({first}; and likewise {} more)", others.len()),
            [] => String::new(),
        };
        page.paragraph("  note", &format!("{note}{whose}"), Tone::Plain);
    }
}

/// A note without its numbers and their units.
fn without_numbers(note: &str) -> String {
    let is_word = |word: &&str| !word.starts_with(|letter: char| letter.is_ascii_digit());
    note.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")
}

/// A column of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FigureColumn {
    Offered,
    Accepted,
    Failed,
    Mean,
    P50,
    P90,
    P95,
    P99,
    P99_9,
    Longest,
    LagP99,
}

/// The columns for which there is room beside names as long as the `longest`.
fn columns(series: &[&Series], longest: usize, width: usize) -> Vec<FigureColumn> {
    let mut columns = ALWAYS.to_vec();
    let taken =
        |columns: &[FigureColumn]| columns.iter().map(|column| column.width(series) + GAP).sum::<usize>();
    for (column, from) in WHERE_WIDE {
        if width >= from && taken(&columns) + column.width(series) + GAP + longest <= width {
            columns.push(column);
        }
    }
    columns.sort();
    columns
}

impl FigureColumn {
    const fn head(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::Accepted => "accepted",
            Self::Failed => "failed",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
            Self::Longest => "max",
            Self::LagP99 => "lag p99",
        }
    }

    fn width(self, series: &[&Series]) -> usize {
        let cells = series.iter().map(|series| self.cell(series).chars().count());
        cells.chain([self.head().len()]).max().unwrap_or(0)
    }

    fn tone(self, series: &Series) -> Tone {
        Tone::bad_if(self == Self::Failed && failed(series) > 0)
    }

    fn cell(self, series: &Series) -> String {
        let rate = |of: fn(&Rates) -> f64| {
            series.measurement.rates.as_ref().map_or_else(none, |rates| per_second(of(rates)))
        };
        match self {
            Self::Offered => rate(|rates| rates.offered_per_s),
            Self::Accepted => rate(|rates| rates.accepted_per_s),
            Self::Failed => short(failed(series)),
            _ => self.duration(series).map_or_else(none, |figure| figure.to_string().replacen("> ", ">", 1)),
        }
    }

    fn duration(self, series: &Series) -> Option<Nanoseconds> {
        let table = &series.measurement.durations;
        let of: fn(&Durations) -> Nanoseconds = match self {
            Self::Offered | Self::Accepted | Self::Failed => return None,
            Self::LagP99 => return table.dispatch_lag.as_ref().map(|lag| lag.p99_ns),
            Self::Mean => |times| times.mean_ns,
            Self::P50 => |times| times.p50_ns,
            Self::P90 => |times| times.p90_ns,
            Self::P95 => |times| times.p95_ns,
            Self::P99 => |times| times.p99_ns,
            Self::P99_9 => |times| times.p99_9_ns,
            Self::Longest => |times| times.max_ns,
        };
        table.response_time.as_ref().map(of)
    }
}

/// Those that ended in any other way than they should have.
pub(super) fn failed(series: &Series) -> u64 {
    let fates = &series.measurement.counts.fates;
    let meant = if series.refusals_meant { fates.refused } else { 0 };
    fates.failed() - meant
}

fn none() -> String {
    "-".to_owned()
}

const HEAD: &str = "response time";
const GAP: usize = 2;
const ALWAYS: [FigureColumn; 7] = [
    FigureColumn::Offered,
    FigureColumn::Accepted,
    FigureColumn::Failed,
    FigureColumn::P50,
    FigureColumn::P95,
    FigureColumn::P99,
    FigureColumn::Longest,
];
/// Further ones, and from which width on.
const WHERE_WIDE: [(FigureColumn, usize); 4] = [
    (FigureColumn::P99_9, 100),
    (FigureColumn::P90, 100),
    (FigureColumn::Mean, 120),
    (FigureColumn::LagP99, 120),
];

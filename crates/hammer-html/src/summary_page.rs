//! The page of several runs: rates, failures and response times over what was swept, or over rounds.

use hammer_measure::{Nanos, shown_lines};
use hammer_report::Summary;
use hammer_report::report::Nanoseconds;
use hammer_report::summary::{KeyFigures, SummaryRun, Table as SweptTable, TableRow, TableSeries};
use hammer_report::text::number::{grouped, per_second};
use hammer_report::verdict::Standing;
use maud::{Markup, html};
use serde_json::Value;

use crate::axis::{Axis, short, short_rate};
use crate::chart::{Chart, DrawError, Ink, Line};
use crate::figure::{Figure, Row, Table};
use crate::page::{Follows, Page};

/// The page of several runs.
///
/// # Errors
/// Where a chart cannot be drawn, which no figure makes it do.
pub fn summary_document(summary: &Summary) -> Result<String, DrawError> {
    let text = summary.render();
    let title = text.lines().next().unwrap_or_default();
    let stand = |standing| summary.runs.iter().all(|run| run.verdict.standing == standing);
    let agreed = [Standing::Passed, Standing::NoExpectation].into_iter().find(|standing| stand(*standing));
    let standing = if summary.exit_code == 0 { agreed } else { Some(Standing::Failed) };
    let by = summary.by.as_deref().unwrap_or_default();
    let tables =
        summary.tables.iter().map(|table| section(summary, by, table)).collect::<Result<Vec<_>, _>>()?;
    let page = Page {
        title: title.to_owned(),
        standing,
        beneath: html! { @if let Some(stopped) = &summary.stopped { p { (shown_lines(&stopped.text)) } } },
        main: html! {
            @if !summary.limits.is_empty() {
                section { h2 { "Limited rates" } ul { @for limit in &summary.limits { li { (shown_lines(&limit.workload)) ": " (shown_lines(&limit.text)) } } } }
            }
            @if !summary.knees.is_empty() {
                section { h2 { "Knees" } ul { @for knee in &summary.knees { li { (shown_lines(&knee.path)) ": " (shown_lines(&knee.text)) } } } }
            }
            @for table in &tables { (table) }
            (runs(summary))
            section { h2 { "All of it as text" } details open[tables.is_empty()] { summary { "The summary" } pre { (shown_lines(&text)) } } }
        },
        footer: format!("hammer, {} runs", summary.runs.len()),
        follows: Follows::Nothing,
    };
    Ok(page.document())
}

/// The charts of a table, by series.
fn section(summary: &Summary, by: &str, table: &SweptTable) -> Result<Markup, DrawError> {
    let of = table.of.iter().map(|(key, value)| format!("{key} {}", words(value))).collect::<Vec<_>>();
    let mut sections = Vec::new();
    for series in &table.series {
        let places = Places::of(series);
        let runs = Places::runs(summary, by, table, &series.path);
        let figures = [rates(by, series, &places, &runs), times(by, series, &places, &runs)];
        let figures = figures.iter().flatten().map(Figure::markup).collect::<Result<Vec<_>, _>>()?;
        sections.push(html! {
            h2 { (shown_lines(&series.path)) @if !of.is_empty() { ", " (shown_lines(&of.join(", "))) } }
            div.figures { @for figure in &figures { (figure) } }
        });
    }
    Ok(html! { section { @for section in &sections { (section) } } })
}

/// Where the values that a table goes by stand: as numbers where all are, else side by side.
struct Places {
    axis: Axis,
    of_rows: Vec<f64>,
}

impl Places {
    fn of(series: &TableSeries) -> Self {
        let numbers: Option<Vec<f64>> =
            series.rows.iter().map(|row| row.at.as_f64().filter(|at| *at >= 0.0)).collect();
        let numbers = numbers.filter(|numbers| numbers.len() > 1);
        let side_by_side = || (0..series.rows.len()).map(|place| place as f64 + 0.5).collect::<Vec<_>>();
        let axis = match &numbers {
            Some(numbers) => Axis::linear(numbers.iter().copied().fold(0.0, f64::max), short),
            None => Axis::labelled(series.rows.iter().map(|row| words(&row.at)).collect()),
        };
        Self { axis, of_rows: numbers.unwrap_or_else(side_by_side) }
    }

    /// The figures of each run of a series, with the value that it was run at.
    fn runs<'a>(
        summary: &'a Summary,
        by: &str,
        table: &SweptTable,
        path: &str,
    ) -> Vec<(Value, &'a KeyFigures)> {
        let is_of =
            |run: &&SummaryRun| table.of.iter().all(|(key, value)| run.labels.get(key) == Some(value));
        let figures = summary.runs.iter().filter(is_of).filter_map(|run| {
            let found = run.series.iter().chain(&run.steps).find(|figures| figures.path == path)?;
            Some((run.place(by)?, found))
        });
        figures.collect()
    }

    /// The place of a run, by its value.
    fn of_run(&self, series: &TableSeries, at: &Value) -> Option<f64> {
        let row = series.rows.iter().position(|row| row.at == *at)?;
        self.of_rows.get(row).copied()
    }

    /// A line through rows, and behind it, where there are several runs of a row, a point for each run.
    fn line(
        &self,
        ink: Ink,
        (series, figure): (&TableSeries, RowFigure),
        (runs, of_run): (&[(Value, &KeyFigures)], RunFigure),
    ) -> Line {
        let rows = series.rows.iter().zip(&self.of_rows).map(|(row, at)| Some((*at, figure(row)?)));
        let each = series.rows.iter().any(|row| row.runs > 1);
        let points = runs
            .iter()
            .filter(|_| each)
            .map(|(at, figures)| Some((self.of_run(series, at)?, of_run(figures)?)));
        let apart = points.flat_map(|point| [None, point]);
        Line { ink, points: rows.chain(apart).collect() }
    }
}

type RowFigure = fn(&TableRow) -> Option<f64>;
type RunFigure = fn(&KeyFigures) -> Option<f64>;

/// A figure of rows and of runs, and what it is called.
struct Named {
    ink: Ink,
    name: &'static str,
    of_row: RowFigure,
    of_run: RunFigure,
}

const RATES: [Named; 2] = [
    Named {
        ink: Ink::First,
        name: "requests",
        of_row: |row| row.requests_per_s,
        of_run: |figures| figures.completed_per_s,
    },
    Named {
        ink: Ink::Third,
        name: "failures",
        of_row: |row| row.failures_per_s,
        of_run: |figures| figures.failed_per_s,
    },
];
const TIMES: [Named; 2] = [
    Named {
        ink: Ink::First,
        name: "p50",
        of_row: |row| ended(row.p50_ns),
        of_run: |figures| ended(figures.response_p50_ns),
    },
    Named {
        ink: Ink::Second,
        name: "p95",
        of_row: |row| ended(row.p95_ns),
        of_run: |figures| ended(figures.response_p95_ns),
    },
];

/// A duration that ended.
const fn ended(figure: Option<Nanoseconds>) -> Option<f64> {
    match figure {
        Some(Nanoseconds::At(nanos)) => Some(nanos as f64),
        Some(Nanoseconds::Beyond { .. }) | None => None,
    }
}

/// All figures that are drawn.
fn all_of<'a>(
    named: &'a [Named],
    series: &'a TableSeries,
    runs: &'a [(Value, &KeyFigures)],
) -> impl Iterator<Item = f64> + 'a {
    named.iter().flat_map(|of| {
        let of_runs = runs.iter().filter_map(|(_, figures)| (of.of_run)(figures));
        series.rows.iter().filter_map(of.of_row).chain(of_runs)
    })
}

fn rates(by: &str, series: &TableSeries, places: &Places, runs: &[(Value, &KeyFigures)]) -> Option<Figure> {
    let up = Axis::linear(all_of(&RATES, series, runs).max_by(f64::total_cmp)?, short_rate);
    Some(figure(("Rate", by), series, places, runs, (up, &RATES), |figure| {
        figure.map_or_else(none, per_second)
    }))
}

fn times(by: &str, series: &TableSeries, places: &Places, runs: &[(Value, &KeyFigures)]) -> Option<Figure> {
    let all = || all_of(&TIMES, series, runs);
    let (least, most) = (all().min_by(f64::total_cmp)?, all().max_by(f64::total_cmp)?);
    let up = Axis::durations(Nanos(least as u64), Nanos(most as u64));
    let shown = |figure: Option<f64>| {
        figure.map_or_else(|| "beyond".to_owned(), |nanos| Nanos(nanos as u64).to_string())
    };
    Some(figure(("Response time", by), series, places, runs, (up, &TIMES), shown))
}

fn figure(
    (title, by): (&str, &str),
    series: &TableSeries,
    places: &Places,
    runs: &[(Value, &KeyFigures)],
    (up, named): (Axis, &[Named]),
    shown: impl Fn(Option<f64>) -> String,
) -> Figure {
    let most = series.rows.iter().map(|row| row.runs).max().unwrap_or_default();
    let note = match most {
        0 | 1 => format!("by {by}"),
        runs => format!("by {by}; lines are medians of {runs} runs at most, points the runs"),
    };
    let lines = named.iter().map(|of| places.line(of.ink, (series, of.of_row), (runs, of.of_run)));
    let chart = Chart {
        lines: lines.collect(),
        ..Chart::new(format!("{title} of {} by {by}", series.path), places.axis.clone(), up)
    };
    let rows = series.rows.iter().zip(&places.of_rows).map(|(row, at)| {
        let figures = named.iter().map(|of| shown((of.of_row)(row)));
        Row { across: *at, cells: [words(&row.at), grouped(row.runs)].into_iter().chain(figures).collect() }
    });
    let header = ["at", "runs"].into_iter().chain(named.iter().map(|of| of.name)).collect();
    Figure {
        title: title.to_owned(),
        note,
        legend: named.iter().map(|of| (of.ink, of.name)).collect(),
        table: Table { header, rows: rows.collect() },
        chart,
    }
}

/// What is said against runs.
fn runs(summary: &Summary) -> Markup {
    html! {
        section {
            h2 { "Runs" }
            div.scroll {
                table {
                    thead { tr { @for name in ["run", "series", "offered", "accepted", "failed", "p50", "p99", "verdict"] { th scope="col" { (name) } } } }
                    tbody {
                        @for run in &summary.runs {
                            @for series in &run.series {
                                tr.fails[run.verdict.exit_code != 0] {
                                    td { (shown_lines(&labels(run))) }
                                    td { (shown_lines(&series.path)) }
                                    td { (series.offered_per_s.map_or_else(none, per_second)) }
                                    td { (series.accepted_per_s.map_or_else(none, per_second)) }
                                    td { (grouped(series.failed)) }
                                    td { (series.response_p50_ns.map_or_else(none, |figure| figure.to_string())) }
                                    td { (series.response_p99_ns.map_or_else(none, |figure| figure.to_string())) }
                                    td.quoted { (shown_lines(&run.verdict.to_string())) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn labels(run: &SummaryRun) -> String {
    run.labels.iter().map(|(key, value)| format!("{key} {}", words(value))).collect::<Vec<_>>().join(", ")
}

/// A value as it is read: a text without its quotation marks.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn none() -> String {
    "-".to_owned()
}

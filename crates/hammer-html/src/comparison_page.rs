//! The page of a comparison: what is concluded, what speaks against it, and the figures of each run beside one another.

use hammer_compare::{Bar, Block, ComparedFigure, Comparison, FoundBound, Metric};
use hammer_measure::shown_lines;
use hammer_report::verdict::Standing;
use maud::{Markup, html};

use crate::axis::{Axis, short_rate};
use crate::chart::{Chart, DrawError, Ink, Line};
use crate::figure::{Figure, Row, Table};
use crate::page::{Follows, Page};

/// The page of a comparison, and of the bounds that do not hold.
///
/// # Errors
/// Where a chart cannot be drawn, which no figure makes it do.
pub fn comparison_document(comparison: &Comparison, found: &[FoundBound]) -> Result<String, DrawError> {
    let told = comparison.page(found);
    let (title, blocks) = match told.blocks.split_first() {
        Some((Block::Heading(title), blocks)) => (title.clone(), blocks),
        _ => (String::new(), told.blocks.as_slice()),
    };
    let (verdict, blocks) = blocks.split_at(blocks.len().min(1));
    let mut charts = Vec::new();
    for figure in shown_figures(comparison) {
        charts.extend(chart(comparison, figure).map(|chart| chart.markup()).transpose()?);
    }
    let page = Page {
        title,
        standing: (!found.is_empty()).then_some(Standing::Failed),
        beneath: html! { @for block in verdict { (markup(block)) } },
        main: html! {
            section.series { div.figures { @for chart in &charts { (chart) } } }
            @for block in blocks { (markup(block)) }
        },
        footer: "hammer compare: runs are the samples".to_owned(),
        follows: Follows::Nothing,
    };
    Ok(page.document())
}

/// The verdict's figure, the rate, and the median and 99th percentile of response times, of the verdict's series.
fn shown_figures(comparison: &Comparison) -> impl Iterator<Item = &ComparedFigure> {
    let others = [Metric::Rate, Metric::P50, Metric::P99];
    let verdict = &comparison.verdict;
    let figures = comparison.series.first().map(|series| series.figures.as_slice()).unwrap_or_default();
    let others = others.into_iter().filter(|metric| *metric != verdict.metric);
    std::iter::once(verdict)
        .chain(others.filter_map(|metric| figures.iter().find(|figure| figure.metric == metric)))
}

/// A figure of each run, by variants; none where no run has it.
fn chart(comparison: &Comparison, figure: &ComparedFigure) -> Option<Figure> {
    let metric = figure.metric;
    let known = || figure.samples.iter().flat_map(|sample| sample.runs().iter().flatten().copied());
    let label = |value| if metric == Metric::Rate { short_rate(value) } else { metric.shown(value) };
    let up = Axis::linear(known().max_by(f64::total_cmp)?, label);
    let labels = comparison.variants.iter().map(|variant| variant.label.clone()).collect();
    let places = figure.samples.iter().enumerate().map(|(place, sample)| (place as f64 + 0.5, sample));
    let runs = places.clone().flat_map(|(at, sample)| {
        sample.runs().iter().flat_map(move |run| [None, run.map(|figure| (at, figure))])
    });
    let means = places.clone().flat_map(|(at, sample)| {
        let end = |to: f64| sample.mean().map(|mean| (at + to, mean));
        [None, end(-0.2), end(0.2)]
    });
    let lines = vec![
        Line { ink: Ink::Second, points: means.collect() },
        Line { ink: Ink::First, points: runs.collect() },
    ];
    let shown = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |figure| metric.shown(figure));
    let rows = places.flat_map(|(at, sample)| {
        let label = &comparison.variants[at as usize].label;
        let runs = sample.runs().iter().enumerate();
        runs.map(move |(run, figure)| Row {
            across: at,
            cells: vec![format!("{label}, run {}", run + 1), shown(*figure), shown(sample.mean())],
        })
    });
    let path = comparison.series.first().map_or("", |series| series.path.as_str());
    Some(Figure {
        title: format!("{metric} of {path}"),
        note: String::new(),
        legend: vec![(Ink::First, "a run"), (Ink::Second, "mean of a variant")],
        table: Table { header: vec!["run", "figure", "mean"], rows: rows.collect() },
        chart: Chart {
            lines,
            ..Chart::new(format!("{metric} of {path} by variants"), Axis::labelled(labels), up)
        },
    })
}

fn markup(block: &Block) -> Markup {
    html! {
        @match block {
            Block::Heading(text) => h2 { (shown_lines(text)) },
            Block::List(lines) => ul { @for line in lines { li { (shown_lines(line)) } } },
            Block::Bars(bars) => pre { @for line in Bar::lines(bars) { (shown_lines(&line)) "\n" } },
            Block::Table { header, rows } => div.scroll {
                table {
                    thead { tr { @for name in header { th scope="col" { (shown_lines(name)) } } } }
                    tbody {
                        @for row in rows {
                            tr {
                                @for (place, cell) in row.iter().enumerate() {
                                    @if place == 0 { th scope="row" { (shown_lines(cell)) } } @else { td { (shown_lines(cell)) } }
                                }
                            }
                        }
                    }
                }
            },
        }
    }
}

//! The page of a comparison: what is concluded, what speaks against it, and the figures of each run beside one another.

use hammer_compare::{
    Bar, Block, ComparedFigure, Comparison, FoundBound, Metric, SweepComparison, SweptPoint,
};
use hammer_measure::shown_lines;
use hammer_report::verdict::Standing;
use maud::{Markup, html};

use crate::axis::{Axis, short_rate};
use crate::chart::{Chart, DrawError, Ink, Line};
use crate::figure::{Figure, Row, Table};
use crate::page::{Follows, Page};

/// The page of a comparison, and of the bounds that do not hold; it says whether what was asked failed.
///
/// # Errors
/// Where a chart cannot be drawn, which no figure makes it do.
pub fn comparison_document(comparison: &Comparison, found: &[FoundBound]) -> Result<String, DrawError> {
    let charts = shown_figures(comparison).filter_map(|figure| chart(comparison, figure));
    document(&comparison.page(found), charts, comparison.fails(found))
}

/// The page of sweeps side by side: the verdict's figure and the rate by points, and what is printed of them.
///
/// # Errors
/// Where a chart cannot be drawn, which no figure makes it do.
pub fn sweep_comparison_document(
    sweeps: &SweepComparison,
    found: &[FoundBound],
) -> Result<String, DrawError> {
    let Some(first) = sweeps.points.first() else {
        return document(&sweeps.page(found), std::iter::empty(), false);
    };
    let verdict = first.comparison.verdict.metric;
    let metrics: &[Metric] = if verdict == Metric::Rate { &[verdict] } else { &[verdict, Metric::Rate] };
    let paths = sweeps.verdict_paths();
    let charts =
        paths.iter().flat_map(|path| metrics.iter().filter_map(|metric| swept_chart(sweeps, path, *metric)));
    document(&sweeps.page(found), charts, sweeps.fails(found))
}

/// The page of what is told beside no chart: its first block is the title, and its second stands beneath.
///
/// # Errors
/// None: it has no chart.
pub fn told_document(told: &hammer_compare::Page) -> Result<String, DrawError> {
    document(told, std::iter::empty(), false)
}

fn document(
    told: &hammer_compare::Page,
    charts: impl Iterator<Item = Figure>,
    fails: bool,
) -> Result<String, DrawError> {
    let (title, blocks) = match told.blocks.split_first() {
        Some((Block::Heading(title), blocks)) => (title.clone(), blocks),
        _ => (String::new(), told.blocks.as_slice()),
    };
    let (verdict, blocks) = blocks.split_at(blocks.len().min(1));
    let charts = charts.map(|chart| chart.markup()).collect::<Result<Vec<_>, _>>()?;
    let page = Page {
        title,
        standing: fails.then_some(Standing::Failed),
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
    let (across, told) = across(comparison.variants.iter().map(|variant| variant.label.clone()).collect());
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
        note: told.join(", "),
        legend: vec![(Ink::First, "a run"), (Ink::Second, "mean of a variant")],
        table: Table { header: vec!["run", "figure", "mean"], rows: rows.collect() },
        chart: Chart { lines, ..Chart::new(format!("{metric} of {path} by variants"), across, up) },
    })
}

/// A figure of a series by the points of sweeps whose verdict goes by it, a line for each variant; none of more variants than there are inks, or where no
/// point has it.
fn swept_chart(sweeps: &SweepComparison, path: &str, metric: Metric) -> Option<Figure> {
    let variants = sweeps.labels.len();
    if variants > INKS.len() {
        return None;
    }
    let points: Vec<&SweptPoint> =
        sweeps.points.iter().filter(|point| point.comparison.series[0].path == path).collect();
    let mean = |place: usize, variant: usize| {
        let figures = &points[place].comparison.series[0].figures;
        let sample = figures.iter().find(|figure| figure.metric == metric)?.samples.get(variant)?;
        sample.mean().filter(|mean| mean.is_finite())
    };
    let places = 0..points.len();
    let known = places.clone().flat_map(|place| (0..variants).filter_map(move |of| mean(place, of)));
    let label = |value| if metric == Metric::Rate { short_rate(value) } else { metric.shown(value) };
    let up = Axis::linear(known.max_by(f64::total_cmp)?, label);
    let at = |place: usize| place as f64 + 0.5;
    let line = |variant: usize| Line {
        ink: INKS[variant].0,
        points: places.clone().map(|place| mean(place, variant).map(|mean| (at(place), mean))).collect(),
    };
    let shown = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |figure| metric.shown(figure));
    let row = |place: usize| Row {
        across: at(place),
        cells: std::iter::once(points[place].name.clone())
            .chain((0..variants).map(|variant| shown(mean(place, variant))))
            .collect(),
    };
    let called = sweeps.labels.iter().zip(INKS).map(|(label, (_, name))| format!("{name}: {label}"));
    let (across, told) = across(points.iter().map(|point| point.name.clone()).collect());
    Some(Figure {
        title: format!("{metric} of {path} by points"),
        note: called.chain(told).collect::<Vec<_>>().join(", "),
        legend: INKS[..variants].to_vec(),
        table: Table {
            header: std::iter::once("point").chain(INKS[..variants].iter().map(|(_, name)| *name)).collect(),
            rows: places.clone().map(row).collect(),
        },
        chart: Chart {
            lines: (0..variants).map(line).collect(),
            ..Chart::new(format!("{metric} of {path} by the points of sweeps"), across, up)
        },
    })
}

/// An axis of labels side by side. Where they would lie over one another it has their numbers, of very many only some, and what a number stands for is told.
fn across(labels: Vec<String>) -> (Axis, Vec<String>) {
    let widest = |labels: &[String]| labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let fits = |labels: &[String]| (widest(labels) + 2) * labels.len() <= LETTERS_ACROSS;
    if fits(&labels) {
        return (Axis::labelled(labels), Vec::new());
    }
    let numbers: Vec<String> = (1..=labels.len()).map(|number| number.to_string()).collect();
    let each = ((widest(&numbers) + 2) * numbers.len()).div_ceil(LETTERS_ACROSS);
    let is_shown = |place: usize| place.is_multiple_of(each);
    let shown = numbers.into_iter().enumerate();
    let shown = shown.map(|(place, number)| if is_shown(place) { number } else { String::new() });
    let told = labels.iter().zip(1..).filter(|(_, number)| is_shown(number - 1));
    let told = told.map(|(label, number)| format!("{number} is {label}"));
    (Axis::labelled(shown.collect()), told.collect())
}

/// Letters that stand below a chart.
const LETTERS_ACROSS: usize = 48;

const INKS: [(Ink, &str); 3] =
    [(Ink::First, "first variant"), (Ink::Second, "second variant"), (Ink::Third, "third variant")];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_would_lie_over_one_another_are_numbered() {
        let named = |labels: &[&str]| across(labels.iter().map(|label| (*label).to_owned()).collect());
        let ticks = |axis: Axis| axis.ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        let (axis, told) = named(&["2.x", "3.x"]);
        assert!(told.is_empty() && ticks(axis) == ["2.x", "3.x"]);
        let (axis, told) = named(&["/hops/backend/${page}", "/hops/authenticated/${page}", "/${page}"]);
        assert_eq!(ticks(axis), ["1", "2", "3"]);
        assert_eq!(told[1], "2 is /hops/authenticated/${page}");
        let (axis, told) = across((0..57).map(|users| format!("{users}, verify")).collect());
        let shown = ticks(axis).iter().filter(|label| !label.is_empty()).count();
        assert!(shown * 4 <= LETTERS_ACROSS && shown > 5 && told.len() == shown, "{shown} {told:?}");
    }
}

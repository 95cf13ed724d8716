//! The page of a run.

use hammer_measure::{Nanos, shown_lines};
use hammer_report::report::{Cause, Fates, Report, Series, SeriesKind};
use hammer_report::text::number::{grouped, per_second, percent};
use hammer_report::text::{self, ToldEvent};
use maud::{Markup, html};

use crate::chart::DrawError;
use crate::figure::Figure;
use crate::page::Page;
use crate::rates::rates;
use crate::response_times::{heat_map, percentiles, response_times};
use crate::run_time::RunTime;

/// The page of a report.
///
/// # Errors
/// Where a chart cannot be drawn, which no figure makes it do.
pub fn document(report: &Report) -> Result<String, DrawError> {
    let time = RunTime::of(report);
    let series = report.series.iter().enumerate();
    let (operations, steps): (Vec<_>, Vec<_>) =
        series.partition(|(_, series)| series.kind == SeriesKind::Operation);
    let of_series = |(place, of): &(usize, &Series)| section(report, &time, *place, of);
    let operations = operations.iter().map(of_series).collect::<Result<Vec<_>, _>>()?;
    let steps = steps.iter().map(of_series).collect::<Result<Vec<_>, _>>()?;
    let observed = observations(report, &time)?;
    let page = Page {
        title: text::verdict(report),
        standing: Some(report.verdict.standing),
        beneath: health(report),
        main: html! {
            (facts(report))
            (promises(report))
            (thresholds(report))
            @for section in &operations { (section) }
            @for figure in &observed { (figure) }
            (events(report))
            @if !steps.is_empty() {
                section {
                    h2 { "Steps within operations" }
                    @for step in &steps { details { (step) } }
                }
            }
            section {
                h2 { "All of it as text" }
                details { summary { "The report" } pre { (shown_lines(&text::render(report))) } }
                details { summary { "The plan, every default written out" } pre { (plan(report)) } }
            }
        },
        footer: format!("{} {}, seed {}", report.tool.name, report.tool.version, report.run.seed),
    };
    Ok(page.document())
}

/// Whether the figures can be believed.
fn health(report: &Report) -> Markup {
    let tolerated = if report.health.on_fail.is_fail() { "" } else { ", which the plan tolerates" };
    html! {
        @if report.health.healthy {
            p { "Its figures can be believed: the generator kept its plan." }
        } @else {
            p { b { "Its figures are in doubt" } (tolerated) ":" }
            ul {
                @for finding in &report.health.findings {
                    li { (shown_lines(&finding.text)) @if !finding.remedy.is_empty() { " (" (shown_lines(&finding.remedy)) ")" } }
                }
            }
        }
    }
}

/// What a reader looks for first.
fn facts(report: &Report) -> Markup {
    let phases = report
        .phases
        .iter()
        .map(|span| format!("{} {}", span.phase.words(), Nanos(span.end_ns.saturating_sub(span.begin_ns))));
    let all = &report.totals.all;
    let facts = [
        ("started", report.run.epoch.clone()),
        ("phases", phases.collect::<Vec<_>>().join(", ")),
        ("ended", report.run.stopped.clone()),
        ("offered", grouped(all.offered)),
        ("accepted", grouped(all.fates.accepted)),
        (
            "promises",
            match report.promises.all.made {
                0 => "none made".to_owned(),
                made => format!(
                    "{} made, {} kept, {} broken",
                    grouped(made),
                    grouped(report.promises.all.kept),
                    grouped(report.promises.all.broken)
                ),
            },
        ),
    ];
    html! {
        dl.facts {
            @for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
                div { dt { (name) } dd { (shown_lines(fact)) } }
            }
        }
    }
}

fn section(report: &Report, time: &RunTime, place: usize, series: &Series) -> Result<Markup, DrawError> {
    let times = report.response_times.get(place);
    let figures = [
        rates(time, report, place, series),
        times.and_then(|times| response_times(time, times)),
        percentiles(series),
        times.and_then(|times| heat_map(time, times)),
    ];
    let figures = figures.iter().flatten().map(Figure::markup).collect::<Result<Vec<_>, _>>()?;
    let summary = html! {
        @if series.kind == SeriesKind::Operation { h2 { (shown_lines(&series.path)) } } @else { summary { (shown_lines(&series.path)) } }
    };
    Ok(html! {
        (summary)
        section.series {
            (durations(series))
            div.figures { @for figure in &figures { (figure) } }
            (fates(series))
        }
    })
}

/// The durations of measurement.
fn durations(series: &Series) -> Markup {
    let figures = &series.measurement;
    let table = &figures.durations;
    html! {
        div.scroll {
            table.durations {
                thead { tr { th scope="col" { "over measurement" } @for name in ["count", "mean", "p50", "p90", "p99", "p99.9", "max"] { th scope="col" { (name) } } } }
                tbody {
                    @for (name, durations) in table.entries() {
                        tr {
                            th scope="row" {
                                @if table.response_time_by_fate.contains_key(name) { "response time, " }
                                (name.replace('_', " "))
                            }
                            td { (grouped(durations.count)) }
                            @for figure in [durations.mean_ns, durations.p50_ns, durations.p90_ns, durations.p99_ns, durations.p99_9_ns, durations.max_ns] {
                                td { (figure) }
                            }
                        }
                    }
                }
            }
        }
        @if let Some(rates) = figures.rates {
            p.note {
                (per_second(rates.offered_per_s)) " offered, " (per_second(rates.completed_per_s)) " completed, "
                (per_second(rates.accepted_per_s)) " accepted over measurement"
            }
        }
    }
}

/// What became of a series' arrivals, and why.
fn fates(series: &Series) -> Markup {
    let mut all = Fates::default();
    [&series.warm_up, &series.measurement].iter().for_each(|phase| all.add(&phase.counts.fates));
    let offered = series.warm_up.counts.offered + series.measurement.counts.offered;
    let share = |count: i64| if offered > 0 { count as f64 / offered as f64 } else { 0.0 };
    let causes: Vec<(&str, &Cause)> = [("warm-up", &series.warm_up), ("measurement", &series.measurement)]
        .into_iter()
        .flat_map(|(phase, figures)| text::told_causes(figures).map(move |cause| (phase, cause)))
        .collect();
    html! {
        h3 { "What became of " (grouped(offered)) " offered" }
        table.fates {
            @for (name, count) in all.entries().filter(|(_, count)| *count != 0) {
                tr {
                    th scope="row" { (name.replace('_', " ")) }
                    td { (grouped(count.unsigned_abs())) }
                    td { (percent(share(count))) }
                    td.bar { i style=(format!("width:{:.2}%", 100.0 * share(count))) {} }
                }
            }
        }
        @if !causes.is_empty() {
            div.scroll {
                table {
                    thead { tr { @for name in ["cause", "fate", "phase", "count", "first answer"] { th scope="col" { (name) } } } }
                    tbody {
                        @for (phase, cause) in causes {
                            tr {
                                td { (shown_lines(&cause.cause)) }
                                td { (cause.fate) }
                                td { (phase) }
                                td { (grouped(cause.count)) }
                                td.quoted { (shown_lines(cause.answer.as_deref().unwrap_or_default())) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn promises(report: &Report) -> Markup {
    let promises = &report.promises;
    html! {
        @if promises.all.made > 0 {
            section {
                h2 { "Promises" }
                div.scroll {
                    table {
                        thead { tr { @for name in ["", "made", "kept", "broken", "pending", "unchecked"] { th scope="col" { (name) } } } }
                        tbody {
                            @let kinds = promises.by_kind.iter().map(|of| (format!("{}, {}", of.workload, of.kind), of.promises));
                            @for (name, counts) in std::iter::once(("all".to_owned(), promises.all)).chain(kinds) {
                                tr {
                                    th scope="row" { (shown_lines(&name)) }
                                    @for count in [counts.made, counts.kept, counts.broken, counts.pending, counts.unchecked] { td { (grouped(count)) } }
                                }
                            }
                        }
                    }
                }
                @if !report.breaches.is_empty() {
                    h3 { "Broken" }
                    ul.broken {
                        @for breach in &report.breaches {
                            li {
                                b { (shown_lines(&breach.kind)) } ", " (shown_lines(&breach.workload))
                                @if let Some(seq) = breach.seq { ", operation " (grouped(seq)) }
                                ": " (shown_lines(&breach.detail))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn thresholds(report: &Report) -> Markup {
    html! {
        @if !report.thresholds.is_empty() {
            section {
                h2 { "Thresholds" }
                div.scroll {
                    table {
                        thead { tr { @for name in ["", "threshold", "on", "found"] { th scope="col" { (name) } } } }
                        tbody {
                            @for threshold in &report.thresholds {
                                tr.fails[!threshold.holds] {
                                    td { (if threshold.holds { "holds" } else { "fails" }) }
                                    td { (shown_lines(&threshold.threshold)) }
                                    td { (shown_lines(&threshold.series)) }
                                    td { (shown_lines(&threshold.found)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What observers saw, each over the run.
fn observations(report: &Report, time: &RunTime) -> Result<Vec<Markup>, DrawError> {
    let figures = report.observations.iter().filter_map(|seen| time.observed(seen));
    let figures = figures.map(|figure| figure.markup()).collect::<Result<Vec<_>, _>>()?;
    Ok(match figures.is_empty() {
        true => Vec::new(),
        false => {
            vec![html! { section { h2 { "Observed" } div.figures { @for figure in &figures { (figure) } } } }]
        }
    })
}

fn events(report: &Report) -> Markup {
    let events = text::told_events(report);
    html! {
        @if !events.is_empty() {
            section {
                h2 { "What else happened" }
                div.scroll {
                    table {
                        thead { tr { @for name in ["at", "", ""] { th scope="col" { (name) } } } }
                        tbody {
                            @for ToldEvent { at, label, text } in &events {
                                tr { td { (at) } td { (label) } td.quoted { (shown_lines(text)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn plan(report: &Report) -> String {
    shown_lines(&serde_json::to_string_pretty(&report.plan).unwrap_or_default()).into_owned()
}

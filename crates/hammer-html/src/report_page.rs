//! The page of a run.

use hammer_measure::{Nanos, shown_lines};
use hammer_report::report::{Cause, Fates, Report, Series, SeriesKind};
use hammer_report::text::number::{grouped, per_second, percent, plural};
use hammer_report::text::{self, ToldEvent};
use hammer_report::{LoggedTimes, Window};
use maud::{Markup, html};
use serde_json::Value;

use crate::chart::DrawError;
use crate::charted_run::ChartedRun;
use crate::figure::Figure;
use crate::page::{Follows, Page};
use crate::rates::rates;
use crate::response_times::{heat_map, percentiles, response_times};
use crate::run_time::amount;

/// The page of a report.
///
/// # Errors
/// Where a chart cannot be drawn, which no figure makes it do.
pub fn document(report: &Report) -> Result<String, DrawError> {
    page(&ChartedRun::whole(report))
}

/// The page of a report whose charts are of a window of its run, and their response times those of its interval log, if it is given.
///
/// # Errors
/// As [`document`].
pub fn window_document(
    report: &Report,
    window: Window,
    logged: Option<&LoggedTimes>,
) -> Result<String, DrawError> {
    page(&ChartedRun::of(report, window, logged))
}

fn page(run: &ChartedRun<'_>) -> Result<String, DrawError> {
    let report = run.report;
    let parts = parts(run)?;
    let page = Page {
        title: title(report),
        standing: Some(report.verdict.standing),
        beneath: html! { (health(report)) (run.told()) },
        main: html! { @for part in &parts { (part.markup) } (as_text(report)) },
        footer: footer(report),
        follows: Follows::Nothing,
    };
    Ok(page.document())
}

/// A part of a page, which can be made anew without the others.
pub(crate) struct Part {
    /// What it is known by: `facts`, `series-0`.
    pub(crate) id: String,
    /// Empty where there is nothing to say.
    pub(crate) markup: Markup,
}

/// What stands between the banner and the report as text. Each report of a run has the same parts.
///
/// # Errors
/// Where a chart cannot be drawn.
pub(crate) fn parts(run: &ChartedRun<'_>) -> Result<Vec<Part>, DrawError> {
    let report = run.report;
    let part = |id: &str, markup: Markup| Part { id: id.to_owned(), markup };
    let mut parts = vec![
        part("facts", facts(report)),
        part("disruptions", disruptions(report)),
        part("promises", promises(report)),
        part("thresholds", thresholds(report)),
    ];
    let of_kind = |kind| report.series.iter().enumerate().filter(move |(_, series)| series.kind == kind);
    for (place, of) in of_kind(SeriesKind::Operation) {
        parts.push(part(&format!("series-{place}"), section(run, place, of)?));
    }
    parts.push(part("observed", observations(run)?.unwrap_or_default()));
    parts.push(part("events", events(report)));
    let steps = of_kind(SeriesKind::Step).map(|(place, of)| section(run, place, of));
    let steps = steps.collect::<Result<Vec<_>, _>>()?;
    let steps = html! {
        @if !steps.is_empty() {
            section.folded {
                h2 { "Steps within operations" }
                @for step in &steps { details { (step) } }
            }
        }
    };
    parts.push(part("steps", steps));
    Ok(parts)
}

/// The first line of the banner.
pub(crate) fn title(report: &Report) -> String {
    match named(report) {
        Some(name) => format!("{name}: {}", text::verdict(report)),
        None => text::verdict(report),
    }
}

pub(crate) fn footer(report: &Report) -> String {
    format!("{} {}, seed {}", report.tool.name, report.tool.version, report.run.seed)
}

fn as_text(report: &Report) -> Markup {
    html! {
        section.folded {
            h2 { "All of it as text" }
            details { summary { "What was used, connections, and what else there is to say" } pre { (shown_lines(&text::surroundings(report))) } }
            details { summary { "The report" } pre { (shown_lines(&text::render(report))) } }
            details { summary { "The plan, every default written out" } pre { (plan(report)) } }
        }
    }
}

/// Whether the figures can be believed.
pub(crate) fn health(report: &Report) -> Markup {
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
    let run = &report.run;
    let facts = [
        ("started", run.epoch.clone()),
        ("target", targets(report)),
        ("generator", format!("{} on {}", plural(run.shards, "shard"), plural(u64::from(run.cores), "core"))),
        ("phases", phases.collect::<Vec<_>>().join(", ")),
        ("ended", run.stopped.clone()),
        ("offered, warm-up included", grouped(all.offered)),
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
        p.note {
            "In charts over the run " span.key { i.shade {} "is warm-up and drain" } ", "
            @if !report.disruptions.is_empty() || !report.bursts.is_empty() { span.key { i.alarm {} "when it was served otherwise" } ", " }
            "and " span.key { i.mark {} "something that happened" } "."
        }
    }
}

/// What the plan is called.
pub(crate) fn named(report: &Report) -> Option<&str> {
    report.plan.get("name")?.as_str().filter(|name| !name.is_empty())
}

/// The URLs that the plan's target has, or that it is embedded.
fn targets(report: &Report) -> String {
    let mut urls = Vec::new();
    take_urls(&report.plan["target"], &mut urls);
    match urls.as_slice() {
        [] if report.plan["target"]["lab"].is_object() => "embedded".to_owned(),
        urls => urls.join(" "),
    }
}

fn take_urls(value: &Value, urls: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        match value.as_str().filter(|_| key.ends_with("url")) {
            Some(url) if urls.len() < MOST_URLS => urls.push(url.to_owned()),
            _ => take_urls(value, urls),
        }
    }
}

fn disruptions(report: &Report) -> Markup {
    let told = text::disruptions(report);
    html! {
        @if !told.is_empty() { section { h2 { "When it was served otherwise" } pre { (shown_lines(&told)) } } }
    }
}

fn section(run: &ChartedRun<'_>, place: usize, series: &Series) -> Result<Markup, DrawError> {
    let figures = [
        rates(run, place, series),
        response_times(run, place),
        percentiles(run, place, series),
        heat_map(run, place),
    ];
    let figures = figures.iter().flatten().map(Figure::markup).collect::<Result<Vec<_>, _>>()?;
    let summary = html! {
        @if series.kind == SeriesKind::Operation { h2 { (shown_lines(&series.path)) } } @else { summary { (shown_lines(&series.path)) } }
    };
    Ok(html! {
        (summary)
        section.series {
            (durations(series))
            @for note in text::series_notes(series) { p.note { (shown_lines(&note)) } }
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
            h3 { "Causes" }
            div.scroll {
                table {
                    thead { tr { @for name in ["cause", "fate", "phase", "count"] { th scope="col" { (name) } } th.quoted scope="col" { "first answer" } } }
                    tbody {
                        @for (phase, cause) in causes {
                            tr {
                                td { (shown_lines(&cause.cause)) }
                                td { (cause.fate.replace('_', " ")) }
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
                        @for breach in report.breaches.iter().take(MOST_BREACHES) {
                            li {
                                b { (shown_lines(&breach.kind)) } ", " (shown_lines(&breach.workload))
                                @if let Some(seq) = breach.seq { ", operation " (grouped(seq)) }
                                ": " (shown_lines(&breach.detail))
                            }
                        }
                        @let more = promises.all.broken.saturating_sub(MOST_BREACHES as u64);
                        @if more > 0 { li { "and " (grouped(more)) " more" } }
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
                        thead { tr { th scope="col" {} @for name in ["threshold", "on", "found"] { th.quoted scope="col" { (name) } } } }
                        tbody {
                            @for threshold in &report.thresholds {
                                tr.fails[!threshold.holds] {
                                    td { (if threshold.holds { "holds" } else { "fails" }) }
                                    td.quoted { (shown_lines(&threshold.threshold)) }
                                    td.quoted { (shown_lines(&threshold.series)) }
                                    td.quoted { (shown_lines(&threshold.found)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What observers saw, over the run where it changed.
fn observations(run: &ChartedRun<'_>) -> Result<Option<Markup>, DrawError> {
    let ChartedRun { report, time, .. } = run;
    let (mut figures, mut same) = (Vec::new(), Vec::new());
    for seen in &report.observations {
        match time.observed(seen) {
            Some(figure) => figures.push(figure.markup()?),
            None => same.push(seen),
        }
    }
    let section = html! {
        section {
            h2 { "Observed" }
            div.figures { @for figure in &figures { (figure) } }
            @if !same.is_empty() {
                h3 { "Seen once, or the same throughout" }
                div.scroll { table { @for seen in same { tr { th scope="row" { (shown_lines(&seen.name)) } td { (amount(time.last_seen(seen))) } } } } }
            }
        }
    };
    Ok((!report.observations.is_empty()).then_some(section))
}

fn events(report: &Report) -> Markup {
    let events = text::told_events(report);
    html! {
        @if !events.is_empty() {
            section {
                h2 { "What else happened" }
                div.scroll {
                    table {
                        thead { tr { th scope="col" { "at" } th scope="col" {} th scope="col" {} } }
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

/// URLs that are named at the top.
const MOST_URLS: usize = 4;
/// Broken promises that are shown.
const MOST_BREACHES: usize = 20;

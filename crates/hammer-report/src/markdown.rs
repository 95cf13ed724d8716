//! A report, or the summary of several runs, as Markdown with the tables of GitHub's dialect: for a comment on a change, or a wiki.
//!
//! What is told is what the text tells, and in the same words; what stands side by side is in tables.

mod written;

use crate::report::{KindPromises, Nanoseconds, PromiseCounts, Report, Series, SeriesKind, Threshold};
use crate::summary::Summary;
use crate::text;
use crate::text::columns::{Side, none};
use crate::text::number::{grouped, per_second, signed};
use crate::text::page::Page;
use crate::text::told_causes;

use written::Written;

/// The report of one run: verdict and health first, then the series over measurement, and what became of promises and thresholds.
pub fn document(report: &Report) -> String {
    let mut written = Written::default();
    written.heading(1, &text::verdict(report));
    written.page(&told(report, text::preface));
    written.heading(2, "Series over measurement");
    written.table(&series_rows(report), &SERIES_SIDES);
    let fates = fate_rows(report);
    if fates.len() > 1 {
        written.heading(2, "What was not accepted");
        written.table(&fates, &FATE_SIDES);
    }
    section(&mut written, "Findings", &told(report, text::disturbed));
    written.heading(2, "Promises");
    promises(&mut written, report);
    if !report.thresholds.is_empty() {
        written.heading(2, "Thresholds");
        written.table(&threshold_rows(report), &THRESHOLD_SIDES);
    }
    section(&mut written, "Observed", &told(report, text::observations));
    section(&mut written, "Events", &told(report, text::notes));
    written.into_text()
}

/// The summary of several runs: how they stand, a row for each run and series, then knees, limits and the tables by what was swept.
pub fn summary_document(summary: &Summary) -> String {
    let mut written = Written::default();
    written.page(&summary.page());
    written.into_text()
}

fn told(report: &Report, tell: fn(&mut Page, &Report)) -> Page {
    let mut page = Page::default();
    tell(&mut page, report);
    page
}

/// A section, where there is anything in it.
fn section(written: &mut Written, name: &str, page: &Page) {
    if !page.blocks().is_empty() {
        written.heading(2, name);
        written.page(page);
    }
}

fn series_rows(report: &Report) -> Vec<Vec<String>> {
    let header = [
        "series",
        "offered",
        "offered rate",
        "accepted",
        "accepted rate",
        "failed",
        "p50",
        "p95",
        "p99",
        "max",
    ];
    let header = header.map(str::to_owned).to_vec();
    std::iter::once(header).chain(report.series.iter().map(series_row)).collect()
}

fn series_row(series: &Series) -> Vec<String> {
    let figures = &series.measurement;
    let rates = figures.rates.as_ref();
    let rate = |rate: Option<f64>| rate.map_or_else(none, per_second);
    let times = figures.durations.response_time.as_ref();
    let time = |time: Option<Nanoseconds>| time.map_or_else(none, |time| time.to_string());
    vec![
        name(series),
        grouped(figures.counts.offered),
        rate(rates.map(|rates| rates.offered_per_s)),
        grouped(figures.counts.fates.accepted),
        rate(rates.map(|rates| rates.accepted_per_s)),
        grouped(figures.counts.fates.failed()),
        time(times.map(|times| times.p50_ns)),
        time(times.map(|times| times.p95_ns)),
        time(times.map(|times| times.p99_ns)),
        time(times.map(|times| times.max_ns)),
    ]
}

fn name(series: &Series) -> String {
    match series.kind {
        SeriesKind::Operation => series.path.clone(),
        SeriesKind::Step => format!("{} (a step)", series.path),
    }
}

/// A row for each fate of a series but acceptance, in both phases, with what lies behind it.
fn fate_rows(report: &Report) -> Vec<Vec<String>> {
    let header = ["series", "phase", "fate", "operations", "causes"].map(str::to_owned).to_vec();
    let phases = report.series.iter().flat_map(|series| {
        [(series, "warm-up", &series.warm_up), (series, "measurement", &series.measurement)]
    });
    let rows = phases.flat_map(|(series, phase, figures)| {
        let fates = figures.counts.fates.entries();
        let other = fates.filter(|(fate, count)| *fate != "accepted" && *count != 0);
        other.map(move |(fate, count)| {
            let causes = told_causes(figures).filter(|cause| cause.fate == fate);
            let causes: Vec<String> = causes
                .map(|cause| {
                    let answer =
                        cause.answer.as_ref().map_or_else(String::new, |said| format!(", said: {said}"));
                    format!("{} {}{answer}", grouped(cause.count), cause.cause)
                })
                .collect();
            vec![name(series), phase.to_owned(), fate.replace('_', " "), signed(count), causes.join("; ")]
        })
    });
    std::iter::once(header).chain(rows).collect()
}

fn promises(written: &mut Written, report: &Report) {
    if report.promises.all.made == 0 {
        written.paragraph("None was made.");
        return;
    }
    let header = ["workload", "kind", "made", "kept", "broken", "pending", "unchecked"].map(str::to_owned);
    let row = |workload: &str, kind: &str, counts: &PromiseCounts| {
        let PromiseCounts { made, kept, broken, pending, unchecked } = *counts;
        let counts = [made, kept, broken, pending, unchecked].map(grouped);
        [workload.to_owned(), kind.to_owned()].into_iter().chain(counts).collect()
    };
    let mut rows = vec![header.to_vec()];
    let kinds = report.promises.by_kind.iter();
    rows.extend(kinds.map(|KindPromises { workload, kind, promises }| row(workload, kind, promises)));
    rows.push(row("all", "", &report.promises.all));
    written.table(&rows, &PROMISE_SIDES);
    written.page(&told(report, text::broken_promises));
}

fn threshold_rows(report: &Report) -> Vec<Vec<String>> {
    let header = ["", "series", "threshold", "found"].map(str::to_owned).to_vec();
    let row = |judged: &Threshold| {
        let Threshold { series, threshold, found, holds, aborted, .. } = judged;
        let mark = match (holds, aborted) {
            (true, _) => "holds",
            (false, false) => "FAILS",
            (false, true) => "FAILS, and ended the run",
        };
        vec![mark.to_owned(), series.clone(), threshold.clone(), found.clone()]
    };
    std::iter::once(header).chain(report.thresholds.iter().map(row)).collect()
}

const SERIES_SIDES: [Side; 10] = {
    use Side::{Left, Right};
    [Left, Right, Right, Right, Right, Right, Right, Right, Right, Right]
};
const FATE_SIDES: [Side; 5] = [Side::Left, Side::Left, Side::Left, Side::Right, Side::Left];
const PROMISE_SIDES: [Side; 7] = {
    use Side::{Left, Right};
    [Left, Left, Right, Right, Right, Right, Right]
};
const THRESHOLD_SIDES: [Side; 4] = [Side::Left; 4];

#[cfg(test)]
mod tests;

//! Why operations failed: each cause on a line, with what the server said first.

use crate::report::{Cause, Report, Series, SeriesKind};
use crate::text::number::{grouped, plural};
use crate::text::page::{INDENT, shortened};

use super::super::screen::Tone;
use super::super::series::told_causes;
use super::toned_page::TonedPage;

/// A cause of a series, as a sentence.
struct ToldCause {
    count: u64,
    sentence: String,
}

/// Adds the most frequent ones, then that warm-up failed as well.
pub(super) fn render(page: &mut TonedPage, report: &Report) {
    let of = |series| causes(report, series).chain(unsent(series));
    let mut causes: Vec<ToldCause> = report.series.iter().flat_map(of).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    let room = page.width() - INDENT;
    for ToldCause { sentence, .. } in causes.iter().take(MOST_CAUSES) {
        page.paragraph("failed", &shortened(sentence, LINES * room - CUT), Tone::Bad);
    }
    let more = causes.len().saturating_sub(MOST_CAUSES) as u64;
    if more > 0 {
        page.paragraph("failed", &format!("for {}: --detail", plural(more, "more cause")), Tone::Bad);
    }
    accepted(page, report);
    warm_up(page, report);
}

fn causes<'a>(report: &'a Report, series: &'a Series) -> impl Iterator<Item = ToldCause> + use<'a> {
    let is_failure =
        move |cause: &&Cause| cause.fate != "accepted" && !(series.refusals_meant && cause.fate == "refused");
    let causes = told_causes(&series.measurement).filter(is_failure);
    causes
        .filter(move |cause| !is_of_step(report, series, cause))
        .map(move |cause| ToldCause { count: cause.count, sentence: sentence(&series.path, cause) })
}

/// A flow fails as one of its steps does, which tells the answer in its own place.
fn is_of_step(report: &Report, series: &Series, cause: &Cause) -> bool {
    let is_same = |other: &Cause| (&other.fate, &other.cause) == (&cause.fate, &cause.cause);
    let mut steps = report
        .series
        .iter()
        .filter(|other| other.kind == SeriesKind::Step && other.workload == series.workload);
    series.kind == SeriesKind::Operation && steps.any(|step| step.measurement.causes.iter().any(is_same))
}

/// Operations that were never sent: they have no cause but their fate.
fn unsent(series: &Series) -> impl Iterator<Item = ToldCause> + use<> {
    let fates = &series.measurement.counts.fates;
    let causes = [
        (fates.shed, "no room in the backlog (shed)"),
        (fates.starved, "not prepared when they were due (starved)"),
    ];
    let path = series.path.clone();
    let told = move |(count, why): (u64, &str)| ToldCause {
        count,
        sentence: format!("{} of {path}: {why}", grouped(count)),
    };
    causes.into_iter().filter(|(count, _)| *count > 0).map(told)
}

fn sentence(path: &str, Cause { fate, cause, count, answer }: &Cause) -> String {
    let said = answer.as_ref().map_or_else(String::new, |answer| format!(", said: {answer}"));
    format!("{} of {path}: {cause} ({}){said}", grouped(*count), fate.replace('_', " "))
}

/// By what answers operations were accepted, where that is more than one.
fn accepted(page: &mut TonedPage, report: &Report) {
    for series in &report.series {
        let accepted = told_causes(&series.measurement).filter(|cause| cause.fate == "accepted");
        let terms: Vec<String> = accepted
            .take(MOST_CAUSES)
            .map(|cause| format!("{} {}", grouped(cause.count), cause.cause))
            .collect();
        if !terms.is_empty() {
            page.paragraph("accepted", &format!("{} of {}", terms.join(", "), series.path), Tone::Plain);
        }
    }
}

fn warm_up(page: &mut TonedPage, report: &Report) {
    let fates = &report.totals.warm_up.fates;
    let meant: u64 = report
        .operations()
        .filter(|series| series.refusals_meant)
        .map(|series| series.warm_up.counts.fates.refused)
        .sum();
    let failed = fates.failed().saturating_sub(meant);
    if failed > 0 {
        let text = format!("{} of {} operations failed: --detail", grouped(failed), grouped(fates.ended()));
        page.paragraph("warm-up", &text, Tone::Warning);
    }
}

const MOST_CAUSES: usize = 6;
/// That a cause takes, with what was said.
const LINES: usize = 3;
/// Of what says that a text goes on.
const CUT: usize = 3;

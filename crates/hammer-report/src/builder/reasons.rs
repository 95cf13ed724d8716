//! What a report says against its run.

use hammer_measure::Fate;
use hammer_measure::threshold::Threshold;

use crate::report::{self, Counts, Fates, Report, Series, SeriesKind};
use crate::text::number::{grouped, plural};
use crate::verdict::{Reason, ReasonKind};

/// All that holds against the run.
pub(super) fn against(report: &Report) -> Vec<Reason> {
    let answered: u64 = report.series.iter().flat_map(both_phases).map(|fates| fates.answered()).sum();
    let broken = report.promises.all.broken;
    let held = [
        (answered == 0).then(|| (ReasonKind::NoAnswer, no_answer(report))),
        (broken > 0).then(|| (ReasonKind::PromiseBroken, format!("{} broken", plural(broken, "promise")))),
        unbelievable(report).map(|text| (ReasonKind::NotBelievable, text)),
        failed_thresholds(report).map(|text| (ReasonKind::ThresholdFailed, text)),
        nothing_accepted(report).filter(|_| answered > 0).map(|text| (ReasonKind::NothingAccepted, text)),
        report.run.interrupted.then(|| (ReasonKind::Interrupted, "interrupted by a signal".to_owned())),
    ];
    held.into_iter().flatten().map(|(kind, text)| Reason::new(kind, text)).collect()
}

fn no_answer(report: &Report) -> String {
    let failed = report.operations().find_map(|series| failure(report, series));
    let failed = failed.map_or_else(String::new, |failed| format!(": {failed}"));
    format!("no operation ever got an answer{failed}")
}

fn unbelievable(report: &Report) -> Option<String> {
    let unchecked = report.promises.all.unchecked;
    let unchecked = (unchecked > 0).then(|| format!("{} unchecked", plural(unchecked, "promise")));
    let findings = report.health.findings.len() as u64;
    let findings = (findings > 0).then(|| plural(findings, "health finding"));
    let against: Vec<String> = unchecked.into_iter().chain(findings).collect();
    (!against.is_empty()).then(|| format!("not to be believed for {}", against.join(" and ")))
}

fn failed_thresholds(report: &Report) -> Option<String> {
    let mut failed = report.thresholds.iter().filter(|threshold| !threshold.holds);
    let first = failed.next()?;
    Some(format!(
        "{} of {} failed, first {} on {} (found {})",
        failed.count() + 1,
        plural(report.thresholds.len() as u64, "threshold"),
        first.threshold,
        first.series,
        first.found
    ))
}

/// The workloads of which measurement measured nothing but failures, and what the first of them failed by.
fn nothing_accepted(report: &Report) -> Option<String> {
    let mut workloads: Vec<&str> = report.operations().map(|series| series.workload.as_str()).collect();
    workloads.dedup();
    workloads.retain(|workload| failed_alone(report, workload));
    let first = workloads.first()?;
    let of_first = report.operations().filter(|series| series.workload == *first);
    let failed = of_first.filter_map(|series| failure(report, series)).next();
    let failed = failed.map_or_else(String::new, |failed| format!(": {failed}"));
    Some(format!("nothing of {} was accepted{failed}", workloads.join(" and ")))
}

/// Whether operations of a workload ended in measurement, all by failures that neither a threshold nor a promise wants.
fn failed_alone(report: &Report, workload: &str) -> bool {
    let mut measured = Counts::default();
    let operations = report.operations().filter(|series| series.workload == workload);
    operations.for_each(|series| measured.add(&series.measurement.counts));
    let Fates { accepted, shed, starved, .. } = measured.fates;
    // What was never sent says nothing of the server.
    if accepted > 0 || measured.fates.failed() == shed + starved {
        return false;
    }
    // Refusals that were promised, such as those of invalid chains, are what such a workload is for. Where anything was accepted,
    // even a step alone, kept promises may be of that.
    let of_it = report.series.iter().filter(|series| series.workload == workload);
    let is_accepted = of_it.flat_map(both_phases).any(|fates| fates.accepted > 0);
    let kept = report.promises.by_workload.iter().find(|of| of.workload == workload);
    let is_promised = !is_accepted && kept.is_some_and(|of| of.promises.kept > 0);
    !is_promised
        && !report.thresholds.iter().any(|threshold| threshold.holds && is_meant(threshold, workload))
}

/// Whether a threshold on that workload says that the plan expects failures.
fn is_meant(threshold: &report::Threshold, workload: &str) -> bool {
    let on = threshold.series.split('/').next();
    let is_on_it = threshold.series == "total" || on == Some(workload);
    is_on_it && threshold.threshold.parse().is_ok_and(|parsed: Threshold| parsed.expects_failures())
}

/// The most frequent end of a series that is no success: how often, in which step, and why.
fn failure(report: &Report, series: &Series) -> Option<String> {
    let figures =
        if series.measurement.counts.fates.failed() > 0 { &series.measurement } else { &series.warm_up };
    let failed = Fate::ALL.into_iter().filter(|fate| *fate != Fate::Accepted);
    let counted = failed.map(|fate| (figures.counts.fates.of(fate), fate.name()));
    let (count, fate) = counted.filter(|(count, _)| *count > 0).max_by_key(|(count, _)| *count)?;
    let said = format!("{} {}", grouped(count), fate.replace('_', " "));
    let Some(cause) = figures.causes.iter().find(|cause| cause.fate == fate) else { return Some(said) };
    let is_same = |of: &Series| {
        let causes = of.warm_up.causes.iter().chain(&of.measurement.causes);
        causes.into_iter().any(|other| other.fate == cause.fate && other.cause == cause.cause)
    };
    let steps =
        report.series.iter().filter(|of| of.kind == SeriesKind::Step && of.workload == series.workload);
    let step = steps.filter(|of| is_same(of)).map(|of| format!("{}: ", of.name)).next().unwrap_or_default();
    let answer = cause.answer.as_ref().map_or_else(String::new, |answer| format!(", {answer}"));
    // A fate may have several causes, of which that is the most frequent.
    let part = match cause.count {
        of_it if of_it < count => format!(", {} of them", grouped(of_it)),
        _ => String::new(),
    };
    Some(format!("{said}{part} ({step}{}{answer})", cause.cause))
}

fn both_phases(series: &Series) -> [Fates; 2] {
    [series.warm_up.counts.fates, series.measurement.counts.fates]
}

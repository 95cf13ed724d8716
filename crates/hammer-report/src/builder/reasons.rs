//! What a report says against its run.

use hammer_measure::Fate;
use hammer_measure::snapshot::RunResult;
use hammer_measure::threshold::Threshold;

use super::failure::{failure, tells_of_server};
use crate::report::{Fates, Finding, FindingKind, Report, Series, SeriesKind};
use crate::text::number::plural;
use crate::verdict::{Reason, ReasonKind};

/// All that holds against the run.
pub(super) fn against(report: &Report) -> Vec<Reason> {
    let answered: u64 = report.series.iter().flat_map(both_phases).map(|fates| fates.answered()).sum();
    let broken = report.promises.all.broken;
    let is_early = report.run.interrupted && answered == 0 && !tells_anything(report);
    let interrupted = match &*report.run.stopped {
        _ if is_early => EARLY.to_owned(),
        RunResult::INTERRUPTED => RunResult::INTERRUPTED.to_owned(),
        RunResult::BY_KEY => format!("interrupted: {}", RunResult::BY_KEY),
        // What ended the arrivals did not cut it off.
        _ => IN_DRAIN.to_owned(),
    };
    let is_silent = answered == 0 && !is_early && !is_of_our_own(report);
    let held = [
        is_silent.then(|| (ReasonKind::NoAnswer, no_answer(report))),
        (broken > 0).then(|| (ReasonKind::PromiseBroken, format!("{} broken", plural(broken, "promise")))),
        unbelievable(report).map(|text| (ReasonKind::NotBelievable, text)),
        failed_thresholds(report).map(|text| (ReasonKind::ThresholdFailed, text)),
        nothing_accepted(report)
            .or_else(|| nothing_measured(report))
            .filter(|_| answered > 0)
            .map(|text| (ReasonKind::NothingAccepted, text)),
        report.run.interrupted.then(|| (ReasonKind::Interrupted, interrupted.clone())),
    ];
    held.into_iter().flatten().map(|(kind, text)| Reason::new(kind, text)).collect()
}

/// Whether what hammer lacked itself is why nothing was answered, so that silence says nothing of the server.
fn is_of_our_own(report: &Report) -> bool {
    let is_exhausted = |finding: &Finding| finding.kind == FindingKind::Exhausted;
    report.health.on_fail.is_fail() && report.health.findings.iter().any(is_exhausted)
}

/// Whether anything was expected of the run: by a threshold, or by a promise that was kept.
pub(super) fn has_expectation(report: &Report) -> bool {
    !report.thresholds.is_empty() || report.promises.all.kept > 0
}

/// Whether any operation ended in a way that says something of the server.
fn tells_anything(report: &Report) -> bool {
    let mut fates = report.operations().flat_map(both_phases);
    fates.any(|fates| Fate::ALL.into_iter().any(|fate| tells_of_server(report, fate) && fates.of(fate) > 0))
}

fn no_answer(report: &Report) -> String {
    if report.totals.all.offered == 0 {
        return "no operation was ever offered".to_owned();
    }
    let operations: Vec<&Series> = report.operations().collect();
    format!("no operation ever got an answer{}", told(failure(report, &operations)))
}

fn unbelievable(report: &Report) -> Option<String> {
    let unchecked = report.promises.all.unchecked;
    let unchecked = (unchecked > 0).then(|| format!("{} unchecked", plural(unchecked, "promise")));
    let findings = report.health.findings.len() as u64;
    let findings =
        (findings > 0 && report.health.on_fail.is_fail()).then(|| plural(findings, "health finding"));
    let heads = observed(report, HEADS_UNPROVED);
    let heads = (heads > 0).then(|| format!("{} of a log not proved", plural(heads, "head")));
    let issuers = observed(report, ISSUERS_UNREAD);
    let issuers = (issuers > 0).then(|| format!("{} of audited entries not read", plural(issuers, "issuer")));
    let against: Vec<String> = unchecked.into_iter().chain(heads).chain(issuers).chain(findings).collect();
    (!against.is_empty()).then(|| format!("not to be believed for {}", against.join(" and ")))
}

/// What audits observed last by that name, all of them together.
fn observed(report: &Report, name: &str) -> u64 {
    let seen = report.observations.iter().filter(|seen| seen.name.rsplit('/').next() == Some(name));
    seen.map(|seen| seen.last.value as u64).sum()
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

/// The workloads, or series of them, of which measurement measured nothing but failures, and what these failed by most often.
fn nothing_accepted(report: &Report) -> Option<String> {
    let failed: Vec<&Series> = report
        .operations()
        .filter(|series| failed_alone(report, series) && !is_expected(report, series))
        .collect();
    let is_whole = |workload: &str| {
        let mut of_it =
            report.operations().filter(|series| series.workload == workload && was_sent(report, series));
        of_it.all(|series| failed.iter().any(|other| other.path == series.path))
    };
    let name = |series: &&'_ Series| match is_whole(&series.workload) {
        true => series.workload.clone(),
        false => series.path.clone(),
    };
    let mut names: Vec<String> = failed.iter().map(name).collect();
    names.dedup();
    let names = (!names.is_empty()).then(|| names.join(" and "))?;
    Some(format!("nothing of {names} was accepted{}", told(failure(report, &failed))))
}

/// That all of the load was over before measurement started, though nobody ended the run.
fn nothing_measured(report: &Report) -> Option<String> {
    let offered = |of: fn(&Series) -> u64| report.operations().map(of).sum::<u64>();
    let is_measured = offered(|series| series.measurement.counts.offered) > 0;
    let was_offered = offered(|series| series.warm_up.counts.offered) > 0;
    (!is_measured && was_offered && !report.run.interrupted).then(|| NOTHING_MEASURED.to_owned())
}

/// Whether operations of a series ended in measurement and none of them as the series means them to.
fn failed_alone(report: &Report, series: &Series) -> bool {
    let Fates { accepted, refused, .. } = series.measurement.counts.fates;
    let is_served = accepted > 0 || series.refusals_meant && refused > 0;
    was_sent(report, series) && !is_served
}

/// Whether operations of a series ended in measurement by more than what says nothing of the server.
fn was_sent(report: &Report, series: &Series) -> bool {
    let fates = series.measurement.counts.fates;
    Fate::ALL.into_iter().any(|fate| fates.of(fate) > 0 && tells_of_server(report, fate))
}

/// Whether a threshold that holds says that the plan expects failures of a series: it is on the series, on a step of its workload, or on
/// all of its workload or of the run.
fn is_expected(report: &Report, series: &Series) -> bool {
    let is_step = |path: &str| {
        let mut steps = report.series.iter().filter(|of| of.kind == SeriesKind::Step);
        steps.any(|step| step.path == path && step.workload == series.workload)
    };
    let covers = |on: &str| on == "total" || on == series.workload || on == series.path || is_step(on);
    let expects = |text: &str| text.parse().is_ok_and(|parsed: Threshold| parsed.expects_failures());
    let mut held = report.thresholds.iter().filter(|threshold| threshold.holds);
    held.any(|threshold| covers(&threshold.series) && expects(&threshold.threshold))
}

/// A failure behind what it led to.
fn told(failure: Option<String>) -> String {
    failure.map_or_else(String::new, |failure| format!(": {failure}"))
}

fn both_phases(series: &Series) -> [Fates; 2] {
    [series.warm_up.counts.fates, series.measurement.counts.fates]
}

/// As the audit of a log observes it, behind the log's name where there are several.
/// Issuers that audited entries name and that could not be read to the end.
const ISSUERS_UNREAD: &str = "issuers_unread";
/// Heads that a log signed and that were not proved to be of its tree to the end.
const HEADS_UNPROVED: &str = "heads_unproved";
const NOTHING_MEASURED: &str = "nothing was measured: the operations ended in warm-up";
const EARLY: &str = "interrupted, before any operation got an answer";
/// Of a run whose arrivals had ended otherwise, as planned or by a threshold.
const IN_DRAIN: &str = "interrupted in drain";

#[cfg(test)]
mod tests;

//! What contradicts itself in a report.

use hammer_measure::Ledger;

use super::connections::{Connections, PeerFigures};
use super::figures::{Counts, Durations, EndCounts};
use super::promises::PromiseCounts;
use super::response_times::ResponseTimes;
use super::series::{PhaseFigures, Series};
use super::{Report, SCHEMA};
use crate::verdict::Standing;

pub(super) fn problems(report: &Report) -> Vec<String> {
    let mut problems = Vec::new();
    if report.schema != SCHEMA {
        problems.push(format!("schema is `{}`, not `{SCHEMA}`", report.schema));
    }
    for series in &report.series {
        for (phase, figures) in [("warm_up", &series.warm_up), ("measurement", &series.measurement)] {
            let place = format!("{} {phase}", series.path);
            of_phase(&place, figures, &mut problems);
        }
        of_ends(series, &mut problems);
    }
    for of_service in &report.connections {
        of_connections(of_service, &mut problems);
    }
    problems.extend(report.groups.iter().filter_map(|groups| groups.problem(&report.series)));
    of_totals(report, &mut problems);
    of_promises(report, &mut problems);
    for interval in &report.intervals {
        for series in &interval.series {
            let counts = Counts { offered: series.offered, fates: series.fates, ..Counts::default() };
            of_counts(&format!("{} at {} ns", series.path, interval.at_ns), &counts, &mut problems);
        }
    }
    for (series, times) in report.series.iter().zip(&report.response_times) {
        of_stretches(series, times, &mut problems);
    }
    if report.verdict.exit_code != report.verdict.code().number() {
        problems.push(format!("exit code {} does not follow from its reasons", report.verdict.exit_code));
    }
    let is_failed = matches!(report.verdict.standing, Standing::Failed | Standing::Interrupted);
    if is_failed == report.verdict.reasons.is_empty() {
        problems.push("the verdict's standing does not follow from its reasons".to_owned());
    }
    if report.health.healthy != report.health.findings.is_empty() {
        problems.push("healthy does not follow from its findings".to_owned());
    }
    problems
}

fn of_phase(place: &str, figures: &PhaseFigures, problems: &mut Vec<String>) {
    of_counts(place, &figures.counts, problems);
    let ended = figures.counts.fates.ended();
    let timed = figures.durations.response_time.as_ref().map_or(0, |durations| durations.count);
    if ended != timed {
        problems.push(format!("{place}: {ended} ended, but {timed} have a response time"));
    }
    for (name, durations) in figures.durations.entries() {
        of_payload(&format!("{place} {name}"), durations, problems);
    }
}

/// What has a response time has it in one stretch.
fn of_stretches(series: &Series, times: &ResponseTimes, problems: &mut Vec<String>) {
    let ended: u64 =
        [&series.warm_up, &series.measurement].iter().map(|phase| phase.counts.fates.ended()).sum();
    let counts = times.stretches.iter().map(|stretch| stretch.count);
    let in_stretches = counts.fold(0, u64::saturating_add);
    if series.path != times.path || ended != in_stretches {
        problems.push(format!("{}: {ended} ended, but the stretches have {in_stretches}", series.path));
    }
    if times.stretches.iter().any(|stretch| stretch.distribution().is_none()) {
        problems.push(format!("{}: the hdr payload of a stretch cannot be read", series.path));
    }
}

/// What was completed ended within one phase or another.
fn of_ends(series: &Series, problems: &mut Vec<String>) {
    let (warm_up, measurement) = (&series.warm_up, &series.measurement);
    let ended = warm_up.ended + measurement.ended + series.in_drain;
    let completed = warm_up.counts.completed + measurement.counts.completed;
    let accepted = warm_up.counts.fates.accepted + measurement.counts.fates.accepted;
    let expected = EndCounts { completed, accepted };
    if ended != expected {
        problems.push(format!(
            "{}: {completed} completed and {accepted} accepted, but {} and {} ended within the phases",
            series.path, ended.completed, ended.accepted
        ));
    }
}

fn of_counts(place: &str, counts: &Counts, problems: &mut Vec<String>) {
    if !counts.balances() {
        let sum: i64 = counts.fates.entries().map(|(_, count)| count).sum();
        problems.push(format!("{place}: {} offered, but the fates add up to {sum}", counts.offered));
    }
}

fn of_payload(place: &str, durations: &Durations, problems: &mut Vec<String>) {
    match durations.distribution() {
        None => problems.push(format!("{place}: the hdr payload cannot be read")),
        Some(all) if all.count() != durations.count => {
            problems.push(format!(
                "{place}: count is {}, the hdr payload has {}",
                durations.count,
                all.count()
            ));
        }
        Some(_) => {}
    }
}

fn of_connections(connections: &Connections, problems: &mut Vec<String>) {
    let place = format!("connections of {}", connections.service);
    for (name, durations) in connections.durations() {
        of_payload(&format!("{place} {name}"), durations, problems);
    }
    for peer in &connections.peers {
        of_peer(&place, peer, problems);
    }
    let dials: u64 = connections.peers.iter().map(|peer| peer.dials).sum();
    if !connections.peers.is_empty() && dials != connections.dials {
        problems.push(format!("{place}: {} dials, but {dials} of its peers", connections.dials));
    }
    let timed = connections.dial.as_ref().map_or(0, |durations| durations.count);
    if timed != connections.connected() {
        let connected = connections.connected();
        problems.push(format!("{place}: {connected} connected, but {timed} have a time"));
    }
}

fn of_peer(service: &str, peer: &PeerFigures, problems: &mut Vec<String>) {
    let place = format!("{service}, {}", peer.peer.as_deref().unwrap_or("other peers"));
    if let Some(durations) = &peer.service_time {
        of_payload(&place, durations, problems);
    }
    if peer.answers() + peer.failures != peer.requests {
        let (answers, failures) = (peer.answers(), peer.failures);
        problems.push(format!(
            "{place}: {} requests, but {answers} answers and {failures} failures",
            peer.requests
        ));
    }
}

fn of_totals(report: &Report, problems: &mut Vec<String>) {
    let (mut warm_up, mut measurement) = (Counts::default(), Counts::default());
    for series in report.operations() {
        warm_up.add(&series.warm_up.counts);
        measurement.add(&series.measurement.counts);
    }
    let mut all = warm_up;
    all.add(&measurement);
    let totals = &report.totals;
    for (name, found, expected) in [
        ("all", &totals.all, &all),
        ("warm_up", &totals.warm_up, &warm_up),
        ("measurement", &totals.measurement, &measurement),
    ] {
        of_counts(&format!("totals.{name}"), found, problems);
        if found != expected {
            problems.push(format!("totals.{name} is not the sum of the operation series"));
        }
    }
}

fn of_promises(report: &Report, problems: &mut Vec<String>) {
    let mut sum = Ledger::default();
    for workload in &report.promises.by_workload {
        sum.add(&workload.promises.into());
        if !workload.promises.balances() {
            problems.push(format!("promises of {} do not add up", workload.workload));
        }
        let kinds = report.promises.by_kind.iter().filter(|kind| kind.workload == workload.workload);
        let of_kinds = kinds.fold(None, |sum: Option<Ledger>, kind| {
            let mut sum = sum.unwrap_or_default();
            sum.add(&kind.promises.into());
            Some(sum)
        });
        if of_kinds.is_some_and(|sum| PromiseCounts::from(sum) != workload.promises) {
            problems.push(format!("promises of {} are not the sum of their kinds", workload.workload));
        }
    }
    if !report.promises.all.balances() {
        problems.push("promises do not add up".to_owned());
    }
    if !report.promises.by_workload.is_empty() && PromiseCounts::from(sum) != report.promises.all {
        problems.push("promises are not the sum of those of the workloads".to_owned());
    }
}

#[cfg(test)]
mod tests;

//! The report as text, made from the JSON structs and never from the run: one screen of it, or all of it in 80 columns, readable aloud.

use hammer_measure::Nanos;

use crate::report::event::{Command, Refusal};
use crate::report::{
    Alarms, Cause, Event, Fates, Finding, PhaseFigures, PhaseName, PromiseCounts, Report, Series, SeriesKind,
    Threshold,
};
use crate::verdict::Standing;

mod accounting;
pub mod brief;
mod broken;
mod bursts;
pub mod columns;
mod connections;
mod disruptions;
mod fill;
mod groups;
pub mod histogram;
mod limit;
mod link;
pub mod number;
mod observed;
pub(crate) mod page;
mod readiness;
mod saturation;
mod screen;
mod series;
mod servers;

use number::{bytes, bytes_per_second, grouped, plain, plural};
use page::Page;

pub use page::wrapped;
pub use screen::Screen;

/// What who reads the verdict alone would miss: that a link was the limit, how many operations failed, unless they are meant to, how many promises are pending, and
/// what of health the plan tolerates.
fn beside_verdict(report: &Report) -> String {
    let told = [limit(report), failures(report), pending(report), tolerated(report)];
    let told: Vec<String> = told.into_iter().flatten().collect();
    match (told.is_empty(), report.verdict.standing) {
        (true, _) => String::new(),
        (false, Standing::Passed) => format!(", though {}", told.join(" and ")),
        (false, _) => format!("; {}", told.join("; ")),
    }
}

fn limit(report: &Report) -> Option<String> {
    let limits = report.link.as_ref()?.limits();
    (!limits.is_empty()).then(|| {
        limits.into_iter().map(|name| format!("{name} is the limit")).collect::<Vec<_>>().join(" and ")
    })
}

fn failures(report: &Report) -> Option<String> {
    let measured = report.operations().filter(|series| !series.refusals_meant);
    let fates = measured.fold(Fates::default(), |mut all, series| {
        all.add(&series.measurement.counts.fates);
        all
    });
    let ended = grouped(fates.ended());
    match (fates.accepted, fates.failed()) {
        (_, 0) => None,
        (0, _) => Some(format!("0 of {ended} accepted")),
        (_, failed) => Some(format!("{} of {ended} operations failed", grouped(failed))),
    }
}

fn pending(report: &Report) -> Option<String> {
    let PromiseCounts { made, pending, .. } = report.promises.all;
    (pending > 0).then(|| format!("{} of {} pending", grouped(pending), plural(made, "promise")))
}

pub(crate) fn tolerated(report: &Report) -> Option<String> {
    let found = report.health.findings.len() as u64;
    (found > 0 && !report.health.on_fail.is_fail())
        .then(|| format!("{} tolerated", plural(found, "health finding")))
}

/// The verdict, as the first line of the text has it.
pub fn verdict(report: &Report) -> String {
    format!("{}{}", report.verdict, beside_verdict(report))
}

/// Something that happened besides the load, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldEvent {
    /// When.
    pub at: Nanos,
    /// What kind of thing it was, in a word.
    pub label: &'static str,
    /// What it was.
    pub text: String,
}

/// What happened besides the load and has no place of its own in a report.
pub fn told_events(report: &Report) -> Vec<ToldEvent> {
    let told = report.events.iter().filter_map(|event| {
        let (label, text) = match event {
            Event::Note { text, .. } => ("note", text.clone()),
            Event::Command { command, refused, .. } => ("note", answer(report, command, refused)),
            // Each group has its longest in a table.
            Event::RecordHigh { .. } => return None,
            other => other.beside_words()?,
        };
        Some(ToldEvent { at: Nanos(event.at_ns()), label, text })
    });
    told.collect()
}

/// What lies behind the fates of a series in a phase, but what goes without saying: that all which was accepted was so by one status.
pub fn told_causes(figures: &PhaseFigures) -> impl Iterator<Item = &Cause> {
    series::told_causes(figures)
}

/// When a run was not served as before, and what failed at times; empty where nothing did.
pub fn disruptions(report: &Report) -> String {
    let mut page = Page::default();
    disturbed(&mut page, report);
    page.into_string()
}

/// What is known of a run before its series: health, the link, a fill, how it was set up and how it ended.
pub(crate) fn preface(page: &mut Page, report: &Report) {
    health(page, report);
    report.link.iter().for_each(|link| link::render(page, link));
    report.fill.iter().for_each(|filled| fill::render(page, filled));
    run(page, report);
}

/// What a report says beside its series and what happened in it: the link, a fill, groups, connections, what was used.
pub fn surroundings(report: &Report) -> String {
    let mut page = Page::default();
    preface(&mut page, report);
    page.blank();
    report.groups.iter().for_each(|of_workload| groups::render(&mut page, of_workload));
    served(&mut page, report);
    observations(&mut page, report);
    resources(&mut page, report);
    report.server_resources.iter().for_each(|used| servers::render(&mut page, used));
    page.into_string()
}

/// What is to be known about the figures of a series.
pub fn series_notes(series: &Series) -> Vec<String> {
    series::users(series).into_iter().chain(series.notes.iter().cloned()).collect()
}

/// The whole text in 80 columns, ending in a newline. The first line is the verdict; health follows whatever it says.
pub fn render(report: &Report) -> String {
    let mut page = Page::default();
    page.paragraph("", &verdict(report));
    preface(&mut page, report);
    for series in &report.series {
        let is_step = |of: &Series| of.kind == SeriesKind::Step && of.workload == series.workload;
        series::render(&mut page, series, report.series.iter().any(is_step));
    }
    page.blank();
    report.groups.iter().for_each(|of_workload| groups::render(&mut page, of_workload));
    disturbed(&mut page, report);
    served(&mut page, report);
    promises(&mut page, report);
    thresholds(&mut page, report);
    observations(&mut page, report);
    resources(&mut page, report);
    report.server_resources.iter().for_each(|used| servers::render(&mut page, used));
    notes(&mut page, report);
    page.into_string()
}

/// When a run was not served as before, what failed at times, and what limited it.
pub(crate) fn disturbed(page: &mut Page, report: &Report) {
    report.disruptions.iter().for_each(|disruption| disruptions::render(page, disruption));
    report.bursts.iter().for_each(|burst| bursts::render(page, burst));
    report.limits.iter().for_each(|limit| limit::render(page, limit));
}

fn served(page: &mut Page, report: &Report) {
    report.readiness.iter().for_each(|of_server| readiness::render(page, of_server));
    report.connections.iter().for_each(|of_service| connections::render(page, of_service));
    report.connections.iter().for_each(|of_service| connections::peers(page, of_service));
    report.compat.iter().for_each(|counted| accounting::render(page, counted));
}

fn health(page: &mut Page, report: &Report) {
    if report.health.healthy {
        page.paragraph("health", "ok, the generator kept its plan");
    }
    let tolerated = if report.health.on_fail.is_fail() { "" } else { " but tolerated" };
    for Finding { text, remedy, .. } in report.health.findings.iter().take(MOST_FINDINGS) {
        let remedy = if remedy.is_empty() { String::new() } else { format!(" ({remedy})") };
        page.paragraph("health", &format!("NOT OK{tolerated}, {text}{remedy}"));
    }
    left_out(page, "finding", report.health.findings.len());
    report.health.causes.iter().for_each(|cause| page.paragraph("meanwhile", cause));
    report.health.notes.iter().take(MOST_FINDINGS).for_each(|note| page.paragraph("note", &note.text));
    left_out(page, "note", report.health.notes.len());
    if let Some(Alarms { late: Some(late), stood_ns }) = &report.health.alarms {
        let (p99_9, max, stood) = (late.p99_9_ns, late.max_ns, Nanos(*stood_ns));
        page.paragraph("alarms", &format!("late p99.9 {p99_9}, max {max}; stood still {stood}"));
    }
}

/// Says how many of so many `what` stand in the report alone.
fn left_out(page: &mut Page, what: &str, count: usize) {
    let more = count.saturating_sub(MOST_FINDINGS) as u64;
    if more > 0 {
        page.paragraph("health", &format!("and {} more", plural(more, what)));
    }
}

fn run(page: &mut Page, report: &Report) {
    run_and_phases(page, report);
    total(page, report);
    let (out, back) = (report.totals.bytes_out_per_s, report.totals.bytes_in_per_s);
    if out + back > 0.0 {
        let text = format!("{} out, {} in over measurement", bytes_per_second(out), bytes_per_second(back));
        page.paragraph("bytes", &text);
    }
}

fn total(page: &mut Page, report: &Report) {
    let has_warm_up = report.phases.iter().any(|span| span.phase == PhaseName::WarmUp);
    let of_all = if has_warm_up { ", warm-up included" } else { "" };
    page.paragraph("total", &(series::fates(&report.totals.all) + of_all));
}

fn run_and_phases(page: &mut Page, report: &Report) {
    let run = &report.run;
    page.paragraph(
        "run",
        &format!(
            "{} {}, {}, seed {}, {} on {}",
            report.tool.name,
            report.tool.version,
            run.epoch,
            run.seed,
            plural(run.shards, "shard"),
            plural(u64::from(run.cores), "core"),
        ),
    );
    let phases: Vec<String> = report
        .phases
        .iter()
        .map(|span| {
            let length = Nanos(span.end_ns.saturating_sub(span.begin_ns));
            format!("{} {length}", span.phase.words())
        })
        .collect();
    let ended = if run.stopped.is_empty() { String::new() } else { format!("; ended: {}", run.stopped) };
    page.paragraph("phases", &format!("{}{ended}", phases.join(", ")));
}

fn promises(page: &mut Page, report: &Report) {
    let promises = &report.promises;
    if promises.all.made == 0 {
        page.paragraph("promises", "none made");
        return;
    }
    page.paragraph("promises", &ledger(&promises.all));
    if promises.by_workload.len() > 1 {
        for workload in &promises.by_workload {
            page.paragraph("", &format!("  {}: {}", workload.workload, ledger(&workload.promises)));
        }
    }
    let kinds_of = |workload: &str| promises.by_kind.iter().filter(|kind| kind.workload == workload).count();
    for kind in promises.by_kind.iter().filter(|kind| kinds_of(&kind.workload) > 1) {
        let text = format!("  {}, {}: {}", kind.workload, kind.kind, ledger(&kind.promises));
        page.paragraph("", &text);
    }
    broken_promises(page, report);
}

/// The broken promises, a sentence for each kind.
pub(crate) fn broken_promises(page: &mut Page, report: &Report) {
    let (broken, told) = broken::sentences(&report.breaches);
    broken.iter().for_each(|text| page.paragraph("broken", text));
    let more = report.promises.all.broken.saturating_sub(told);
    if more > 0 {
        page.paragraph("broken", &format!("and {} more", grouped(more)));
    }
}

fn ledger(promises: &PromiseCounts) -> String {
    format!(
        "{} made = {} kept + {} broken + {} pending + {} unchecked",
        grouped(promises.made),
        grouped(promises.kept),
        grouped(promises.broken),
        grouped(promises.pending),
        grouped(promises.unchecked),
    )
}

fn thresholds(page: &mut Page, report: &Report) {
    report.thresholds.iter().for_each(|threshold| page.paragraph("threshold", &judged(threshold)));
}

fn judged(threshold: &Threshold) -> String {
    let mark = if threshold.holds { "holds" } else { "FAILS" };
    let aborted = if threshold.aborted { ", and ended the run" } else { "" };
    format!("{mark}: {} on {}, found {}{aborted}", threshold.threshold, threshold.series, threshold.found)
}

/// What observers saw: the headlines, then what has no other place.
pub(crate) fn observations(page: &mut Page, report: &Report) {
    observed::headlines(page, report);
    for seen in observed::others(report) {
        page.paragraph("observed", &format!("{} {}", seen.name, plain(seen.last.value)));
    }
}

fn resources(page: &mut Page, report: &Report) {
    let used = &report.resources;
    let each =
        used.cpu_ns_per_completed.map_or(String::new(), |nanos| format!(" ({} an operation)", Nanos(nanos)));
    let text = format!(
        "{:.2} CPU seconds user, {:.2} system{each}; memory {} at most; {} of {} descriptors",
        used.cpu_user_s,
        used.cpu_system_s,
        bytes(used.max_rss_bytes),
        grouped(used.descriptors),
        grouped(used.descriptor_limit),
    );
    page.paragraph("resources", &text);
}

/// What happened besides the load.
pub(crate) fn notes(page: &mut Page, report: &Report) {
    for ToldEvent { at, label, text } in told_events(report) {
        page.paragraph(label, &format!("at {at}: {text}"));
    }
    if report.events_left_out > 0 {
        page.paragraph("note", &format!("{} more notes left out", grouped(report.events_left_out)));
    }
}

/// What a command did, and who refused it.
fn answer(report: &Report, command: &Command, refused: &[Refusal]) -> String {
    command.answer(report.series.iter().map(|series| series.workload.as_str()), refused)
}

/// Each series has its own.
const MOST_FINDINGS: usize = 5;

#[cfg(test)]
mod tests;

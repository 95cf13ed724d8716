//! What is said against the figures or the target, each kind once: the worst of it, and how often it was found.

use crate::report::{Finding, FindingKind, HealthNote, HealthNoteKind, Nanoseconds, Report};
use crate::text::number::{grouped, plural};
use crate::text::page::Page;

use super::super::screen::Tone;
use super::super::{bursts, disruptions, limit};
use super::toned_page::TonedPage;

/// Adds whether the generator kept its plan.
pub(super) fn health(page: &mut TonedPage, report: &Report) {
    let health = &report.health;
    if health.healthy {
        page.paragraph("health", "ok, the generator kept its plan", Tone::Good);
    }
    let (tolerated, tone) =
        if health.on_fail.is_fail() { ("", Tone::Bad) } else { (" but tolerated", Tone::Warning) };
    for (worst, count) in worst_of_each_kind(&health.findings) {
        let others = others(count, "series");
        let Finding { text, remedy, .. } = worst;
        let remedy = if remedy.is_empty() { String::new() } else { format!(" ({remedy})") };
        page.paragraph("health", &format!("NOT OK{tolerated}, {text}{others}{remedy}"), tone);
    }
    page.plain(|page| {
        health.causes.iter().for_each(|cause| page.paragraph("meanwhile", cause));
        for kind in [HealthNoteKind::TooFew, HealthNoteKind::Limit] {
            notes(page, &health.notes, kind);
        }
    });
}

/// The worst finding of each kind, in the order of the first ones, and how many there are of the kind.
fn worst_of_each_kind(findings: &[Finding]) -> Vec<(&Finding, usize)> {
    let mut kinds: Vec<FindingKind> = Vec::new();
    for finding in findings {
        if !kinds.contains(&finding.kind) {
            kinds.push(finding.kind);
        }
    }
    let worst = |kind: FindingKind| {
        let of_kind = || findings.iter().filter(move |finding| finding.kind == kind);
        // Of equals the first.
        let worst = of_kind().rev().max_by(|one, other| badness(one).total_cmp(&badness(other)))?;
        Some((worst, of_kind().count()))
    };
    kinds.into_iter().filter_map(worst).collect()
}

/// How bad it is beside others of its kind.
fn badness(finding: &Finding) -> f64 {
    let late = finding.late_ns.zip(finding.bound_ns).map(|(late, bound)| late as f64 / bound.max(1) as f64);
    let stood = finding.longest_ns.map(|longest| longest as f64);
    let free = finding.free_p99_ns.map_or(0, Nanoseconds::least) as f64;
    let count = finding.count.map(|count| count as f64);
    late.or(stood.map(|stood| stood - free)).or(finding.share).or(count).unwrap_or(0.0)
}

fn notes(page: &mut Page, notes: &[HealthNote], kind: HealthNoteKind) {
    let mut of_kind = notes.iter().filter(|note| note.kind == kind);
    if let Some(first) = of_kind.next() {
        page.paragraph("note", &format!("{}{}", first.text, others(1 + of_kind.count(), "series")));
    }
}

/// Says that there are more than the one that is told.
fn others(count: usize, what: &str) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!("; and likewise {} more {what}", grouped(count as u64 - 1)),
    }
}

/// Adds when the target served otherwise than before, what failed at times, and what limited the run.
pub(super) fn disturbed(page: &mut TonedPage, report: &Report) {
    let told = |page: &mut Page| {
        report.disruptions.iter().take(MOST).for_each(|found| disruptions::render(page, found));
        left_out(page, "disruption", report.disruptions.len());
        report.bursts.iter().take(MOST).for_each(|burst| bursts::render(page, burst));
        left_out(page, "burst", report.bursts.len());
        report.limits.iter().for_each(|limit| limit::render(page, limit));
    };
    page.of_tone(Tone::Warning, told);
}

fn left_out(page: &mut Page, what: &str, found: usize) {
    let more = found.saturating_sub(MOST) as u64;
    if more > 0 {
        page.paragraph("", &format!("and {}: --detail", plural(more, &format!("more {what}"))));
    }
}

/// Of each kind.
const MOST: usize = 3;

//! What figures say together: that what is trusted is of another instance, and that Fulcio knows no new key of the issuer.

use hammer_report::report::{Event, Interval, PromiseCounts, Report, Series};
use hammer_report::text::number::grouped;
use hammer_report::{Reason, ReasonKind};
use hammer_sigstore::SigstoreTargetPlan;

use super::rotation::ROTATED;
use super::sections::{TARGET, uses};
use crate::plan::Plan;
use crate::protocol::Conclusion;

/// All of them.
pub(super) fn all(plan: &Plan, report: &Report) -> Vec<Conclusion> {
    let reason = |text| Conclusion::Reason(Reason::new(ReasonKind::PromiseBroken, text));
    let untrusted = untrusted(plan, report).into_iter().map(reason);
    untrusted.chain(unknown_key(plan, report).map(Conclusion::Note)).collect()
}

/// That nothing of what a workload was answered leads to what is trusted, for each kind of answer.
fn untrusted(plan: &Plan, report: &Report) -> Vec<String> {
    let target = plan.target.unnamed.get::<SigstoreTargetPlan>(TARGET);
    let Some(target) = target else { return Vec::new() };
    let mut said = Vec::new();
    for kind in &report.promises.by_kind {
        let Some((_, breach, what, key)) = TRUSTED.into_iter().find(|(promise, ..)| *promise == kind.kind)
        else {
            continue;
        };
        let own = match key {
            "fulcio_chain" => &target.fulcio_chain,
            "timestamp_chain" => &target.timestamp_chain,
            _ => &target.rekor_key,
        };
        let Some(file) = own.as_ref().or(target.trusted_root.as_ref()) else { continue };
        // Of a promise that was broken by something else, and of breaches that found no room, nothing is known here.
        let breaches = report.breaches.iter();
        let of_it = breaches.filter(|found| found.workload == kind.workload && found.kind == breach).count();
        let PromiseCounts { broken, kept, .. } = kind.promises;
        if broken > 0 && kept == 0 && of_it as u64 == broken {
            said.push(format!(
                "none of the {} {what} of {} leads to what {} trusts, which may be of another instance",
                grouped(kind.promises.broken),
                kind.workload,
                file.display()
            ));
        }
    }
    said
}

/// That no token was taken any more once hammer's own issuer had another key: all were before, and none since, for what is wrong with
/// the token.
fn unknown_key(plan: &Plan, report: &Report) -> Option<String> {
    let is_signed =
        |workload: &str| plan.workloads.iter().any(|of| of.name.as_str() == workload && uses(of).is_some());
    let mut steps =
        report.series.iter().filter(|series| series.name == FULCIO && is_signed(&series.workload));
    let fulcio = steps.next()?;
    // One that looks keys up, or takes any, has taken tokens of the second key.
    let at = report.events.iter().find_map(|event| match event {
        Event::Note { at_ns, text } if text.starts_with(ROTATED) => Some(*at_ns),
        _ => None,
    })?;
    let place = report.intervals.iter().position(|interval| interval.at_ns >= at)?;
    // What was under way at that time shows either key.
    let (before, after) = (&report.intervals[..place], &report.intervals[place + 1..]);
    let (lately, before) = (&report.intervals[place.saturating_sub(1)..=place], certified(fulcio, before));
    let after = certified(fulcio, after);
    let is_since_then = certified(fulcio, lately).accepted > 0 && before.refused == 0;
    if !is_since_then || after.accepted > 0 || after.refused == 0 {
        return None;
    }
    let refused = || fulcio.measurement.causes.iter().filter(|cause| cause.fate == "refused");
    if !refused().all(|cause| OF_TOKENS.contains(&cause.cause.as_str())) {
        return None;
    }
    let answer = refused().next().map_or_else(String::new, |cause| {
        let said = cause.answer.as_ref().map_or_else(String::new, |answer| format!(", {answer}"));
        format!(" ({}{said})", cause.cause)
    });
    Some(format!(
        "the issuer's key changed at {}, and since then Fulcio refuses every token{answer}: it may not look the issuer's keys up, as \
         an embedded one does only for those of `fulcio.issuers`",
        hammer_measure::Nanos(at)
    ))
}

/// What became of requests for certificates in these intervals.
fn certified(fulcio: &Series, within: &[Interval]) -> CertifiedCounts {
    let mut counts = CertifiedCounts::default();
    for series in within.iter().flat_map(|interval| &interval.series) {
        if series.path == fulcio.path {
            counts.accepted += series.fates.accepted;
            counts.refused += series.fates.refused;
        }
    }
    counts
}

#[derive(Default)]
struct CertifiedCounts {
    accepted: u64,
    refused: u64,
}

/// The series of requests for certificates.
const FULCIO: &str = "fulcio";
/// How Fulcio refuses a token that it cannot verify.
const OF_TOKENS: [&str; 4] = ["HTTP 400", "HTTP 401", "INVALID_ARGUMENT", "UNAUTHENTICATED"];
/// Kinds of promises, each with what is found where nothing leads to what is trusted, its name, and the key of a file for it alone.
const TRUSTED: [(&str, &str, &str, &str); 3] = [
    ("certificate", "certificate-untrusted", "certificates", "fulcio_chain"),
    ("entry", "entry-of-another-log", "entries", "rekor_key"),
    ("timestamp", "timestamp-untrusted", "timestamps", "timestamp_chain"),
];

//! What figures say together: that what is trusted is of another instance, and that Fulcio knows no new key of the issuer.

use std::path::Path;

use hammer_report::report::{Breach, Event, Interval, KindPromises, PromiseCounts, Report, Series};
use hammer_report::text::number::grouped;
use hammer_report::{Reason, ReasonKind};
use hammer_sigstore::SigstoreTargetPlan;

use super::rotation::ROTATED;
use super::sections::{TARGET, signs, uses};
use crate::plan::Plan;
use crate::protocol::Conclusion;

/// All of them.
pub(super) fn all(plan: &Plan, report: &Report) -> Vec<Conclusion> {
    let reason = |text| Conclusion::Reason(Reason::new(ReasonKind::PromiseBroken, text));
    let untrusted = untrusted(plan, report).into_iter().map(reason);
    untrusted.chain(unknown_key(plan, report).map(Conclusion::Note)).collect()
}

/// That nothing of what a workload was answered leads to what is trusted, for each kind of answer, and which key of the target may be why.
fn untrusted(plan: &Plan, report: &Report) -> Vec<String> {
    let target = plan.target.unnamed.get::<SigstoreTargetPlan>(TARGET);
    let Some(target) = target else { return Vec::new() };
    report.promises.by_kind.iter().filter_map(|kind| untrusted_kind(plan, target, report, kind)).collect()
}

/// The same of one kind of promises, all of which are broken by one thing.
fn untrusted_kind(
    plan: &Plan,
    target: &SigstoreTargetPlan,
    report: &Report,
    kind: &KindPromises,
) -> Option<String> {
    let PromiseCounts { broken, kept, .. } = kind.promises;
    let is_its = |breach: &&Breach| breach.workload == kind.workload;
    let found = |breach: &'static str| {
        let mut breaches = report.breaches.iter().filter(is_its).filter(move |found| found.kind == breach);
        let first = breaches.next()?;
        // Of a promise that was broken by something else, and of breaches that found no room, nothing is known here.
        (kept == 0 && 1 + breaches.count() as u64 == broken).then_some(first)
    };
    let (_, breach, what, key) =
        TRUSTED.into_iter().find(|(promise, breach, ..)| *promise == kind.kind && found(breach).is_some())?;
    let detail = &found(breach)?.detail;
    let none = format!("none of the {} {what} of {}", grouped(broken), kind.workload);
    let key = if is_on_tiles(plan, &kind.workload) { key.on_tiles() } else { key };
    Some(match breach {
        ORIGIN => format!(
            "{none} has a checkpoint of the origin that is trusted: {detail}; `rekor_tiles_origin` has to be the log's own"
        ),
        INTERMEDIATE => {
            let (own, file) = key.file(target)?;
            format!(
                "{none} leads to a root that {} trusts, which has roots alone: {detail}; `{own}` may lack the intermediate certificate, or be of another instance",
                file.display()
            )
        }
        _ => {
            let (_, file) = key.file(target)?;
            format!("{none} leads to what {} trusts, which may be of another instance", file.display())
        }
    })
}

/// Whether that workload gets its entries from Rekor v2.
fn is_on_tiles(plan: &Plan, workload: &str) -> bool {
    let its = plan.workloads.iter().find(|of| of.name.as_str() == workload);
    its.and_then(signs).is_some_and(|sign| sign.rekor.is_on_tiles())
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
/// A key of the target that names a file of what is trusted of one service alone.
#[derive(Clone, Copy)]
enum TrustKey {
    Fulcio,
    Rekor,
    RekorTiles,
    Timestamp,
}

impl TrustKey {
    /// That of Rekor v2 in place of that of Rekor v1.
    const fn on_tiles(self) -> Self {
        match self {
            Self::Rekor => Self::RekorTiles,
            other => other,
        }
    }

    /// The key that names a file, and the file: its own, else that of all trust; none where nothing names one.
    fn file(self, target: &SigstoreTargetPlan) -> Option<(&'static str, &Path)> {
        let (key, own) = match self {
            Self::Fulcio => ("fulcio_chain", &target.fulcio_chain),
            Self::Rekor => ("rekor_key", &target.rekor_key),
            Self::RekorTiles => ("rekor_tiles_key", &target.rekor_tiles_key),
            Self::Timestamp => ("timestamp_chain", &target.timestamp_chain),
        };
        let root = target.trusted_root.as_deref().map(|root| ("trusted_root", root));
        own.as_deref().map(|own| (key, own)).or(root)
    }
}

/// Kinds of promises, each with what is found where nothing leads to what is trusted, its name, and the key of a file for it alone.
const TRUSTED: [(&str, &str, &str, TrustKey); 5] = [
    ("certificate", "certificate-untrusted", "certificates", TrustKey::Fulcio),
    ("entry", "entry-of-another-log", "entries", TrustKey::Rekor),
    ("entry", ORIGIN, "entries", TrustKey::Rekor),
    ("timestamp", "timestamp-untrusted", "timestamps", TrustKey::Timestamp),
    ("timestamp", INTERMEDIATE, "timestamps", TrustKey::Timestamp),
];
/// A checkpoint that the trusted key signed under another origin.
const ORIGIN: &str = "checkpoint-origin";
/// A timestamp whose issuer no trusted root is.
const INTERMEDIATE: &str = "timestamp-intermediate";

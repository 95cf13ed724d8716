//! What figures say together: that what is trusted is of another instance, and that Fulcio knows no new key of the issuer.

use hammer_report::report::{Event, Report};
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
        let is_of_it = |found: &&hammer_report::report::Breach| found.workload == kind.workload;
        let mut breaches =
            report.breaches.iter().filter(is_of_it).filter(|found| is_of_kind(&found.kind, breach));
        let is_all = kind.promises.broken > 0 && kind.promises.kept == 0;
        if is_all && breaches.clone().next().is_some() && breaches.all(|found| found.kind == breach) {
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

/// Whether a breach is one of that sort of promise, as its name starts.
fn is_of_kind(found: &str, breach: &str) -> bool {
    let start = |kind: &str| kind.split('-').next().map(str::to_owned);
    start(found) == start(breach)
}

/// That no token was taken any more once hammer's own issuer had another key.
fn unknown_key(plan: &Plan, report: &Report) -> Option<String> {
    let changes = report.events.iter().filter_map(|event| match event {
        Event::Note { at_ns, text } if text.starts_with(ROTATED) => Some(*at_ns),
        _ => None,
    });
    let is_signed =
        |workload: &str| plan.workloads.iter().any(|of| of.name.as_str() == workload && uses(of).is_some());
    let mut steps =
        report.series.iter().filter(|series| series.name == FULCIO && is_signed(&series.workload));
    let fulcio = steps.next()?;
    let counted = |from: u64, to: u64| {
        let within = report
            .intervals
            .iter()
            .filter(|interval| interval.at_ns > from && interval.at_ns.saturating_sub(interval.span_ns) < to);
        let of_it = within.flat_map(|interval| &interval.series).filter(|series| series.path == fulcio.path);
        of_it.fold((0, 0), |(accepted, refused), series| {
            (accepted + series.fates.accepted, refused + series.fates.refused)
        })
    };
    for at in changes {
        // What was under way at that time shows either key.
        let behind = report.intervals.iter().map(|interval| interval.at_ns).find(|end| *end >= at)?;
        let (before, _) = counted(0, behind);
        let (after, refused) = counted(behind, u64::MAX);
        if before > 0 && after == 0 && refused > 0 {
            let answer = fulcio.measurement.causes.iter().find(|cause| cause.fate == "refused");
            let answer = answer.map_or_else(String::new, |cause| {
                let said = cause.answer.as_ref().map_or_else(String::new, |answer| format!(", {answer}"));
                format!(" ({}{said})", cause.cause)
            });
            return Some(format!(
                "the issuer's key changed at {}, and since then Fulcio refuses every token{answer}: it does not look the \
                 issuer's keys up, as an embedded one does only for those of `fulcio.issuers`",
                hammer_measure::Nanos(at)
            ));
        }
    }
    None
}

/// The series of requests for certificates.
const FULCIO: &str = "fulcio";
/// Kinds of promises, each with what is found where nothing leads to what is trusted, its name, and the key of a file for it alone.
const TRUSTED: [(&str, &str, &str, &str); 3] = [
    ("certificate", "certificate-untrusted", "certificates", "fulcio_chain"),
    ("entry", "entry-of-another-log", "entries", "rekor_key"),
    ("timestamp", "timestamp-untrusted", "timestamps", "timestamp_chain"),
];

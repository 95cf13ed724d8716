//! What figures say together: that a verifier does not have the devices that it is shown, or had them before they were provisioned.

use hammer_attest::KNOWN;
use hammer_report::Report;
use hammer_report::report::Series;
use hammer_report::text::number::grouped;

use super::sections::{provision, verify};
use crate::plan::Plan;
use crate::protocol::Conclusion;

/// All of them.
pub(super) fn all(plan: &Plan, report: &Report) -> Vec<Conclusion> {
    let unaffirmed = plan.workloads.iter().filter_map(|workload| {
        let devices = &verify(workload)?.devices;
        let (shown, of) = unaffirmed(report, workload.name.as_str())?;
        let models = devices.models.map_or_else(|| "none".to_owned(), |models| models.to_string());
        let seed = plan.seed;
        Some(Conclusion::Note(format!(
            "{} of {} results of good devices of {} affirmed nothing: verification may not have the devices. They are those of seed {seed}, `devices.stream` {} and `devices.models` {models}; what was provisioned has to be of the same three, and not to have been emptied since",
            grouped(shown), grouped(of), workload.name, devices.stream
        )))
    });
    unaffirmed.chain(known_before(plan, report)).collect()
}

/// That a store was given what it had: it answers that at another price than what is new to it.
fn known_before(plan: &Plan, report: &Report) -> Vec<Conclusion> {
    // As published, all devices are one.
    if plan.compat.is_some() {
        return Vec::new();
    }
    let provisions = |series: &&Series| {
        plan.workloads
            .iter()
            .any(|workload| workload.name.as_str() == series.workload && provision(workload).is_some())
    };
    let of_series = |series: &Series| {
        let figures = &series.measurement;
        let known: u64 =
            figures.causes.iter().filter(|cause| cause.cause == KNOWN).map(|cause| cause.count).sum();
        let of = figures.counts.fates.accepted;
        (known > 0).then(|| {
            Conclusion::Note(format!(
                "{} of {} accepted endorsements of {} were {KNOWN}: the store took in nothing anew with them. Empty it before the run, or submit other devices (`seed`, `devices.first`)",
                grouped(known), grouped(of), series.workload
            ))
        })
    };
    report.series.iter().filter(provisions).filter_map(of_series).collect()
}

/// How many results of good devices affirmed nothing, and of how many.
fn unaffirmed(report: &Report, workload: &str) -> Option<(u64, u64)> {
    let mut kinds = report.promises.by_kind.iter();
    let good = kinds.find(|kind| kind.workload == workload && kind.kind == GOOD)?.promises;
    let mut breaches = report.breaches.iter().filter(|breach| breach.workload == workload);
    let is_unaffirmed = breaches.any(|breach| breach.kind == NOT_AFFIRMED);
    (good.broken > 0 && is_unaffirmed).then_some((good.broken, good.made))
}

/// The class of devices with which nothing is wrong, and what of them is broken.
const GOOD: &str = "good";
const NOT_AFFIRMED: &str = "good-device-not-affirmed";

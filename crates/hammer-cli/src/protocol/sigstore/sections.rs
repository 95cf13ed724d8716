//! The keys that Sigstore adds to plans.

use hammer_lab_sigstore::SigstoreLabPlan;
use hammer_sigstore::{
    MixedPlan, ServiceReadPlan, SignPlan, SigstoreService, SigstoreTargetPlan, TimestampPlan, TufPlan,
    VerifyPlan,
};
use hammer_values::{Agreed, RenamedKey};
use serde_json::{Map, Value};

use super::embedded::EmbeddedPlan;
use crate::plan::WorkloadPlan;
use crate::plan::document::LabSettings;
use crate::plan::section::{Section, SectionPlace};

/// The section of the target.
pub(super) const TARGET: &str = "sigstore";
/// The section of the embedded services.
pub(super) const LAB: &str = "sigstore";
/// The section of a workload that signs.
pub(super) const SIGN: &str = "sigstore_sign";
/// The section of a workload that verifies.
pub(super) const VERIFY: &str = "sigstore_verify";
/// The section of a workload that does both.
pub(super) const MIXED: &str = "sigstore_mixed";
/// The section of a workload that reads single services.
pub(super) const READ: &str = "sigstore_read";
/// The section of a workload that asks for timestamps alone.
pub(super) const TIMESTAMP: &str = "sigstore_timestamp";

/// The section of a workload that refreshes clients of the TUF repository.
pub(super) const TUF: &str = "sigstore_tuf";

impl LabSettings for SigstoreLabPlan {
    const RENAMED: &[RenamedKey] = &[];
}

/// All of them.
pub(super) fn all() -> Vec<Section> {
    use SectionPlace::{Lab, Target, Workload};
    vec![
        Section::of::<SigstoreTargetPlan>(Target, TARGET, "The services of Sigstore."),
        Section::shown_as::<EmbeddedPlan, Map<String, Value>>(Lab, LAB, LAB_IS),
        Section::of::<Agreed<SignPlan>>(Workload, SIGN, "Flows that sign."),
        Section::of::<Agreed<VerifyPlan>>(Workload, VERIFY, "Flows that verify what flows signed."),
        Section::of::<Agreed<MixedPlan>>(
            Workload,
            MIXED,
            "Flows that sign and flows that verify, by weight.",
        ),
        Section::of::<TimestampPlan>(Workload, TIMESTAMP, "Timestamps alone."),
        Section::of::<ServiceReadPlan>(Workload, READ, "Reads of single services."),
        Section::of::<TufPlan>(Workload, TUF, "Refreshes of a TUF repository."),
    ]
}

/// What a workload signs, where it does.
pub(super) fn sign(workload: &WorkloadPlan) -> Option<&SignPlan> {
    workload.operations.get::<Agreed<SignPlan>>(SIGN).map(|plan| &**plan)
}

/// What a workload verifies, where it does.
pub(super) fn verify(workload: &WorkloadPlan) -> Option<&VerifyPlan> {
    workload.operations.get::<Agreed<VerifyPlan>>(VERIFY).map(|plan| &**plan)
}

/// What a workload signs and verifies, where it does both.
pub(super) fn mixed(workload: &WorkloadPlan) -> Option<&MixedPlan> {
    workload.operations.get::<Agreed<MixedPlan>>(MIXED).map(|plan| &**plan)
}

/// What a workload signs, where it does, whatever else it does.
pub(super) fn signs(workload: &WorkloadPlan) -> Option<&SignPlan> {
    sign(workload).or_else(|| mixed(workload).map(|mixed| &mixed.sign))
}

/// What a workload verifies, where it does, whatever else it does.
pub(super) fn verifies(workload: &WorkloadPlan) -> Option<&VerifyPlan> {
    verify(workload).or_else(|| mixed(workload).map(|mixed| &mixed.verify))
}

/// The timestamps that a workload asks for, where it does.
pub(super) fn timestamp(workload: &WorkloadPlan) -> Option<&TimestampPlan> {
    workload.operations.get(TIMESTAMP)
}

/// What a workload reads of single services, where it does.
pub(super) fn read(workload: &WorkloadPlan) -> Option<&ServiceReadPlan> {
    workload.operations.get(READ)
}

/// The refreshes of a workload, where it has them.
pub(super) fn tuf(workload: &WorkloadPlan) -> Option<&TufPlan> {
    workload.operations.get(TUF)
}

/// The section of a workload of this protocol, and the services that its flows go to.
pub(super) fn uses(workload: &WorkloadPlan) -> Option<(&'static str, Vec<SigstoreService>)> {
    if let Some(plan) = sign(workload) {
        return Some((SIGN, plan.services().collect()));
    }
    if let Some(plan) = verify(workload) {
        return Some((VERIFY, plan.services().collect()));
    }
    if let Some(plan) = mixed(workload) {
        return Some((MIXED, plan.sign.services().chain(plan.verify.services()).collect()));
    }
    if let Some(plan) = read(workload) {
        return Some((READ, plan.services().collect()));
    }
    if tuf(workload).is_some() {
        return Some((TUF, vec![SigstoreService::Tuf]));
    }
    timestamp(workload).map(|_| (TIMESTAMP, vec![SigstoreService::Timestamp]))
}

const LAB_IS: &str = "Fulcio with a CT log, Rekor v1 and v2, a timestamp authority, a TUF repository and an issuer of tokens, which trust the tokens of the run.";

//! The keys that attestation adds to plans.

use hammer_attest::{AttestTargetPlan, DiscoveryKind, ProvisionPlan, VerifyPlan, WellKnownPlan};
use hammer_lab_attest::AttestLabPlan;
use hammer_values::RenamedKey;
use serde_json::{Map, Value};

use crate::plan::document::LabSettings;
use crate::plan::section::{Section, SectionPlace};
use crate::plan::{Plan, WorkloadPlan};

/// The section of the target.
pub(crate) const TARGET: &str = "attest";
/// The section of the embedded services.
pub(crate) const LAB: &str = "attest";
/// The section of a workload that provisions.
pub(crate) const PROVISION: &str = "attest_provision";
/// The section of a workload that verifies.
pub(crate) const VERIFY: &str = "attest_verify";
/// The section of a workload that reads discovery documents.
pub(crate) const WELL_KNOWN: &str = "attest_well_known";

impl LabSettings for AttestLabPlan {
    const RENAMED: &[RenamedKey] = &[];
}

/// All of them.
pub(super) fn all() -> Vec<Section> {
    use SectionPlace::{Lab, Target, Workload};
    vec![
        Section::of::<AttestTargetPlan>(Target, TARGET, "The services of an attestation verifier."),
        Section::shown_as::<AttestLabPlan, Map<String, Value>>(
            Lab,
            LAB,
            "An attestation verifier, as Veraison is: provisioning and verification.",
        ),
        Section::of::<ProvisionPlan>(Workload, PROVISION, "Endorsements of devices, provisioned."),
        Section::of::<VerifyPlan>(Workload, VERIFY, "Evidence of devices, verified."),
        Section::of::<WellKnownPlan>(Workload, WELL_KNOWN, "Reads of discovery documents."),
    ]
}

/// What a workload provisions, where it does.
pub(super) fn provision(workload: &WorkloadPlan) -> Option<&ProvisionPlan> {
    workload.operations.get(PROVISION)
}

/// What a workload verifies, where it does.
pub(super) fn verify(workload: &WorkloadPlan) -> Option<&VerifyPlan> {
    workload.operations.get(VERIFY)
}

/// The documents that a workload reads, where it does.
pub(super) fn well_known(workload: &WorkloadPlan) -> Option<&WellKnownPlan> {
    workload.operations.get(WELL_KNOWN)
}

/// The services of a plan, where it has them.
pub(super) fn target(plan: &Plan) -> Option<&AttestTargetPlan> {
    plan.target.unnamed.get(TARGET)
}

/// The embedded services of a plan, where it has them.
pub(super) fn lab(plan: &Plan) -> Option<&AttestLabPlan> {
    plan.target.lab.as_ref()?.kind.get(LAB)
}

/// Whether an issuer grants what provisioning lets in by.
pub(super) fn grants(plan: &Plan) -> bool {
    let auth = target(plan).and_then(|target| target.auth.as_deref());
    auth.and_then(|auth| auth.bearer.as_ref()).is_some_and(|bearer| bearer.grant().is_some())
}

/// The section of a workload of this protocol, and the services that it goes to.
pub(super) fn uses(workload: &WorkloadPlan) -> Option<(&'static str, Vec<DiscoveryKind>)> {
    if provision(workload).is_some() {
        return Some((PROVISION, vec![DiscoveryKind::Provisioning]));
    }
    if let Some(plan) = verify(workload) {
        let enters = plan.provision_at_start.then_some(DiscoveryKind::Provisioning);
        return Some((VERIFY, [DiscoveryKind::Verification].into_iter().chain(enters).collect()));
    }
    let plan = well_known(workload)?;
    Some((WELL_KNOWN, plan.mix.drawn().map(|(kind, _)| *kind).collect()))
}

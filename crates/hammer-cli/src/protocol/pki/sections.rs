//! The sections of plans that are a signature service's.

use hammer_lab_pki::PkiLabPlan;
use hammer_pki::plan::{AuthenticatePlan, PkiTargetPlan, SignPlan, TimestampPlan, ValidatePlan};
use serde_json::{Map, Value};

use crate::plan::section::Section;
use crate::plan::section::SectionPlace::{Lab, Target, Workload};
use crate::plan::{Plan, WorkloadPlan};

/// The section of the target.
pub(crate) const TARGET: &str = "pki";
/// The section of an embedded target.
pub(crate) const LAB: &str = "pki";
/// The section of a workload that signs.
pub(crate) const SIGN: &str = "pki_sign";
/// The section of a workload that logs in.
pub(crate) const AUTHENTICATE: &str = "pki_authenticate";
/// The section of a workload that asks for timestamps.
pub(crate) const TIMESTAMP: &str = "pki_timestamp";

/// The section of a workload that has signed files validated.
pub(crate) const VALIDATE: &str = "pki_validate";

/// All of them.
pub(super) fn all() -> Vec<Section> {
    vec![
        Section::of::<PkiTargetPlan>(Target, TARGET, "A signature service, and who signs there.")
            .beside_lab(),
        Section::shown_as::<PkiLabPlan, Map<String, Value>>(
            Lab,
            LAB,
            "A signature service that speaks Rest PKI's API of version 1.",
        ),
        Section::of::<SignPlan>(Workload, SIGN, "Signatures of documents: CAdES and PAdES."),
        Section::of::<AuthenticatePlan>(Workload, AUTHENTICATE, "Logins by certificate."),
        Section::of::<TimestampPlan>(
            Workload,
            TIMESTAMP,
            "Timestamps of hashes, in JSON or by RFC 3161 over HTTP.",
        ),
        Section::of::<ValidatePlan>(Workload, VALIDATE, "Validations of signed files."),
    ]
}

/// What a workload signs, where it does.
pub(super) fn sign(workload: &WorkloadPlan) -> Option<&SignPlan> {
    workload.operations.get(SIGN)
}

/// How a workload logs in, where it does.
pub(super) fn authenticate(workload: &WorkloadPlan) -> Option<&AuthenticatePlan> {
    workload.operations.get(AUTHENTICATE)
}

/// How a workload asks for timestamps, where it does.
pub(super) fn timestamp(workload: &WorkloadPlan) -> Option<&TimestampPlan> {
    workload.operations.get(TIMESTAMP)
}

/// What a workload has validated, where it does.
pub(super) fn validate(workload: &WorkloadPlan) -> Option<&ValidatePlan> {
    workload.operations.get(VALIDATE)
}

/// The service of a plan, where it has one.
pub(super) fn target(plan: &Plan) -> Option<&PkiTargetPlan> {
    plan.target.unnamed.get(TARGET)
}

/// The embedded service of a plan, where it has one.
pub(super) fn lab(plan: &Plan) -> Option<&PkiLabPlan> {
    plan.target.lab.as_ref()?.kind.get(LAB)
}

/// Whether a workload is of this protocol.
pub(super) fn uses(workload: &WorkloadPlan) -> bool {
    sign(workload).is_some()
        || authenticate(workload).is_some()
        || timestamp(workload).is_some()
        || validate(workload).is_some()
}

//! What a plan of this protocol may not say.

use hammer_attest::{AttestError, DevicesPlan, DiscoveryKind, VerifyPlan};

use super::sections::{LAB, PROVISION, TARGET, grants, provision, target, uses, verify, well_known};
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::{Plan, WorkloadPlan};
use crate::protocol::tokens::OAUTH;

/// Finds what contradicts itself, or would send something else than it says.
///
/// # Errors
/// The first of it.
pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    for (place, workload) in plan.workloads.iter().enumerate() {
        let Some((key, services)) = uses(workload) else { continue };
        let at = PlanPath::workload(place).key(key);
        services.iter().try_for_each(|service| has_url(plan, *service, &at))?;
        if grants(plan) && workload.name.as_str() == OAUTH {
            return Err(PlanFault::Taken(OAUTH.to_owned()).at(PlanPath::workload(place).key("name")));
        }
        if well_known(workload).is_some() && services.is_empty() {
            return Err(PlanFault::failed(AttestError::NothingToRead).at(at));
        }
        let of_verify = verify(workload).and_then(VerifyPlan::misfit);
        let of_devices = provision(workload).and_then(|provision| provision.devices.misfit());
        if let Some((key, why)) = of_verify.or(of_devices) {
            return Err(PlanFault::Misfit(why.to_owned()).at(at.keys(key)));
        }
        let Some(verify) = verify(workload) else { continue };
        if verify.provision_at_start && workload.load.most_users().is_none() {
            return Err(PlanFault::Misfit(NO_USERS.to_owned()).at(at.key("provision_at_start")));
        }
        if !has_devices(plan, verify) {
            return Err(PlanFault::failed(AttestError::NothingProvisioned).at(at));
        }
        let is_anew = plan.target.lab.as_ref().is_some_and(|lab| !lab.keep);
        if verify.from_earlier_runs && is_anew && !provisions(plan, verify) {
            return Err(PlanFault::Misfit(NOT_KEPT.to_owned()).at(at.key("from_earlier_runs")));
        }
        remembers_devices(plan, verify, &at)?;
    }
    Ok(())
}

/// Whether the plan says where a service is that a workload needs.
fn has_url(plan: &Plan, service: DiscoveryKind, at: &PlanPath) -> Result<(), PlanError> {
    if plan.target.lab.as_ref().is_some_and(|lab| lab.kind.keys().any(|key| key == LAB)) {
        return Ok(());
    }
    let Some(written) = target(plan) else {
        return Err(PlanFault::Misfit(NO_TARGET.to_owned()).at(at.clone()));
    };
    let urls = match service {
        DiscoveryKind::Provisioning => &written.provisioning_url,
        DiscoveryKind::Verification => &written.verification_url,
        DiscoveryKind::Management => &written.management_url,
    };
    if urls.is_empty() {
        let missing = AttestError::NoUrl { service: service.name(), key: service.url_key() };
        return Err(PlanFault::failed(missing).at(PlanPath::of("target").key(TARGET)));
    }
    Ok(())
}

/// Whether there will be devices to verify: stated ones, those of earlier runs, or those that somebody of the plan provisions.
fn has_devices(plan: &Plan, verify: &VerifyPlan) -> bool {
    verify.devices.count.is_some() || verify.from_earlier_runs || provisions(plan, verify)
}

/// Whether a workload of the plan provisions such devices, or the users that verify them do as they enter.
pub(super) fn provisions(plan: &Plan, verify: &VerifyPlan) -> bool {
    let is_of = |workload: &WorkloadPlan| {
        provision(workload).is_some_and(|provision| provision.devices.is_of(&verify.devices))
    };
    verify.provision_at_start || plan.workloads.iter().any(is_of)
}

/// Whether devices that flows draw are all of those of which it is remembered that they were provisioned.
fn remembers_devices(plan: &Plan, verify: &VerifyPlan, at: &PlanPath) -> Result<(), PlanError> {
    let provisions = plan.workloads.iter().enumerate().filter_map(|(place, workload)| {
        let devices = &provision(workload)?.devices;
        devices.is_of(&verify.devices).then(|| (devices, PlanPath::workload(place).key(PROVISION)))
    });
    let of_users = verify.provision_at_start.then(|| (&verify.devices, at.clone()));
    let mut forgotten =
        provisions.chain(of_users).filter(|(devices, _)| devices.first >= DevicesPlan::FIRST_FORGOTTEN);
    match forgotten.next().filter(|_| verify.devices.count.is_none()) {
        Some((_, at)) => Err(PlanFault::Misfit(FORGOTTEN.to_owned()).at(at.keys("devices.first"))),
        None => Ok(()),
    }
}

const NO_USERS: &str = "it is users who provision as they enter, and this load has none; give `load.users`";
const NOT_KEPT: &str = "each run has an embedded verifier of its own, which knows no device of an earlier one; give `target.lab.keep: true`";
const FORGOTTEN: &str = "flows that verify draw devices below 67108864 (2^26) alone; give a lower one, or `devices.count` to the workload that verifies";
const NO_TARGET: &str = "there is no verifier; give `target.attest`, or `target.lab.attest`";

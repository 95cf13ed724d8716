//! Whom to trust, from a TUF repository: read and verified before the run.

use std::rc::Rc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_sigstore::{
    ServiceEndpoints, SigstoreError, SigstoreService, SigstoreTargetPlan, TrustSource, TrustedRoot,
    TufTargetPlan,
};

use super::sections::{tuf, uses};
use crate::before_run;
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;
use crate::protocol::service::permitted;

/// What the repository says, where the plan has no file of that, and a workload whose answers are held to it.
///
/// # Errors
/// When nobody allowed the repository, or it is not believed.
pub(super) fn trusted_root(
    plan: &Plan,
    target: &SigstoreTargetPlan,
    at: &PlanPath,
) -> Result<Option<TrustedRoot>, CliError> {
    let Some(repository) = source(plan, target) else { return Ok(None) };
    let urls = ServiceEndpoints::of(target).at(SigstoreService::Tuf).to_vec();
    permitted(&urls, plan.target.authorized.as_deref())?;
    let client = plan.target.client(None, urls, 1, plan.seed)?;
    let failed = |error: SigstoreError| CliError::from(PlanFault::failed(error).at(at.clone()));
    let clock = Rc::new(MonotonicClock::starting_now());
    let read = repository.trusted_root(client, clock, unix_millis() / 1000);
    before_run::ask(read)?.map(Some).map_err(failed)
}

/// The repository from which a plan has what it trusts.
pub(super) fn source<'a>(plan: &Plan, target: &'a SigstoreTargetPlan) -> Option<&'a TufTargetPlan> {
    let is_held = plan.workloads.iter().any(|workload| uses(workload).is_some() && tuf(workload).is_none());
    let says_so = target.trusted_root.is_none() && target.trust == TrustSource::Plan;
    target.tuf.as_ref().filter(|_| is_held && says_so)
}

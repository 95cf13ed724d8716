//! Whom to trust, from the services themselves: read before the run, and believed because they say so.

use std::rc::Rc;

use hammer_core::clock::MonotonicClock;
use hammer_sigstore::{
    ServedTrust, ServiceEndpoints, SigstoreError, SigstoreService, SigstoreTargetPlan, TrustSource,
};

use crate::before_run;
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;
use crate::protocol::service::permitted;

/// What those services say of themselves whose URLs the plan has, and of whom no file says it; nothing where the plan does not want it.
///
/// # Errors
/// When nobody allowed one of them, or it does not say whom to trust.
pub(super) fn served_trust(
    plan: &Plan,
    target: &SigstoreTargetPlan,
    at: &PlanPath,
) -> Result<Option<ServedTrust>, CliError> {
    if target.trust != TrustSource::Servers {
        return Ok(None);
    }
    let failed = |error: SigstoreError| CliError::from(PlanFault::failed(error).at(at.clone()));
    let endpoints = ServiceEndpoints::of(target);
    let mut trust = ServedTrust::default();
    for service in ServedTrust::SERVICES {
        let urls: Vec<_> = endpoints.at(service).iter().take(1).cloned().collect();
        // Either way Fulcio says the same: it is asked once.
        let is_asked =
            service == SigstoreService::FulcioGrpc && !endpoints.at(SigstoreService::Fulcio).is_empty();
        if urls.is_empty() || is_asked || is_stated(target, service) {
            continue;
        }
        permitted(&urls, plan.target.authorized.as_deref())?;
        let client = plan.target.client(None, urls, 1, plan.seed)?;
        let clock = Rc::new(MonotonicClock::starting_now());
        before_run::ask(trust.ask(service, client, clock))?.map_err(failed)?;
    }
    Ok(Some(trust))
}

/// Whether a file of the plan says whom to trust there.
const fn is_stated(target: &SigstoreTargetPlan, service: SigstoreService) -> bool {
    match service {
        SigstoreService::Fulcio | SigstoreService::FulcioGrpc => target.fulcio_chain.is_some(),
        SigstoreService::Rekor => target.rekor_key.is_some(),
        _ => target.timestamp_chain.is_some(),
    }
}

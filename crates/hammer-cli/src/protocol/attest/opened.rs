//! The services of a run: found, or started, and asked what they are.

use std::rc::Rc;

use hammer_attest::{
    AttestAuth, AttestError, AttestTarget, AttestTargetPlan, Discovered, DiscoveryKind, discover,
};
use hammer_core::clock::MonotonicClock;
use hammer_core::runtime::Clock;
use hammer_exchange::WallTime;
use hammer_exchange::grant::GrantedKind;
use hammer_exchange::stock::TokenSubject;
use hammer_lab::LabError;
use hammer_lab_attest::{AttestLabHandle, AttestLabPlan};
use hammer_measure::Nanos;
use hammer_values::{OneOrMany, TimeSpan};

use super::sections::{LAB, TARGET, lab, provision, target, uses, verify};
use crate::before_run;
use crate::error::CliError;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::{Plan, WorkloadPlan};
use crate::protocol::RunPlan;
use crate::protocol::lab::{Lab, own_url, unstarted};
use crate::protocol::service::permitted;
use crate::protocol::tokens::{OAUTH, PlannedGrant, RunTokens, granted, placed};

/// What was found or started.
pub(super) struct OpenedTarget {
    pub(super) target: AttestTarget,
    pub(super) tokens: Option<RunTokens>,
}

/// Finds the services of a plan, or starts them.
///
/// # Errors
/// When they do not start, or what they let in by cannot be read.
pub(super) fn opened(planned: &RunPlan<'_>, labs: &mut Vec<Box<dyn Lab>>) -> Result<OpenedTarget, CliError> {
    let plan = planned.plan;
    let (written, at) = match (lab(plan), target(plan)) {
        (Some(settings), _) => (started(settings, labs)?, PlanPath::of("target.lab").key(LAB)),
        (None, Some(written)) => (written.clone(), PlanPath::of("target").key(TARGET)),
        (None, None) => return Err(PlanFault::Missing.at(PlanPath::of("target").key(TARGET)).into()),
    };
    let auth = AttestAuth::of(written.auth.as_deref());
    let auth = auth.map_err(|error| CliError::from(PlanFault::failed(error).at(at.key("auth"))))?;
    let tokens = tokens(planned)?;
    let auth = tokens.as_ref().map_or(auth, |tokens| auth_of(tokens, planned.epoch_unix_ms));
    let provisioned = planned.earlier.of(PROVISIONED);
    let target = AttestTarget { provisioned, ..AttestTarget::of(&written, auth) };
    Ok(OpenedTarget { target, tokens })
}

/// Asks those services for their documents that workloads of the plan live by, and that were not asked yet; what the reader of the report
/// must be told of them.
///
/// # Errors
/// When one does not say what it is, or nobody allowed it.
pub(super) fn describe(plan: &Plan, found: &mut AttestTarget) -> Result<Vec<String>, CliError> {
    let failed = |error: AttestError| CliError::from(fault(plan, error, PlanPath::of("target").key(TARGET)));
    let mut notes = Vec::new();
    for kind in asked(plan, found) {
        let endpoints = found.service(kind).endpoints.clone();
        permitted(endpoints.iter(), plan.target.authorized.as_deref())?;
        let client = plan.target.client(None, endpoints, 1, plan.seed)?;
        let discovered = ask(kind, client)?.map_err(failed)?;
        for (_, document) in &discovered.documents {
            let Some(key) = &document.key else { continue };
            let unusable = |why| AttestError::Undiscovered { kind, why };
            found.keys.add(key).map_err(|why| failed(unusable(why.to_string())))?;
        }
        notes.extend(discovered.notes(kind));
        found.service_mut(kind).documents =
            discovered.documents.into_iter().map(|(_, document)| document).collect();
    }
    // Before a fill, and not behind it.
    for workload in &plan.workloads {
        if provision(workload).is_some() {
            found.dialect().map_err(failed)?;
            found.submit_path().map_err(failed)?;
        }
        if verify(workload).is_some() {
            found.session_path().map_err(failed)?;
        }
    }
    notes.extend(found.of_two_releases());
    Ok(notes)
}

/// An error by the key that is at fault: of a service by that which says where it is, and else below `at`.
pub(super) fn fault(plan: &Plan, error: AttestError, at: PlanPath) -> PlanError {
    let at = match (error.service(), lab(plan)) {
        (Some(_), Some(_)) => PlanPath::of("target.lab").key(LAB),
        (Some(kind), None) => PlanPath::of("target").key(TARGET).key(kind.url_key()),
        (None, _) => at,
    };
    PlanFault::failed(error).at(at)
}

fn started(settings: &AttestLabPlan, labs: &mut Vec<Box<dyn Lab>>) -> Result<AttestTargetPlan, CliError> {
    let at = PlanPath::of("target.lab").key(LAB);
    let refused = |error: LabError| unstarted(error, &at);
    let started = AttestLabHandle::spawn(settings.clone()).map_err(refused)?;
    let url = OneOrMany::One(own_url(&started.url).map_err(refused)?);
    labs.push(Box::new(started));
    Ok(AttestTargetPlan {
        provisioning_url: url.clone(),
        verification_url: url.clone(),
        management_url: url,
        // It knows a device as it says so.
        provisioning_delay: TimeSpan::ZERO,
        ..AttestTargetPlan::default()
    })
}

/// The services whose documents are read before the run: those that workloads go to for more than the document itself. What verification
/// expects of devices follows from what provisioning takes, where that is known.
fn asked(plan: &Plan, found: &AttestTarget) -> Vec<DiscoveryKind> {
    let mut kinds = Vec::new();
    for workload in &plan.workloads {
        if provision(workload).is_none() && verify(workload).is_none() {
            continue;
        }
        kinds.extend(uses(workload).into_iter().flat_map(|(_, services)| services));
        kinds.push(DiscoveryKind::Provisioning);
    }
    kinds.sort();
    kinds.dedup();
    kinds.retain(|kind| {
        let service = found.service(*kind);
        service.documents.is_empty() && !service.endpoints.is_empty()
    });
    kinds
}

fn ask(
    kind: DiscoveryKind,
    client: hammer_net::ClientConfig,
) -> Result<Result<Discovered, AttestError>, CliError> {
    let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
    before_run::ask(discover(kind, client, TIMEOUT, &clock))
}

/// The tokens that an issuer grants, where one does.
///
/// # Errors
/// Those of [`granted`].
pub(super) fn tokens(planned: &RunPlan<'_>) -> Result<Option<RunTokens>, CliError> {
    let auth = target(planned.plan).and_then(|target| target.auth.as_deref());
    let grant = auth.and_then(|auth| auth.bearer.as_ref()).and_then(|bearer| bearer.grant());
    let Some(grant) = grant else { return Ok(None) };
    let at = PlanPath::of("target").key(TARGET).key("auth").key("bearer").key("grant");
    let (name, subject) = (OAUTH.to_owned(), TokenSubject::Unasked);
    let placed = placed(grant, None, &at)?;
    let granting = PlannedGrant { grant: &placed, at, name, subject, otherwise: GrantedKind::AccessToken };
    granted(planned.plan, granting, planned.epoch_unix_ms).map(Some)
}

/// What provisioning lets in by, where an issuer grants it.
pub(super) fn auth_of(tokens: &RunTokens, epoch_unix_ms: u64) -> AttestAuth {
    AttestAuth::Tokens(tokens.stock.clone(), WallTime { epoch_unix_ms })
}

/// What comes of sessions whose requests go to any frontend.
pub(super) fn unpinned(plan: &Plan, found: &AttestTarget) -> Option<String> {
    let frontends = found.service(DiscoveryKind::Verification).endpoints.len();
    let is_unpinned = |workload: &WorkloadPlan| verify(workload).is_some_and(|verify| !verify.pinned);
    let workload = plan.workloads.iter().find(|workload| is_unpinned(workload)).filter(|_| frontends > 1)?;
    Some(format!(
        "sessions of {} go to any of {frontends} frontends (`pinned: false`): where each keeps its own, those of another are answered with 404 (session not found)",
        workload.name
    ))
}

/// Under which name it is remembered what earlier runs got provisioned.
const PROVISIONED: &str = "attest: provisioned devices";
const TIMEOUT: Nanos = Nanos::from_secs(10);

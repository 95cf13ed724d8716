//! Workloads on the services of a run.

use std::sync::Arc;

use hammer_audit::LogAuditor;
use hammer_core::compose::{Mixed, MixedPart};
use hammer_core::dispatch::LanePlan;
use hammer_core::draw::Draws;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_net::ClientConfig;
use hammer_sigstore::{
    CorpusSink, MixedPlan, ServiceReadPlan, ServiceReadWorkload, SignPlan, SignWorkload, SigstoreError,
    SigstoreRun, SigstoreService, TimestampPlan, TimestampWorkload, VerifyPlan, VerifyWorkload,
};

use super::opened::OpenTarget;
use super::sections::{MIXED, READ, SIGN, TIMESTAMP, VERIFY};
use crate::plan::error::{PlanError, PlanFault};
use crate::protocol::lane::LaneRequest;

/// Why a workload cannot be made: what its own crate says, or the plan.
enum LaneFault {
    Sigstore(SigstoreError),
    Plan(PlanError),
}

impl From<SigstoreError> for LaneFault {
    fn from(error: SigstoreError) -> Self {
        Self::Sigstore(error)
    }
}

/// Flows that sign.
pub(super) fn signs(
    plan: &SignPlan,
    open: &OpenTarget,
    auditor: Option<&mut LogAuditor>,
    corpus: Option<CorpusSink>,
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let made = SignWorkload::new(plan, &open.target, &run(&lane), |service| client(&lane, open, service));
    let made = made.map_err(|fault| told(fault, &lane, open, SIGN))?.warm_up(lane.warm_up);
    let made = match corpus {
        Some(corpus) => made.filling(corpus),
        None => made,
    };
    let auditor = auditor.filter(|_| plan.audit && plan.rekor.is_on_tiles());
    let link = auditor.map(|auditor| auditor.link(lane.workload.name.as_str()));
    Ok(match link {
        Some(link) => lane.with(made.audited(link)),
        None => lane.with(made),
    })
}

/// Flows that verify.
pub(super) fn verifies(
    plan: &VerifyPlan,
    open: &OpenTarget,
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let made = VerifyWorkload::new(plan, &open.target, &run(&lane), |service| client(&lane, open, service));
    let made = made.map_err(|fault| told(fault, &lane, open, VERIFY))?.warm_up(lane.warm_up);
    Ok(lane.with(made))
}

/// Both, by weight.
pub(super) fn mixes(
    plan: &MixedPlan,
    open: &OpenTarget,
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let (run, warm_up) = (run(&lane), lane.warm_up);
    let refused = |fault: LaneFault| told(fault, &lane, open, MIXED);
    let client = |service| client(&lane, open, service);
    let sign = SignWorkload::new(&plan.sign, &open.target, &run, client).map_err(refused)?.warm_up(warm_up);
    let verify =
        VerifyWorkload::new(&plan.verify, &open.target, &run, client).map_err(refused)?.warm_up(warm_up);
    let first = MixedPart { name: "sign".to_owned(), weight: plan.sign_weight, workload: sign };
    let second = MixedPart { name: "verify".to_owned(), weight: plan.verify_weight, workload: verify };
    let draws = Draws::new(run.seed, run.workload);
    Ok(lane.with(Mixed::new(first, second, draws)))
}

/// Timestamps.
pub(super) fn timestamps(
    plan: &TimestampPlan,
    open: &OpenTarget,
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let client = client(&lane, open, SigstoreService::Timestamp);
    let client = client.map_err(|fault| told(fault, &lane, open, TIMESTAMP))?;
    let made = TimestampWorkload::new(plan, &open.target, &run(&lane), client);
    let made = made.map_err(|error| told(error.into(), &lane, open, TIMESTAMP))?.warm_up(lane.warm_up);
    Ok(lane.with(made))
}

/// Reads of single services.
pub(super) fn reads(
    plan: &ServiceReadPlan,
    open: &OpenTarget,
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let made =
        ServiceReadWorkload::new(plan, &open.target, &run(&lane), |service| client(&lane, open, service));
    let made = made.map_err(|fault| told(fault, &lane, open, READ))?.warm_up(lane.warm_up);
    Ok(lane.with(made))
}

fn run(lane: &LaneRequest<'_>) -> SigstoreRun {
    let planned = lane.planned;
    SigstoreRun { seed: planned.plan.seed, epoch_unix_ms: planned.epoch_unix_ms, workload: lane.place as u64 }
}

fn client(
    lane: &LaneRequest<'_>,
    open: &OpenTarget,
    service: SigstoreService,
) -> Result<ClientConfig, LaneFault> {
    let endpoints = open.target.endpoints.needed(service)?;
    let mut client = lane.client(None, endpoints).map_err(LaneFault::Plan)?;
    if service.is_grpc() {
        client.version = client.version.of_calls().ok_or(SigstoreError::GrpcOverHttp1)?;
    }
    Ok(client)
}

/// What has a key is wrong with the target, everything else with the workload.
fn told(fault: LaneFault, lane: &LaneRequest<'_>, open: &OpenTarget, key: &str) -> PlanError {
    match fault {
        LaneFault::Plan(error) => error,
        LaneFault::Sigstore(error) if error.is_of_corpus() => {
            let at = lane.at(key);
            let at = if key == MIXED { at.key("verify") } else { at };
            PlanFault::failed(error).at(at.key("corpus"))
        }
        LaneFault::Sigstore(error) if error.key().is_some() => PlanFault::failed(error).at(open.at.clone()),
        LaneFault::Sigstore(error) => PlanFault::failed(error).at(lane.at(key)),
    }
}

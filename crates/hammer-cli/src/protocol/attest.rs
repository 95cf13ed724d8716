//! Attestation in plans: a verifier's services, and devices that are provisioned and verified.

use std::borrow::Cow;
use std::sync::Arc;

use hammer_attest::{
    AttestAuth, AttestError, AttestRun, AttestTarget, DiscoveryKind, ProvisionWorkload, ResultEvidence,
    VerificationWatch, VerifyWorkload, WellKnownWorkload,
};
use hammer_core::dispatch::LanePlan;
use hammer_core::observe::Observer;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_measure::headline::Headline;
use hammer_net::ClientConfig;
use hammer_report::Report;
use http::Uri;
use serde_json::Value;

use super::lab::Lab;
use super::lane::LaneRequest;
use super::service::OpenService;
use super::tokens::RunTokens;
use super::{Conclusion, OpenProtocol, Protocol, RunPlan};
use crate::error::CliError;
use crate::plan::error::{KeyedError, PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::section::Section;
use crate::plan::{Plan, WorkloadPlan};
use crate::tui::spec::{PanelSide, PanelSpec, ProtocolPage};

mod check;
mod conclusions;
mod opened;
mod panel;
pub(crate) mod sections;

use check::check;
use opened::{fault, opened};
use sections::{PROVISION, TARGET, VERIFY, WELL_KNOWN, all, provision, uses, verify, well_known};

/// The protocol.
pub(crate) struct Attest;

impl KeyedError for AttestError {
    fn key(&self) -> Option<Cow<'_, str>> {
        self.key().map(Cow::from)
    }
}

impl Protocol for Attest {
    fn sections(&self) -> Vec<Section> {
        all()
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        check(planned.plan)
    }

    fn named_services(&self, plan: &Plan) -> Vec<OpenService> {
        let target = sections::target(plan).map(|target| AttestTarget::of(target, AttestAuth::None));
        target.map_or_else(Vec::new, |target| documents(plan, &target))
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        let mut labs: Vec<Box<dyn Lab>> = Vec::new();
        let is_used = planned.plan.workloads.iter().any(|workload| uses(workload).is_some());
        let mut open = OpenAttest::default();
        if is_used {
            let found = opened(planned, &mut labs)?;
            open.documents = documents(planned.plan, &found.target);
            (open.target, open.tokens) = (Some(found.target), found.tokens);
        }
        Ok(Box::new(OpenAttest { labs, ..open }))
    }

    fn shown_evidence(&self, workload: &WorkloadPlan, bytes: &[u8]) -> Option<Value> {
        verify(workload)?;
        serde_json::to_value(ResultEvidence::of(bytes)?).ok()
    }

    fn conclusions(&self, plan: &Plan, report: &Report) -> Vec<Conclusion> {
        conclusions::all(plan, report)
    }

    fn panel(&self) -> Option<PanelSpec> {
        Some(panel::PANEL)
    }

    fn page(&self) -> Option<ProtocolPage> {
        Some(panel::PAGE)
    }

    fn side(&self, workload: &WorkloadPlan) -> PanelSide {
        panel::side(workload)
    }
}

/// What a run has of it.
#[derive(Default)]
struct OpenAttest {
    /// The services, where a workload goes to them.
    target: Option<AttestTarget>,
    labs: Vec<Box<dyn Lab>>,
    /// Where their documents are.
    documents: Vec<OpenService>,
    /// Tokens that provisioning lets in by.
    tokens: Option<RunTokens>,
    /// Who looks at verification, where results come from it.
    watch: Option<VerificationWatch>,
    notes: Vec<String>,
}

impl OpenProtocol for OpenAttest {
    fn endpoints(&self) -> Vec<Uri> {
        let issuer = self.tokens.iter().filter_map(|tokens| tokens.endpoint.clone());
        let services = self
            .target
            .iter()
            .flat_map(|target| KINDS.into_iter().flat_map(|kind| target.service(kind).endpoints.clone()));
        services.chain(issuer).collect()
    }

    fn probed(&self) -> Vec<OpenService> {
        self.documents.clone()
    }

    fn take_labs(&mut self) -> Vec<Box<dyn Lab>> {
        std::mem::take(&mut self.labs)
    }

    /// What a fill got provisioned is what the run verifies: both share the devices. Tokens are asked for anew, since what keeps them fresh
    /// goes by the run's own instants.
    fn reopened<'b>(&self, planned: &RunPlan<'b>) -> Result<Box<dyn OpenProtocol + 'b>, CliError> {
        let Some(target) = &self.target else { return Ok(Box::new(Self::default())) };
        // What is counted of a run is of that alone.
        let (results, waits) = Default::default();
        let mut target = AttestTarget { results, waits, ..target.clone() };
        let tokens = opened::tokens(planned)?;
        if let Some(tokens) = &tokens {
            target.auth = opened::auth_of(tokens, planned.epoch_unix_ms);
        }
        let documents = documents(planned.plan, &target);
        Ok(Box::new(Self { target: Some(target), tokens, documents, ..Self::default() }))
    }

    /// The run whose services these were before may have gone to others of them: those that were asked are not asked again.
    fn describe(&mut self, planned: &RunPlan<'_>) -> Result<(), CliError> {
        let Some(target) = &mut self.target else { return Ok(()) };
        self.notes.extend(opened::describe(planned.plan, target)?);
        self.notes.extend(opened::unpinned(planned.plan, target));
        self.watch = watch(planned, target)?;
        Ok(())
    }

    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
        let Some(target) = &self.target else {
            return Err(PlanFault::Missing.at(PlanPath::of("target").key(TARGET)));
        };
        let run = AttestRun {
            seed: lane.planned.plan.seed,
            epoch_unix_ms: lane.planned.epoch_unix_ms,
            workload: lane.place as u64,
        };
        let client = |kind: DiscoveryKind| -> Result<ClientConfig, PlanError> {
            lane.client(None, &target.service(kind).endpoints)
        };
        if let Some(plan) = provision(lane.workload) {
            let failed = |error| fault(lane.planned.plan, error, lane.at(PROVISION));
            let client = client(DiscoveryKind::Provisioning)?;
            let made = ProvisionWorkload::new(plan, target, &run, client).map_err(failed)?;
            let made = made.warm_up(lane.warm_up);
            return Ok(lane.with(made));
        }
        if let Some(plan) = verify(lane.workload) {
            let failed = |error| fault(lane.planned.plan, error, lane.at(VERIFY));
            let provisioning = plan.provision_at_start.then(|| client(DiscoveryKind::Provisioning));
            let clients = (client(DiscoveryKind::Verification)?, provisioning.transpose()?);
            let made = VerifyWorkload::new(plan, target, &run, clients).map_err(failed)?;
            let made = made.warm_up(lane.warm_up).of_provisioned(check::provisions(lane.planned.plan, plan));
            return Ok(lane.with(made));
        }
        let Some(plan) = well_known(lane.workload) else {
            return Err(PlanFault::Missing.at(lane.at(WELL_KNOWN)));
        };
        let made = WellKnownWorkload::new(plan, &run, |kind| client(kind).map_err(WellKnownFault::Plan));
        let made = made.map_err(|fault| match fault {
            WellKnownFault::Plan(error) => error,
            WellKnownFault::Attest(error) => PlanFault::failed(error).at(lane.at(WELL_KNOWN)),
        })?;
        let made = made.warm_up(lane.warm_up);
        Ok(lane.with(made))
    }

    fn upkeep(&mut self) -> Vec<Arc<dyn LanePlan<ThreadedRuntime>>> {
        self.tokens.as_mut().and_then(|tokens| tokens.refresh.take()).into_iter().collect()
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn observes(&self) -> bool {
        self.watch.is_some()
    }

    fn headlines(&self) -> Vec<Headline> {
        let words = ["affirming", "warning", "contraindicated", "none"];
        let is_observed = self.watch.is_some();
        let all = words.map(|word| Headline::size(word, format!("results: {word}")));
        all.into_iter().filter(|_| is_observed).collect()
    }

    fn observers(self: Box<Self>) -> Result<Vec<Box<dyn Observer>>, PlanError> {
        let watch = self.watch.map(|watch| -> Box<dyn Observer> { Box::new(watch) });
        let tokens = self.tokens.map(|tokens| -> Box<dyn Observer> { Box::new(tokens.watch) });
        Ok(watch.into_iter().chain(tokens).collect())
    }
}

/// Why reads of documents cannot be set up.
enum WellKnownFault {
    Plan(PlanError),
    Attest(AttestError),
}

impl From<AttestError> for WellKnownFault {
    fn from(error: AttestError) -> Self {
        Self::Attest(error)
    }
}

/// Who looks at verification, where a workload of the plan verifies.
fn watch(planned: &RunPlan<'_>, target: &AttestTarget) -> Result<Option<VerificationWatch>, PlanError> {
    let plan = planned.plan;
    if !plan.workloads.iter().any(|workload| verify(workload).is_some()) {
        return Ok(None);
    }
    let endpoints = target.service(DiscoveryKind::Verification).endpoints.clone();
    let client = plan.target.client(None, endpoints, 1, plan.seed)?;
    Ok(Some(VerificationWatch::new(target, client, planned.epoch_unix_ms)))
}

/// Where the documents are of those services that workloads go to: there each says whether it is ready.
fn documents(plan: &Plan, target: &AttestTarget) -> Vec<OpenService> {
    let gone_to = |kind: &DiscoveryKind| {
        let mut services = plan.workloads.iter().filter_map(uses).flat_map(|(_, services)| services);
        services.any(|service| service == *kind)
    };
    let document = |kind: DiscoveryKind| {
        let urls = target.service(kind).endpoints.iter();
        let at = |url: &Uri| {
            let url = url.to_string();
            format!("{}{}", url.trim_end_matches('/'), kind.path()).parse().ok()
        };
        OpenService { name: None, endpoints: urls.filter_map(at).collect() }
    };
    KINDS.into_iter().filter(gone_to).map(document).collect()
}

const KINDS: [DiscoveryKind; 3] =
    [DiscoveryKind::Provisioning, DiscoveryKind::Verification, DiscoveryKind::Management];

//! A notary, whose protocol the shipped binary does not know: it signs what a client shows it, and keeps that in a log of its own.
//! All that a protocol writes to be read from plans, run, audited, reported and shown stands in this folder.

use std::sync::Arc;

use hammer_audit::{LogAuditor, LogPlace};
use hammer_core::compose::{Mixed, MixedPart};
use hammer_core::dispatch::LanePlan;
use hammer_core::draw::Draws;
use hammer_core::observe::Observer;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_exchange::ServiceConfig;
use hammer_measure::headline::Headline;
use hammer_net::ClientConfig;
use hammer_tlog::hash::Hash;
use http::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::grammar::StopKey;
use crate::plan::path::PlanPath;
use crate::plan::section::{Section, SectionPlace};
use crate::plan::target_url::TargetUrl;
use crate::plan::{Plan, WorkloadPlan};
use crate::protocol::lab::Lab;
use crate::protocol::lane::LaneRequest;
use crate::protocol::{OpenProtocol, Protocol, RunPlan};
use crate::tui::spec::{PanelLabel, PanelSide, PanelSize, PanelSpec, SideWords};

mod inquire;
mod log;
mod notarize;
pub(super) mod server;

use inquire::Inquire;
use log::{NotaryLeaves, NotaryLog};
use notarize::Notarize;

/// The protocol.
pub(super) struct Notary;

/// The section of a service, and that of a workload.
const NOTARY: &str = "notary";

/// A notary.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NotaryPlan {
    /// Where it is.
    url: TargetUrl,
    /// Its Ed25519 key, base64: of its log's checkpoints, and of its receipts.
    key: String,
}

/// Operations, by weight.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NotaryMix {
    notarize: u16,
    inquire: u16,
    /// Whether inquiries are about what the notary never answers.
    #[serde(default)]
    unanswered: bool,
}

impl Protocol for Notary {
    fn sections(&self) -> Vec<Section> {
        vec![
            Section::of::<NotaryPlan>(SectionPlace::Service, NOTARY, "A notary."),
            Section::of::<NotaryMix>(SectionPlace::Workload, NOTARY, "What is shown to it, and asked of it."),
        ]
    }

    fn stop_keys(&self) -> Vec<StopKey> {
        let description = "The acts that the notary's log holds.";
        let needs = "it needs a notary";
        vec![StopKey { key: "notarized", observation: "tree_size", grown: false, description, needs }]
    }

    fn will_observe(&self, plan: &Plan, observation: &str) -> bool {
        observation == "tree_size" && given(plan).next().is_some()
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        given(planned.plan).try_for_each(|(name, plan)| key(name, plan).map(drop))
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        Ok(Box::new(OpenNotaries::of(planned)?))
    }

    fn panel(&self) -> Option<PanelSpec> {
        Some(PANEL)
    }

    fn side(&self, workload: &WorkloadPlan) -> PanelSide {
        workload.operations.get::<NotaryMix>(NOTARY).map_or(PanelSide::Neither, |_| PanelSide::Writes)
    }
}

impl<'a> OpenNotaries<'a> {
    fn of(planned: &RunPlan<'a>) -> Result<Self, PlanError> {
        let mut notaries = Vec::new();
        for (name, plan) in given(planned.plan) {
            let endpoint = plan.url.url().clone();
            let client = planned.plan.target.client(Some(name), vec![endpoint], 1, planned.plan.seed)?;
            let key = key(name, plan)?;
            let (log, place) = (NotaryLog::of(&key), LogPlace::Servers(Box::new(client.clone())));
            let auditor = LogAuditor::by_tiles::<NotaryLeaves, _>(name, log, place, planned.epoch_unix_ms);
            let auditor = auditor.folder(planned.evidence.to_owned());
            notaries.push(OpenNotary { name: name.to_owned(), client, key, auditor });
        }
        Ok(Self { planned: *planned, notaries })
    }
}

/// The notaries of a plan, by name.
fn given(plan: &Plan) -> impl Iterator<Item = (&str, &NotaryPlan)> {
    let services = plan.target.services.iter();
    services.filter_map(|(name, service)| Some((name.as_str(), service.kind.get::<NotaryPlan>(NOTARY)?)))
}

fn key(name: &str, plan: &NotaryPlan) -> Result<Hash, PlanError> {
    let refused = || PlanFault::Misfit("it is no key of 32 bytes in base64".to_owned());
    Hash::from_base64(&plan.key).ok_or_else(|| refused().at(at(name).key("key")))
}

fn at(name: &str) -> PlanPath {
    PlanPath::of("target.services").key(name).key(NOTARY)
}

/// What a run has of it.
struct OpenNotaries<'a> {
    planned: RunPlan<'a>,
    notaries: Vec<OpenNotary>,
}

struct OpenNotary {
    name: String,
    client: ClientConfig,
    key: Hash,
    auditor: LogAuditor,
}

impl OpenProtocol for OpenNotaries<'_> {
    fn endpoints(&self) -> Vec<Uri> {
        self.notaries.iter().flat_map(|notary| notary.client.endpoints.clone()).collect()
    }

    fn observes(&self) -> bool {
        !self.notaries.is_empty()
    }

    fn take_labs(&mut self) -> Vec<Box<dyn Lab>> {
        Vec::new()
    }

    fn reopened<'b>(&self, planned: &RunPlan<'b>) -> Result<Box<dyn OpenProtocol + 'b>, CliError> {
        Ok(Box::new(OpenNotaries::of(planned)?))
    }

    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
        let [notary] = self.notaries.as_mut_slice() else {
            return Err(PlanFault::Missing.at(PlanPath::of("target.services")));
        };
        let Some(mix) = lane.workload.operations.get::<NotaryMix>(NOTARY).cloned() else {
            return Err(PlanFault::Missing.at(lane.at(NOTARY)));
        };
        let client = lane.client(Some(&notary.name), &notary.client.endpoints)?;
        let service = ServiceConfig { name: notary.name.clone(), client, warm_up: lane.warm_up };
        let notarize = Notarize {
            service: service.clone(),
            seed: self.planned.plan.seed,
            epoch_unix_ms: self.planned.epoch_unix_ms,
            key: notary.key,
            link: notary.auditor.link(lane.workload.name.as_str()),
        };
        let first = MixedPart { name: "notarize".to_owned(), weight: mix.notarize, workload: notarize };
        let about = if mix.unanswered { "unanswered" } else { "act" };
        let second = MixedPart {
            name: "inquire".to_owned(),
            weight: mix.inquire,
            workload: Inquire { service, about },
        };
        let draws = Draws::new(self.planned.plan.seed, lane.place as u64);
        Ok(lane.with(Mixed::new(first, second, draws)))
    }

    fn headlines(&self) -> Vec<Headline> {
        self.notaries.iter().map(|_| Headline::size("tree_size", "notarized")).collect()
    }

    fn observers(self: Box<Self>) -> Result<Vec<Box<dyn Observer>>, PlanError> {
        Ok(self
            .notaries
            .into_iter()
            .map(|notary| -> Box<dyn Observer> { Box::new(notary.auditor) })
            .collect())
    }
}

const PANEL: PanelSpec = PanelSpec {
    heading: "The notary",
    reads: SideWords { label: "Inquiries", plural: "inquiries" },
    writes: SideWords { label: "Acts", plural: "acts" },
    read_series: &[],
    size: Some(PanelSize { label: "Ledger", observation: "tree_size", growth_unit: "/s" }),
    service_time: PanelLabel { label: "Notary", means: "service time of an act" },
    times: None,
    overdue: None,
};

//! Trillian in plans: a tree behind a log server, and calls of it.

use std::borrow::Cow;
use std::sync::Arc;

use hammer_core::dispatch::LanePlan;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_lab::LabError;
use hammer_lab_sigstore::{TrillianLabHandle, TrillianLabPlan};
use hammer_trillian::{
    TrillianError, TrillianPlan, TrillianRun, TrillianTarget, TrillianTargetPlan, TrillianWorkload,
};
use hammer_values::RenamedKey;
use http::Uri;
use serde_json::{Map, Value};

use super::lab::{Lab, own_url, unstarted};
use super::lane::LaneRequest;
use super::{CalledService, OpenProtocol, Protocol, RunPlan};
use crate::error::CliError;
use crate::plan::document::LabSettings;
use crate::plan::error::{KeyedError, PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::section::{Section, SectionPlace};
use crate::plan::{Plan, WorkloadPlan};
use crate::tui::spec::ProtocolPage;

mod page;

/// The section of the target, of an embedded target and of a workload.
const SECTION: &str = "trillian";

/// The protocol.
pub(crate) struct Trillian;

impl KeyedError for TrillianError {
    fn key(&self) -> Option<Cow<'_, str>> {
        self.key().map(Cow::from)
    }
}

impl LabSettings for TrillianLabPlan {
    const RENAMED: &[RenamedKey] = &[];
}

impl Protocol for Trillian {
    fn sections(&self) -> Vec<Section> {
        vec![
            Section::of::<TrillianTargetPlan>(SectionPlace::Target, SECTION, "A tree of Trillian."),
            Section::shown_as::<TrillianLabPlan, Map<String, Value>>(
                SectionPlace::Lab,
                SECTION,
                "A log of Trillian with one tree.",
            ),
            Section::of::<TrillianPlan>(SectionPlace::Workload, SECTION, "Calls of a log of Trillian."),
        ]
    }

    fn page(&self) -> Option<ProtocolPage> {
        Some(page::PAGE)
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        let plan = planned.plan;
        for (place, workload) in plan.workloads.iter().enumerate() {
            let Some(calls) = calls(workload) else { continue };
            let at = PlanPath::workload(place).key(SECTION);
            if calls.mix.is_empty() {
                return Err(PlanFault::failed(TrillianError::NothingToCall).at(at));
            }
            let delay = match (tree(plan), server(plan)) {
                (Some(target), _) => target.integration_delay.duration(),
                (None, Some(_)) => LAB_DELAY,
                (None, None) => return Err(PlanFault::Misfit(NO_TARGET.to_owned()).at(at)),
            };
            if workload.timeout.duration() <= delay {
                return Err(
                    PlanFault::Misfit(TOO_SOON.to_owned()).at(PlanPath::workload(place).key("timeout"))
                );
            }
        }
        Ok(())
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        let plan = planned.plan;
        if !plan.workloads.iter().any(|workload| calls(workload).is_some()) {
            return Ok(Box::new(OpenTrillian { target: None, labs: Vec::new() }));
        }
        if let Some(lab) = server(plan) {
            let at = PlanPath::of("target.lab").key(SECTION);
            let refused = |error: LabError| unstarted(error, &at);
            let started = TrillianLabHandle::spawn(lab.clone()).map_err(refused)?;
            let endpoints = vec![own_url(&started.url).map_err(refused)?.url().clone()];
            let target = TrillianTarget { endpoints, tree_id: lab.tree_id, integration_delay: LAB_DELAY };
            let labs: Vec<Box<dyn Lab>> = vec![Box::new(started)];
            return Ok(Box::new(OpenTrillian { target: Some(target), labs }));
        }
        let at = PlanPath::of("target").key(SECTION);
        let Some(written) = tree(plan) else { return Err(PlanFault::Missing.at(at).into()) };
        let target = TrillianTarget::of(written);
        let target = target.map_err(|error| CliError::from(PlanFault::failed(error).at(at)))?;
        Ok(Box::new(OpenTrillian { target: Some(target), labs: Vec::new() }))
    }
}

/// What a run has of it.
struct OpenTrillian {
    /// The tree, where a workload goes to it.
    target: Option<TrillianTarget>,
    labs: Vec<Box<dyn Lab>>,
}

impl OpenProtocol for OpenTrillian {
    fn endpoints(&self) -> Vec<Uri> {
        self.target.iter().flat_map(|target| target.endpoints.clone()).collect()
    }

    fn called(&self) -> Vec<CalledService> {
        let target = self.target.iter().filter(|_| self.labs.is_empty());
        target.map(|target| CalledService { name: SECTION, endpoints: target.endpoints.clone() }).collect()
    }

    fn take_labs(&mut self) -> Vec<Box<dyn Lab>> {
        std::mem::take(&mut self.labs)
    }

    fn reopened<'b>(&self, _planned: &RunPlan<'b>) -> Result<Box<dyn OpenProtocol + 'b>, CliError> {
        Ok(Box::new(Self { target: self.target.clone(), labs: Vec::new() }))
    }

    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
        let at = lane.at(SECTION);
        let (Some(plan), Some(target)) = (calls(lane.workload), &self.target) else {
            return Err(PlanFault::Missing.at(at));
        };
        let mut client = lane.client(None, &target.endpoints)?;
        let failed = |error: TrillianError| PlanFault::failed(error).at(at.clone());
        client.version = client.version.of_calls().ok_or_else(|| failed(TrillianError::GrpcOverHttp1))?;
        let run = TrillianRun { seed: lane.planned.plan.seed, workload: lane.place as u64 };
        let made = TrillianWorkload::new(plan, target, &run, client).map_err(failed)?.warm_up(lane.warm_up);
        Ok(lane.with(made))
    }
}

fn calls(workload: &WorkloadPlan) -> Option<&TrillianPlan> {
    workload.operations.get(SECTION)
}

fn tree(plan: &Plan) -> Option<&TrillianTargetPlan> {
    plan.target.unnamed.get(SECTION)
}

fn server(plan: &Plan) -> Option<&TrillianLabPlan> {
    plan.target.lab.as_ref()?.kind.get(SECTION)
}

const NO_TARGET: &str = "there is no tree of Trillian; give `target.trillian`, or `target.lab.trillian`";
const TOO_SOON: &str = "what was queued is looked for until `target.trillian.integration_delay` is over, which has to be before the timeout";
/// Of the embedded log, unless a fault makes it slower.
const LAB_DELAY: std::time::Duration = std::time::Duration::from_secs(2);

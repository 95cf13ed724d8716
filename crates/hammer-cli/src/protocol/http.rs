//! HTTP in plans: any endpoint, and one request to it.

use std::sync::Arc;

use hammer_core::dispatch::LanePlan;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_http::{HttpPlan, HttpWorkload};
use hammer_lab::{HttpLabHandle, HttpLabPlan};
use hammer_values::OneOrMany;
use http::Uri;
use serde_json::{Map, Value};

use super::lab::{Lab, unstarted};
use super::lane::LaneRequest;
use super::service::{OpenService, uri};
use super::{OpenProtocol, Protocol, RunPlan};
use crate::error::CliError;
use crate::plan::document::LabSettings;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::section::{Section, SectionPlace};
use crate::plan::target::LabPlan;
use crate::plan::{Plan, WorkloadPlan};

/// The section of a workload.
pub(crate) const REQUEST: &str = "http";
/// The section of the target, and of a service.
pub(crate) const URL: &str = "url";
/// The section of an embedded target.
const SERVER: &str = "http";

/// The protocol.
pub(crate) struct Http;

impl LabSettings for HttpLabPlan {
    const RENAMED: &[hammer_values::RenamedKey] = Self::RENAMED;
}

impl Protocol for Http {
    fn sections(&self) -> Vec<Section> {
        vec![
            Section::of::<OneOrMany>(SectionPlace::Target, URL, URL_IS),
            Section::of::<OneOrMany>(SectionPlace::Service, URL, URL_IS),
            Section::shown_as::<HttpLabPlan, Map<String, Value>>(
                SectionPlace::Lab,
                SERVER,
                "A plain HTTP server.",
            )
            .renamed(&[("", HttpLabPlan::RENAMED)]),
            Section::of::<HttpPlan>(SectionPlace::Workload, REQUEST, "A request to any HTTP endpoint."),
        ]
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        named(planned.plan)?;
        unnamed(planned.plan)?;
        let workloads = planned.plan.workloads.iter().enumerate();
        let mut requests = workloads.filter_map(|(place, workload)| Some((place, request(workload)?)));
        requests.try_for_each(|(place, request)| {
            let names: Vec<&str> = planned.plan.target.services.keys().map(String::as_str).collect();
            destination(request, &names, PlanPath::workload(place).key(REQUEST)).map(drop)
        })
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        let mut open = OpenHttp { services: named(planned.plan)?, labs: Vec::new() };
        open.services.extend(unnamed(planned.plan)?);
        if let Some(server) = planned.plan.target.lab.as_ref().and_then(server) {
            let at = PlanPath::of("target.lab").key(SERVER);
            let lab = HttpLabHandle::spawn(server.clone()).map_err(|error| unstarted(error, &at))?;
            open.services.push(OpenService { name: None, endpoints: vec![uri(&lab.url, at)?] });
            open.labs.push(Box::new(lab));
        }
        Ok(Box::new(open))
    }
}

/// What a run has of it.
struct OpenHttp {
    services: Vec<OpenService>,
    labs: Vec<Box<dyn Lab>>,
}

impl OpenProtocol for OpenHttp {
    fn services(&self) -> Vec<OpenService> {
        self.services.clone()
    }

    fn take_labs(&mut self) -> Vec<Box<dyn Lab>> {
        std::mem::take(&mut self.labs)
    }

    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
        let plan = request(lane.workload).cloned().unwrap_or_default();
        let names: Vec<&str> = lane.services.iter().filter_map(|service| service.name.as_deref()).collect();
        let name = destination(&plan, &names, lane.at(REQUEST))?;
        let services = lane.services.iter().filter(|service| service.name.as_deref() == name);
        let endpoints: Vec<Uri> = services.flat_map(|service| service.endpoints.clone()).collect();
        let client = lane.client(name, &endpoints)?;
        let made = HttpWorkload::new(&plan, client);
        let made = made.map_err(|error| PlanFault::failed(error).at(lane.at(REQUEST)))?;
        let made = made.warm_up(lane.warm_up);
        Ok(lane.with(made))
    }
}

/// The name of the service that a request goes to: the one that it names, or the only one; none where the target is short for
/// services without names.
fn destination<'a>(
    plan: &'a HttpPlan,
    names: &[&'a str],
    at: PlanPath,
) -> Result<Option<&'a str>, PlanError> {
    match (&plan.service, names) {
        (Some(name), names) if names.contains(&name.as_str()) => Ok(Some(name)),
        (Some(name), _) => Err(PlanFault::UnknownService(name.clone()).at(at.key("service"))),
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(*only)),
        (None, several) => Err(PlanFault::Unnamed(several.join(", ")).at(at)),
    }
}

/// The service that `target.url` is short for.
fn unnamed(plan: &Plan) -> Result<Option<OpenService>, PlanError> {
    let Some(urls) = plan.target.unnamed.get::<OneOrMany>(URL) else { return Ok(None) };
    let endpoints = endpoints(urls, &PlanPath::of("target").key(URL))?;
    Ok(Some(OpenService { name: None, endpoints }))
}

fn named(plan: &Plan) -> Result<Vec<OpenService>, PlanError> {
    let of_url = plan.target.services.iter().filter_map(|(name, service)| {
        let urls = service.kind.get::<OneOrMany>(URL)?;
        let at = PlanPath::of("target.services").key(name).key(URL);
        Some(endpoints(urls, &at).map(|endpoints| OpenService { name: Some(name.clone()), endpoints }))
    });
    of_url.collect()
}

fn endpoints(urls: &OneOrMany, at: &PlanPath) -> Result<Vec<Uri>, PlanError> {
    urls.as_slice().iter().map(|url| uri(url, at.clone())).collect()
}

fn request(workload: &WorkloadPlan) -> Option<&HttpPlan> {
    workload.operations.get(REQUEST)
}

fn server(lab: &LabPlan) -> Option<&HttpLabPlan> {
    lab.kind.get(SERVER)
}

const URL_IS: &str = "Any HTTP endpoint, or several of which balancing chooses.";

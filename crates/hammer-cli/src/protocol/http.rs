//! HTTP in plans: any endpoint, and one request to it.

use std::sync::Arc;

use hammer_core::dispatch::LanePlan;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_http::{HttpError, HttpPlan, HttpWorkload};
use hammer_lab::{HttpLabHandle, HttpLabPlan};
use hammer_values::{Agreed, OneOrMany};
use http::Uri;
use serde_json::{Map, Value};

use super::lab::{Lab, own_url, unstarted};
use super::lane::LaneRequest;
use super::service::OpenService;
use super::{OpenProtocol, Protocol, RunPlan};
use crate::error::CliError;
use crate::plan::document::LabSettings;
use crate::plan::error::{KeyedError, PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::section::{Section, SectionPlace};
use crate::plan::target::{LabPlan, ServicePlan, VersionPlan};
use crate::plan::target_url::TargetUrl;
use crate::plan::{Plan, WorkloadPlan};

/// The section of a workload.
pub(crate) const REQUEST: &str = "http";
/// The section of the target, and of a service.
pub(crate) const URL: &str = "url";
/// The section of an embedded target.
const SERVER: &str = "http";

/// The protocol.
pub(crate) struct Http;

impl KeyedError for HttpError {
    fn key(&self) -> Option<&'static str> {
        self.key()
    }
}

impl LabSettings for HttpLabPlan {
    const RENAMED: &[hammer_values::RenamedKey] = Self::RENAMED;
}

impl Protocol for Http {
    fn sections(&self) -> Vec<Section> {
        vec![
            Section::of::<OneOrMany<TargetUrl>>(SectionPlace::Target, URL, URL_IS),
            Section::of::<OneOrMany<TargetUrl>>(SectionPlace::Service, URL, URL_IS),
            Section::shown_as::<HttpLabPlan, Map<String, Value>>(
                SectionPlace::Lab,
                SERVER,
                "A plain HTTP server.",
            )
            .renamed(&[("", HttpLabPlan::RENAMED)]),
            Section::of::<Agreed<HttpPlan>>(
                SectionPlace::Workload,
                REQUEST,
                "A request to any HTTP endpoint.",
            ),
        ]
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        let workloads = planned.plan.workloads.iter().enumerate();
        let mut requests = workloads.filter_map(|(place, workload)| Some((place, request(workload)?)));
        requests.try_for_each(|(place, request)| {
            let at = PlanPath::workload(place).key(REQUEST);
            let name = destination(request, planned.plan, at.clone())?;
            if request.grpc.is_some() && planned.plan.target.connection_of(name).http == VersionPlan::Http1 {
                return Err(PlanFault::failed(HttpError::GrpcOverHttp1).at(at));
            }
            one_token(request, name.and_then(|name| planned.plan.target.services.get(name)), at)
        })
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        let mut open = OpenHttp { services: named(planned.plan), labs: Vec::new() };
        open.services.extend(unnamed(planned.plan));
        if let Some(server) = planned.plan.target.lab.as_ref().and_then(server) {
            let at = PlanPath::of("target.lab").key(SERVER);
            let lab = HttpLabHandle::spawn(server.clone()).map_err(|error| unstarted(error, &at))?;
            open.services.push(OpenService {
                name: None,
                endpoints: vec![own_url(&lab.url).map_err(|error| unstarted(error, &at))?.url().clone()],
            });
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
    fn endpoints(&self) -> Vec<Uri> {
        self.services.iter().flat_map(|service| service.endpoints.clone()).collect()
    }

    fn services(&self) -> Vec<OpenService> {
        self.services.clone()
    }

    fn take_labs(&mut self) -> Vec<Box<dyn Lab>> {
        std::mem::take(&mut self.labs)
    }

    fn reopened<'b>(&self, _planned: &RunPlan<'b>) -> Result<Box<dyn OpenProtocol + 'b>, CliError> {
        Ok(Box::new(Self { services: self.services.clone(), labs: Vec::new() }))
    }

    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
        let Some(plan) = request(lane.workload) else {
            return Err(PlanFault::Missing.at(lane.at(REQUEST)));
        };
        let name = destination(plan, lane.planned.plan, lane.at(REQUEST))?;
        let services = lane.services.iter().filter(|service| service.name.as_deref() == name);
        let endpoints: Vec<Uri> = services.flat_map(|service| service.endpoints.clone()).collect();
        let client = lane.client(name, &endpoints)?;
        let made = HttpWorkload::new(plan, client);
        let made = made.map_err(|error| PlanFault::failed(error).at(lane.at(REQUEST)))?;
        let made = made.warm_up(lane.warm_up).within(lane.workload.timeout.duration());
        Ok(lane.with(match name {
            Some(name) => made.of_service(name),
            None => made,
        }))
    }
}

/// The name of the service that a request goes to: the one that it names, or the only one with a URL; none where the target is
/// short for services without names.
fn destination<'a>(
    request: &'a HttpPlan,
    plan: &'a Plan,
    at: PlanPath,
) -> Result<Option<&'a str>, PlanError> {
    let services = &plan.target.services;
    let with_url = services.iter().filter(|(_, service)| service.kind.keys().any(|key| key == URL));
    let names: Vec<&str> = with_url.map(|(name, _)| name.as_str()).collect();
    match (&request.service, names.as_slice()) {
        (Some(name), names) if names.contains(&name.as_str()) => Ok(Some(name)),
        (Some(name), _) if services.contains_key(name.as_str()) => {
            Err(PlanFault::NoUrl(name.clone()).at(at.key("service")))
        }
        (Some(name), _) => Err(PlanFault::UnknownService(name.clone()).at(at.key("service"))),
        (None, []) if services.is_empty() => Ok(None),
        (None, []) => Err(PlanFault::NoService.at(at)),
        (None, [only]) => Ok(Some(*only)),
        (None, several) => Err(PlanFault::Unnamed(several.join(", ")).at(at)),
    }
}

/// The token of a service is that of every request to it.
fn one_token(request: &HttpPlan, service: Option<&ServicePlan>, at: PlanPath) -> Result<(), PlanError> {
    let of_service = service.is_some_and(|service| service.token.is_some());
    let own = match (request.bearer.is_some(), request.has_authorization()) {
        (true, _) => at.key("bearer"),
        (false, true) => at.key("headers"),
        (false, false) => return Ok(()),
    };
    if of_service { Err(PlanFault::TwoTokens.at(own)) } else { Ok(()) }
}

/// The service that `target.url` is short for.
fn unnamed(plan: &Plan) -> Option<OpenService> {
    Some(OpenService { name: None, endpoints: endpoints(plan.target.unnamed.get(URL)?) })
}

fn named(plan: &Plan) -> Vec<OpenService> {
    let of_url = plan.target.services.iter().filter_map(|(name, service)| {
        Some(OpenService { name: Some(name.to_string()), endpoints: endpoints(service.kind.get(URL)?) })
    });
    of_url.collect()
}

fn endpoints(urls: &OneOrMany<TargetUrl>) -> Vec<Uri> {
    urls.as_slice().iter().map(|url| url.url().clone()).collect()
}

fn request(workload: &WorkloadPlan) -> Option<&Agreed<HttpPlan>> {
    workload.operations.get(REQUEST)
}

fn server(lab: &LabPlan) -> Option<&HttpLabPlan> {
    lab.kind.get(SERVER)
}

const URL_IS: &str = "Any HTTP endpoint, or several of which balancing chooses.";

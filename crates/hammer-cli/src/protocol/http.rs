//! HTTP in plans: any endpoint, and one request to it.

use std::sync::Arc;

use hammer_core::dispatch::LanePlan;
use hammer_core::observe::Observer;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_exchange::WallTime;
use hammer_exchange::bearer::BearerPlan;
use hammer_exchange::grant::{GrantPlan, GrantedKind};
use hammer_exchange::stock::TokenSubject;
use hammer_http::{HttpError, HttpPlan, HttpWorkload};
use hammer_lab::{HttpLabHandle, HttpLabPlan};
use hammer_report::Report;
use hammer_values::{Agreed, OneOrMany};
use http::Uri;
use serde_json::{Map, Value};

use super::lab::{Lab, own_url, unstarted};
use super::lane::LaneRequest;
use super::service::OpenService;
use super::tokens::{OAUTH, PlannedGrant, RunTokens, granted, is_of_tokens};
use super::{Conclusion, OpenProtocol, Protocol, RunPlan};
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
        let is_granted = !grants(planned.plan).is_empty();
        let workloads = planned.plan.workloads.iter().enumerate();
        let mut names = workloads.clone().map(|(place, workload)| (place, workload.name.as_str()));
        if let Some((place, name)) = names.find(|(_, name)| is_granted && is_of_tokens(name)) {
            return Err(PlanFault::Taken(name.to_owned()).at(PlanPath::workload(place).key("name")));
        }
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

    fn named_services(&self, plan: &Plan) -> Vec<OpenService> {
        named(plan).into_iter().chain(unnamed(plan)).collect()
    }

    /// An answer is accepted where it is as `expect` and `contains` say.
    fn conclusions(&self, plan: &Plan, report: &Report) -> Vec<Conclusion> {
        let expecting =
            plan.measured().filter(|(_, workload)| request(workload).is_some_and(|of| of.expects()));
        let was_met = |name: &str| {
            let mut of_it = report.operations().filter(|series| series.workload == name);
            of_it.any(|series| series.measurement.counts.fates.accepted > 0)
        };
        let met = expecting.into_iter().find(|(_, workload)| was_met(workload.name.as_str()));
        met.map(|_| Conclusion::Expected).into_iter().collect()
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        let tokens = tokens(planned)?;
        let services = self.named_services(planned.plan);
        let mut open = OpenHttp { services, labs: Vec::new(), tokens };
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
    /// Tokens by their grants.
    tokens: Vec<(Agreed<GrantPlan>, RunTokens)>,
}

impl OpenProtocol for OpenHttp {
    fn endpoints(&self) -> Vec<Uri> {
        let issuers = self.tokens.iter().filter_map(|(_, tokens)| tokens.endpoint.clone());
        self.services.iter().flat_map(|service| service.endpoints.clone()).chain(issuers).collect()
    }

    fn services(&self) -> Vec<OpenService> {
        self.services.clone()
    }

    fn probed(&self) -> Vec<OpenService> {
        self.services.clone()
    }

    fn take_labs(&mut self) -> Vec<Box<dyn Lab>> {
        std::mem::take(&mut self.labs)
    }

    /// Tokens are asked for anew: what keeps them fresh goes by the run's own instants.
    fn reopened<'b>(&self, planned: &RunPlan<'b>) -> Result<Box<dyn OpenProtocol + 'b>, CliError> {
        let tokens = tokens(planned)?;
        Ok(Box::new(Self { services: self.services.clone(), labs: Vec::new(), tokens }))
    }

    fn upkeep(&mut self) -> Vec<Arc<dyn LanePlan<ThreadedRuntime>>> {
        self.tokens.iter_mut().filter_map(|(_, tokens)| tokens.refresh.take()).collect()
    }

    fn observers(self: Box<Self>) -> Result<Vec<Box<dyn Observer>>, PlanError> {
        let watches = self.tokens.into_iter().map(|(_, tokens)| tokens.watch);
        Ok(watches.map(|watch| -> Box<dyn Observer> { Box::new(watch) }).collect())
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
        let grant = grant_of(plan, name.and_then(|name| lane.planned.plan.target.services.get(name)));
        let tokens = self.tokens.iter().find(|(known, _)| Some(known) == grant);
        let wall = WallTime { epoch_unix_ms: lane.planned.epoch_unix_ms };
        let made = match tokens {
            Some((_, tokens)) => made.tokens(tokens.stock.clone(), wall),
            None => made,
        };
        Ok(lane.with(match name {
            Some(name) => made.of_service(name),
            None => made,
        }))
    }
}

/// The grant of whose tokens requests of a workload have one, its own or that of its service.
fn grant_of<'a>(request: &'a HttpPlan, service: Option<&'a ServicePlan>) -> Option<&'a Agreed<GrantPlan>> {
    let of_service = service.and_then(|service| service.token.as_ref());
    request.bearer.as_ref().or(of_service).and_then(BearerPlan::grant)
}

/// Every grant that requests go by, once: where the plan has it first, and whose it is there.
fn grants(plan: &Plan) -> Vec<(&Agreed<GrantPlan>, PlanPath, &str)> {
    let mut grants: Vec<(&Agreed<GrantPlan>, PlanPath, &str)> = Vec::new();
    for (place, workload) in plan.workloads.iter().enumerate() {
        let Some(request) = request(workload) else { continue };
        let own = PlanPath::workload(place).key(REQUEST);
        let name = destination(request, plan, own.clone()).ok().flatten();
        let Some(grant) = grant_of(request, name.and_then(|name| plan.target.services.get(name))) else {
            continue;
        };
        let (at, whose) = match (&request.bearer, name) {
            (None, Some(name)) => (PlanPath::of("target.services").key(name).key("token"), name),
            _ => (own.key("bearer"), workload.name.as_str()),
        };
        if grants.iter().all(|(known, ..)| *known != grant) {
            grants.push((grant, at.key("grant"), whose));
        }
    }
    grants
}

/// The tokens of all grants. Where there are several, each has a name of its own.
fn tokens(planned: &RunPlan<'_>) -> Result<Vec<(Agreed<GrantPlan>, RunTokens)>, CliError> {
    let all = grants(planned.plan);
    let names: Vec<&str> = all.iter().map(|(.., whose)| *whose).collect();
    let each = all.into_iter().enumerate().map(|(place, (grant, at, whose))| {
        // A service and a workload may have the same name.
        let before = names[..place].iter().filter(|name| **name == whose).count();
        let name = match (names.len(), before) {
            (1, _) => OAUTH.to_owned(),
            (_, 0) => format!("{OAUTH}-{whose}"),
            (_, before) => format!("{OAUTH}-{whose}-{}", before + 1),
        };
        let subject = TokenSubject::Unasked;
        let granting = PlannedGrant { grant, at, name, subject, otherwise: GrantedKind::AccessToken };
        Ok((grant.clone(), granted(planned.plan, granting, planned.epoch_unix_ms)?))
    });
    each.collect()
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

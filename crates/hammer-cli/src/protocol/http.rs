//! HTTP in plans: any endpoint, and requests to it.

use std::borrow::Cow;
use std::sync::Arc;

use hammer_core::dispatch::LanePlan;
use hammer_core::observe::Observer;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_exchange::bearer::BearerPlan;
use hammer_exchange::grant::GrantedKind;
use hammer_exchange::minted::MintError;
use hammer_exchange::stock::TokenSubject;
use hammer_exchange::{ServiceConfig, WallTime};
use hammer_http::{Destination, HttpError, HttpFlowsPlan, HttpPlan, HttpWorkload};
use hammer_lab::HttpLabPlan;
use hammer_lab::handle::{LabConfig, LabHandle};
use hammer_lab_gateway::{GatewayLabPlan, TOKEN_PATH};
use hammer_report::Report;
use hammer_values::{Agreed, OneOrMany, ServiceUrl};
use http::Uri;
use serde_json::{Map, Value};

use super::http_page::PAGE;
use super::lab::{Lab, own_url, unstarted};
use super::lane::LaneRequest;
use super::service::OpenService;
use super::tokens::{
    OAUTH, PlannedGrant, RunTokens, UnmintedFault, as_it_is, granted, is_of_tokens, minted_by, placed,
};
use super::{Conclusion, OpenProtocol, Protocol, RunPlan};
use crate::error::CliError;
use crate::plan::document::LabSettings;
use crate::plan::error::{KeyedError, PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::section::{Section, SectionPlace};
use crate::plan::target::{LabPlan, ServicePlan, VersionPlan};
use crate::plan::target_url::TargetUrl;
use crate::plan::{Plan, WorkloadPlan};
use crate::tui::spec::ProtocolPage;

/// The section of a workload.
pub(crate) const REQUEST: &str = "http";
/// The section of a workload of several.
pub(crate) const FLOWS: &str = "http_flows";
/// The section of the target, and of a service.
pub(crate) const URL: &str = "url";
/// The section of an embedded target.
const SERVER: &str = "http";
/// The section of an embedded gateway.
const GATEWAY: &str = "gateway";

/// The protocol.
pub(crate) struct Http;

impl KeyedError for HttpError {
    fn key(&self) -> Option<Cow<'_, str>> {
        self.key()
    }
}

impl LabSettings for HttpLabPlan {
    const RENAMED: &[hammer_values::RenamedKey] = Self::RENAMED;
}

impl LabSettings for GatewayLabPlan {
    const RENAMED: &[hammer_values::RenamedKey] = &[];
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
            Section::shown_as::<GatewayLabPlan, Map<String, Value>>(
                SectionPlace::Lab,
                GATEWAY,
                "An OAuth-protected gateway before an echo.",
            ),
            Section::of::<Agreed<HttpPlan>>(
                SectionPlace::Workload,
                REQUEST,
                "A request to any HTTP endpoint.",
            ),
            Section::of::<Agreed<HttpFlowsPlan>>(
                SectionPlace::Workload,
                FLOWS,
                "Requests of several kinds by weight, and sequences of them.",
            ),
        ]
    }

    fn page(&self) -> Option<ProtocolPage> {
        Some(PAGE)
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        let plan = planned.plan;
        let is_granted = bearers(plan).iter().any(|planned| planned.bearer.grant().is_some());
        placed_grants(plan)?;
        let mut names = plan.workloads.iter().enumerate();
        if let Some((place, workload)) =
            names.find(|(_, workload)| is_granted && is_of_tokens(workload.name.as_str()))
        {
            let taken = PlanFault::Taken(workload.name.to_string());
            return Err(taken.at(PlanPath::workload(place).key("name")));
        }
        requests(plan).try_for_each(|planned| {
            let PlannedRequest { request, at, .. } = &planned;
            let name = destination(request, plan, at.clone())?;
            if request.grpc.is_some() && plan.target.connection_of(name).http == VersionPlan::Http1 {
                return Err(PlanFault::failed(HttpError::GrpcOverHttp1).at(at.clone()));
            }
            one_token(&planned, name.and_then(|name| plan.target.services.get(name)))
        })
    }

    fn named_services(&self, plan: &Plan) -> Vec<OpenService> {
        named(plan).into_iter().chain(unnamed(plan)).collect()
    }

    /// An answer is accepted where it is as `expect` and `contains` say.
    fn conclusions(&self, plan: &Plan, report: &Report) -> Vec<Conclusion> {
        let expects = |workload| of_workload(workload).iter().any(|(_, request, _)| request.expects());
        let expecting = plan.measured().filter(|(_, workload)| expects(workload));
        let was_met = |name: &str| {
            let mut of_it = report.operations().filter(|series| series.workload == name);
            of_it.any(|series| series.measurement.counts.fates.accepted > 0)
        };
        let met = expecting.into_iter().find(|(_, workload)| was_met(workload.name.as_str()));
        met.map(|_| Conclusion::Expected).into_iter().collect()
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        let services = self.named_services(planned.plan);
        let mut open = OpenHttp { services, labs: Vec::new(), issuer: None, tokens: Vec::new() };
        let lab = planned.plan.target.lab.as_ref();
        if let Some(server) = lab.and_then(server) {
            open.embedded(server.clone(), SERVER)?;
        }
        if let Some(gateway) = lab.and_then(gateway) {
            let url = open.embedded(trusting(gateway, planned.plan)?, GATEWAY)?;
            open.issuer = grants(gateway).then(|| token_endpoint(&url)).transpose()?;
        }
        // The embedded gateway may grant them.
        open.tokens = tokens(planned, open.issuer.as_ref())?;
        Ok(Box::new(open))
    }
}

/// What a run has of it.
struct OpenHttp {
    services: Vec<OpenService>,
    labs: Vec<Box<dyn Lab>>,
    /// Where the embedded gateway grants tokens.
    issuer: Option<ServiceUrl>,
    /// Tokens by where they come from.
    tokens: Vec<(BearerPlan, RunTokens)>,
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
        let issuer = self.issuer.clone();
        let tokens = tokens(planned, issuer.as_ref())?;
        Ok(Box::new(Self { services: self.services.clone(), labs: Vec::new(), issuer, tokens }))
    }

    fn notes(&mut self) -> Vec<String> {
        self.tokens.iter_mut().flat_map(|(_, tokens)| std::mem::take(&mut tokens.notes)).collect()
    }

    fn upkeep(&mut self) -> Vec<Arc<dyn LanePlan<ThreadedRuntime>>> {
        self.tokens.iter_mut().filter_map(|(_, tokens)| tokens.refresh.take()).collect()
    }

    fn observers(self: Box<Self>) -> Result<Vec<Box<dyn Observer>>, PlanError> {
        let watches = self.tokens.into_iter().map(|(_, tokens)| tokens.watch);
        Ok(watches.map(|watch| -> Box<dyn Observer> { Box::new(watch) }).collect())
    }

    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
        let plan = lane.planned.plan;
        // What one workload draws is none of another's business.
        let seed = plan.seed ^ lane.place as u64;
        let made = if let Some(request) = request(lane.workload) {
            let to = self.destination(&lane, request, request.bearer.as_ref(), lane.at(REQUEST))?;
            let made = HttpWorkload::of_request(request, to, seed);
            made.map_err(|error| PlanFault::failed(error).at(lane.at(REQUEST)))?
        } else if let Some(flows) = flows(lane.workload) {
            let to = flows.requests().map(|(key, request)| {
                self.destination(&lane, request, flows.bearer_of(request), lane.at(FLOWS).keys(&key))
            });
            let made = HttpWorkload::of_flows(flows, to.collect::<Result<Vec<_>, _>>()?, seed);
            made.map_err(|error| PlanFault::failed(error).at(lane.at(FLOWS)))?
        } else {
            return Err(PlanFault::Missing.at(lane.at(REQUEST)));
        };
        let made = made.within(lane.workload.timeout.duration());
        Ok(lane.with(made))
    }
}

/// The gateway, which trusts whoever mints the tokens of requests, where nobody else is said to.
fn trusting(gateway: &GatewayLabPlan, plan: &Plan) -> Result<GatewayLabPlan, PlanError> {
    let mut gateway = gateway.clone();
    let Some(token) = gateway.token.as_mut().filter(|token| token.jwks.is_empty()) else {
        return Ok(gateway);
    };
    let mut keys = Vec::new();
    for PlannedBearer { bearer, at, .. } in bearers(plan) {
        if let BearerPlan::Minted(mint) = bearer {
            let own = mint.keys(plan.seed).map_err(MintError::from);
            keys.push(
                own.map_err(|error| PlanFault::failed(UnmintedFault::from(error)).at(at.key("minted")))?
                    .jwk(),
            );
        }
    }
    token.jwks = format!(r#"{{"keys":[{}]}}"#, keys.join(","));
    Ok(gateway)
}

impl OpenHttp {
    /// Starts an embedded target, and says where it is.
    fn embedded<C>(&mut self, plan: C, section: &str) -> Result<ServiceUrl, CliError>
    where
        C: LabConfig,
    {
        let at = PlanPath::of("target.lab").key(section);
        let lab = LabHandle::spawn(plan).map_err(|error| unstarted(error, &at))?;
        let url = own_url(&lab.url).map_err(|error| unstarted(error, &at))?;
        self.services.push(OpenService { name: None, endpoints: vec![url.url().clone()] });
        self.labs.push(Box::new(lab));
        Ok(url)
    }

    /// Where a request goes, and whose tokens it has.
    fn destination(
        &self,
        lane: &LaneRequest<'_>,
        request: &HttpPlan,
        bearer: Option<&BearerPlan>,
        at: PlanPath,
    ) -> Result<Destination, PlanError> {
        let plan = lane.planned.plan;
        let name = destination(request, plan, at)?;
        let services = lane.services.iter().filter(|service| service.name.as_deref() == name);
        let endpoints: Vec<Uri> = services.flat_map(|service| service.endpoints.clone()).collect();
        let client = lane.client(name, &endpoints)?;
        let service =
            ServiceConfig { warm_up: lane.warm_up, ..ServiceConfig::new(name.unwrap_or(URL), client) };
        let bearer = bearer.or_else(|| token_of_service(plan, name?));
        let tokens = self.tokens.iter().find(|(known, _)| Some(known) == bearer);
        let wall = WallTime { epoch_unix_ms: lane.planned.epoch_unix_ms };
        Ok(Destination { service, tokens: tokens.map(|(_, tokens)| (tokens.stock.clone(), wall)) })
    }
}

/// A request of a plan.
struct PlannedRequest<'a> {
    request: &'a HttpPlan,
    /// Where the plan has it.
    at: PlanPath,
    /// Where its token comes from, by its own word or that of its workload.
    bearer: Option<&'a BearerPlan>,
    /// Where the plan says that.
    bearer_at: PlanPath,
    /// The name of its workload.
    whose: &'a str,
}

/// Where tokens come from, by a plan.
struct PlannedBearer<'a> {
    bearer: &'a BearerPlan,
    /// Where the plan has it first.
    at: PlanPath,
    /// The service or workload that has it there.
    whose: &'a str,
}

/// The requests of a workload: where below it each stands, and where its own token comes from.
fn of_workload(workload: &WorkloadPlan) -> Vec<(String, &HttpPlan, Option<&BearerPlan>)> {
    let one = request(workload).map(|request| (REQUEST.to_owned(), &**request, request.bearer.as_ref()));
    let several = flows(workload).into_iter().flat_map(|flows| {
        let requests = flows.requests();
        requests.map(move |(key, request)| (format!("{FLOWS}.{key}"), request, flows.bearer_of(request)))
    });
    one.into_iter().chain(several).collect()
}

/// Every request of a plan.
fn requests(plan: &Plan) -> impl Iterator<Item = PlannedRequest<'_>> {
    plan.workloads.iter().enumerate().flat_map(|(place, workload)| {
        let own = PlanPath::workload(place);
        of_workload(workload).into_iter().map(move |(key, request, bearer)| {
            let at = own.clone().keys(&key);
            let is_own = request.bearer.is_some() || bearer.is_none();
            let bearer_at = if is_own { at.clone() } else { own.clone().key(FLOWS) }.key("bearer");
            PlannedRequest { request, at, bearer, bearer_at, whose: workload.name.as_str() }
        })
    })
}

/// Where the tokens of a service come from, by its own word.
fn token_of_service<'a>(plan: &'a Plan, name: &str) -> Option<&'a BearerPlan> {
    plan.target.services.get(name)?.token.as_ref()
}

/// Wherever the tokens of requests come from, once.
fn bearers(plan: &Plan) -> Vec<PlannedBearer<'_>> {
    let mut bearers: Vec<PlannedBearer<'_>> = Vec::new();
    for PlannedRequest { request, at, bearer, bearer_at, whose } in requests(plan) {
        let name = destination(request, plan, at).ok().flatten();
        let of_service = || {
            let name = name?;
            let at = PlanPath::of("target.services").key(name).key("token");
            Some((token_of_service(plan, name)?, at, name))
        };
        let found = bearer.map(|bearer| (bearer, bearer_at, whose)).or_else(of_service);
        let Some((bearer, at, whose)) = found else { continue };
        if bearers.iter().all(|known| known.bearer != bearer) {
            bearers.push(PlannedBearer { bearer, at, whose });
        }
    }
    bearers
}

/// Holds every grant against where it can be asked for: it says so itself, or there is an embedded gateway that grants tokens.
fn placed_grants(plan: &Plan) -> Result<(), PlanError> {
    if plan.target.lab.as_ref().and_then(gateway).is_some_and(grants) {
        return Ok(());
    }
    let services = plan.target.services.iter().map(|(name, service)| {
        let at = PlanPath::of("target.services").key(name.as_str()).key("token");
        (at, service.token.as_ref())
    });
    let workloads = plan.workloads.iter().enumerate().flat_map(|(place, workload)| {
        let own = PlanPath::workload(place);
        let of_flows = (own.clone().key(FLOWS), flows(workload).and_then(|flows| flows.bearer.as_ref()));
        let requests = of_workload(workload).into_iter();
        let requests =
            requests.map(move |(key, request, _)| (own.clone().keys(&key), request.bearer.as_ref()));
        std::iter::once(of_flows).chain(requests).map(|(at, bearer)| (at.key("bearer"), bearer))
    });
    for (at, bearer) in services.chain(workloads) {
        if let Some(grant) = bearer.and_then(BearerPlan::grant) {
            placed(grant, None, &at.key("grant"))?;
        }
    }
    Ok(())
}

/// Whether a gateway grants tokens.
const fn grants(gateway: &GatewayLabPlan) -> bool {
    gateway.token.is_some()
}

/// Where an embedded gateway grants them.
fn token_endpoint(gateway: &ServiceUrl) -> Result<ServiceUrl, CliError> {
    let at = PlanPath::of("target.lab").key(GATEWAY);
    let url = own_url(&format!("{}{TOKEN_PATH}", gateway.to_string().trim_end_matches('/')));
    url.map_err(|error| unstarted(error, &at))
}

/// The tokens from everywhere; `issuer` is the token endpoint of what is embedded. Where several are granted, those of each grant have a name of their own.
fn tokens(
    planned: &RunPlan<'_>,
    issuer: Option<&ServiceUrl>,
) -> Result<Vec<(BearerPlan, RunTokens)>, CliError> {
    let (plan, epoch) = (planned.plan, planned.epoch_unix_ms);
    let all = bearers(plan);
    let names: Vec<&str> =
        all.iter().filter(|planned| planned.bearer.grant().is_some()).map(|planned| planned.whose).collect();
    let (mut granted_so_far, is_only) = (0, all.len() == 1);
    let each = all.into_iter().map(|PlannedBearer { bearer, at, whose }| {
        let tokens = match bearer {
            BearerPlan::Token(place) => {
                let tokens = as_it_is(plan, place, epoch);
                tokens.map_err(|fault| PlanFault::failed(fault).at(at))?
            }
            BearerPlan::Minted(minted) => {
                let tokens = minted_by(plan, minted, epoch);
                let tokens = tokens.map_err(|fault| PlanFault::failed(fault).at(at.key("minted")))?;
                if is_only { tokens } else { tokens.named(whose) }
            }
            BearerPlan::Grant(grant) => {
                // A service and a workload may have the same name.
                let before = names[..granted_so_far].iter().filter(|name| **name == whose).count();
                granted_so_far += 1;
                let name = match (names.len(), before) {
                    (1, _) => OAUTH.to_owned(),
                    (_, 0) => format!("{OAUTH}-{whose}"),
                    (_, before) => format!("{OAUTH}-{whose}-{}", before + 1),
                };
                let (subject, otherwise) = (TokenSubject::Unasked, GrantedKind::AccessToken);
                let at = at.key("grant");
                let grant = &placed(grant, issuer, &at)?;
                granted(plan, PlannedGrant { grant, at, name, subject, otherwise }, epoch)?
            }
        };
        Ok((bearer.clone(), tokens))
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
fn one_token(planned: &PlannedRequest<'_>, service: Option<&ServicePlan>) -> Result<(), PlanError> {
    let of_service = service.is_some_and(|service| service.token.is_some());
    let own = match (planned.bearer.is_some(), planned.request.own_authorization()) {
        (true, _) => planned.bearer_at.clone(),
        (false, Some(key)) => planned.at.clone().key(key),
        (false, None) if planned.request.tokens.is_some() && !of_service => {
            return Err(PlanFault::Misfit(NO_TOKENS.to_owned()).at(planned.at.clone().key("tokens")));
        }
        (false, None) => return Ok(()),
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

fn flows(workload: &WorkloadPlan) -> Option<&Agreed<HttpFlowsPlan>> {
    workload.operations.get(FLOWS)
}

fn gateway(lab: &LabPlan) -> Option<&GatewayLabPlan> {
    lab.kind.get(GATEWAY)
}

fn server(lab: &LabPlan) -> Option<&HttpLabPlan> {
    lab.kind.get(SERVER)
}

/// Which token a request has, that has none.
const NO_TOKENS: &str = "there are none to choose from: give `bearer`, or `token` of the service";
const URL_IS: &str = "Any HTTP endpoint, or several of which balancing chooses.";

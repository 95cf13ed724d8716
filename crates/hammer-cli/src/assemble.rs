//! From a plan to a run: each protocol finds or starts its services, each workload gets its clients and its load.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{LanePlan, Load};
use hammer_core::observe::Observer;
use hammer_core::run::{RunSpec, StopRule};
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_values::Count;
use http::Uri;

use crate::earlier_runs::EarlierRuns;
use crate::error::CliError;
use crate::health;
use crate::lab_observer::LabObserver;
use crate::link::{self, KnownLink};
use crate::metric_observer::{MetricObserver, NumberPlace};
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::load::LoadBounds;
use crate::plan::observe::{PromqlPlan, ScrapePlan};
use crate::plan::path::PlanPath;
use crate::plan::resources::ResourcesPlan;
use crate::plan::{Plan, WorkloadPlan};
use crate::protocol::lab::Lab;
use crate::protocol::lane::LaneRequest;
use crate::protocol::registry::Registry;
use crate::protocol::service::{OpenService, permitted};
use crate::protocol::{CalledService, OpenProtocol, RunFiles, RunPlan};
use crate::readiness::{ProbedUrl, ReadinessObserver, ReadyWait};
use crate::resources;
use crate::resources::surroundings::OwnSurroundings;
use crate::resources::watch::{expect_processes, told_by};
use crate::scrape::PageSource;

mod faults;
mod fill;
pub(crate) mod foolish;
mod thresholds;

use faults::check_own;
pub(crate) use fill::AssembledFill;
use foolish::foolish;
use thresholds::{check_series, check_workloads, thresholds};

/// A plan whose services were found, and whose embedded targets run.
pub(crate) struct OpenedPlan<'a> {
    registry: &'a Registry,
    plan: &'a Plan,
    evidence: &'a Path,
    earlier: &'a EarlierRuns,
    instants: RunInstants,
    open: Vec<Box<dyn OpenProtocol + 'a>>,
    /// The embedded targets; they live as long as this does, or whoever keeps them.
    pub(crate) labs: Labs,
    /// What is asked beside the load whether it is ready.
    ready: Vec<ProbedUrl>,
    /// What the reader of the report must be told of what was found.
    found: Vec<String>,
    /// The link to the target, where anybody says how fast it is.
    pub(crate) link: Option<KnownLink>,
    /// Scheme, host and port of each endpoint.
    pub(crate) targets: Vec<String>,
    /// Whether an earlier run started the embedded targets.
    is_kept: bool,
}

/// Embedded targets that run.
type Labs = Rc<[Box<dyn Lab>]>;

/// The embedded targets that all runs of a plan have, and by what they are reached.
pub(crate) struct KeptTarget<'a> {
    open: Vec<Box<dyn OpenProtocol + 'a>>,
    labs: Labs,
}

/// What the instants of a run are told from.
#[derive(Clone, Copy)]
struct RunInstants {
    clock: MonotonicClock,
    epoch_unix_ms: u64,
}

/// The run that is measured, ready to be carried out.
pub(crate) struct AssembledRun {
    /// The run.
    pub(crate) spec: RunSpec,
    /// What it writes besides its report.
    pub(crate) files: Vec<Box<dyn RunFiles>>,
}

impl RunInstants {
    fn now() -> Self {
        Self { clock: MonotonicClock::starting_now(), epoch_unix_ms: unix_millis() }
    }
}

/// Finds or starts the services of a plan, or takes those that are kept, and waits until they are ready where it says when they are;
/// embedded targets that the plan keeps are kept from then on. What has to be shown to who broke a promise goes to the folder `evidence`.
///
/// # Errors
/// When the plan contradicts itself, names what does not exist, or a target that nobody allowed.
pub(crate) fn open<'a>(
    registry: &'a Registry,
    plan: &'a Plan,
    (evidence, earlier): (&'a Path, &'a EarlierRuns),
    kept: &mut Option<KeptTarget<'a>>,
    mut wait: ReadyWait<'_>,
) -> Result<OpenedPlan<'a>, CliError> {
    let instants = RunInstants::now();
    let is_kept = kept.is_some();
    let planned = RunPlan { plan, epoch_unix_ms: instants.epoch_unix_ms, evidence, earlier, is_kept };
    check_own(registry, plan)?;
    let named = registry.protocols().iter().flat_map(|protocol| protocol.named_services(plan)).collect();
    let mut waited = until_ready(&mut wait, plan, named)?;
    let mut open: Vec<Box<dyn OpenProtocol + 'a>> = match kept {
        Some(kept) => reopened(&kept.open, &planned)?,
        None => {
            let opened = registry.protocols().iter().map(|protocol| protocol.open(&planned));
            opened.collect::<Result<_, CliError>>()?
        }
    };
    let named: Vec<Uri> = open.iter().flat_map(|open| open.endpoints()).collect();
    let targets = hosts(&named);
    let endpoints = dialled(plan, &open);
    permitted(endpoints.iter(), plan.target.authorized.as_deref())?;
    permitted(pages(plan).iter(), plan.target.authorized.as_deref())?;
    waited.extend(until_ready(&mut wait, plan, open.iter().flat_map(|open| open.probed()).collect())?);
    // What is not ready yet may not say what it is.
    open.iter_mut().try_for_each(|open| open.describe(&planned))?;
    // A token that is not there is told before a fill, and not after it.
    metric_observers(plan)?;
    plan.resources
        .iter()
        .try_for_each(|resources| told_by(resources, plan.target.authorized.as_ref()).map(drop))?;
    plan.resources.iter().try_for_each(expect_processes)?;
    if open.iter().filter(|open| open.observes()).count() > 1 {
        return Err(PlanFault::ObservedTwice.at(PlanPath::of("target")).into());
    }
    let called: Vec<CalledService> = open.iter().flat_map(|open| open.called()).collect();
    let labs: Labs = match kept {
        Some(kept) => Rc::clone(&kept.labs),
        None => open.iter_mut().flat_map(|open| open.take_labs()).collect(),
    };
    lab_observers(plan, &labs)?;
    // A run without a workload that goes to the embedded target may not have started it.
    if !is_kept && !labs.is_empty() && plan.target.lab.as_ref().is_some_and(|lab| lab.keep) {
        *kept = Some(KeptTarget { open: reopened(&open, &planned)?, labs: Rc::clone(&labs) });
    }
    let link = link::known(plan, &labs)?;
    let mut found: Vec<String> = open.iter_mut().flat_map(|open| open.notes()).collect();
    found.extend(link.iter().filter_map(|link| link.note.clone()));
    found.extend(waited);
    found.extend(health::said(plan, called)?);
    let ready = wait.into_ready();
    Ok(OpenedPlan {
        registry,
        plan,
        evidence,
        earlier,
        instants,
        open,
        labs,
        ready,
        found,
        link,
        targets,
        is_kept,
    })
}

impl<'a> OpenedPlan<'a> {
    /// What the reader of the report must be told.
    pub(crate) fn notes(&self) -> Vec<String> {
        notes(self.registry, self.plan).into_iter().chain(self.found.iter().cloned()).collect()
    }

    /// Prepares the run itself, which comes `after_fill` or not.
    ///
    /// # Errors
    /// When the plan contradicts itself, or what it names cannot be read.
    pub(crate) fn run(&mut self, after_fill: bool) -> Result<AssembledRun, CliError> {
        let (registry, plan) = (self.registry, self.plan);
        // A fill takes as long as it takes: what is measured has an epoch of its own.
        let instants = if after_fill { RunInstants::now() } else { self.instants };
        let planned = self.planned(instants);
        let mut open = match after_fill {
            true => described(&self.open, &planned)?,
            false => std::mem::take(&mut self.open),
        };
        let services: Vec<OpenService> = open.iter().flat_map(|open| open.services()).collect();
        let mut lanes = lanes(registry, planned, &mut open, &services)?;
        lanes.extend(open.iter_mut().flat_map(|open| open.upkeep()));
        check_series(plan, &lanes)?;
        let files = open.iter_mut().flat_map(|open| open.take_files()).collect();
        let stops = stops(registry, plan, &open);
        let headlines = open.iter().flat_map(|open| open.headlines()).collect();
        let mut observers = metric_observers(plan)?;
        observers.extend(lab_observers(plan, &self.labs)?);
        if !self.ready.is_empty() {
            observers.push(Box::new(ReadinessObserver { probed: self.ready.clone() }));
        }
        for open in open {
            observers.extend(open.observers()?);
        }
        let spec = RunSpec {
            shards: shards(plan).into(),
            warm_up: plan.phases.warm_up.duration().into(),
            measurement: plan.phases.measurement.map(|span| span.duration().into()),
            lanes,
            stops,
            observers,
            headlines,
            thresholds: thresholds(plan),
            ..self.spec(instants)
        };
        Ok(AssembledRun { spec, files })
    }

    fn planned(&self, instants: RunInstants) -> RunPlan<'a> {
        let Self { plan, evidence, earlier, is_kept, .. } = *self;
        RunPlan { plan, epoch_unix_ms: instants.epoch_unix_ms, evidence, earlier, is_kept }
    }

    /// What every run of the plan has.
    fn spec(&self, instants: RunInstants) -> RunSpec {
        let plan = self.plan;
        let surroundings = OwnSurroundings::find();
        RunSpec {
            clock: instants.clock,
            epoch_unix_ms: instants.epoch_unix_ms,
            seed: plan.seed,
            supply_threads: plan.threads.supply.map_or(1, Count::get),
            verify_threads: plan.threads.verify.map_or(1, Count::get),
            verify_ring_bytes: VERIFY_RING_BYTES,
            drain: plan.phases.drain.duration().into(),
            interval: plan.interval.duration().into(),
            resources: Box::new(move || resources::used(&surroundings)),
            ..RunSpec::new(Vec::new())
        }
    }
}

/// Scheme, host and port of each, once; who may be asked there is nobody's to see.
fn hosts(endpoints: &[Uri]) -> Vec<String> {
    let mut hosts = Vec::new();
    for endpoint in endpoints {
        let host = endpoint.host().unwrap_or_default();
        let port = endpoint.port_u16().map_or_else(String::new, |port| format!(":{port}"));
        let host = format!("{}://{host}{port}", endpoint.scheme_str().unwrap_or("http"));
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

/// Where everything that a run asks is dialled.
fn dialled(plan: &Plan, open: &[Box<dyn OpenProtocol + '_>]) -> Vec<Uri> {
    let services: Vec<OpenService> = open.iter().flat_map(|open| open.services()).collect();
    let of_endpoint = |url: Uri| {
        let service = services.iter().find(|service| service.endpoints.contains(&url));
        match service {
            Some(service) => plan.target.connection_of(service.name.as_deref()).dialled(url),
            None => Some(url),
        }
    };
    open.iter().flat_map(|open| open.endpoints()).filter_map(of_endpoint).collect()
}

/// Waits for those services, as the plan says; the sentences that tell it.
fn until_ready(
    wait: &mut ReadyWait<'_>,
    plan: &Plan,
    services: Vec<OpenService>,
) -> Result<Vec<String>, CliError> {
    let probed = ProbedUrl::all(plan, services)?;
    let dialled: Vec<Uri> = probed.iter().filter_map(|probed| probed.dialled(plan)).collect();
    permitted(&dialled, plan.target.authorized.as_deref())?;
    Ok(wait.until_ready(plan, probed)?.into_iter().collect())
}

/// The same services for another run, which were asked what it lives by.
fn described<'a, 'b>(
    open: &[Box<dyn OpenProtocol + 'a>],
    planned: &RunPlan<'b>,
) -> Result<Vec<Box<dyn OpenProtocol + 'b>>, CliError> {
    let mut open = reopened(open, planned)?;
    open.iter_mut().try_for_each(|open| open.describe(planned))?;
    Ok(open)
}

fn reopened<'a, 'b>(
    open: &[Box<dyn OpenProtocol + 'a>],
    planned: &RunPlan<'b>,
) -> Result<Vec<Box<dyn OpenProtocol + 'b>>, CliError> {
    open.iter().map(|open| open.reopened(planned)).collect()
}

/// What can be said against the plan without starting, dialling or reading anything that it names but a trace of arrivals.
///
/// # Errors
/// When the plan contradicts itself.
pub(crate) fn check(registry: &Registry, plan: &Plan) -> Result<(), PlanError> {
    check_own(registry, plan)?;
    let (evidence, earlier) = (Path::new(""), &EarlierRuns::default());
    let planned = RunPlan { plan, epoch_unix_ms: unix_millis(), evidence, earlier, is_kept: false };
    registry.protocols().iter().try_for_each(|protocol| protocol.check(&planned))?;
    for (place, workload) in plan.measured() {
        load(plan, workload, place)?;
    }
    check_workloads(plan)
}

/// What is read beside the load and belongs to no service.
fn pages(plan: &Plan) -> Vec<Uri> {
    let resources = plan.resources.iter().flat_map(ResourcesPlan::urls);
    let observed = plan.observe.iter().flat_map(|observed| {
        let queried = observed.promql.as_ref().map(|promql| &promql.url);
        observed.scrape.as_ref().map(|scrape| &scrape.url).into_iter().chain(queried)
    });
    resources.chain(observed).map(|url| url.url().clone()).collect()
}

/// Who reads the numbers of pages that the plan observes.
///
/// # Errors
/// A token that cannot be read, or roots, where they stand.
fn metric_observers(plan: &Plan) -> Result<Vec<Box<dyn Observer>>, PlanError> {
    let mut observers: Vec<Box<dyn Observer>> = Vec::new();
    for (place, observed) in plan.observe.iter().enumerate() {
        let authorized = plan.target.authorized.clone();
        let (source, place) = match (&observed.scrape, &observed.promql) {
            (Some(ScrapePlan { url, metric, labels }), _) => {
                let (metric, labels) = (metric.clone(), labels.clone());
                (PageSource::open(url.url().clone(), authorized), NumberPlace::Metric { metric, labels })
            }
            (None, Some(promql)) => {
                let at = PlanPath::of("observe").item(place).key("promql");
                let PromqlPlan { url, query, token, roots } = promql;
                let access = (token.as_ref(), roots.as_slice());
                (PageSource::promql((url, query), access, authorized, &at)?, NumberPlace::Answer)
            }
            (None, None) => continue,
        };
        let (name, every) = (observed.name.to_string(), observed.every.duration().into());
        observers.push(Box::new(MetricObserver { name, every, source, place }));
    }
    Ok(observers)
}

/// Who reads what embedded targets count, where the plan observes that.
///
/// # Errors
/// What none of them counts, where it stands.
fn lab_observers(plan: &Plan, labs: &Labs) -> Result<Vec<Box<dyn Observer>>, PlanError> {
    let mut observers: Vec<Box<dyn Observer>> = Vec::new();
    for (place, observed) in plan.observe.iter().enumerate() {
        let Some(path) = &observed.lab else { continue };
        let (name, every) = (observed.name.to_string(), observed.every.duration().into());
        let observer = LabObserver::new(name, every, path, labs.iter().map(|lab| &**lab));
        let at = || PlanPath::of("observe").item(place).key("lab");
        observers.push(Box::new(observer.map_err(|why| PlanFault::Misfit(why).at(at()))?));
    }
    Ok(observers)
}

fn load(plan: &Plan, workload: &WorkloadPlan, place: usize) -> Result<Load, PlanError> {
    let at = PlanPath::workload(place);
    let (in_flight, backlog) = (workload.in_flight.get(), workload.backlog);
    let bounds = LoadBounds { seed: plan.seed, workload: place as u64, in_flight, backlog };
    workload.load.load(&bounds).map_err(|error| PlanFault::from(error).at(at.key("load")))
}

/// Each workload as its protocol makes it.
fn lanes(
    registry: &Registry,
    planned: RunPlan<'_>,
    open: &mut [Box<dyn OpenProtocol + '_>],
    services: &[OpenService],
) -> Result<Vec<Arc<dyn LanePlan<ThreadedRuntime>>>, PlanError> {
    let mut lanes = Vec::new();
    for (place, workload) in planned.plan.measured() {
        let in_flight = workload.load.most_users().unwrap_or(workload.in_flight.get());
        let (load, warm_up) = (load(planned.plan, workload, place)?, warm_up(workload, in_flight));
        let lane = LaneRequest { planned, workload, place, load, in_flight, warm_up, services };
        let protocol = workload.operations.keys().next().and_then(|key| registry.of_workload(key));
        // Every workload has a section, and every section a protocol, once the plan was checked.
        let open = protocol.map(|protocol| &mut open[protocol]);
        lanes.extend(open.map(|open| open.lane(lane)).transpose()?);
    }
    Ok(lanes)
}

/// Connections dialled before the first arrival: every user's, or what a tenth of a second of the rate may need.
fn warm_up(workload: &WorkloadPlan, in_flight: usize) -> usize {
    match workload.load.most_users() {
        Some(users) => users,
        None => {
            in_flight.min((workload.load.greatest_rate() / 10.0).ceil() as usize).clamp(1, WARM_UP_AT_MOST)
        }
    }
}

fn shards(plan: &Plan) -> usize {
    match plan.threads.shards {
        Some(shards) => shards.get().min(most_shards(plan)),
        None => {
            let closed = plan.measured().any(|(_, workload)| workload.load.most_users().is_some());
            let rate: f64 = plan.workloads.iter().map(|workload| workload.load.greatest_rate()).sum();
            // An embedded target shares the cores.
            let many = (closed || rate > ONE_SHARD_RATE) && plan.target.lab.is_none();
            if many { resources::cores().min(most_shards(plan)) } else { 1 }
        }
    }
}

/// More shards than operations in flight, or than connections, would raise those limits, since each shard has one at least.
fn most_shards(plan: &Plan) -> usize {
    let limits = plan.measured().filter(|(_, workload)| workload.load.most_users().is_none());
    let in_flight = limits.map(|(_, workload)| workload.in_flight.get()).min();
    let connections = plan.target.least_connections();
    in_flight.into_iter().chain(connections).min().unwrap_or(usize::MAX).max(1)
}

/// What ends the arrivals besides time, as the plan says or a protocol by itself.
fn stops(registry: &Registry, plan: &Plan, open: &[Box<dyn OpenProtocol + '_>]) -> Vec<StopRule> {
    let mut stops: Vec<StopRule> = open.iter().flat_map(|open| open.stops()).collect();
    for (key, number) in plan.stop.iter().flat_map(|stop| &stop.0) {
        let Some((own, key)) = registry.of_stop(key) else { continue };
        // A key is about what is observed, by its own protocol or by another one.
        let observing = open.iter().filter(|open| open.observes());
        let open = if open[own].observes() { vec![&open[own]] } else { observing.collect() };
        let seen = open.into_iter().flat_map(|open| open.observed(key.observation));
        stops.extend(seen.map(|seen| match key.grown {
            true => StopRule::grown(seen, *number as f64),
            false => StopRule::at_least(seen, *number as f64),
        }));
    }
    stops
}

fn notes(registry: &Registry, plan: &Plan) -> Vec<String> {
    let unverified =
        |at: String| format!("TLS IS NOT VERIFIED ({at}.tls.insecure): anyone can answer for the target");
    let allowed =
        |who: &String| format!("load on peers that are neither loopback nor private was allowed by: {who}");
    let own = plan.target.unverified().into_iter().map(unverified);
    let own = own.chain(plan.target.authorized.iter().map(allowed));
    let own = own.chain(foolish(plan));
    own.chain(registry.protocols().iter().flat_map(|protocol| protocol.notes(plan))).collect()
}

const VERIFY_RING_BYTES: usize = 8 << 20;
const WARM_UP_AT_MOST: usize = 256;
/// One thread sends so much with a core to itself.
const ONE_SHARD_RATE: f64 = 20_000.0;

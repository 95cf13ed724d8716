//! From a plan to a run: each protocol finds or starts its services, each workload gets its clients and its load.

use std::path::Path;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{LanePlan, Load};
use hammer_core::observe::Observer;
use hammer_core::run::{RunSpec, Scope, ScopedThreshold, StopRule};
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_values::{Count, ValueError};
use http::Uri;

use crate::error::CliError;
use crate::metric_observer::MetricObserver;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::load::LoadBounds;
use crate::plan::observe;
use crate::plan::path::PlanPath;
use crate::plan::resources::ResourcesPlan;
use crate::plan::section::SectionPlace;
use crate::plan::threshold::{FullThreshold, ThresholdPlan};
use crate::plan::{Plan, WorkloadPlan};
use crate::protocol::lab::Lab;
use crate::protocol::lane::LaneRequest;
use crate::protocol::registry::Registry;
use crate::protocol::service::{OpenService, permitted};
use crate::protocol::{OpenProtocol, RunPlan};
use crate::resources;

/// A run, ready to be carried out.
pub(crate) struct Assembled {
    /// The run.
    pub(crate) spec: RunSpec,
    /// The embedded targets; they live as long as this does.
    pub(crate) labs: Vec<Box<dyn Lab>>,
    /// What the reader of the report must be told.
    pub(crate) notes: Vec<String>,
}

/// Prepares the run of a plan. What has to be shown to who broke a promise goes to the folder `evidence`.
///
/// # Errors
/// When the plan contradicts itself, names what does not exist, or a target that nobody allowed.
pub(crate) fn assemble(registry: &Registry, plan: &Plan, evidence: &Path) -> Result<Assembled, CliError> {
    let (clock, epoch_unix_ms) = (MonotonicClock::starting_now(), unix_millis());
    let planned = RunPlan { plan, epoch_unix_ms, evidence };
    check_own(registry, plan)?;
    let mut open = Vec::new();
    for protocol in registry.protocols() {
        open.push(protocol.open(&planned)?);
    }
    let services: Vec<OpenService> = open.iter().flat_map(|open| open.services()).collect();
    let endpoints: Vec<Uri> = open.iter().flat_map(|open| open.endpoints()).collect();
    permitted(&endpoints, plan.target.authorized.as_deref())?;
    permitted(&pages(plan), plan.target.authorized.as_deref())?;
    if open.iter().filter(|open| open.observes()).count() > 1 {
        return Err(PlanFault::ObservedTwice.at(PlanPath::of("target")).into());
    }
    let labs = open.iter_mut().flat_map(|open| open.take_labs()).collect();
    let mut lanes = lanes(registry, planned, &mut open, &services)?;
    lanes.extend(open.iter_mut().flat_map(|open| open.upkeep()));
    let found: Vec<String> = open.iter_mut().flat_map(|open| open.notes()).collect();
    let stops = stops(registry, plan, &open);
    let headlines = open.iter().flat_map(|open| open.headlines()).collect();
    let mut observers: Vec<Box<dyn Observer>> = metric_observers(plan).collect();
    for open in open {
        observers.extend(open.observers()?);
    }
    let spec = RunSpec {
        clock,
        epoch_unix_ms,
        seed: plan.seed,
        shards: shards(plan).into(),
        supply_threads: plan.threads.supply.map_or(1, Count::get),
        verify_threads: plan.threads.verify.map_or(1, Count::get),
        verify_ring_bytes: VERIFY_RING_BYTES,
        spill_folder: std::env::temp_dir(),
        warm_up: plan.phases.warm_up.duration().into(),
        measurement: plan.phases.measurement.map(|span| span.duration().into()),
        drain: plan.phases.drain.duration().into(),
        interval: plan.interval.duration().into(),
        lanes,
        stops,
        observers,
        headlines,
        thresholds: thresholds(plan),
        resources: Box::new(resources::used),
    };
    Ok(Assembled { spec, labs, notes: notes(registry, plan).into_iter().chain(found).collect() })
}

/// What can be said against the plan without starting, dialling or reading anything that it names but a trace of arrivals.
///
/// # Errors
/// When the plan contradicts itself.
pub(crate) fn check(registry: &Registry, plan: &Plan) -> Result<(), PlanError> {
    check_own(registry, plan)?;
    let planned = RunPlan { plan, epoch_unix_ms: unix_millis(), evidence: Path::new("") };
    registry.protocols().iter().try_for_each(|protocol| protocol.check(&planned))?;
    for (place, workload) in plan.workloads.iter().enumerate() {
        load(plan, workload, place)?;
    }
    Ok(())
}

/// What belongs to no protocol.
fn check_own(registry: &Registry, plan: &Plan) -> Result<(), PlanError> {
    check_names(plan)?;
    plan.resources.as_ref().map_or(Ok(()), ResourcesPlan::check_names)?;
    observe::check_names(&plan.observe)?;
    check_stop(registry, plan)?;
    check_target(registry, plan)?;
    let keys = registry.grammar().listed(SectionPlace::Workload, &[]);
    for (place, workload) in plan.workloads.iter().enumerate() {
        one(workload.operations.keys().count(), &keys, || PlanPath::workload(place))?;
    }
    Ok(())
}

/// What is read beside the load and belongs to no service.
fn pages(plan: &Plan) -> Vec<Uri> {
    let metrics = plan.resources.iter().flat_map(|resources| &resources.metrics);
    let observed = plan.observe.iter().filter_map(|observed| observed.scrape.as_ref());
    metrics.map(|page| &page.url).chain(observed.map(|page| &page.url)).map(|url| url.url().clone()).collect()
}

/// Who reads the metrics that the plan observes.
fn metric_observers(plan: &Plan) -> impl Iterator<Item = Box<dyn Observer>> {
    plan.observe.iter().filter_map(|observed| {
        let scrape = observed.scrape.as_ref()?;
        Some(Box::new(MetricObserver {
            name: observed.name.to_string(),
            every: observed.every.duration().into(),
            url: scrape.url.url().clone(),
            metric: scrape.metric.clone(),
            labels: scrape.labels.clone(),
            authorized: plan.target.authorized.clone(),
        }) as Box<dyn Observer>)
    })
}

fn check_names(plan: &Plan) -> Result<(), PlanError> {
    for (place, workload) in plan.workloads.iter().enumerate() {
        let (name, at) = (&workload.name, PlanPath::workload(place).key("name"));
        if plan.workloads[..place].iter().any(|other| other.name == *name) {
            return Err(PlanFault::Taken(name.to_string()).at(at));
        }
    }
    Ok(())
}

fn check_stop(registry: &Registry, plan: &Plan) -> Result<(), PlanError> {
    let Some(stop) = &plan.stop else { return Ok(()) };
    let (known, at) = (&registry.grammar().stop_keys, PlanPath::of("stop"));
    if stop.0.is_empty() {
        let keys: Vec<&str> = known.iter().map(|known| known.key).collect();
        return Err(PlanFault::NoRule(keys.join(" or ")).at(at));
    }
    let mut grown = known.iter().filter(|known| known.grown);
    match grown.find(|known| stop.0.get(known.key) == Some(&0)) {
        Some(known) => Err(PlanFault::Misfit(ValueError::below("1").to_string()).at(at.key(known.key))),
        None => Ok(()),
    }
}

/// Exactly one kind of target, and of each service and embedded target.
fn check_target(registry: &Registry, plan: &Plan) -> Result<(), PlanError> {
    let (target, grammar, at) = (&plan.target, registry.grammar(), PlanPath::of("target"));
    let kinds = target.unnamed.keys().count()
        + usize::from(!target.services.is_empty())
        + usize::from(target.lab.is_some());
    one(kinds, &grammar.listed(SectionPlace::Target, &["services", "lab"]), || at.clone())?;
    for (name, service) in &target.services {
        let at = at.clone().key("services").key(name.as_str());
        one(service.kind.keys().count(), &grammar.listed(SectionPlace::Service, &[]), || at)?;
    }
    if let Some(lab) = &target.lab {
        let keys = grammar.listed(SectionPlace::Lab, &[]);
        one(lab.kind.keys().count(), &keys, || at.key("lab"))?;
    }
    Ok(())
}

fn one(given: usize, of: &str, at: impl FnOnce() -> PlanPath) -> Result<(), PlanError> {
    match given {
        1 => Ok(()),
        _ => Err(PlanFault::NotOne(of.to_owned()).at(at())),
    }
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
    for (place, workload) in planned.plan.workloads.iter().enumerate() {
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
            let closed = plan.workloads.iter().any(|workload| workload.load.most_users().is_some());
            let rate: f64 = plan.workloads.iter().map(|workload| workload.load.greatest_rate()).sum();
            // An embedded target shares the cores.
            let many = (closed || rate > ONE_SHARD_RATE) && plan.target.lab.is_none();
            if many { resources::cores().min(most_shards(plan)) } else { 1 }
        }
    }
}

/// More shards than operations in flight, or than connections, would raise those limits, since each shard has one at least.
fn most_shards(plan: &Plan) -> usize {
    let limits = plan.workloads.iter().filter(|workload| workload.load.most_users().is_none());
    let in_flight = limits.map(|workload| workload.in_flight.get()).min();
    let connections = plan.target.least_connections();
    in_flight.into_iter().chain(connections).min().unwrap_or(usize::MAX).max(1)
}

/// What ends the arrivals besides time, as the plan says or a protocol by itself.
fn stops(registry: &Registry, plan: &Plan, open: &[Box<dyn OpenProtocol + '_>]) -> Vec<StopRule> {
    let mut stops: Vec<StopRule> = open.iter().flat_map(|open| open.stops()).collect();
    for (key, number) in plan.stop.iter().flat_map(|stop| &stop.0) {
        let Some((protocol, key)) = registry.of_stop(key) else { continue };
        stops.extend(open[protocol].observed(key.observation).into_iter().map(|seen| match key.grown {
            true => StopRule::grown(seen, *number as f64),
            false => StopRule::at_least(seen, *number as f64),
        }));
    }
    stops
}

fn thresholds(plan: &Plan) -> Vec<ScopedThreshold> {
    let of_workloads =
        plan.workloads.iter().flat_map(|workload| scoped(&workload.thresholds, Some(workload)));
    scoped(&plan.thresholds, None).into_iter().chain(of_workloads).collect()
}

/// The thresholds of a workload, or of the run.
fn scoped(plans: &[ThresholdPlan], workload: Option<&WorkloadPlan>) -> Vec<ScopedThreshold> {
    let one = |plan: &ThresholdPlan| {
        let FullThreshold { expect, series, grace, abort_on_fail } = plan.full();
        let scope = match (series, workload) {
            (Some(series), _) => Scope::Series(series),
            (None, Some(workload)) => Scope::Workload(workload.name.to_string()),
            (None, None) => Scope::Total,
        };
        let grace = grace.unwrap_or_default().duration().into();
        ScopedThreshold { scope, threshold: expect.threshold(), grace, abort_on_fail }
    };
    plans.iter().map(one).collect()
}

fn notes(registry: &Registry, plan: &Plan) -> Vec<String> {
    let unverified =
        |at: String| format!("TLS IS NOT VERIFIED ({at}.tls.insecure): anyone can answer for the target");
    let allowed =
        |who: &String| format!("load on peers that are neither loopback nor private was allowed by: {who}");
    let own = plan.target.unverified().into_iter().map(unverified);
    let own = own.chain(plan.target.authorized.iter().map(allowed));
    own.chain(registry.protocols().iter().flat_map(|protocol| protocol.notes(plan))).collect()
}

const VERIFY_RING_BYTES: usize = 8 << 20;
const WARM_UP_AT_MOST: usize = 256;
/// One thread sends so much with a core to itself.
const ONE_SHARD_RATE: f64 = 20_000.0;

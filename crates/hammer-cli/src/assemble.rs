//! From a plan to a run: the target is started or found, each workload gets its client and its load.

mod logs;
mod target;

use std::path::Path;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{LanePlan, Load, LoadedWorkload};
use hammer_core::run::{RunSpec, Scope, ScopedThreshold, StopRule};
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::Workload;
use hammer_ct::{Auditor, CtRun, LOG_FORKED, LogTarget, SubmitPlan};
use hammer_http::HttpWorkload;
use hammer_measure::threshold::ParseError as ThresholdError;
use hammer_net::ClientConfig;
use hammer_values::TimeSpan;
use http::Uri;

use crate::error::CliError;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::load::LoadBounds;
use crate::plan::path::PlanPath;
use crate::plan::{Plan, StopPlan, ThresholdPlan, WorkloadPlan};
use crate::resources;

use logs::{auditors, observers, reads, submissions};
pub(crate) use target::{Lab, log, log_of, served, unstarted};
use target::{Target, one_target};

/// A run, ready to be carried out.
pub(crate) struct Assembled {
    /// The run.
    pub(crate) spec: RunSpec,
    /// The embedded target; it lives as long as this does.
    pub(crate) lab: Option<Lab>,
    /// What the reader of the report must be told.
    pub(crate) notes: Vec<String>,
}

/// Prepares the run of a plan. What has to be shown to a log's operator goes to the folder `evidence`.
///
/// # Errors
/// When the plan contradicts itself, names what does not exist, or a target that nobody allowed.
pub(crate) fn assemble(plan: &Plan, evidence: &Path) -> Result<Assembled, CliError> {
    check_names(plan)?;
    check_stop(plan)?;
    let (clock, epoch_unix_ms) = (MonotonicClock::starting_now(), unix_millis());
    let (target, lab) = target::of(plan, epoch_unix_ms)?;
    let mut lanes = Vec::new();
    let mut thresholds = scoped(&plan.thresholds, None)?;
    let mut auditors = auditors(plan, &target, epoch_unix_ms, evidence)?;
    for (place, workload) in plan.workloads.iter().enumerate() {
        let run = CtRun { seed: plan.seed, epoch_unix_ms, workload: place as u64 };
        lanes.push(lane(plan, workload, &target, &run, &mut auditors)?);
        thresholds.extend(scoped(&workload.thresholds, Some((place, workload)))?);
    }
    let spec = RunSpec {
        clock,
        epoch_unix_ms,
        seed: plan.seed,
        shards: shards(plan)?,
        supply_threads: plan.threads.supply.unwrap_or(1),
        verify_threads: plan.threads.verify.unwrap_or(1),
        verify_ring_bytes: VERIFY_RING_BYTES,
        spill_folder: std::env::temp_dir(),
        warm_up: plan.phases.warm_up.duration().into(),
        measurement: plan.phases.measurement.map(|span| span.duration().into()),
        drain: plan.phases.drain.duration().into(),
        interval: plan.interval.duration().into(),
        lanes,
        stops: stops(plan, &target, &auditors)?,
        observers: observers(plan, &target, auditors)?,
        thresholds,
        resources: Box::new(resources::used),
    };
    Ok(Assembled { spec, lab, notes: notes(plan) })
}

/// What can be said against the plan without starting, dialling or reading anything that it names.
///
/// # Errors
/// When the plan contradicts itself.
pub(crate) fn check(plan: &Plan) -> Result<(), PlanError> {
    check_names(plan)?;
    check_stop(plan)?;
    one_target(plan)?;
    let epoch_unix_ms = unix_millis();
    let windows = target::check(plan, epoch_unix_ms)?;
    shards(plan)?;
    scoped(&plan.thresholds, None)?;
    for (place, workload) in plan.workloads.iter().enumerate() {
        scoped(&workload.thresholds, Some((place, workload)))?;
        one_kind(workload, &PlanPath::workload(place))?;
        load(plan, workload, place)?;
        let run = CtRun { seed: plan.seed, epoch_unix_ms, workload: place as u64 };
        logs::check(workload, &windows, &run)?;
    }
    Ok(())
}

/// The roots of every chain that the plan submits, in DER.
///
/// # Errors
/// When the user's own CA cannot be read, or chains come from files.
pub(crate) fn roots(plan: &Plan) -> Result<Vec<hammer_ct::Roots>, PlanError> {
    let submits = plan.workloads.iter().enumerate();
    let submits = submits.filter_map(|(place, workload)| Some((place, workload.ct_submit.as_ref()?)));
    let roots = |(place, submit)| {
        let at = PlanPath::workload(place).key("ct_submit");
        hammer_ct::roots(submit, plan.seed).map_err(|error| PlanFault::from(error).at(at))
    };
    submits.map(roots).collect()
}

fn check_names(plan: &Plan) -> Result<(), PlanError> {
    if plan.workloads.is_empty() {
        return Err(PlanFault::Empty.at(PlanPath::of("workloads")));
    }
    for (place, workload) in plan.workloads.iter().enumerate() {
        let (name, at) = (&workload.name, PlanPath::workload(place).key("name"));
        if name.is_empty() || name.contains(['/', '.', ' ']) {
            return Err(PlanFault::NoWord(name.clone()).at(at));
        }
        if plan.workloads[..place].iter().any(|other| other.name == *name) {
            return Err(PlanFault::Taken(name.clone()).at(at));
        }
    }
    if plan.interval < LEAST_INTERVAL {
        return Err(PlanFault::Below("10ms").at(PlanPath::of("interval")));
    }
    Ok(())
}

fn check_stop(plan: &Plan) -> Result<(), PlanError> {
    match plan.stop {
        Some(StopPlan { tree_size: None, tree_growth: None }) => {
            Err(PlanFault::NoRule.at(PlanPath::of("stop")))
        }
        Some(StopPlan { tree_growth: Some(0), .. }) => {
            Err(PlanFault::Below("1").at(PlanPath::of("stop.tree_growth")))
        }
        _ => Ok(()),
    }
}

fn one_kind(workload: &WorkloadPlan, at: &PlanPath) -> Result<(), PlanError> {
    let kinds = [workload.http.is_some(), workload.ct_submit.is_some(), workload.ct_read.is_some()];
    match kinds.iter().filter(|kind| **kind).count() {
        1 => submission(workload, at),
        _ => Err(PlanFault::NotOne("http, ct_submit, ct_read").at(at.clone())),
    }
}

fn submission(workload: &WorkloadPlan, at: &PlanPath) -> Result<(), PlanError> {
    let checked = workload.ct_submit.as_ref().map_or(Ok(()), SubmitPlan::check);
    checked.map_err(|error| PlanFault::from(error).at(at.clone().key("ct_submit")))
}

fn load(plan: &Plan, workload: &WorkloadPlan, place: usize) -> Result<Load, PlanError> {
    let at = PlanPath::workload(place);
    let most = workload.load.most_users().unwrap_or(workload.in_flight);
    if most == 0 {
        return Err(PlanFault::Below("1").at(at.key("in_flight")));
    }
    let (in_flight, backlog) = (workload.in_flight, workload.backlog);
    let bounds = LoadBounds { seed: plan.seed, workload: place as u64, in_flight, backlog };
    workload.load.load(&bounds).map_err(|error| PlanFault::from(error).at(at.key("load")))
}

fn lane(
    plan: &Plan,
    workload: &WorkloadPlan,
    target: &Target,
    run: &CtRun,
    auditors: &mut [Option<Auditor>],
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let place = run.workload as usize;
    one_kind(workload, &PlanPath::workload(place))?;
    let load = load(plan, workload, place)?;
    let in_flight = workload.load.most_users().unwrap_or(workload.in_flight);
    let warm_up = warm_up(workload, in_flight);
    let client = |endpoints: &[Uri]| -> Result<ClientConfig, PlanError> {
        let config = plan.target.client(endpoints.to_vec(), in_flight, plan.seed ^ run.workload);
        config.check().map_err(|error| PlanFault::from(error).at(PlanPath::of("target")))?;
        Ok(config)
    };
    let loaded = Loaded { workload, load };
    if let Some(http) = &workload.http {
        let made = HttpWorkload::new(http, client(&target.endpoints)?);
        let refused = |error| PlanFault::from(error).at(PlanPath::workload(place).key("http"));
        return Ok(loaded.with(made.map_err(refused)?.warm_up(warm_up)));
    }
    if let Some(submit) = &workload.ct_submit {
        let of_log = |log: &LogTarget| client(&log.submission);
        let each = submissions(workload, submit, target, run, of_log)?;
        let each = each.map(|log, made| {
            let made = made.warm_up(warm_up);
            match auditors[log].as_mut().filter(|_| submit.audit) {
                Some(auditor) => made.audited(auditor.link(&workload.name)),
                None => made,
            }
        });
        return Ok(each.load(loaded));
    }
    let of_log = |log: &LogTarget| client(&log.monitoring);
    let each = reads(workload, target, run, of_log)?;
    Ok(each.map(|_, made| made.warm_up(warm_up)).load(loaded))
}

struct Loaded<'a> {
    workload: &'a WorkloadPlan,
    load: Load,
}

impl Loaded<'_> {
    fn with<W: Workload>(self, workload: W) -> Arc<dyn LanePlan<ThreadedRuntime>> {
        Arc::new(LoadedWorkload {
            name: self.workload.name.clone(),
            workload: Arc::new(workload),
            load: self.load,
            timeout: self.workload.timeout.duration().into(),
            supply: SupplyBounds::default(),
        })
    }
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

fn shards(plan: &Plan) -> Result<usize, PlanError> {
    match plan.threads.shards {
        Some(0) => Err(PlanFault::Below("1").at(PlanPath::of("threads.shards"))),
        Some(shards) => Ok(shards.min(most_shards(plan))),
        None => {
            let closed = plan.workloads.iter().any(|workload| workload.load.most_users().is_some());
            let rate: f64 = plan.workloads.iter().map(|workload| workload.load.greatest_rate()).sum();
            // An embedded target shares the cores.
            let many = (closed || rate > ONE_SHARD_RATE) && plan.target.lab.is_none();
            Ok(if many { resources::cores().min(most_shards(plan)) } else { 1 })
        }
    }
}

/// More shards than operations in flight, or than connections, would raise those limits, since each shard has one at least.
fn most_shards(plan: &Plan) -> usize {
    let limits = plan.workloads.iter().filter(|workload| workload.load.most_users().is_none());
    let in_flight = limits.map(|workload| workload.in_flight).min();
    let connections = plan.target.connection.connections;
    in_flight.into_iter().chain(connections).min().unwrap_or(usize::MAX).max(1)
}

fn stops(plan: &Plan, target: &Target, auditors: &[Option<Auditor>]) -> Result<Vec<StopRule>, PlanError> {
    // What a forked log accepts from then on says nothing.
    let audited = (0..auditors.len()).filter(|log| auditors[*log].is_some());
    let forked = |log| StopRule::at_least(target.observation(log, LOG_FORKED), 1.0);
    let mut stops: Vec<StopRule> = audited.map(forked).collect();
    let Some(stop) = plan.stop else { return Ok(stops) };
    if target.logs.is_empty() {
        return Err(PlanFault::NoLog.at(PlanPath::of("stop")));
    }
    for log in 0..target.logs.len() {
        let tree = target.observation(log, "tree_size");
        stops.extend(stop.tree_size.map(|size| StopRule::at_least(&tree, size as f64)));
        stops.extend(stop.tree_growth.map(|leaves| StopRule::grown(&tree, leaves as f64)));
    }
    Ok(stops)
}

/// The thresholds of a workload, or of the run.
fn scoped(
    plans: &[ThresholdPlan],
    workload: Option<(usize, &WorkloadPlan)>,
) -> Result<Vec<ScopedThreshold>, PlanError> {
    let at = workload.map_or_else(PlanPath::default, |(place, _)| PlanPath::workload(place));
    let at = at.key("thresholds");
    let one = |(place, plan): (usize, &ThresholdPlan)| {
        let full = plan.full();
        let refused = |error: ThresholdError| PlanFault::from(error).at(at.clone().item(place));
        let threshold = full.expect.parse().map_err(refused)?;
        let scope = match (full.series, workload) {
            (Some(series), _) => Scope::Series(series),
            (None, Some((_, workload))) => Scope::Workload(workload.name.clone()),
            (None, None) => Scope::Total,
        };
        let grace = full.grace.unwrap_or_default().duration().into();
        Ok(ScopedThreshold { scope, threshold, grace, abort_on_fail: full.abort_on_fail })
    };
    plans.iter().enumerate().map(one).collect()
}

fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    if plan.target.tls.insecure {
        notes.push("TLS IS NOT VERIFIED (target.tls.insecure): anyone can answer for the target".to_owned());
    }
    if let Some(who) = &plan.target.authorized {
        notes.push(format!("load on peers that are neither loopback nor private was allowed by: {who}"));
    }
    for workload in &plan.workloads {
        let invalid = workload.ct_submit.as_ref().filter(|submit| submit.invalid_percent > 0.0);
        notes.extend(invalid.map(|_| format!("{}: {INVALID_NOTE}", workload.name)));
    }
    notes
}

const INVALID_NOTE: &str = "a part of what is sent is wrong on purpose (series invalid and observed): refused is right in \
                            invalid, and accepted there is a broken promise";
const VERIFY_RING_BYTES: usize = 8 << 20;
const LEAST_INTERVAL: TimeSpan = TimeSpan::from_millis(10);
const WARM_UP_AT_MOST: usize = 256;
/// One thread sends so much with a core to itself.
const ONE_SHARD_RATE: f64 = 20_000.0;

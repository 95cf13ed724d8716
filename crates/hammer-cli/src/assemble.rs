//! From a plan to a run: the target is started or found, each workload gets its client and its load.

use std::net::ToSocketAddrs as _;
use std::sync::Arc;
use std::time::Duration;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::dispatch::{LanePlan, Load, LoadedWorkload};
use hammer_core::observe::Observer;
use hammer_core::run::{RunSpec, Scope, ScopedThreshold, StopRule};
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::Workload;
use hammer_ct::{
    Auditor, CtRun, CtTargetPlan, LEAST_AUDIT_INTERVAL, LOG_FORKED, LogKind, LogTarget, OneOrMany,
    ReadWorkload, SubmitPlan, SubmitWorkload, TreeSizeObserver,
};
use hammer_http::HttpWorkload;
use hammer_lab::ct::Flavour;
use hammer_lab::{CtLab, CtLabHandle, CtLabPlan, HttpLab, HttpLabHandle, LogConfig};
use hammer_net::{ClientConfig, guard};
use http::Uri;

use crate::error::CliError;
use crate::plan::load::LoadBounds;
use crate::plan::target::TargetPlan;
use crate::plan::{Plan, ThresholdPlan, WorkloadPlan};
use crate::resources;

/// A run, ready to be carried out.
pub(crate) struct Assembled {
    /// The run.
    pub(crate) spec: RunSpec,
    /// The embedded target; it lives as long as this does.
    pub(crate) lab: Option<Lab>,
    /// What the reader of the report must be told.
    pub(crate) notes: Vec<String>,
    /// Users of each closed-loop workload.
    pub(crate) users: Vec<(String, u64)>,
}

/// An embedded target that runs; dropping it stops it.
pub(crate) enum Lab {
    Ct(Box<CtLabHandle>),
    Http(HttpLabHandle),
}

impl Lab {
    /// Counts the times of scripted faults from now.
    pub(crate) fn restart_faults(&self) {
        match self {
            Self::Ct(lab) => lab.restart_faults(),
            Self::Http(lab) => lab.restart_faults(),
        }
    }
}

/// Where operations go.
struct Target {
    endpoints: Vec<Uri>,
    log: Option<Arc<LogTarget>>,
}

/// Prepares the run of a plan.
///
/// # Errors
/// When the plan contradicts itself, names what does not exist, or a target that nobody allowed.
pub(crate) fn assemble(plan: &Plan) -> Result<Assembled, CliError> {
    check_names(plan)?;
    let (target, lab) = target(plan)?;
    permitted(&target, plan.target.authorized.as_deref())?;
    let (clock, epoch_unix_ms) = (MonotonicClock::starting_now(), unix_millis());
    let mut lanes = Vec::new();
    let mut thresholds = scoped(&plan.thresholds, None)?;
    let mut users = Vec::new();
    let mut auditor = auditor(plan, &target, epoch_unix_ms);
    for (place, workload) in plan.workloads.iter().enumerate() {
        let run = CtRun { seed: plan.seed, epoch_unix_ms, workload: place as u64 };
        lanes.push(lane(plan, workload, &target, &run, auditor.as_mut())?);
        thresholds.extend(scoped(&workload.thresholds, Some(&workload.name))?);
        users.extend(workload.load.most_users().map(|most| (workload.name.clone(), most as u64)));
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
        warm_up: plan.phases.warm_up.0,
        measurement: plan.phases.measurement.map(|span| span.0),
        drain: plan.phases.drain.0,
        interval: plan.interval.0,
        lanes,
        stops: stops(plan, &target, auditor.is_some())?,
        observers: observers(plan, &target, auditor),
        thresholds,
        resources: Box::new(resources::used),
    };
    Ok(Assembled { spec, lab, notes: notes(plan), users })
}

/// What can be said against the plan without starting, dialling or reading anything that it names.
///
/// # Errors
/// When the plan contradicts itself.
pub(crate) fn check(plan: &Plan) -> Result<(), CliError> {
    check_names(plan)?;
    one_target(plan)?;
    shards(plan)?;
    scoped(&plan.thresholds, None)?;
    for (place, workload) in plan.workloads.iter().enumerate() {
        scoped(&workload.thresholds, Some(&workload.name))?;
        one_kind(workload)?;
        load(plan, workload, place as u64)?;
    }
    Ok(())
}

/// The roots of every chain that the plan submits, in DER.
pub(crate) fn roots(plan: &Plan) -> Result<Vec<hammer_ct::Roots>, CliError> {
    let submits = plan.workloads.iter().filter_map(|workload| workload.ct_submit.as_ref());
    submits.map(|submit| hammer_ct::roots(submit, plan.seed).map_err(CliError::plan)).collect()
}

fn check_names(plan: &Plan) -> Result<(), CliError> {
    if plan.workloads.is_empty() {
        return Err(CliError::plan("use the plan: workloads: there is none"));
    }
    for (place, workload) in plan.workloads.iter().enumerate() {
        let name = &workload.name;
        if name.is_empty() || name.contains(['/', '.', ' ']) {
            return Err(CliError::plan(format!(
                "use the plan: workloads[{place}].name: `{name}` must be a word"
            )));
        }
        if plan.workloads[..place].iter().any(|other| other.name == *name) {
            return Err(CliError::plan(format!("use the plan: workloads[{place}].name: `{name}` is taken")));
        }
    }
    if plan.interval.0 < LEAST_INTERVAL {
        return Err(CliError::plan("use the plan: interval: it must be 10ms at least"));
    }
    Ok(())
}

fn one_target(plan: &Plan) -> Result<(), CliError> {
    let given = &plan.target;
    let kinds = [!given.url.is_empty(), given.log.is_some(), given.lab.is_some()];
    match kinds.iter().filter(|kind| **kind).count() {
        1 => user_agent(given),
        _ => Err(CliError::plan("use the plan: target: give exactly one of url, log, lab")),
    }
}

/// The log of a target, once it is known that nobody has to allow it, or somebody did.
///
/// # Errors
/// When it is none, or one that nobody allowed.
pub(crate) fn log(target: &TargetPlan) -> Result<Arc<LogTarget>, CliError> {
    user_agent(target)?;
    let log = target.log.clone().unwrap_or_default();
    let log = log.target().map_err(|error| CliError::plan(format!("use the log: failed to {error}")))?;
    let reached = of_log(log.clone());
    permitted(&reached, target.authorized.as_deref())?;
    Ok(Arc::new(log))
}

fn user_agent(target: &TargetPlan) -> Result<(), CliError> {
    let made = target.user_agent().map(|_| ());
    made.map_err(|error| CliError::plan(format!("use the plan: target.contact: {error}")))
}

fn one_kind(workload: &WorkloadPlan) -> Result<(), CliError> {
    let kinds = [workload.http.is_some(), workload.ct_submit.is_some(), workload.ct_read.is_some()];
    match kinds.iter().filter(|kind| **kind).count() {
        1 => audit_interval(workload).and_then(|()| submission(workload)),
        _ => Err(refused(workload, "give exactly one of http, ct_submit, ct_read")),
    }
}

fn audit_interval(workload: &WorkloadPlan) -> Result<(), CliError> {
    let least = LEAST_AUDIT_INTERVAL.as_millis();
    match &workload.ct_submit {
        Some(submit) if u128::from(submit.audit_interval_ms) < least => {
            Err(refused(workload, format!("ct_submit.audit_interval_ms: it must be {least} at least")))
        }
        _ => Ok(()),
    }
}

fn submission(workload: &WorkloadPlan) -> Result<(), CliError> {
    let checked = workload.ct_submit.as_ref().map_or(Ok(()), SubmitPlan::check);
    checked.map_err(|error| refused(workload, format!("ct_submit: failed to {error}")))
}

fn refused(workload: &WorkloadPlan, reason: impl std::fmt::Display) -> CliError {
    CliError::plan(format!("use the plan: workloads.{}: {reason}", workload.name))
}

fn load(plan: &Plan, workload: &WorkloadPlan, place: u64) -> Result<Load, CliError> {
    let most = workload.load.most_users().unwrap_or(workload.in_flight);
    if most == 0 {
        return Err(refused(workload, "in_flight: it must be 1 at least"));
    }
    let (in_flight, backlog) = (workload.in_flight, workload.backlog);
    let bounds = LoadBounds { seed: plan.seed, workload: place, in_flight, backlog };
    workload.load.load(&bounds).map_err(|reason| refused(workload, format!("load: {reason}")))
}

fn target(plan: &Plan) -> Result<(Target, Option<Lab>), CliError> {
    one_target(plan)?;
    let given = &plan.target;
    if let Some(lab) = &given.lab {
        return match (&lab.ct, &lab.http) {
            (Some(ct), None) => ct_lab(plan, ct.clone()),
            (None, Some(http)) => {
                let lab = HttpLab::spawn_thread(http).map_err(CliError::plan)?;
                let endpoints = vec![uri("target.lab.http", &lab.url)?];
                Ok((Target { endpoints, log: None }, Some(Lab::Http(lab))))
            }
            _ => Err(CliError::plan("use the plan: target.lab: give exactly one of ct, http")),
        };
    }
    if let Some(log) = &given.log {
        let log = log
            .target()
            .map_err(|error| CliError::plan(format!("use the plan: target.log: failed to {error}")))?;
        return Ok((of_log(log), None));
    }
    let urls = given.url.as_slice().iter().map(|url| uri("target.url", url));
    Ok((Target { endpoints: urls.collect::<Result<_, _>>()?, log: None }, None))
}

fn ct_lab(plan: &Plan, lab: CtLabPlan) -> Result<(Target, Option<Lab>), CliError> {
    let log = log_of(&lab);
    let mut config = LogConfig::from_plan(lab).map_err(CliError::plan)?;
    for roots in roots(plan)? {
        roots.certificates.into_iter().for_each(|root| config.add_root_der(root));
    }
    let lab = CtLab::spawn_thread(config).map_err(CliError::plan)?;
    let log = served(log, &lab).target().map_err(CliError::plan)?;
    Ok((of_log(log), Some(Lab::Ct(Box::new(lab)))))
}

/// What an embedded log promises, before it is known where it is served.
pub(crate) fn log_of(lab: &CtLabPlan) -> CtTargetPlan {
    let kind = match lab.flavour {
        Flavour::StaticCt => LogKind::StaticCt,
        Flavour::Rfc6962 => LogKind::Rfc6962,
    };
    let mmd_seconds = lab.max_merge_delay.0.as_millis().div_ceil(1000) as u64;
    CtTargetPlan { kind, mmd_seconds, ..CtTargetPlan::default() }
}

/// The same with where it is served, and its key.
pub(crate) fn served(log: CtTargetPlan, lab: &CtLabHandle) -> CtTargetPlan {
    CtTargetPlan {
        submission_url: OneOrMany::One(lab.submission_url.clone()),
        monitoring_url: OneOrMany::One(lab.monitoring_url.clone()),
        origin: Some(lab.origin.clone()),
        public_key: Some(hammer_tlog::encoding::base64(&lab.log_key_spki)),
        ..log
    }
}

fn of_log(log: LogTarget) -> Target {
    Target {
        endpoints: log.submission.iter().chain(&log.monitoring).cloned().collect(),
        log: Some(Arc::new(log)),
    }
}

fn uri(key: &str, text: &str) -> Result<Uri, CliError> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    whole.parse().map_err(|error| CliError::plan(format!("use the plan: {key}: {text}: {error}")))
}

/// Names the target that nobody allowed before anything is dialled; every later connection is held against the same
/// rule. A name that cannot be looked up now is left to the run, which counts it.
fn permitted(target: &Target, authorized: Option<&str>) -> Result<(), CliError> {
    for endpoint in &target.endpoints {
        let Some(host) = endpoint.host() else { continue };
        let port =
            endpoint.port_u16().unwrap_or(if endpoint.scheme_str() == Some("https") { 443 } else { 80 });
        let Ok(addresses) = (host.trim_matches(['[', ']']), port).to_socket_addrs() else { continue };
        for address in addresses {
            guard::check(host, address, authorized).map_err(CliError::plan)?;
        }
    }
    Ok(())
}

fn lane(
    plan: &Plan,
    workload: &WorkloadPlan,
    target: &Target,
    run: &CtRun,
    auditor: Option<&mut Auditor>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, CliError> {
    one_kind(workload)?;
    let load = load(plan, workload, run.workload)?;
    let in_flight = workload.load.most_users().unwrap_or(workload.in_flight);
    let warm_up = warm_up(workload, in_flight);
    let client = |endpoints: &[Uri]| -> Result<ClientConfig, CliError> {
        let config = plan.target.client(endpoints.to_vec(), in_flight, plan.seed ^ run.workload);
        let checked = config.check();
        checked.map_err(|error| CliError::plan(format!("use the plan: target: failed to {error}")))?;
        Ok(config)
    };
    let log = || {
        let none = || refused(workload, "it needs a log: give target.log or target.lab.ct");
        target.log.clone().ok_or_else(none)
    };
    let loaded = Loaded { workload, load };
    if let Some(http) = &workload.http {
        let made = HttpWorkload::new(http, client(&target.endpoints)?);
        let made = made.map_err(|error| refused(workload, format!("http: failed to {error}")))?;
        return Ok(loaded.with(made.warm_up(warm_up)));
    }
    let log = log()?;
    if let Some(submit) = &workload.ct_submit {
        let made = SubmitWorkload::new(submit, log.clone(), client(&log.submission)?, run);
        let made = made.map_err(|error| refused(workload, format!("ct_submit: failed to {error}")))?;
        let made = made.warm_up(warm_up);
        return Ok(match auditor {
            Some(auditor) if submit.audit => loaded.with(made.audited(auditor.link())),
            _ => loaded.with(made),
        });
    }
    let read = workload.ct_read.clone().unwrap_or_default();
    let made = ReadWorkload::new(&read, log.clone(), client(&log.monitoring)?, run);
    let made = made.map_err(|error| refused(workload, format!("ct_read: failed to {error}")))?;
    Ok(loaded.with(made.warm_up(warm_up)))
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
            timeout: self.workload.timeout.0,
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

fn shards(plan: &Plan) -> Result<usize, CliError> {
    match plan.threads.shards {
        Some(0) => Err(CliError::plan("use the plan: threads.shards: it must be 1 at least")),
        Some(shards) => Ok(shards.min(most_in_flight(plan))),
        None => {
            let closed = plan.workloads.iter().any(|workload| workload.load.most_users().is_some());
            let rate: f64 = plan.workloads.iter().map(|workload| workload.load.greatest_rate()).sum();
            // An embedded target shares the cores.
            let many = (closed || rate > ONE_SHARD_RATE) && plan.target.lab.is_none();
            Ok(if many { resources::cores().min(most_in_flight(plan)) } else { 1 })
        }
    }
}

/// More shards than operations in flight would raise that limit, since each shard has one at least.
fn most_in_flight(plan: &Plan) -> usize {
    let limits = plan.workloads.iter().filter(|workload| workload.load.most_users().is_none());
    limits.map(|workload| workload.in_flight).min().unwrap_or(usize::MAX)
}

/// One for all workloads whose submissions are audited, so that the log is read once.
fn auditor(plan: &Plan, target: &Target, epoch_unix_ms: u64) -> Option<Auditor> {
    let log = target.log.as_ref()?;
    let audited = plan.workloads.iter().filter_map(|workload| workload.ct_submit.as_ref());
    let every = audited.filter(|submit| submit.audit).map(|submit| submit.audit_interval_ms).min()?;
    let client = plan.target.client(log.monitoring.clone(), 1, plan.seed);
    let auditor = Auditor::new("log", log.clone(), client, epoch_unix_ms);
    Some(auditor.every(Duration::from_millis(every)))
}

fn observers(plan: &Plan, target: &Target, auditor: Option<Auditor>) -> Vec<Box<dyn Observer>> {
    let Some(log) = &target.log else { return Vec::new() };
    if plan.workloads.iter().all(|workload| workload.ct_submit.is_none()) {
        return Vec::new();
    }
    if let Some(auditor) = auditor {
        // It follows the tree as well.
        return vec![Box::new(auditor)];
    }
    let client = plan.target.client(log.monitoring.clone(), 1, plan.seed);
    vec![Box::new(TreeSizeObserver::new("log", log.clone(), client))]
}

fn stops(plan: &Plan, target: &Target, audited: bool) -> Result<Vec<StopRule>, CliError> {
    // What a forked log accepts from then on says nothing.
    let forked = audited.then(|| StopRule { observation: LOG_FORKED.to_owned(), at_least: 1.0 });
    let mut stops: Vec<StopRule> = forked.into_iter().collect();
    match plan.stop {
        None => Ok(stops),
        Some(_) if target.log.is_none() => Err(CliError::plan(
            "use the plan: stop.tree_size: it needs a log: give target.log or target.lab.ct",
        )),
        Some(stop) => {
            let at_least = stop.tree_size as f64;
            stops.push(StopRule { observation: "tree_size".to_owned(), at_least });
            Ok(stops)
        }
    }
}

fn scoped(plans: &[ThresholdPlan], workload: Option<&str>) -> Result<Vec<ScopedThreshold>, CliError> {
    let one = |plan: &ThresholdPlan| {
        let full = plan.full();
        let threshold = full.expect.parse().map_err(|error| {
            CliError::plan(format!(
                "use the plan: {}thresholds: {error}",
                workload.map_or(String::new(), |name| format!("workloads.{name}."))
            ))
        })?;
        let scope = match (full.series, workload) {
            (Some(series), _) => Scope::Series(series),
            (None, Some(name)) => Scope::Workload(name.to_owned()),
            (None, None) => Scope::Total,
        };
        let grace = full.grace.map_or(hammer_measure::Nanos::ZERO, |span| span.0);
        Ok(ScopedThreshold { scope, threshold, grace, abort_on_fail: full.abort_on_fail })
    };
    plans.iter().map(one).collect()
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
const LEAST_INTERVAL: hammer_measure::Nanos = hammer_measure::Nanos::from_millis(10);
const WARM_UP_AT_MOST: usize = 256;
/// One thread sends so much with a core to itself.
const ONE_SHARD_RATE: f64 = 20_000.0;

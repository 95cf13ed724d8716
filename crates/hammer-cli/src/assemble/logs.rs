//! Workloads on the logs of a plan, on one or on several of them, and who looks at those beside the load.

use std::path::Path;
use std::sync::Arc;

use hammer_core::compose::Routed;
use hammer_core::dispatch::LanePlan;
use hammer_core::observe::{Named, Observer};
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_core::workload::Workload;
use hammer_ct::{
    Auditor, Chains, CtError, CtRun, LogRoute, LogTarget, ReadWorkload, SubmitPlan, SubmitWorkload,
    TreeSizeObserver, Window,
};
use hammer_net::ClientConfig;

use super::Loaded;
use super::target::{NamedWindow, Target};
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::{Plan, WorkloadPlan};

/// A workload for each log that it goes to, and which operation goes where.
pub(super) struct OnLogs<W> {
    route: LogRoute,
    /// The log's place and name.
    logs: Vec<(usize, String, W)>,
}

impl<W: Workload> OnLogs<W> {
    /// With another workload for each log, by its place.
    pub(super) fn map(self, mut change: impl FnMut(usize, W) -> W) -> Self {
        let logs = self.logs.into_iter();
        Self { logs: logs.map(|(log, name, made)| (log, name, change(log, made))).collect(), ..self }
    }

    pub(super) fn load(mut self, loaded: Loaded<'_>) -> Arc<dyn LanePlan<ThreadedRuntime>> {
        match self.logs.pop() {
            Some((_, _, only)) if self.logs.is_empty() => loaded.with(only),
            last => {
                let logs = self.logs.into_iter().chain(last).map(|(_, name, made)| (name, made));
                loaded.with(Routed::new(self.route, logs.collect()))
            }
        }
    }
}

/// Submissions to each log that the workload names; `client` is that of a log.
pub(super) fn submissions(
    workload: &WorkloadPlan,
    submit: &SubmitPlan,
    target: &Target,
    run: &CtRun,
    client: impl Fn(&LogTarget) -> Result<ClientConfig, PlanError>,
) -> Result<OnLogs<SubmitWorkload>, PlanError> {
    let failed = |error: CtError| PlanFault::from(error).at(at(run).key("ct_submit"));
    let places = chosen(workload, target, &at(run))?;
    let logs: Vec<Arc<LogTarget>> = places.iter().map(|place| target.logs[*place].log.clone()).collect();
    let chains = Arc::new(Chains::new(submit, run).map_err(failed)?);
    let route = LogRoute::by_not_after(chains.clone(), &logs).map_err(failed)?;
    let mut made = Vec::new();
    for (place, log) in places.into_iter().zip(logs) {
        let client = client(&log)?;
        let workload = SubmitWorkload::of_chains(submit, chains.clone(), log, client, run).map_err(failed)?;
        made.push((place, target.logs[place].name.clone(), workload));
    }
    Ok(OnLogs { route, logs: made })
}

/// Reads of each log, in turn, or of the one that the workload names.
pub(super) fn reads(
    workload: &WorkloadPlan,
    target: &Target,
    run: &CtRun,
    client: impl Fn(&LogTarget) -> Result<ClientConfig, PlanError>,
) -> Result<OnLogs<ReadWorkload>, PlanError> {
    let read = workload.ct_read.clone().unwrap_or_default();
    let places = chosen(workload, target, &at(run))?;
    let route = LogRoute::in_turn(places.len());
    let mut made = Vec::new();
    for place in places {
        let log = target.logs[place].log.clone();
        let reads = ReadWorkload::new(&read, log.clone(), client(&log)?, run)
            .map_err(|error| PlanFault::from(error).at(at(run).key("ct_read")))?;
        made.push((place, target.logs[place].name.clone(), reads));
    }
    Ok(OnLogs { route, logs: made })
}

/// What can be said against a workload's logs without reading anything.
pub(super) fn check(workload: &WorkloadPlan, logs: &[NamedWindow], run: &CtRun) -> Result<(), PlanError> {
    if workload.http.is_some() {
        return Ok(());
    }
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    let places = places(workload, &names, &at(run))?;
    let Some(submit) = &workload.ct_submit else { return Ok(()) };
    let windows: Vec<Window> = places.iter().map(|place| logs[*place].window).collect();
    let checked = submit.check_windows(&windows, run);
    checked.map_err(|error| PlanFault::from(error).at(at(run).key("ct_submit")))
}

/// Where the plan has the workload of a run.
fn at(run: &CtRun) -> PlanPath {
    PlanPath::workload(run.workload as usize)
}

fn chosen(workload: &WorkloadPlan, target: &Target, at: &PlanPath) -> Result<Vec<usize>, PlanError> {
    let names: Vec<&str> = target.logs.iter().map(|log| log.name.as_str()).collect();
    places(workload, &names, at)
}

/// The places of the logs that the workload names, or of all.
fn places(workload: &WorkloadPlan, logs: &[&str], at: &PlanPath) -> Result<Vec<usize>, PlanError> {
    let (of, key, names) = match (&workload.ct_submit, &workload.ct_read) {
        (Some(submit), _) => ("ct_submit", "logs", submit.logs.clone()),
        (None, Some(read)) => ("ct_read", "log", read.log.iter().cloned().collect()),
        (None, None) => return Ok(Vec::new()),
    };
    if logs.is_empty() {
        return Err(PlanFault::NoLog.at(at.clone().key(of)));
    }
    if names.is_empty() {
        return Ok((0..logs.len()).collect());
    }
    let refused = |fault: PlanFault| fault.at(at.clone().key(of).key(key));
    let mut places = Vec::new();
    for name in names {
        let Some(place) = logs.iter().position(|log| *log == name) else {
            return Err(refused(PlanFault::UnknownLog(name)));
        };
        if places.contains(&place) {
            return Err(refused(PlanFault::LogTwice(name)));
        }
        places.push(place);
    }
    Ok(places)
}

/// One for each log with audited submissions, shared by the workloads, so that the log is read once.
pub(super) fn auditors(
    plan: &Plan,
    target: &Target,
    epoch_unix_ms: u64,
    evidence: &Path,
) -> Result<Vec<Option<Auditor>>, PlanError> {
    let submitted = submitted(plan, target)?;
    let auditor = |(place, log): (usize, &super::target::Log)| {
        let audited = submitted[place].iter().filter(|submit| submit.audit);
        let every = audited.map(|submit| submit.audit_interval).min()?;
        let client = plan.target.client(log.log.monitoring.clone(), 1, plan.seed);
        let auditor = Auditor::new(&log.name, log.log.clone(), client, epoch_unix_ms);
        Some(auditor.every(every).folder(evidence.to_owned()))
    };
    Ok(target.logs.iter().enumerate().map(auditor).collect())
}

/// Who looks at each log that chains are submitted to, or whose tree may end the run.
pub(super) fn observers(
    plan: &Plan,
    target: &Target,
    auditors: Vec<Option<Auditor>>,
) -> Result<Vec<Box<dyn Observer>>, PlanError> {
    let submitted = submitted(plan, target)?;
    let mut observers: Vec<Box<dyn Observer>> = Vec::new();
    let logs = target.logs.iter().zip(auditors).zip(submitted);
    for ((log, auditor), _) in logs.filter(|(_, submitted)| !submitted.is_empty() || plan.stop.is_some()) {
        let client = || plan.target.client(log.log.monitoring.clone(), 1, plan.seed);
        let observer: Box<dyn Observer> = match auditor {
            // It follows the tree as well.
            Some(auditor) => Box::new(auditor),
            None => Box::new(TreeSizeObserver::new(&log.name, log.log.clone(), client())),
        };
        observers.push(match target.logs.len() {
            1 => observer,
            _ => Box::new(Named::new(&log.name, observer)),
        });
    }
    Ok(observers)
}

/// The submissions to each log.
fn submitted<'a>(plan: &'a Plan, target: &Target) -> Result<Vec<Vec<&'a SubmitPlan>>, PlanError> {
    let mut submitted: Vec<Vec<&SubmitPlan>> = target.logs.iter().map(|_| Vec::new()).collect();
    for (place, workload) in plan.workloads.iter().enumerate() {
        let Some(submit) = &workload.ct_submit else { continue };
        for place in chosen(workload, target, &PlanPath::workload(place))? {
            submitted[place].push(submit);
        }
    }
    Ok(submitted)
}

//! Certificate Transparency in plans: logs, chains submitted to them, and reads of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use hammer_audit::MOST_LINKS;
use hammer_core::dispatch::LanePlan;
use hammer_core::observe::{Named, Observer};
use hammer_core::run::StopRule;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_ct::{Auditor, CtRun, LOG_FORKED, RootsWatch, SubmitPlan, Window};
use hammer_measure::headline::Headline;
use http::Uri;

use super::lab::Lab;
use super::lane::LaneRequest;
use super::service::OpenService;
use super::{OpenProtocol, Protocol, RunPlan};
use crate::error::CliError;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::grammar::StopKey;
use crate::plan::path::PlanPath;
use crate::plan::section::Section;
use crate::plan::{Plan, WorkloadPlan};
use crate::tui::spec::{PanelSide, PanelSpec, ProtocolPage};

mod fault;
mod lanes;
pub(crate) mod opened;
pub(crate) mod panel;
mod places;
pub(crate) mod preflight;
pub(crate) mod roots;
pub(crate) mod sections;
pub(crate) mod written;

use fault::LogFault;
use opened::OpenLog;
use panel::{PAGE, PANEL, side};
use places::places;
use preflight::RootlessLog;
use sections::{SUBMIT, TREE_SIZE, all, read, submission};
use written::NamedWindow;

/// The protocol.
pub(crate) struct Ct;

impl Protocol for Ct {
    fn sections(&self) -> Vec<Section> {
        all()
    }

    fn stop_keys(&self) -> Vec<StopKey> {
        let of_tree = |key, grown, description| StopKey {
            key,
            observation: TREE_SIZE,
            grown,
            description,
            needs: NO_TREE,
        };
        vec![
            of_tree(TREE_SIZE, false, "The size that the log's tree reaches."),
            of_tree("tree_growth", true, GROWTH_IS),
        ]
    }

    fn will_observe(&self, plan: &Plan, observation: &str) -> bool {
        observation == TREE_SIZE && written::has_log(plan)
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        let windows = written::windows(planned.plan, planned.epoch_unix_ms)?;
        let mut audited = 0;
        for (place, workload) in planned.plan.workloads.iter().enumerate() {
            check_workload(planned, place, workload, &windows)?;
            audited += usize::from(submission(workload).is_some_and(|submit| submit.audit));
            if audited > MOST_LINKS {
                return Err(
                    PlanFault::said(LogFault::TooManyAudited).at(PlanPath::workload(place).key(SUBMIT))
                );
            }
        }
        Ok(())
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        let (logs, labs) = opened::opened(planned.plan, planned.epoch_unix_ms)?;
        Ok(Box::new(OpenCt::of(planned, logs, labs)?))
    }

    fn panel(&self) -> Option<PanelSpec> {
        Some(PANEL)
    }

    fn page(&self) -> Option<ProtocolPage> {
        Some(PAGE)
    }

    fn side(&self, workload: &WorkloadPlan) -> PanelSide {
        side(workload)
    }

    fn notes(&self, plan: &Plan) -> Vec<String> {
        let invalid = |workload: &WorkloadPlan| {
            let submit = submission(workload)?;
            (submit.invalid_percent.is_any()).then(|| format!("{}: {INVALID_NOTE}", workload.name))
        };
        let fixed = |workload: &WorkloadPlan| {
            let submit = submission(workload)?;
            let is_silent = submit.has_fixed_dates() && !submit.resubmitted;
            is_silent.then(|| format!("{}: {FIXED_DATES_NOTE}", workload.name))
        };
        let of = |workload| [invalid(workload), fixed(workload)];
        plan.workloads.iter().flat_map(of).flatten().collect()
    }
}

/// What a run has of it.
struct OpenCt<'a> {
    logs: Vec<OpenLog>,
    labs: Vec<Box<dyn Lab>>,
    /// The submissions to each log.
    submitted: Vec<Vec<&'a SubmitPlan>>,
    /// One for each log that workloads go to, or whose tree may end the run, shared by all of them: so that the log is read once, and what it
    /// shows to one is held against what it shows to another.
    auditors: Vec<Option<Auditor>>,
    /// Those of the logs that say they take no root.
    rootless: Vec<Option<RootlessLog>>,
    /// What was found before the run.
    found: Vec<String>,
}

impl<'a> OpenCt<'a> {
    fn of(
        planned: &RunPlan<'a>,
        logs: Vec<OpenLog>,
        labs: Vec<Box<dyn Lab>>,
    ) -> Result<OpenCt<'a>, PlanError> {
        let submitted = submitted(planned.plan, &logs)?;
        let auditors = auditors(planned, &logs, &submitted)?;
        let rootless = vec![None; logs.len()];
        Ok(OpenCt { logs, labs, submitted, auditors, rootless, found: Vec::new() })
    }
}

impl OpenProtocol for OpenCt<'_> {
    fn endpoints(&self) -> Vec<Uri> {
        self.logs.iter().flat_map(OpenLog::endpoints).collect()
    }

    /// Beside logs without names, requests go where chains are sent; a named log is reached by workloads of logs alone.
    fn services(&self) -> Vec<OpenService> {
        let unnamed = self.logs.iter().filter(|log| log.service.is_none());
        unnamed.map(|log| OpenService { name: None, endpoints: log.log.submission.clone() }).collect()
    }

    fn observes(&self) -> bool {
        !self.logs.is_empty()
    }

    fn describe(&mut self, planned: &RunPlan<'_>) -> Result<(), CliError> {
        if planned.plan.target.preflight != Some(false) {
            let are_loaded: Vec<bool> = self.auditors.iter().map(Option::is_some).collect();
            let looked = preflight::look(planned.plan, &self.logs, (&self.submitted, &are_loaded))?;
            (self.rootless, self.found) = (looked.rootless, looked.notes);
        }
        Ok(())
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.found)
    }

    fn take_labs(&mut self) -> Vec<Box<dyn Lab>> {
        std::mem::take(&mut self.labs)
    }

    fn reopened<'b>(&self, planned: &RunPlan<'b>) -> Result<Box<dyn OpenProtocol + 'b>, CliError> {
        Ok(Box::new(OpenCt::of(planned, self.logs.clone(), Vec::new())?))
    }

    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
        if let Some(submit) = submission(lane.workload) {
            return lanes::submissions(submit, &self.logs, (&mut self.auditors, &self.rootless), lane);
        }
        let read = read(lane.workload).cloned().unwrap_or_default();
        lanes::reads(&read, &self.logs, &self.auditors, lane)
    }

    fn observed(&self, observation: &str) -> Vec<String> {
        (0..self.logs.len()).map(|log| self.observation(log, observation)).collect()
    }

    fn stops(&self) -> Vec<StopRule> {
        // What a forked log accepts from then on says nothing.
        let followed = (0..self.logs.len()).filter(|log| self.auditors[*log].is_some());
        followed.map(|log| StopRule::at_least(self.observation(log, LOG_FORKED), 1.0)).collect()
    }

    fn headlines(&self) -> Vec<Headline> {
        if self.logs.is_empty() { Vec::new() } else { vec![Headline::size(TREE_SIZE, "tree size")] }
    }

    fn observers(self: Box<Self>) -> Result<Vec<Box<dyn Observer>>, PlanError> {
        let several = self.logs.len() > 1;
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        for ((log, auditor), rootless) in self.logs.iter().zip(self.auditors).zip(self.rootless) {
            let auditor = auditor.map(|auditor| -> Box<dyn Observer> { Box::new(auditor) });
            let roots = rootless.map(|RootlessLog { place, accepted }| -> Box<dyn Observer> {
                Box::new(RootsWatch::new(&log.name, place, accepted))
            });
            observers.extend(auditor.into_iter().chain(roots).map(|observer| match several {
                true => Box::new(Named::new(&log.name, observer)),
                false => observer,
            }));
        }
        Ok(observers)
    }
}

impl OpenCt<'_> {
    /// What an observation of that log is called.
    fn observation(&self, log: usize, name: &str) -> String {
        match self.logs.as_slice() {
            [_] => name.to_owned(),
            logs => format!("{}/{name}", logs[log].name),
        }
    }
}

/// The client of whoever reads a log beside the load.
fn reader(plan: &Plan, log: &OpenLog) -> Result<hammer_net::ClientConfig, PlanError> {
    plan.target.client(log.service.as_deref(), log.log.monitoring.clone(), 1, plan.seed)
}

fn auditors(
    planned: &RunPlan<'_>,
    logs: &[OpenLog],
    submitted: &[Vec<&SubmitPlan>],
) -> Result<Vec<Option<Auditor>>, PlanError> {
    let read = read_logs(planned.plan, logs)?;
    let is_watched = stops_by_log(planned.plan);
    let auditor = |(place, (log, submitted)): (usize, (&OpenLog, &Vec<&SubmitPlan>))| {
        if submitted.is_empty() && !is_watched && !read.contains(&place) {
            return Ok(None);
        }
        let (client, epoch) = (reader(planned.plan, log)?, planned.epoch_unix_ms);
        let audited = submitted.iter().filter(|submit| submit.audit);
        let auditor = match audited.map(|submit| submit.audit_interval).min() {
            Some(every) => Auditor::new(&log.name, log.log.clone(), client, epoch).every(every),
            None => Auditor::of_heads(&log.name, log.log.clone(), client, epoch),
        };
        Ok(Some(auditor.folder(planned.evidence.to_owned())))
    };
    logs.iter().zip(submitted).enumerate().map(auditor).collect()
}

/// The places of the logs that workloads read.
fn read_logs(plan: &Plan, logs: &[OpenLog]) -> Result<BTreeSet<usize>, PlanError> {
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    let mut found = BTreeSet::new();
    for (place, workload) in
        plan.workloads.iter().enumerate().filter(|(_, workload)| read(workload).is_some())
    {
        found.extend(places(workload, &names, place)?);
    }
    Ok(found)
}

/// The submissions to each log.
fn submitted<'a>(plan: &'a Plan, logs: &[OpenLog]) -> Result<Vec<Vec<&'a SubmitPlan>>, PlanError> {
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    let mut submitted: Vec<Vec<&SubmitPlan>> = logs.iter().map(|_| Vec::new()).collect();
    for (place, workload) in plan.workloads.iter().enumerate() {
        let Some(submit) = submission(workload) else { continue };
        for place in places(workload, &names, place)? {
            submitted[place].push(submit);
        }
    }
    Ok(submitted)
}

/// What can be said against a workload's logs, and what it sends there, without reading anything.
fn check_workload(
    planned: &RunPlan<'_>,
    place: usize,
    workload: &WorkloadPlan,
    logs: &[NamedWindow],
) -> Result<(), PlanError> {
    let refused = |error| PlanFault::failed(error).at(PlanPath::workload(place).key(SUBMIT));
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    let places = places(workload, &names, place)?;
    let Some(submit) = submission(workload) else { return Ok(()) };
    let windows: Vec<Window> = places.iter().map(|place| logs[*place].window).collect();
    let (seed, epoch_unix_ms) = (planned.plan.seed, planned.epoch_unix_ms);
    let run = CtRun { seed, epoch_unix_ms, workload: place as u64 };
    submit.check_windows(&windows, &run).map_err(refused)
}

/// Whether a key of `stop` is about logs.
fn stops_by_log(plan: &Plan) -> bool {
    let known = Ct.stop_keys();
    plan.stop.iter().flat_map(|stop| stop.0.keys()).any(|key| known.iter().any(|known| known.key == key))
}

const NO_TREE: &str = "it needs a log: give target.log, target.logs, target.services.NAME.log, target.lab.ct or target.lab.logs, \
                       or flows of sigstore_sign or sigstore_mixed whose Rekor is audited";
const GROWTH_IS: &str =
    "The leaves by which the log's tree grows beyond the size that is seen first, whoever adds them.";
const FIXED_DATES_NOTE: &str = "its leaves have fixed dates, so that every run of the plan sends the same ones: they count as resubmitted, \
                                and an SCT may be old (dates in days, as -30d, make new ones)";
const INVALID_NOTE: &str = "a part of what is sent is wrong on purpose (series invalid and observed): refused is right in \
                            invalid, and accepted there is a broken promise";

//! Workloads on the logs of a run, on one or on several of them.

use std::sync::Arc;

use hammer_core::compose::Routed;
use hammer_core::dispatch::LanePlan;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_core::workload::Workload;
use hammer_ct::{
    Auditor, Chains, CtError, CtRun, LogRoute, LogTarget, ReadPlan, ReadWorkload, SubmitPlan, SubmitWorkload,
};

use super::opened::OpenLog;
use super::places::places;
use super::preflight::RootlessLog;
use super::sections::{READ, SUBMIT};
use crate::plan::error::{PlanError, PlanFault};
use crate::protocol::lane::LaneRequest;

/// A workload for each log that it goes to, and which operation goes where.
struct OnLogs<W> {
    route: LogRoute,
    /// The log's place and name.
    logs: Vec<(usize, String, W)>,
}

impl<W: Workload> OnLogs<W> {
    /// With another workload for each log, by its place.
    fn map(self, mut change: impl FnMut(usize, W) -> W) -> Self {
        let logs = self.logs.into_iter();
        Self { logs: logs.map(|(log, name, made)| (log, name, change(log, made))).collect(), ..self }
    }

    fn load(mut self, lane: LaneRequest<'_>) -> Arc<dyn LanePlan<ThreadedRuntime>> {
        match self.logs.pop() {
            Some((_, _, only)) if self.logs.is_empty() => lane.with(only),
            last => {
                let logs = self.logs.into_iter().chain(last).map(|(_, name, made)| (name, made));
                lane.with(Routed::new(self.route, logs.collect()))
            }
        }
    }
}

/// Submissions to each log that the workload names, told to the auditors of those logs.
///
/// # Errors
/// When the chains cannot be made, or fit no log.
pub(super) fn submissions(
    submit: &SubmitPlan,
    logs: &[OpenLog],
    (auditors, rootless): (&mut [Option<Auditor>], &[Option<RootlessLog>]),
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let failed = |error: CtError| PlanFault::failed(error).at(lane.at(SUBMIT));
    let run = run(&lane);
    let places = chosen(logs, &lane)?;
    let chosen: Vec<Arc<LogTarget>> = places.iter().map(|place| logs[*place].log.clone()).collect();
    let chains = Arc::new(Chains::new(submit, &run).map_err(failed)?);
    let route = LogRoute::by_not_after(chains.clone(), &chosen).map_err(failed)?;
    let mut made = Vec::new();
    for (place, log) in places.into_iter().zip(chosen) {
        let client = lane.client(logs[place].service.as_deref(), &log.submission)?;
        let workload =
            SubmitWorkload::of_chains(submit, chains.clone(), log, client, &run).map_err(failed)?;
        made.push((place, logs[place].name.clone(), workload));
    }
    let (warm_up, name) = (lane.warm_up, lane.workload.name.as_str());
    let each = OnLogs { route, logs: made }.map(|log, made| {
        let made = made.warm_up(warm_up).of_service(&logs[log].name);
        let made = match &rootless[log] {
            Some(rootless) => made.noting(rootless.accepted.clone()),
            None => made,
        };
        match auditors[log].as_mut().filter(|_| submit.audit) {
            Some(auditor) => made.audited(auditor.link(name)),
            None => made,
        }
    });
    Ok(each.load(lane))
}

/// Reads of each log, in turn, or of the one that the workload names.
///
/// # Errors
/// When a log has none of what is to be read.
pub(super) fn reads(
    read: &ReadPlan,
    logs: &[OpenLog],
    auditors: &[Option<Auditor>],
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let places = chosen(logs, &lane)?;
    let route = LogRoute::in_turn(places.len());
    let mut made = Vec::new();
    for place in places {
        let log = logs[place].log.clone();
        let client = lane.client(logs[place].service.as_deref(), &log.monitoring)?;
        let reads = ReadWorkload::new(read, log, client, &run(&lane))
            .map_err(|error| PlanFault::failed(error).at(lane.at(READ)))?;
        let reads = match &auditors[place] {
            Some(auditor) => reads.heads(auditor.heads()),
            None => reads,
        };
        made.push((place, logs[place].name.clone(), reads));
    }
    let warm_up = lane.warm_up;
    Ok(OnLogs { route, logs: made }
        .map(|log, made| made.warm_up(warm_up).of_service(&logs[log].name))
        .load(lane))
}

fn run(lane: &LaneRequest<'_>) -> CtRun {
    let planned = lane.planned;
    CtRun { seed: planned.plan.seed, epoch_unix_ms: planned.epoch_unix_ms, workload: lane.place as u64 }
}

fn chosen(logs: &[OpenLog], lane: &LaneRequest<'_>) -> Result<Vec<usize>, PlanError> {
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    places(lane.workload, &names, lane.place)
}

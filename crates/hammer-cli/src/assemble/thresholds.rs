//! The thresholds of a plan: where each applies, and whether what it names is there.

use std::sync::Arc;

use hammer_core::dispatch::LanePlan;
use hammer_core::run::{Scope, ScopedThreshold};
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_values::{TimeSpan, ValueError};

use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::threshold::{FullThreshold, ThresholdPlan};
use crate::plan::{Plan, WorkloadPlan};
use crate::protocol::is_of_tokens;

/// All of them, those of the run first.
pub(super) fn thresholds(plan: &Plan) -> Vec<ScopedThreshold> {
    placed(plan).map(|(_, workload, threshold)| scoped(threshold, workload)).collect()
}

/// What can be said against them while no series is known: that one is of a workload which is not measured, looks at no time, or is to end the
/// run by more than it measures.
///
/// # Errors
/// The first that is found, where it stands.
pub(super) fn check_workloads(plan: &Plan) -> Result<(), PlanError> {
    for (at, workload, threshold) in placed(plan) {
        let full = threshold.full();
        let over = full.judged_over();
        if let Some(measurement) = plan.phases.measurement
            && full.abort_on_fail
            && !full.expect.threshold().adds_up()
            && over > measurement
        {
            let why = format!(
                "abort_on_fail never acts: it judges the last {over}, and the measurement is of {measurement}; give a shorter window"
            );
            return Err(PlanFault::Misfit(why).at(at));
        }
        let FullThreshold { series, window, .. } = full;
        if window == Some(TimeSpan::ZERO) {
            return Err(PlanFault::Misfit(ValueError::below("1ns").to_string()).at(at.key("window")));
        }
        if series.is_none() && workload.is_some_and(|workload| plan.only_fills(workload)) {
            return Err(PlanFault::Misfit(ONLY_FILLS.to_owned()).at(at));
        }
        let Some(series) = series else { continue };
        let of = series.split('/').next().unwrap_or_default();
        if !is_of_tokens(of) && plan.measured().all(|(_, workload)| workload.name.as_str() != of) {
            let names: Vec<&str> = plan.measured().map(|(_, workload)| workload.name.as_str()).collect();
            let why = format!("`{series}` is no series of a workload that is measured: {}", names.join(", "));
            return Err(PlanFault::Misfit(why).at(at.key("series")));
        }
    }
    Ok(())
}

/// Whether each series that one is held against is one of these lanes.
///
/// # Errors
/// The first that is not there, where it stands, with those that are.
pub(super) fn check_series(
    plan: &Plan,
    lanes: &[Arc<dyn LanePlan<ThreadedRuntime>>],
) -> Result<(), PlanError> {
    let of_lane = |lane: &Arc<dyn LanePlan<ThreadedRuntime>>| {
        let workload = lane.workload().to_owned();
        lane.series().into_iter().map(move |series| format!("{workload}/{}", series.name)).collect::<Vec<_>>()
    };
    let known: Vec<String> = lanes.iter().flat_map(of_lane).collect();
    for (at, _, threshold) in placed(plan) {
        if let Some(series) = threshold.full().series.filter(|series| !known.contains(series)) {
            let why = format!("there is no series `{series}`; the run has {}", known.join(", "));
            return Err(PlanFault::Misfit(why).at(at.key("series")));
        }
    }
    Ok(())
}

/// Each with where it stands and whose it is.
fn placed(plan: &Plan) -> impl Iterator<Item = (PlanPath, Option<&WorkloadPlan>, &ThresholdPlan)> {
    let of_run = plan.thresholds.iter().enumerate();
    let of_run = of_run.map(|(item, threshold)| (PlanPath::of("thresholds").item(item), None, threshold));
    let of_workloads = plan.workloads.iter().enumerate().flat_map(|(place, workload)| {
        let at = move |item| PlanPath::workload(place).key("thresholds").item(item);
        let thresholds = workload.thresholds.iter().enumerate();
        thresholds.map(move |(item, threshold)| (at(item), Some(workload), threshold))
    });
    of_run.chain(of_workloads)
}

/// A threshold of a workload, or of the run.
fn scoped(threshold: &ThresholdPlan, workload: Option<&WorkloadPlan>) -> ScopedThreshold {
    let full = threshold.full();
    let window = full.judged_over().duration().into();
    let FullThreshold { expect, series, grace, abort_on_fail, .. } = full;
    let scope = match (series, workload) {
        (Some(series), _) => Scope::Series(series),
        (None, Some(workload)) => Scope::Workload(workload.name.to_string()),
        (None, None) => Scope::Total,
    };
    ScopedThreshold {
        scope,
        threshold: expect.threshold(),
        grace: grace.unwrap_or_default().duration().into(),
        window,
        abort_on_fail,
    }
}

const ONLY_FILLS: &str = "the workload fills and is not measured: nothing can be expected of it";

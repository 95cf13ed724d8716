//! `--smoke`: any plan, shortened in proportion.

use hammer_report::summary::RunOrder;
use hammer_values::{Count, TimeSpan};

use super::Plan;
use super::load::scaled;
use super::threshold::ThresholdPlan;

/// Shortens warm-up, measurement, ramps, steps, stages, the instants of hooks, the time at rest and counts alike, so that the load takes about five seconds, behind
/// a fill of 200 operations at most.
/// Rates, limits and drain stay; one round is done. A sweep has the first, the middle and the last of its values, where rounds come
/// first there are two of them, and each run of these takes a second.
pub(crate) fn shorten(plan: &mut Plan) {
    let has_several_runs = shorten_runs(plan);
    let measurement = plan.phases.measurement.unwrap_or_default();
    let whole = plan.phases.warm_up.duration().saturating_add(measurement.duration()).as_secs_f64();
    let smoke = if has_several_runs { SMOKE_OF_SEVERAL } else { SMOKE }.duration().as_secs_f64();
    let factor = if whole > smoke { smoke / whole } else { 1.0 };
    plan.phases.warm_up = plan.phases.warm_up.scaled(factor);
    plan.phases.measurement = plan.phases.measurement.map(|span| span.scaled(factor));
    if let Some(stop) = &mut plan.stop {
        stop.0.values_mut().for_each(|number| *number = scaled(*number, factor));
    }
    plan.hooks.at.iter_mut().for_each(|hook| hook.at = hook.at.scaled(factor));
    if let Some(resources) = &mut plan.resources {
        resources.idle = resources.idle.scaled(factor);
    }
    if let Some(fill) = &mut plan.fill {
        let operations = scaled(fill.operations.get() as u64, factor).min(MOST_FILLED);
        fill.operations = Count::at_least_one(operations as usize);
    }
    shorten_graces(&mut plan.thresholds, factor);
    for workload in &mut plan.workloads {
        workload.load.shorten(factor);
        shorten_graces(&mut workload.thresholds, factor);
    }
}

/// Leaves out rounds and swept values; whether several runs are left.
fn shorten_runs(plan: &mut Plan) -> bool {
    let is_ordered = plan.order == RunOrder::RoundsFirst;
    plan.rounds = if is_ordered { plan.rounds.min(Count::at_least_one(2)) } else { Count::ONE };
    let swept = std::mem::take(&mut plan.sweep).into_iter();
    plan.sweep = swept.map(|(key, values)| (key, values.ends_and_middle())).collect();
    plan.rounds > Count::ONE || plan.sweep.values().any(|values| values.len() > 1)
}

fn shorten_graces(thresholds: &mut [ThresholdPlan], factor: f64) {
    for threshold in thresholds {
        if let ThresholdPlan::Full(full) = threshold {
            full.grace = full.grace.map(|grace| grace.scaled(factor));
        }
    }
}

/// Operations of a fill, whose length is not known beforehand.
const MOST_FILLED: u64 = 200;
const SMOKE: TimeSpan = TimeSpan::from_secs(5);
/// Of each run of several.
const SMOKE_OF_SEVERAL: TimeSpan = TimeSpan::from_secs(1);

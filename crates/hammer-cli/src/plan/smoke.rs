//! `--smoke`: any plan, shortened in proportion.

use hammer_values::{Count, TimeSpan};

use super::Plan;
use super::load::scaled;
use super::threshold::ThresholdPlan;

/// Shortens warm-up, measurement, ramps, steps, stages, the instants of hooks, the time at rest and counts alike, so that the load takes about five seconds, behind
/// a fill of 200 operations at most.
/// Rates, limits and drain stay; one round is done.
pub(crate) fn shorten(plan: &mut Plan) {
    let measurement = plan.phases.measurement.unwrap_or_default();
    let whole = plan.phases.warm_up.duration().saturating_add(measurement.duration()).as_secs_f64();
    let smoke = SMOKE.duration().as_secs_f64();
    let factor = if whole > smoke { smoke / whole } else { 1.0 };
    plan.rounds = Count::ONE;
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

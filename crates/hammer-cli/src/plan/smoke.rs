//! `--smoke`: any plan, shortened in proportion.

use hammer_measure::Nanos;

use super::load::scaled;
use super::{Plan, ThresholdPlan};

/// Shortens warm-up, measurement, ramps, steps, stages and counts alike, so that the load takes about five seconds.
/// Rates, limits and drain stay; one round is done.
pub(crate) fn shorten(plan: &mut Plan) {
    let whole =
        plan.phases.warm_up.0.saturating_add(plan.phases.measurement.map_or(Nanos::ZERO, |span| span.0));
    let factor = if whole > SMOKE { SMOKE.as_secs_f64() / whole.as_secs_f64() } else { 1.0 };
    plan.rounds = 1;
    plan.phases.warm_up = plan.phases.warm_up.scaled(factor);
    plan.phases.measurement = plan.phases.measurement.map(|span| span.scaled(factor));
    if let Some(stop) = &mut plan.stop {
        stop.tree_size = stop.tree_size.map(|size| scaled(size, factor));
        stop.tree_growth = stop.tree_growth.map(|leaves| scaled(leaves, factor));
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

const SMOKE: Nanos = Nanos::from_secs(5);

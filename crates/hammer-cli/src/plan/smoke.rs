//! `--smoke`: any plan, shortened in proportion.

use hammer_report::summary::RunOrder;
use hammer_values::{Count, TimeSpan};

use serde_json::Value;

use super::Plan;
use super::error::PlanError;
use super::grammar::PlanGrammar;
use super::load::scaled;
use super::path::PlanPath;
use super::section::SectionPlace;
use super::threshold::ThresholdPlan;

/// Shortens warm-up, measurement, intervals, ramps, steps, stages, the instants of hooks and of what embedded targets do by their scripts, the
/// time at rest and counts alike, so that the load takes about five seconds, behind
/// a fill of 200 operations at most.
/// Rates, limits and drain stay; one round is done. A sweep has the first, the middle and the last of its values, where rounds come
/// first there are two of them, and each run of these takes a second. What nothing but a signal would end is measured for five.
///
/// # Errors
/// When the script of an embedded target cannot be shortened.
pub(crate) fn shorten(plan: &mut Plan, grammar: &PlanGrammar) -> Result<(), PlanError> {
    let has_several_runs = shorten_runs(plan);
    if plan.is_endless() {
        plan.phases.measurement = Some(SMOKE);
    }
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
        resources.saturation.iter_mut().for_each(|of| of.length = of.length.scaled(factor));
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
    if factor < 1.0 {
        // Figures of a second each would tell nothing of what happens within one.
        plan.interval = plan.interval.shortened(factor);
    }
    if let Some(lab) = plan.target.lab.as_mut().filter(|_| factor < 1.0) {
        let (at, sections) = (PlanPath::of("target.lab"), grammar.at(SectionPlace::Lab));
        lab.kind = lab.kind.changed(&at, sections, |settings| shorten_script(settings, factor))?;
    }
    Ok(())
}

/// Shortens the instants and spans of what an embedded target does at some time, wherever they stand in its settings.
fn shorten_script(settings: &mut Value, factor: f64) {
    match settings {
        Value::Array(items) => items.iter_mut().for_each(|item| shorten_script(item, factor)),
        Value::Object(keys) => {
            for (key, value) in keys {
                let time = value.as_str().filter(|_| SCRIPTED.contains(&key.as_str()));
                match time.and_then(|text| text.parse::<TimeSpan>().ok()) {
                    Some(time) => *value = time.scaled(factor).to_string().into(),
                    None => shorten_script(value, factor),
                }
            }
        }
        _ => {}
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
            if full.abort_on_fail && factor < 1.0 {
                full.window = Some(full.judged_over().scaled(factor));
            }
        }
    }
}

/// Keys of embedded targets that say when something happens, or for how long.
const SCRIPTED: [&str; 4] = ["at", "duration", "down", "ready_after"];
/// Operations of a fill, whose length is not known beforehand.
const MOST_FILLED: u64 = 200;
const SMOKE: TimeSpan = TimeSpan::from_secs(5);
/// Of each run of several.
const SMOKE_OF_SEVERAL: TimeSpan = TimeSpan::from_secs(1);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_embedded_target_does_at_some_time_it_does_earlier_and_for_less() {
        let mut settings = json!({
            "faults": {
                "rules": [ { "at": "100s", "duration": "20s", "refuse": { "share": 0.4 }, "latency": { "constant": "8ms" },
                             "stalls": [ { "at": "50s", "duration": "1s" } ], "throttle": [ { "period": "100ms" } ] } ],
                "restarts": [ { "at": "200s", "down": "10s" } ],
            },
            "starts_late": { "ready_after": "40s" },
            "session_ttl": "150s",
        });
        shorten_script(&mut settings, 0.01);
        let expected = json!({
            "faults": {
                "rules": [ { "at": "1s", "duration": "200ms", "refuse": { "share": 0.4 }, "latency": { "constant": "8ms" },
                             "stalls": [ { "at": "500ms", "duration": "10ms" } ], "throttle": [ { "period": "100ms" } ] } ],
                "restarts": [ { "at": "2s", "down": "100ms" } ],
            },
            "starts_late": { "ready_after": "400ms" },
            "session_ttl": "150s",
        });
        assert_eq!(settings, expected);
    }
}

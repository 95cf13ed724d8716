//! Rounds and sweeps: the runs that one plan asks for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Plan;
use super::read::{apply, typed};
use crate::error::CliError;

/// One run of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRun {
    /// What it is: the round, and the value of each swept key.
    pub(crate) labels: BTreeMap<String, Value>,
    /// The plan that it carries out.
    pub(crate) plan: Plan,
}

/// Every combination of swept values, in the order of the keys, each as often as there are rounds.
///
/// # Errors
/// When a swept key does not exist or a value does not fit it.
pub(crate) fn runs(plan: &Plan) -> Result<Vec<PlannedRun>, CliError> {
    if plan.rounds == 0 {
        return Err(CliError::plan("use the plan: rounds: it must be 1 at least"));
    }
    let mut combinations = vec![BTreeMap::new()];
    for (key, values) in &plan.sweep {
        if values.is_empty() {
            return Err(CliError::plan(format!("sweep {key}: it has no value")));
        }
        let with = |labels: &BTreeMap<String, Value>| {
            let one = |value: &Value| {
                let mut labels = labels.clone();
                labels.insert(key.clone(), value.clone());
                labels
            };
            values.iter().map(one).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(with).collect();
    }
    let mut runs = Vec::new();
    for labels in &combinations {
        let swept = swept(plan, labels)?;
        for round in 1..=plan.rounds {
            let mut labels = labels.clone();
            if plan.rounds > 1 {
                labels.insert("round".to_owned(), round.into());
            }
            runs.push(PlannedRun { labels, plan: swept.clone() });
        }
    }
    Ok(runs)
}

fn swept(plan: &Plan, labels: &BTreeMap<String, Value>) -> Result<Plan, CliError> {
    let mut value =
        serde_json::to_value(plan).map_err(|error| CliError::plan(format!("write the plan: {error}")))?;
    value["sweep"] = Value::Object(serde_json::Map::new());
    value["rounds"] = 1.into();
    for (key, swept) in labels {
        apply(&mut value, &swept_path(plan, key), swept.clone())
            .map_err(|reason| CliError::plan(format!("sweep {key}: {reason}")))?;
    }
    typed(value).map_err(|(path, message)| CliError::plan(format!("sweep: {path}: {message}")))
}

/// `users` alone is that of the only workload, as short sweeps write it.
fn swept_path(plan: &Plan, key: &str) -> String {
    const OF_LOAD: [&str; 4] = ["users", "rate", "think", "operations"];
    match OF_LOAD.contains(&key) && plan.workloads.len() == 1 {
        true => format!("workloads.0.load.{key}"),
        false => key.to_owned(),
    }
}

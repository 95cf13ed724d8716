//! The seeds of a plan by rounds, so that no two rounds draw the same.

use serde_json::Value;

use crate::plan::Plan;

/// What a plan draws by: its own seed, and those of the scripted faults of embedded targets.
#[derive(Debug)]
pub(super) struct PlanSeeds(Vec<(String, u64)>);

impl PlanSeeds {
    /// Those of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let mut all = vec![(SEED.to_owned(), plan.seed)];
        let target = serde_json::to_value(&plan.target).unwrap_or_default();
        of_faults(&target, "target", &mut all);
        Self(all)
    }

    /// What `--set` has to change for that round, from 1 on; nothing for the first.
    pub(super) fn of_round(&self, round: u32) -> Vec<String> {
        let more = u64::from(round) - 1;
        let changed = self.0.iter().filter(|_| more > 0);
        changed.map(|(key, seed)| format!("{key}={}", seed.wrapping_add(more))).collect()
    }
}

/// Seeds of faults that have rules, wherever they stand. What has a dot in its name cannot be told to `--set`.
fn of_faults(value: &Value, path: &str, all: &mut Vec<(String, u64)>) {
    let Some(keys) = value.as_object() else { return };
    for (key, inner) in keys.iter().filter(|(key, _)| !key.contains('.')) {
        let path = format!("{path}.{key}");
        let has_rules = inner["rules"].as_array().is_some_and(|rules| !rules.is_empty());
        match inner[SEED].as_u64() {
            Some(seed) if key == "faults" && has_rules => all.push((format!("{path}.{SEED}"), seed)),
            _ => of_faults(inner, &path, all),
        }
    }
}

const SEED: &str = "seed";

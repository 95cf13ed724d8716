//! The runs of a sweep by the loads that it has them with.

use std::collections::BTreeMap;

use serde_json::Value;

use super::run::SummaryRun;

/// Runs that differ in the swept key alone, and in their round.
pub(super) struct SweptGroup<'a> {
    /// The values of the other swept keys.
    pub(super) at: BTreeMap<String, Value>,
    pub(super) runs: Vec<&'a SummaryRun>,
}

/// The rounds of one value of a swept key.
pub(super) type Rounds<'a> = (&'a Value, Vec<&'a SummaryRun>);

impl<'a> SweptGroup<'a> {
    /// All runs, by the values of all keys but that one.
    pub(super) fn all(runs: &'a [SummaryRun], key: &str) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for run in runs {
            let mut at = run.labels.clone();
            at.remove(key);
            at.remove("round");
            match groups.iter_mut().find(|known| known.at == at) {
                Some(group) => group.runs.push(run),
                None => groups.push(Self { at, runs: vec![run] }),
            }
        }
        groups
    }

    /// The runs of each value of the key, in the order in which they came.
    pub(super) fn rounds(&self, key: &str) -> Vec<Rounds<'a>> {
        let mut rounds: Vec<Rounds<'a>> = Vec::new();
        for run in &self.runs {
            let Some(label) = run.labels.get(key) else { continue };
            match rounds.iter_mut().find(|(known, _)| *known == label) {
                Some((_, of_level)) => of_level.push(run),
                None => rounds.push((label, vec![run])),
            }
        }
        rounds
    }
}

/// The swept keys that say how much is sent.
pub(super) fn keys_of_load(runs: &[SummaryRun]) -> impl Iterator<Item = &String> {
    runs.first().into_iter().flat_map(|run| run.labels.keys()).filter(|key| is_of_load(key))
}

/// Whether the key says how much is sent: `users` and `rate` alone, or those of a workload's load.
pub(super) fn is_of_load(key: &str) -> bool {
    let last = key.rsplit('.').next().unwrap_or(key);
    matches!(last, "users" | "rate") && (key == last || key.starts_with("workloads."))
}

/// Whether `key` is of the workload that the series at `path` belongs to, which it names by its name or its place in the plan.
pub(super) fn is_swept(run: &SummaryRun, key: &str, path: &str) -> bool {
    let Some(which) = key.strip_prefix("workloads.").and_then(|rest| rest.split('.').next()) else {
        return true;
    };
    let workloads = workloads(run);
    let named = which.parse().ok().and_then(|place: usize| workloads.get(place).copied());
    workload(path) == which || named == Some(workload(path))
}

/// The workloads of a run, in their order.
pub(super) fn workloads(run: &SummaryRun) -> Vec<&str> {
    let mut workloads: Vec<&str> = run.series.iter().map(|series| workload(&series.path)).collect();
    workloads.dedup();
    workloads
}

/// The workload of a series.
pub(super) fn workload(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

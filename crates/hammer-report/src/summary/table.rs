//! Tables over runs: rates and response times of each series by the users, or by whatever else the runs differ in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::median::{median, median_length};
use super::run::{KeyFigures, SummaryRun};
use super::swept::{is_of_load, workload};
use crate::exit::ExitCode;
use crate::report::{Nanoseconds, SeriesKind};
use crate::verdict::Standing;

/// The runs that are alike but for their round and what the table goes by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Table {
    /// The swept values that they have in common.
    pub of: BTreeMap<String, Value>,
    /// Of each workload the operations, then the steps within them.
    pub series: Vec<TableSeries>,
}

/// One series in these runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TableSeries {
    /// `workload/name`.
    pub path: String,
    /// Whole operations, or one step within them.
    pub kind: SeriesKind,
    /// By what the table goes by: ascending where all of it are numbers, else as the runs came.
    pub rows: Vec<TableRow>,
}

/// Its figures over the measurement phase, which warm-up is no part of; of several runs, as of rounds, each is the median.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TableRow {
    /// The value of what the table goes by.
    pub at: Value,
    /// How many runs had it.
    pub runs: u64,
    /// That of the gravest reason of these runs; 5 where the figures cannot be believed.
    pub exit_code: u8,
    /// How the run stands that stands worst; one of which nothing was expected stands worse than one that passed.
    #[serde(default)]
    pub standing: Standing,
    /// Ended by an answer, a failure or their deadline, a second; `null` when no time was measured.
    pub requests_per_s: Option<f64>,
    /// Ended in any other way than accepted, a second. What was shed, starved or abandoned is none of the requests.
    pub failures_per_s: Option<f64>,
    /// Median response time; `null` when nothing ended.
    pub p50_ns: Option<Nanoseconds>,
    /// 95th percentile of the response time.
    pub p95_ns: Option<Nanoseconds>,
}

/// What tables go by where the plan does not say: the first swept load, else the only swept key where its values are numbers, else the
/// rounds, else the last swept key. `None` of runs without a swept key.
pub(super) fn axis(runs: &[SummaryRun]) -> Option<String> {
    let labels = &runs.first()?.labels;
    let swept: Vec<&String> = labels.keys().filter(|key| *key != ROUND).collect();
    let are_numbers = |key: &str| runs.iter().all(|run| run.labels.get(key).is_some_and(Value::is_number));
    let load = swept.iter().find(|key| is_of_load(key)).copied();
    let only = || match swept.as_slice() {
        [only] if are_numbers(only) => Some(*only),
        _ => None,
    };
    let round = || labels.keys().find(|key| *key == ROUND).filter(|_| !swept.is_empty());
    load.or_else(only).or_else(round).or_else(|| swept.last().copied()).cloned()
}

/// A table for each combination of swept values, without `by` itself, in the order in which they came first.
pub(super) fn tables(runs: &[SummaryRun], by: &str) -> Vec<Table> {
    let mut groups: Vec<(BTreeMap<String, Value>, Vec<PlacedRun<'_>>)> = Vec::new();
    for run in runs {
        let Some(at) = run.place(by) else { continue };
        let mut of = run.labels.clone();
        of.retain(|key, _| key != by && key != ROUND);
        match groups.iter_mut().find(|(known, _)| *known == of) {
            Some((_, of_group)) => of_group.push((at, run)),
            None => groups.push((of, vec![(at, run)])),
        }
    }
    groups.into_iter().map(|(of, runs)| Table { of, series: series(&runs) }).collect()
}

/// A run, and its value of what the tables go by.
type PlacedRun<'a> = (Value, &'a SummaryRun);

/// The figures of a series in one run.
struct OfRun<'a> {
    at: &'a Value,
    run: &'a SummaryRun,
    figures: &'a KeyFigures,
}

/// Of each workload the operations, then the steps within them.
fn series(runs: &[PlacedRun<'_>]) -> Vec<TableSeries> {
    let mut by_path: Vec<((SeriesKind, &str), Vec<OfRun<'_>>)> = Vec::new();
    for (at, run) in runs {
        let operations = run.series.iter().map(|figures| (SeriesKind::Operation, figures));
        let steps = run.steps.iter().map(|figures| (SeriesKind::Step, figures));
        for (kind, figures) in operations.chain(steps) {
            let (key, of_run) = ((kind, figures.path.as_str()), OfRun { at, run, figures });
            match by_path.iter_mut().find(|(known, _)| *known == key) {
                Some((_, of_path)) => of_path.push(of_run),
                None => by_path.push((key, vec![of_run])),
            }
        }
    }
    let workloads: Vec<&str> = by_path.iter().map(|((_, path), _)| workload(path)).collect();
    // The operations of a run come before its steps, which this order keeps.
    by_path.sort_by_key(|((_, path), _)| workloads.iter().position(|known| *known == workload(path)));
    let one = |((kind, path), runs): ((SeriesKind, &str), Vec<_>)| TableSeries {
        path: path.to_owned(),
        kind,
        rows: rows(&runs),
    };
    by_path.into_iter().map(one).collect()
}

fn rows(runs: &[OfRun<'_>]) -> Vec<TableRow> {
    let mut by_place: Vec<(&Value, Vec<&OfRun<'_>>)> = Vec::new();
    for run in runs {
        match by_place.iter_mut().find(|(known, _)| *known == run.at) {
            Some((_, of_place)) => of_place.push(run),
            None => by_place.push((run.at, vec![run])),
        }
    }
    if by_place.iter().all(|(at, _)| at.is_number()) {
        let number = |at: &Value| at.as_f64().unwrap_or(0.0);
        by_place.sort_by(|(one, _), (other, _)| number(one).total_cmp(&number(other)));
    }
    by_place.into_iter().map(|(at, runs)| TableRow::of(at, &runs)).collect()
}

impl TableRow {
    fn of(at: &Value, runs: &[&OfRun<'_>]) -> Self {
        let rate = |rate: fn(&KeyFigures) -> Option<f64>| {
            let rates: Vec<f64> = runs.iter().filter_map(|run| rate(run.figures)).collect();
            (!rates.is_empty()).then(|| median(rates))
        };
        let length = |length: fn(&KeyFigures) -> Option<Nanoseconds>| {
            median_length(runs.iter().filter_map(|run| length(run.figures)).collect())
        };
        let said = runs.iter().flat_map(|run| &run.run.verdict.reasons).map(|reason| reason.reason);
        Self {
            at: at.clone(),
            runs: runs.len() as u64,
            exit_code: ExitCode::of(said).number(),
            standing: runs.iter().map(|run| run.run.verdict.standing).max().unwrap_or_default(),
            requests_per_s: rate(|figures| figures.completed_per_s),
            failures_per_s: rate(|figures| figures.failed_per_s),
            p50_ns: length(|figures| figures.response_p50_ns),
            p95_ns: length(|figures| figures.response_p95_ns),
        }
    }
}

const ROUND: &str = "round";

#[cfg(test)]
mod tests;

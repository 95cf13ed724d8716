//! Rounds and sweeps: the runs that one plan asks for.

use std::collections::BTreeMap;

use hammer_report::summary::{RunOrder, Wording};
use hammer_values::Count;
use serde_json::Value;

use super::Plan;
use super::change::{apply, with_places};
use super::credential::holds_credential;
use super::document::PlanDocument as _;
use super::error::{PlanError, PlanFault};
use super::grammar::PlanGrammar;
use super::path::PlanPath;
use super::read::SourcedPlan;
use super::renamed::rename;
use super::source::PlanPlace;

/// One run of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRun {
    /// What it is: the round, and the value of each swept key.
    pub(crate) labels: BTreeMap<String, Value>,
    /// The plan that it carries out.
    pub(crate) plan: SourcedPlan<Plan>,
}

impl PlannedRun {
    /// What it is in words: the last part of each key, which is what a line has room for (`rate 100/s, round 2`).
    pub(crate) fn words(&self, wording: &Wording) -> String {
        let label = |(key, value): (&String, &Value)| {
            let name = key.rsplit('.').next().unwrap_or(key);
            format!("{name} {}", wording.value(key, value))
        };
        self.labels.iter().map(label).collect::<Vec<_>>().join(", ")
    }
}

/// Every combination of swept values, in the order of the keys, and all rounds, in the order that the plan asks for.
///
/// # Errors
/// When a swept key does not exist or a value does not fit it.
pub(crate) fn runs(planned: &SourcedPlan<Plan>, grammar: &PlanGrammar) -> Result<Vec<PlannedRun>, PlanError> {
    let plan = &planned.plan;
    let combined: usize = plan.sweep.values().map(|values| values.len()).fold(1, usize::saturating_mul);
    if combined.saturating_mul(plan.rounds.get()) > MOST_RUNS {
        return Err(PlanFault::TooManyRuns.at(PlanPath::of("rounds")).placed(&planned.source));
    }
    let mut combinations = vec![BTreeMap::new()];
    for (key, values) in &plan.sweep {
        if OF_ALL_RUNS.contains(&key.split('.').next().unwrap_or_default()) {
            let at = PlanPath::of("sweep").key(key);
            return Err(PlanFault::Misfit(ALL_RUNS_SWEPT.to_owned()).at(at).placed(&planned.source));
        }
        if values.iter().any(|value| holds_credential(&at_its_key(plan, key, value))) {
            let at = PlanPath::of("sweep").key(key);
            return Err(PlanFault::SweptCredential.at(at).placed(&planned.source));
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
    let swept = |labels| Ok(PlannedRun { plan: swept(planned, &labels, grammar)?, labels });
    let combinations: Vec<PlannedRun> =
        combinations.into_iter().map(swept).collect::<Result<_, PlanError>>()?;
    check_kept(planned, &combinations)?;
    Ok(in_rounds(combinations, plan.rounds, plan.order))
}

/// An embedded target that is kept is the same in all runs.
fn check_kept(planned: &SourcedPlan<Plan>, combinations: &[PlannedRun]) -> Result<(), PlanError> {
    let kept = |run: &PlannedRun| {
        let lab = run.plan.plan.target.lab.as_ref().filter(|lab| lab.keep);
        lab.map(serde_json::to_value).transpose()
    };
    let kept = combinations.iter().map(kept).collect::<Result<Vec<_>, _>>()?;
    if kept.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    let swept = planned.plan.sweep.keys().find(|key| key.split('.').next() == Some("target"));
    let at = PlanPath::of("sweep");
    let at = swept.map_or_else(|| at.clone(), |key| at.clone().key(key));
    Err(PlanFault::Misfit(KEPT_SWEPT.to_owned()).at(at).placed(&planned.source))
}

/// Each of them in every round.
fn in_rounds(combinations: Vec<PlannedRun>, rounds: Count, order: RunOrder) -> Vec<PlannedRun> {
    if rounds == Count::ONE {
        return combinations;
    }
    let in_round = |run: &PlannedRun, round: usize| {
        let mut run = run.clone();
        run.labels.insert("round".to_owned(), round.into());
        run
    };
    let (all, rounds) = (&combinations, 1..=rounds.get());
    match order {
        RunOrder::CombinationsFirst => {
            all.iter().flat_map(|run| rounds.clone().map(move |round| in_round(run, round))).collect()
        }
        RunOrder::RoundsFirst => {
            rounds.flat_map(|round| all.iter().map(move |run| in_round(run, round))).collect()
        }
    }
}

fn swept(
    planned: &SourcedPlan<Plan>,
    labels: &BTreeMap<String, Value>,
    grammar: &PlanGrammar,
) -> Result<SourcedPlan<Plan>, PlanError> {
    let mut value = serde_json::to_value(&planned.plan)?;
    let mut source = planned.source.clone();
    value["sweep"] = Value::Object(serde_json::Map::new());
    value["rounds"] = 1.into();
    // What holds another swept key is there before that, whatever they are called.
    let mut keys: Vec<(String, &String)> =
        labels.keys().map(|key| (swept_path(&planned.plan, key), key)).collect();
    keys.sort_by_key(|(path, _)| path.split('.').count());
    let mut swept_at: Vec<(PlanPath, &String)> = Vec::new();
    for (path, key) in keys {
        let swept = &labels[key];
        let at = apply(&mut value, &path, swept.clone());
        let refused = |fault| PlanFault::from(fault).at(PlanPath::of("sweep").key(key)).placed(&source);
        let at = at.map_err(refused)?;
        if let Some((_, other)) = swept_at.iter().find(|(known, _)| *known == at) {
            let fault = PlanFault::Misfit(format!("it is the key that {other} is, too"));
            return Err(fault.at(PlanPath::of("sweep").key(key)).placed(&source));
        }
        swept_at.push((at.clone(), key));
        // A sweep of a file is told with its place there, since what is wrong may be no key that the file has.
        let place = match planned.source.place(&PlanPath::of("sweep").key(key), &format!("`{key}`")) {
            PlanPlace::Line { name, line, column, .. } => format!(" ({name}:{line}:{column})"),
            PlanPlace::File { .. } | PlanPlace::Change { .. } | PlanPlace::Arguments => String::new(),
        };
        source.changed(format!("the sweep of {key} to {swept}{place}"), at.clone());
        let renamings = rename::<Plan>(&mut value, Some(&at), grammar);
        source.renamed(renamings.map_err(|error| error.placed(&source))?);
    }
    let plan = Plan::read(value, grammar).map_err(|error| error.placed(&source))?;
    Ok(SourcedPlan { plan, source })
}

/// A value under its key, as a plan has it; a place in a list is a key here.
fn at_its_key(plan: &Plan, key: &str, value: &Value) -> Value {
    let path = swept_path(plan, key);
    let keys: Vec<&str> = path.split('.').flat_map(with_places).collect();
    keys.into_iter()
        .rev()
        .fold(value.clone(), |value, key| Value::Object([(key.to_owned(), value)].into_iter().collect()))
}

/// `users` alone is that of the only workload, as short sweeps write it.
fn swept_path(plan: &Plan, key: &str) -> String {
    const OF_LOAD: [&str; 4] = ["users", "rate", "think", "operations"];
    match OF_LOAD.contains(&key) && plan.workloads.len() == 1 {
        true => format!("workloads.0.load.{key}"),
        false => key.to_owned(),
    }
}

/// Keys that say something of all runs together.
const OF_ALL_RUNS: [&str; 5] = ["rounds", "sweep", "order", "summary", "output"];
const ALL_RUNS_SWEPT: &str =
    "it is of all runs together, so that no run can have another: it cannot be swept";
const KEPT_SWEPT: &str =
    "an embedded target that is kept is one for all runs: sweep no key of it, or leave out `target.lab.keep`";
/// Runs of one plan.
const MOST_RUNS: usize = 10_000;

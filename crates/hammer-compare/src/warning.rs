//! What speaks against comparing runs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::comparison::{ComparedSeries, Comparison};
use crate::measured_run::{MeasuredRun, MeasuredSeries};
use crate::metric::Metric;
use crate::ratio::LEAST_RUNS;
use crate::sample::Sample;
use crate::variant::Variant;

/// All that does, as sentences without a full stop.
pub(crate) fn warnings(comparison: &Comparison) -> Vec<String> {
    let mut all = Vec::new();
    for variant in &comparison.variants {
        all.extend(of_variant(variant));
    }
    all.extend(repeated_runs(&comparison.variants));
    all.extend(different_tools(&comparison.variants));
    all.extend(comparison.variants.iter().filter_map(same_draws));
    all.extend(different_plans(&comparison.variants));
    all.extend(different_lengths(&comparison.variants));
    all.extend(unshared(comparison));
    for series in &comparison.series {
        all.extend(missing(comparison, series));
        let of_variants = comparison.variants.iter().filter(|_| series.is_operation());
        all.extend(of_variants.flat_map(|variant| not_accepted(variant, &series.path)));
        all.extend(repeated_rate(comparison, series));
        all.extend(thin_tails(comparison, series));
    }
    all
}

impl Variant {
    /// What speaks against holding others against it, whatever these are.
    pub fn warnings(&self) -> Vec<String> {
        let operations = self.runs.iter().flat_map(|run| &run.series).filter(|series| series.is_operation());
        let paths: BTreeSet<&str> = operations.map(|series| series.path.as_str()).collect();
        of_variant(self)
            .into_iter()
            .chain(paths.into_iter().flat_map(|path| not_accepted(self, path)))
            .collect()
    }
}

fn of_variant(variant: &Variant) -> Vec<String> {
    let label = &variant.label;
    let mut all = Vec::new();
    if variant.runs.len() < LEAST_RUNS {
        let runs = if variant.runs.len() == 1 { "run" } else { "runs" };
        all.push(format!(
            "{label} has {} {runs}: fewer than {LEAST_RUNS} say nothing of how they spread",
            variant.runs.len()
        ));
    }
    for (place, run) in (1..).zip(&variant.runs) {
        all.extend(run.findings.iter().map(|finding| format!("run {place} of {label} {finding}")));
        if run.broken > 0 {
            all.push(format!("in run {place} of {label} the service broke {} promises", run.broken));
        }
    }
    all
}

/// Keys of plans that say another thing in another run.
fn different_plans(variants: &[Variant]) -> Option<String> {
    let plans: Vec<_> = variants.iter().flat_map(|variant| &variant.runs).map(|run| &run.plan).collect();
    // What a plan is called changes nothing.
    let keys = plans.iter().flat_map(|plan| plan.keys()).filter(|key| *key != "name");
    let keys: BTreeSet<&String> = keys.collect();
    let different =
        keys.into_iter().filter(|key| plans.iter().any(|plan| plan.get(*key) != plans[0].get(*key)));
    let different: Vec<&str> = different.map(String::as_str).collect();
    (!different.is_empty())
        .then(|| format!("the plans differ, beside their targets, in {}", different.join(", ")))
}

/// Runs that are given twice: no two have the same figures.
fn repeated_runs(variants: &[Variant]) -> Vec<String> {
    let named = variants
        .iter()
        .flat_map(|variant| (1..).zip(&variant.runs).map(move |(place, run)| (&variant.label, place, run)));
    let named: Vec<_> = named.collect();
    let mut all = Vec::new();
    for (at, (label, place, run)) in named.iter().enumerate() {
        if let Some((other, earlier, _)) = named[..at].iter().find(|(_, _, earlier)| earlier == run) {
            all.push(format!("run {place} of {label} is run {earlier} of {other} once more"));
        }
    }
    all
}

/// Runs that drew the same by one seed: they are fewer samples than they look.
fn same_draws(variant: &Variant) -> Option<String> {
    let [first, others @ ..] = variant.runs.as_slice() else { return None };
    let is_shared = |key: &str| {
        let own = first.environment.get(key);
        own.is_some() && !others.is_empty() && others.iter().all(|run| run.environment.get(key) == own)
    };
    let of =
        |text: Option<&String>| text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let arrivals = is_shared("seed") && draws_arrivals(&of(first.plan.get("workloads")));
    let faults = is_shared("target") && draws_faults(&of(first.environment.get("target")), false);
    let drawn: Vec<&str> = [(arrivals, "arrivals"), (faults, "faults")]
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, what)| *what)
        .collect();
    (!drawn.is_empty()).then(|| {
        format!(
            "all runs of {} draw the same {}, by one seed: they spread by less than what they are of, and intervals are too narrow",
            variant.label,
            drawn.join(" and ")
        )
    })
}

fn draws_arrivals(workloads: &Value) -> bool {
    workloads.as_array().into_iter().flatten().any(|workload| workload["load"]["arrivals"] == "poisson")
}

/// Whether some fault of an embedded target is for a share of what comes, or a latency that varies.
fn draws_faults(value: &Value, is_fault: bool) -> bool {
    match value {
        Value::Object(keys) => keys.iter().any(|(key, inner)| {
            let is_drawn = match key.as_str() {
                "share" | "reset_share" => inner.as_f64().is_some_and(|share| share > 0.0 && share < 1.0),
                "uniform" | "exponential" | "lognormal" => true,
                _ => false,
            };
            (is_fault && is_drawn) || draws_faults(inner, is_fault || key == "faults")
        }),
        Value::Array(items) => items.iter().any(|item| draws_faults(item, is_fault)),
        _ => false,
    }
}

/// Runs that tools of different kinds measured.
fn different_tools(variants: &[Variant]) -> Option<String> {
    let tools: BTreeSet<&str> =
        variants.iter().flat_map(|variant| &variant.runs).map(|run| run.tool.as_str()).collect();
    let tools: Vec<&str> = tools.into_iter().collect();
    (tools.len() > 1)
        .then(|| format!("{} measure other things, and call other things accepted", tools.join(", ")))
}

/// Runs that measured for longer than others.
fn different_lengths(variants: &[Variant]) -> Option<String> {
    let all = || variants.iter().flat_map(|variant| &variant.runs);
    // Users who carry out so many operations take as long as it takes.
    let is_timed = all().all(|run| run.is_swept() || !run.plan.is_empty());
    let lengths = Sample::new(all().map(|run| run.measured_seconds).collect());
    let (least, greatest) = lengths.least().zip(lengths.greatest())?;
    (is_timed && greatest > least * (1.0 + REPEATED))
        .then(|| format!("runs measured for {least:.2} to {greatest:.2} s"))
}

/// Series that not all variants have, or not all runs of one that has it.
fn unshared(comparison: &Comparison) -> Vec<String> {
    let runs = || comparison.variants.iter().flat_map(|variant| &variant.runs);
    let paths: BTreeSet<&str> =
        runs().flat_map(|run| &run.series).map(|series| series.path.as_str()).collect();
    let mut all = Vec::new();
    for path in paths {
        for variant in &comparison.variants {
            let lacks = variant.runs.iter().filter(|run| run.of_path(path).is_none()).count();
            if lacks > 0 {
                all.push(format!(
                    "{lacks} of {} runs of {} have no series {path}",
                    variant.runs.len(),
                    variant.label
                ));
            }
        }
    }
    all
}

/// Runs that lack a figure which others have.
fn missing(comparison: &Comparison, series: &ComparedSeries) -> Vec<String> {
    let mut all = Vec::new();
    for figure in &series.figures {
        for (variant, sample) in comparison.variants.iter().zip(&figure.samples) {
            let has_series = variant.runs.iter().filter(|run| run.of_path(&series.path).is_some()).count();
            if sample.count() < has_series {
                let lacks = has_series - sample.count();
                all.push(format!(
                    "{lacks} of {has_series} runs of {} have no {} of {}",
                    variant.label, figure.metric, series.path
                ));
            }
        }
    }
    all
}

/// What failed, where that is more than a little of a variant: what failed fast may be why it looks fast.
fn not_accepted(variant: &Variant, path: &str) -> Vec<String> {
    let of_runs = || variant.runs.iter().filter_map(|run| run.of_path(path));
    let is_meant = of_runs().any(|series| series.refusals_meant);
    let share = variant.success(path).map_or(0.0, |success| 1.0 - success);
    let mut all = Vec::new();
    if share > MOST_FAILED && !is_meant {
        all.push(format!(
            "{:.1} % of {path} of {} were not accepted: what failed fast may be why it looks fast, and what had no answer may be in no response time",
            share * 100.0,
            variant.label
        ));
    }
    if of_runs().any(|series| series.lacks_failures) {
        all.push(format!(
            "of {}, requests without an answer are not known: the CSV of hey leaves them out",
            variant.label
        ));
    }
    all
}

/// Closed loops whose users wait for nothing but answers: their response time is users by rate, and says the same thing twice.
fn repeated_rate(comparison: &Comparison, series: &ComparedSeries) -> Vec<String> {
    let of_all = |is: fn(&MeasuredSeries) -> bool| {
        let runs = comparison.variants.iter().flat_map(|variant| &variant.runs);
        runs.filter_map(|run| run.of_path(&series.path)).all(is)
    };
    let thinks =
        comparison.variants.iter().flat_map(|variant| &variant.runs).any(|run| thinks(run, &series.path));
    if !series.is_operation() || !of_all(|series| series.is_closed_loop) || thinks {
        return Vec::new();
    }
    let ratios = |metric| series.figure(metric).map(|figure| &figure.ratios);
    let (Some(rates), Some(means)) = (ratios(Metric::Rate), ratios(Metric::Mean)) else { return Vec::new() };
    let labels = comparison.variants.iter().skip(1).map(|variant| &variant.label);
    let each = rates.iter().zip(means).zip(labels).filter_map(|((rate, mean), label)| {
        let (rate, mean) = (rate.ratio?, mean.ratio?);
        let is_repeated = (rate * mean - 1.0).abs() < REPEATED && (mean - 1.0).abs() > REPEATED;
        is_repeated.then(|| {
            format!(
                "{} of {label}: users waited for answers and for nothing else, so that the ratio of response times ({mean:.2}x) is that of rates ({rate:.3}x) once more; \
                 only an equal offered rate compares response times",
                series.path
            )
        })
    });
    each.collect()
}

/// Whether its plan says that users of that workload think, between operations or steps; of a summary nobody knows.
fn thinks(run: &MeasuredRun, path: &str) -> bool {
    let workloads = run.plan.get("workloads").and_then(|text| serde_json::from_str::<Value>(text).ok());
    let workload = path.split('/').next();
    let mut own = workloads.iter().filter_map(Value::as_array).flatten();
    own.any(|own| own["name"].as_str() == workload && has_think_time(own))
}

fn has_think_time(value: &Value) -> bool {
    match value {
        Value::Object(keys) => keys.iter().any(|(key, inner)| {
            (["think", "think_up_to"].contains(&key.as_str()) && !inner.is_null()) || has_think_time(inner)
        }),
        Value::Array(items) => items.iter().any(has_think_time),
        _ => false,
    }
}

/// Percentiles of which a run has seen too little.
fn thin_tails(comparison: &Comparison, series: &ComparedSeries) -> Option<String> {
    let runs = comparison.variants.iter().flat_map(|variant| &variant.runs);
    let least = runs.filter_map(|run| run.of_path(&series.path)).map(|series| series.count).min()?;
    let thin = series
        .figures
        .iter()
        .filter(|figure| figure.metric.tail().is_some_and(|tail| (least as f64) * tail < LEAST_BEYOND));
    let thin: Vec<&str> = thin.map(|figure| figure.metric.name()).collect();
    (!thin.is_empty()).then(|| {
        format!("{}: a run has {least} response times, too few for {}", series.path, thin.join(", "))
    })
}

/// Failures beyond that share are told.
const MOST_FAILED: f64 = 0.01;
/// Within that, ratios are the same.
const REPEATED: f64 = 0.05;
/// Operations that a percentile needs beyond itself.
const LEAST_BEYOND: f64 = 10.0;

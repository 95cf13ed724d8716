//! What speaks against comparing runs.

use std::collections::BTreeSet;

use crate::comparison::{ComparedSeries, Comparison};
use crate::measured_run::MeasuredSeries;
use crate::metric::Metric;
use crate::ratio::LEAST_RUNS;
use crate::variant::Variant;

/// All that does, as sentences without a full stop.
pub(crate) fn warnings(comparison: &Comparison) -> Vec<String> {
    let mut all = Vec::new();
    for variant in &comparison.variants {
        all.extend(of_variant(variant));
    }
    all.extend(different_plans(&comparison.variants));
    all.extend(unshared(comparison));
    for series in &comparison.series {
        all.extend(repeated_rate(comparison, series));
        all.extend(thin_tails(comparison, series));
    }
    all
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
        for finding in &run.findings {
            all.push(format!("run {place} of {label} is not to be believed: {finding}"));
        }
        if run.broken > 0 {
            all.push(format!("in run {place} of {label} the service broke {} promises", run.broken));
        }
    }
    all
}

/// Keys of plans that say another thing in another run.
fn different_plans(variants: &[Variant]) -> Option<String> {
    let plans: Vec<_> = variants.iter().flat_map(|variant| &variant.runs).map(|run| &run.plan).collect();
    let keys: BTreeSet<&String> = plans.iter().flat_map(|plan| plan.keys()).collect();
    let different =
        keys.into_iter().filter(|key| plans.iter().any(|plan| plan.get(*key) != plans[0].get(*key)));
    let different: Vec<&str> = different.map(String::as_str).collect();
    (!different.is_empty())
        .then(|| format!("the plans differ, beside their targets, in {}", different.join(", ")))
}

/// Series that are not of all variants.
fn unshared(comparison: &Comparison) -> Option<String> {
    let all = comparison.variants.iter().flat_map(|variant| &variant.runs).flat_map(|run| &run.series);
    let is_shared = |path: &str| comparison.series.iter().any(|series| series.path == path);
    let left_out: BTreeSet<&str> =
        all.map(|series| series.path.as_str()).filter(|path| !is_shared(path)).collect();
    let left_out: Vec<&str> = left_out.into_iter().collect();
    (!left_out.is_empty()).then(|| format!("not all variants have {}", left_out.join(", ")))
}

/// Closed loops whose users wait for nothing but answers: their response time is users by rate, and says the same thing twice.
fn repeated_rate(comparison: &Comparison, series: &ComparedSeries) -> Vec<String> {
    let of_all = |is: fn(&MeasuredSeries) -> bool| {
        let runs = comparison.variants.iter().flat_map(|variant| &variant.runs);
        runs.filter_map(|run| run.of_path(&series.path)).all(is)
    };
    if series.is_step || !of_all(|series| series.is_closed_loop) {
        return Vec::new();
    }
    let ratios =
        |metric| series.figures.iter().find(|figure| figure.metric == metric).map(|figure| &figure.ratios);
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

/// Within that, ratios are the same.
const REPEATED: f64 = 0.05;
/// Operations that a percentile needs beyond itself.
const LEAST_BEYOND: f64 = 10.0;

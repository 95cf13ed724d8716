//! Sweeps of several variants beside one another, point by point.

use std::collections::BTreeMap;

use hammer_report::summary::Wording;
use serde_json::Value;

use crate::bound::{Bound, BoundError, FoundBound};
use crate::comparison::{Comparison, ComparisonConfig, ComparisonError};
use crate::measured_run::MeasuredRun;
use crate::variant::Variant;

/// Variants of which each was swept over the same keys.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepComparison {
    /// What the variants are called.
    pub labels: Vec<String>,
    /// The points that all variants have, in the order of the first one.
    pub points: Vec<SweptPoint>,
    /// What points only some have, as sentences without a full stop.
    pub lone: Vec<String>,
    /// The same points, by variants: each with the keys in words.
    pub(crate) lone_points: Vec<Vec<(String, Variant)>>,
}

/// The variants at one point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptPoint {
    /// The swept keys with their values.
    pub at: BTreeMap<String, Value>,
    /// The values in words.
    pub name: String,
    /// The same with their keys: `users 50`.
    pub place: String,
    /// The runs of all variants there.
    pub comparison: Comparison,
}

impl SweepComparison {
    /// Compares each variant with the first at every point that all have.
    ///
    /// # Errors
    /// Variants that share no point, and what cannot be compared at one.
    pub fn of(variants: &[Variant], config: &ComparisonConfig) -> Result<Self, ComparisonError> {
        if variants.len() < 2 {
            return Err(ComparisonError::OneVariant);
        }
        let wording = Wording::of(variants.iter().flat_map(|variant| &variant.runs).map(|run| &run.at));
        let all: Vec<Vec<Variant>> = variants.iter().map(points).collect();
        let find = |points: &[Variant], at: &BTreeMap<String, Value>| {
            points.iter().find(|point| point.runs[0].at == *at).cloned()
        };
        let mut compared: Vec<SweptPoint> = Vec::new();
        for point in &all[0] {
            let at = &point.runs[0].at;
            let own: Option<Vec<Variant>> = all.iter().map(|points| find(points, at)).collect();
            let Some(own) = own else { continue };
            // What was measured most at one point is what is looked at at all that have it.
            let known = compared.iter().map(|point| &point.comparison.series[0].path);
            let is_of_all = |path: &&String| own.iter().all(|variant| variant.has(path));
            let series = config.series.clone().or_else(|| known.into_iter().find(is_of_all).cloned());
            let comparison = Comparison::of(own, ComparisonConfig { series, ..config.clone() })?;
            compared.push(SweptPoint {
                at: at.clone(),
                name: name(&wording, at),
                place: wording.label(at),
                comparison,
            });
        }
        let labels: Vec<String> = variants.iter().map(|variant| variant.label.clone()).collect();
        if compared.is_empty() {
            return Err(ComparisonError::NoSharedPoint(labels));
        }
        let lone = lone(&labels, &all, &compared, &wording);
        let is_lone = |point: &&Variant| compared.iter().all(|known| known.at != point.runs[0].at);
        let placed = |point: &Variant| (wording.label(&point.runs[0].at), point.clone());
        let lone_points = all.iter().map(|own| own.iter().filter(is_lone).map(placed).collect()).collect();
        Ok(Self { labels, points: compared, lone, lone_points })
    }

    /// The series that the verdict goes by at some point, in the order in which they are met.
    pub fn verdict_paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = Vec::new();
        for point in &self.points {
            let path = point.comparison.series[0].path.as_str();
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    /// Whether it fails what was asked of it: by one of these bounds, which do not hold, or at a point by a service level that decides.
    pub fn fails(&self, found: &[FoundBound]) -> bool {
        !found.is_empty() || self.points.iter().any(|point| point.comparison.fails(&[]))
    }

    /// The swept keys, in their order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.points.iter().take(1).flat_map(|point| point.at.keys())
    }

    /// The variants that are beyond the bounds, point by point.
    ///
    /// # Errors
    /// Where nothing can be held against one.
    pub fn found(&self, bounds: &[Bound]) -> Result<Vec<FoundBound>, BoundError> {
        let mut all = Vec::new();
        for bound in bounds {
            for point in &self.points {
                let found = bound.found(&point.comparison)?;
                let at = |label: String| format!("{label} at {}", point.place);
                all.extend(found.into_iter().map(|own| FoundBound { label: at(own.label), ..own }));
            }
        }
        Ok(all)
    }
}

impl Variant {
    /// The points of a swept variant as variants, each called by the values of its keys: the links of a chain, where the chain was swept.
    pub fn at_points(&self) -> Vec<Self> {
        let wording = Wording::of(self.runs.iter().map(|run| &run.at));
        let named = |point: Self| Self { label: name(&wording, &point.runs[0].at), ..point };
        points(self).into_iter().map(named).collect()
    }
}

/// The runs of a variant by points, in the order in which these come first.
fn points(variant: &Variant) -> Vec<Variant> {
    let mut all: Vec<Variant> = Vec::new();
    for run in &variant.runs {
        match all.iter_mut().find(|point| point.runs[0].at == run.at) {
            Some(point) => point.runs.push(run.clone()),
            None => all.push(Variant { runs: vec![run.clone()], ..variant.clone() }),
        }
    }
    all
}

/// The values of all keys.
fn name(wording: &Wording, at: &BTreeMap<String, Value>) -> String {
    let values = at.iter().map(|(key, value)| wording.value(key, value));
    values.collect::<Vec<_>>().join(", ")
}

/// The points that are compared nowhere, by the variants that have them.
fn lone(labels: &[String], all: &[Vec<Variant>], compared: &[SweptPoint], wording: &Wording) -> Vec<String> {
    let runs: Vec<&MeasuredRun> = all.iter().flatten().map(|point| &point.runs[0]).collect();
    let mut told: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    let mut known: Vec<&BTreeMap<String, Value>> = compared.iter().map(|point| &point.at).collect();
    for run in runs {
        if known.contains(&&run.at) {
            continue;
        }
        known.push(&run.at);
        let has = |points: &Vec<Variant>| points.iter().any(|point| point.runs[0].at == run.at);
        let owners = labels.iter().zip(all).filter(|(_, points)| has(points));
        let owners: Vec<&str> = owners.map(|(label, _)| label.as_str()).collect();
        let place = wording.label(&run.at);
        match told.iter_mut().find(|(known, _)| *known == owners) {
            Some((_, places)) => places.push(place),
            None => told.push((owners, vec![place])),
        }
    }
    told.iter()
        .map(|(owners, places)| format!("only {} has {}", owners.join(", "), places.join("; ")))
        .collect()
}

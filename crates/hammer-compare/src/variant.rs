//! One of what is compared.

use serde::{Deserialize, Serialize};

use crate::component::ComponentUse;
use crate::measured_run::{MeasuredRun, MeasuredSeries};
use crate::metric::Metric;
use crate::sample::Sample;

/// A variant and its runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// What it is called.
    pub label: String,
    /// Its runs, in the order in which they were given.
    pub runs: Vec<MeasuredRun>,
    /// What its components used, as somebody else measured it; in place of what its runs say.
    #[serde(default)]
    pub measured_components: Vec<ComponentUse>,
}

impl Variant {
    /// What its components used: the means of its runs, unless somebody else measured it.
    pub(crate) fn components(&self) -> Vec<ComponentUse> {
        if self.measured_components.is_empty() {
            ComponentUse::means(self.runs.iter().map(|run| run.components.as_slice()))
        } else {
            self.measured_components.clone()
        }
    }

    /// The rate of all its operations that were accepted, the mean of its runs; none where no run has one.
    pub(crate) fn accepted_rate(&self) -> Option<f64> {
        let of_run = |run: &MeasuredRun| {
            let operations = run.series.iter().filter(|series| series.is_operation());
            operations.map(|series| series.figures.get(&Metric::Rate).copied()).sum::<Option<f64>>()
        };
        Sample::of_runs(self.runs.iter().map(of_run).collect(), 0.0).mean()
    }

    /// Failures a second in that series, the mean of its runs.
    pub(crate) fn failed_per_s(&self, path: &str) -> Option<f64> {
        let of_run = |run: &MeasuredRun| run.of_path(path)?.failed_per_s;
        Sample::of_runs(self.runs.iter().map(of_run).collect(), 0.0).mean()
    }

    /// Whether a run of it has that series.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.runs.iter().any(|run| run.of_path(path).is_some())
    }

    /// The sum of what each run has in that series.
    pub(crate) fn sum(&self, path: &str, of: fn(&MeasuredSeries) -> u64) -> u64 {
        self.runs.iter().filter_map(|run| run.of_path(path)).map(of).fold(0, u64::saturating_add)
    }

    /// The share of what was offered in that series, over all runs, that was accepted; none where nothing was offered.
    pub(crate) fn success(&self, path: &str) -> Option<f64> {
        let (offered, accepted) = (self.sum(path, |own| own.offered), self.sum(path, |own| own.accepted));
        (offered > 0).then(|| accepted as f64 / offered as f64)
    }

    /// The figure of that series in each run that has it.
    pub(crate) fn sample(&self, path: &str, metric: Metric) -> Sample {
        let series = || self.runs.iter().filter_map(|run| run.of_path(path));
        let figures = self.runs.iter().map(|run| run.of_path(path)?.figures.get(&metric).copied());
        let resolution = |series: &MeasuredSeries| {
            let figure = series.figures.get(&metric).copied().filter(|figure| figure.is_finite());
            series.resolution_ns.max(series.resolution * figure.unwrap_or_default())
        };
        let coarsest = series().map(resolution).fold(0.0, f64::max);
        Sample::of_runs(figures.collect(), if metric == Metric::Rate { 0.0 } else { coarsest })
    }
}

//! One of what is compared.

use crate::measured_run::MeasuredRun;
use crate::metric::Metric;
use crate::sample::Sample;

/// A variant and its runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variant {
    /// What it is called.
    pub label: String,
    /// Its runs, in the order in which they were given.
    pub runs: Vec<MeasuredRun>,
}

impl Variant {
    /// The figure of that series in each run that has it.
    pub(crate) fn sample(&self, path: &str, metric: Metric) -> Sample {
        let figures = self.runs.iter().filter_map(|run| run.of_path(path)?.figures.get(&metric).copied());
        Sample::new(figures.collect())
    }
}

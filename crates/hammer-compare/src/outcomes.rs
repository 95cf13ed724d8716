//! What became of requests: how many were accepted, and what failed in which run.

use std::collections::BTreeMap;

use hammer_report::text::number::grouped;
use serde::Serialize;

use crate::cell::{none, share};
use crate::comparison::Comparison;
use crate::measured_run::MeasuredSeries;
use crate::page::Block;
use crate::variant::Variant;

/// What failed by one cause in the runs of a variant, over all series of operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedCause {
    /// The variant.
    pub variant: String,
    /// What lay behind it.
    pub cause: String,
    /// How often in each run.
    pub runs: Vec<u64>,
    /// How often in all of them.
    pub all: u64,
}

impl Comparison {
    /// Requests of the verdict's series, those that were accepted and those that were not.
    pub(crate) fn totals(&self) -> Vec<Block> {
        let path = &self.series[0].path;
        let header = ["", "offered", "accepted", "failed", "success"].map(str::to_owned).to_vec();
        let row = |variant: &Variant| {
            let sum = |of: fn(&MeasuredSeries) -> u64| variant.sum(path, of);
            let (offered, accepted) = (sum(|series| series.offered), sum(|series| series.accepted));
            vec![
                variant.label.clone(),
                grouped(offered),
                grouped(accepted),
                grouped(offered.saturating_sub(accepted)),
                variant.success(path).map_or_else(none, share),
            ]
        };
        let heading = Block::Heading(format!("what became of {path}"));
        vec![heading, Block::Table { header, rows: self.variants.iter().map(row).collect() }]
    }

    /// What was not accepted, by variant, cause and run.
    pub fn failed(&self) -> Vec<FailedCause> {
        let is_operation =
            |path: &str| self.series.iter().any(|series| series.path == path && !series.is_step);
        let mut all = Vec::new();
        for variant in &self.variants {
            let mut causes: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
            for (run, measured) in variant.runs.iter().enumerate() {
                let series = measured.series.iter().filter(|series| is_operation(&series.path));
                for (cause, count) in
                    series.flat_map(|series| &series.failures).filter(|(_, count)| **count > 0)
                {
                    let known = causes.entry(cause).or_insert_with(|| vec![0; variant.runs.len()]);
                    known[run] = known[run].saturating_add(*count);
                }
            }
            all.extend(causes.into_iter().map(|(cause, runs)| FailedCause {
                variant: variant.label.clone(),
                cause: cause.to_owned(),
                all: runs.iter().copied().fold(0, u64::saturating_add),
                runs,
            }));
        }
        all
    }

    /// The same as a table; none where nothing failed. More runs than fit beside one another are told as their sum.
    pub(crate) fn failures(&self) -> Vec<Block> {
        let failed = self.failed();
        if failed.is_empty() {
            return Vec::new();
        }
        let most = failed.iter().map(|failed| failed.runs.len()).max().unwrap_or_default();
        let runs = if (2..=MOST_COLUMNS).contains(&most) { most } else { 0 };
        let mut header = vec![String::new()];
        header.extend((1..=runs).map(|run| format!("run {run}")));
        header.push("all".to_owned());
        let row = |FailedCause { variant, cause, runs: by_run, all }: &FailedCause| {
            let mut row = vec![format!("{variant}: {cause}")];
            row.extend((0..runs).map(|run| by_run.get(run).map_or_else(none, |count| grouped(*count))));
            row.push(grouped(*all));
            row
        };
        let heading =
            Block::Heading(if self.series.iter().filter(|series| series.is_operation()).count() > 1 {
                "not accepted, of all operations".to_owned()
            } else {
                "not accepted".to_owned()
            });
        vec![heading, Block::Table { header, rows: failed.iter().map(row).collect() }]
    }
}

/// Runs that stand beside one another.
const MOST_COLUMNS: usize = 12;

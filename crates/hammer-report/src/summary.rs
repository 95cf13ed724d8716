//! The summary of several runs: rounds of one plan, or a sweep over its keys.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::exit::ExitCode;
use crate::report::{Nanoseconds, PromiseCounts, Report, Series};
use crate::text::number::{grouped, per_second};
use crate::text::page::Page;
use crate::verdict::{Reason, ReasonKind, Verdict};

mod knee;
mod order;
mod wording;

pub use knee::Knee;
pub use order::RunOrder;
pub use wording::Wording;
use wording::words;

/// The version of the schema.
pub const SCHEMA: &str = "hammer.summary/1";

/// Several runs side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// `hammer.summary/1`.
    pub schema: String,
    /// That of the gravest reason of all runs; 0 when every run passed.
    pub exit_code: u8,
    /// In the order in which they ran.
    pub runs: Vec<SummaryRun>,
    /// How many the plan has.
    #[serde(default)]
    pub planned: u64,
    /// Which of rounds and combinations of swept values changed from run to run.
    #[serde(default)]
    pub order: RunOrder,
    /// What ended them between two runs; none where nothing did, or a run says it itself.
    #[serde(default)]
    pub stopped: Option<Reason>,
    /// Where a sweep of users or rates has a knee: more load brings little more than longer waits from there on.
    #[serde(default)]
    pub knees: Vec<Knee>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryRun {
    /// What distinguishes it: `round`, or a swept key with its value.
    pub labels: BTreeMap<String, Value>,
    /// What the commands around it printed.
    pub hooks: Vec<HookOutput>,
    /// Its verdict.
    pub verdict: Verdict,
    /// Whether health had no finding.
    pub healthy: bool,
    /// The measured length.
    pub measured_seconds: f64,
    /// Its promises, of all workloads.
    pub promises: PromiseCounts,
    /// The key figures of its operations over the measurement phase.
    pub series: Vec<KeyFigures>,
}

/// What a hook printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookOutput {
    /// The hook's name in the plan.
    pub name: String,
    /// A number, or a label.
    pub output: Value,
}

/// The key figures of one operation series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyFigures {
    /// `workload/name`.
    pub path: String,
    /// Arrivals.
    pub offered: u64,
    /// Ends in any other way than accepted.
    pub failed: u64,
    /// Offered rate; `null` when no time was measured.
    pub offered_per_s: Option<f64>,
    /// Accepted rate; `null` when no time was measured.
    pub accepted_per_s: Option<f64>,
    /// Mean response time; `null` when nothing ended.
    pub response_mean_ns: Option<Nanoseconds>,
    /// Median response time.
    pub response_p50_ns: Option<Nanoseconds>,
    /// 95th percentile of the response time.
    #[serde(default)]
    pub response_p95_ns: Option<Nanoseconds>,
    /// 99th percentile of the response time.
    pub response_p99_ns: Option<Nanoseconds>,
    /// 99th percentile of the service time.
    pub service_p99_ns: Option<Nanoseconds>,
}

impl Summary {
    /// The summary of these runs.
    pub fn of(runs: Vec<SummaryRun>) -> Self {
        let exit_code = ExitCode::of(said(&runs)).number();
        let (knees, planned) = (knee::knees(&runs), runs.len() as u64);
        let order = RunOrder::default();
        Self { schema: SCHEMA.to_owned(), exit_code, runs, planned, order, stopped: None, knees }
    }

    /// The same of runs that came in this order.
    #[must_use]
    pub fn in_order(self, order: RunOrder) -> Self {
        Self { order, ..self }
    }

    /// The same of runs that are all of so many, or those before something ended them.
    #[must_use]
    pub fn of_planned(self, planned: usize, stopped: Option<Reason>) -> Self {
        let mut summary = Self { planned: planned as u64, stopped, ..self };
        summary.exit_code = ExitCode::of(summary.said()).number();
        summary
    }

    /// What is said against any of the runs, and against there being no more.
    pub fn said(&self) -> impl Iterator<Item = ReasonKind> {
        said(&self.runs).chain(self.stopped.iter().map(|stopped| stopped.reason))
    }

    /// A table with a line for each run and series, ending in a newline; 80 columns unless labels or paths are long.
    pub fn render(&self) -> String {
        let mut page = Page::default();
        let passed = self.runs.iter().filter(|run| run.verdict.exit_code == 0).count();
        let unrun = match self.planned.saturating_sub(self.runs.len() as u64) {
            0 => String::new(),
            unrun => format!(", {} of {} were not carried out", grouped(unrun), grouped(self.planned)),
        };
        page.line(&format!("{passed} of {} runs passed{unrun}, exit {}", self.runs.len(), self.exit_code));
        if let Some(stopped) = &self.stopped {
            page.paragraph("", &stopped.text);
        }
        if self.order == RunOrder::RoundsFirst {
            page.line(ROUNDS_FIRST);
        }
        page.blank();
        let wording = Wording::of(self.runs.iter().map(|run| &run.labels));
        let rows: Vec<[String; 8]> = self.runs.iter().flat_map(|run| run.rows(&wording)).collect();
        for line in aligned(&rows) {
            page.line(&line);
        }
        for knee in &self.knees {
            let at = knee.at.iter().map(|(key, value)| format!(", {key} {}", wording.value(key, value)));
            page.paragraph("knee", &format!("{}{}: {}", knee.path, at.collect::<String>(), knee.text));
        }
        for run in &self.runs {
            let label = wording.label(&run.labels);
            for hook in &run.hooks {
                page.paragraph("", &format!("{label}: {} said {}", hook.name, words(&hook.output)));
            }
            if run.verdict.exit_code != 0 {
                page.paragraph("", &format!("{label}: {}", run.verdict));
            }
        }
        page.into_string()
    }
}

impl SummaryRun {
    /// The row of a report.
    pub fn of(report: &Report, labels: BTreeMap<String, Value>, hooks: Vec<HookOutput>) -> Self {
        Self {
            labels,
            hooks,
            verdict: report.verdict.clone(),
            healthy: report.health.healthy,
            measured_seconds: report.run.measured_seconds,
            promises: report.promises.all,
            series: report.operations().map(KeyFigures::of).collect(),
        }
    }

    fn rows(&self, wording: &Wording) -> Vec<[String; 8]> {
        let rate = |rate: Option<f64>| rate.map_or_else(none, per_second);
        let figure = |figure: Option<Nanoseconds>| figure.map_or_else(none, |figure| figure.to_string());
        let row = |series: &KeyFigures| {
            [
                wording.label(&self.labels),
                series.path.clone(),
                rate(series.offered_per_s),
                rate(series.accepted_per_s),
                grouped(series.failed),
                figure(series.response_p50_ns),
                figure(series.response_p99_ns),
                mark(self),
            ]
        };
        self.series.iter().map(row).collect()
    }
}

impl KeyFigures {
    fn of(series: &Series) -> Self {
        let figures = &series.measurement;
        let response = figures.durations.response_time.as_ref();
        Self {
            path: series.path.clone(),
            offered: figures.counts.offered,
            failed: figures.counts.fates.failed(),
            offered_per_s: figures.rates.map(|rates| rates.offered_per_s),
            accepted_per_s: figures.rates.map(|rates| rates.accepted_per_s),
            response_mean_ns: response.map(|durations| durations.mean_ns),
            response_p50_ns: response.map(|durations| durations.p50_ns),
            response_p95_ns: response.map(|durations| durations.p95_ns),
            response_p99_ns: response.map(|durations| durations.p99_ns),
            service_p99_ns: figures.durations.service_time.as_ref().map(|durations| durations.p99_ns),
        }
    }
}

fn mark(run: &SummaryRun) -> String {
    const UNBELIEVABLE: ReasonKind = ReasonKind::NotBelievable;
    let is_unbelievable = run.verdict.reasons.iter().any(|reason| reason.reason == UNBELIEVABLE);
    match run.verdict.code() {
        ExitCode::Clean => "PASS".to_owned(),
        ExitCode::Because(kind) if is_unbelievable && kind != UNBELIEVABLE => {
            let codes = [kind, UNBELIEVABLE].map(|kind| ExitCode::Because(kind).number());
            format!("FAIL {}, {}", codes[0], codes[1])
        }
        code => format!("FAIL {}", code.number()),
    }
}

fn said(runs: &[SummaryRun]) -> impl Iterator<Item = ReasonKind> {
    runs.iter().flat_map(|run| &run.verdict.reasons).map(|reason| reason.reason)
}

fn none() -> String {
    "none".to_owned()
}

/// Columns as wide as their widest cell; names to the left, numbers to the right.
fn aligned(rows: &[[String; 8]]) -> Vec<String> {
    let header =
        ["run", "series", "offered", "accepted", "failed", "p50", "p99", "verdict"].map(str::to_owned);
    let all: Vec<&[String; 8]> = std::iter::once(&header).chain(rows).collect();
    let widths: [usize; 8] =
        std::array::from_fn(|column| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let cell = |(column, text): (usize, &String)| {
        let width = widths[column];
        if matches!(column, 0 | 1 | 7) { format!("{text:<width$}") } else { format!("{text:>width$}") }
    };
    all.iter().map(|row| row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ")).collect()
}

const ROUNDS_FIRST: &str = "rounds first: all combinations, then all again";

#[cfg(test)]
mod tests;

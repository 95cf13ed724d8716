//! A report, or the summary of several runs, as one flat table of comma-separated values (RFC 4180). Its columns are named by their places in
//! the JSON of the report or of the summary, with dots between the keys.
//!
//! Durations are whole nanoseconds. Where one falls on what never ended the cell is `inf`, which sorts above all others and is no integer;
//! where the JSON has `null`, or nothing, it is empty.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use crate::csv_row;
use crate::report::{Fates, PhaseFigures, PhaseName, Report, Series, SeriesKind};
use crate::summary::{KeyFigures, Summary, SummaryRun};

/// A row for each series and each phase that has arrivals, behind one that names the columns.
pub fn document(report: &Report) -> String {
    let columns = phase_columns();
    let rows = report.series.iter().flat_map(|series| {
        [(PhaseName::WarmUp, &series.warm_up), (PhaseName::Measurement, &series.measurement)]
            .map(|(phase, figures)| phase_row(series, phase, figures))
    });
    table(&columns, rows)
}

/// A row for each run and each series of it, steps included, behind one that names the columns: among these what was swept (`labels.KEY`) and
/// what hooks printed (`hooks.NAME`).
pub fn summary_document(summary: &Summary) -> String {
    let labels: BTreeSet<&String> = summary.runs.iter().flat_map(|run| run.labels.keys()).collect();
    let hooks: BTreeSet<&String> =
        summary.runs.iter().flat_map(|run| run.hooks.iter().map(|hook| &hook.name)).collect();
    let mut columns = vec![Column::key("run")];
    columns.extend(labels.into_iter().map(|label| Column::of(["labels", label])));
    columns.extend(hooks.into_iter().map(|hook| Column::of(["hooks", hook])));
    columns.extend(["exit_code", "standing"].map(|key| Column::of(["verdict", key])));
    columns.extend(["healthy", "measured_seconds", "kind"].map(Column::key));
    columns.extend(KEY_FIGURES.map(Column::key));
    let rows = summary.runs.iter().enumerate().flat_map(|(place, run)| {
        let operations = run.series.iter().map(|series| (SeriesKind::Operation, series));
        let steps = run.steps.iter().map(|series| (SeriesKind::Step, series));
        operations.chain(steps).map(move |(kind, series)| run_row(place + 1, run, kind, series))
    });
    table(&columns, rows)
}

/// A place in the JSON of a row.
struct Column(Vec<String>);

impl Column {
    fn key(key: &str) -> Self {
        Self(vec![key.to_owned()])
    }

    fn of<const N: usize>(keys: [&str; N]) -> Self {
        Self(keys.map(str::to_owned).to_vec())
    }

    fn name(&self) -> String {
        self.0.join(".")
    }

    fn cell(&self, row: &Value) -> String {
        match self.0.iter().try_fold(row, |value, key| value.get(key)) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Object(figure)) if figure.contains_key("beyond_ns") => NEVER.to_owned(),
            Some(value) => value.to_string(),
        }
    }
}

fn phase_columns() -> Vec<Column> {
    let mut columns: Vec<Column> = SERIES.map(Column::key).into();
    columns.extend(COUNTS.map(Column::key));
    columns.extend(Fates::default().entries().map(|(fate, _)| Column::of(["fates", fate])));
    columns.extend(ENDED.map(|key| Column::of(["ended", key])));
    columns.extend(RATES.map(|key| Column::of(["rates", key])));
    columns.extend(
        DURATIONS
            .iter()
            .flat_map(|duration| FIGURES.map(|figure| Column::of(["durations", duration, figure]))),
    );
    columns
}

fn phase_row(series: &Series, phase: PhaseName, figures: &PhaseFigures) -> Value {
    let Series { path, workload, name, kind, .. } = series;
    let named = json!({ "path": path, "workload": workload, "name": name, "kind": kind, "phase": phase });
    joined(named, figures)
}

fn run_row(place: usize, run: &SummaryRun, kind: SeriesKind, series: &KeyFigures) -> Value {
    let SummaryRun { labels, verdict, healthy, measured_seconds, .. } = run;
    // Of several hooks of a name the last one counts, as in tables.
    let hooks: Value = run.hooks.iter().map(|hook| (hook.name.clone(), hook.output.clone())).collect();
    let named = json!({
        "run": place, "labels": labels, "hooks": hooks, "verdict": verdict, "healthy": healthy,
        "measured_seconds": measured_seconds, "kind": kind,
    });
    joined(named, series)
}

/// The keys of both.
fn joined(mut row: Value, figures: &impl Serialize) -> Value {
    if let (Value::Object(row), Ok(Value::Object(figures))) = (&mut row, serde_json::to_value(figures)) {
        row.extend(figures);
    }
    row
}

fn table(columns: &[Column], rows: impl Iterator<Item = Value>) -> String {
    let mut text = csv_row::written(columns.iter().map(Column::name));
    for row in rows {
        text.push_str(&csv_row::written(columns.iter().map(|column| column.cell(&row))));
    }
    text
}

/// What a duration is that falls on what never ended.
const NEVER: &str = "inf";
const SERIES: [&str; 5] = ["path", "workload", "name", "kind", "phase"];
const COUNTS: [&str; 7] =
    ["offered", "dispatched", "completed", "resent", "redialled", "bytes_out", "bytes_in"];
const ENDED: [&str; 2] = ["completed", "accepted"];
const RATES: [&str; 6] = [
    "offered_per_s",
    "dispatched_per_s",
    "completed_per_s",
    "accepted_per_s",
    "bytes_out_per_s",
    "bytes_in_per_s",
];
const DURATIONS: [&str; 7] = [
    "response_time",
    "service_time",
    "dispatch_lag",
    "backlog_wait",
    "connection_wait",
    "client_time",
    "read_lag",
];
const FIGURES: [&str; 11] = [
    "count", "infinite", "mean_ns", "min_ns", "p50_ns", "p75_ns", "p90_ns", "p95_ns", "p99_ns", "p99_9_ns",
    "max_ns",
];
const KEY_FIGURES: [&str; 14] = [
    "path",
    "offered",
    "failed",
    "completed_per_s",
    "failed_per_s",
    "offered_per_s",
    "accepted_per_s",
    "response_mean_ns",
    "response_p50_ns",
    "response_p95_ns",
    "response_p99_ns",
    "service_p99_ns",
    "closed_loop",
    "refusals_meant",
];

#[cfg(test)]
mod tests;

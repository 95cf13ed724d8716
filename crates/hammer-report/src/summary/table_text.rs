//! Tables over runs as text.

use hammer_measure::Nanos;
use serde_json::Value;

use super::median::median;
use super::run::SummaryRun;
use super::table::{Table, TableRow, TableSeries};
use super::wording::Wording;
use super::words_of_clean;
use crate::report::{Nanoseconds, SeriesKind};
use crate::text::columns::{Side, none};
use crate::text::number::{per_second, plain, plural};
use crate::text::page::Page;
use crate::verdict::Standing;

/// Adds the tables of these runs, which go by that, to the page.
pub(super) fn render(
    page: &mut Page,
    (by, tables): (&str, &[Table]),
    runs: &[SummaryRun],
    wording: &Wording,
) {
    page.blank();
    let most = tables.iter().flat_map(|table| &table.series).flat_map(|series| &series.rows);
    let medians = match most.map(|row| row.runs).max() {
        None | Some(1) => String::new(),
        Some(runs) => format!(", medians of {}", plural(runs, "run")),
    };
    page.paragraph("", &format!("by {by}, {}{medians}", measured(runs)));
    let unplaced = runs.iter().filter(|run| run.place(by).is_none()).count() as u64;
    if unplaced > 0 {
        let (have, stand) = if unplaced == 1 { ("has", "stands") } else { ("have", "stand") };
        page.paragraph("", &format!("{} {have} no {by}, and {stand} in no table", plural(unplaced, "run")));
    }
    for table in tables {
        page.blank();
        if !table.of.is_empty() {
            page.line(&wording.label(&table.of));
        }
        page.rows(rows(table, by, wording), &SIDES);
    }
}

/// What the figures are of, and what of a ramp is in them.
fn measured(runs: &[SummaryRun]) -> String {
    let length = |seconds: fn(&SummaryRun) -> f64| {
        // To a millisecond: no two runs are measured to the same nanosecond.
        Nanos::from_millis((median(runs.iter().map(seconds).collect()) * 1e3).round() as u64)
    };
    let (measured, warm_up) = (length(|run| run.measured_seconds), length(|run| run.warm_up_seconds));
    let behind = match warm_up {
        Nanos::ZERO => String::new(),
        warm_up => format!(" behind {warm_up} of warm-up"),
    };
    let ramped = runs.iter().map(|run| run.ramp_seconds).fold(0.0, f64::max);
    let ramp = match ramped > 0.0 {
        true => format!(
            ", of which up to {} a ramp: a longer warm-up leaves it out",
            Nanos((ramped * 1e9) as u64)
        ),
        false => String::new(),
    };
    format!("{measured} of measurement{behind}{ramp}")
}

fn rows(table: &Table, by: &str, wording: &Wording) -> Vec<[String; 7]> {
    let name = by.rsplit('.').next().unwrap_or(by);
    let mut rows = vec![["series", name, "requests", "failures", "p50", "p95", "verdict"].map(str::to_owned)];
    for series in table.series.iter().filter(|series| has_come(series)) {
        let mut path = Some(&series.path);
        // The name of a series stands before its first row alone.
        rows.extend(
            series
                .rows
                .iter()
                .map(|row| cells(path.take().cloned().unwrap_or_default(), place(by, &row.at, wording), row)),
        );
    }
    rows
}

/// Steps that no operation came to tell nothing but their names.
fn has_come(series: &TableSeries) -> bool {
    let came = |rate: Option<f64>| rate.is_none_or(|rate| rate > 0.0);
    let has_come = |row: &TableRow| came(row.requests_per_s) || came(row.failures_per_s);
    series.kind == SeriesKind::Operation || series.rows.iter().any(has_come)
}

fn cells(path: String, at: String, row: &TableRow) -> [String; 7] {
    let figure = |figure: Option<Nanoseconds>| figure.map_or_else(none, |figure| figure.to_string());
    let rate = |rate: Option<f64>| rate.map_or_else(none, fine);
    let verdict = match row.exit_code {
        0 => words_of_clean(row.standing).to_owned(),
        code if row.standing == Standing::Interrupted => format!("INTERRUPTED {code}"),
        code => format!("FAIL {code}"),
    };
    [
        path,
        at,
        rate(row.requests_per_s),
        rate(row.failures_per_s),
        figure(row.p50_ns),
        figure(row.p95_ns),
        verdict,
    ]
}

fn place(by: &str, at: &Value, wording: &Wording) -> String {
    at.as_f64().map_or_else(|| wording.value(by, at), plain)
}

/// A rate that is none only where nothing came: `0.02/s`.
fn fine(rate: f64) -> String {
    match rate {
        rate if rate > 0.0 && rate < 0.005 => "< 0.01/s".to_owned(),
        rate if rate > 0.0 && rate < 0.95 => format!("{rate:.2}/s"),
        rate => per_second(rate),
    }
}

static SIDES: [Side; 7] =
    [Side::Left, Side::Right, Side::Right, Side::Right, Side::Right, Side::Right, Side::Left];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_none_only_where_nothing_came() {
        let told = [0.0, 0.002, 0.0267, 0.9, 1.0, 12.34, 1_204.4].map(fine);
        assert_eq!(told, ["0/s", "< 0.01/s", "0.03/s", "0.90/s", "1/s", "12.3/s", "1,204/s"]);
    }
}

use std::collections::BTreeMap;

use hammer_measure::{Nanos, Phase, RunEvent};

use super::*;
use crate::fixture::{Story, disaster, operation, quickstart, report_of};
use crate::report::Nanoseconds;
use crate::summary::HookOutput;

/// The rows by the names of their columns.
fn read(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

#[test]
fn a_row_of_a_series_and_phase_has_what_the_report_has_of_it() {
    let report = report_of(&disaster());
    let rows = read(&document(&report));
    let phases: Vec<_> = rows.iter().map(|row| (row["path"].as_str(), row["phase"].as_str())).collect();
    assert_eq!(phases, [("submit/add-chain", "warm_up"), ("submit/add-chain", "measurement")]);
    let (row, figures) = (&rows[1], &report.series[0].measurement);
    for (fate, count) in figures.counts.fates.entries() {
        assert_eq!(row[&format!("fates.{fate}")], count.to_string());
    }
    assert_eq!(row["offered"], figures.counts.offered.to_string());
    assert_eq!(row["rates.accepted_per_s"].parse(), Ok(figures.rates.unwrap().accepted_per_s));
    let times = figures.durations.response_time.as_ref().unwrap();
    assert_eq!(row["durations.response_time.count"], times.count.to_string());
    let Nanoseconds::At(median) = times.p50_ns else { panic!("{times:?}") };
    assert_eq!(row["durations.response_time.p50_ns"], median.to_string());
    // What was shed never ended, and is longer than any number to who reads the cell as one.
    assert_eq!(row["durations.response_time.p99_ns"].parse::<f64>(), Ok(f64::INFINITY));
    assert!(rows[0]["durations.response_time.count"].is_empty(), "nothing came in warm-up");
}

#[test]
fn every_figure_of_a_series_has_a_column_and_every_column_a_figure() {
    let mut story = Story::new(vec![operation("submit", "add-chain")]);
    story.flow(0, Nanos::from_millis(1));
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|_| {}));
    let row = phase_row(&report.series[0], PhaseName::Measurement, &report.series[0].measurement);
    let mut places = Vec::new();
    leaves(&row, "", &mut places);
    // What is of another shape: histograms, causes, and times by fate.
    places.retain(|place| {
        !place.ends_with(".hdr") && !place.starts_with("causes") && !place.contains("response_time_by_fate")
    });
    let mut columns: Vec<String> = phase_columns().iter().map(Column::name).collect();
    places.sort_unstable();
    columns.sort_unstable();
    assert_eq!(columns, places);
}

fn leaves(value: &Value, place: &str, places: &mut Vec<String>) {
    match value {
        Value::Object(keys) => {
            for (key, value) in keys {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                leaves(value, &place, places);
            }
        }
        _ => places.push(place.to_owned()),
    }
}

#[test]
fn several_runs_have_what_was_swept_in_columns_and_a_row_for_each_series() {
    let run = |users: Value, events: Vec<RunEvent>| {
        let hook = HookOutput { name: "restart".to_owned(), output: json!("done, \"twice\"") };
        SummaryRun::of(&report_of(&events), [("users".to_owned(), users)].into(), vec![hook])
    };
    let summary = Summary::of(vec![run(json!(10), quickstart()), run(json!(["a", "b"]), disaster())]);
    let rows = read(&summary_document(&summary));
    let named: Vec<_> = rows
        .iter()
        .map(|row| ["run", "labels.users", "path", "kind"].map(|column| row[column].as_str()))
        .collect();
    assert_eq!(
        named,
        [
            ["1", "10", "submit/add-chain", "operation"],
            ["1", "10", "reads/tile", "operation"],
            ["1", "10", "submit/add-chain/post", "step"],
            ["2", r#"["a","b"]"#, "submit/add-chain", "operation"],
        ]
    );
    let (first, last) = (&rows[0], &rows[3]);
    assert_eq!(first["hooks.restart"], "done, \"twice\"");
    assert_eq!((first["verdict.exit_code"].as_str(), first["verdict.standing"].as_str()), ("0", "passed"));
    assert_eq!((last["verdict.exit_code"].as_str(), last["healthy"].as_str()), ("4", "false"));
    assert_eq!(first["offered"], summary.runs[0].series[0].offered.to_string());
    assert_eq!(last["response_p99_ns"], "inf");
    let figures = serde_json::to_value(&summary.runs[0].series[0]).unwrap();
    assert!(figures.as_object().unwrap().keys().all(|key| first.contains_key(key)), "{figures}");
}

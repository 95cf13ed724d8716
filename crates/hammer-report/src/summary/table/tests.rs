use serde_json::json;

use super::super::{HookOutput, Summary};
use super::*;
use crate::verdict::{Reason, ReasonKind, Verdict};

/// Requests a second, failures a second, and the 95th percentile in milliseconds; none where it never ended.
type Figures = (f64, f64, Option<u64>);

fn figures(path: &str, (requests, failures, p95): Figures) -> KeyFigures {
    let p95 =
        p95.map_or(Nanoseconds::Beyond { beyond_ns: 9_000_000_000 }, |ms| Nanoseconds::At(ms * 1_000_000));
    KeyFigures {
        path: path.to_owned(),
        completed_per_s: Some(requests),
        failed_per_s: Some(failures),
        response_p50_ns: Some(Nanoseconds::At(2_000_000)),
        response_p95_ns: Some(p95),
        ..KeyFigures::default()
    }
}

fn run(labels: &[(&str, Value)], operations: &[(&str, Figures)]) -> SummaryRun {
    SummaryRun {
        labels: labels.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
        series: operations.iter().map(|(path, of)| figures(path, *of)).collect(),
        measured_seconds: 150.0,
        verdict: passed(),
        ..SummaryRun::default()
    }
}

fn passed() -> Verdict {
    let mut verdict = Verdict::default();
    verdict.expect();
    verdict
}

fn said(run: SummaryRun, name: &str, output: Value) -> SummaryRun {
    SummaryRun { hooks: vec![HookOutput { name: name.to_owned(), output }], ..run }
}

/// Each table as its common labels and, by path, what its rows are at with requests a second.
fn told(tables: &[Table]) -> Vec<String> {
    let row = |row: &TableRow| format!("{}:{}", row.at, row.requests_per_s.unwrap());
    let series = |series: &TableSeries| {
        format!("{} {}", series.path, series.rows.iter().map(row).collect::<Vec<_>>().join(" "))
    };
    let table = |table: &Table| {
        format!("{} | {}", json!(table.of), table.series.iter().map(series).collect::<Vec<_>>().join(", "))
    };
    tables.iter().map(table).collect()
}

#[test]
fn each_choice_of_a_workload_has_a_table_by_users_in_ascending_order() {
    let mut runs = Vec::new();
    for users in [10, 2] {
        for path in ["/a", "/b"] {
            let rate = f64::from(users) * if path == "/a" { 10.0 } else { 1.0 };
            let labels = [("users", json!(users)), ("workloads.get.http.path", json!(path))];
            runs.push(run(&labels, &[("get/get", (rate, 0.0, Some(5)))]));
        }
    }
    let summary = Summary::of(runs);
    assert_eq!(summary.by.as_deref(), Some("users"));
    assert_eq!(
        told(&summary.tables),
        [
            "{\"workloads.get.http.path\":\"/a\"} | get/get 2:20 10:100",
            "{\"workloads.get.http.path\":\"/b\"} | get/get 2:2 10:10"
        ]
    );
}

#[test]
fn rounds_of_one_place_are_taken_together_by_their_medians() {
    let one = |round: u64, figures: Figures| {
        run(&[("users", json!(4)), ("round", json!(round))], &[("get/get", figures)])
    };
    let mut runs =
        vec![one(1, (100.0, 9.0, Some(7))), one(2, (300.0, 0.0, None)), one(3, (120.0, 1.0, Some(9)))];
    runs[1].verdict = Verdict::of(vec![Reason::new(ReasonKind::NotBelievable, String::new())]);
    let summary = Summary::of(runs);
    let row = &summary.tables[0].series[0].rows[0];
    assert_eq!(row.exit_code, 5, "one of them cannot be believed");
    assert_eq!((row.runs, row.requests_per_s, row.failures_per_s), (3, Some(120.0), Some(1.0)));
    assert_eq!(row.p95_ns, Some(Nanoseconds::At(9_000_000)), "what never ended is the longest");
    assert!(
        summary.render().contains("by users, 2m30s of measurement, medians of 3 runs\n"),
        "{}",
        summary.render()
    );
}

#[test]
fn what_a_hook_printed_or_was_observed_is_an_axis_and_rounds_part_no_table() {
    let mut runs = Vec::new();
    for (round, rows) in [(1, 86_348.0), (2, 173_156.0)] {
        let labels = |of: &str| [("round", json!(round)), ("workloads", json!([{ "name": of }]))];
        runs.push(run(&labels("write"), &[("write/post", (140.0, 0.0, Some(10)))]));
        let mut reads = run(&labels("read"), &[("read/get", (50.0 / f64::from(round), 0.5, Some(420)))]);
        reads.steps = vec![figures("read/poll", (7.0, 0.0, Some(1)))];
        runs.push(reads);
        for run in runs.iter_mut().rev().take(2) {
            run.observations.insert("observe/rows".to_owned(), rows);
        }
    }
    let expected = [
        "{\"workloads\":[{\"name\":\"write\"}]} | write/post 86348.0:140 173156.0:140",
        "{\"workloads\":[{\"name\":\"read\"}]} | read/get 86348.0:50 173156.0:25, read/poll 86348.0:7 173156.0:7",
    ];
    let summary = Summary::of(runs.clone());
    assert_eq!(summary.by.as_deref(), Some("round"), "without a word of the plan");
    for by in ["rows", "observe/rows"] {
        assert_eq!(told(&summary.clone().by(Some(by.to_owned())).tables), expected);
    }
    // What a hook printed comes before what was observed under that name.
    let hooked: Vec<SummaryRun> = runs.into_iter().map(|run| said(run, "rows", json!(7.0))).collect();
    let tables = Summary::of(hooked).by(Some("rows".to_owned())).tables;
    assert_eq!((tables[1].series[0].rows.len(), &tables[1].series[0].rows[0].at), (1, &json!(7.0)));
    let text = summary.by(Some("rows".to_owned())).render();
    let table = [
        "workloads read",
        "series        rows  requests  failures     p50     p95  verdict",
        "read/get    86,348      50/s    0.50/s  2.00ms   420ms  PASS",
        "           173,156      25/s    0.50/s  2.00ms   420ms  PASS",
        "read/poll   86,348       7/s       0/s  2.00ms  1.00ms  PASS",
    ]
    .join("\n");
    assert!(text.contains(&table), "{text}");
}

#[test]
fn texts_stay_in_the_order_of_the_runs_and_a_run_without_a_place_is_counted() {
    let of = |release: &str| {
        said(run(&[("round", json!(1))], &[("get/get", (1.0, 0.0, None))]), "release", json!(release))
    };
    let unplaced = run(&[("round", json!(3))], &[("get/get", (1.0, 0.0, None))]);
    let summary = Summary::of(vec![of("v2"), of("v1"), unplaced]).by(Some("release".to_owned()));
    assert_eq!(told(&summary.tables), ["{} | get/get \"v2\":1 \"v1\":1"]);
    let text = summary.render();
    assert!(text.contains("1 run has no release, and stands in no table\n"), "{text}");
    let nowhere = Summary::of(summary.runs).by(Some("rows".to_owned()));
    assert!(
        nowhere.render().contains("3 runs have no rows, and stand in no table\n"),
        "{}",
        nowhere.render()
    );
}

#[test]
fn tables_go_by_the_swept_load_or_the_only_number_or_the_rounds() {
    let by = |labels: &[(&str, Value)]| axis(&[run(labels, &[])]);
    let (one, text) = (json!(1), json!("/a"));
    for (labels, expected) in [
        (
            &[("path", text.clone()), ("round", one.clone()), ("workloads.get.load.users", one.clone())][..],
            Some("workloads.get.load.users"),
        ),
        (&[("round", one.clone()), ("seed", one.clone())], Some("seed")),
        (&[("path", text.clone()), ("round", one.clone())], Some("round")),
        (&[("path", text.clone()), ("seed", one.clone())], Some("seed")),
        (&[("path", text)], Some("path")),
        (&[("round", one)], None),
        (&[], None),
    ] {
        assert_eq!(by(labels).as_deref(), expected, "{labels:?}");
    }
    assert_eq!(axis(&[]), None);
}

#[test]
fn a_ramp_that_reaches_into_measurement_is_told() {
    let run = SummaryRun { warm_up_seconds: 10.0, ..run(&[("users", json!(4))], &[]) };
    let told = |seconds: f64| {
        let text = Summary::of(vec![run.clone().ramped(seconds)]).render();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(told(10.0).contains("of measurement behind 10.0s of warm-up series"), "{}", told(10.0));
    let late = told(25.0);
    assert!(late.contains("of which up to 15.0s a ramp"), "{late}");
    assert_eq!(run.clone().ramped(1e6).ramp_seconds, 150.0, "no more than all of it");
}

#[test]
fn steps_stand_behind_the_operations_of_their_workload() {
    let of = |path: &str| figures(path, (1.0, 0.0, None));
    let run = SummaryRun {
        series: vec![of("sign/sign"), of("read/read")],
        steps: vec![of("sign/post"), figures("sign/poll", (0.0, 0.0, None)), of("read/get")],
        ..run(&[("users", json!(1))], &[])
    };
    let summary = Summary::of(vec![run]);
    let paths: Vec<(&str, SeriesKind)> =
        summary.tables[0].series.iter().map(|series| (series.path.as_str(), series.kind)).collect();
    let (operation, step) = (SeriesKind::Operation, SeriesKind::Step);
    assert_eq!(
        paths,
        [
            ("sign/sign", operation),
            ("sign/post", step),
            ("sign/poll", step),
            ("read/read", operation),
            ("read/get", step)
        ]
    );
    let text = summary.render();
    assert!(text.contains("\nsign/post ") && !text.contains("sign/poll"), "it never came: {text}");
}

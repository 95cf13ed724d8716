//! Sweeps of two variants, point by point, as the published comparison of one instance with three has them.

use std::collections::BTreeMap;

use hammer_compare::{Bound, Comparison, ComparisonConfig, MeasuredRun, Metric, SweepComparison, Variant};
use hammer_report::Summary;
use hammer_report::report::Nanoseconds;
use hammer_report::summary::{KeyFigures, SummaryRun};
use serde_json::Value;

/// Users, rates of provisioning and verification, their 95th percentiles in milliseconds, and failures a second of verification.
type Point = (u64, [f64; 2], [u64; 2], f64);

fn sweep(label: &str, points: &[Point], rounds: u64) -> Variant {
    let run = |(users, rates, p95, failed): &Point, round: u64| {
        let series = |place: usize, name: &str, failed: f64| KeyFigures {
            path: format!("load/{name}"),
            offered: ((rates[place] + failed) * 150.0) as u64,
            failed: (failed * 150.0) as u64,
            accepted_per_s: Some(rates[place] + round as f64 / 10.0),
            failed_per_s: Some(failed),
            response_p50_ns: Some(Nanoseconds::At(100_000_000 + round)),
            response_p95_ns: Some(Nanoseconds::At(p95[place] * 1_000_000 + round)),
            ..KeyFigures::default()
        };
        SummaryRun {
            labels: BTreeMap::from([
                ("users".to_owned(), Value::from(*users)),
                ("round".to_owned(), Value::from(round)),
            ]),
            healthy: true,
            measured_seconds: 150.0,
            series: vec![series(0, "provision", 0.0), series(1, "verify", *failed)],
            ..SummaryRun::default()
        }
    };
    let runs = points.iter().flat_map(|point| (1..=rounds).map(move |round| (point, round)));
    let summary = Summary::of(runs.map(|(point, round)| run(point, round)).collect());
    Variant { label: label.to_owned(), runs: MeasuredRun::of_sweep(&summary), ..Variant::default() }
}

/// The more instances, the more verifications at many users, and the longer their 95th percentile.
fn instances(rounds: u64) -> [Variant; 2] {
    let one = [
        (2, [40.0, 30.0], [90, 100], 0.0),
        (50, [180.0, 100.0], [300, 800], 0.0),
        (102, [200.0, 110.0], [500, 1_500], 0.5),
    ];
    let three = [
        (2, [41.0, 31.0], [91, 101], 0.0),
        (50, [200.0, 190.0], [350, 900], 0.0),
        (102, [220.0, 200.0], [600, 1_800], 0.25),
        (200, [220.0, 210.0], [900, 2_800], 1.0),
    ];
    [sweep("1p1v", &one, rounds), sweep("3p3v", &three, rounds)]
}

fn config() -> ComparisonConfig {
    let series = Some("load/verify".to_owned());
    ComparisonConfig { metric: Metric::P95, series, ..ComparisonConfig::default() }
}

fn row<'a>(text: &'a str, heading: &str, name: &str) -> Vec<&'a str> {
    let mut below = text.lines().skip_while(|line| *line != heading).skip(3);
    let found = below.find(|line| line.trim_start().starts_with(name)).unwrap();
    found.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn each_point_has_its_rates_percentiles_and_failures_beside_those_of_the_first() {
    let sweeps = SweepComparison::of(&instances(3), &config()).unwrap();
    let text = sweeps.page(&[]).text();
    assert!(text.starts_with("3p3v beside 1p1v at 3 points of users\n"), "{text}");
    let cells = row(&text, "load/verify", "102");
    let expected = [
        "102", "110/s", "100ms", "1.50s", "0.500", "200/s", "100ms", "1.80s", "0.250", "1.82x", "1.000x",
        "1.20x", "0.500x",
    ];
    assert_eq!(cells, expected);
    assert_eq!(row(&text, "load/provision", "50")[9], "1.11x");
    assert_eq!(row(&text, "total", "50")[1], "280/s");
    assert!(text.contains("only 3p3v has users 200"), "{text}");
    let verdict = "p95 of load/verify: 3p3v is slower at 3 of 3 (1.010 to 1.20 times)";
    assert!(text.replace("\n    ", " ").contains(verdict), "{text}");
    let greatest = "greatest rate of load/verify: 1p1v 110/s at users 102; 3p3v 210/s at users 200, where not all were measured (1.91x)";
    assert!(text.replace("\n    ", " ").contains(greatest), "{text}");
    let bound: Bound = "p95 > 1.15x".parse().unwrap();
    let found = sweeps.found(&[bound]).unwrap();
    assert_eq!(found.iter().map(|found| found.label.as_str()).collect::<Vec<_>>(), ["3p3v at users 102"]);
    assert!(sweeps.page(&found).text().contains("p95 > 1.15x: 3p3v at users 102 has 1.20x"));
}

#[test]
fn json_has_every_point_with_its_numbers() {
    let sweeps = SweepComparison::of(&instances(3), &config()).unwrap();
    let json: Value = serde_json::from_str(&sweeps.json(&[])).unwrap();
    assert_eq!(json["schema"], "hammer.sweep-comparison/1");
    let point = &json["points"][2];
    assert_eq!(
        (&point["at"]["users"], &point["series_path"]),
        (&Value::from(102), &Value::from("load/verify"))
    );
    let figures = point["series"][0]["figures"].as_array().unwrap();
    let rate = figures.iter().find(|figure| figure["metric"] == "rate").unwrap();
    assert!((rate["ratios"][0]["ratio"].as_f64().unwrap() - 200.2 / 110.2).abs() < 1e-4, "{rate}");
    assert_eq!(rate["variants"][1]["runs"][0], 200.1);
    assert_eq!(point["variants"][0]["failed_per_s"], 0.5);
}

#[test]
fn single_rounds_are_told_as_such_and_sweeps_without_a_common_point_not_at_all() {
    let sweeps = SweepComparison::of(&instances(1), &config()).unwrap();
    let text = sweeps.page(&[]).text();
    assert!(text.contains("of too few rounds to tell at 3 of 3"), "{text}");
    assert_eq!(text.matches("1p1v has 1 run: fewer than 3").count(), 1, "{text}");
    let other = sweep("other", &[(7, [1.0, 1.0], [1, 1], 0.0)], 1);
    let [one, _] = instances(1);
    let why = SweepComparison::of(&[one, other], &config()).unwrap_err().to_string();
    assert!(why.contains("1p1v, other have no point in common"), "{why}");
}

#[test]
fn the_points_of_a_sweep_over_hops_are_the_links_of_a_chain() {
    let [_, chain] = instances(3);
    let links = chain.at_points();
    assert_eq!(links.iter().map(|link| link.label.as_str()).collect::<Vec<_>>(), ["2", "50", "102", "200"]);
    assert!(links.iter().all(|link| link.runs.len() == 3));
    let hops = Some(hammer_compare::Hops::default());
    let comparison = Comparison::of(links, ComparisonConfig { hops, ..config() }).unwrap();
    let p95 = &comparison.hops[1];
    assert_eq!((p95.metric, p95.links[1].added_ns, p95.whole.as_str()), (Metric::P95, Some(7.99e8), "200"));
}

/// Of a sweep over kinds of requests each point has another series.
#[test]
fn points_may_have_series_of_their_own() {
    let mut sweeps = instances(3);
    for variant in &mut sweeps {
        for run in &mut variant.runs {
            let kept = if run.at["users"] == 50 { "load/provision" } else { "load/verify" };
            run.series.retain(|series| series.path == kept);
        }
    }
    let config = ComparisonConfig { series: None, ..config() };
    let text = SweepComparison::of(&sweeps, &config).unwrap().page(&[]).text();
    let text = text.replace("\n    ", " ");
    assert!(text.contains("p95 of load/verify: 3p3v is slower at 2 of 2"), "{text}");
    assert!(text.contains("p95 of load/provision: 3p3v is slower at 1 of 1"), "{text}");
    assert_eq!(row(&text, "load/provision", "50")[5], "200/s");
    assert!(
        text.contains(
            "greatest rate of load/provision: 1p1v 180/s at users 50; 3p3v 200/s at users 50 (1.11x)"
        ),
        "{text}"
    );
    // Of a series that a point has not, that point says nothing.
    assert!(text.contains("3p3v 210/s at users 200, where not all were measured"), "{text}");
}

#[test]
fn points_at_which_the_generator_was_not_healthy_are_told() {
    let mut sweeps = instances(3);
    let late = sweeps[1].runs.iter_mut().find(|run| run.at["users"] == 50).unwrap();
    late.generator.as_mut().unwrap().healthy = false;
    let text = SweepComparison::of(&sweeps, &config()).unwrap().page(&[]).text();
    assert!(text.contains("1p1v: 9 runs of hammer, all healthy"), "{text}");
    assert!(text.contains("3p3v: 9 runs of hammer, of which 1 are not healthy, at users 50"), "{text}");
}

/// What a summary says of runs is held against them as what their reports say: users who wait for answers alone, failures, lengths.
#[test]
fn sweeps_are_warned_of_as_the_reports_of_their_runs_are() {
    let run = |users: u64, round: u64, speed: f64, failed: u64, seconds: f64| {
        let rate = 100.0 * speed;
        let figures = KeyFigures {
            path: "load/get".to_owned(),
            closed_loop: true,
            offered: 15_000,
            failed,
            accepted_per_s: Some(rate),
            response_mean_ns: Some(Nanoseconds::At((users as f64 / rate * 1e9) as u64 + round)),
            ..KeyFigures::default()
        };
        let labels = [("users".to_owned(), users.into()), ("round".to_owned(), round.into())].into();
        SummaryRun {
            labels,
            healthy: true,
            measured_seconds: seconds,
            series: vec![figures],
            ..SummaryRun::default()
        }
    };
    let swept = |label: &str, speed: f64, failed: u64, seconds: f64| {
        let runs = (1..=3).flat_map(|round| [2, 50].map(|users| run(users, round, speed, failed, seconds)));
        let runs = MeasuredRun::of_sweep(&Summary::of(runs.collect()));
        Variant { label: label.to_owned(), runs, ..Variant::default() }
    };
    let config = ComparisonConfig { metric: Metric::Mean, ..ComparisonConfig::default() };
    let told = |other: Variant| {
        let sweeps = SweepComparison::of(&[swept("one", 1.0, 0, 150.0), other], &config).unwrap();
        sweeps.page(&[]).text().replace("\n    ", " ")
    };
    let text = told(swept("other", 2.0, 300, 150.0));
    for said in [
        "2.0 % of load/get of other were not accepted",
        "load/get of other: users waited for answers and for nothing else",
    ] {
        assert_eq!(text.matches(said).count(), 1, "{said}, at all points: {text}");
    }
    assert!(!text.contains("runs measured for"), "{text}");
    let text = told(swept("other", 1.0, 0, 75.0));
    assert!(text.contains("runs measured for 75.00 to 150.00 s") && !text.contains("not accepted"), "{text}");
}

/// What is wrong on purpose has response times, and no failures to warn of.
#[test]
fn refusals_that_are_meant_are_neither_an_outage_nor_a_warning() {
    let run = |refusals_meant: bool, round: u64| {
        let figures = KeyFigures {
            path: "load/invalid".to_owned(),
            refusals_meant,
            offered: 1_000,
            failed: 1_000,
            accepted_per_s: Some(0.0),
            response_p95_ns: Some(Nanoseconds::At(5_000_000 + round)),
            ..KeyFigures::default()
        };
        let labels = [("users".to_owned(), 2.into()), ("round".to_owned(), round.into())].into();
        SummaryRun {
            labels,
            healthy: true,
            measured_seconds: 9.0,
            series: vec![figures],
            ..SummaryRun::default()
        }
    };
    let text = |refusals_meant: bool| {
        let variant = |label: &str, first: u64| {
            let summary = Summary::of((first..first + 3).map(|round| run(refusals_meant, round)).collect());
            Variant { label: label.to_owned(), runs: MeasuredRun::of_sweep(&summary), ..Variant::default() }
        };
        let config = ComparisonConfig { metric: Metric::P95, ..ComparisonConfig::default() };
        SweepComparison::of(&[variant("A", 1), variant("B", 4)], &config).unwrap().page(&[]).text()
    };
    let meant = text(true);
    assert!(
        meant.contains("5.00ms") && !meant.contains("beyond") && !meant.contains("not accepted"),
        "{meant}"
    );
    let outage = text(false);
    assert!(outage.contains("beyond") && outage.contains("100.0 % of load/invalid of B"), "{outage}");
}

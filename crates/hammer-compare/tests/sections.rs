//! Parts of a comparison that are asked for: components, hops, service levels, a kept baseline.

use std::collections::BTreeMap;

use hammer_compare::{
    Comparison, ComparisonConfig, ComponentUse, Hops, MeasuredRun, MeasuredSeries, Metric, SlaBound, Variant,
};

/// A variant with a run for each of these: rate, median and 95th percentile in milliseconds, and how many of 10,000 failed.
fn variant(label: &str, runs: &[(f64, f64, f64, u64)]) -> Variant {
    let run = |(rate, p50, p95, failed): &(f64, f64, f64, u64)| MeasuredRun {
        tool: "hey".to_owned(),
        measured_seconds: 1e4 / rate,
        series: vec![MeasuredSeries {
            path: "requests".to_owned(),
            is_closed_loop: true,
            count: 10_000,
            offered: 10_000,
            accepted: 10_000 - failed,
            figures: BTreeMap::from([
                (Metric::Rate, *rate),
                (Metric::P50, p50 * 1e6),
                (Metric::P95, p95 * 1e6),
            ]),
            ..MeasuredSeries::default()
        }],
        ..MeasuredRun::default()
    };
    Variant { label: label.to_owned(), runs: runs.iter().map(run).collect(), ..Variant::default() }
}

fn config() -> ComparisonConfig {
    ComparisonConfig { metric: Metric::P95, ..ComparisonConfig::default() }
}

/// The lines below that heading, up to the next empty one.
fn table<'a>(text: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let below = text.lines().skip_while(|line| *line != heading).skip(2).take_while(|line| !line.is_empty());
    let cells = |line: &'a str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    below.map(cells).collect()
}

/// The published use of both generations: 0.064 and 0.459 ms of CPU a request, 15,517 and 2,180 requests a core-second.
#[test]
fn what_a_request_costs_of_the_published_components_is_what_was_published() {
    let mut variants =
        vec![variant("2.x", &[(931.0, 50.0, 67.0, 0)]), variant("3.x", &[(29.0, 1_620.0, 3_140.0, 4)])];
    let read = |rows: &str| {
        ComponentUse::read(&format!("component,phase,cpu_cores,memory_bytes,limit_cores\n{rows}")).unwrap()
    };
    variants[0].measured_components = read(
        "oauth-proxy,idle,0.001,,\noauth-proxy,load,0.01,12e6,0.5\necho,idle,0.001,,\necho,load,0.05,50e6,0.5\n",
    );
    variants[1].measured_components = read(
        "echo,idle,0.0003,,\necho,load,0.0103,27e6,\nkube-rbac-proxy,idle,0.0002,,\nkube-rbac-proxy,load,0.0030,13.2e6,\n",
    );
    let comparison = Comparison::of(variants, config()).unwrap();
    let text = comparison.page(&[]).text();
    let used = table(&text, "CPU and memory, idle and under load");
    assert_eq!(used[1], ["2.x: oauth-proxy", "0.00100", "0.0100", "0.00900", "-", "12.0 MB"]);
    assert_eq!(used[3], ["2.x: all", "0.00200", "0.0600", "0.0580", "-", "62.0 MB"]);
    assert_eq!(used[6], ["3.x: all", "0.000500", "0.0133", "0.0128", "-", "40.2 MB"]);
    let cost = table(&text, "CPU of a request");
    // The first to reach its limit is that of all, which the sum of limits would put off.
    assert_eq!(cost[2][3..], ["0.500", "10.0x"]);
    assert_eq!(cost[3], ["2.x: all", "0.0644", "15,517", "1.00", "10.0x"]);
    assert!(text.contains("memory of 2.x, 3.x is the mean of samples"), "{text}");
    assert_eq!(cost[6], ["3.x: all", "0.459", "2,180", "-", "-"]);
    assert!(text.contains("a request of 3.x costs 7.12x the CPU of one of 2.x"), "{text}");
    let all: Vec<_> = comparison.components();
    assert!((all[5].cpu_ms_per_request.unwrap() - 0.0133 / 29.0 * 1e3).abs() < 1e-12);
}

#[test]
fn each_link_adds_what_it_has_beyond_the_one_before_and_the_rest_is_unaccounted() {
    let chain = || {
        vec![
            variant("backend", &[(500.0, 1.0, 50.0, 0)]),
            variant("auth", &[(500.0, 3.0, 60.0, 0)]),
            variant("route", &[(500.0, 4.0, 65.0, 0)]),
            variant("outside", &[(500.0, 5.0, 67.0, 0)]),
        ]
    };
    let hops = |total: Option<&str>| Some(Hops { total: total.map(str::to_owned) });
    let told = |total| Comparison::of(chain(), ComparisonConfig { hops: hops(total), ..config() });
    let text = told(Some("outside")).unwrap().page(&[]).text();
    let rows = table(&text, "p95 of requests by hop");
    assert_eq!(rows[1], ["backend", "50.0ms", "+50.0ms", "74.6 %"]);
    assert_eq!(rows[2], ["auth", "60.0ms", "+10.0ms", "14.9 %"]);
    assert_eq!(rows[3], ["route", "65.0ms", "+5.00ms", "7.5 %"]);
    assert_eq!(rows[4], ["unaccounted", "-", "+2.00ms", "3.0 %"]);
    assert_eq!(rows[5][..2], ["outside", "67.0ms"]);
    assert!(text.contains("percentiles do not add up") && !text.contains("different rates"), "{text}");
    let whole = told(None).unwrap();
    assert_eq!((whole.hops[0].links.len(), whole.hops[0].unaccounted_ns), (4, None));
    assert_eq!(whole.hops[0].links[3].share, Some(0.2));
    let why = told(Some("inside")).unwrap_err().to_string();
    assert!(why.contains("no variant is called `inside`") && why.contains("backend, auth"), "{why}");
    let mut uneven = chain();
    uneven[1] = variant("auth", &[(600.0, 3.0, 60.0, 0)]);
    let uneven = Comparison::of(uneven, ComparisonConfig { hops: hops(None), ..config() }).unwrap();
    assert!(uneven.page(&[]).text().contains("different rates (500/s to 600/s)"));
}

#[test]
fn a_service_level_is_met_by_the_worst_run_or_not_at_all() {
    let older = variant("2.x", &[(925.0, 51.0, 68.0, 0), (892.0, 52.0, 74.0, 0)]);
    let newer = variant("3.x", &[(29.0, 1_596.0, 3_121.0, 2), (28.6, 1_606.0, 3_197.0, 20)]);
    let sla = ["p95 < 100ms", "rate > 900/s", "success > 99.9%", "p99 < 1s"];
    let sla: Vec<SlaBound> = sla.iter().map(|bound| bound.parse().unwrap()).collect();
    let comparison = Comparison::of(vec![older, newer], ComparisonConfig { sla, ..config() }).unwrap();
    let text = comparison.page(&[]).text();
    let rows = table(&text, "service levels of requests, by the worst run");
    assert_eq!(rows[1], ["p95 < 100ms", "met: 74.0ms in run 2", "NOT MET: 3.20s in run 2"]);
    assert_eq!(rows[2], ["rate > 900/s", "NOT MET: 892/s in run 2", "NOT MET: 28.6/s in run 2"]);
    assert_eq!(rows[3], ["success > 99.9%", "met: 100 % in run 1", "NOT MET: 99.80 % in run 2"]);
    // What nobody measured meets nothing.
    assert_eq!(rows[4], ["p99 < 1s", "NOT MET: -", "NOT MET: -"]);
    let unmet: Vec<usize> = comparison.sla.iter().map(|held| held.unmet().count()).collect();
    assert_eq!(unmet, [1, 1, 1, 1]);
}

#[test]
fn a_baseline_comes_back_as_it_was_kept() {
    let mut kept = variant("2.x", &[(925.0, 51.0, 68.0, 0), (892.0, 52.0, f64::INFINITY, 3)]);
    kept.measured_components =
        ComponentUse::read("component,phase,cpu_cores,memory_bytes\na,load,1,2\n").unwrap();
    kept.runs[0].at.insert("users".to_owned(), 10.into());
    let json = kept.to_baseline().unwrap();
    assert!(json.starts_with("{\"schema\":\"hammer.baseline/1\","), "{json}");
    assert_eq!(Variant::from_baseline(&json).unwrap(), kept);
    for (text, told) in [
        ("{}", "its schema is `none`, not `hammer.baseline/1`"),
        ("{\"schema\":\"hammer.report/1\"}", "its schema is `hammer.report/1`"),
        ("{\"schema\":\"hammer.baseline/1\"}", "missing field"),
        ("{\"schema\":\"hammer.baseline/1\",\"label\":\"a\",\"runs\":[]}", "it has no run"),
        ("runs", "expected value"),
    ] {
        let why = Variant::from_baseline(text).unwrap_err().to_string();
        assert!(why.contains(told), "{told}: {why}");
    }
}

/// Users who think wait for something else than answers, in their load or in a step of a flow.
#[test]
fn only_users_who_do_not_think_say_their_rate_once_more_by_their_response_times() {
    let told = |workload: &str| {
        let mut variants = vec![variant("A", &[(100.0, 1.0, 2.0, 0)]), variant("B", &[(50.0, 2.0, 4.0, 0)])];
        for run in variants.iter_mut().flat_map(|own| &mut own.runs) {
            run.plan.insert("workloads".to_owned(), format!("[{{\"name\":\"requests\",{workload}}}]"));
            let series = &mut run.series[0];
            let mean = series.figures[&Metric::P50];
            series.figures.insert(Metric::Mean, mean);
        }
        let warnings = Comparison::of(variants, config()).unwrap().warnings;
        warnings.iter().any(|warning| warning.contains("users waited for answers and for nothing else"))
    };
    assert!(told(r#""load":{"users":2}"#));
    assert!(!told(r#""load":{"users":2,"think":"3ms"}"#));
    assert!(!told(r#""load":{"users":2},"http":{"steps":[{"path":"/a","think":"3ms"}]}"#));
}

#[test]
fn runs_that_draw_their_arrivals_by_one_seed_are_told() {
    let told = |load: &str, seeds: [u64; 3]| {
        let drawn = |label: &str| {
            let mut own = variant(label, &[(100.0, 1.0, 2.0, 0), (101.0, 1.0, 2.0, 0), (102.0, 1.0, 2.0, 0)]);
            for (run, seed) in own.runs.iter_mut().zip(seeds) {
                run.plan.insert("workloads".to_owned(), format!("[{{\"load\":{load}}}]"));
                run.environment.insert("seed".to_owned(), seed.to_string());
            }
            own
        };
        let warnings = Comparison::of(vec![drawn("A"), drawn("B")], config()).unwrap().warnings;
        warnings.iter().filter(|warning| warning.contains("draw the same arrivals, by one seed")).count()
    };
    const POISSON: &str = r#"{"rate":"100/s","arrivals":"poisson"}"#;
    assert_eq!(
        [told(POISSON, [7; 3]), told(POISSON, [7, 8, 9]), told(r#"{"rate":"100/s"}"#, [7; 3])],
        [2, 0, 0]
    );
}

/// In an open loop both were offered the same, and one of them may do a hundred times as much.
#[test]
fn replicas_are_told_of_what_variants_can_do_and_not_of_what_they_were_offered() {
    let variants = || vec![variant("A", &[(292.0, 1.0, 2.0, 0)]), variant("B", &[(277.0, 1.0, 2.0, 500)])];
    let text = |variants| Comparison::of(variants, config()).unwrap().page(&[]).text();
    assert!(text(variants()).contains("replicas for 292/s"));
    let mut open = variants();
    open.iter_mut().flat_map(|own| &mut own.runs).for_each(|run| run.series[0].is_closed_loop = false);
    let text = text(open.clone());
    assert!(
        !text.contains("replicas for") && text.contains("in an open loop a rate is what was offered"),
        "{text}"
    );
    assert!(Comparison::of(open, config()).unwrap().json(&[]).contains("\"replicas\": null"));
}

#[test]
fn a_run_that_nothing_is_known_of_is_the_one_that_does_not_meet_a_level() {
    let older = variant("2.x", &[(925.0, 51.0, 68.0, 0); 3]);
    let mut newer = variant("3.x", &[(925.0, 51.0, 68.0, 0), (925.0, 51.0, 68.0, 0), (925.0, 52.0, 70.0, 0)]);
    newer.runs[1].series[0].figures.remove(&Metric::P95);
    let sla = vec!["p95 < 100ms".parse().unwrap()];
    let comparison = Comparison::of(vec![older, newer], ComparisonConfig { sla, ..config() }).unwrap();
    let text = comparison.page(&[]).text();
    let rows = table(&text, "service levels of requests, by the worst run");
    assert_eq!(rows[1], ["p95 < 100ms", "met: 68.0ms in run 1", "NOT MET: - in run 2"]);
}

/// As the first release with baselines kept it: of whatever a kept run has beside that today nothing is known.
#[test]
fn a_baseline_of_the_first_form_is_read_by_every_later_version() {
    let kept = Variant::from_baseline(include_str!("../testdata/baseline-1.json")).unwrap();
    assert_eq!((kept.label.as_str(), kept.runs.len(), kept.runs[0].tool.as_str()), ("A", 3, "hammer"));
    let series = &kept.runs[2].series[0];
    assert_eq!((series.path.as_str(), series.offered, series.accepted), ("web/get", 100, 100));
    assert!(series.figures[&Metric::P95] > 0.0 && !series.refusals_meant);
    let today = Variant { label: "today".to_owned(), ..kept.clone() };
    let text = Comparison::of(vec![kept, today], config()).unwrap().page(&[]).text();
    assert!(text.contains("today is not distinguishable from A: 1.000 times"), "{text}");
}

/// The published mixed load: 115 and 137 signatures a second, 870 and 1,160 verifications, 462 and 411 ms, 230 and 174 ms.
#[test]
fn a_baseline_and_an_optimized_profile_stand_side_by_side_with_what_changed() {
    let profile = |label: &str, sign: (f64, f64), verify: (f64, f64)| {
        let series = |path: &str, rate: f64, p95: Option<f64>| MeasuredSeries {
            path: path.to_owned(),
            is_total: path == "total",
            count: rate as u64 * 300,
            offered: rate as u64 * 300,
            accepted: rate as u64 * 300,
            figures: [(Metric::Rate, Some(rate)), (Metric::P95, p95.map(|ms| ms * 1e6))]
                .into_iter()
                .filter_map(|(metric, figure)| Some((metric, figure?)))
                .collect(),
            ..MeasuredSeries::default()
        };
        let run = MeasuredRun {
            tool: "hammer".to_owned(),
            measured_seconds: 300.0,
            series: vec![
                series("sign/sign", sign.0, Some(sign.1)),
                series("verify/verify", verify.0, Some(verify.1)),
                series("total", sign.0 + verify.0, None),
            ],
            ..MeasuredRun::default()
        };
        Variant { label: label.to_owned(), runs: vec![run], ..Variant::default() }
    };
    let variants = vec![
        profile("Baseline", (115.0, 462.0), (870.0, 230.0)),
        profile("Optimized", (137.0, 411.0), (1_160.0, 174.0)),
    ];
    let text = Comparison::of(variants, config()).unwrap().page(&[]).text();
    let rows = table(&text, "series side by side");
    assert_eq!(rows[1], ["verify/verify", "870/s", "1,160/s", "+33.3 %", "230ms", "174ms", "-24.3 %"]);
    assert_eq!(rows[2], ["sign/sign", "115/s", "137/s", "+19.1 %", "462ms", "411ms", "-11.0 %"]);
    // Published as +31.5 %, of 1.29 thousand; a total has no response times where nobody kept histograms.
    assert_eq!(rows[3], ["total", "985/s", "1,297/s", "+31.7 %", "-", "-", "-"]);
}

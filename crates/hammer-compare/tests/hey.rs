//! What hey printed is compared as the published report did by hand.

use hammer_compare::{
    Bound, Comparison, ComparisonConfig, ComparisonError, Conclusion, MeasuredRun, MeasuredSeries, Metric,
    Variant,
};

/// Recorded runs.
fn recorded(label: &str, runs: std::ops::RangeInclusive<usize>) -> Variant {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hey");
    let read = |run| {
        MeasuredRun::read(&std::fs::read_to_string(format!("{folder}/{label}-{run}.txt")).unwrap()).unwrap()
    };
    Variant { label: label.to_owned(), runs: runs.map(read).collect(), ..Variant::default() }
}

/// Runs of 10,000 requests with these rates, and with these times in milliseconds: mean, median and P95; and so many refused in each.
fn published(label: &str, runs: [(f64, [u64; 3]); 5], refused: [u64; 5]) -> Variant {
    let run = |((rate, [mean, p50, p95]), refused): ((f64, [u64; 3]), u64)| {
        let seconds = |ms: u64| ms as f64 / 1e3;
        let text = format!(
            "\nSummary:\n  Total:\t{:.4} secs\n  Slowest:\t{:.4} secs\n  Fastest:\t0.0100 secs\n  Average:\t{:.4} secs\n  Requests/sec:\t{rate}\n\n\
             Latency distribution:\n  50% in {:.4} secs\n  95% in {:.4} secs\n\n\
             Status code distribution:\n  [200]\t{} responses\n  [403]\t{refused} responses\n",
            1e4 / rate,
            seconds(2 * p95),
            seconds(mean),
            seconds(p50),
            seconds(p95),
            10_000 - refused,
        );
        MeasuredRun::read(&text).unwrap()
    };
    Variant {
        label: label.to_owned(),
        runs: runs.into_iter().zip(refused).map(run).collect(),
        ..Variant::default()
    }
}

/// The published iterations of two generations of a gateway; the means of the rates, which alone are published beside their ranges.
fn generations() -> Vec<Variant> {
    let older = [
        (925.0, [53, 51, 68]),
        (940.0, [51, 49, 66]),
        (951.0, [52, 50, 64]),
        (892.0, [54, 52, 74]),
        (947.0, [52, 50, 62]),
    ];
    let newer = [
        (29.0, [1_690, 1_596, 3_121]),
        (28.6, [1_700, 1_606, 3_197]),
        (28.9, [1_710, 1_639, 3_116]),
        (28.8, [1_700, 1_639, 3_156]),
        (29.5, [1_670, 1_600, 3_101]),
    ];
    vec![published("2.x", older, [0; 5]), published("3.x", newer, [2, 2, 6, 8, 2])]
}

fn compared(metric: Metric, variants: Vec<Variant>) -> Comparison {
    Comparison::of(variants, ComparisonConfig { metric, ..ComparisonConfig::default() }).unwrap()
}

#[test]
fn the_published_generations_are_what_they_were_said_to_be_and_one_ratio_is_the_other_once_more() {
    let comparison = compared(Metric::P95, generations());
    let (series, figure) = (&comparison.series[0], &comparison.verdict);
    let ratio = &figure.ratios[0];
    let estimate = ratio.estimate.unwrap();
    assert_eq!(ratio.conclusion, Conclusion::Slower);
    assert!((46.5..47.5).contains(&estimate.ratio), "{estimate:?}");
    assert!(
        (42.0..estimate.ratio).contains(&estimate.low) && (estimate.ratio..52.0).contains(&estimate.high)
    );
    // The published deviations are 4.7 and 37 ms; of samples they are these.
    let deviation = |place: usize| figure.samples[place].standard_deviation().unwrap() / 1e6;
    assert!((deviation(0) - 4.604).abs() < 1e-3 && (deviation(1) - 38.558).abs() < 1e-3);
    let rate = series.figures.iter().find(|figure| figure.metric == Metric::Rate).unwrap();
    assert_eq!(rate.ratios[0].conclusion, Conclusion::Slower);
    let warned = comparison.warnings.join("\n");
    assert!(warned.contains("is that of rates") && warned.lines().count() == 1, "{warned}");
    for (bound, found) in [("p95 > 1.1x", 1), ("p95 > 100x", 0), ("rate < 0.9x", 1), ("rate > 2x", 0)] {
        assert_eq!(bound.parse::<Bound>().unwrap().found(&comparison).unwrap().len(), found, "{bound}");
    }
    let page = comparison.page(&[]);
    for text in [page.text(), page.markdown()] {
        for said in [
            "p95 of requests: 3.x is slower than 2.x: 4",
            "p95 of requests by run",
            "3.121s",
            "66.8ms",
            "HTTP 403",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
}

#[test]
fn chains_that_a_busy_machine_served_are_not_told_apart_and_how_many_runs_it_would_take_is_said() {
    let comparison = compared(Metric::P95, vec![recorded("2x", 1..=5), recorded("3x", 1..=5)]);
    let ratio = &comparison.verdict.ratios[0];
    assert_eq!(ratio.conclusion, Conclusion::NotDistinguishable);
    let needed = ratio.runs_needed.unwrap();
    assert!((10..200).contains(&needed), "{needed}");
    assert!(comparison.page(&[]).text().contains("runs a side"));
    assert!("p95 < 1x".parse::<Bound>().unwrap().found(&comparison).unwrap().is_empty());
    let same = compared(Metric::P95, vec![recorded("2x", 1..=5), recorded("2x", 1..=5)]);
    let ratio = &same.verdict.ratios[0];
    assert_eq!(
        (ratio.conclusion, ratio.ratio, ratio.runs_needed),
        (Conclusion::NotDistinguishable, Some(1.0), None)
    );
}

#[test]
fn two_runs_say_nothing_and_a_gate_goes_by_what_there_is() {
    let mut variants = generations();
    variants[1].runs.truncate(2);
    let comparison = compared(Metric::P95, variants);
    let ratio = &comparison.verdict.ratios[0];
    assert_eq!(ratio.conclusion, Conclusion::TooFew);
    assert!(comparison.warnings[0].contains("3.x has 2 runs: fewer than 3"), "{:?}", comparison.warnings);
    assert_eq!("p95 > 1.1x".parse::<Bound>().unwrap().found(&comparison).unwrap().len(), 1);
}

/// Runs of as many requests a second, with that many refused ones and that P95 in tenths of a millisecond.
fn even(label: &str, runs: usize, refused: u64, p95: u64) -> Variant {
    let times = [1, 1, 1];
    let mut variant = published(label, [(1_000.0, times); 5], [refused; 5]);
    let run = variant.runs[0].clone();
    variant.runs = (0..runs)
        .map(|place| {
            let mut run = run.clone();
            // No two are the same.
            run.measured_seconds += place as f64 / 1e3;
            run.series[0].figures.insert(Metric::P95, p95 as f64 * 1e5);
            run
        })
        .collect();
    variant
}

#[test]
fn figures_that_do_not_vary_differ_by_more_than_hey_prints() {
    for (first, second, conclusion) in [
        (1, 1, Conclusion::NotDistinguishable),
        (4, 5, Conclusion::NotDistinguishable),
        (4, 6, Conclusion::Slower),
    ] {
        let comparison = compared(Metric::P95, vec![even("A", 5, 0, first), even("B", 7, 0, second)]);
        assert_eq!(comparison.verdict.ratios[0].conclusion, conclusion, "{first} {second}");
    }
}

#[test]
fn no_gate_passes_on_an_outage_nor_on_what_nobody_measured() {
    let comparison = compared(Metric::P95, vec![even("A", 5, 0, 9), even("B", 5, 10_000, 3)]);
    let found = |bound: &str| bound.parse::<Bound>().unwrap().found(&comparison);
    assert_eq!(found("rate < 0.9x").unwrap()[0].ratio, 0.0);
    assert!(found("p99 > 1.1x").unwrap_err().to_string().contains("A has no p99 of requests"));
    let warned = comparison.warnings.join("\n");
    assert!(warned.contains("100.0 % of requests of B were not accepted"), "{warned}");
    // What has to get better has not.
    let same = compared(Metric::P95, vec![even("A", 5, 0, 9), even("B", 5, 0, 9)]);
    assert_eq!("p95 > 0.9x".parse::<Bound>().unwrap().found(&same).unwrap().len(), 1);
    assert!("p95 > 1x".parse::<Bound>().unwrap().found(&same).unwrap().is_empty());
    let both = compared(Metric::P95, vec![even("A", 5, 10_000, 9), even("B", 5, 10_000, 9)]);
    assert!("rate < 0.9x".parse::<Bound>().unwrap().found(&both).is_err());
}

#[test]
fn runs_that_lack_a_figure_or_a_series_keep_their_places_and_are_told() {
    let mut variants = generations();
    variants[1].runs[0].series[0].figures.remove(&Metric::P95);
    let extra =
        |path: &str| MeasuredSeries { path: path.to_owned(), ..variants[0].runs[1].series[0].clone() };
    let (second, other) = (extra("second"), extra("other"));
    variants[0].runs[1].series.push(second.clone());
    variants[1].runs[2].series.extend([second, other]);
    variants[1].runs[3] = variants[1].runs[2].clone();
    variants[1].runs[4].findings.push("ended so: a signal".to_owned());
    let comparison = compared(Metric::P95, variants);
    let warned = comparison.warnings.join("\n");
    for said in [
        "1 of 5 runs of 3.x have no p95 of requests",
        "4 of 5 runs of 2.x have no series second",
        "5 of 5 runs of 2.x have no series other",
        "run 4 of 3.x is run 3 of 3.x once more",
        "run 5 of 3.x ended so: a signal",
    ] {
        assert!(warned.contains(said), "{said}: {warned}");
    }
    let text = comparison.page(&[]).text();
    let by_run: Vec<&str> =
        text.lines().skip_while(|line| !line.contains("p95 of requests by run")).collect();
    assert!(
        by_run[3].trim().starts_with("run 1")
            && by_run[3].ends_with('-')
            && by_run[4].contains("66.00ms   3.197s "),
        "{by_run:?}"
    );
    assert!(comparison.series.iter().any(|series| series.path == "second"));
}

#[test]
fn what_cannot_be_compared_is_told() {
    let config = |series: Option<&str>| ComparisonConfig {
        metric: Metric::P95,
        series: series.map(str::to_owned),
        ..ComparisonConfig::default()
    };
    let one = Comparison::of(vec![recorded("2x", 1..=3)], config(None)).unwrap_err();
    assert_eq!(one, ComparisonError::OneVariant);
    let other = Comparison::of(generations(), config(Some("submit/chain"))).unwrap_err();
    assert_eq!(
        other.to_string(),
        "compare: not all variants have a series `submit/chain`; all have requests"
    );
    let empty = Comparison::of(vec![recorded("2x", 1..=3), Variant::default()], config(None)).unwrap_err();
    assert!(matches!(empty, ComparisonError::NoRun(_)));
}

/// The cells of the row that starts so, in the table below that heading.
fn row<'a>(text: &'a str, heading: &str, name: &str) -> Vec<&'a str> {
    let mut below = text.lines().skip_while(|line| *line != heading).skip(2);
    let found = below.find(|line| line.trim_start().starts_with(name));
    let found = found.unwrap_or_else(|| panic!("{heading}: {name}: {text}"));
    found.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// The published tables, by the figures of the published iterations. Where theirs was rounded before it was computed with, what comes of the iterations stands.
#[test]
fn the_published_tables_come_out_of_the_published_iterations() {
    let text = compared(Metric::P95, generations()).page(&[]).text();
    let row = |heading: &str, name: &str| row(&text, heading, name);
    // Executive: 67 ms, 50 ms, 931/s, 100 %; 3,140 ms, 1,620 ms, 29/s, 99.96 %; 47x, 32x.
    let short = "requests in short";
    assert_eq!(row(short, "2.x"), ["2.x", "66.8ms", "50.4ms", "931/s", "100 %", "-", "-", "-"]);
    assert_eq!(row(short, "3.x")[..5], ["3.x", "3.14s", "1.62s", "28.9/s", "99.96 %"]);
    assert_eq!(row(short, "3.x")[5..], ["47.1x", "32.1x", "0.0311x"]);
    // By iteration: 31.3x, 32.8x, 32.8x, 31.5x, 32.0x, and 45.9x, 48.4x, 48.7x, 42.7x (of the rounded), 50.0x.
    let (p50, p95) = ("p50 of requests by run", "p95 of requests by run");
    let ratios = |heading| (1..=5).map(move |run| row(heading, &format!("run {run}"))[4]);
    assert_eq!(ratios(p50).collect::<Vec<_>>(), ["31.3x", "32.8x", "32.8x", "31.5x", "32.0x"]);
    assert_eq!(ratios(p95).collect::<Vec<_>>(), ["45.9x", "48.4x", "48.7x", "42.6x", "50.0x"]);
    assert_eq!(row(p50, "run 1"), ["run 1", "51.00ms", "1.596s", "+1.545s", "31.3x"]);
    assert_eq!(row(p95, "mean"), ["mean", "66.80ms", "3.138s", "+3.071s", "47.0x"]);
    assert_eq!(row(p95, "deviation"), ["deviation", "4.604ms", "38.56ms", "-", "-"]);
    // Throughput: 931, 892, 951, 59 (6.3 %); 29, 28.6, 29.5, 0.9 (3.1 %); 54 s and 1,721 s; 32 replicas, which are not enough.
    let rates = |name| row("rates of requests", name);
    assert_eq!(rates("2.x"), ["2.x", "931/s", "892/s", "951/s", "59.0/s", "6.3 %", "2.6 %", "53.7s", "1"]);
    let newer = rates("3.x");
    assert_eq!((newer[2], newer[3], newer[5], newer[8]), ("28.6/s", "29.5/s", "3.1 %", "33"));
    assert!(newer[7].starts_with("172"), "{newer:?}");
    // Reliability: 50,000, 49,980, 20, 99.96 %; 2, 2, 6, 8 and 2 by iteration.
    let became = |name| row("what became of requests", name);
    assert_eq!(became("2.x"), ["2.x", "50,000", "50,000", "0", "100 %"]);
    assert_eq!(became("3.x"), ["3.x", "50,000", "49,980", "20", "99.96 %"]);
    assert_eq!(row("not accepted", "3.x"), ["3.x: HTTP 403", "2", "2", "6", "8", "2", "20"]);
    let bars: Vec<&str> = text.lines().skip_while(|line| *line != "p95 of requests as bars").collect();
    assert_eq!((bars[2], bars[3].matches('▇').count()), ("  2.x  ▇ 66.8ms", 40), "{text}");
    assert!(bars[3].ends_with("3.14s (47.1x)"), "{text}");
    assert!(text.contains("hey does not say whether it kept its own plan"), "{text}");
    assert_eq!(row("configuration and environment", "requests a run")[1..], ["10,000", "10,000"]);
    assert!(text.contains("\n  tool: hey\n"), "{text}");
    // As numbers: 67 and 3,138 ms, 47x; 50 and 1,616 ms; 931 and 29/s, 32x less.
    let json: serde_json::Value =
        serde_json::from_str(&compared(Metric::P95, generations()).json(&[])).unwrap();
    let figure = |metric: &str, of: &dyn Fn(&serde_json::Value) -> Option<f64>| {
        let figures = json["series"][0]["figures"].as_array().unwrap();
        of(figures.iter().find(|figure| figure["metric"] == metric).unwrap()).unwrap()
    };
    let mean = |metric: &str, place: usize| figure(metric, &|own| own["variants"][place]["mean"].as_f64());
    let ratio = |metric: &str| figure(metric, &|own| own["ratios"][0]["ratio"].as_f64());
    let ms = |metric: &str, place: usize| (mean(metric, place) / 1e6).round();
    assert_eq!([ms("p95", 0), ms("p95", 1), ms("p50", 0), ms("p50", 1)], [67.0, 3_138.0, 50.0, 1_616.0]);
    assert_eq!([mean("rate", 0).round(), mean("rate", 1).round()], [931.0, 29.0]);
    assert_eq!(
        [ratio("p95").round(), ratio("p50").round(), (1.0 / ratio("rate")).round()],
        [47.0, 32.0, 32.0]
    );
    let newer = &json["variants"][1];
    assert_eq!((newer["success"].as_f64(), newer["replicas"].as_u64()), (Some(0.9996), Some(33)));
    assert_eq!(json["failed"][0]["runs"], serde_json::json!([2, 2, 6, 8, 2]));
}

#[test]
fn markdown_has_the_bars_as_code_and_no_table_of_one_run() {
    let mut variants = generations();
    variants.iter_mut().for_each(|variant| variant.runs.truncate(1));
    let text = compared(Metric::P95, variants).page(&[]).markdown();
    assert!(text.contains("\n    2.x  ▇ 68.0ms\n    3.x  ▇▇"), "{text}");
    assert!(!text.contains("by run\n"), "{text}");
}

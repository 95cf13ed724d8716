//! `hammer compare`: what it prints of runs that hammer and hey measured, and how it ends.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use folder::Folder;
use hammer::{Ended, hammer};

/// Recorded runs of hey.
fn hey(label: &str, runs: std::ops::RangeInclusive<usize>) -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../hammer-compare/testdata/hey");
    runs.map(|run| format!("{folder}/{label}-{run}.txt")).collect()
}

fn compare(options: &[&str], variants: &[Vec<String>]) -> Ended {
    let runs = variants.join(&"--".to_owned());
    let all: Vec<&str> =
        ["compare"].iter().chain(options).copied().chain(runs.iter().map(String::as_str)).collect();
    hammer(&all)
}

#[test]
fn reports_of_hammer_are_compared_by_series_and_a_bound_ends_with_1() {
    let folder = Folder::new();
    let reports = |label: &str, delay: &str| -> Vec<String> {
        let plan = folder.write(
            &format!("{label}.yaml"),
            &format!(
                "target: {{ lab: {{ http: {{ faults: {{ rules: [{{ latency: {{ constant: {delay} }} }}] }} }} }} }}\n\
                 workloads: [{{ name: web, http: {{}}, load: {{ rate: 200/s }} }}]\nphases: {{ measurement: 500ms }}\n"
            ),
        );
        let run = |number| {
            let ended = hammer(&["run", &plan, "--out", "-"]);
            ended.report();
            folder.write(&format!("{label}-{number}.json"), &ended.stdout)
        };
        (1..=3).map(run).collect()
    };
    // Four times as long, whatever the machine adds to both.
    let (short, long) = (reports("short", "20ms"), reports("long", "80ms"));
    let options = ["--metric", "p50", "--label", "short", "--label", "long", "--fail-if", "p50 > 1.5x"];
    let ended = compare(&options, &[short.clone(), long.clone()]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    for said in ["p50 of web/get: long is slower than short", "p50 > 1.5x: long has", "p50 of web/get by run"]
    {
        assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
    }
    assert!(!ended.stdout.contains("is that of rates"), "an open loop: {}", ended.stdout);
    let same = compare(
        &["--metric", "p50", "--fail-if", "p50 > 1.5x", "--series", "web/get"],
        &[short.clone(), short],
    );
    assert_eq!(same.code, 0, "{} {}", same.stdout, same.stderr);
    assert!(same.stdout.contains("B is not distinguishable from A"), "{}", same.stdout);
}

#[test]
fn plans_are_carried_out_by_turns_and_their_reports_kept() {
    let folder = Folder::new();
    let plan = |label: &str, delay: &str| {
        folder.write(
            &format!("{label}.yaml"),
            &format!(
                "target: {{ lab: {{ http: {{ faults: {{ rules: [{{ latency: {{ constant: {delay} }} }}] }} }} }} }}\n\
                 workloads: [{{ name: web, http: {{}}, load: {{ rate: 200/s }} }}]\nphases: {{ measurement: 300ms }}\n"
            ),
        )
    };
    let (short, long, kept) = (plan("short", "10ms"), plan("long", "80ms"), folder.path("kept"));
    let ended =
        hammer(&["compare", "--metric", "p50", "--rounds", "3", "--keep", &kept, "--run", &short, &long]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("p50 of web/get: B is slower than A"), "{}", ended.stdout);
    let reports: Vec<String> =
        ["A", "B"].iter().flat_map(|of| (1..=3).map(move |run| format!("{of}-{run}.json"))).collect();
    for report in &reports {
        assert!(std::fs::exists(format!("{kept}/{report}")).unwrap(), "{report}");
    }
    let one = hammer(&["compare", "--run", &short]);
    assert!(one.code == 2 && one.stderr.contains("2 values required"), "{}", one.stderr);
    let broken = folder.write("broken.yaml", "target: {}\n");
    let ended = hammer(&["compare", "--run", &broken, &long]);
    assert!(
        ended.code == 2 && ended.stderr.contains("broken.yaml: it left no report (exit 2)"),
        "{}",
        ended.stderr
    );
}

#[test]
fn three_variants_are_each_beside_the_first_in_markdown_too() {
    let variants = [hey("2x", 1..=5), hey("3x", 1..=5), hey("3x", 1..=2)];
    let ended = compare(&["--as", "markdown", "--label", "2.x"], &variants);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let text = ended.stdout;
    assert!(text.starts_with("## B (5 runs), C (2 runs) beside 2.x (5 runs)\n"), "{text}");
    for said in
        ["- p99 of requests: B is not distinguishable from 2.x", "fewer than 3 runs a side", "| p99 | "]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn what_cannot_be_compared_is_told_by_its_name() {
    let folder = Folder::new();
    let none = vec![folder.write("none.txt", "no run\n")];
    let json = vec![folder.write("none.json", "{\"schema\": \"other\"}\n")];
    let one = || hey("2x", 1..=3);
    for (options, variants, told) in [
        (
            &[][..],
            vec![one(), none],
            "none.txt: it is neither a report of hammer nor what hey, oha, k6 or wrk prints",
        ),
        (&[], vec![one(), json], "none.json: read a report: its schema is `other`"),
        (&[], vec![one(), vec!["nowhere.json".to_owned()]], "read nowhere.json: "),
        (&[], vec![one(), vec![]], "required arguments were not provided"),
        (&[], vec![one(), one(), vec![]], "C has no run"),
        (
            &["--label", "a", "--label", "b", "--label", "c"],
            vec![one(), one()],
            "use --label: there are 3 for 2 variants",
        ),
        (&["--metric", "p42"], vec![one(), one()], "it is none of rate, mean, p50"),
        (&["--metric", "p99.9"], vec![one(), one()], "A has no p99.9 of requests"),
        (&["--series", "a/b"], vec![one(), one()], "not all variants have a series `a/b`; all have requests"),
        (&["--fail-if", "p99 > 1.1"], vec![one(), one()], "it has the form `p99 > 1.1x`"),
        (&["--confidence", "100%"], vec![one(), one()], "from 50% to 99.99%"),
        (&[], vec![one(), vec!["--label".to_owned()]], "options stand before the first run"),
    ] {
        let ended = compare(options, &variants);
        assert!(ended.code == 2 && ended.stderr.contains(told), "{told}: {} {}", ended.code, ended.stderr);
    }
}

//! What is compared where it is asked for: sweeps, links of a chain, components, service levels, a kept baseline, JSON.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::*;

const PLAN: &str = "target: { lab: { http: {} } }\nworkloads: [ { name: get, http: {}, load: { users: 1, operations: 100 } } ]\n";

/// The summary of the plan's runs with that change.
fn swept(folder: &Folder, name: &str, change: &str) -> String {
    let (plan, out) = (folder.write("plan.yaml", PLAN), folder.path(name));
    let ended = hammer(&["run", &plan, "--out", &out, "--tolerate-lag", "--set", change]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    out
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.stdout))
}

#[test]
fn sweeps_are_compared_point_by_point_and_a_chain_by_its_links() {
    let folder = Folder::new();
    let one = swept(&folder, "one.json", "sweep={users: [1, 2]}");
    let other = swept(&folder, "other.json", "sweep={users: [1, 2, 3]}");
    let page = folder.path("page.html");
    let ended =
        compare(&["--label", "1p", "--label", "3p", "--html", &page], &[vec![one.clone()], vec![other]]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.starts_with("3p beside 1p at 2 points of users\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("only 3p has users 3"), "{}", ended.stdout);
    let written = std::fs::read_to_string(&page).unwrap();
    for said in [
        "3p beside 1p at 2 points of users",
        "rate of get/get by points",
        "first variant: 1p, second variant: 3p",
    ] {
        assert!(written.contains(said), "{said}");
    }
    let of_claims = compare(
        &["--claims", &folder.write("claims.yaml", "- { name: x, a: p95, said: 1 }\n")],
        &[vec![one.clone()], vec![one.clone()]],
    );
    assert!(of_claims.code == 2 && of_claims.stderr.contains("it is of a sweep"), "{}", of_claims.stderr);
    let csv = folder.write("use.csv", "component,phase,cpu_cores,memory_bytes\nweb,load,1,1\n");
    let components = compare(&["--components", &format!("A={csv}")], &[vec![one.clone()], vec![one.clone()]]);
    assert!(components.code == 2 && components.stderr.contains("A is a sweep"), "{}", components.stderr);
    let mixed = compare(&[], &[vec![one.clone()], hey("2x", 1..=3)]);
    assert!(mixed.code == 2 && mixed.stderr.contains("one.json: it is of a sweep"), "{}", mixed.stderr);
    let chain = swept(&folder, "hops.json", "sweep={workloads.get.http.path: [/a, /b, /c]}");
    let asked = [
        "compare", "--hops", "--total", "outside", "--label", "backend", "--label", "auth", "--label",
        "outside", "--as", "json",
    ];
    let ended = hammer(&[&asked[..], &[&chain]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let hops = json(&ended)["hops"].clone();
    let (links, whole) = (&hops[0]["links"], &hops[0]["whole"]);
    assert_eq!(
        (links[0]["label"].as_str(), links[1]["label"].as_str(), whole.as_str()),
        (Some("backend"), Some("auth"), Some("outside"))
    );
    let number = |value: &Value| value.as_f64().unwrap();
    let parts =
        number(&links[0]["added_ns"]) + number(&links[1]["added_ns"]) + number(&hops[0]["unaccounted_ns"]);
    assert!((parts - number(&hops[0]["whole_ns"])).abs() < 1.0, "{hops}");
}

#[test]
fn json_has_the_figures_of_the_runs_that_were_given() {
    let runs = [hey("2x", 1..=5), hey("3x", 1..=5)];
    let ended = compare(&["--metric", "p95", "--as", "json"], &runs);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let all = json(&ended);
    assert_eq!((&all["schema"], &all["metric"]), (&Value::from("hammer.comparison/1"), &Value::from("p95")));
    let figures = all["series"][0]["figures"].as_array().unwrap();
    let p95 = figures.iter().find(|figure| figure["metric"] == "p95").unwrap();
    let of_run = |run: usize| {
        let text = std::fs::read_to_string(&runs[1][run]).unwrap();
        let line = text.lines().find_map(|line| line.trim().strip_prefix("95%% in ")).unwrap();
        line.trim_end_matches(" secs").parse::<f64>().unwrap() * 1e9
    };
    for run in 0..5 {
        assert!((p95["variants"][1]["runs"][run].as_f64().unwrap() - of_run(run)).abs() < 1.0, "{p95}");
    }
    let mean = (0..5).map(of_run).sum::<f64>() / 5.0;
    assert!((p95["variants"][1]["mean"].as_f64().unwrap() - mean).abs() < 1.0, "{p95}");
    let refused = compare(&["--as", "json", "--claims", "nowhere.yaml"], &runs);
    assert_eq!(refused.code, 2);
}

#[test]
fn components_are_of_the_variant_that_is_called_so() {
    let folder = Folder::new();
    let head = "component,phase,cpu_cores,memory_bytes\n";
    let csv = folder.write("older.csv", &format!("{head}auth,idle,0.1,1000\nauth,load,0.5,2000\n"));
    let runs = [hey("2x", 1..=3), hey("3x", 1..=3)];
    let given = |label: &str, path: &str| {
        compare(&["--metric", "p95", "--label", "2.x", "--components", &format!("{label}={path}")], &runs)
    };
    let ended = given("2.x", &csv);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let row = |text: &str| ended.stdout.lines().filter(|line| line.contains(text)).count();
    assert_eq!((row("2.x: auth"), row("0.500")), (2, 1), "{}", ended.stdout);
    let bad = folder.write("bad.csv", &format!("{head}auth,busy,0.1,1000\n"));
    for (label, path, told) in [
        ("4.x", csv.as_str(), "no variant is called that; there are 2.x, B"),
        ("2.x", &bad, "bad.csv: failed to read components: line 2: its phase is `busy`"),
        ("2.x", "nowhere.csv", "nowhere.csv"),
        ("", &csv, "expected LABEL=FILE"),
    ] {
        let ended = given(label, path);
        assert!(ended.code == 2 && ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
}

#[test]
fn a_service_level_decides_only_where_it_is_said_to() {
    let runs = [hey("2x", 1..=3), hey("3x", 1..=3)];
    let code = |level: &str, more: &[&str]| {
        let ended = compare(&[&["--metric", "p95", "--sla", level], more].concat(), &runs);
        assert!(
            ended.stdout.contains("service levels of requests, by the worst run"),
            "{} {}",
            ended.stdout,
            ended.stderr
        );
        ended.code
    };
    assert_eq!([code("p95 < 1ms", &[]), code("p95 < 1ms", &["--fail-if", "sla"])], [0, 1]);
    // A page that is kept says by itself that the gate failed, and so does JSON.
    let folder = Folder::new();
    for (gate, failed) in [(&[][..], false), (&["--fail-if", "sla"], true)] {
        let page = folder.path("page.html");
        let options =
            [&["--metric", "p95", "--sla", "p95 < 1ms", "--as", "json", "--html", &page], gate].concat();
        let all = json(&compare(&options, &runs));
        assert_eq!((&all["passed"], &all["sla"][0]["decides"]), (&(!failed).into(), &failed.into()));
        let written = std::fs::read_to_string(&page).unwrap();
        assert_eq!(written.contains("failed: p95 &lt; 1ms of B"), failed, "{written}");
        assert_eq!(written.contains("class=\"failed\" id=\"banner\""), failed);
    }
    assert_eq!(code("success > 99.9%", &["--fail-if", "sla"]), 0);
    let none = compare(&["--fail-if", "sla"], &runs);
    assert!(none.code == 2 && none.stderr.contains("no --sla states a service level"), "{}", none.stderr);
    let wrong = compare(&["--sla", "p95 < 100"], &runs);
    assert!(wrong.code == 2 && wrong.stderr.contains("time (like 250ms"), "{}", wrong.stderr);
}

#[test]
fn the_first_runs_are_kept_and_later_ones_compared_with_them() {
    let folder = Folder::new();
    let kept = folder.path("base.json");
    let with = |runs: &[String], options: &[&str]| {
        let options = [&["compare", "--metric", "p95", "--baseline", &kept], options].concat();
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        hammer(&[&options[..], &runs].concat())
    };
    let first = with(&hey("2x", 1..=5), &["--fail-if", "p95 > 1.1x"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.contains("5 runs of A are kept"), "{}", first.stdout);
    assert!(first.stdout.contains("no bound or service level is held"), "{}", first.stdout);
    let written = std::fs::read_to_string(&kept).unwrap();
    // As readable as any other file that is made here.
    let made = folder.write("made", "");
    let mode = |path: &str| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&kept), mode(&made));
    let later = with(&hey("3x", 1..=5), &["--as", "json"]);
    assert_eq!(later.code, 0, "{}", later.stderr);
    let direct = compare(
        &["--metric", "p95", "--as", "json", "--label", "baseline", "--label", "A"],
        &[hey("2x", 1..=5), hey("3x", 1..=5)],
    );
    assert_eq!(json(&later), json(&direct));
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), written, "what is kept stays");
    let again = with(&hey("2x", 1..=5), &[]);
    assert!(again.stdout.contains("run 1 of A is run 1 of baseline once more"), "{}", again.stdout);
    let gate = with(&hey("3x", 1..=2), &["--fail-if", "p95 > 0.01x"]);
    assert_eq!(gate.code, 1, "{}", gate.stdout);
    std::fs::write(&kept, "{\"schema\": \"hammer.report/1\"}").unwrap();
    let other = with(&hey("3x", 1..=2), &[]);
    assert!(
        other.code == 2 && other.stderr.contains("its schema is `hammer.report/1`, not `hammer.baseline/1`"),
        "{}",
        other.stderr
    );
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "{\"schema\": \"hammer.report/1\"}");
    // The first time there is a page as well, and what speaks against the runs is told.
    std::fs::remove_file(&kept).unwrap();
    let page = folder.path("kept.html");
    let first = with(&hey("2x", 1..=2), &["--html", &page]);
    assert!(first.code == 0 && first.stdout.contains("A has 2 runs: fewer than 3"), "{}", first.stderr);
    assert!(std::fs::read_to_string(&page).unwrap().contains("2 runs of A are kept"));
    // Beside an outage everything is better.
    std::fs::remove_file(&kept).unwrap();
    let none = concat!(env!("CARGO_MANIFEST_DIR"), "/../hammer-compare/testdata/oha/none.json").to_owned();
    let outage = with(&[none], &[]);
    assert!(outage.code == 2 && outage.stderr.contains("in run 1 nothing was accepted"), "{}", outage.stderr);
    assert!(!std::fs::exists(&kept).unwrap());
    // What cannot be compared is not kept.
    let runs = [hey("2x", 1..=2), vec!["--".to_owned()], hey("3x", 1..=2)].concat();
    let refused = with(&runs, &["--series", "a/b"]);
    assert!(refused.code == 2 && !std::fs::exists(&kept).unwrap(), "{}", refused.stderr);
    let both = with(&runs, &[]);
    assert!(both.code == 0 && both.stdout.starts_with("B (2 runs) beside A (2 runs)"), "{}", both.stdout);
    assert!(std::fs::read_to_string(&kept).unwrap().contains("hammer.baseline/1"));
}

/// The process of this test as a component, which hammer watched beside the load.
#[test]
fn what_reports_say_of_components_is_compared_without_a_csv() {
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        &format!(
            "target: {{ lab: {{ http: {{}} }} }}\nworkloads: [ {{ name: get, http: {{}}, load: {{ rate: 200/s }} }} ]\n\
             phases: {{ measurement: 1s }}\nresources: {{ every: 100ms, processes: [ {{ name: own, pid: {} }} ] }}\n",
            std::process::id()
        ),
    );
    let report = |name: &str| {
        let out = folder.path(name);
        let ended = hammer(&["run", &plan, "--out", &out, "--tolerate-lag"]);
        assert_eq!(ended.code, 0, "{} {}", ended.stdout, ended.stderr);
        out
    };
    let ended = compare(&[], &[vec![report("one.json")], vec![report("other.json")]]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        ended.stdout.contains("A: own") && ended.stdout.contains("ms of CPU a request"),
        "{}",
        ended.stdout
    );
    for said in ["run 1 of A", "the same in all runs", "plan.workloads.0: ", "load.rate 200/s"] {
        assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
    }
}

/// As the published comparison of a baseline with an optimized profile has them: sign, verify, and the total of both.
#[test]
fn series_stand_side_by_side_with_the_total_of_all_operations() {
    let folder = Folder::new();
    let plan = folder.write(
        "mixed.yaml",
        "target: { lab: { http: {} } }\nphases: { measurement: 500ms }\nworkloads:\n\
         - { name: sign, http: {}, load: { rate: 40/s } }\n- { name: verify, http: {}, load: { rate: 160/s } }\n",
    );
    let report = |name: &str| {
        let out = folder.path(name);
        let ended = hammer(&["run", &plan, "--out", &out, "--tolerate-lag"]);
        assert_eq!(ended.code, 0, "{} {}", ended.stdout, ended.stderr);
        out
    };
    let runs = [vec![report("one.json")], vec![report("other.json")]];
    let ended = compare(&["--metric", "p95", "--label", "Baseline", "--label", "Optimized"], &runs);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let table: Vec<&str> =
        ended.stdout.lines().skip_while(|line| *line != "series side by side").skip(2).take(4).collect();
    assert!(
        table[0].contains("rate Baseline  rate Optimized") && table[1].starts_with("  verify/get"),
        "{table:?}"
    );
    assert!(table[2].starts_with("  sign/get") && table[3].starts_with("  total"), "{table:?}");
    let all = json(&compare(&["--metric", "p95", "--as", "json"], &runs));
    let of = |path: &str, metric: &str| {
        let named = |of: &Value, key: &str, name: &str| {
            of.as_array().unwrap().iter().find(|item| item[key] == name).unwrap().clone()
        };
        let figure = named(&named(&all["series"], "path", path)["figures"], "metric", metric);
        figure["variants"][0]["mean"].as_f64().unwrap()
    };
    let both = |metric: &str| ["sign/get", "verify/get"].map(|path| of(path, metric));
    assert!((of("total", "rate") - both("rate").iter().sum::<f64>()).abs() < 1e-9);
    // Of all operations together nothing is longer than the longest, and no percentile outside of both.
    assert_eq!(of("total", "max"), both("max").into_iter().fold(0.0, f64::max));
    let [least, greatest] =
        [f64::min, f64::max].map(|of: fn(f64, f64) -> f64| both("p50").into_iter().reduce(of).unwrap());
    assert!((least * 0.999..=greatest * 1.001).contains(&of("total", "p50")));
}

#[test]
fn the_summary_of_the_hops_of_a_gateway_is_a_chain() {
    let folder = Folder::new();
    let out = folder.path("hops.json");
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/gateway-hops.yaml");
    let ended = hammer(&["run", plan, "--smoke", "--out", &out]);
    assert!(std::fs::exists(&out).unwrap(), "{} {}", ended.stdout, ended.stderr);
    let labels = ["--label", "backend", "--label", "authenticated", "--label", "authorized"];
    let ended = hammer(&[&["compare", "--hops", "--metric", "p95"][..], &labels, &[&out]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let hops: Vec<&str> =
        ended.stdout.lines().skip_while(|line| *line != "p95 of echo/get by hop").skip(3).collect();
    for (line, label) in hops.iter().zip(["backend", "authenticated", "authorized"]) {
        assert!(line.trim_start().starts_with(label) && line.ends_with('%'), "{}", ended.stdout);
    }
}

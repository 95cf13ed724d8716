//! `hammer compare`: what it prints of runs that hammer and hey measured, and how it ends.

#[path = "compare/asked.rs"]
mod asked;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use folder::Folder;
use hammer::{DEADLINE, Ended, Started, command, hammer};

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
fn a_comparison_has_a_page_with_each_run_and_what_is_printed() {
    let folder = Folder::new();
    let (page, runs) = (folder.path("page.html"), [hey("2x", 1..=5), hey("3x", 1..=5)]);
    let ended = compare(&["--metric", "p95", "--label", "2.x", "--label", "3.x", "--html", &page], &runs);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let written = std::fs::read_to_string(&page).unwrap();
    for line in ended.stdout.lines().take(3).flat_map(|line| line.split("  ")).filter(|text| text.len() > 8) {
        assert!(written.contains(line.trim().split(['>', '<']).next().unwrap()), "{line}");
    }
    for run in ["2.x, run 1", "2.x, run 5", "3.x, run 1", "3.x, run 5"] {
        assert_eq!(written.matches(&format!("<td>{run}</td>")).count(), 4, "{run}, once behind each chart");
    }
    // A plan that is to be carried out stays, and nothing is.
    let plan = folder.write("plan.yaml", "target: { lab: { http: {} } }\n");
    let told = hammer(&["compare", "--run", &plan, &plan, "--html", &plan]);
    assert!(told.code == 2 && told.stderr.contains("it is read for the page"), "{}", told.stderr);
    assert_eq!(std::fs::read_to_string(&plan).unwrap(), "target: { lab: { http: {} } }\n");
    // What it is made of stays.
    let own = folder.write("run.txt", &std::fs::read_to_string(&runs[0][0]).unwrap());
    let told = compare(&["--html", &own], &[vec![own.clone()], hey("3x", 1..=1)]);
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("it is read for the page"), "{}", told.stderr);
}

#[test]
fn claims_are_computed_again_and_each_slip_of_the_published_comparison_is_found() {
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gateway-claims.yaml");
    let ended = hammer(&["compare", "--claims", published]);
    let slips: Vec<&str> = ended.stdout.lines().filter(|line| line.contains("DOES NOT HOLD")).collect();
    assert_eq!((ended.code, slips.len()), (1, 5), "{}", ended.stdout);
    for (place, part) in
        ["79.4 % less", "sd 4.60", "sd 38.6", "sum 0.04670", "33 replicas"].iter().enumerate()
    {
        assert!(slips[place].contains(part), "{slips:?}");
    }
    assert!(ended.stdout.contains("says that of the rates once more"), "{}", ended.stdout);
    let folder = Folder::new();
    // Figures of runs: what hey printed of both, by iteration.
    let honest = folder.write(
        "honest.yaml",
        "- { name: P95, a: p95, b: p95, said: 3.2x }\n- { name: sd of the first, a: p95, said: sd 19 }\n",
    );
    let ended = compare(&["--claims", &honest], &[hey("2x", 1..=5), hey("3x", 1..=5)]);
    let text = ended.stdout.replace("DOES NOT HOLD", "").to_owned();
    assert!(
        text.contains("claims: ") && text.contains("P95") && ended.stderr.is_empty(),
        "{text}{}",
        ended.stderr
    );
    let found = ended.stdout.lines().find(|line| line.trim_start().starts_with("P95 ")).unwrap();
    let ratio = found.split_whitespace().nth(2).unwrap().trim_end_matches('x').parse::<f64>().unwrap();
    let right =
        folder.write("right.yaml", &format!("- {{ name: P95, a: p95, b: p95, said: {ratio:.1}x }}\n"));
    let altered = folder
        .write("altered.yaml", &format!("- {{ name: P95, a: p95, b: p95, said: {:.1}x }}\n", ratio + 0.2));
    let code = |file: &str| compare(&["--claims", file], &[hey("2x", 1..=5), hey("3x", 1..=5)]).code;
    assert_eq!((code(&right), code(&altered)), (0, 1));
    for (text, part) in [
        ("- { name: x, a: 1, said: a lot }\n", "says no number"),
        ("- { name: x, a: p95, said: 1 }\n", "variant 1 have no p95"),
        ("- { nme: x }\n", "nme"),
    ] {
        let ended = hammer(&["compare", "--claims", &folder.write("bad.yaml", text)]);
        assert!(ended.code == 2 && ended.stderr.contains(part), "{}", ended.stderr);
    }
}

#[test]
fn the_summary_of_rounds_stands_for_its_reports() {
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        "target: { lab: { http: {} } }\nworkloads: [ { name: get, http: {}, load: { users: 2, operations: 200 } } ]\n",
    );
    let run = |name: &str, changes: &[&str]| {
        let out = folder.path(name);
        let args = [&["run", &plan, "--out", &out, "--tolerate-lag"], changes].concat();
        let ended = hammer(&args);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        out
    };
    let [one, other] = ["one.json", "other.json"].map(|name| run(name, &["--set", "rounds=3"]));
    let ended = compare(&[], &[vec![one.clone()], vec![other]]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("3 runs"), "{}", ended.stdout);
    std::fs::remove_file(folder.path("one.2.json")).unwrap();
    let ended = compare(&[], &[vec![one.clone()], vec![one.clone()]]);
    assert!(ended.code == 2 && ended.stderr.contains("one.2.json"), "{}", ended.stderr);
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
    let again = hammer(&["compare", "--keep", &kept, "--run", &short, &long]);
    assert!(again.code == 2 && again.stderr.contains("directory not empty"), "{}", again.stderr);
    let asked = ["compare", "--rounds", "1", "--series", "web/nope", "--run", &short, &long];
    let asked = hammer(&asked);
    let folder_of_reports =
        asked.stderr.split("their reports are kept in ").nth(1).unwrap_or_default().trim();
    assert!(
        asked.code == 2 && std::fs::exists(format!("{folder_of_reports}/B-1.json")).unwrap(),
        "{}",
        asked.stderr
    );
    std::fs::remove_dir_all(folder_of_reports).unwrap();
    // What needs no run to be known is told before the first.
    let unknown = hammer(&["compare", "--series", "nope/get", "--run", &short, &long]);
    assert!(unknown.code == 2 && unknown.stderr.contains("no workload `nope`"), "{}", unknown.stderr);
    let whole = hammer(&[
        "compare",
        "--hops",
        "--total",
        "C",
        "--keep",
        &folder.path("none"),
        "--run",
        &short,
        &long,
    ]);
    assert!(whole.code == 2 && whole.stderr.contains("no variant is called `C`"), "{}", whole.stderr);
    assert!(!std::fs::exists(folder.path("none")).unwrap());
    let one = hammer(&["compare", "--run", &short]);
    assert!(one.code == 2 && one.stderr.contains("2 values required"), "{}", one.stderr);
    let rounds =
        folder.write("rounds.yaml", &format!("rounds: 2\n{}", std::fs::read_to_string(&short).unwrap()));
    let ended = hammer(&["compare", "--run", &short, &rounds]);
    assert!(ended.code == 2 && ended.stderr.contains("it has rounds or a sweep"), "{}", ended.stderr);
    for option in [&["--rounds", "3"][..], &["--keep", "3"], &["--same-seed"]] {
        let beside = compare(option, &[hey("2x", 1..=3), hey("3x", 1..=3)]);
        assert!(
            beside.code == 2 && beside.stderr.contains("cannot be used with"),
            "{option:?}: {}",
            beside.stderr
        );
    }
    let broken = folder.write("broken.yaml", "target: {}\n");
    let ended = hammer(&["compare", "--run", &long, &broken]);
    assert!(ended.code == 2 && ended.stderr.contains("broken.yaml"), "{}", ended.stderr);
}

/// Rounds that draw the same are one sample that is looked at again, and spread by far less than what they are of.
#[test]
fn each_round_draws_by_seeds_of_its_own_which_are_those_of_all_variants() {
    let folder = Folder::new();
    let plan = folder.write(
        "drawn.yaml",
        "seed: 7\ntarget: { lab: { http: { faults: { seed: 40, rules: [ { refuse: { share: 50% } } ] } } } }\n\
         workloads: [ { name: web, http: {}, load: { users: 1, operations: 200 } } ]\n",
    );
    let seeds = |name: &str, options: &[&str]| {
        let kept = folder.path(name);
        let asked =
            [&["compare", "--rounds", "3", "--keep", &kept], options, &["--run", &plan, &plan]].concat();
        let ended = hammer(&asked);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let seed = |run: &str| {
            let text = std::fs::read_to_string(format!("{kept}/{run}.json")).unwrap();
            let report: serde_json::Value = serde_json::from_str(&text).unwrap();
            let (own, faults) =
                (&report["plan"]["seed"], &report["plan"]["target"]["lab"]["http"]["faults"]["seed"]);
            (own.as_u64().unwrap(), faults.as_u64().unwrap())
        };
        (["A-1", "A-2", "A-3", "B-1", "B-2", "B-3"].map(seed), ended.stdout.replace("\n    ", " "))
    };
    const SAME: &str = "all runs of A draw the same faults";
    let (drawn, text) = seeds("drawn", &[]);
    assert_eq!(drawn, [(7, 40), (8, 41), (9, 42), (7, 40), (8, 41), (9, 42)]);
    assert!(!text.contains(SAME), "{text}");
    let (same, text) = seeds("same", &["--same-seed"]);
    assert_eq!(same, [(7, 40); 6]);
    assert!(text.contains(SAME), "{text}");
}

/// Refused connections are fast, and no faster service.
#[test]
fn a_service_that_is_down_is_beyond_any_bound_of_time() {
    let folder = Folder::new();
    let url = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let plan = |name: &str, target: &str| {
        let load =
            "workloads: [{ name: web, http: {}, load: { rate: 100/s } }]\nphases: { measurement: 200ms }\n";
        folder.write(name, &format!("target: {target}\n{load}"))
    };
    let (up, down) =
        (plan("up.yaml", "{ lab: { http: {} } }"), plan("down.yaml", &format!("{{ url: '{url}' }}")));
    let ended = hammer(&[
        "compare",
        "--rounds",
        "3",
        "--fail-if",
        "p99 > 1.1x",
        "--fail-if",
        "rate < 0.9x",
        "--run",
        &up,
        &down,
    ]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    for said in
        ["p99 > 1.1x: B has >10,000x", "rate < 0.9x: B has 0x", "100.0 % of web/get of B were not accepted"]
    {
        assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
    }
}

/// What asks for an end reaches the run that is under way, which nobody else would end; what was carried out before is kept.
#[test]
fn a_signal_ends_the_run_that_is_under_way_and_leaves_what_was_carried_out() {
    let folder = Folder::new();
    let short = folder.write(
        "short.yaml",
        "target: { lab: { http: {} } }\nworkloads: [{ name: web, http: {}, load: { users: 1, operations: 10 } }]\n",
    );
    for (place, is_first) in [true, false].into_iter().enumerate() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let long = folder.write(
            &format!("long-{place}.yaml"),
            &format!(
                "target: {{ url: 'http://{}' }}\nworkloads: [{{ name: web, http: {{}}, load: {{ rate: 50/s }}, timeout: 1s }}]\n\
                 phases: {{ measurement: 10m, drain: 1s }}\n",
                listener.local_addr().unwrap()
            ),
        );
        let temporary = folder.path(&format!("temporary-{place}"));
        std::fs::create_dir(&temporary).unwrap();
        let plans = if is_first { [&long, &short] } else { [&short, &long] };
        let mut run = command(&["compare", "--run", plans[0], plans[1]]);
        run.env("TMPDIR", &temporary);
        let started = Started::of(run);
        let (dialled, is_dialled) = mpsc::channel();
        thread::spawn(move || dialled.send(listener.accept().unwrap().0));
        let mut stream = is_dialled.recv_timeout(DEADLINE).unwrap();
        kill_process(Pid::from_child(&started.child), Signal::TERM).unwrap();
        let ended = started.ended();
        assert_eq!(ended.code, 130, "{}", ended.stderr);
        // Whoever dialled is gone, and so closed.
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        assert!(stream.read_to_end(&mut Vec::new()).is_ok());
        if is_first {
            assert_eq!(
                std::fs::read_dir(&temporary).unwrap().count(),
                0,
                "the folder of the reports is gone"
            );
        } else {
            let kept = ended.stderr.split("was carried out are kept in ").nth(1).unwrap_or_default().trim();
            assert!(kept.starts_with(&temporary), "{}", ended.stderr);
            assert!(std::fs::exists(format!("{kept}/A-1.json")).unwrap(), "{}", ended.stderr);
        }
    }
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
        (&[][..], vec![one(), none], "none.txt: it is neither a report of hammer nor what hey, oha ("),
        (&[], vec![one(), json], "none.json: read a report: its schema is `other`"),
        (&[], vec![one(), vec!["nowhere.json".to_owned()]], "read nowhere.json: "),
        (&[], vec![one()], "there are no two variants; `--` stands between the runs"),
        (&[], vec![one(), vec![]], "there are no two variants; `--` stands between the runs"),
        (&[], vec![one(), one(), vec![]], "C has no run"),
        (
            &["--label", "a", "--label", "b", "--label", "c"],
            vec![one(), one()],
            "use --label: there are 3 for 2 variants",
        ),
        (&["--label", "B"], vec![one(), one()], "use --label B: another variant is called that"),
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

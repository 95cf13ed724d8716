//! What a plan or a line asks for is what is carried out, and what the reports say about it.

#[path = "runs/answers.rs"]
mod answers;
#[path = "support/attended.rs"]
mod attended;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "runs/http_lines.rs"]
mod http_lines;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/server.rs"]
mod server;

use std::fs;

use hammer_report::report::{Event, PhaseName};
use hammer_report::summary::SummaryRun;
use hammer_report::{Report, Standing, Summary};
use rustix::process::Signal;
use serde_json::{Value, json};

use folder::Folder;
use hammer::{Ended, Started, command, hammer};
use http_lines::http;
use on_time::exit_if_on_time;
use server::Server;

/// Answers take 20 ms, so that a machine that is a little late is still believed.
const PLAN: &str = "\
target:
  lab: { http: { faults: { rules: [{ latency: { constant: 20ms } }] } } }
workloads:
  - name: web
    http: {}
    load: { rate: 50/s }
phases:
  measurement: 500ms
";

const CT_PLAN: &str = "\
seed: 7
target:
  lab: { ct: { batch_max_age: 20ms, checkpoint_interval: 100ms } }
workloads:
  - name: submit
    ct_submit: { precert_percent: 30 }
    load: { rate: 100/s }
phases:
  measurement: 1s
";

/// Carries out `plan` with these changes, the JSON on standard output.
fn run(plan: &str, changes: &[&str]) -> Ended {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", plan);
    let mut args = vec!["run", &plan, "--out", "-"];
    changes.iter().for_each(|change| args.extend(["--set", change]));
    hammer(&args)
}

fn report_of(path: &str) -> Report {
    let report = Report::parse(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(report.check(), Vec::<String>::new());
    report
}

/// The summary of runs that nothing but lateness is said against, as its table says.
fn summary_of(path: &str, ended: &Ended) -> Summary {
    let summary: Summary = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let runs = &summary.runs;
    assert!(runs.iter().all(|run| exit_if_on_time(&run.verdict) == 0), "{}", ended.stdout);
    assert_eq!(ended.code, i32::from(summary.exit_code), "{}", ended.stderr);
    let is = |run: &&SummaryRun, standing| run.verdict.standing == standing;
    let passed = runs.iter().filter(|run| is(run, Standing::Passed)).count();
    let unasked = runs.iter().filter(|run| is(run, Standing::NoExpectation)).count();
    let unasked = if unasked == 0 { String::new() } else { format!(", {unasked} without an expectation") };
    let first = format!("{passed} of {} runs passed{unasked}, exit {}\n", runs.len(), ended.code);
    assert!(ended.stdout.starts_with(&first), "{}", ended.stdout);
    summary
}

fn notes(report: &Report) -> Vec<&str> {
    let mut notes = Vec::new();
    for event in &report.events {
        if let Event::Note { text, .. } = event {
            notes.push(text.as_str());
        }
    }
    notes
}

#[test]
fn rounds_leave_a_report_each_and_a_summary_with_what_the_hooks_said() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let out = folder.path("report.json");
    let hooks = "hooks={before: [{name: size, run: echo 42}], between: [{name: pause, run: echo rested}], \
                 after: [{name: version, run: echo v1.2}]}";
    let args = ["run", &plan, "--set", "rounds=2", "--set", hooks, "--out", &out];
    let ended = hammer(&args);
    assert!(ended.stdout.contains("round 1: size said 42"), "{}", ended.stdout);

    let summary = summary_of(&out, &ended);
    let rounds: Vec<&Value> = summary.runs.iter().map(|run| &run.labels["round"]).collect();
    assert_eq!(rounds, [1, 2]);
    let said = |place: usize| -> Vec<(String, Value)> {
        summary.runs[place].hooks.iter().map(|hook| (hook.name.clone(), hook.output.clone())).collect()
    };
    let (size, version) = (("size".to_owned(), json!(42)), ("version".to_owned(), json!("v1.2")));
    assert_eq!(said(0), [size.clone(), version.clone()]);
    assert_eq!(said(1), [("pause".to_owned(), json!("rested")), size, version]);

    for round in [1, 2] {
        let report = report_of(&folder.path(&format!("report.{round}.json")));
        assert_eq!(report.totals.all.fates.accepted, 25);
        assert_eq!(summary.runs[round - 1].series[0].offered, 25);
        let notes = notes(&report);
        assert_eq!(notes.contains(&"hook pause: \"rested\""), round == 2, "{notes:?}");
        assert!(notes.contains(&"hook size: 42") && notes.contains(&"hook version: \"v1.2\""), "{notes:?}");
    }
}

#[test]
fn what_ends_runs_between_two_rounds_is_in_the_summary_and_so_is_how_many_were_planned() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let out = folder.path("report.json");
    let hooks = "hooks={between: [{name: pause, run: exit 7}]}";
    let ended = hammer(&["run", &plan, "--set", "rounds=3", "--set", hooks, "--out", &out]);
    let summary: Summary = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!((summary.planned, summary.runs.len()), (3, 1));
    assert_eq!((ended.code, summary.exit_code), (2, 2), "{}", ended.stderr);
    let stopped = &summary.stopped.as_ref().unwrap().text;
    assert!(stopped.starts_with("failed to run the hook `exit 7`"), "{stopped}");
    let unwrapped = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in
        [", 2 of 3 were not carried out, exit 2", "of 1 runs passed", stopped.trim_end_matches([':', ' '])]
    {
        assert!(unwrapped.contains(said), "{}", ended.stdout);
    }
}

#[test]
fn a_sweep_carries_the_plan_out_with_every_value_in_every_round() {
    let folder = Folder::new();
    let plan =
        folder.write("plan.yaml", &PLAN.replace("load: { rate: 50/s }", "load: { users: 1, think: 30ms }"));
    let out = folder.path("report.json");
    let args = ["run", &plan, "--set", "sweep={users: [2, 6]}", "--set", "rounds=2", "--out", &out];
    let ended = hammer(&args);
    let summary = summary_of(&out, &ended);
    let labels: Vec<Value> =
        summary.runs.iter().map(|run| serde_json::to_value(&run.labels).unwrap()).collect();
    let label = |users: u64, round: u64| json!({ "users": users, "round": round });
    assert_eq!(labels, [label(2, 1), label(2, 2), label(6, 1), label(6, 2)]);
    assert!(ended.stdout.contains("round 2, users 6  web/get"), "{}", ended.stdout);
    for (place, users) in [(1, 2), (4, 6)] {
        let report = report_of(&folder.path(&format!("report.{place}.json")));
        assert_eq!(report.plan["workloads"][0]["load"]["users"], users);
        let series = &report.series[0];
        assert!(series.closed_loop && series.users_over_rate.unwrap().users <= users as f64);
        assert!(series.notes.contains(&"closed loop: waiting is not in these figures".to_owned()));
        // 500 ms of a cycle of at least 50 ms.
        let offered = report.totals.all.offered;
        assert!((users..=users * 10).contains(&offered), "{offered} by {users} users");
    }
}

#[test]
fn a_failed_hook_between_rounds_loses_nothing_that_was_found() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let out = folder.path("report.json");
    let hook = "hooks.between=[{name: pause, run: exit 3}]";
    let ended = hammer(&["run", &plan, "--set", "rounds=3", "--set", hook, "--out", &out]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("run the hook `exit 3`"), "{}", ended.stderr);
    let summary: Summary = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(summary.runs.len(), 1);
    assert_eq!(report_of(&folder.path("report.1.json")).totals.all.fates.accepted, 25);
}

#[test]
fn a_plan_ends_by_its_operations() {
    let report = run(PLAN, &["phases={}", "workloads.web.load.operations=30"]).report();
    assert_eq!((report.totals.all.offered, report.totals.all.fates.accepted), (30, 30));
    let shared = ["phases={}", "workloads.web.load={users: 4, operations: 30}"];
    // It is measured until the last of them has ended, and not until somebody notices.
    let shared_report = run(PLAN, &shared).report();
    let measured = shared_report.phases.iter().find(|span| span.phase == PhaseName::Measurement).unwrap();
    assert_eq!(measured.end_ns, shared_report.intervals.last().unwrap().at_ns);
    let report = run(PLAN, &shared).report();
    assert_eq!((report.totals.all.offered, report.totals.all.fates.accepted), (30, 30));
}

#[test]
fn a_plan_ends_when_the_tree_has_its_size() {
    let report = run(CT_PLAN, &["phases={measurement: 60s}", "stop={tree_size: 60}"]).report();
    let tree = report.tree_size.unwrap();
    assert!(tree.last >= 60.0 && tree.last < 3_000.0, "{tree:?}");
    assert!(
        report.run.measured_seconds < 50.0 && report.run.stopped.contains("tree_size"),
        "{}",
        report.run.stopped
    );
    assert_eq!(report.promises.all.kept, report.totals.all.fates.accepted);
}

#[test]
fn a_tree_grows_in_the_report_from_where_it_does_for_the_rule_that_ends_the_plan() {
    let report = run(CT_PLAN, &["phases={measurement: 60s}", "stop={tree_growth: 60}"]).report();
    let tree = report.tree_size.unwrap();
    assert_eq!(report.run.stopped, format!("tree_size grew by 60 from {}", tree.first));
    assert!(tree.grown >= 60.0, "{tree:?}");
}

#[test]
fn a_threshold_that_fails_ends_the_run_after_its_grace() {
    let failing = PLAN.replace("http: { faults", "http: { status: 404, faults").replace("500ms", "60s");
    let threshold =
        "thresholds=[{expect: share(accepted) > 50%, grace: 1s, window: 200ms, abort_on_fail: true}]";
    let ended = run(&failing, &[threshold, "interval=100ms"]);
    assert_eq!(exit_if_on_time(&ended.report().verdict), 1, "{}", ended.stderr);
    let report = ended.report();
    let [verdict] = report.thresholds.as_slice() else { panic!("{:?}", report.thresholds) };
    assert!(!verdict.holds && verdict.aborted, "{verdict:?}");
    assert_eq!(verdict.threshold, "share(accepted) > 50%");
    let measured = report.run.measured_seconds;
    assert!((0.95..30.0).contains(&measured), "{measured}");
}

#[test]
fn a_threshold_that_fails_at_the_end_is_exit_1_and_one_that_holds_is_not() {
    let ended = run(PLAN, &["thresholds=[count(accepted) > 1000, p99(response) < 30s]"]);
    assert_eq!(exit_if_on_time(&ended.report().verdict), 1, "{}", ended.stderr);
    let holds: Vec<bool> = ended.report().thresholds.iter().map(|verdict| verdict.holds).collect();
    assert_eq!(holds, [false, true]);
    let series = "workloads.web.thresholds=[{expect: count(accepted) >= 25, series: web/get}]";
    let ended = run(PLAN, &[series]);
    assert_eq!(exit_if_on_time(&ended.report().verdict), 0, "{}", ended.stderr);
    assert_eq!(ended.report().thresholds[0].series, "web/get");
}

#[test]
fn users_come_in_stages() {
    let stages =
        "workloads.web.load={stages: [{users: 4, over: 500ms}, {users: 4, over: 500ms}], think: 10ms}";
    let report = run(PLAN, &[stages, "phases={measurement: 1s}"]).report();
    let series = &report.series[0];
    // They came one after another over half of the second.
    let present = series.users_over_rate.unwrap().users;
    assert!((0.5..4.0).contains(&present), "{present}");
    // Four users for a second of cycles of 30 ms, but for those that were not there yet.
    let offered = report.totals.all.offered;
    assert!((4..=110).contains(&offered), "{offered}");
    assert_eq!(report.totals.all.fates.accepted, offered);
}

#[test]
fn no_more_connections_are_opened_than_the_plan_allows() {
    let report = run(PLAN, &["threads.shards=2", "target.connection.connections=1"]).report();
    assert_eq!(report.run.shards, 1, "each shard has a connection at least");
    assert_eq!(report.totals.all.fates.accepted, report.totals.all.offered);
}

#[test]
fn diagnostics_tell_why_a_target_does_not_answer_and_nothing_unless_asked() {
    let lab = "lab: { http: { faults: { rules: [{ latency: { constant: 20ms } }] } } }";
    let dead = PLAN.replace(lab, "url: http://127.0.0.1:1");
    let quiet = run(&dead, &[]);
    assert!(!quiet.stderr.contains("hammer_net"), "{}", quiet.stderr);
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &dead);
    let told = hammer(&["run", &plan, "--log", "hammer_net=warn", "--quiet"]);
    assert!(
        told.stderr.contains("WARN hammer_net::dial: failed to connect to 127.0.0.1:1: "),
        "{}",
        told.stderr
    );
    // Lines that their file does not take are told at the end.
    let lost = hammer(&["run", &plan, "--log", "warn", "--log-file", "/dev/full", "--quiet"]);
    assert!(
        lost.stderr
            .ends_with("failed to write diagnostics to /dev/full: No space left on device (os error 28)\n"),
        "{}",
        lost.stderr
    );
    let refused = hammer(&["run", &plan, "--log", "loud"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("failed to use --log \"loud\""), "{}", refused.stderr);
}

#[test]
fn errors_of_warm_up_stay_visible() {
    const COLD: usize = 20;
    let server = Server::answering_each(|number| match number {
        ..COLD => "HTTP/1.1 503 Cold\r\ncontent-length: 0\r\n\r\n".to_owned(),
        _ => "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned(),
    });
    let target = format!("target={{url: \"{}\"}}", server.url());
    let ended = run(PLAN, &[&target, "phases={warm_up: 2s, measurement: 1s}"]);
    assert_eq!(exit_if_on_time(&ended.report().verdict), 0, "{}", ended.stderr);
    let report = ended.report();
    let (warm_up, measured) = (&report.series[0].warm_up, &report.series[0].measurement);
    assert_eq!(warm_up.counts.fates.pushback, COLD as u64, "{:?}", warm_up.counts);
    assert_eq!((measured.counts.fates.pushback, measured.counts.fates.accepted), (0, 50));
    assert!(warm_up.causes.iter().any(|cause| cause.fate == "pushback"), "{:?}", warm_up.causes);
    assert!(ended.stderr.contains("pushback"), "{}", ended.stderr);
}

#[test]
fn smoke_shortens_a_plan_in_proportion() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &PLAN.replace("500ms", "50s\n  warm_up: 50s\nrounds: 9"));
    let ramp = "workloads.web.load={ramp: {from: 1/s, to: 9/s, over: 100s}, operations: 100}";
    let ended = hammer(&["plan", &plan, "--smoke", "--set", ramp]);
    for part in
        ["warm_up: 2500ms", "measurement: 2500ms", "over: 5s", "operations: 5", "rounds: 1", "drain: 30s"]
    {
        assert!(ended.stdout.contains(part), "no {part} in {}", ended.stdout);
    }
}

#[test]
fn a_printed_plan_reads_back_as_itself() {
    let folder = Folder::new();
    let everything = CT_PLAN
        .replace("load: { rate: 100/s }", "load: { ramp: { from: 1/s, to: 0.5/s, over: 1m30s } }")
        + "rounds: 3\nsweep: { seed: [1, 2] }\nstop: { tree_size: 9 }\n"
        + "thresholds: [p99(response) < 1s, { expect: share(kept) == 100%, grace: 5s, abort_on_fail: true }]\n"
        + "hooks: { before: [{ name: a, run: \"echo 'x: y' # not a comment\" }] }\n"
        + "output: { report: report.json }\nthreads: { shards: 2 }\n";
    let plans =
        [PLAN.to_owned(), everything, configured("ct-quickstart.yaml"), configured("rfc6962-log.yaml")];
    for plan in plans {
        let first = hammer(&["plan", &folder.write("first.yaml", &plan)]);
        assert_eq!((first.code, first.stderr.as_str()), (0, ""), "{plan}");
        let second = hammer(&["plan", &folder.write("second.yaml", &first.stdout)]);
        assert_eq!(second.stdout, first.stdout, "{}", second.stderr);
    }
    let changed = hammer(&[
        "plan",
        &folder.write("plan.yaml", PLAN),
        "--seed",
        "9",
        "--set",
        "workloads.web.backlog=5",
    ]);
    assert!(
        changed.stdout.contains("seed: 9\n") && changed.stdout.contains("backlog: 5\n"),
        "{}",
        changed.stdout
    );
}

fn configured(name: &str) -> String {
    fs::read_to_string(format!("{}/../../configs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn a_report_holds_the_plan_that_it_is_of() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let report = hammer(&["run", &plan, "--seed", "11", "--out", "-"]).report();
    assert_eq!(report.run.seed, "11");
    let again = folder.write("again.yaml", &report.plan.to_string());
    let shown = hammer(&["plan", &again]);
    assert_eq!(shown.stdout, hammer(&["plan", &plan, "--seed", "11"]).stdout, "{}", shown.stderr);
}

#[test]
fn events_are_valid_line_by_line() {
    let folder = Folder::new();
    let events = folder.path("events.jsonl");
    let plan = folder.write("plan.yaml", &PLAN.replace("500ms", "1s\n  warm_up: 500ms\ninterval: 200ms"));
    let report = hammer(&["run", &plan, "--events", &events, "--out", "-"]).report();
    let text = fs::read_to_string(&events).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["event"], &lines[0]["schema"]), (&json!("started"), &json!("hammer.events/1")));
    assert_eq!(lines.last().unwrap()["event"], "finished");
    let of = |kind: &str| lines.iter().filter(|line| line["event"] == kind).cloned().collect::<Vec<_>>();
    let phases: Vec<Value> = of("phase").iter().map(|line| line["phase"].clone()).collect();
    assert_eq!(phases, ["warm_up", "measurement", "drain"]);
    let intervals = of("interval");
    assert!(intervals.len() >= 6, "{}", intervals.len());
    let mut offered = 0;
    for (place, line) in intervals.iter().enumerate() {
        assert_eq!(line["index"], place as u64);
        let interval = &line["series"][0]["interval"];
        let fates: i64 =
            interval["fates"].as_object().unwrap().values().map(|count| count.as_i64().unwrap()).sum();
        assert_eq!(interval["offered"], fates, "{line}");
        offered += fates;
    }
    assert_eq!(offered as u64, report.totals.all.offered);
}

#[test]
fn a_log_as_a_process_of_its_own_takes_what_is_submitted_from_one_line() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", CT_PLAN);
    let roots = hammer(&["ct", "roots", &plan]);
    assert!(roots.code == 0 && roots.stdout.matches("BEGIN CERTIFICATE").count() == 1, "{roots:?}");
    let roots = folder.write("roots.pem", &roots.stdout);
    for accept in [["--roots", roots.as_str()], ["--roots-of", plan.as_str()]] {
        let fast = ["--set", "batch_max_age=20ms", "--set", "checkpoint_interval=100ms"];
        let lab = Started::of(command(&[&["lab", "ct"], accept.as_slice(), fast.as_slice()].concat()));
        let said: Value = serde_json::from_str(&lab.line_with("submission_url")).unwrap();
        let told = |key: &str| said[key].as_str().unwrap();
        let key = folder.write("key.txt", told("public_key"));
        let submit = |seed: &str, key: &str, more: &[&str]| {
            let to = ["ct", "submit", told("submission_url"), "--key", key, "--origin", told("origin")];
            let how = ["-q", "50/s", "-z", "2s", "--precerts", "30", "--seed", seed, "--out", "-"];
            hammer(&[to.as_slice(), &how, more].concat()).report()
        };
        let report = submit("7", told("public_key"), &[]);
        let fates = report.totals.all.fates;
        assert_eq!(
            (fates.accepted, report.promises.all.kept, report.promises.all.made),
            (100, 100, 100),
            "{fates:?}"
        );
        assert!((1.0..=100.0).contains(&report.tree_size.unwrap().grown), "{:?}", report.tree_size);
        // Chains of roots that it was not given are refused.
        assert_eq!(submit("8", &format!("@{key}"), &["--no-preflight"]).totals.all.fates.refused, 100);
        lab.signal(Signal::TERM);
        let ended = lab.ended();
        let stats: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(
            (ended.code, &stats["tree_size"], &stats["distinct"]),
            (0, &json!(100), &json!(100)),
            "{stats}"
        );
        assert!(
            stats["requests"]["add-pre-chain"]["200"].as_u64().is_some_and(|count| (10..50).contains(&count))
        );
    }
}

#[test]
fn a_lab_that_is_told_to_end_says_what_it_counted() {
    for signal in [Signal::INT, Signal::TERM] {
        let lab = Started::of(command(&["lab", "http", "--set", "body_size=5"]));
        let said: Value = serde_json::from_str(&lab.line_with("url")).unwrap();
        let report = http(&["get", said["url"].as_str().unwrap(), "-n", "3", "-c", "1"]);
        assert!(report.totals.all.bytes_in > 3 * 5);
        lab.signal(signal);
        let ended = lab.ended();
        let stats: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!((ended.code, &stats["requests"]["get"]["200"]), (0, &json!(3)), "{stats}");
    }
    let lab = Started::of(command(&["lab", "ct"]));
    lab.line_with("submission_url");
    lab.signal(Signal::TERM);
    assert_eq!(lab.ended().code, 0);
}

#[test]
fn a_plan_without_chains_has_no_roots() {
    let folder = Folder::new();
    let ended = hammer(&["ct", "roots", &folder.write("plan.yaml", PLAN)]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("no workload of the plan mints chains"), "{}", ended.stderr);
}

#[test]
fn each_command_says_what_it_takes() {
    let commands: [&[&str]; 42] = [
        &[],
        &["run"],
        &["plan"],
        &["init"],
        &["http"],
        &["http", "get"],
        &["http", "post"],
        &["http", "head"],
        &["ct"],
        &["ct", "roots"],
        &["ct", "submit"],
        &["ct", "read"],
        &["ct", "follow"],
        &["ct", "audit"],
        &["sigstore"],
        &["sigstore", "sign"],
        &["sigstore", "mixed"],
        &["sigstore", "fill"],
        &["sigstore", "verify"],
        &["sigstore", "tsa"],
        &["sigstore", "verify-bundle"],
        &["sigstore", "issuer"],
        &["attest"],
        &["attest", "provision"],
        &["attest", "verify"],
        &["attest", "well-known"],
        &["attest", "device"],
        &["report"],
        &["compare"],
        &["ctl"],
        &["ctl", "URL", "rate"],
        &["ctl", "URL", "in-flight"],
        &["lab"],
        &["lab", "ct"],
        &["lab", "http"],
        &["lab", "gateway"],
        &["lab", "sigstore"],
        &["lab", "attest"],
        &["resources"],
        &["schema"],
        &["completions"],
        &["man"],
    ];
    for command in commands {
        let ended = hammer(&[command, &["--help"]].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        insta::assert_snapshot!([&["help"], command].concat().join("_"), ended.stdout);
    }
}

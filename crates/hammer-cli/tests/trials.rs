//! Trials of several runs: in which order they come, and what their summary makes of them.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;

use std::fs;

use hammer_report::summary::{RunOrder, Table, TableSeries};
use hammer_report::{Report, Summary};
use serde_json::{Value, json};

use folder::Folder;
use hammer::{Ended, hammer};
use on_time::exit_if_on_time;

/// Two kinds of load on one target, one after the other, in three rounds.
const TRIAL: &str = "\
target:
  lab: { http: { faults: { rules: [{ latency: { constant: 5ms } }] } } }
workloads:
  - { name: any, http: {}, load: { users: 1 } }
sweep:
  users: [2, 1]
  workloads:
    - [ { name: write, http: { method: POST, path: /rows }, load: {} } ]
    - [ { name: read, http: {}, load: {} } ]
rounds: 3
order: rounds_first
phases:
  measurement: 50ms
";

/// The runs of a plan with these changes, that nothing but lateness is said against.
fn trial(plan: &str, changes: &[&str]) -> (Summary, Ended) {
    let folder = Folder::new();
    let (plan, out) = (folder.write("plan.yaml", plan), folder.path("summary.json"));
    let mut args = vec!["run", &plan, "--out", &out];
    changes.iter().for_each(|change| args.extend(["--set", change]));
    let ended = hammer(&args);
    let text = fs::read_to_string(&out).unwrap_or_else(|error| panic!("{error}: {}", ended.stderr));
    let summary: Summary = serde_json::from_str(&text).unwrap();
    assert!(summary.runs.iter().all(|run| exit_if_on_time(&run.verdict) == 0), "{}", ended.stdout);
    (summary, ended)
}

/// Round, users and series of each run.
fn came(summary: &Summary) -> Vec<(Value, Value, String)> {
    let of_run = |run: &hammer_report::summary::SummaryRun| {
        let label = |key: &str| run.labels.get(key).cloned().unwrap_or_default();
        (label("round"), label("users"), run.series[0].path.clone())
    };
    summary.runs.iter().map(of_run).collect()
}

#[test]
fn all_combinations_come_and_then_all_again_where_rounds_are_first() {
    let (summary, ended) = trial(TRIAL, &["rounds=2"]);
    let in_round = |round: u64| {
        [(2, "write/post"), (2, "read/get"), (1, "write/post"), (1, "read/get")]
            .map(|(users, path)| (json!(round), json!(users), path.to_owned()))
    };
    assert_eq!(came(&summary), [in_round(1), in_round(2)].concat());
    assert_eq!(summary.order, RunOrder::RoundsFirst);
    assert!(ended.stdout.contains("\nrounds first: all combinations, then all again\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("\nround 2, users 1, workloads read "), "{}", ended.stdout);
    assert!(ended.stdout.contains(" read/get "), "{}", ended.stdout);
}

#[test]
fn each_combination_comes_in_all_its_rounds_by_default() {
    let (summary, _) = trial(TRIAL, &["rounds=2", "order=combinations_first", "sweep.users=[1]"]);
    let came: Vec<String> =
        came(&summary).into_iter().map(|(round, _, path)| format!("{path} {round}")).collect();
    assert_eq!(came, ["write/post 1", "write/post 2", "read/get 1", "read/get 2"]);
    assert_eq!(summary.order, RunOrder::CombinationsFirst);
}

#[test]
fn a_printed_plan_lists_its_runs_in_their_order_and_smoke_has_two_rounds_of_it() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", TRIAL);
    let long = ["--set", "phases.measurement=150s", "--set", "sweep.users=[2, 4, 6, 8, 10]"];
    let listed = |args: &[&str]| {
        let args: Vec<&str> = ["plan", &plan].iter().chain(&long).chain(args).copied().collect();
        let ended = hammer(&args);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        let again = hammer(&["plan", &folder.write("again.yaml", &ended.stdout)]);
        assert_eq!(again.stdout, ended.stdout, "the list is a comment");
        ended.stdout
    };
    let all = listed(&[]);
    for part in [
        "order: rounds_first\n",
        "# 30 runs:\n",
        "\n# 2: round 1, users 2, workloads read\n",
        "\n# 11: round 2, users 2, workloads write\n",
    ] {
        assert!(all.contains(part), "no {part} in {all}");
    }
    let smoke = listed(&["--smoke"]);
    for part in [
        "measurement: 1s\n",
        "rounds: 2\n",
        "# 12 runs:\n",
        "\n# 3: round 1, users 6, workloads write\n",
        "\n# 12: round 2, users 10, workloads read\n",
    ] {
        assert!(smoke.contains(part), "no {part} in {smoke}");
    }
    let unordered = listed(&["--smoke", "--set", "order=combinations_first"]);
    assert!(unordered.contains("# 6 runs:\n") && unordered.contains("rounds: 1\n"), "{unordered}");
}

#[test]
fn a_trial_of_one_run_leaves_its_report_alone() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", TRIAL);
    let one = ["--set", "sweep.users=[3]", "--set", "sweep.workloads=[[{name: read, http: {}, load: {}}]]"];
    let args = ["run", &plan, "--out", "-", "--set", "rounds=1"];
    let report = hammer(&[&args[..], &one].concat()).report();
    assert_eq!(
        (report.plan["order"].clone(), report.plan["workloads"][0]["load"]["users"].clone()),
        (json!("rounds_first"), json!(3))
    );
}

/// Writes and reads of one target, which counts them.
const KEPT: &str = "\
target:
  lab: { keep: true, http: { faults: { rules: [{ latency: { constant: 5ms } }] } } }
workloads:
  - { name: web, http: { method: POST }, load: { users: 2, operations: 20 } }
rounds: 3
observe:
  - { name: writes, every: 1m, lab: requests.post }
";

/// What was counted at the start and the end of each run.
fn counted(folder: &Folder, runs: usize) -> Vec<(f64, f64)> {
    let of_run = |run: usize| {
        let text = fs::read_to_string(folder.path(&format!("summary.{run}.json"))).unwrap();
        let report = Report::parse(&text).unwrap();
        let seen = report.observations.iter().find(|seen| seen.name == "observe/writes").unwrap();
        (seen.first.value, seen.last.value)
    };
    (1..=runs).map(of_run).collect()
}

#[test]
fn a_kept_target_has_what_earlier_runs_left_and_every_other_run_has_its_own() {
    let folder = Folder::new();
    let (plan, out) = (folder.write("plan.yaml", KEPT), folder.path("summary.json"));
    let args = ["run", &plan, "--out", &out];
    let ended = hammer(&args);
    assert_eq!(counted(&folder, 3), [(0.0, 20.0), (20.0, 40.0), (40.0, 60.0)], "{}", ended.stderr);
    hammer(&[&args[..], &["--set", "target.lab.keep=false"]].concat());
    assert_eq!(counted(&folder, 3), [(0.0, 20.0); 3]);
}

#[test]
fn what_fills_a_kept_target_stays_in_it() {
    let folder = Folder::new();
    let plan = KEPT.to_owned() + "fill: { workload: web, operations: 10 }\n";
    let (plan, out) = (folder.write("plan.yaml", &plan), folder.path("summary.json"));
    let ended = hammer(&["run", &plan, "--out", &out]);
    assert_eq!(counted(&folder, 3), [(10.0, 30.0), (40.0, 60.0), (70.0, 90.0)], "{}", ended.stderr);
}

#[test]
fn a_kept_target_runs_while_hooks_do_between_and_behind_the_runs() {
    let folder = Folder::new();
    let (plan, out) = (folder.write("plan.yaml", KEPT), folder.path("summary.json"));
    // The shell's parent is the command, whose threads have names.
    let look = "run: 'grep -q lab-http /proc/$PPID/task/*/comm && echo up || echo down'";
    let hooks = format!("hooks={{between: [{{name: between, {look}}}], after: [{{name: after, {look}}}]}}");
    let ended = hammer(&["run", &plan, "--out", &out, "--set", &hooks]);
    let summary: Summary = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    let said = summary.runs.iter().flat_map(|run| &run.hooks).map(|hook| hook.output.clone());
    assert_eq!(said.collect::<Vec<_>>(), vec![json!("up"); 5], "{ended:?}");
}

#[test]
fn a_kept_target_cannot_be_swept_and_what_no_target_counts_is_refused_with_what_it_counts() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", KEPT);
    for (change, parts) in [
        (
            "sweep={target.lab.http.status: [200, 204]}",
            &["sweep.target.lab.http.status", "is one for all runs"][..],
        ),
        ("sweep={target.lab.keep: [true, false]}", &["sweep.target.lab.keep", "is one for all runs"]),
        ("observe.writes.lab=rows", &["observe.writes.lab", "the embedded target counts accepted, "]),
        ("target={url: \"http://127.0.0.1:9\"}", &["observe[0].lab", "there is no embedded target"]),
    ] {
        let ended = hammer(&["run", &plan, "--set", change]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{change}: {}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "no {part} in {}", ended.stderr);
        }
    }
}

/// Writes and reads of one kept target in turn.
const WEIGHED: &str = "\
target:
  lab: { keep: true, http: { faults: { rules: [{ latency: { constant: 5ms } }] } } }
workloads:
  - { name: any, http: {}, load: { users: 1 } }
sweep:
  workloads:
    - [ { name: write, http: { method: POST }, load: { users: 2, operations: 20 } } ]
    - [ { name: read, http: {}, load: { users: 1, operations: 5 } } ]
rounds: 2
order: rounds_first
observe:
  - { name: rows, every: 1m, lab: requests.post }
summary: { by: rows }
";

/// The places of the rows of each series.
type Places = Vec<(String, Vec<Value>)>;

/// Each table as the names of its workloads, and the places of the rows of each series.
fn places(summary: &Summary) -> Vec<(Value, Places)> {
    let series = |series: &TableSeries| {
        (series.path.clone(), series.rows.iter().map(|row| row.at.clone()).collect::<Vec<_>>())
    };
    let table = |table: &Table| {
        let of = table.of.get("workloads").map_or(json!(table.of), |swept| swept[0]["name"].clone());
        (of, table.series.iter().map(series).collect::<Vec<_>>())
    };
    summary.tables.iter().map(table).collect()
}

#[test]
fn tables_go_by_what_the_target_holds_behind_each_run() {
    let (summary, ended) = trial(WEIGHED, &[]);
    let grown = |path: &str| vec![(path.to_owned(), vec![json!(20.0), json!(40.0)])];
    assert_eq!(places(&summary), [(json!("write"), grown("write/post")), (json!("read"), grown("read/get"))]);
    let heads =
        ["\nby rows, ", "\nworkloads write\nseries      rows  requests  failures ", "\nworkloads read\n"];
    for part in heads {
        assert!(ended.stdout.contains(part), "no {part:?} in {}", ended.stdout);
    }
}

#[test]
fn tables_go_by_what_a_hook_counted_behind_each_run() {
    let folder = Folder::new();
    let count = format!("run: 'echo x >>{0}; wc -l <{0}'", folder.path("rows"));
    let hooks = format!("hooks={{after: [{{name: weight, {count}}}]}}");
    let (summary, _) = trial(WEIGHED, &["summary.by=weight", &hooks]);
    let at = |path: &str, places: [u64; 2]| vec![(path.to_owned(), places.map(Value::from).to_vec())];
    let expected = [(json!("write"), at("write/post", [1, 3])), (json!("read"), at("read/get", [2, 4]))];
    assert_eq!(places(&summary), expected);
    let named = |hooks: &str| {
        hammer(&["plan", &folder.write("plan.yaml", WEIGHED), "--set", "summary.by=weight", "--set", hooks])
    };
    let refused = named(&hooks.replace("after", "between"));
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("this hook is not run before the first run"), "{}", refused.stderr);
}

#[test]
fn a_table_by_users_has_the_rates_and_response_times_of_the_reports_without_their_warm_up() {
    let folder = Folder::new();
    let plan = TRIAL.replace("  measurement: 50ms", "  warm_up: 100ms\n  measurement: 300ms");
    let plan = plan.replace("load: {}", "load: { spawn_rate: 10/s }");
    let plan = plan.replace(
        "[{ latency: { constant: 5ms } }]",
        "[{ latency: { constant: 5ms }, refuse: { status: 503, share: 0.5 } }]",
    );
    let (plan, out) = (folder.write("plan.yaml", &plan), folder.path("summary.json"));
    let ended = hammer(&["run", &plan, "--out", &out, "--set", "rounds=1"]);
    let summary: Summary = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(summary.by.as_deref(), Some("users"));
    let users = |path: &str| vec![(path.to_owned(), vec![json!(1), json!(2)])];
    assert_eq!(places(&summary), [(json!("write"), users("write/post")), (json!("read"), users("read/get"))]);
    // Two users came before one.
    for (place, table, row) in [(1, 0, 1), (2, 1, 1), (3, 0, 0), (4, 1, 0)] {
        let text = fs::read_to_string(folder.path(&format!("summary.{place}.json"))).unwrap();
        let report = Report::parse(&text).unwrap();
        let (figures, seconds) = (&report.series[0].measurement, report.run.measured_seconds);
        let row = &summary.tables[table].series[0].rows[row];
        let fates = &figures.counts.fates;
        assert!(fates.pushback > 0 && fates.accepted > 0, "{fates:?}");
        let failures = row.failures_per_s.unwrap() * seconds;
        // What ended in measurement, though one of them may have been intended in warm-up, or ended in drain.
        let failed = figures.ended.completed - figures.ended.accepted;
        assert!((failures - failed as f64).abs() < 1e-6, "{failures} of {fates:?}");
        let rates = figures.rates.unwrap();
        assert_eq!((row.runs, row.requests_per_s), (1, Some(rates.completed_per_s)));
        let response = figures.durations.response_time.as_ref().unwrap();
        assert_eq!((row.p50_ns, row.p95_ns), (Some(response.p50_ns), Some(response.p95_ns)));
    }
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let measured = "by users, 300ms of measurement behind 100ms of warm-up, of which up to 100ms a ramp: ";
    assert!(text.contains(measured), "{}", ended.stdout);
}

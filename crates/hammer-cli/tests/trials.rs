//! Trials of several runs: in which order they come, and what their summary makes of them.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;

use std::fs;

use hammer_report::summary::RunOrder;
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
        ("observe.writes.lab=rows", &["observe.writes.lab", "counts accepted, connections, "]),
        ("target={url: \"http://127.0.0.1:9\"}", &["observe[0].lab", "there is no embedded target"]),
    ] {
        let ended = hammer(&["run", &plan, "--set", change]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{change}: {}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "no {part} in {}", ended.stderr);
        }
    }
}

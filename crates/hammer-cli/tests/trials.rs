//! Trials of several runs: in which order they come, and what their summary makes of them.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;

use std::fs;

use hammer_report::Summary;
use hammer_report::summary::RunOrder;
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

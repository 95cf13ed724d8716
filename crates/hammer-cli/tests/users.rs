//! How the users of a closed loop enter. Judged is who is due within measurement, which the plan fixes: the machine may be slow.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use serde_json::{Value, json};

use folder::Folder;
use hammer::hammer;

/// Each of the users has one operation within measurement: thinking takes longer than the run.
const PLAN: &str = "\
target: { lab: { http: {} } }
workloads:
  - name: web
    http: {}
    load: { users: 40, think: 1h }
    timeout: 60s
phases: { measurement: 990ms, drain: 60s }
";

#[test]
fn users_enter_at_the_rate_of_the_plan() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    // One each 50 ms, the first at once: the twentieth at 950 ms.
    for (rate, users) in [(Some("20/s"), 20), (Some("1200/min"), 20), (None, 40)] {
        for shards in [1, 2] {
            let set = [format!("threads.shards={shards}")]
                .into_iter()
                .chain(rate.map(|rate| format!("workloads.web.load.spawn_rate={rate}")));
            let set: Vec<String> = set.flat_map(|change| ["--set".to_owned(), change]).collect();
            let set = set.iter().map(String::as_str);
            let args: Vec<&str> = ["run", &plan, "--out", "-"].into_iter().chain(set).collect();
            let report = hammer(&args).report();
            assert_eq!(report.totals.all.offered, users, "{rate:?} on {shards}");
        }
    }
}

/// Four workers of 100 ms each: 40 a second, however many users there are.
const SATURATED: &str = "\
target:
  lab:
    http:
      faults: { rules: [ { workers: { count: 4, latency: { constant: 100ms } } } ] }
workloads:
  - name: web
    http: {}
    load: { users: 1 }
    timeout: 60s
sweep: { users: [ 2, 4, 8 ] }
phases: { warm_up: 500ms, measurement: 3s, drain: 60s }
";

#[test]
fn the_knee_of_a_sweep_is_where_the_server_has_no_worker_left() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", SATURATED);
    let out = folder.path("summary.json");
    let ended = hammer(&["run", &plan, "--out", &out]);
    let summary: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    let knees = summary["knees"].as_array().unwrap();
    assert_eq!(knees.len(), 1, "{summary}");
    assert_eq!((&knees[0]["beyond"], &knees[0]["next"]), (&json!(4), &json!(8)), "{}", ended.stderr);
    let sentence = knees[0]["text"].as_str().unwrap();
    assert!(sentence.starts_with("beyond 4 users "), "{sentence}");
    assert!(ended.stderr.contains(sentence) || ended.stdout.contains(sentence), "{ended:?}");
    let rates: Vec<f64> = summary["runs"].as_array().unwrap().iter().map(accepted).collect();
    assert!(rates.iter().all(|rate| *rate < 105.0), "no faster than its workers: {rates:?}");
}

/// Operations accepted in a second.
fn accepted(run: &Value) -> f64 {
    run["series"][0]["accepted_per_s"].as_f64().unwrap()
}

#[test]
fn groups_of_users_have_counters_of_their_own_and_a_longer_operation_is_an_event() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let events = folder.path("events.jsonl");
    let set = ["--set", "workloads.web.load={users: 10, groups: 4, think: 1h}", "--set", "threads.shards=2"];
    let args = ["run", &plan, "--out", "-", "--events", &events];
    let ended = hammer(&[args.as_slice(), &set].concat());
    let report = ended.report();
    let groups = &report.groups[0];
    let counted: Vec<_> = groups.groups.iter().map(|group| (group.operations, group.accepted)).collect();
    assert_eq!(counted, [(10, 10); 4], "{}", ended.stderr);
    assert_eq!((groups.workload.as_str(), groups.all.operations), ("web", 40));
    let lines = std::fs::read_to_string(events).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let highs: Vec<Value> = lines.filter(|line| line["event"] == "record_high").collect();
    for (number, group) in (1..).zip(&groups.groups) {
        let own = highs.iter().filter(|high| high["group"] == number).map(|high| &high["response_time_ns"]);
        let own: Vec<u64> = own.map(|nanos| nanos.as_u64().unwrap()).collect();
        assert!(own.is_sorted() && own.last() == group.max_ns.as_ref(), "{own:?} of {group:?}");
    }
    let all = groups.groups.iter().filter_map(|group| group.max_ns).max();
    assert_eq!(groups.all.max_ns, all);
}

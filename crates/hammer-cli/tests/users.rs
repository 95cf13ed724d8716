//! How the users of a closed loop enter. Judged is who is due within measurement, which the plan fixes: the machine may be slow.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

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

//! A burst that has a slot for each of its arrivals: whatever those wait for before they start, it is no slot.

use hammer_measure::Nanos;
use hammer_report::report::Nanoseconds;

use super::folder::Folder;
use super::hammer::hammer;

const SIZE: u64 = 1_000;

const PLAN: &str = "\
target: { lab: { http: {} } }
workloads:
  - { name: web, http: {}, load: { bursts: { size: 1000, every: 60s } }, in_flight: 2000, timeout: 60s }
threads: { shards: 1 }
phases: { measurement: 1s, drain: 60s }
";

/// One thread sends one after another what is all due at once: the last wait for it.
#[test]
fn arrivals_that_find_a_free_slot_wait_for_hammer_and_not_for_a_slot() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let report = hammer(&["run", &plan, "--out", "-"]).report();
    assert_eq!(report.totals.all.fates.accepted, SIZE);
    let durations = &report.series[0].measurement.durations;
    let (lag, backlog) = (durations.dispatch_lag.as_ref().unwrap(), durations.backlog_wait.as_ref().unwrap());
    assert_eq!(backlog.max_ns, Nanoseconds::At(0), "{backlog:?}");
    assert!(lag.max_ns.least() > Nanos::ZERO.0, "not all of them start in one instant");
}

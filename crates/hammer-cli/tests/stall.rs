//! 200 arrivals a second for 10 s, and a server that holds every answer for 2 s of them: what waiting does to the figures
//! depends on the plan's bounds, and no bound hides it. Judged are counts that the plan fixes, not how long anything took: the
//! machine may be slow. (The engine's own tests hold the durations, on a simulated clock; here it is for real, over HTTP.)

#[path = "stall/burst.rs"]
mod burst;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "stall/standstill.rs"]
mod standstill;
#[path = "stall/stopped.rs"]
mod stopped;

use hammer_measure::Nanos;
use hammer_report::report::{Durations, Nanoseconds};
use hammer_report::{ReasonKind, Report};

use folder::Folder;
use hammer::hammer;

const PLAN: &str = "\
target:
  lab:
    http:
      faults:
        rules:
          - latency: { constant: 2ms }
            stalls: [{ at: 4s, duration: 2s }]
workloads:
  - name: web
    http: {}
    load: { rate: 200/s }
    timeout: 60s
phases:
  measurement: 10s
  drain: 60s
";

const OFFERED: u64 = 2_000;

/// What arrives in the first second of the stall waits for longer than a second, but for its very end.
const LEAST_SLOW: u64 = 180;

#[test]
fn with_few_slots_a_stall_shows_in_response_time_and_hardly_in_service_time() {
    let report = stalled(8, 10_000);
    assert_eq!(report.totals.all.fates.accepted, OFFERED);
    // Only what was in flight saw a slow answer, yet everything that came meanwhile had to wait.
    let (response, service) = slow(&report);
    assert!(response >= LEAST_SLOW && service >= 1, "{response} {service}");
    assert!(service * 10 <= response, "{service} service times and {response} response times over 1 s");
}

#[test]
fn with_a_slot_for_each_arrival_service_time_shows_the_stall_as_well() {
    let report = stalled(5_000, 10_000);
    assert_eq!(report.totals.all.fates.accepted, OFFERED);
    let (response, service) = slow(&report);
    assert!(response >= LEAST_SLOW, "{response}");
    assert!(service * 2 > response, "{service} service times and {response} response times over 1 s");
}

/// What the bounds shed never ended: no figure of those that did may stand for it.
#[test]
fn what_a_stall_sheds_is_in_every_percentile_that_it_reaches() {
    let report = stalled(8, 100);
    let fates = report.totals.all.fates;
    assert_eq!(fates.accepted + fates.shed, OFFERED, "{fates:?}");
    // 400 arrive in the stall, and there is room for 108.
    assert!((280..OFFERED / 2).contains(&fates.shed), "{fates:?}");
    let response = report.series[0].measurement.durations.response_time.as_ref().unwrap();
    assert!(matches!(response.p50_ns, Nanoseconds::At(_)), "response p50 is {:?}", response.p50_ns);
    assert!(matches!(response.p99_ns, Nanoseconds::Beyond { .. }), "response p99 is {:?}", response.p99_ns);
    assert!(response.p99_ns.to_string().starts_with("> "), "{}", response.p99_ns);
    let text = hammer_report::text::render(&report);
    let line = text.lines().find(|line| line.trim_start().starts_with("response time")).unwrap();
    assert!(line.matches("> ").count() >= 4, "mean, p99, p99.9 and max: {line}");
}

/// The report of the plan with these bounds.
fn stalled(in_flight: usize, backlog: usize) -> Report {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let in_flight = format!("workloads.web.in_flight={in_flight}");
    let backlog = format!("workloads.web.backlog={backlog}");
    let report = hammer(&["run", &plan, "--set", &in_flight, "--set", &backlog, "--out", "-"]).report();
    let graver = report.verdict.reasons.iter().find(|reason| reason.reason != ReasonKind::NotBelievable);
    assert!(graver.is_none(), "{}", report.verdict);
    assert_eq!(report.totals.all.offered, OFFERED);
    report
}

/// How many response times, and how many service times, are longer than a second.
fn slow(report: &Report) -> (u64, u64) {
    let durations = &report.series[0].measurement.durations;
    let longer = |of: &Option<Durations>| {
        of.as_ref().unwrap().distribution().unwrap().count_above(Nanos::from_secs(1))
    };
    (longer(&durations.response_time), longer(&durations.service_time))
}

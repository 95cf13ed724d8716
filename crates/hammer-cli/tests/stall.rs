//! 1,000 arrivals a second for 20 s, and a server that holds every answer for 2 s of them: what waiting does to the
//! figures depends on the plan's bounds, and no bound hides it. (The engine's own tests do the same on a simulated
//! clock; here it is for real, over HTTP.)

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

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
            stalls: [{ at: 10s, duration: 2s }]
workloads:
  - name: web
    http: {}
    load: { rate: 1000/s }
    timeout: 10s
phases:
  measurement: 20s
";

/// One after another, so that none takes the cores from another.
#[test]
fn a_stall_shows_in_response_time_whatever_the_bounds() {
    few_slots_and_a_long_backlog();
    many_slots();
    few_slots_and_a_short_backlog();
}

/// (a) Only what was in flight saw a slow answer, yet everything that came meanwhile had to wait.
fn few_slots_and_a_long_backlog() {
    let report = stalled(8, 10_000);
    let durations = &report.series[0].measurement.durations;
    assert_eq!(report.totals.all.fates.accepted, 20_000);
    let response = millis(durations.response_time.as_ref().unwrap().p99_ns);
    assert!((1_600..=2_100).contains(&response), "response p99 is {response} ms");
    let service = durations.service_time.as_ref().unwrap();
    assert!(millis(service.p99_ns) < 50, "service p99 is {:?}", service.p99_ns);
    let slow = longer_than_a_second(service);
    assert!((1..=8).contains(&slow), "{slow} service times over 1 s");
}

/// (b) With a slot for each arrival the server's own time shows it as well.
fn many_slots() {
    let report = stalled(5_000, 10_000);
    let durations = &report.series[0].measurement.durations;
    assert_eq!(report.totals.all.fates.accepted, 20_000);
    for (name, found) in [("response", &durations.response_time), ("service", &durations.service_time)] {
        let p99 = millis(found.as_ref().unwrap().p99_ns);
        assert!((1_600..=2_100).contains(&p99), "{name} p99 is {p99} ms");
    }
    let slow = longer_than_a_second(durations.service_time.as_ref().unwrap());
    assert!((900..=1_100).contains(&slow), "{slow} service times over 1 s");
}

/// (c) What the bounds shed never ended: no figure of those that did may stand for it.
fn few_slots_and_a_short_backlog() {
    let report = stalled(8, 100);
    let fates = report.totals.all.fates;
    assert!((1_800..=2_000).contains(&fates.shed), "{} shed", fates.shed);
    assert_eq!(fates.accepted + fates.shed, 20_000);
    let response = report.series[0].measurement.durations.response_time.as_ref().unwrap();
    assert!(matches!(response.p99_ns, Nanoseconds::Beyond { .. }), "response p99 is {:?}", response.p99_ns);
    assert!(response.p99_ns.to_string().starts_with("> "), "{}", response.p99_ns);
    let text = hammer_report::text::render(&report);
    let line = text.lines().find(|line| line.trim_start().starts_with("response time")).unwrap();
    assert!(line.contains("> "), "{line}");
}

/// The report of the plan with these bounds. A generator that a busy machine kept from its plan says so, and is asked
/// again: its figures are not those of the stall.
fn stalled(in_flight: usize, backlog: usize) -> Report {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let in_flight = format!("workloads.web.in_flight={in_flight}");
    let backlog = format!("workloads.web.backlog={backlog}");
    let args = ["run", &plan, "--set", &in_flight, "--set", &backlog, "--out", "-"];
    let mut report = hammer(&args).report();
    for _ in 0..2 {
        if report.health.healthy {
            break;
        }
        report = hammer(&args).report();
    }
    let graver = report.verdict.reasons.iter().find(|reason| reason.reason != ReasonKind::NotBelievable);
    assert!(graver.is_none(), "{}", report.verdict);
    assert_eq!(report.totals.all.offered, 20_000);
    report
}

fn millis(figure: Nanoseconds) -> u64 {
    match figure {
        Nanoseconds::At(nanos) => nanos / 1_000_000,
        Nanoseconds::Beyond { .. } => panic!("{figure}"),
    }
}

fn longer_than_a_second(durations: &Durations) -> u64 {
    durations.distribution().unwrap().count_above(Nanos::from_secs(1))
}

//! 1,000 arrivals a second for 20 s, and a server that holds every answer for 2 s of them: what waiting does to the
//! figures depends on the plan's bounds, and no bound hides it. (The engine's own tests do the same on a simulated
//! clock; here it is for real, over HTTP.)

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use std::ops::RangeInclusive;

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
    held(8, 10_000, few_slots_and_a_long_backlog);
    held(5_000, 10_000, many_slots);
    held(8, 100, few_slots_and_a_short_backlog);
}

/// (a) Only what was in flight saw a slow answer, yet everything that came meanwhile had to wait.
fn few_slots_and_a_long_backlog(report: &Report) -> Result<(), String> {
    let durations = &report.series[0].measurement.durations;
    let (response, service) =
        (durations.response_time.as_ref().unwrap(), durations.service_time.as_ref().unwrap());
    let slow = longer_than_a_second(service);
    expect("accepted", report.totals.all.fates.accepted, 20_000..=20_000)?;
    expect("response p99", millis(response.p99_ns), 1_600..=2_100)?;
    expect("service p99", millis(service.p99_ns), 0..=49)?;
    expect("service times over 1 s", slow, 1..=8)
}

/// (b) With a slot for each arrival the server's own time shows it as well.
fn many_slots(report: &Report) -> Result<(), String> {
    let durations = &report.series[0].measurement.durations;
    let (response, service) =
        (durations.response_time.as_ref().unwrap(), durations.service_time.as_ref().unwrap());
    expect("accepted", report.totals.all.fates.accepted, 20_000..=20_000)?;
    expect("response p99", millis(response.p99_ns), 1_600..=2_100)?;
    expect("service p99", millis(service.p99_ns), 1_600..=2_100)?;
    expect("service times over 1 s", longer_than_a_second(service), 900..=1_500)
}

/// (c) What the bounds shed never ended: no figure of those that did may stand for it.
fn few_slots_and_a_short_backlog(report: &Report) -> Result<(), String> {
    let fates = report.totals.all.fates;
    expect("shed", fates.shed, 1_800..=2_000)?;
    expect("accepted and shed", fates.accepted + fates.shed, 20_000..=20_000)?;
    let response = report.series[0].measurement.durations.response_time.as_ref().unwrap();
    assert!(matches!(response.p99_ns, Nanoseconds::Beyond { .. }), "response p99 is {:?}", response.p99_ns);
    assert!(response.p99_ns.to_string().starts_with("> "), "{}", response.p99_ns);
    let text = hammer_report::text::render(report);
    let line = text.lines().find(|line| line.trim_start().starts_with("response time")).unwrap();
    assert_eq!(line.matches("> ").count(), 4, "mean, p99, p99.9 and max: {line}");
    Ok(())
}

fn expect(what: &str, found: u64, among: RangeInclusive<u64>) -> Result<(), String> {
    among.contains(&found).then_some(()).ok_or_else(|| format!("{what}: {found} is not in {among:?}"))
}

/// Holds the plan's figures with these bounds against `judge`. Where the generator itself says that a busy machine
/// kept it from its plan, figures that do not fit are no finding, and it is asked again.
fn held(in_flight: usize, backlog: usize, judge: fn(&Report) -> Result<(), String>) {
    for again in [true, true, false] {
        let report = stalled(in_flight, backlog);
        match judge(&report) {
            Ok(()) => return,
            Err(_) if again && !report.health.healthy => {}
            Err(reason) => panic!("in_flight {in_flight}, backlog {backlog}: {reason}; {}", report.verdict),
        }
    }
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

//! What a plan and a command line say of hammer's own health, and what the report says of it.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use hammer_report::report::{FindingKind, HealthNoteKind, OnFail};
use hammer_report::{ReasonKind, Report};

use folder::Folder;
use hammer::{Ended, hammer};

/// Two series, with a bound of dispatch lag that no thread keeps.
const PLAN: &str = "\
target: { lab: { http: {} } }
workloads:
  - { name: quick, http: {}, load: { rate: 50/s } }
  - { name: slow, http: {}, load: { rate: 20/s } }
thresholds: [ share(accepted) > 99% ]
health: { dispatch_lag_p99: 1us }
phases: { measurement: 1s }
";

fn run(plan: &str, args: &[&str]) -> Ended {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", plan);
    hammer(&[&["run", &plan, "--out", "-", "--quiet"], args].concat())
}

/// The series that were released too late.
fn late(report: &Report) -> Vec<&str> {
    let findings = report.health.findings.iter().filter(|finding| finding.kind == FindingKind::DispatchLag);
    findings.map(|finding| finding.series.as_deref().unwrap()).collect()
}

#[test]
fn lateness_over_the_bound_of_the_plan_is_a_finding_of_each_series_and_says_what_to_do() {
    let ended = run(PLAN, &[]);
    let report = ended.report();
    assert_eq!(ended.code, 5, "{}", ended.stderr);
    assert_eq!(late(&report), ["quick/get", "slow/get"]);
    assert_eq!((report.health.on_fail, report.health.dispatch_lag_p99_ns), (OnFail::Fail, Some(1_000)));
    // The text tells the worst of them.
    let told: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("dispatch lag p99 of ")).collect();
    assert!(told.len() == 1 && told[0].contains("NOT OK"), "{told:?}");
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("; and likewise 1 more series"), "{words}");
    assert!(report.health.findings.iter().all(|finding| !finding.remedy.is_empty()));
    assert!(ended.stderr.contains("--tolerate-lag"), "{}", ended.stderr);
}

#[test]
fn what_is_tolerated_is_told_and_gives_the_run_no_reason() {
    for (plan, flags) in [
        (PLAN.to_owned(), vec!["--tolerate-lag"]),
        (PLAN.replace("1us }", "1us, on_fail: warn }"), Vec::new()),
    ] {
        let ended = run(&plan, &flags);
        let report = ended.report();
        assert_eq!((ended.code, report.health.healthy), (0, false), "{}", ended.stderr);
        assert_eq!((report.health.on_fail, late(&report).len()), (OnFail::Warn, 2));
        // The plan that it carries is the one that was carried out.
        assert_eq!(report.plan["health"]["on_fail"], "warn");
        let first = ended.stderr.lines().next().unwrap();
        assert!(first.starts_with("PASS, exit 0, though ") && first.contains("tolerated"), "{first}");
    }
}

#[test]
fn a_closed_loop_is_never_told_off_for_filling_its_cores() {
    let plan = "\
target: { lab: { http: {} } }
workloads: [ { name: web, http: {}, load: { users: 32 } } ]
thresholds: [ share(accepted) > 99% ]
phases: { measurement: 2s }
";
    let report = run(plan, &[]).report();
    let is_limit = report.health.notes.iter().any(|note| {
        note.kind == HealthNoteKind::Limit && note.text.contains("at least") && note.per_s.unwrap() > 0.0
    });
    let kinds: Vec<FindingKind> = report.health.findings.iter().map(|finding| finding.kind).collect();
    assert!(!kinds.contains(&FindingKind::Cpu), "{kinds:?}");
    // On a busy machine it may get too little of the cores to fill them.
    if is_limit {
        assert!(kinds.iter().all(|kind| *kind == FindingKind::Standstill), "{kinds:?}");
    }
    let graver = report.verdict.reasons.iter().find(|reason| reason.reason != ReasonKind::NotBelievable);
    assert!(graver.is_none(), "{}", report.verdict);
}

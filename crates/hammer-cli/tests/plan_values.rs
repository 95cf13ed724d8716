//! How the values of a plan are written: one grammar, and keys that have another name by now.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/plan.rs"]
mod plan;

use folder::Folder;
use hammer::{Ended, hammer};
use plan::{CT_PLAN, PLAN, refused, run};

/// A plan with every key that has another name by now.
const OLD: &str = "\
target:
  lab:
    ct:
      serve: { max_body_bytes: 100000 }
      faults:
        rules:
          - refuse: { share: 0.1, retry_after_s: 2 }
workloads:
  - name: submit
    ct_submit:
      audit_interval_ms: 100
      policy: { max_bytes: 65536 }
    load: { rate: 10/s }
phases: { measurement: 1s }
";

fn shown(text: &str, changes: &[&str]) -> Ended {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", text);
    let mut args = vec!["plan", &plan];
    changes.iter().for_each(|change| args.extend(["--set", change]));
    let mut ended = hammer(&args);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    ended.stderr = ended.stderr.replace(&plan, "plan.yaml");
    ended
}

fn notes(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().collect()
}

#[test]
fn keys_by_the_names_that_they_had_are_read_and_told_with_their_lines() {
    let ended = shown(OLD, &[]);
    let note = |place: &str, old: &str, now: &str| {
        format!(
            "hammer: note: the plan plan.yaml:{place}: {old} is read as `{now}`, which is how it is written now"
        )
    };
    let mut expected = [
        note("4:32", "target.lab.ct.serve.max_body_bytes", "max_body: 100000B"),
        note("7:50", "target.lab.ct.faults.rules[0].refuse.retry_after_s", "retry_after: 2s"),
        note("11:26", "workloads[0].ct_submit.audit_interval_ms", "audit_interval: 100ms"),
        note("12:28", "workloads[0].ct_submit.policy.max_bytes", "max_body: 65536B"),
    ];
    let mut told = notes(&ended);
    told.sort_unstable();
    expected.sort_unstable();
    assert_eq!(told, expected);
    for now in ["audit_interval: 100ms", "max_body: 64KiB", "max_body: 100000B", "retry_after: 2s"] {
        assert!(ended.stdout.contains(now), "no {now} in {}", ended.stdout);
    }
    let log = CT_PLAN.replace("  log:\n", "  log:\n    skew_seconds: 5\n    mmd_seconds: 3600\n");
    let ended = shown(&log, &[]);
    assert_eq!(notes(&ended).len(), 2, "{}", ended.stderr);
    assert!(ended.stdout.contains("skew: 5s") && ended.stdout.contains("mmd: 1h"), "{}", ended.stdout);
    // What is printed has no old name left.
    let again = shown(&shown(OLD, &[]).stdout, &[]);
    assert_eq!((again.stderr.as_str(), again.stdout), ("", shown(OLD, &[]).stdout));
}

#[test]
fn a_report_tells_what_was_read_by_an_old_name() {
    let folder = Folder::new();
    let lab = "lab: { http: { body_bytes: 5 } }";
    let plan = folder.write("plan.yaml", &PLAN.replace("url: http://127.0.0.1:9", lab));
    let report = hammer(&["run", &plan, "--out", "-"]).report();
    let note = "target.lab.http.body_bytes is read as `body_size: 5B`, which is how it is written now";
    assert!(report.events.iter().any(|event| format!("{event:?}").contains(note)), "{:?}", report.events);
    assert_eq!(report.plan["target"]["lab"]["http"]["body_size"], "5B");
}

#[test]
fn both_names_of_a_key_are_refused_by_the_line_of_the_old_one() {
    let both = CT_PLAN.replace("ct_submit: {}", "ct_submit: { audit_interval: 1s, audit_interval_ms: 250 }");
    refused(
        &run(&both, &[]),
        &[
            "plan.yaml:7:38: workloads[0].ct_submit.audit_interval_ms: ",
            "both `audit_interval_ms` and `audit_interval` are given",
        ],
    );
    let change = "workloads.submit.ct_submit={audit_interval: 1s, audit_interval_ms: 5}";
    refused(&run(CT_PLAN, &[change]), &["use --set ", "both `audit_interval_ms` and `audit_interval`"]);
}

#[test]
fn a_value_under_an_old_name_is_refused_where_it_stands() {
    let fast = CT_PLAN.replace("ct_submit: {}", "ct_submit: { audit_interval_ms: 49 }");
    refused(
        &run(&fast, &[]),
        &["plan.yaml:7:37: workloads[0].ct_submit.audit_interval_ms: it must be 50ms at least"],
    );
    let change = "workloads.submit.ct_submit.audit_interval_ms=49";
    refused(&run(CT_PLAN, &[change]), &[&format!("use --set {change}: it must be 50ms at least")]);
}

#[test]
fn a_change_by_an_old_name_takes_the_place_of_what_the_plan_says() {
    let plan = CT_PLAN.replace("ct_submit: {}", "ct_submit: { audit_interval: 1s }");
    let ended = shown(&plan, &["workloads.submit.ct_submit.audit_interval_ms=300"]);
    assert!(ended.stdout.contains("audit_interval: 300ms"), "{}", ended.stdout);
    assert!(ended.stderr.contains("note: --set workloads.submit.ct_submit.audit_interval_ms=300: "));
    let swept = format!("{plan}sweep: {{ workloads.submit.ct_submit.audit_interval_ms: [100, 20] }}\n");
    refused(
        &run(&swept, &[]),
        &[
            "the sweep of workloads.submit.ct_submit.audit_interval_ms to 20 (",
            "plan.yaml:11:10): it must be 50ms at least",
        ],
    );
    let set = "serve.max_body_bytes=5000";
    let ended = hammer(&["lab", "ct", "--set", set, "--set", "private_key=/nonexistent"]);
    assert!(
        ended.stderr.starts_with(&format!("hammer: note: --set {set}: serve.max_body_bytes is read as "))
    );
}

#[test]
fn versions_of_http_need_no_quotes() {
    for (written, printed) in
        [("1.1", "\"1.1\""), ("2", "\"2\""), ("'1.1'", "\"1.1\""), ("2-prior-knowledge", "2-prior-knowledge")]
    {
        let connection = format!("  connection: {{ http: {written} }}\nworkloads:");
        let ended = shown(&PLAN.replace("workloads:", &connection), &[]);
        let line = ended.stdout.lines().find(|line| line.trim().starts_with("http: ")).unwrap();
        assert_eq!(line.trim().replace('\'', "\""), format!("http: {printed}"));
    }
    let connection = "  connection: { http: 1.2 }\nworkloads:";
    refused(
        &run(&PLAN.replace("workloads:", connection), &[]),
        &["plan.yaml:3:23: target.connection.http: `1.2` is no version (negotiated, 1.1, 2, "],
    );
}

#[test]
fn sizes_have_units_or_are_bytes() {
    for (written, printed) in [("16777216", "16MiB"), ("512KiB", "512KiB"), ("1MB", "1000000B")] {
        let connection = format!("  connection: {{ response_limit: {written} }}\nworkloads:");
        let ended = shown(&PLAN.replace("workloads:", &connection), &[]);
        assert!(ended.stdout.contains(&format!("response_limit: {printed}\n")), "{}", ended.stdout);
    }
    let connection = "  connection: { response_limit: much }\nworkloads:";
    refused(
        &run(&PLAN.replace("workloads:", connection), &[]),
        &["target.connection.response_limit: `much` is no size (like 16MiB, "],
    );
}

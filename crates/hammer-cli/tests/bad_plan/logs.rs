//! Logs, submissions to them and embedded logs that cannot be.

use super::*;

#[test]
fn submissions_that_cannot_be_are_refused_by_their_keys() {
    for (change, parts) in [
        ("precert_percent=2.5", ["precert_percent=2.5: ", "`2.5` is no whole percentage (0 to 100, "]),
        ("duplicate_percent=101", ["duplicate_percent=101: ", "`101` is no percentage (0 to 100, "]),
        ("invalid_percent=-1", ["invalid_percent=-1: ", "`-1` is no percentage (0 to 100, "]),
        ("invalid={expired: 0}", ["invalid={expired: 0}: ", "one weight must be 1 at least"]),
        ("profiles={dv-p521-chain2: 1}", ["profiles={", "`dv-p521-chain2` is no profile: dv or san100, "]),
        ("not_before=soon", ["not_before=soon: ", "`soon` is no date: RFC 3339, a date since 1970, or days"]),
        ("not_after=-31d", ["not_after=-31d: ", "it is before not_before, -30d"]),
        ("logs=[a.b]", ["workloads[0].ct_submit.logs[0]: ", "`a.b` is no word"]),
        ("invalid={expird: 1}", ["ct_submit.invalid={expird: 1}: ", "`expird`"]),
        ("policy={max_body: 0}", ["workloads[0].ct_submit.policy.max_body: ", "it must be 1B at least"]),
        ("policy={reject: true}", ["workloads[0].ct_submit.policy.reject: ", "unknown key `reject`"]),
    ] {
        let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/ct-quickstart.yaml");
        for command in ["run", "plan"] {
            let change = format!("workloads.submit.ct_submit.{change}");
            refused(&hammer(&[command, plan, "--set", &change]), &parts);
        }
    }
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/ct-quickstart.yaml");
    let both =
        ["duplicate_percent=60", "invalid_percent=41"].map(|key| format!("workloads.submit.ct_submit.{key}"));
    let ended = hammer(&["plan", plan, "--set", &both[0], "--set", &both[1]]);
    refused(&ended, &["invalid_percent=41: with duplicates it comes to 101 of 100"]);
    let folder = Folder::new();
    let both = CT_PLAN
        .replace("ct_submit: {}", "ct_submit:\n      duplicate_percent: 60\n      invalid_percent: 41");
    refused(
        &hammer(&["plan", &folder.write("plan.yaml", &both)]),
        &["plan.yaml:9:24: workloads[0].ct_submit.invalid_percent: with duplicates it comes to 101 of 100"],
    );
}

/// What is wrong with a log, its target or its lies has the line of its key.
#[test]
fn logs_that_cannot_be_are_refused_by_their_keys() {
    let lab = |keys: &str| {
        let workload = "workloads: [ { name: submit, ct_submit: {}, load: { rate: 1/s } } ]";
        run(&format!("target:\n  lab:\n    ct:\n      {keys}\n{workload}\n"), &[])
    };
    for (keys, part) in [
        (
            "lies: [ { kind: lost-leaf }, { kind: lost-leaf, late: 5s } ]",
            "plan.yaml:4:61: target.lab.ct.lies[1].late: it is for mmd-missed alone",
        ),
        (
            "lies: [ { kind: lost-leaf, every: 0 } ]",
            "plan.yaml:4:41: target.lab.ct.lies[0].every: it must be 1 at least",
        ),
        (
            "faults: { rules: [ { reset_share: 2 } ] }",
            "target.lab.ct.faults.rules[0].reset_share: `2` is no share (0 to 1, ",
        ),
        (
            "faults: { rules: [ { refuse: { share: 1%, status: 200 } } ] }",
            "rules[0].refuse.status: it must be 400 at least",
        ),
        (
            "faults: { rules: [ { latency: { uniform: { min: 2s, max: 1s } } } ] }",
            "latency.uniform.max: it is below min, 2s",
        ),
        ("not_after_start: soon", "target.lab.ct.not_after_start: `soon` is no date since 1970"),
        ("serve: { threads: 0 }", "target.lab.ct.serve.threads: it must be 1 at least"),
    ] {
        refused(&lab(keys), &["plan.yaml:4:", part]);
    }
    for (from, to, part) in [
        (
            "http://127.0.0.1:9/log",
            "ftp://127.0.0.1/log",
            "plan.yaml:3:21: target.log.submission_url: `ftp://127.0.0.1/log` is no URL of a service: it is neither http nor https",
        ),
        (
            "http://127.0.0.1:9/log",
            "[]",
            "plan.yaml:3:21: target.log.submission_url: failed to find the log's submission_url: it is not given",
        ),
        (
            "submission_url:",
            "public_key_file: /nonexistent\n    submission_url:",
            "plan.yaml:3:22: target.log.public_key_file: failed to use both public_key and public_key_file",
        ),
        (
            "submission_url:",
            "monitoring_url: file://host/log\n    submission_url:",
            "plan.yaml:3:21: target.log.monitoring_url: `file://host/log` is no folder: it is written as file:///path",
        ),
        (
            "submission_url:",
            "not_after_start: +9d\n    not_after_limit: +9d\n    submission_url:",
            "plan.yaml:4:22: target.log.not_after_limit: failed to use \"+9d\" as not_after_limit: expected a date after",
        ),
    ] {
        refused(&run(&CT_PLAN.replace(from, to), &[]), &[part]);
    }
}

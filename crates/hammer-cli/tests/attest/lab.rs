//! What `hammer lab attest` says, and the lines that it prints.

use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::folder::Folder;
use crate::hammer::{DEADLINE, Started, command, hammer};
use crate::on_time::exit_if_on_time;
use crate::plan::refused;

/// Carries out the lines for hammer that the lab printed, one after another, for a second each, as a shell does; the report of each.
fn carried_out(said: &str, folder: &Folder) -> Vec<(String, hammer_report::Report)> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("    hammer "));
    let carry_out = |line: &str| {
        let line = line.replace("--for 10s", "--for 1s");
        let script = format!("exec \"$HAMMER\" {line} --out - --quiet");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("HAMMER", env!("CARGO_BIN_EXE_hammer")).env("PASSWORD", "it's");
        let ended = Started::of({
            shell.current_dir(folder.path("."));
            shell
        })
        .ended();
        let report = ended.report();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{line}: {}", ended.stderr);
        (line.split(' ').nth(1).unwrap_or_default().to_owned(), report)
    };
    lines.map(carry_out).collect()
}

/// A lab with these settings until it is told to end; what it said first, on both streams.
fn started(set: &[&str]) -> (Started, Value, String) {
    let mut args = vec!["lab", "attest"];
    set.iter().for_each(|change| args.extend(["--set", change]));
    let lab = Started::of(command(&args));
    let target = serde_json::from_str(&lab.line_with("verification_url")).unwrap();
    let mut said = String::new();
    while !said.contains("--devices") {
        said += &lab.stderr.recv_timeout(DEADLINE).unwrap();
    }
    (lab, target, said)
}

#[test]
fn the_lines_that_the_lab_prints_work_as_they_stand_and_it_says_in_the_end_what_it_answered() {
    let users = r#"users=[{name: "a user", password: "it's"}]"#;
    for set in [&["release=v0.0.2502"][..], &["release=v0.0.2608", users]] {
        let folder = Folder::new();
        let (lab, target, said) = started(set);
        assert_eq!(target["provisioning_url"], target["verification_url"]);
        let reports = carried_out(&said, &folder);
        let commands: Vec<&str> = reports.iter().map(|(command, _)| command.as_str()).collect();
        assert_eq!(commands, ["well-known", "provision", "verify", "verify"], "{said}");
        let verified = reports.iter().filter(|(command, _)| command == "verify");
        let kept = verified.map(|(_, report)| {
            let promises = &report.promises.all;
            assert_eq!(promises.kept, promises.made, "{promises:?}");
            promises.kept
        });
        let kept: u64 = kept.sum();
        assert!(kept > 0);

        lab.signal(Signal::TERM);
        let ended = lab.ended();
        let stats: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!((&stats["requests"]["submit"], ended.code), (&serde_json::json!({ "200": 600 }), 0));
        assert_eq!(stats["requests"]["evidence"]["200"], kept, "{stats}");
    }
}

#[test]
fn the_target_that_the_lab_prints_stands_in_a_plan() {
    let (mut lab, target, _) = started(&[]);
    let folder = Folder::new();
    let workload = serde_json::json!({ "name": "provision", "attest_provision": {}, "load": { "users": 1, "operations": 5 } });
    let plan = serde_json::json!({ "target": { "attest": target }, "workloads": [workload] });
    let report = hammer(&["run", &folder.write("plan.json", &plan.to_string()), "--out", "-"]).report();
    assert_eq!(report.totals.all.fates.accepted, 5);
    lab.child.kill().unwrap();
    lab.child.wait().unwrap();
}

#[test]
fn what_the_lab_cannot_be_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused =
        |more: &[&str], parts: &[&str]| refused(&hammer(&[&["lab", "attest"], more].concat()), parts);
    refused(&["--listen", &address], &[&format!("listen on {address}: ")]);
    refused(&["--set", "release=v1"], &["--set release=v1", "`v1` cannot stand here"]);
    refused(&["--set", "sessions=1"], &["--set sessions=1", "unknown key `sessions`"]);
    refused(&["--config", "/no/such/file"], &["failed to read /no/such/file: No such file"]);
}

//! What a line prints, and what `hammer init` writes, are plans that run as they say.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests look at requests")]
mod server;

use std::fs;
use std::process::{Command, Stdio};

use folder::Folder;
use hammer::{Ended, hammer};
use on_time::exit_if_on_time;
use serde_json::json;
use server::Server;

/// Nobody listens there.
const NOBODY: &str = "http://127.0.0.1:1";
const KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqG51pjbkmFczWR9zrHs0sIVFt8ErBljJ8NcYFITKMsgMaf6+YjbKxA1OiWXWuLEnKTdx1KB6KqMcaDTzVbZ6Sg==";

fn printed(line: &[&str]) -> String {
    let ended = hammer(&[line, &["--print-plan"]].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{line:?}");
    ended.stdout
}

/// Holds the plan that a line carries out against that of the plan which it prints.
#[track_caller]
fn expect_round_trip(line: &[&str]) -> String {
    let folder = Folder::new();
    let text = printed(line);
    let file = folder.write("plan.yaml", &text);
    let own = hammer(&[line, &["--out", "-"]].concat()).report();
    let grown = hammer(&["run", &file, "--out", "-"]).report();
    assert_eq!(grown.plan, own.plan, "{text}");
    text
}

#[test]
fn a_line_of_http_prints_the_plan_that_it_carries_out() {
    let server = Server::ok();
    let url = format!("{}a?b=c", server.url());
    let text = expect_round_trip(&["http", "get", &url, "-n", "7", "-c", "2"]);
    assert!(text.starts_with("# yaml-language-server: $schema=plan.schema.json\n"), "{text}");
    let written = "\
target:
  url: URL
  connection:
    connections: 2
workloads:
- name: http
  http:
    path: /a?b=c
  load:
    operations: 7
    users: 2
  in_flight: 2
  timeout: 20s
";
    let of_plan: String = text.lines().skip(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(of_plan, written.replace("URL", &server.url()));
    let rated =
        ["http", "post", &url, "-q", "50", "-z", "100ms", "-H", "X-One: 1", "-H", "x-one: 2", "-d", "a: 'b'"];
    expect_round_trip(&[&rated[..], &["--warm-up", "100ms", "--threshold", "share(accepted) > 1%"]].concat());
}

#[test]
fn every_line_that_sends_prints_the_plan_that_it_carries_out() {
    let short = ["-z", "100ms", "-q", "20", "--threshold", "count(accepted) >= 0"];
    let folder = Folder::new();
    let roots = folder.write("roots.pem", &hammer(&["pki", "roots", "--authorities", "1"]).stdout);
    let lines: [&[&str]; 6] = [
        &["ct", "submit", NOBODY, "--key", KEY, "--precerts", "20", "--no-audit"],
        &["ct", "read", NOBODY, "--key", KEY, "--mix", "checkpoint=1"],
        &["pki", "auth", NOBODY, "--token-env", "PATH"],
        &["pki", "cades", NOBODY, "--token-env", "PATH", "--size", "2KiB"],
        &["pki", "pades", NOBODY, "--token-env", "PATH", "--size", "2KiB"],
        &["pki", "timestamp", NOBODY, "--token-env", "PATH", "--timestamp-roots", &roots],
    ];
    for line in lines {
        let text = expect_round_trip(&[line, &short].concat());
        assert!(text.contains("thresholds:\n- count(accepted) >= 0\n"), "{text}");
    }
}

#[test]
fn a_line_whose_services_are_asked_first_prints_a_plan_that_is_read_as_it_stands() {
    let trusted = ["--trust", "servers", "--no-preflight", "--threshold", "share(kept) == 100%"];
    let signs = ["--fulcio", NOBODY, "--rekor", NOBODY, "--issuer", "http://127.0.0.1:18999"];
    let attests = ["--threshold", "share(kept) == 100%", "--warm-up", "50ms"];
    let lines: [Vec<&str>; 7] = [
        [&["sigstore", "sign"], signs.as_slice(), &trusted].concat(),
        [&["sigstore", "mixed", "--sign-rate", "5/s", "--verify-users", "3"], signs.as_slice(), &trusted]
            .concat(),
        [&["sigstore", "verify", "--rekor", NOBODY], trusted.as_slice()].concat(),
        [&["sigstore", "tsa", NOBODY], trusted.as_slice()].concat(),
        [&["attest", "provision", NOBODY, "--models", "2", "--seed", "7"], attests.as_slice()].concat(),
        [&["attest", "verify", NOBODY, "--count", "5"], attests.as_slice()].concat(),
        [&["attest", "well-known", NOBODY], attests.as_slice()].concat(),
    ];
    for line in lines {
        let text = printed(&line);
        let folder = Folder::new();
        let read = hammer(&["plan", &folder.write("plan.yaml", &text)]);
        assert_eq!(read.code, 0, "{line:?}: {}\n{text}", read.stderr);
        assert!(text.contains("thresholds:\n- share(kept) == 100%\n"), "{text}");
    }
    let fill = printed(&[&["sigstore", "fill", "--flows", "30"], signs.as_slice(), &trusted[..3]].concat());
    assert!(fill.contains("operations: 30\n"), "{fill}");
}

#[test]
fn what_every_line_takes_is_named_where_it_is_wrong() {
    for (flag, value, why) in [
        ("--threshold", "p99(respnse) < 1s", "`p99` cannot be taken of `respnse`"),
        ("--threshold", "fast", "expected `function(measure) < bound`"),
        ("--warm-up", "long", "long"),
    ] {
        let ended = hammer(&["http", "get", NOBODY, flag, value]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(flag) && ended.stderr.contains(why), "{}", ended.stderr);
    }
}

#[test]
fn a_threshold_of_a_line_decides_its_exit_code_and_has_its_numbers_in_the_report() {
    let server = Server::ok();
    let line = ["http", "get", &server.url(), "-n", "5", "-c", "1", "--out", "-"];
    let failed = hammer(&[&line[..], &["--threshold", "count(accepted) > 99"]].concat()).report();
    assert_eq!(exit_if_on_time(&failed.verdict), 1);
    let judged = serde_json::to_value(&failed.thresholds[0]).unwrap();
    assert_eq!((&judged["found_value"], &judged["bound_value"]), (&json!(5.0), &json!(99.0)));
    assert_eq!((&judged["unit"], &judged["holds"]), (&json!("count"), &json!(false)));
    let both = ["--threshold", "count(accepted) == 5", "--threshold", "p99(response) < 1h"];
    let held = hammer(&[&line[..], &both].concat()).report();
    assert_eq!((exit_if_on_time(&held.verdict), held.thresholds.len()), (0, 2));
    let summary = held.summary.unwrap();
    assert_eq!((summary.accepted, summary.thresholds, summary.thresholds_failed), (5, 2, 0));
    assert!(summary.p99_ns.is_some() && !summary.beyond, "{summary:?}");
}

#[test]
fn what_a_line_carries_as_a_secret_is_not_printed() {
    let text =
        printed(&["http", "get", NOBODY, "-H", "Authorization: Bearer abc-def", "-H", "accept: text/plain"]);
    assert!(!text.contains("abc-def") && text.contains("***") && text.contains("text/plain"), "{text}");
    let of_file = printed(&["http", "get", NOBODY, "--bearer-env", "TOKEN_OF_MINE"]);
    assert!(of_file.contains("env: TOKEN_OF_MINE\n") && !of_file.contains("***"), "{of_file}");
}

#[test]
fn a_printed_plan_runs_once_its_secrets_are_put_back() {
    let server = Server::ok();
    let line = ["http", "get", &server.url(), "-n", "3", "-c", "1", "-H", "Authorization: Bearer abc-def"];
    let folder = Folder::new();
    let file = folder.write("plan.yaml", &printed(&line));
    let refused = hammer(&["run", &file]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("workloads[0].http.headers.Authorization: `***` stands"),
        "{}",
        refused.stderr
    );
    assert_eq!(server.connections(), 0);
    let put_back = "workloads.0.http.headers.Authorization=Bearer abc-def";
    let report = hammer(&["run", &file, "--set", put_back, "--out", "-"]).report();
    assert_eq!(report.totals.all.fates.accepted, 3);
}

#[test]
fn what_the_tip_at_a_flag_of_run_says_is_a_change_that_a_plan_takes() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &printed(&["http", "get", NOBODY, "-n", "3", "-c", "1"]));
    for flag in ["-z", "--warm-up", "-q", "-c", "-n", "-t", "--threshold", "--authorized"] {
        let refused = hammer(&["run", &plan, flag, "5"]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        let tip = refused.stderr.split("--set ").nth(1).and_then(|tip| tip.lines().next());
        let tip = tip.unwrap_or_else(|| panic!("{}", refused.stderr));
        let change = tip.trim_matches('\'').replace("NAME", "http");
        let other = if change.contains("load.rate") { "workloads.http.load.users=null" } else { "seed=1" };
        let planned = hammer(&["plan", &plan, "--set", other, "--set", &change]);
        assert_eq!(planned.code, 0, "{change}: {}", planned.stderr);
    }
}

#[test]
fn outputs_that_a_plan_can_name_are_in_a_printed_one() {
    let files = ["--out", "report.json", "--events", "events.jsonl", "--samples", "samples.jsonl"];
    let text = printed(&[&["http", "get", NOBODY, "--tolerate-lag"], files.as_slice()].concat());
    let output = "output:\n  events: events.jsonl\n  report: report.json\n  samples: samples.jsonl\n";
    assert!(text.contains(output), "{text}");
    assert!(text.contains("health:\n  on_fail: warn\n"), "{text}");
}

/// `hammer init` of these arguments in that folder.
fn init(folder: &Folder, args: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hammer"));
    command.arg("init").args(args).current_dir(folder.path(".")).stdin(Stdio::null());
    hammer::Started::of(command).ended()
}

#[test]
fn a_first_plan_of_each_kind_runs_as_it_is_written() {
    let folder = Folder::new();
    for kind in ["ct", "http", "sigstore", "attest", "pki", "gateway"] {
        let ended = init(&folder, &[kind]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let file = folder.path(&format!("{kind}.yaml"));
        assert!(ended.stdout.contains(&format!("hammer run {kind}.yaml")), "{}", ended.stdout);
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!((10..=30).contains(&lines), "{kind}.yaml has {lines} lines");
        assert_eq!(hammer(&["plan", &file]).code, 0, "{kind}");
        let report = hammer(&["run", &file, "--smoke", "--quiet", "--out", "-"]).report();
        assert!(report.totals.all.fates.accepted > 0, "{kind}: {}", report.verdict);
        assert!(!report.thresholds.is_empty(), "{kind}");
        let kept = report.thresholds.iter().filter(|threshold| threshold.threshold.contains("kept"));
        assert!(kept.clone().all(|threshold| threshold.holds), "{kind}: {:?}", report.thresholds);
    }
}

#[test]
fn a_first_plan_is_written_over_nothing() {
    let folder = Folder::new();
    folder.write("http.yaml", "mine");
    let refused = init(&folder, &["http"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("http.yaml"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(folder.path("http.yaml")).unwrap(), "mine");
    assert_eq!(init(&folder, &["http", "--out", "other.yaml"]).code, 0);
    let told = init(&folder, &["http", "--out", "-"]);
    assert_eq!(told.stdout, fs::read_to_string(folder.path("other.yaml")).unwrap());
}

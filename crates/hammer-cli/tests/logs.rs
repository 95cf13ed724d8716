//! Plans with several logs, several URLs of a log, and a token for each side.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests look at bodies and connections")]
mod server;

use std::fs;

use hammer_report::report::SeriesKind;
use hammer_report::{ReasonKind, Report};
use hammer_tlog::encoding::base64;

use folder::Folder;
use hammer::{Ended, Started, command, hammer};
use server::Server;

const SHARDS: &str = "\
seed: 7
target:
  lab:
    logs:
      2027h1:
        { key_seed: 1, path_prefix: 2027h1, not_after_start: \"2027-01-01T00:00:00Z\",
          not_after_limit: \"2027-07-01T00:00:00Z\", batch_max_age: 20ms, checkpoint_interval: 100ms }
      2027h2:
        { key_seed: 2, path_prefix: 2027h2, not_after_start: \"2027-07-01T00:00:00Z\",
          not_after_limit: \"2028-01-01T00:00:00Z\", batch_max_age: 20ms, checkpoint_interval: 100ms }
workloads:
  - name: submit
    ct_submit:
      precert_percent: 30
      duplicate_percent: 5
      not_after: 2027-01-01
      not_after_until: 2027-12-31T23:59:59Z
      audit: true
    load: { rate: 100/s }
  - name: read
    ct_read: {}
    load: { rate: 20/s }
phases:
  measurement: 3s
";

const KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqG51pjbkmFczWR9zrHs0sIVFt8ErBljJ8NcYFITKMsgMaf6+YjbKxA1OiWXWuLEnKTdx1KB6KqMcaDTzVbZ6Sg==";

fn run(plan: &str, changes: &[&str]) -> Ended {
    of_plan("run", plan, changes)
}

fn of_plan(verb: &str, plan: &str, changes: &[&str]) -> Ended {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", plan);
    let mut args = vec![verb, &plan];
    if verb == "run" {
        args.extend(["--out", "-"]);
    }
    changes.iter().for_each(|change| args.extend(["--set", change]));
    hammer(&args)
}

/// Operations of the series that the log accepted.
fn accepted(report: &Report, series: impl Fn(&str) -> bool) -> u64 {
    let operations = report.series.iter().filter(|one| one.kind == SeriesKind::Operation);
    let of = operations.filter(|one| series(&one.path));
    of.map(|one| one.measurement.counts.fates.accepted).sum()
}

fn observed(report: &Report, name: &str) -> f64 {
    let seen = report.observations.iter().find(|seen| seen.name == name);
    seen.unwrap_or_else(|| panic!("no {name}")).last.value
}

#[test]
fn each_chain_goes_to_the_shard_that_takes_its_leaf_and_all_are_audited() {
    let ended = run(SHARDS, &[]);
    let report = ended.report();
    // A machine that is busy elsewhere makes any run late.
    let reasons = report.verdict.reasons.iter().filter(|one| one.reason != ReasonKind::NotBelievable);
    assert_eq!(reasons.count(), 0, "{}", ended.stderr);
    let all = report.totals.measurement.fates;
    // A shard refuses a leaf that is not its own.
    assert_eq!((all.refused, all.accepted), (0, 360), "{all:?}");
    let mut chains = 0;
    for log in ["2027h1", "2027h2"] {
        let of_log = |series: &str| {
            series.starts_with(&format!("submit/{log}/add-")) || series == format!("submit/{log}/duplicate")
        };
        let here = accepted(&report, of_log);
        assert!(here > 100, "{log}: {here}");
        chains += here;
        assert_eq!(accepted(&report, |series| series.starts_with(&format!("read/{log}/"))), 30);
        let (size, audited) =
            (observed(&report, &format!("{log}/tree_size")), observed(&report, &format!("{log}/audited")));
        assert!(
            size > 0.9 * here as f64 && audited > 0.9 * here as f64 && size >= audited,
            "{size} {audited} {here}"
        );
        assert_eq!(observed(&report, &format!("{log}/audit_pending")), 0.0);
    }
    assert_eq!(chains, 300);
    let grown = report.headlines.iter().map(|tree| (tree.target.as_deref(), tree.grown_per_s.is_some()));
    assert!(grown.eq([(Some("2027h1"), true), (Some("2027h2"), true)]), "{:?}", report.headlines);
    assert_eq!(report.tree_size, None, "of two trees neither is the tree");
    assert_eq!((report.promises.all.broken, report.promises.all.pending), (0, 0));
}

#[test]
fn a_workload_may_name_its_logs() {
    let changes = [
        "workloads.submit.ct_submit.logs=[2027h2]",
        "workloads.submit.ct_submit.not_after=2027-08-01",
        "workloads.read.ct_read.log=2027h1",
    ];
    let ended = run(SHARDS, &changes);
    let report = ended.report();
    let series: Vec<String> = report.series.iter().map(|one| one.path.clone()).collect();
    assert!(series.contains(&"submit/add-chain".to_owned()), "{series:?}");
    assert!(report.observations.iter().any(|seen| seen.name == "2027h2/tree_size"));
    // What is read alone is followed, and not audited.
    assert!(report.observations.iter().any(|seen| seen.name == "2027h1/tree_size"));
    assert!(report.observations.iter().all(|seen| !seen.name.starts_with("2027h1/audit")));
    assert_eq!(accepted(&report, |series| series.starts_with("submit/")), 300);
}

#[test]
fn logs_that_contradict_each_other_are_refused_before_anything_is_sent() {
    let one = |more: &str| format!("{{submission_url: \"http://127.0.0.1:9/log\", public_key: {KEY}{more}}}");
    for (change, parts) in [
        (
            "workloads.submit.ct_submit.not_after=2026-12-31".to_owned(),
            ["workloads[0].ct_submit: ", "NotAfter is 2026-12-31T00:00:00Z"],
        ),
        (
            "target.lab.logs.2027h2.not_after_start=\"2027-07-02T00:00:00Z\"".to_owned(),
            ["workloads[0].ct_submit: ", "NotAfter is 2027-07-01T00:00:00Z"],
        ),
        (
            "workloads.submit.ct_submit.logs=[2027h1]".to_owned(),
            ["workloads[0].ct_submit: ", "NotAfter is 2027-07-01T00:00:00Z"],
        ),
        ("workloads.submit.ct_submit.logs=[2027h1, 2028h1]".to_owned(), [": ", "no log `2028h1`"]),
        ("workloads.read.ct_read.log=2028h1".to_owned(), [": ", "no log `2028h1`"]),
        (
            format!("target.log={}", one("")),
            ["target: give exactly one of", "url, log, logs, sigstore, trillian, attest, pki, services, lab"],
        ),
        ("target.lab.ct={}".to_owned(), ["target.lab: give exactly one of", "http, gateway, ct, logs"]),
        (format!("target={{log: {}}}", one(", name: a")), ["target.log.name", "several"]),
        (format!("target={{logs: [{}]}}", one("")), ["target.logs[0].name", "it is not given"]),
        (format!("target={{logs: [{0}, {0}]}}", one(", name: a")), ["target.logs[1].name: ", "`a` is taken"]),
        (
            format!("target={{logs: [{}, {}]}}", one(", name: a"), one(", name: b")),
            ["target.logs[1].public_key: ", "it is the key of a as well as of b"],
        ),
        (
            format!("target={{logs: [{}]}}", one(", name: a, not_after_start: +9d, not_after_limit: +9d")),
            ["target.logs[0].not_after_limit: ", "expected a date after not_after_start"],
        ),
        (
            format!(
                "target={{logs: [{}]}}",
                one(", name: a, submission_token_file: a, submission_token_env: A")
            ),
            ["target.logs[0].submission_token_env: ", "both submission_token_file and submission_token_env"],
        ),
    ] {
        for verb in ["plan", "run"] {
            let ended = of_plan(verb, SHARDS, &[&change]);
            assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{verb} {change}: {}", ended.stderr);
            for part in parts {
                assert!(ended.stderr.contains(part), "{change}: no {part:?} in {}", ended.stderr);
            }
        }
    }
    let same = ["target.lab.logs.2027h2.key_seed=1"];
    let ended = run(SHARDS, &same);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("it is the key of 2027h1 as well as of 2027h2"), "{}", ended.stderr);
}

/// A plan that submits to one log and reads it, its URLs and whatever else is in `log`.
fn of_log(log: &str) -> String {
    format!(
        "target:
  log: {{ public_key: {KEY}, {log} }}
  connection: {{ redirects: 1 }}
workloads:
  - name: submit
    ct_submit: {{ audit: true }}
    load: {{ rate: 50/s }}
  - name: read
    ct_read: {{}}
    load: {{ rate: 50/s }}
phases:
  measurement: 1s
  drain: 1s
"
    )
}

#[test]
fn the_token_of_a_side_goes_to_that_side_alone_and_is_shown_nowhere() {
    let monitoring = Server::answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    // What follows a redirect to the other side carries neither token, nor the body.
    let submission = Server::answering(format!(
        "HTTP/1.1 303 Elsewhere\r\nlocation: {}redirected\r\ncontent-length: 0\r\n\r\n",
        monitoring.url()
    ));
    let folder = Folder::new();
    let token = folder.write("token", "canary-of-submission\n");
    let plan = folder.write(
        "plan.yaml",
        &of_log(&format!(
            "submission_url: \"{}log\", submission_token_file: {token}, monitoring_url: \"{}log\", monitoring_token_env: CANARY",
            submission.url(),
            monitoring.url()
        )),
    );
    let (report, events) = (folder.path("report.json"), folder.path("events.jsonl"));
    let mut hammer = command(&["run", &plan, "--out", &report, "--events", &events]);
    hammer.env("CANARY", "canary-of-monitoring");
    let ended = Started::of(hammer).ended();
    let authorization = |server: &Server, redirected: bool| -> Vec<Option<String>> {
        let requests = server.requests();
        let of = requests.iter().filter(|request| request.line.contains("/redirected") == redirected);
        of.map(|request| request.header("authorization").map(str::to_owned)).collect()
    };
    for (server, token) in
        [(&submission, "Bearer canary-of-submission"), (&monitoring, "Bearer canary-of-monitoring")]
    {
        let sent = authorization(server, false);
        assert!(sent.len() >= 50, "{}: {}", sent.len(), ended.stderr);
        assert!(sent.iter().all(|sent| sent.as_deref() == Some(token)), "{sent:?}");
    }
    let redirected = authorization(&monitoring, true);
    assert!(redirected.len() >= 50 && redirected.iter().all(Option::is_none), "{redirected:?}");
    let written = [&report, &events].map(|path| fs::read_to_string(path).unwrap());
    for told in [&ended.stdout, &ended.stderr, &written[0], &written[1]] {
        assert!(!told.contains("canary-of-"), "{told}");
    }
}

#[test]
fn a_token_that_a_log_says_again_in_place_of_an_sct_is_shown_nowhere() {
    let server = Server::answering_to(|_, request| {
        let (status, body) = match request.line.starts_with("POST") {
            true => ("200 OK", format!("{{\"you\": \"{}\"}}", request.header("authorization").unwrap())),
            false => ("404 Not Found", String::new()),
        };
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    });
    let folder = Folder::new();
    let token = folder.write("token", "canary-of-submission\n");
    let log = format!("submission_url: \"{}log\", submission_token_file: {token}", server.url());
    let plan = folder.write("plan.yaml", &of_log(&log));
    let mut hammer = command(&["run", &plan, "--out", "report.json", "--events", "events.jsonl"]);
    hammer.current_dir(folder.path(""));
    let ended = Started::of(hammer).ended();
    let report = fs::read_to_string(folder.path("report.json")).unwrap();
    assert!(report.contains("unreadable-sct") && report.contains("Bearer ***"), "{report}");
    let mut told = vec![ended.stdout, ended.stderr];
    for file in fs::read_dir(folder.path("")).unwrap().flatten().filter(|file| file.file_name() != "token") {
        told.push(format!("{:?}: {}", file.file_name(), fs::read_to_string(file.path()).unwrap()));
    }
    for kind in ["-receipts.jsonl", "-evidence.jsonl"] {
        assert!(
            told.iter().any(|told| told.lines().next().is_some_and(|name| name.contains(kind))),
            "{kind}"
        );
    }
    for told in told {
        assert!(!told.contains("canary-of-"), "{told}");
    }
}

#[test]
fn what_shows_a_broken_promise_is_kept_though_the_working_folder_takes_no_file() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"ok\":true}";
    let server = Server::answering_to(|_, request| match request.line.starts_with("POST") {
        true => answer.to_owned(),
        false => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
    });
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &of_log(&format!("submission_url: \"{}log\"", server.url())));
    let mut hammer = command(&["run", &plan, "--out", "-"]);
    hammer.current_dir("/proc").env("TMPDIR", folder.path(""));
    let ended = Started::of(hammer).ended();
    assert_eq!(ended.report().verdict.exit_code, 4, "{}", ended.stderr);
    let files: Vec<_> = fs::read_dir(folder.path("")).unwrap().map(|file| file.unwrap().path()).collect();
    for kind in ["-receipts.jsonl", "-evidence.jsonl"] {
        let kept = files.iter().find(|file| file.to_string_lossy().ends_with(kind));
        let kept = kept.unwrap_or_else(|| panic!("{kind}: {files:?}")).to_string_lossy().into_owned();
        assert!(ended.stderr.replace("\n           ", "").contains(&kept), "{kept}: {}", ended.stderr);
    }
}

#[test]
fn an_embedded_log_takes_chains_from_files_by_the_roots_that_it_is_given() {
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../hammer-ct/testdata");
    let read = |name: &str| fs::read_to_string(format!("{recorded}/{name}")).unwrap();
    let sent: serde_json::Value = serde_json::from_str(&read("01-x509.request.json")).unwrap();
    let pem = |certificate: &serde_json::Value| {
        let base64 = certificate.as_str().unwrap();
        format!("-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----\n")
    };
    let folder = Folder::new();
    let chain = sent["chain"].as_array().unwrap().iter().map(pem).collect::<String>();
    let chain = folder.write("chain.pem", &chain);
    let plan = |roots: &str| {
        let plan = format!(
            "target: {{ lab: {{ ct: {{ roots_pem_files: {roots} }} }} }}\n\
             workloads: [ {{ name: submit, ct_submit: {{ chains: [ {chain} ] }}, load: {{ rate: 20/s }} }} ]\n\
             phases: {{ measurement: 500ms }}\nhealth: {{ on_fail: warn }}\n"
        );
        hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"])
    };
    let root = base64(&fs::read(format!("{recorded}/root.der")).unwrap());
    let root = folder.write("root.pem", &pem(&root.into()));
    let ended = plan(&format!("[ {root} ]"));
    let report = ended.report();
    assert_eq!((report.verdict.exit_code, report.promises.all.kept), (0, 10), "{}", ended.stderr);
    let ended = plan("[]");
    assert!(
        ended.code == 2 && ended.stderr.contains("an embedded one by roots_pem_files"),
        "{}",
        ended.stderr
    );
}

#[test]
fn without_a_monitoring_url_the_submission_token_is_sent_with_reads() {
    let server = Server::answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    let folder = Folder::new();
    let token = folder.write("token", "canary");
    run(&of_log(&format!("submission_url: \"{}log\", submission_token_file: {token}", server.url())), &[]);
    let requests = server.requests();
    assert!(requests.iter().any(|request| request.line.contains("/log/checkpoint")));
    assert!(requests.iter().all(|request| request.header("authorization") == Some("Bearer canary")));
}

#[test]
fn the_urls_of_a_side_get_equal_shares() {
    let servers: Vec<Server> =
        (0..4).map(|_| Server::answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")).collect();
    let [a, b, c, d] = [0, 1, 2, 3].map(|server: usize| format!("\"{}log\"", servers[server].url()));
    let ended = run(
        &of_log(&format!("submission_url: [{a}, {b}], monitoring_url: [{c}, {d}]")),
        &["workloads.submit.ct_submit.audit=false"],
    );
    let counts: Vec<usize> = servers.iter().map(|server| server.requests().len()).collect();
    let posts =
        |server: &Server| server.requests().iter().filter(|request| request.line.starts_with("POST")).count();
    assert_eq!([posts(&servers[0]), posts(&servers[1])], [25, 25], "{counts:?} {}", ended.stderr);
    assert_eq!([posts(&servers[2]), posts(&servers[3])], [0, 0]);
    // The observer of the tree size reads too, but keeps to the first: the other may lag.
    assert!(counts[2] > 25 && counts[3] == 25, "{counts:?}");
}

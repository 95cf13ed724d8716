//! What hammer does with what it cannot use: the exit code, and a message that names file, line, key or URL.

#[path = "support/attended.rs"]
mod attended;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/plan.rs"]
mod plan;
#[path = "support/server.rs"]
mod server;
#[path = "bad_input/signals.rs"]
mod signals;

use std::fs;
use std::net::TcpListener;

use hammer_lab::HttpLabHandle;
use hammer_lab::http::HttpLabPlan;
use hammer_lab::serve::TlsFiles;
use hammer_measure::Fate;
use hammer_report::{Reason, ReasonKind, Report};

use folder::Folder;
use hammer::{Ended, Started, command, hammer};
use on_time::exit_if_on_time;
use plan::{CT_PLAN, PLAN, refused, run};
use server::Server;

fn causes(report: &Report) -> Vec<(String, String, u64)> {
    let causes = report.operations().flat_map(|series| &series.measurement.causes);
    causes.map(|cause| (cause.fate.clone(), cause.cause.clone(), cause.count)).collect()
}

#[test]
fn a_target_that_is_not_there_is_a_whole_report_and_exit_3() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ended = hammer(&["http", "get", &format!("http://{gone}/"), "-n", "5", "-c", "1", "--out", "-"]);
    let report = ended.report();
    assert_eq!(ended.code, 3);
    assert_eq!(report.totals.all.fates.of(Fate::Unreachable), 5);
    assert_eq!(causes(&report), [("unreachable".to_owned(), "connection refused".to_owned(), 5)]);
    assert_eq!(report.plan["target"]["url"], format!("http://{gone}/"));
    let said = format!(
        "FAIL, exit 3: no operation ever got an answer: 5 unreachable (connection refused, failed to connect to {gone}: "
    );
    let told = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.starts_with(said.trim_end()), "{}", ended.stderr);
}

#[test]
fn a_name_that_nobody_has_is_counted_and_exit_3() {
    let ended = hammer(&["http", "get", "http://nobody.invalid/", "-n", "2", "-c", "1", "--out", "-"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert_eq!(causes(&ended.report()), [("unreachable".to_owned(), "name not found".to_owned(), 2)]);
}

fn over_tls(folder: &Folder) -> (HttpLabHandle, String) {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = folder.write("server.pem", &certified.cert.pem());
    let key = folder.write("server.key", &certified.signing_key.serialize_pem());
    let mut plan = HttpLabPlan::default();
    plan.serve.tls = Some(TlsFiles { certificate: certificate.clone().into(), key: key.into() });
    let lab = HttpLabHandle::spawn(plan).unwrap();
    let url = lab.url.replace("127.0.0.1", "localhost");
    assert!(url.starts_with("https://localhost:"), "{url}");
    (lab, url)
}

#[test]
fn a_server_that_nobody_trusts_is_told_as_that_and_exit_3() {
    let folder = Folder::new();
    let (lab, url) = over_tls(&folder);
    let ended = hammer(&["http", "get", &url, "-n", "4", "-c", "2", "--out", "-"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let report = ended.report();
    let untrusted = "server certificate not trusted".to_owned();
    assert_eq!(causes(&report), [("unreachable".to_owned(), untrusted, 4)]);
    let connections = &report.connections[0];
    assert_eq!((connections.tls_handshakes, connections.failed_handshakes), (0, connections.dials));
    assert!(connections.dials >= 4);
    assert!(lab.stats().requests.is_empty());

    let root = folder.path("server.pem");
    let args = ["http", "get", &url, "-n", "4", "-c", "2", "--out", "-", "--cacert", &root];
    assert_eq!(hammer(&args).report().totals.all.fates.accepted, 4);
    let insecure = hammer(&["http", "get", &url, "-n", "4", "-c", "2", "--out", "-", "--insecure"]);
    assert_eq!(insecure.report().totals.all.fates.accepted, 4);
    assert!(insecure.stderr.contains("TLS IS NOT VERIFIED"), "{}", insecure.stderr);
    assert!(insecure.stdout.contains("TLS IS NOT VERIFIED"));
}

/// The unspecified address is neither loopback nor private, yet Linux connects it to this machine: what is dialled
/// arrives, and what does not arrive was not dialled.
fn elsewhere(server: &Server) -> String {
    format!("http://0.0.0.0:{}/", server.address.port())
}

#[test]
fn a_public_address_without_permission_is_not_dialled() {
    let ended = hammer(&["http", "get", "http://203.0.113.7/"]);
    refused(
        &ended,
        &[
            "dial 203.0.113.7 at 203.0.113.7:80: ",
            "target.authorized (--authorized on a command line) must say who allowed load on it",
        ],
    );
    refused(&run(PLAN, &["target.url=[http://127.0.0.1:9, https://203.0.113.7]"]), &["203.0.113.7:443"]);
    refused(&run(CT_PLAN, &["target.log.monitoring_url=http://203.0.113.7/log"]), &["203.0.113.7:80"]);

    let server = Server::ok();
    refused(&hammer(&["http", "get", &elsewhere(&server), "-n", "1"]), &["dial 0.0.0.0 at 0.0.0.0:"]);
    let both = format!("target.url=[\"{}\", \"{}\"]", server.url(), elsewhere(&server));
    refused(&run(PLAN, &[&both]), &["dial 0.0.0.0 at 0.0.0.0:"]);
    assert_eq!(server.connections(), 0);

    let allowed =
        ["http", "get", &elsewhere(&server), "-n", "1", "-c", "1", "--out", "-", "--authorized", "the tests"];
    let ended = hammer(&allowed);
    assert_eq!((ended.report().totals.all.fates.accepted, server.connections()), (1, 1));
    assert!(ended.stdout.contains("was allowed by: the tests"), "{}", ended.stdout);
}

#[test]
fn a_redirect_to_a_public_address_is_counted_and_not_dialled() {
    let secret = Server::ok();
    let moved = |to: &str| {
        Server::answering(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"))
    };
    for to in [elsewhere(&secret), "http://203.0.113.7/".to_owned()] {
        let server = moved(&to);
        let args = ["http", "get", &server.url(), "-n", "3", "-c", "1", "--redirects", "1", "--out", "-"];
        let ended = hammer(&args);
        let report = ended.report();
        assert_eq!(
            causes(&report),
            [("unreachable".to_owned(), "peer not authorized".to_owned(), 3)],
            "{to}"
        );
        assert_eq!((ended.code, server.requests().len()), (3, 3), "{}", ended.stderr);
    }
    assert_eq!(secret.connections(), 0);

    let server = moved(&secret.url());
    let args = ["http", "get", &server.url(), "-n", "3", "-c", "1", "--redirects", "1", "--out", "-"];
    assert_eq!(hammer(&args).report().totals.all.fates.accepted, 3);
    assert!(secret.requests().iter().all(|request| request.line == "GET / HTTP/1.1"));
    assert_eq!(secret.requests().len(), 3);
}

#[test]
fn a_report_that_cannot_be_written_goes_to_standard_output_and_is_exit_6() {
    let server = Server::ok();
    let line = ["http", "get", &server.url(), "-n", "3", "-c", "1"];
    for (output, part) in [
        (["--out", "/dev/full"].as_slice(), "failed to write /dev/full: No space left on device"),
        (&["--events", "/dev/full", "--out", "-"], "failed to write the events to /dev/full: "),
        (&["--samples", "/dev/full", "--out", "-"], "failed to write the samples to /dev/full: "),
    ] {
        let ended = hammer(&[line.as_slice(), output].concat());
        let report = ended.report();
        assert_eq!(exit_if_on_time(&report.verdict), 6, "{}", ended.stderr);
        assert_eq!(report.totals.all.fates.accepted, 3);
        let unwritten = |reason: &&Reason| reason.reason == ReasonKind::ReportUnwritten;
        let reason = report.verdict.reasons.iter().find(unwritten).unwrap();
        assert!(reason.text.starts_with(part), "{}", reason.text);
        assert!(ended.stderr.contains("failed to write"), "{}", ended.stderr);
    }
}

#[test]
fn an_output_that_cannot_be_opened_is_found_before_the_first_request() {
    let server = Server::ok();
    let url = server.url();
    for flag in ["--out", "--events", "--samples"] {
        refused(
            &hammer(&["http", "get", &url, flag, "/nonexistent/file"]),
            &["open /nonexistent/file: No such file"],
        );
    }
    let change = format!("target.url={url}");
    refused(
        &run(PLAN, &[&change, "output.report=/nonexistent/file"]),
        &["open /nonexistent/file: No such file"],
    );
    refused(
        &run(PLAN, &[&change, "rounds=2", "output.report=/nonexistent/file"]),
        &["open /nonexistent/file."],
    );
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_hook_that_fails_before_the_run_ends_it() {
    let server = Server::ok();
    let change = format!("target.url={}", server.url());
    let ended = run(PLAN, &[&change, "hooks.before=[{name: ready, run: \"echo not yet >&2; exit 3\"}]"]);
    refused(
        &ended,
        &[
            "run the hook `echo not yet >&2; exit 3` (ready, --set hooks.before=",
            "): it ended with status 3: not yet",
        ],
    );
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_run_that_is_refused_leaves_the_reports_of_an_earlier_one() {
    let server = Server::ok();
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let earlier = "of an earlier run\n".repeat(10_000);
    let names = ["report.json", "report.1.json", "report.2.json", "events.jsonl"];
    let [report, .., events] = names.map(|name| folder.write(name, &earlier));
    let url = format!("target.url={}", server.url());
    let twice = ["run", &plan, "--set", &url, "--set", "rounds=2", "--out", &report, "--events", &events];
    let ready = ["--set", "hooks.before=[{name: ready, run: exit 3}]"];
    assert_eq!(hammer(&[&twice[..], &ready].concat()).code, 2);
    for name in names {
        assert_eq!(fs::read_to_string(folder.path(name)).unwrap(), earlier, "{name}");
    }
    // A busy machine makes it 5.
    assert_ne!(hammer(&twice).code, 2);
    for name in names {
        let written = fs::read_to_string(folder.path(name)).unwrap();
        assert!(written.starts_with('{') && !written.contains("earlier"), "{name}: {written}");
        assert!(written.ends_with("}\n"), "{name}: {written}");
    }
}

#[test]
fn a_hook_that_fails_after_the_run_leaves_the_report() {
    let server = Server::ok();
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let url = format!("target.url={}", server.url());
    let hook = "hooks.after=[{name: size, run: exit 3}]";
    let ended = hammer(&["run", &plan, "--set", &url, "--set", hook, "--out", "-"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    let report = ended.report();
    assert_eq!(report.totals.all.fates.accepted, 5);
    let said = &report.verdict.reasons[0].text;
    assert!(said.starts_with("failed to run the hook `exit 3` (size, "), "{said}");
    assert!(said.ends_with("): it ended with status 3"), "{said}");
}

const CANARY: &str = "canary-7f3a9c-token";

/// Everything that `command` with `args` told: both streams, report and events.
fn told(folder: &Folder, args: &[&str]) -> (Ended, String) {
    let (out, events) = (folder.path("report.json"), folder.path("events.jsonl"));
    let mut command = command(args);
    command.args(["--out", &out, "--events", &events]).env("HAMMER_TEST_TOKEN", CANARY);
    let ended = Started::of(command).ended();
    let files = [&out, &events].map(|path| fs::read_to_string(path).unwrap_or_default());
    let all = format!("{}\n{}\n{}", ended.stdout, ended.stderr, files.join("\n"));
    (ended, all)
}

#[test]
fn a_token_appears_in_no_output() {
    let folder = Folder::new();
    let token = folder.write("token", &format!("{CANARY}\n"));
    let server = Server::ok();
    let url = server.url();
    let moved =
        Server::answering(format!("HTTP/1.1 302 Found\r\nlocation: {url}\r\ncontent-length: 0\r\n\r\n"));
    let gone = format!("http://{}/", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let refusing = Server::answering("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n");
    let get = |url: &str, bearer: [&str; 2]| {
        let (_, all) = told(&folder, &["http", "get", url, "-n", "2", "-c", "1", bearer[0], bearer[1]]);
        assert!(all.contains("hammer.report/1") && all.contains("hammer.events/1"), "{all}");
        assert!(!all.contains(CANARY), "{all}");
    };
    for bearer in [["--bearer-file", token.as_str()], ["--bearer-env", "HAMMER_TEST_TOKEN"]] {
        get(&url, bearer);
        get(&gone, bearer);
        get(&refusing.url(), bearer);
    }
    let sent = format!("Bearer {CANARY}");
    assert_eq!(server.requests().len(), 4);
    assert!(server.requests().iter().all(|request| request.header("authorization") == Some(&sent)));

    // Nor does one that is written as a header.
    let header = format!("Authorization: {sent}");
    let (_, all) = told(&folder, &["http", "get", &url, "-n", "1", "-c", "1", "-H", &header]);
    assert!(all.contains("***") && !all.contains(CANARY), "{all}");
    assert_eq!(server.requests()[4].header("authorization"), Some(sent.as_str()));

    // Nor does it follow a redirect.
    let args =
        ["http", "get", &moved.url(), "-n", "1", "-c", "1", "--redirects", "1", "--bearer-file", &token];
    let (_, all) = told(&folder, &args);
    assert!(!all.contains(CANARY), "{all}");
    assert_eq!(moved.requests()[0].header("authorization"), Some(sent.as_str()));
    assert_eq!(server.requests()[5].header("authorization"), None);

    let plan =
        folder.write("plan.yaml", &PLAN.replace("http: {}", "http: { bearer: { env: HAMMER_TEST_TOKEN } }"));
    let (ended, all) = told(&folder, &["run", &plan]);
    assert_eq!(ended.code, 3, "{all}");
    assert!(!all.contains(CANARY), "{all}");
    let shown = hammer(&["plan", &plan]);
    assert!(shown.code == 0 && !shown.stdout.contains(CANARY), "{}", shown.stdout);
}

#[test]
fn a_token_that_cannot_be_used_is_named_by_its_place_and_not_shown() {
    let folder = Folder::new();
    let broken = folder.write("broken", &format!("{CANARY}\u{1}{CANARY}"));
    let empty = folder.write("empty", " \n");
    let missing = folder.path("missing");
    for (file, part) in [(&broken, "control characters"), (&empty, "empty token"), (&missing, "No such file")]
    {
        let (ended, all) = told(&folder, &["http", "get", "http://127.0.0.1:9/", "--bearer-file", file]);
        refused(&ended, &[part, file.as_str(), "use --bearer-file: failed to "]);
        assert!(!all.contains(CANARY), "{all}");
    }
    let (ended, _) =
        told(&folder, &["http", "get", "http://127.0.0.1:9/", "--bearer-env", "HAMMER_TEST_UNSET"]);
    refused(&ended, &["HAMMER_TEST_UNSET is not set"]);
    let inline = PLAN.replace("http: {}", &format!("http: {{ bearer: {{ token: {CANARY} }} }}"));
    refused(&run(&inline, &[]), &["plan.yaml:5:", "workloads[0].http.bearer.token: unknown key `token`"]);
}

#[test]
fn arguments_that_cannot_be_read_are_named_by_their_flag() {
    let get = |args: &[&str]| hammer(&[&["http", "get", "http://127.0.0.1:9/"], args].concat());
    refused(&get(&["-z", "5 parsecs"]), &["use -z: `5 parsecs` is no time"]);
    let negative = get(&["-n", "-5"]);
    assert!(negative.code == 2 && negative.stderr.contains("invalid value '-5' for '--requests <N>'"));
    refused(&get(&["-t", "5"]), &["use -t: `5` is no time"]);
    refused(&get(&["--rate", "fast"]), &["use --rate: "]);
    let ended = get(&["-H", "a: b", "-H", "Authorization Bearer canary"]);
    refused(&ended, &["use -H number 2: expected \"Name: value\""]);
    assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
    refused(&get(&["-d", "@/nonexistent/body"]), &["read a body from /nonexistent/body"]);
    refused(&hammer(&["http", "get", "ftp://127.0.0.1/"]), &["ftp://127.0.0.1/", "neither http nor https"]);
    for args in
        [["http", "get"].as_slice(), &["run"], &["nothing"], &["http", "get", "x", "-q", "1", "--nothing"]]
    {
        let ended = hammer(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}");
    }
}

/// A mistake in what an argument gave is told by the argument, whatever key of a plan it stands for.
#[test]
fn every_argument_of_one_line_that_cannot_be_is_told_by_its_name() {
    let folder = Folder::new();
    let (absent, empty) = (folder.path("absent"), folder.write("empty", ""));
    for (args, part) in [
        (["-c", "0"].as_slice(), "use -c: it must be 1 at least"),
        (&["-c", "0", "-q", "5"], "use -c: it must be 1 at least"),
        (&["-z", "5 parsecs"], "use -z: `5 parsecs` is no time"),
        (&["-t", "5"], "use -t: `5` is no time"),
        (&["-q", "fast"], "use --rate: `fast` is no rate"),
        (&["-q", "1e3"], "use --rate: `1e3/s` is no rate"),
        (&["-H", "a b: c"], "use -H: `a b` is no header name"),
        (&["-H", "a: canary\u{7}"], "use -H: it is no header's value"),
        (&["-H", "Authorization: canary\u{7}"], "use -H: it is no header's value"),
        (&["-d", &format!("@{absent}")], "use -d: failed to read a body from "),
        (&["--expect", "200,1000"], "use --expect: it must be 599 at most"),
        (&["--bearer-file", &absent], "use --bearer-file: failed to "),
        (&["--bearer-env", "HAMMER_TEST_UNSET"], "use --bearer-env: failed to "),
        (&["--cacert", &absent], "use --cacert: failed to read "),
        (&["--cacert", &empty], "use --cacert: failed to read "),
        (&["--shards", "0"], "use --shards: it must be 1 at least"),
    ] {
        let ended = hammer(&[&["http", "get", "http://127.0.0.1:9/"], args].concat());
        refused(&ended, &[&format!("hammer: failed to {part}")]);
        assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
    }
    refused(
        &hammer(&["http", "get", "http://me:canary@127.0.0.1:9/"]),
        &["failed to use URL: `http://***@127.0.0.1:9/` is no URL"],
    );
    for (command, args, part) in [
        ("submit", ["-c", "0"], "use -c: it must be 1 at least"),
        ("submit", ["-q", "fast"], "use --rate: `fast` is no rate"),
        ("submit", ["-z", "5"], "use -z: `5` is no time"),
        ("submit", ["-t", "5"], "use -t: `5` is no time"),
        ("submit", ["--precerts", "101"], "use --precerts: `101` is no whole percentage"),
        ("submit", ["--duplicates", "101"], "use --duplicates: `101` is no percentage"),
        ("submit", ["--invalid", "101"], "use --invalid: `101` is no percentage"),
        ("read", ["--mix", "tiles=1"], "use --mix: `tiles` cannot stand here; did you mean `tile`?"),
        ("read", ["--mix", "tile=0"], "use --mix: one weight must be 1 at least"),
        (
            "read",
            ["--mix", "get-sth=1"],
            "use --mix: failed to use \"get-sth\" as mix: expected kinds of static-ct",
        ),
        ("submit", ["--mmd", "long"], "use --mmd: `long` is no time"),
        ("follow", ["--mmd", "long"], "use --mmd: `long` is no time"),
        ("audit", ["--contact", "a\nb"], "use --contact: `a\\nb` is no contact"),
        ("read", ["--monitoring-url", "log"], "use --monitoring-url: `log` is no URL of a service"),
        ("submit", ["--submission-token-file", &absent], "use --submission-token-file: failed to "),
        ("follow", ["--monitoring-token-env", "HAMMER_TEST_UNSET"], "use --monitoring-token-env: failed to "),
    ] {
        let ended =
            hammer(&[&["ct", command, "http://127.0.0.1:9/log", "--key", KEY], args.as_slice()].concat());
        refused(&ended, &[&format!("hammer: failed to {part}")]);
    }
    let both = ["--duplicates", "60", "--invalid", "41"];
    let ended =
        hammer(&[&["ct", "submit", "http://127.0.0.1:9/log", "--key", KEY], both.as_slice()].concat());
    refused(&ended, &["failed to use --invalid: with duplicates it comes to 101 of 100"]);
    for command in ["submit", "read", "follow", "audit"] {
        let with = |url: &str, key: &str| hammer(&["ct", command, url, "--key", key]);
        refused(
            &with("http://127.0.0.1:9/log?a=b", KEY),
            &["failed to use URL: `http://127.0.0.1:9/log?a=b` is no URL"],
        );
        refused(
            &with("http://127.0.0.1:9/log", "AAAA"),
            &["failed to use --key: failed to use the log's public key: "],
        );
        refused(
            &with("http://127.0.0.1:9/log", &format!("@{absent}")),
            &["failed to use --key: failed to read "],
        );
    }
}

const KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqG51pjbkmFczWR9zrHs0sIVFt8ErBljJ8NcYFITKMsgMaf6+YjbKxA1OiWXWuLEnKTdx1KB6KqMcaDTzVbZ6Sg==";

#[test]
fn a_log_that_cannot_be_followed_or_verified_is_refused_before_it_is_dialled() {
    let log = ["http://127.0.0.1:9/log", "--key", KEY];
    let ct = |command: &str, more: &[&str]| hammer(&[&["ct", command], log.as_slice(), more].concat());
    refused(&ct("follow", &["--interval", "10ms"]), &["use --interval: it must be 50ms at least"]);
    refused(&ct("follow", &["--interval", "soon"]), &["use --interval: `soon` is no time"]);
    refused(&ct("follow", &["-z", "1"]), &["use -z: `1` is no time"]);
    refused(&ct("follow", &["-z", "0s"]), &["use -z: it must be 1ns at least"]);
    refused(&ct("audit", &["--from", "5", "--to", "5"]), &["use --to 5: it must be more than --from 5"]);
    refused(&ct("read", &["-q", "fast"]), &["use --rate: `fast` is no rate"]);
    refused(&ct("read", &["--mix", "tile=1,bundle"]), &["use --mix bundle: expected KIND=WEIGHT"]);
    refused(
        &ct("read", &["--mix", "tiles=1"]),
        &["use --mix: `tiles` cannot stand here; did you mean `tile`?"],
    );
    for command in ["read", "follow", "audit"] {
        let with = |url: &str, key: &str| hammer(&["ct", command, url, "--key", key]);
        refused(
            &with("ftp://127.0.0.1/log", KEY),
            &["use URL: `ftp://127.0.0.1/log` is no URL", "neither http nor https"],
        );
        refused(&with("http://127.0.0.1:9/log", "AAAA"), &["use --key: failed to use the log's public key"]);
        refused(&with("http://127.0.0.1:9/log", "@/nowhere"), &["use --key: failed to read /nowhere"]);
        refused(&with("http://192.0.2.1/log", KEY), &["192.0.2.1"]);
        refused(&ct(command, &["--contact", "a\nb"]), &["use --contact: `a\\nb` is no contact"]);
    }
}

#[test]
fn a_log_that_does_not_answer_is_exit_3() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let log = [format!("http://{free}/log"), "--key".to_owned(), KEY.to_owned()];
    let log: Vec<&str> = log.iter().map(String::as_str).collect();
    let ended = hammer(&[&["ct", "follow"], log.as_slice(), &["-z", "500ms", "--interval", "50ms"]].concat());
    assert_eq!(ended.code, 3, "{ended:?}");
    assert_eq!(ended.stdout.matches("trouble  failed to ").count(), 1, "{}", ended.stdout);
    let ended = hammer(&[&["ct", "audit"], log.as_slice()].concat());
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(
        ended.stdout.starts_with("FAIL, exit 3: failed to ")
            && ended.stdout.contains("\nended      failed to ")
    );
}

#[test]
fn a_manual_page_of_no_command_is_refused() {
    refused(&hammer(&["man", "ct", "sumbit"]), &["there is no command `ct sumbit`"]);
    let ended = hammer(&["completions", "csh"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("possible values: bash"), "{}", ended.stderr);
}

/// What would be written over is read, or written by another: nothing is opened, and all stays as it is.
#[test]
fn an_output_that_the_plan_names_elsewhere_is_refused_and_nothing_is_lost() {
    let folder = Folder::new();
    let plan = "target: { lab: { http: {} } }\nworkloads: [{ name: a, http: { method: POST, path: /, body_file: BODY }, \
                load: { rate: 1/s } }]\nphases: { measurement: 1s }\n";
    let body = folder.write("body", "what is sent");
    let path = folder.write("plan.yaml", &plan.replace("BODY", &body));
    let report = folder.path("report.json");
    for (arguments, named) in [
        (["--out", body.as_str()].as_slice(), ["--out", "body_file` as well"]),
        (&["--events", &body], ["--events", "body_file` as well"]),
        (&["--out", &path], ["--out", "the plan itself as well"]),
        (&["--out", &report, "--events", &report], ["--events", "--out as well"]),
    ] {
        let ended = hammer(&[&["run", &path][..], arguments].concat());
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(named.iter().all(|part| ended.stderr.contains(part)), "{}", ended.stderr);
    }
    assert_eq!(fs::read_to_string(&body).unwrap(), "what is sent");
    assert!(!std::path::Path::new(&report).exists());
}

//! Targets that become ready, stop to be, and never are.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/server.rs"]
mod server;

use std::fs;
use std::net::TcpListener;

use hammer_report::report::{Event, Readiness};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use folder::Folder;
use hammer::{DEADLINE, Started, command, hammer};
use server::Server;

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// A port of loopback on which nobody listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn notes(events: &[Event]) -> Vec<&str> {
    let texts = events.iter().filter_map(|event| match event {
        Event::Note { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// A plan of ten requests to those targets, which wait for them.
fn plan(target: &str, ready: &str) -> String {
    format!(
        "\
target: {{ {target}, ready: {{ {ready} }} }}
workloads:
  - name: ask
    http: {{ path: /asked }}
    load: {{ users: 1, operations: 10 }}
"
    )
}

#[test]
fn the_first_arrival_waits_until_every_server_answers_as_expected_and_the_probes_are_in_no_figure() {
    let folder = Folder::new();
    let early = Server::answering(answer("200 OK", r#"{"service-state":"READY"}"#));
    // What it says third is none of what is expected either.
    let states = |n| match n {
        0 => answer("503 Service Unavailable", ""),
        1 => answer("200 OK", r#"{"service-state":"STARTING"}"#),
        2 => answer("200 OK", "{}"),
        _ => answer("200 OK", r#"{"service-state":"READY"}"#),
    };
    let late = Server::answering_each(states);
    let target = format!(
        "services: {{ api: {{ url: [ \"{}\", \"{}\" ], token: {{ file: {} }} }} }}",
        early.url(),
        late.url(),
        folder.write("token", "canary")
    );
    let ready = "path: /health, expect: { json: { service-state: READY } }";
    let ended = hammer(&["run", &folder.write("plan.yaml", &plan(&target, ready)), "--out", "-"]);
    let report = ended.report();
    for said in ["the answer is 503", "`service-state` is \"STARTING\"", "the answer has no `service-state`"]
    {
        let line = format!("hammer: waits until {}/health is ready, 60.0s at most: {said}\n", late.address);
        assert!(ended.stderr.contains(&line), "{line}{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("canary"));
    for server in [&early, &late] {
        let requests = server.requests();
        let probes = requests.iter().take_while(|request| request.line.starts_with("GET /health ")).count();
        assert!(probes >= 4, "{requests:?}");
        let asked = requests.iter().filter(|request| request.line.starts_with("GET /asked ")).count();
        assert_eq!(asked, 5, "{requests:?}");
        // One of the wait, one of the probes beside the load, one of the load.
        assert!(server.connections() <= 3, "{}", server.connections());
        // The token is that of the service, to which the probes go.
        assert!(requests.iter().all(|request| request.header("authorization") == Some("Bearer canary")));
    }
    assert_eq!(report.totals.all.offered, 10);
    assert_eq!(report.connections.iter().flat_map(|of| &of.peers).map(|peer| peer.requests).sum::<u64>(), 10);
    let told = notes(&report.events);
    let waited =
        format!("until the target was ready: {}/health was not at first (the answer is 503)", late.address);
    assert!(told.iter().any(|note| note.starts_with("waited ") && note.ends_with(&waited)), "{told:?}");
}

#[test]
fn a_target_that_does_not_become_ready_is_named_with_what_was_seen_last() {
    let folder = Folder::new();
    let port = free_port();
    let states = |n| match n {
        0 => answer("200 OK", "{}"),
        _ => answer("500 Internal Server Error", "canary"),
    };
    let failing = Server::answering_each(states);
    for (url, ready, said) in [
        (format!("http://127.0.0.1:{port}"), "timeout: 300ms", "failed to "),
        (Server::ok().url(), "timeout: 100ms, expect: { json: { /up: true } }", "the answer is no JSON"),
        (failing.url(), "timeout: 700ms, expect: { status: 204 }", "the answer is 500"),
    ] {
        let plan = folder.write("plan.yaml", &plan(&format!("url: \"{url}\""), ready));
        let ended = hammer(&["run", &plan, "--out", "-", "--quiet"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
        let told = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.starts_with("hammer: failed to start the load: 127.0.0.1:"), "{told}");
        assert!(
            told.contains("/ was not ready within ") && told.contains(&format!("seen last: {said}")),
            "{told}"
        );
        assert!(!told.contains("waits until") && !told.contains("canary"), "{told}");
    }
    assert!(failing.requests().iter().all(|request| request.line.starts_with("GET / ")));
}

#[test]
fn a_signal_ends_the_wait() {
    let folder = Folder::new();
    let target = format!("url: \"http://127.0.0.1:{}\"", free_port());
    let started = Started::of(command(&["run", &folder.write("plan.yaml", &plan(&target, "timeout: 1h"))]));
    let said = started.stderr.recv_timeout(DEADLINE).unwrap();
    assert!(
        said.contains("waits until 127.0.0.1:") && said.contains(" is ready, 60m00s at most: "),
        "{said}"
    );
    kill_process(Pid::from_child(&started.child), Signal::INT).unwrap();
    let ended = started.ended();
    assert_eq!((ended.code, ended.stdout.as_str()), (130, ""), "{}", ended.stderr);
}

#[test]
fn nobody_is_asked_whether_it_is_ready_whom_nobody_allowed() {
    let folder = Folder::new();
    let ended =
        hammer(&["run", &folder.write("plan.yaml", &plan("url: \"http://192.0.2.1\"", "timeout: 1h"))]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    let told = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("dial 192.0.2.1") && told.contains("target.authorized"), "{told}");
}

/// GETs of the embedded target are refused for a while; operations are POSTs.
#[test]
fn a_target_that_stops_to_be_ready_beside_the_load_is_told_and_so_is_its_return() {
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        "\
target:
  lab: { http: { faults: { rules: [ { endpoints: [ get ], at: 1500ms, duration: 2s, refuse: { share: 1, status: 503 } } ] } } }
  ready: { path: health }
workloads:
  - name: post
    http: { method: POST }
    load: { rate: 20/s }
phases: { measurement: 6s }
",
    );
    let refused = hammer(&["run", &plan]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("target.ready.path: `health` is no path"), "{}", refused.stderr);
    let written = fs::read_to_string(&plan).unwrap().replace("path: health", "path: /health");
    fs::write(&plan, written).unwrap();
    let events = folder.path("events.jsonl");
    let ended = hammer(&["run", &plan, "--out", "-", "--events", &events]);
    let report = ended.report();
    assert_eq!(report.totals.all.offered, 120, "{}", ended.stderr);
    assert!(!notes(&report.events).iter().any(|note| note.starts_with("waited ")), "{:?}", report.events);
    let [Readiness { endpoint, not_ready }] = &report.readiness[..] else { panic!("{:?}", report.readiness) };
    assert!(endpoint.starts_with("127.0.0.1:") && endpoint.ends_with("/health"), "{endpoint}");
    let [time] = &not_ready[..] else { panic!("{not_ready:?}") };
    assert_eq!(time.said, "the answer is 503");
    assert!(time.from_ns >= 1_500_000_000 && time.to_ns.unwrap() >= 3_500_000_000, "{time:?}");
    let lines = fs::read_to_string(events).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<&Value> = lines.iter().filter(|line| line.get("endpoint").is_some()).collect();
    let kinds: Vec<_> = told.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["not_ready", "ready_again"]);
    assert_eq!(
        (told[0]["said"].as_str(), told[1]["since_ns"].as_u64()),
        (Some("the answer is 503"), Some(time.from_ns))
    );
    let row = format!("{endpoint}: not from ");
    let text = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&row), "{text}");
}

//! Two logs of one key behind one balancer: whoever asks twice may see either tree. That is one lie, told once with both heads.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use hammer_core::clock::MonotonicClock;
use hammer_measure::{Nanos, Now as _};
use hammer_report::Report;
use hammer_report::report::Breach;
use serde_json::{Value, json};

use crate::front::{Passed, front, read};
use crate::on_time::exit_if_on_time;
use crate::server::{Request, request};
use crate::services::Services;

/// The URL of a balancer that gives each request to one of the servers at these URLs, on a connection of its own.
fn balancer(urls: [&str; 2]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let servers = urls.map(|url| url.trim_start_matches("http://").trim_end_matches('/').to_owned());
    let (servers, turn) = (Arc::new(servers), Arc::new(AtomicUsize::new(0)));
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let (servers, turn) = (Arc::clone(&servers), Arc::clone(&turn));
            thread::spawn(move || {
                let Some(request) = request(&mut BufReader::new(&client)) else { return };
                // In turn, a head and what it is held against could come from the same two servers for as long as a run takes.
                let turn = turn.fetch_add(1, Ordering::Relaxed) as u64;
                let server = &servers[(turn.wrapping_mul(GOLDEN) >> 33) as usize % servers.len()];
                // Whoever asked may be gone, and a server that is stopped too.
                let _ = pass_on(&request, server, &client);
            });
        }
    });
    url
}

/// Sends a request on, and gives the answer back as it comes.
fn pass_on(request: &Request, server: &str, mut client: &TcpStream) -> std::io::Result<()> {
    let mut upstream = TcpStream::connect(server)?;
    let mut text = format!("{}\r\n", request.line);
    for line in request.headers.iter().filter(|line| !line.to_ascii_lowercase().starts_with("connection:")) {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str("connection: close\r\n\r\n");
    upstream.write_all(text.as_bytes())?;
    upstream.write_all(&request.body)?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer)?;
    client.write_all(&answer)
}

/// Two instances of one key, of which the second has so many entries already.
struct Twins {
    services: Services,
    other: Services,
}

impl Twins {
    fn new(rekor: &str, ahead: u64) -> Self {
        let lab = json!({ "rekor_tiles": { "checkpoint_interval": "50ms" } });
        let of = || Services::of(serde_json::from_value(lab.clone()).unwrap());
        let twins = Self { services: of(), other: of() };
        if ahead > 0 {
            filled(&twins.other, rekor, ahead);
        }
        twins
    }

    /// The key of a plan for that Rekor, and where both are.
    fn places(&self, rekor: &str) -> (&'static str, [&str; 2]) {
        let (one, other) = (&self.services.lab, &self.other.lab);
        match rekor {
            "v1" => ("rekor_url", [&one.rekor.url, &other.rekor.url]),
            _ => ("rekor_tiles_url", [&one.rekor_tiles.url, &other.rekor_tiles.url]),
        }
    }

    /// Flows at the balancer before both.
    fn run(&self, rekor: &str) -> Report {
        let (key, urls) = self.places(rekor);
        fs::write(self.services.folder.path().join(PLAN), plan(rekor, 400, true).to_string()).unwrap();
        let url = balancer(urls);
        self.services.report(PLAN, &[format!("target.sigstore.{key}={url}")])
    }

    /// Reads of heads alone at these URLs.
    fn reads(&self, rekor: &str, urls: &[&str]) -> Report {
        let (key, _) = self.places(rekor);
        let mix = if rekor == "v1" { json!({ "log-info": 1 }) } else { json!({ "checkpoint": 1 }) };
        let reads = json!({ "mix": mix, "missing_after": "5s" });
        let reads = json!({ "name": "reads", "sigstore_read": reads, "load": { "rate": "20/s" } });
        let phases = json!({ "measurement": "4s", "drain": "10s" });
        let plan = json!({ "target": { "lab": { "sigstore": {} } }, "workloads": [reads], "phases": phases });
        fs::write(self.services.folder.path().join(PLAN), plan.to_string()).unwrap();
        let same = "target.preflight=false".to_owned();
        self.services.report(PLAN, &[same, format!("target.sigstore.{key}={}", json!(urls))])
    }
}

/// Has so many entries written, of which none is in a log that was filled by another seed.
fn filled(services: &Services, rekor: &str, entries: u64) {
    fs::write(services.folder.path().join(PLAN), plan(rekor, entries, false).to_string()).unwrap();
    let report = services.report(PLAN, &[format!("seed={entries}")]);
    assert_eq!(report.totals.all.fates.accepted, entries);
}

fn plan(rekor: &str, operations: u64, audit: bool) -> Value {
    let mut flows = json!({ "fulcio": "none", "rekor": rekor, "timestamp": false, "audit": audit });
    if rekor == "v1" {
        flows["read_back"] = "none".into();
    }
    let load = json!({ "rate": "40/s", "operations": operations });
    let workload = json!({ "name": "flows", "sigstore_sign": flows, "load": load });
    // What contradicted itself is not waited for.
    let phases = json!({ "measurement": "10s", "drain": "10m" });
    json!({ "target": { "lab": { "sigstore": {} } }, "workloads": [workload], "phases": phases })
}

/// One accusation to all, of a fork, with both heads, which ended the run.
#[track_caller]
fn one_fork(twins: &Twins, report: &Report) {
    is_told_once(twins, report);
    assert!(report.run.stopped.contains("log_forked"), "{}", report.run.stopped);
}

/// The same, whatever ended the run.
#[track_caller]
fn is_told_once(twins: &Twins, report: &Report) {
    let to_all: Vec<_> = report.breaches.iter().filter(|breach| breach.seq.is_none()).collect();
    // A tile of one log and the entries of the other contradict each other too, where they come before the heads that do.
    let of_heads = |breach: &&&Breach| !["tampered-tile", "altered-leaf"].contains(&breach.kind.as_str());
    let to_all: Vec<_> = to_all.iter().filter(of_heads).collect();
    let kinds: Vec<_> = to_all.iter().map(|breach| breach.kind.as_str()).collect();
    assert_eq!(kinds, ["forked-checkpoint"], "{:#?}", report.breaches);
    let saved = to_all[0].detail.split("saved as ").nth(1).unwrap();
    let heads = saved.split(" and ").map(|file| twins.services.folder.path().join(file));
    let heads: Vec<_> = heads.map(|file| fs::read_to_string(file).unwrap()).collect();
    assert!(heads.len() == 2 && heads[0] != heads[1], "{saved}");
    assert_eq!(report.verdict.exit_code, 4);
}

#[test]
fn two_logs_of_one_key_that_share_no_size_have_forked_and_are_told_so_once() {
    for rekor in ["v1", "v2"] {
        let twins = Twins::new(rekor, 300);
        one_fork(&twins, &twins.run(rekor));
    }
}

#[test]
fn two_logs_of_one_key_that_grow_alike_have_forked_and_are_told_so_once() {
    for rekor in ["v1", "v2"] {
        let twins = Twins::new(rekor, 0);
        one_fork(&twins, &twins.run(rekor));
    }
}

#[test]
fn flows_that_are_not_audited_find_two_logs_of_one_key_that_share_no_size() {
    for rekor in ["v1", "v2"] {
        let twins = Twins::new(rekor, 300);
        let (key, urls) = twins.places(rekor);
        let unaudited = plan(rekor, 200, false);
        fs::write(twins.services.folder.path().join(PLAN), unaudited.to_string()).unwrap();
        let same = "target.preflight=false".to_owned();
        let at_both = format!("target.sigstore.{key}={}", json!(urls));
        let report = twins.services.report(PLAN, &[same, at_both]);
        is_told_once(&twins, &report);
        assert_eq!(report.totals.all.fates.accepted, 200, "it goes on: {}", report.run.stopped);
    }
}

#[test]
fn reads_of_heads_alone_find_two_logs_of_one_key_that_share_no_size() {
    for rekor in ["v1", "v2"] {
        let twins = Twins::new(rekor, 300);
        filled(&twins.services, rekor, 40);
        let (_, urls) = twins.places(rekor);
        one_fork(&twins, &twins.reads(rekor, &urls));
        // The honest twin: one log, whichever URL it is read at.
        let report = twins.reads(rekor, &[urls[0], urls[0]]);
        assert!(report.breaches.is_empty() && exit_if_on_time(&report.verdict) == 0, "{:?}", report.verdict);
        let promises = &report.promises.all;
        assert!(promises.made >= 60 && promises.kept == promises.made, "{promises:?}");
    }
}

/// Two fronts of one log behind one URL, of which one has what the other had so long ago, and refuses what it lacks; either may be asked.
fn lagging(url: &str, lag: Nanos) -> String {
    let (log, asked, clock) = (url.to_owned(), AtomicUsize::new(0), MonotonicClock::starting_now());
    let infos: Mutex<VecDeque<(Nanos, Vec<u8>)>> = Mutex::default();
    front(url, move |path| {
        let now = clock.now();
        let mut infos = infos.lock().unwrap();
        infos.push_back((now, read(&log, "/api/v1/log")));
        while infos.get(1).is_some_and(|(at, _)| now.since(*at) >= lag) {
            infos.pop_front();
        }
        let old = infos[0].1.clone();
        let info: Value = serde_json::from_slice(&old).unwrap();
        let leaves = info["treeSize"].as_u64().unwrap();
        let lacks = |named: &str| {
            named.strip_prefix("lastSize=").is_some_and(|last| last.parse::<u64>().unwrap() > leaves)
        };
        match path {
            _ if (asked.fetch_add(1, Ordering::Relaxed) as u64).wrapping_mul(GOLDEN) >> 63 == 0 => Passed::On,
            "/api/v1/log" => Passed::Answered(old),
            _ if path.split(['?', '&']).any(lacks) => Passed::Refused(400),
            _ => Passed::On,
        }
    })
}

#[test]
fn two_fronts_of_a_growing_log_of_which_one_lags_have_proved_all_that_reads_saw() {
    let lab = json!({ "rekor": { "integration_delay": "5ms" } });
    let services = Services::of(serde_json::from_value(lab).unwrap());
    filled(&services, "v1", 20);
    let url = lagging(&services.lab.rekor.url, Nanos::from_millis(2500));
    let flows = json!({
        "fulcio": "none", "timestamp": false, "audit": false, "read_back": "none", "missing_after": "3s",
    });
    let reads = json!({ "mix": { "log-info": 1 }, "missing_after": "3s" });
    let plan = json!({
        "target": { "lab": { "sigstore": {} } },
        "workloads": [
            { "name": "flows", "sigstore_sign": flows, "load": { "rate": "10/s", "operations": 80 } },
            { "name": "reads", "sigstore_read": reads, "load": { "rate": "20/s" } },
        ],
        "phases": { "measurement": "8s", "drain": "20s" },
        "health": { "on_fail": "warn" },
    });
    fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
    let changes = ["target.preflight=false".to_owned(), format!("target.sigstore.rekor_url={url}")];
    let report = services.report(PLAN, &changes);
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {:?}", report.breaches, report.events);
    let promises = &report.promises.all;
    assert!(promises.made > 0 && promises.kept == promises.made, "{promises:?}");
}

/// A front of the first Rekor v1 that shows the head of the other once, and knows that it has no tree of ten leaves like that.
fn showing_other_once(twins: &Twins) -> String {
    let (other, asked) = (twins.other.lab.rekor.url.clone(), AtomicUsize::new(0));
    front(&twins.services.lab.rekor.url, move |path| match path {
        "/api/v1/log" if asked.fetch_add(1, Ordering::Relaxed) == 20 => {
            Passed::Answered(read(&other, "/api/v1/log"))
        }
        _ if path.contains("firstSize=10&") => Passed::Refused(400),
        _ => Passed::On,
    })
}

/// The newest head of a tree that grows is always one that a server which lags has not: a head is held against those before it.
#[test]
fn a_smaller_head_of_another_tree_that_a_growing_log_never_proves_is_told_while_it_grows() {
    let twins = Twins::new("v1", 10);
    filled(&twins.services, "v1", 40);
    let front = showing_other_once(&twins);
    let flows = json!({
        "fulcio": "none", "timestamp": false, "audit": true, "read_back": "none", "missing_after": "3s",
    });
    let reads = json!({ "mix": { "log-info": 1 }, "missing_after": "3s" });
    let plan = json!({
        "target": { "lab": { "sigstore": {} } },
        "workloads": [
            { "name": "flows", "sigstore_sign": flows, "load": { "rate": "10/s" } },
            { "name": "reads", "sigstore_read": reads, "load": { "rate": "20/s" } },
        ],
        "phases": { "measurement": "9s", "drain": "1s" },
        "health": { "on_fail": "warn" },
    });
    fs::write(twins.services.folder.path().join(PLAN), plan.to_string()).unwrap();
    let report = twins.services.report(PLAN, &[format!("target.sigstore.rekor_url={front}")]);
    let kinds: Vec<_> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert_eq!((kinds, report.verdict.exit_code), (vec!["unproved-checkpoint"], 4), "{:?}", report.events);
}

/// Each entry of Rekor v1 has a head of its own: more are read than the log can be asked to prove beside the load.
#[test]
fn heads_that_nobody_came_to_ask_for_leave_a_run_of_reads_believed() {
    let lab = json!({ "rekor": { "integration_delay": "5ms" } });
    let services = Services::of(serde_json::from_value(lab).unwrap());
    let flows = json!({ "fulcio": "none", "timestamp": false, "audit": false, "read_back": "none" });
    let plan = json!({
        "target": { "lab": { "sigstore": {} } },
        "workloads": [
            { "name": "flows", "sigstore_sign": flows, "load": { "rate": "100/s" } },
            { "name": "reads", "sigstore_read": { "mix": { "log-info": 1 } }, "load": { "rate": "100/s" } },
        ],
        "phases": { "measurement": "13s" },
        "health": { "on_fail": "warn" },
    });
    fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
    let report = services.report(PLAN, &[]);
    let promises = &report.promises.all;
    assert!(promises.made > 0 && promises.kept == promises.made, "{promises:?}");
    let seen = |name: &str| report.observations.iter().any(|seen| seen.name == name && seen.last.value > 0.0);
    assert!(
        seen("heads_joined") && !seen("heads_unproved"),
        "{:?} {:?}",
        report.verdict,
        report.observations
    );
    assert_eq!(report.verdict.exit_code, 0, "{:?}", report.verdict);
}

const PLAN: &str = "plan.json";

/// 2^64 divided by the golden ratio: the multiples of it have no period.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// One answer of another tree, which the log refuses to prove: it is waited for as long as a server may lag, however short the run is. A
/// larger one may be of a server that is far ahead, for a while.
#[test]
fn a_head_of_another_tree_that_reads_saw_once_is_not_passed_over_in_a_short_run() {
    for (leaves, code, kinds) in [(10, 4, ["unproved-checkpoint"].as_slice()), (40, 5, &[])] {
        let twins = Twins::new("v1", leaves);
        filled(&twins.services, "v1", 20);
        let front = showing_other_once(&twins);
        let report = twins.reads("v1", &[&front]);
        let found: Vec<_> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
        assert_eq!((report.verdict.exit_code, found.as_slice()), (code, kinds), "{:?}", report.events);
    }
}

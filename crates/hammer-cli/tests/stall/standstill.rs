//! hammer stands still for a while in the middle of its load. What was due or under way then was held up by hammer itself, and the report
//! says so.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use hammer_measure::Nanos;
use hammer_report::report::{Finding, FindingKind};
use hammer_report::{ReasonKind, Report};
use rustix::process::{Pid, Signal, kill_process};

use super::folder::Folder;
use super::hammer::{DEADLINE, Started, command};
use super::stopped::is_stopped;

#[test]
fn users_whose_answers_wait_for_a_stopped_hammer_were_held_up_by_it() {
    let report =
        stopped("users: 10, think: 20ms", "measurement: 6s", &[(Duration::ZERO, Duration::from_secs(2))]);
    let finding = standstill(&report);
    assert!(finding.of.unwrap() >= finding.count.unwrap(), "{finding:?}");
    assert!(finding.longest_ns.unwrap() > Nanos::from_millis(1_500).0, "{finding:?}");
}

#[test]
fn fewer_than_one_arrival_in_a_hundred_that_comes_due_in_a_standstill_is_enough() {
    let report = stopped("rate: 50/s", "measurement: 21s", &[(Duration::ZERO, Duration::from_millis(200))]);
    let finding = standstill(&report);
    assert!(finding.longest_ns.unwrap() > Nanos::from_millis(150).0, "{finding:?}");
    assert!(report.health.alarms.as_ref().unwrap().stood_ns > Nanos::from_millis(150).0);
}

#[test]
fn a_hammer_that_runs_for_ten_of_every_ninety_milliseconds_is_not_believed() {
    let duty = vec![(Duration::from_millis(10), Duration::from_millis(80)); 30];
    let report = stopped("users: 10, think: 5ms", "measurement: 5s", &duty);
    let finding = standstill(&report);
    assert!(finding.count.unwrap() * 100 > finding.of.unwrap(), "{finding:?}");
    assert!(finding.count.unwrap() >= 100, "ten users, and thirty times: {finding:?}");
}

/// Users who wait mean to send in neither phase: those that it held up are of warm-up, and measurement has fewer of them.
#[test]
fn a_hammer_that_stands_still_from_warm_up_into_measurement_is_not_believed() {
    let phases = "warm_up: 3s, measurement: 4s";
    let report = stopped("users: 10, think: 20ms", phases, &[(Duration::ZERO, Duration::from_secs(3))]);
    assert!(standstill(&report).longest_ns.unwrap() > Nanos::from_secs(2).0, "{:?}", report.health);
}

/// The finding that names the standstill, for which the run is not believed.
fn standstill(report: &Report) -> &Finding {
    let reasons = &report.verdict.reasons;
    assert!(reasons.iter().any(|reason| reason.reason == ReasonKind::NotBelievable), "{}", report.verdict);
    let findings = &report.health.findings;
    let found = findings.iter().find(|finding| finding.kind == FindingKind::Standstill);
    let finding = found.unwrap_or_else(|| panic!("{:?}", report.health));
    assert_eq!(finding.series.as_deref(), Some("web/get"));
    assert!(finding.text.contains("stood still"), "{}", finding.text);
    finding
}

/// The report of a load in those phases on a server that answers at once. A second into it hammer runs and is stopped in turn.
fn stopped(load: &str, phases: &str, stops: &[(Duration, Duration)]) -> Report {
    let (asked, is_asked) = channel();
    let address = answering(asked);
    let folder = Folder::new();
    let plan = format!(
        "target: {{ url: \"http://{address}/\" }}
workloads: [{{ name: web, http: {{}}, load: {{ {load} }}, timeout: 60s }}]
threads: {{ shards: 1 }}
phases: {{ {phases}, drain: 60s }}
"
    );
    let plan = folder.write("plan.yaml", &plan);
    let hammer = Started::of(command(&["run", &plan, "--quiet", "--out", "-"]));
    let pid = Pid::from_child(&hammer.child);
    is_asked.recv_timeout(DEADLINE).unwrap();
    pass(Duration::from_secs(1));
    for (runs, stops) in stops {
        pass(*runs);
        kill_process(pid, Signal::STOP).unwrap();
        while !is_stopped(pid) {
            thread::yield_now();
        }
        pass(*stops);
        kill_process(pid, Signal::CONT).unwrap();
    }
    hammer.ended().report()
}

/// Lets so much time pass; nobody waits for anything to happen in it.
fn pass(time: Duration) {
    let (_silent, silence) = channel::<()>();
    assert_eq!(silence.recv_timeout(time), Err(RecvTimeoutError::Timeout));
}

/// A server that answers every request at once, and tells of each.
fn answering(asked: Sender<()>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let asked = asked.clone();
            thread::spawn(move || answer_each(&stream, &asked));
        }
    });
    address
}

fn answer_each(mut stream: &TcpStream, asked: &Sender<()>) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        // The empty line ends a request that has no body.
        if line.is_empty() {
            let _ = asked.send(());
            if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").is_err() {
                break;
            }
        }
    }
}

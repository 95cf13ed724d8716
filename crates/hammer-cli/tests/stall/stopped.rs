//! hammer stands still while its answers come: what it is late to read is its own, and in no service time.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use hammer_measure::Nanos;
use hammer_report::report::Durations;
use rustix::process::{Pid, Signal, kill_process};

use super::folder::Folder;
use super::hammer::{DEADLINE, Started, command};

const UNDER_WAY: usize = 50;
/// How long hammer is stopped after the last answer was written.
const STOPPED: Duration = Duration::from_secs(2);

#[test]
fn answers_that_came_while_hammer_was_stopped_are_read_late_and_were_not_answered_late() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, is_asked) = channel();
    let (answered, is_answered) = channel();
    let go = Arc::new(Barrier::new(UNDER_WAY + 1));
    let gate = Arc::clone(&go);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (asked, answered, go) = (asked.clone(), answered.clone(), Arc::clone(&gate));
            thread::spawn(move || answer_one(&stream, &asked, &go, &answered));
        }
    });
    let folder = Folder::new();
    let plan = format!(
        "target: {{ url: \"http://{address}/\", connection: {{ connections: {UNDER_WAY} }} }}
workloads: [{{ name: web, http: {{}}, load: {{ bursts: {{ size: {UNDER_WAY}, every: 10s }} }}, timeout: 60s }}]
threads: {{ shards: 1 }}
phases: {{ measurement: 9s, drain: 60s }}
interval: 100ms
"
    );
    let plan = folder.write("plan.yaml", &plan);
    let hammer = Started::of(command(&["run", &plan, "--quiet", "--out", "-"]));
    let pid = Pid::from_child(&hammer.child);
    all(&is_asked);
    kill_process(pid, Signal::STOP).unwrap();
    while !is_stopped(pid) {
        thread::yield_now();
    }
    go.wait();
    all(&is_answered);
    // The time that it is stopped for; nobody waits for anything to happen in it.
    assert!(is_asked.recv_timeout(STOPPED).is_err(), "nobody asks while hammer is stopped");
    kill_process(pid, Signal::CONT).unwrap();

    let report = hammer.ended().report();
    assert_eq!(report.totals.all.fates.accepted, UNDER_WAY as u64);
    let durations = &report.series[0].measurement.durations;
    let slow = |of: &Option<Durations>| {
        of.as_ref().unwrap().distribution().unwrap().count_above(Nanos::from(STOPPED * 9 / 10))
    };
    assert_eq!(slow(&durations.read_lag), UNDER_WAY as u64, "read lag shows the stop");
    assert_eq!(slow(&durations.service_time), 0, "{:?}", durations.service_time);
    assert_eq!(slow(&durations.response_time), 0, "{:?}", durations.response_time);
    let (_last, planned) = report.intervals.split_last().unwrap();
    assert!(planned.len() >= 89, "{}", planned.len());
    let ends = planned.iter().all(|interval| interval.span_ns == 100_000_000);
    assert!(ends, "an interval that hammer stood still in is as long as the others");
    let findings = &report.health.findings;
    assert!(findings.iter().any(|finding| finding.text.contains("read")), "{findings:?}");
}

/// Answers the connection's only request once all have been asked and the gate is open.
fn answer_one(mut stream: &TcpStream, asked: &Sender<()>, go: &Barrier, answered: &Sender<()>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        line.clear();
    }
    if asked.send(()).is_ok() {
        go.wait();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
        answered.send(()).unwrap();
        // The connection stays until hammer closes it.
        let _ = reader.read_line(&mut line);
    }
}

fn all(told: &Receiver<()>) {
    for _ in 0..UNDER_WAY {
        told.recv_timeout(DEADLINE).unwrap();
    }
}

pub(super) fn is_stopped(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().starts_with('T')
}

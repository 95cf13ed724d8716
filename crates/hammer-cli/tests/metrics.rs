//! The page of a run's metrics: served while it lasts and until it was read once more, with the counts of the report.

#[path = "support/attended.rs"]
mod attended;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use hammer_report::Report;
use hammer_report::report::SeriesKind;
use rustix::process::Signal;

use folder::Folder;
use hammer::{DEADLINE, Started, command, hammer};

const PLAN: &str = "\
target: { lab: { http: {} } }
workloads:
  - { name: get, http: {}, load: { rate: 200/s } }
phases: { warm_up: 200ms, measurement: 1s }
";

/// Where the metrics of a command are.
fn address(started: &Started) -> String {
    loop {
        let line = started.stderr.recv_timeout(DEADLINE).unwrap();
        if let Some((_, url)) = line.split_once("metrics at http://") {
            return url.trim_end().strip_suffix("/metrics").unwrap().to_owned();
        }
    }
}

/// The answer to a request, with its head.
fn asked(address: &str, line: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The sum of the samples of that metric whose labels have all of these parts.
fn sum(page: &str, metric: &str, parts: &[&str]) -> f64 {
    let samples = page.lines().filter(|line| line.starts_with(&format!("{metric}{{")));
    let own = samples.filter(|line| parts.iter().all(|part| line.contains(part)));
    own.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// That the page counts what the report does, of each series of operations and in all.
fn agrees(page: &str, report: &Report) {
    let operations = "kind=\"operation\"";
    let all = &report.totals.all;
    assert_eq!(sum(page, "hammer_offered_total", &[operations]), all.offered as f64);
    assert_eq!(sum(page, "hammer_completed_total", &[operations]), all.completed as f64);
    for (fate, count) in all.fates.entries().filter(|(fate, _)| !["backlog", "in_flight"].contains(fate)) {
        let found = sum(page, "hammer_ended_total", &[operations, &format!("fate=\"{fate}\"")]);
        assert_eq!(found, count as f64, "{fate}");
    }
    for series in report.series.iter().filter(|series| series.kind == SeriesKind::Operation) {
        let times = series.measurement.durations.response_time.as_ref().unwrap();
        let labels = [&*format!("series=\"{}\"", series.name), "phase=\"measurement\""];
        let count = sum(page, "hammer_response_time_seconds_count", &labels);
        assert_eq!(count, (times.count - times.infinite) as f64);
        let mean_ns = sum(page, "hammer_response_time_seconds_sum", &labels) / count * 1e9;
        assert!((mean_ns / times.mean_ns.least() as f64 - 1.0).abs() < 0.01, "{mean_ns}");
    }
    assert_eq!(sum(page, "hammer_promises", &["state=\"made\""]), report.promises.all.made as f64);
}

#[test]
fn the_metrics_of_a_run_are_served_until_they_were_read_and_count_what_its_report_does() {
    let folder = Folder::new();
    let run = Started::of(command(&[
        "run",
        &folder.write("plan.yaml", PLAN),
        "--out",
        "-",
        "--metrics",
        "127.0.0.1:0",
        "--metrics-linger",
        "10m",
    ]));
    let address = address(&run);
    let mut last = 0.0;
    let page = loop {
        let page = asked(&address, "GET /metrics");
        if page.contains("hammer_run_phase{phase=\"ended\"} 1\n") {
            break page;
        }
        let offered = sum(&page, "hammer_offered_total", &[]);
        assert!(offered >= last, "{page}");
        last = offered;
        std::thread::yield_now();
    };
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("text/plain; version=0.0.4"), "{page}");
    let ended = run.ended();
    let report = ended.report();
    agrees(&page, &report);
    let printed = hammer(&["report", &folder.write("report.json", &ended.stdout), "--as", "prom"]);
    agrees(&printed.stdout, &report);
    assert!(page.ends_with(&printed.stdout), "what was served last is what the report says: {page}");
}

#[test]
fn runs_of_one_command_are_told_apart_and_a_signal_ends_the_wait() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &PLAN.replace("measurement: 1s", "measurement: 100ms"));
    let run = Started::of(command(&[
        "run",
        &plan,
        "--set",
        "rounds=2",
        "--metrics",
        "127.0.0.1:0",
        "--metrics-linger",
        "10m",
    ]));
    let address = address(&run);
    run.line_with("2 without an expectation");
    let head = asked(&address, "HEAD /metrics");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(asked(&address, "POST /metrics").starts_with("HTTP/1.1 405 "));
    assert!(asked(&address, "GET /").starts_with("HTTP/1.1 404 "));
    run.signal(Signal::TERM);
    run.ended();
    for (listen, part) in
        [("8.8.8.8:9100", "neither a loopback nor a private address"), ("nowhere", "invalid value 'nowhere'")]
    {
        let refused = hammer(&["run", &plan, "--metrics", listen]);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
}

//! What becomes of a run that is told to end: the first signal ends what it is at, the second its drain, and the third hammer itself.

use std::fs;
use std::net::TcpListener;

use hammer_report::Report;
use hammer_report::report::PhaseName;
use rustix::process::Signal;

use super::folder::Folder;
use super::hammer::{Started, command};
use super::on_time::exit_if_on_time;
use super::server::Server;

const PLAN: &str = "\
target:
  url: http://127.0.0.1:9
workloads:
  - name: web
    http: {}
    load: { rate: 200/s }
phases:
  measurement: 60s
";

/// A minute of load whose events come line by line on standard output.
fn long(folder: &Folder, url: &str, interval: &str) -> Started {
    changed(folder, url, &[&format!("interval={interval}")])
}

/// The same with these changes.
fn changed(folder: &Folder, url: &str, changes: &[&str]) -> Started {
    let plan = folder.write("plan.yaml", PLAN);
    let url = format!("target.url={url}");
    let out = folder.path("report.json");
    let mut args = vec!["run", &plan, "--set", &url, "--events", "/dev/stdout", "--out", &out];
    changes.iter().for_each(|change| args.extend(["--set", change]));
    Started::of(command(&args))
}

#[test]
fn an_interrupted_run_drains_and_leaves_a_whole_report() {
    let server = Server::ok();
    // A terminal that is closed hangs up.
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = Folder::new();
        let started = long(&folder, &server.url(), "200ms");
        started.line_with("\"index\":2");
        started.signal(signal);
        let ended = started.ended();
        let report = Report::parse(&fs::read_to_string(folder.path("report.json")).unwrap()).unwrap();
        assert_eq!(report.check(), Vec::<String>::new());
        assert_eq!(exit_if_on_time(&report.verdict), 130, "{}", ended.stdout);
        assert_eq!(ended.code, i32::from(report.verdict.exit_code));
        assert!(ended.stdout.contains("interrupted by a signal"), "{}", ended.stdout);
        assert!(report.run.interrupted && report.totals.all.balances());
        let fates = report.totals.all.fates;
        assert!(fates.accepted > 50 && fates.in_flight == 0 && fates.backlog == 0, "{fates:?}");
        assert!(report.run.measured_seconds < 55.0, "{}", report.run.measured_seconds);
        assert!(report.phases.iter().any(|span| span.phase == PhaseName::Drain));
    }
}

/// The report that was written, which contradicts itself nowhere.
fn report(folder: &Folder) -> Report {
    let report = Report::parse(&fs::read_to_string(folder.path("report.json")).unwrap()).unwrap();
    assert_eq!(report.check(), Vec::<String>::new());
    report
}

#[test]
fn a_second_signal_ends_the_drain_and_leaves_a_whole_report() {
    // Accepts and never answers: drain has its whole deadline before it.
    let silent = Server::answering("");
    let folder = Folder::new();
    let started = changed(&folder, &silent.url(), &["interval=100ms", "phases.drain=1h"]);
    started.line_with("\"index\":2");
    started.signal(Signal::INT);
    started.line_with("\"phase\":\"drain\"");
    started.signal(Signal::INT);
    started.line_with("drain was ended by hand");
    let ended = started.ended();
    let report = report(&folder);
    assert_eq!(ended.code, i32::from(report.verdict.exit_code), "{}", ended.stderr);
    assert_eq!(exit_if_on_time(&report.verdict), 130, "{}", ended.stdout);
    assert!(report.run.interrupted && report.run.stopped == "interrupted by a signal");
    let fates = report.totals.all.fates;
    assert!(fates.abandoned > 0 && fates.in_flight == 0 && fates.backlog == 0, "{fates:?}");
}

#[test]
fn a_third_signal_leaves_at_once_without_a_report() {
    let silent = Server::answering("");
    let folder = Folder::new();
    // What runs behind the drain holds up the report.
    let held = "hooks={after: [{name: hold, run: sleep 30}]}";
    let started = changed(&folder, &silent.url(), &["interval=100ms", "phases.drain=1h", held]);
    started.line_with("\"index\":2");
    started.signal(Signal::INT);
    started.line_with("\"phase\":\"drain\"");
    started.signal(Signal::INT);
    started.line_with("drain was ended by hand");
    started.signal(Signal::INT);
    let ended = started.ended();
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    assert_eq!(fs::read_to_string(folder.path("report.json")).unwrap(), "");
}

/// A server that takes connections and says nothing: the handshake has a minute and more before it.
#[test]
fn a_signal_ends_dials_before_the_start_and_leaves_a_whole_report_of_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = Folder::new();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let patient = "target.connection.dial_timeout=10m";
    let expected = "thresholds=[{ expect: \"p99(response) < 1s\" }]";
    let started = changed(&folder, &url, &[patient, expected]);
    let _dialled = silent.accept().unwrap();
    started.signal(Signal::INT);
    let ended = started.ended();
    let report = report(&folder);
    assert_eq!((ended.code, report.verdict.exit_code), (130, 130), "{}", ended.stderr);
    assert!(report.run.interrupted, "{:?}", report.run);
    assert_eq!((report.totals.all.offered, report.run.measured_seconds), (0, 0.0));
    assert!(report.phases.iter().all(|span| span.phase == PhaseName::Drain), "{:?}", report.phases);
}

//! Single operations: which are written, whose they are, and how many each stands for.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use hammer_report::Report;
use hammer_report::samples::{SampledOperation, SamplesLine};

use folder::Folder;
use hammer::hammer;
use server::{Request, Server};

fn lines(path: &str) -> Vec<SamplesLine> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn operations(lines: &[SamplesLine]) -> Vec<&SampledOperation> {
    let operations = lines.iter().filter_map(|line| match line {
        SamplesLine::Operation(operation) => Some(&**operation),
        _ => None,
    });
    operations.collect()
}

/// The lines of each run, which starts with one line and ends with another.
fn runs(lines: &[SamplesLine]) -> Vec<Vec<&SampledOperation>> {
    let of_run = lines.split_inclusive(|line| matches!(line, SamplesLine::Finished(_)));
    let of_run = of_run.inspect(|lines| {
        assert!(matches!(lines.first(), Some(SamplesLine::Started(_))));
        assert!(matches!(lines.last(), Some(SamplesLine::Finished(_))));
    });
    of_run.map(operations).collect()
}

/// Holds the weights of each series and phase to the counts of the report.
fn weights_are_the_counts(operations: &[&SampledOperation], report: &Report) {
    let mut told = 0;
    for series in &report.series {
        for (phase, figures) in [("warm_up", &series.warm_up), ("measurement", &series.measurement)] {
            let of_phase = |one: &&&SampledOperation| {
                one.series == series.path && serde_json::to_value(one.phase).unwrap() == phase
            };
            let weights: u64 = operations.iter().filter(of_phase).filter_map(|one| one.weight).sum();
            let is_operation = serde_json::to_value(series.kind).unwrap() == "operation";
            assert_eq!(
                weights,
                if is_operation { figures.counts.offered } else { 0 },
                "{} {phase}",
                series.path
            );
            told += weights;
        }
    }
    assert!(told > 0, "{:?}", report.series);
}

/// Which operation a request is of, by its path.
fn seq_of(request: &Request) -> u64 {
    let path = request.line.split(' ').nth(1).unwrap();
    path.rsplit('/').next().unwrap().parse().unwrap()
}

#[test]
fn the_request_that_a_server_sits_on_is_the_slowest_of_its_interval_by_the_number_that_the_server_saw() {
    let seen = Arc::new((Mutex::new(0), Condvar::new()));
    let server = Server::answering_to(move |_, request| {
        let (count, changed) = &*seen;
        let mut count = count.lock().unwrap();
        *count += 1;
        changed.notify_all();
        if seq_of(request) == 20 {
            let waits = changed.wait_timeout_while(count, Duration::from_secs(60), |count| *count < 240);
            drop(waits.unwrap());
        }
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_owned()
    });
    let folder = Folder::new();
    let samples = folder.path("samples.jsonl");
    let plan = folder.write(
        "plan.yaml",
        &format!(
            "target: {{ url: {} }}\nworkloads: [ {{ name: web, http: {{ path: '/${{seq}}' }}, load: {{ rate: 200/s }} }} ]\n\
             phases: {{ measurement: 1500ms }}\ninterval: 1m\n",
            server.url()
        ),
    );
    let ended = hammer(&["run", "--tolerate-lag", &plan, "--out", "-", "--samples", &samples]);
    let report = ended.report();
    let lines = lines(&samples);
    let operations = operations(&lines);
    let slowest = operations[0];
    assert_eq!((slowest.slowest, slowest.seq), (true, 20), "{slowest:?}");
    let from_sent = slowest.service_after_sending();
    assert!(from_sent >= 500_000_000, "{slowest:?}");
    assert_eq!(slowest.wire.peer.as_deref(), Some(server.address.to_string().as_str()));
    assert_eq!(server.requests().len() as u64, report.totals.all.fates.accepted);
    assert_eq!(operations.iter().filter(|one| one.slowest).count(), 3);
    assert_eq!(operations.iter().filter(|one| one.weight.is_some()).count(), 10);
    weights_are_the_counts(&operations, &report);
}

/// What a sample says of the wire is in order.
trait InOrder {
    fn service_after_sending(&self) -> u64;
}

impl InOrder for SampledOperation {
    fn service_after_sending(&self) -> u64 {
        let sent = self.wire.sent_ns.unwrap();
        assert!(self.intended_ns <= self.started_ns.unwrap() && self.started_ns.unwrap() <= sent);
        assert!(sent <= self.wire.first_byte_ns.unwrap() && self.wire.first_byte_ns.unwrap() <= self.done_ns);
        let waits = self.waits;
        let parts =
            [waits.dispatch_lag_ns, waits.backlog_wait_ns, waits.connection_wait_ns, waits.service_time_ns];
        assert_eq!(parts.into_iter().flatten().sum::<u64>(), self.response_time_ns.unwrap(), "{self:?}");
        self.done_ns - sent
    }
}

const CLOSED_AND_OPEN: &str = "\
target: { lab: { http: { faults: { rules: [ { refuse: { share: 0.2, status: 500 } } ] } } } }
workloads:
  - { name: users, http: {}, load: { users: 4, think: 2ms } }
  - { name: rate, http: {}, load: { rate: 300/s } }
phases: { warm_up: 300ms, measurement: 700ms }
interval: 100ms
rounds: 2
";

#[test]
fn runs_follow_one_another_and_the_weights_of_each_are_its_counts() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", CLOSED_AND_OPEN);
    let [out, samples] = ["out.json", "samples.jsonl"].map(|name| folder.path(name));
    let set = format!("output.samples={samples}");
    hammer(&["run", "--tolerate-lag", &plan, "--out", &out, "--set", &set]);
    let lines = lines(&samples);
    let runs = runs(&lines);
    assert_eq!(runs.len(), 2);
    for (operations, number) in runs.iter().zip(1..) {
        let report = fs::read_to_string(folder.path(&format!("out.{number}.json"))).unwrap();
        weights_are_the_counts(operations, &Report::parse(&report).unwrap());
        let failed = operations.iter().find(|one| one.fate == "server_error").unwrap();
        assert_eq!(failed.cause.as_deref(), Some("HTTP 500"));
    }
}

#[test]
fn what_an_operation_is_of_is_told_by_every_protocol() {
    let configs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs");
    for (plan, expected) in [
        ("ct-quickstart", [("submit/add-chain", "chain"), ("read/tile", "entry")].as_slice()),
        ("attest-quickstart", &[("provision/provision", "device"), ("verify/verify", "device")]),
        ("pki-mixed", &[("sign/cades", "document"), ("login/authentication", "login")]),
        ("pki-quickstart", &[("validate/cades", "file")]),
        ("sigstore-quickstart", &[("sign/sign", "signature")]),
        ("trillian", &[("queue/queue-leaf", "leaf"), ("read/get-inclusion-proof", "entry")]),
    ] {
        let folder = Folder::new();
        let [out, samples] = ["out.json", "samples.jsonl"].map(|name| folder.path(name));
        let plan = format!("{configs}/{plan}.yaml");
        let short = ["--set", "phases.warm_up=0s", "--set", "phases.measurement=1s"];
        let args =
            [&["run", "--tolerate-lag", &plan, "--out", &out, "--samples", &samples][..], &short].concat();
        let ended = hammer(&args);
        let lines = lines(&samples);
        let operations = operations(&lines);
        let of: BTreeSet<(&str, &str)> =
            operations.iter().filter_map(|one| Some((one.series.as_str(), one.of.as_deref()?))).collect();
        let expected: BTreeSet<(&str, &str)> = expected.iter().copied().collect();
        assert!(expected.is_subset(&of), "{plan}: {of:?}\n{}", ended.stderr);
        assert!(operations.iter().all(|one| one.of.is_some() == one.index.is_some()));
        let report = Report::parse(&fs::read_to_string(&out).unwrap()).unwrap();
        weights_are_the_counts(&operations, &report);
    }
}

#[test]
fn a_row_is_that_of_the_values_and_a_flow_has_its_steps() {
    let server = Server::ok();
    let folder = Folder::new();
    let samples = folder.path("samples.jsonl");
    let plan = format!(
        "target: {{ url: {} }}
workloads:
  - name: web
    http_flows:
      values: {{ word: {{ list: [ a, b, c ] }} }}
      flows:
        - name: two
          steps: [ {{ name: one, http: {{ path: '/${{word}}' }} }}, {{ name: other, http: {{ path: /x }} }} ]
    load: {{ rate: 100/s }}
phases: {{ measurement: 300ms }}
",
        server.url()
    );
    let plan = folder.write("plan.yaml", &plan);
    let ended = hammer(&["run", "--tolerate-lag", &plan, "--out", "-", "--samples", &samples]);
    let lines = lines(&samples);
    let operations = operations(&lines);
    assert!(!operations.is_empty(), "{}", ended.stderr);
    for one in operations.iter().filter(|one| one.fate == "accepted") {
        assert_eq!((one.of.as_deref(), one.index), (Some("row"), Some(one.seq % 3)));
        assert_eq!(one.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), ["one", "other"]);
        let [first, second] = [&one.steps[0], &one.steps[1]];
        assert!(first.done_ns <= second.started_ns && second.done_ns <= one.done_ns);
    }
}

#[test]
fn sizes_are_those_that_were_asked_for_and_mean_nothing_without_a_file() {
    let server = Server::ok();
    let folder = Folder::new();
    let samples = folder.path("samples.jsonl");
    let url = server.url();
    let line = ["http", "get", &url, "-n", "40", "-c", "2", "--tolerate-lag"];
    let sizes = ["--samples-slowest", "1", "--samples-uniform", "4"];
    hammer(&[&line[..], &["--samples", &samples], &sizes].concat());
    let lines = lines(&samples);
    let operations = operations(&lines);
    let weights: Vec<u64> = operations.iter().filter_map(|one| one.weight).collect();
    assert_eq!(weights.iter().sum::<u64>(), 40);
    assert_eq!(
        operations.iter().filter(|one| one.slowest).count(),
        operations.iter().map(|one| one.interval).collect::<BTreeSet<_>>().len()
    );
    let connections = server.connections();
    let refused = hammer(&[&line[..], &sizes].concat());
    assert_eq!(server.connections(), connections);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("use --samples-slowest: no file is named"), "{}", refused.stderr);
}

#[test]
fn sizes_hold_for_the_file_that_a_plan_names() {
    let folder = Folder::new();
    let samples = folder.path("samples.jsonl");
    let plan = "\
target: { lab: { http: {} } }
workloads: [ { name: web, http: {}, load: { rate: 100/s } } ]
phases: { measurement: 500ms }
";
    let set = format!("output.samples={samples}");
    let plan = folder.write("plan.yaml", plan);
    let sizes = ["--samples-slowest", "1", "--samples-uniform", "2"];
    let ended = hammer(&[&["run", "--tolerate-lag", &plan, "--set", &set][..], &sizes].concat());
    let lines = lines(&samples);
    let operations = operations(&lines);
    let measured = operations.iter().filter(|one| one.phase == operations[0].phase);
    let places = measured.map(|one| one.interval).collect::<BTreeSet<_>>().len();
    assert!(!operations.is_empty(), "{}", ended.stderr);
    assert_eq!(operations.iter().filter(|one| one.slowest).count(), places);
}

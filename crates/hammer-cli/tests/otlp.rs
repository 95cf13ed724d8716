//! A run's metrics, sent to a collector of OpenTelemetry: it has the counts of the report, and what becomes of it does not touch the run.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/server.rs"]
mod server;

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hammer_lab::clock::Clock;
use hammer_lab::handle::{LabConfig, LabHandle, LabTarget};
use hammer_lab::serve::answer::{self, AnswerBody};
use hammer_lab::serve::{ServePlan, Target, TlsFiles};
use hammer_lab::{FaultScript, LabError};
use hammer_messages::otlp::{
    AttributeValue, ExportMetricsServiceRequest, KeyValue, Metric, MetricData, NumberDataPoint, NumberValue,
};
use hammer_report::Report;
use hammer_report::report::{Event, SeriesKind};
use http::request::Parts;
use http::{Method, Response};
use prost::Message as _;

use folder::Folder;
use hammer::{Ended, hammer};
use server::Server;

const PLAN: &str = "\
target: { lab: { http: {} } }
workloads:
  - { name: get, http: {}, load: { rate: 200/s } }
  - { name: users, http: { expect: [ 404 ] }, load: { users: 1, think: 10ms } }
phases: { warm_up: 200ms, measurement: 800ms }
interval: 100ms
thresholds: [ { expect: 'count(refused) > 0', series: users/get } ]
";

/// A message as a collector has it.
struct Exported(ExportMetricsServiceRequest);

impl Exported {
    fn of(body: &[u8]) -> Self {
        Self(ExportMetricsServiceRequest::decode(body).unwrap())
    }

    fn metric(&self, name: &str) -> Option<&Metric> {
        let [of_run] = &self.0.resource_metrics[..] else { panic!("{:?}", self.0) };
        let [scope] = &of_run.scope_metrics[..] else { panic!("{of_run:?}") };
        scope.metrics.iter().find(|metric| metric.name == name)
    }

    fn points(&self, name: &str) -> &[NumberDataPoint] {
        match self.metric(name).and_then(|metric| metric.data.as_ref()) {
            Some(MetricData::Gauge(gauge)) => &gauge.data_points,
            Some(MetricData::Sum(sum)) => {
                assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "{sum:?}");
                &sum.data_points
            }
            other => panic!("{name}: {other:?}"),
        }
    }

    /// The sum of the points with all of these attributes.
    fn sum(&self, name: &str, attributes: &[(&str, &str)]) -> i64 {
        let own = self.points(name).iter().filter(|point| has(&point.attributes, attributes));
        own.map(|point| match point.value {
            Some(NumberValue::AsInt(count)) => count,
            ref other => panic!("{name}: {other:?}"),
        })
        .sum()
    }

    fn resource(&self, key: &str) -> String {
        text(&self.0.resource_metrics[0].resource.as_ref().unwrap().attributes, key)
    }

    fn is_last(&self) -> bool {
        self.sum("hammer_run_phase", &[("phase", "ended")]) == 1
    }
}

fn text(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key).unwrap();
    match found.value.as_ref().unwrap().value.as_ref().unwrap() {
        AttributeValue::String(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn has(own: &[KeyValue], attributes: &[(&str, &str)]) -> bool {
    let is = |(key, value): &(&str, &str)| {
        *own.iter().find(|own| own.key == *key).unwrap() == KeyValue::text(*key, *value)
    };
    attributes.iter().all(|attribute| own.iter().any(|own| own.key == attribute.0) && is(attribute))
}

/// That the collector counts what the report does, of each series, phase and fate.
fn agrees(exported: &Exported, report: &Report) {
    for series in &report.series {
        let kind = if series.kind == SeriesKind::Operation { "operation" } else { "step" };
        for (phase, figures) in [("warm_up", &series.warm_up), ("measurement", &series.measurement)] {
            let own =
                [("workload", &*series.workload), ("series", &series.name), ("kind", kind), ("phase", phase)];
            let counts = &figures.counts;
            let sum = |name| exported.sum(name, &own);
            assert_eq!(sum("hammer_offered_total"), counts.offered.cast_signed(), "{own:?}");
            assert_eq!(sum("hammer_completed_total"), counts.completed.cast_signed(), "{own:?}");
            for (fate, count) in
                counts.fates.entries().filter(|(fate, _)| !["backlog", "in_flight"].contains(fate))
            {
                let of_fate: Vec<_> = own.into_iter().chain([("fate", fate)]).collect();
                assert_eq!(exported.sum("hammer_ended_total", &of_fate), count, "{of_fate:?}");
            }
            let bytes = |direction| {
                let of_direction: Vec<_> = own.into_iter().chain([("direction", direction)]).collect();
                exported.sum("hammer_bytes_total", &of_direction)
            };
            assert_eq!(
                (bytes("out"), bytes("in")),
                (counts.bytes_out.cast_signed(), counts.bytes_in.cast_signed())
            );
            let times = exported.metric("hammer_response_time_seconds").unwrap();
            let Some(MetricData::Histogram(times)) = &times.data else { panic!("{times:?}") };
            let [point] = &times
                .data_points
                .iter()
                .filter(|point| has(&point.attributes, &own))
                .collect::<Vec<_>>()[..]
            else {
                panic!("{times:?}")
            };
            let ended =
                figures.durations.response_time.as_ref().map_or(0, |times| times.count - times.infinite);
            assert_eq!((point.count, point.bucket_counts.iter().sum()), (ended, ended), "{own:?}");
            assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
            assert!(point.explicit_bounds.is_sorted_by(|one, other| one < other));
        }
    }
    assert_eq!(exported.sum("hammer_exit_code", &[]), i64::from(report.verdict.exit_code));
    assert_eq!(exported.resource("hammer.run.epoch"), report.run.epoch);
    assert_eq!(exported.resource("hammer.run.seed"), report.run.seed);
    assert_eq!(exported.resource("service.name"), "hammer");
}

/// What the report notes of exports.
fn notes(report: &Report) -> Vec<String> {
    let notes = report.events.iter().filter_map(|event| match event {
        Event::Note { text, .. } if text.contains("--otlp") => Some(text.clone()),
        _ => None,
    });
    notes.collect()
}

fn one_note(report: &Report) -> String {
    let [told] = &notes(report)[..] else { panic!("{:?}", notes(report)) };
    told.clone()
}

fn run(folder: &Folder, flags: &[&str]) -> (Ended, Report) {
    let plan = folder.write("plan.yaml", PLAN);
    let ended = hammer(&[&["run", &plan, "--tolerate-lag", "--out", "-"], flags].concat());
    let report = ended.report();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    // Nothing of the load is kept from being sent.
    assert_eq!(report.series[0].measurement.counts.fates.accepted, 160, "{}", ended.stderr);
    (ended, report)
}

const TAKEN: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";

#[test]
fn a_collector_has_what_the_report_has_and_headers_of_a_file_are_shown_to_nobody() {
    let folder = Folder::new();
    let collector = Server::answering(TAKEN);
    let headers =
        folder.write("headers", "Authorization: Bearer canary-of-otlp\n\nX-Tenant: canary-of-tenant\n");
    let url = format!("http://{}", collector.address);
    let (ended, report) = run(
        &folder,
        &["--otlp", &url, "--otlp-interval", "200ms", "--otlp-header-file", &headers, "--log", "trace"],
    );
    let requests = collector.requests();
    let exported: Vec<Exported> = requests.iter().map(|request| Exported::of(&request.body)).collect();
    let (last, before) = exported.split_last().unwrap();
    agrees(last, &report);
    assert!(last.is_last() && before.len() >= 2 && !before.iter().any(Exported::is_last), "{}", before.len());
    let offered = exported.iter().map(|exported| exported.sum("hammer_offered_total", &[]));
    assert!(offered.is_sorted(), "sums are cumulative");
    for request in &requests {
        assert_eq!(request.line, "POST /v1/metrics HTTP/1.1");
        assert_eq!(request.values("content-type"), ["application/x-protobuf"]);
        assert_eq!(request.values("authorization"), ["Bearer canary-of-otlp"]);
        assert_eq!(request.values("x-tenant"), ["canary-of-tenant"]);
    }
    assert_eq!(notes(&report), Vec::<String>::new());
    assert!(!ended.stdout.contains("canary") && !ended.stderr.contains("canary"), "{}", ended.stderr);
}

#[test]
fn runs_of_one_command_are_told_apart_and_a_path_is_kept() {
    let folder = Folder::new();
    // Its answer is no message, and says nothing of what it took.
    let collector = Server::ok();
    let plan = folder.write("plan.yaml", &PLAN.replace("800ms", "200ms"));
    let url = format!("http://{}/api/otlp/metrics", collector.address);
    let ended = hammer(&["run", &plan, "--tolerate-lag", "--set", "rounds=2", "--otlp", &url]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(collector.connections(), 2, "a run has one");
    let requests = collector.requests();
    assert!(requests.iter().all(|request| request.line.starts_with("POST /api/otlp/metrics ")));
    let exported: Vec<Exported> = requests.iter().map(|request| Exported::of(&request.body)).collect();
    let last: Vec<&Exported> = exported.iter().filter(|exported| exported.is_last()).collect();
    let runs = |exported: &&Exported| text(&exported.points("hammer_exit_code")[0].attributes, "run");
    assert_eq!(last.iter().map(runs).collect::<Vec<_>>(), ["1", "2"]);
    assert_ne!(last[0].resource("service.instance.id"), last[1].resource("service.instance.id"));
}

#[test]
fn what_a_collector_rejects_or_refuses_is_noted_and_the_run_stays_what_it_is() {
    let folder = Folder::new();
    // ExportMetricsServiceResponse { partial_success: { rejected_data_points: 7, error_message: "too many" } }
    let but = "\n\u{c}\u{8}\u{7}\u{12}\u{8}too many";
    let partial = Server::answering(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: {}\r\n\r\n{but}",
        but.len()
    ));
    let (_, report) = run(&folder, &["--otlp", &partial.url()]);
    let told = one_note(&report);
    let (points, said) =
        told.strip_prefix("the collector of metrics (--otlp) rejected ").unwrap().split_once(' ').unwrap();
    let exports = points.parse::<usize>().unwrap() / 7;
    assert!(
        points.parse::<usize>().unwrap() % 7 == 0 && (1..=partial.requests().len()).contains(&exports),
        "{told}"
    );
    assert_eq!(said, "points, and says: too many");

    let broken = Server::answering("HTTP/1.1 500 Oops\r\ncontent-length: 11\r\n\r\nout of disk");
    let (_, report) = run(&folder, &["--otlp", &broken.url()]);
    let told = one_note(&report);
    let (failed, rest) = told.split_once(" exports of metrics (--otlp) failed, the last one too").unwrap();
    let (failed, sent) = failed.split_once(" of ").unwrap();
    assert!(failed == sent && (1..=broken.requests().len()).contains(&sent.parse().unwrap()), "{told}");
    assert!(
        rest.ends_with("; the first failed to have them taken: the answer is 500, out of disk"),
        "{told}"
    );
}

#[test]
fn the_last_metrics_are_sent_again_where_that_may_help() {
    let folder = Folder::new();
    // google.rpc.Status { message: "busy" }, until the last metrics came twice.
    let busy = "HTTP/1.1 503 Busy\r\ncontent-type: application/x-protobuf\r\ncontent-length: 6\r\n\r\n\u{12}\u{4}busy";
    let last = Arc::new(Mutex::new(0));
    let collector = Server::answering_to(move |_, request| {
        let mut last = last.lock().unwrap();
        *last += usize::from(Exported::of(&request.body).is_last());
        if *last < 3 { busy.to_owned() } else { TAKEN.to_owned() }
    });
    let (_, report) = run(&folder, &["--otlp", &collector.url()]);
    let requests = collector.requests();
    agrees(&Exported::of(&requests.last().unwrap().body), &report);
    // Those before the last ones are not sent again: newer ones say more.
    let before = requests.iter().filter(|request| !Exported::of(&request.body).is_last()).count();
    assert_eq!(requests.len(), before + 3);
    let told = one_note(&report);
    let failed =
        " exports of metrics (--otlp) failed; the first failed to have them taken: the answer is 503, busy";
    assert!(told.ends_with(failed), "{told}");
}

#[test]
fn a_collector_that_is_gone_or_never_answers_holds_up_nothing_but_the_end() {
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // Whoever dials is in its backlog, and hears nothing.
    let (_, report) = run(&folder, &["--otlp", &url]);
    let told = one_note(&report);
    assert!(told.starts_with("1 of 1 exports of metrics (--otlp) failed, the last one too"), "{told}");
    assert!(told.ends_with("the first failed to have an answer within 10.0s"), "{told}");
    drop(listener);
    let (_, report) = run(&folder, &["--otlp", &url]);
    let told = one_note(&report);
    assert!(told.contains(", the last one too") && told.contains("Connection refused"), "{told}");
}

#[test]
fn what_cannot_be_a_collector_is_refused_before_the_run() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let headers = folder.write("headers", "X-Tenant: a\ncanary-without-a-name\n");
    let url = "http://127.0.0.1:9";
    for (flags, part) in [
        (
            vec!["--otlp", "http://8.8.8.8:4318"],
            "send metrics to 8.8.8.8:4318 (--otlp): it is neither a loopback nor a private address",
        ),
        (vec!["--otlp", "ftp://127.0.0.1"], "use --otlp: "),
        (vec!["--otlp", url, "--otlp-header-file", &headers], "use --otlp-header-file: line 2 of "),
        (
            vec!["--otlp", url, "--otlp-header-file", "nowhere"],
            "use --otlp-header-file: failed to read nowhere",
        ),
        (vec!["--otlp", url, "--otlp-cacert", "nowhere"], "use --otlp: failed to "),
        (vec!["--otlp-interval", "1s"], "--otlp <URL>"),
    ] {
        let refused = hammer(&[&["run", &*plan], &flags[..]].concat());
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(
            refused.stderr.contains(part) && !refused.stderr.contains("canary"),
            "{part}: {}",
            refused.stderr
        );
    }
}

struct TlsCollector {
    serve: ServePlan,
    faults: FaultScript,
    bodies: Arc<Mutex<Vec<Bytes>>>,
}

#[derive(Debug)]
struct Bodies(Arc<Mutex<Vec<Bytes>>>);

impl LabConfig for TlsCollector {
    type Target = Bodies;

    const THREAD: &'static str = "collector";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, _: &Arc<dyn Clock>, _: &str) -> Result<Bodies, LabError> {
        Ok(Bodies(self.bodies))
    }
}

impl LabTarget for Bodies {}

impl Target for Bodies {
    const ENDPOINTS: &'static [&'static str] = &["metrics"];

    fn endpoint(&self, _: &Method, _: &str) -> &'static str {
        "metrics"
    }

    async fn answer(self: Arc<Self>, _: &'static str, _: Parts, body: Bytes) -> Response<AnswerBody> {
        self.0.lock().unwrap().push(body);
        answer::ok("application/x-protobuf", String::new())
    }
}

#[test]
fn a_collector_behind_tls_is_believed_by_its_root_alone() {
    let folder = Folder::new();
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let certificate = PathBuf::from(folder.write("ca.pem", &certified.cert.pem()));
    let key = PathBuf::from(folder.write("key.pem", &certified.signing_key.serialize_pem()));
    let serve = ServePlan { tls: Some(TlsFiles { certificate, key }), ..ServePlan::default() };
    let bodies: Arc<Mutex<Vec<Bytes>>> = Arc::default();
    let config = TlsCollector { serve, faults: FaultScript::default(), bodies: bodies.clone() };
    let collector = LabHandle::spawn(config).unwrap();
    let (_, report) = run(&folder, &["--otlp", &collector.url, "--otlp-cacert", &folder.path("ca.pem")]);
    assert!(collector.url.starts_with("https://"));
    agrees(&Exported::of(bodies.lock().unwrap().last().unwrap()), &report);
    assert_eq!(notes(&report), Vec::<String>::new());
    let sent = bodies.lock().unwrap().len();
    let (_, report) = run(&folder, &["--otlp", &collector.url]);
    let told = one_note(&report);
    assert!(told.contains("the last one too") && told.contains("certificate"), "{told}");
    assert_eq!(bodies.lock().unwrap().len(), sent);
}

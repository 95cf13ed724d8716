//! What the services of Sigstore do wrong, and what a flow is told to have come to: what is reported is held against what each service
//! saw of it. Of a flow that fails, the steps behind the one that failed are never sent.

mod tokens;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use hammer_lab::{LabHandle, handle::LabTarget};
use hammer_report::Report;
use hammer_report::report::{DisruptionKind, Fates, Series};
use http::Response;
use rustix::event::{Timespec, poll};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::on_time::exit_if_on_time;
use crate::services::Services;

/// Flows on services, one after another.
struct Flows {
    services: Services,
    changes: Vec<String>,
}

/// What a run came to.
struct Came {
    report: Report,
    services: Services,
}

/// Answers of an endpoint by their status.
type Answers = BTreeMap<u16, u64>;

impl Flows {
    /// Flows that sign as `plan` says, on the services that `lab` says.
    fn of(lab: &Value, plan: &Value) -> Self {
        let services = Services::of(serde_json::from_value(lab.clone()).unwrap());
        let mut plan = plan.clone();
        if plan.get("rekor").is_none() {
            // What services are asked for is what flows ask for alone.
            plan["audit"] = false.into();
        }
        let workload = json!({
            "name": "flows",
            "sigstore_sign": plan,
            "load": { "users": 1, "operations": FLOWS },
            "timeout": "20s",
        });
        let plan = json!({ "target": { "lab": { "sigstore": {} } }, "workloads": [workload], "phases": { "drain": "20s" } });
        fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
        Self { services, changes: Vec::new() }
    }

    fn with(mut self, change: impl Into<String>) -> Self {
        self.changes.push(change.into());
        self
    }

    fn come(self) -> Came {
        let report = self.services.report(PLAN, &self.changes);
        Came { report, services: self.services }
    }
}

impl Came {
    fn series(&self, name: &str) -> &Series {
        let mut series = self.report.series.iter();
        series.find(|series| series.name == name).unwrap_or_else(|| panic!("no series {name}"))
    }

    /// All flows, and the step at which they ended, came to that by that cause; the steps `before` it were accepted, and those `after` it
    /// never sent.
    #[track_caller]
    fn all_end_at(
        &self,
        step: &str,
        fate: impl Fn(&Fates) -> u64,
        cause: &str,
        [before, after]: [&[&str]; 2],
    ) {
        for name in ["sign", step] {
            let figures = &self.series(name).measurement;
            assert_eq!(fate(&figures.counts.fates), FLOWS, "{name}: {figures:?}");
            let causes: Vec<_> = figures.causes.iter().map(|one| (one.cause.as_str(), one.count)).collect();
            assert_eq!(causes, [(cause, FLOWS)], "{name}");
        }
        for (names, expected) in [(before, FLOWS), (after, 0)] {
            for name in names {
                let counts = &self.series(name).measurement.counts;
                assert_eq!((counts.offered, counts.fates.accepted), (expected, expected), "{name}");
            }
        }
        assert_eq!(self.report.series.len(), 2 + before.len() + after.len());
        let promises = &self.report.promises.all;
        let made = FLOWS * before.len() as u64;
        assert_eq!(
            (promises.made, promises.kept),
            (made, made),
            "a step that is accepted makes a promise, no other one"
        );
    }
}

/// What a service answered at an endpoint.
fn answers<T: LabTarget>(service: &LabHandle<T>, endpoint: &str) -> Answers {
    service.stats().requests.remove(endpoint).unwrap_or_default()
}

/// A rule of a fault script: at an endpoint all requests are refused with that status.
fn refusing(endpoint: &str, status: u16) -> Value {
    json!({ "rules": [{ "endpoints": [endpoint], "refuse": { "share": 1, "status": status } }] })
}

fn only(status: u16) -> Answers {
    Answers::from([(status, FLOWS)])
}

const V1: [&[&str]; 2] = [&["fulcio"], &["timestamp"]];
const NONE: Answers = Answers::new();

#[test]
fn an_entry_beyond_the_storage_of_rekor_is_a_server_error_and_those_before_are_kept() {
    let came = Flows::of(&json!({ "rekor": { "storage_full_after": 2 } }), &json!({})).come();
    let rekor = &came.series("rekor").measurement.counts.fates;
    assert_eq!((rekor.accepted, rekor.server_error), (2, FLOWS - 2));
    let flows = &came.series("sign").measurement.counts.fates;
    assert_eq!((flows.accepted, flows.server_error), (2, FLOWS - 2));
    assert_eq!(came.series("timestamp").measurement.counts.offered, 2);
    let answered = answers(&came.services.lab.rekor, "create-entry");
    assert_eq!(answered, Answers::from([(201, 2), (500, FLOWS - 2)]));
    assert_eq!(answers(&came.services.lab.timestamp_authority, "timestamp"), Answers::from([(200, 2)]));
    let promises = &came.report.promises.all;
    assert_eq!((promises.made, promises.kept), (FLOWS + 4, FLOWS + 4));
}

#[test]
fn an_entry_beyond_the_quota_of_trillian_is_a_server_error() {
    let lab = json!({ "rekor": { "quota": 1, "integration_delay": "50ms" } });
    let came = Flows::of(&lab, &json!({ "timestamp": false }))
        .with("workloads.flows.load={users: 4, operations: 40}")
        .come();
    let fates = &came.series("rekor").measurement.counts.fates;
    let answered = answers(&came.services.lab.rekor, "create-entry");
    assert!(fates.accepted > 0 && fates.server_error > 0, "{fates:?}");
    assert_eq!(fates.accepted + fates.server_error, 40);
    assert_eq!(answered, Answers::from([(201, fates.accepted), (500, fates.server_error)]));
    assert_eq!(came.series("sign").measurement.counts.fates, *fates);
}

#[test]
fn a_rekor_that_never_answers_and_a_fulcio_without_its_ct_log_are_timed_out() {
    let rekor = Flows::of(&json!({ "rekor": { "hang": {} } }), &json!({}));
    let came = rekor.with("workloads.flows.timeout=300ms").come();
    let hanging = |came: &Came, step, skipped| {
        came.all_end_at(step, |fates| fates.timed_out, "deadline of the operation", skipped);
    };
    hanging(&came, "rekor", V1);
    assert_eq!(answers(&came.services.lab.rekor, "create-entry"), NONE);
    assert_eq!(answers(&came.services.lab.fulcio, "signing-cert-v1"), only(201));

    let ct_log = json!({ "flavour": "rfc6962", "faults": refusing("add-pre-chain", 503) });
    let came =
        Flows::of(&json!({ "ct_log": ct_log }), &json!({})).with("workloads.flows.timeout=300ms").come();
    hanging(&came, "fulcio", [&[], &["rekor", "timestamp"]]);
    assert_eq!(answers(&came.services.lab.fulcio, "signing-cert-v1"), NONE);
    let ct_log = came.services.lab.ct_log.as_ref().unwrap();
    assert_eq!(answers(ct_log, "add-pre-chain").keys().collect::<Vec<_>>(), [&503]);
}

#[test]
fn a_log_on_tiles_that_has_enough_to_do_pushes_back() {
    for (rekor, status, cause) in [("v2", 503, "HTTP 503"), ("v2-grpc", 200, "UNAVAILABLE")] {
        let lab = json!({ "rekor_tiles": { "pushback_max_outstanding": 0 } });
        let came = Flows::of(&lab, &json!({ "rekor": rekor })).come();
        came.all_end_at("rekor-tiles", |fates| fates.pushback, cause, [&["fulcio", "timestamp"], &[]]);
        assert_eq!(answers(&came.services.lab.rekor_tiles, "create-entry"), only(status));
    }
}

#[test]
fn a_log_on_tiles_that_is_frozen_refuses() {
    for (rekor, status, cause) in [("v2", 405, "HTTP 405"), ("v2-grpc", 200, "UNIMPLEMENTED")] {
        let came =
            Flows::of(&json!({ "rekor_tiles": { "frozen": true } }), &json!({ "rekor": rekor })).come();
        came.all_end_at("rekor-tiles", |fates| fates.refused, cause, [&["fulcio", "timestamp"], &[]]);
        assert_eq!(answers(&came.services.lab.rekor_tiles, "create-entry"), only(status));
    }
}

#[test]
fn a_log_on_tiles_whose_own_time_is_over_failed_or_timed_out_as_it_says() {
    let lab = json!({ "rekor_tiles": { "checkpoint_interval": "1h", "server_timeout": "20ms" } });
    let steps: [&[&str]; 2] = [&["fulcio", "timestamp"], &[]];
    let rest = Flows::of(&lab, &json!({ "rekor": "v2" })).come();
    rest.all_end_at("rekor-tiles", |fates| fates.server_error, "HTTP 504", steps);
    assert_eq!(answers(&rest.services.lab.rekor_tiles, "create-entry"), only(504));
    let grpc = Flows::of(&lab, &json!({ "rekor": "v2-grpc" })).come();
    grpc.all_end_at("rekor-tiles", |fates| fates.timed_out, "DEADLINE_EXCEEDED", steps);
    assert_eq!(answers(&grpc.services.lab.rekor_tiles, "create-entry"), only(200));
}

#[test]
fn an_entry_that_is_there_already_is_accepted_and_unchecked_where_the_log_does_not_say_where() {
    for (rekor, service, series) in [("v1", "rekor", "rekor"), ("v2", "rekor_tiles", "rekor-tiles")] {
        let lab = json!({ service: { "faults": refusing("create-entry", 409) } });
        let came = Flows::of(&lab, &json!({ "rekor": rekor, "timestamp": false })).come();
        for name in ["sign", "fulcio", series] {
            assert_eq!(came.series(name).measurement.counts.fates.accepted, FLOWS, "{name}");
        }
        let causes = &came.series(series).measurement.causes;
        assert_eq!(causes.len(), 1, "{causes:?}");
        let lab = &came.services.lab;
        let [v1, v2] = [answers(&lab.rekor, "create-entry"), answers(&lab.rekor_tiles, "create-entry")];
        assert_eq!(if rekor == "v1" { v1 } else { v2 }, only(409));
        let made: Vec<_> = came
            .report
            .promises
            .by_kind
            .iter()
            .map(|kind| (kind.kind.as_str(), kind.promises.made, kind.promises.unchecked))
            .collect();
        assert_eq!(made, [("certificate", FLOWS, 0), ("entry", FLOWS, FLOWS)]);
    }
}

/// A log on tiles that says of every entry that it has it; how often it was asked.
fn serve_known_entries() -> (SocketAddr, Receiver<()>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (at, (sender, called)) = (listener.local_addr().unwrap(), channel());
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((tcp, _)) = listener.accept().await {
                let sender = sender.clone();
                tokio::spawn(async move {
                    let Ok(mut connection) = h2::server::handshake(tcp).await else { return };
                    while let Some(Ok((request, mut respond))) = connection.accept().await {
                        let is_entry = request.uri().path().ends_with("/CreateEntry");
                        let known = Response::builder().header("content-type", "application/grpc");
                        let known =
                            known.header("grpc-status", "6").header("x-log-index", "1").body(()).unwrap();
                        // Who has gone away, or has ended, asks no more.
                        let _ = respond.send_response(known, true);
                        let _ = is_entry.then(|| sender.send(()));
                    }
                });
            }
        });
    });
    (at, called)
}

#[test]
fn a_call_with_an_entry_that_is_there_already_is_accepted_and_unchecked_where_nobody_looks() {
    let (at, called) = serve_known_entries();
    let flows = Flows::of(&json!({}), &json!({ "rekor": "v2-grpc", "timestamp": false, "audit": false }));
    let came = flows.with(format!("target.sigstore.rekor_tiles_grpc_url=http://{at}")).come();
    for name in ["sign", "fulcio", "rekor-tiles"] {
        assert_eq!(came.series(name).measurement.counts.fates.accepted, FLOWS, "{name}");
    }
    assert_eq!(called.try_iter().count() as u64, FLOWS);
    let promises = &came.report.promises.all;
    assert_eq!((promises.made, promises.kept, promises.unchecked), (2 * FLOWS, FLOWS, FLOWS));
}

#[test]
fn what_a_gateway_or_a_service_says_at_a_step_is_the_fate_of_the_flow() {
    let v1 = |step: &str| -> [&'static [&'static str]; 2] {
        match step {
            "fulcio" => [&[], &["rekor", "timestamp"]],
            "rekor" => V1,
            _ => [&["fulcio", "rekor"], &[]],
        }
    };
    type OfFates = fn(&Fates) -> u64;
    let cases: [(&str, &str, &str, u16, OfFates); 8] = [
        ("fulcio", "fulcio", "signing-cert-v1", 429, |fates| fates.pushback),
        ("fulcio", "fulcio", "signing-cert-v1", 504, |fates| fates.server_error),
        ("rekor", "rekor", "create-entry", 504, |fates| fates.server_error),
        ("rekor", "rekor", "create-entry", 502, |fates| fates.server_error),
        ("rekor", "rekor", "create-entry", 422, |fates| fates.refused),
        ("timestamp", "timestamp_authority", "timestamp", 400, |fates| fates.refused),
        ("timestamp", "timestamp_authority", "timestamp", 415, |fates| fates.refused),
        ("timestamp", "timestamp_authority", "timestamp", 503, |fates| fates.pushback),
    ];
    for (step, service, endpoint, status, fate) in cases {
        let lab = json!({ service: { "faults": refusing(endpoint, status) } });
        let came = Flows::of(&lab, &json!({})).come();
        came.all_end_at(step, fate, &format!("HTTP {status}"), v1(step));
        let lab = &came.services.lab;
        let seen = [
            answers(&lab.fulcio, "signing-cert-v1"),
            answers(&lab.rekor, "create-entry"),
            answers(&lab.timestamp_authority, "timestamp"),
        ];
        let [accepted, refused] = [[201, 201, 200].map(only), [only(status), NONE, NONE]];
        let at = ["fulcio", "rekor", "timestamp"].iter().position(|name| *name == step).unwrap();
        assert_eq!(seen[..at], accepted[..at], "{step}");
        assert_eq!(seen[at..], refused[..3 - at], "{step}");
    }
}

#[test]
fn a_gateway_that_answers_a_call_without_grpc_has_the_status_that_grpc_gives_it() {
    let steps: [&[&str]; 2] = [&["fulcio", "timestamp"], &[]];
    for status in [503, 504] {
        let lab = json!({ "rekor_tiles": { "faults": refusing("create-entry", status) } });
        let came = Flows::of(&lab, &json!({ "rekor": "v2-grpc" })).come();
        came.all_end_at("rekor-tiles", |fates| fates.pushback, "UNAVAILABLE", steps);
        assert_eq!(answers(&came.services.lab.rekor_tiles, "create-entry"), only(status));
    }
}

#[test]
fn a_connection_that_breaks_under_an_entry_leaves_it_unanswered_and_unsent_again() {
    let faults = json!({ "rules": [{ "endpoints": ["create-entry"], "reset_share": 1 }] });
    let came = Flows::of(&json!({ "rekor": { "faults": faults } }), &json!({})).come();
    let cause = came.series("rekor").measurement.causes[0].cause.clone();
    came.all_end_at("rekor", |fates| fates.unreachable, &cause, V1);
    // A write is not repeated: the log may have it.
    assert_eq!(answers(&came.services.lab.rekor, "create-entry"), only(0));
    assert_eq!(came.series("sign").measurement.counts.resent, 0);
}

#[test]
fn a_connection_that_was_closed_while_idle_is_dialled_again_and_no_flow_fails() {
    let idle = json!({ "close_idle_after": "50ms" });
    let lab = json!({ "fulcio": { "faults": idle }, "rekor": { "faults": idle }, "rekor_tiles": { "faults": idle },
        "timestamp_authority": { "faults": idle } });
    for plan in [json!({}), json!({ "fulcio": "grpc", "rekor": "v2-grpc", "audit": false })] {
        let came = Flows::of(&lab, &plan)
            .with("workloads.flows.load={users: 1, operations: 6, think: 400ms}")
            .with("target.preflight=false")
            .come();
        for series in &came.report.series {
            assert_eq!(series.measurement.counts.fates.accepted, FLOWS, "{series:?}");
        }
        let promises = &came.report.promises.all;
        assert_eq!((promises.made, promises.kept), (FLOWS * 3, FLOWS * 3));
        let lab = &came.services.lab;
        let fulcio = lab.fulcio.stats();
        let accepted: u64 = fulcio.requests.values().flat_map(BTreeMap::values).sum();
        // What is called over gRPC is asked before the run how it is.
        let asked = u64::from(plan["fulcio"] == "grpc");
        assert_eq!(accepted, FLOWS + asked);
        assert_eq!(fulcio.connections, FLOWS + asked, "each flow finds its connection closed");
        assert_eq!(lab.timestamp_authority.stats().connections, FLOWS);
    }
}

/// Forty flows, one after another.
const MANY: &str = "workloads.flows.load={users: 1, operations: 40}";

#[test]
fn a_rekor_above_its_rate_is_a_gateways_504_or_a_deadline_that_was_exceeded() {
    let above = json!({ "rules": [{ "endpoints": ["create-entry"], "above": { "rate": "2/s" } }] });
    let lab = json!({ "rekor": { "faults": above }, "rekor_tiles": { "faults": above, "checkpoint_interval": "5ms" } });
    for (rekor, series, step) in
        [("v1", "rekor", "HTTP 504"), ("v2-grpc", "rekor-tiles", "DEADLINE_EXCEEDED")]
    {
        let came =
            Flows::of(&lab, &json!({ "rekor": rekor, "timestamp": false, "audit": false })).with(MANY).come();
        let figures = &came.series(series).measurement;
        let fates = &figures.counts.fates;
        let failed = if rekor == "v1" { fates.server_error } else { fates.timed_out };
        assert!(fates.accepted > 0 && failed > 0, "{fates:?}");
        assert_eq!(fates.accepted + failed, 40, "{fates:?}");
        assert!(figures.causes.iter().any(|one| one.cause == step && one.count == failed), "{figures:?}");
        let lab = &came.services.lab;
        let expected = match rekor {
            "v1" => {
                (answers(&lab.rekor, "create-entry"), Answers::from([(201, fates.accepted), (504, failed)]))
            }
            _ => (answers(&lab.rekor_tiles, "create-entry"), Answers::from([(200, 40)])),
        };
        assert_eq!(expected.0, expected.1);
    }
}

#[test]
fn a_cold_fulcio_a_slow_trillian_and_a_throttled_authority_are_late_and_nothing_worse() {
    let late = json!({ "constant": "80ms" });
    let lab = json!({
        "fulcio": { "faults": { "rules": [{ "cold": { "requests": 3, "latency": late } }] } },
        "rekor": { "faults": { "rules": [{ "endpoints": ["create-entry"], "latency": late }] } },
        "timestamp_authority": { "faults": { "rules": [{ "throttle": [{ "duty": 0.05, "period": "200ms" }] }] } },
    });
    let came = Flows::of(&lab, &json!({})).come();
    for series in &came.report.series {
        assert_eq!(series.measurement.counts.fates.accepted, FLOWS, "{series:?}");
    }
    let promises = &came.report.promises.all;
    assert_eq!((promises.made, promises.kept), (FLOWS * 3, FLOWS * 3));
    let least = |series: &str| {
        came.series(series).measurement.durations.service_time.as_ref().unwrap().min_ns.least()
    };
    let most = |series: &str| {
        came.series(series).measurement.durations.service_time.as_ref().unwrap().max_ns.least()
    };
    assert!(least("rekor") >= 79_000_000 && most("fulcio") >= 79_000_000);
    let lab = &came.services.lab;
    assert_eq!(answers(&lab.fulcio, "signing-cert-v1"), only(201));
    assert_eq!(answers(&lab.timestamp_authority, "timestamp"), only(200));
}

#[test]
fn a_rekor_that_is_killed_is_unreachable_for_a_while_and_what_it_answered_was_accepted() {
    let restarts = json!([{ "at": "300ms", "down": "500ms" }]);
    let lab = json!({ "rekor": { "faults": { "restarts": restarts } } });
    let flows = Flows::of(&lab, &json!({ "timestamp": false }))
        // Four seconds at least.
        .with("workloads.flows.load={users: 2, think: 20ms, operations: 400}")
        .with("interval=100ms");
    let started = flows.services.start(PLAN, &flows.changes);
    let rekor = &flows.services.lab.rekor;
    until(|| rekor.stats().accepted > 20);
    // It is killed so long after this.
    rekor.restart_faults();
    let report = started.ended().report();
    let came = Came { report, services: flows.services };
    let fates = &came.series("rekor").measurement.counts.fates;
    assert!(fates.accepted > 0 && fates.unreachable > 0, "{fates:?}");
    assert_eq!(fates.failed(), fates.unreachable, "{fates:?}");
    assert_eq!(answers(&came.services.lab.rekor, "create-entry").get(&201), Some(&fates.accepted));
    assert!(came.services.lab.rekor.stats().tree_size >= fates.accepted);
    assert_eq!(came.report.promises.all.broken, 0);
    let outages: Vec<_> =
        came.report.disruptions.iter().filter(|one| one.kind == DisruptionKind::Outage).collect();
    let [outage, ..] = &outages[..] else { panic!("{:?}", came.report.disruptions) };
    assert!(outage.path.ends_with("/sign") && outage.fates.unreachable > 0, "{outage:?}");
    assert!(outage.to_ns.is_some(), "{outage:?}");
}

#[test]
fn a_rekor_that_comes_back_without_its_entries_goes_on_from_an_empty_tree() {
    let restarts = json!([{ "at": "300ms", "down": "100ms", "data": "lose" }]);
    let lab = json!({ "rekor": { "faults": { "restarts": restarts } } });
    let flows = Flows::of(&lab, &json!({ "timestamp": false }))
        .with("workloads.flows.load={users: 2, think: 20ms, operations: 200}");
    let started = flows.services.start(PLAN, &flows.changes);
    let rekor = &flows.services.lab.rekor;
    until(|| rekor.stats().accepted > 20);
    rekor.restart_faults();
    let report = started.ended().report();
    let accepted = report.series.iter().find(|series| series.name == "rekor").unwrap();
    let accepted = accepted.measurement.counts.fates.accepted;
    let stats = rekor.stats();
    assert_eq!(stats.accepted, accepted);
    assert!(stats.tree_size < accepted, "{} of {accepted} are there", stats.tree_size);
}

/// Polls for a minute.
pub(crate) fn until(holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 })).unwrap();
    }
    panic!("it did not come to that within a minute");
}

const FLOWS: u64 = 6;
const PLAN: &str = "plan.yaml";

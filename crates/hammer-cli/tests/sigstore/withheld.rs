//! Tiles of Rekor v2 that are not served when the checkpoint is that covers them, and consistency proofs of Rekor v1 that never are.

use std::fs;

use hammer_core::clock::MonotonicClock;
use hammer_measure::{Nanos, Now as _};
use hammer_report::Report;
use serde_json::{Value, json};

use crate::front::{Passed, front, read};
use crate::on_time::exit_if_on_time;
use crate::services::Services;

/// Flows that sign into Rekor v2, whose tiles are refused as `rule` says.
fn signed_beside(rule: &Value) -> Report {
    let mut refused = json!({ "endpoints": ["tile", "entries"], "refuse": { "share": 1, "status": 404 } });
    refused.as_object_mut().unwrap().extend(rule.as_object().unwrap().clone());
    let rekor_tiles = json!({ "checkpoint_interval": "100ms", "faults": { "rules": [refused] } });
    let services = Services::of(serde_json::from_value(json!({ "rekor_tiles": rekor_tiles })).unwrap());
    let sign = json!({ "rekor": "v2", "fulcio": "none", "timestamp": false });
    let plan = json!({
        "target": { "lab": { "sigstore": {} } },
        "workloads": [{ "name": "sign", "sigstore_sign": sign, "load": { "rate": "20/s" } }],
        "phases": { "measurement": "4s", "drain": "8s" },
    });
    fs::write(services.folder.path().join("plan.json"), plan.to_string()).unwrap();
    services.report("plan.json", &[])
}

#[test]
fn who_serves_them_a_moment_later_is_not_accused() {
    let report = signed_beside(&json!({ "at": "1s", "duration": "2s" }));
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {:?}", report.verdict, report.breaches);
    let promises = &report.promises.all;
    assert!(promises.made > 0 && promises.kept == promises.made, "{promises:?}");
    let came = report.observations.iter().find(|observation| observation.name == "late_tiles");
    assert!(came.is_some_and(|came| came.last.value >= 1.0), "{:?}", report.events);
}

#[test]
fn who_never_serves_them_is() {
    let report = signed_beside(&json!({ "at": "1s" }));
    assert_eq!(report.verdict.exit_code, 4, "{:?}", report.verdict);
    assert!(report.breaches.iter().any(|breach| breach.kind == "missing-tile"), "{:?}", report.breaches);
}

/// Reads of `mix` by the way beside few flows that get entries logged, through fronts of both logs: what `rule` makes of a request, of Rekor v2
/// or not.
fn reads_beside(
    (mix, time): (&Value, &str),
    rule: impl Fn(&str) -> Passed + Clone + Send + Sync + 'static,
) -> Report {
    let lab = json!({ "rekor": { "integration_delay": "20ms" }, "rekor_tiles": { "checkpoint_interval": "100ms" } });
    let services = Services::of(serde_json::from_value(lab).unwrap());
    let signs = |rekor: &str| {
        json!({
            "name": rekor,
            "sigstore_sign": { "fulcio": "none", "rekor": rekor, "timestamp": false, "audit": false },
            "load": { "rate": "10/s", "operations": 10 },
        })
    };
    // They wait for four seconds: what waits beyond the timeout is judged by nobody.
    let reads = json!({ "mix": mix, "missing_after": "9s" });
    let plan = json!({
        "target": { "lab": { "sigstore": {} } },
        "workloads": [signs("v1"), signs("v2"), { "name": "reads", "sigstore_read": reads, "timeout": "5s", "load": { "rate": "20/s" } }],
        "phases": { "measurement": time, "drain": "12s" },
        "health": { "on_fail": "warn" },
    });
    fs::write(services.folder.path().join("plan.json"), plan.to_string()).unwrap();
    let of = |url: &str| front(url, rule.clone());
    let urls = [
        format!("target.sigstore.rekor_url={}", of(&services.lab.rekor.url)),
        format!("target.sigstore.rekor_tiles_url={}", of(&services.lab.rekor_tiles.url)),
    ];
    services.report("plan.json", &urls)
}

fn is_tile(path: &str) -> bool {
    path.contains("/tile/")
}

#[test]
fn tiles_that_come_before_a_server_may_lag_no_longer_are_missing_from_no_read() {
    let clock = MonotonicClock::starting_now();
    let report = reads_beside((&json!({ "checkpoint": 1, "tile": 1, "bundle": 1 }), "5s"), move |path| {
        let is_gone = (Nanos::from_millis(2000)..Nanos::from_millis(5000)).contains(&clock.now());
        if is_gone && is_tile(path) { Passed::Refused(404) } else { Passed::On }
    });
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {:?}", report.verdict, report.breaches);
    let promises = &report.promises.all;
    assert!(promises.made > 0 && promises.kept == promises.made, "{promises:?}");
}

#[test]
fn tiles_that_never_come_are_missing_from_reads_too() {
    let clock = MonotonicClock::starting_now();
    let report = reads_beside((&json!({ "tile": 1 }), "2s"), move |path| {
        if clock.now() > Nanos::from_millis(1500) && is_tile(path) {
            Passed::Refused(404)
        } else {
            Passed::On
        }
    });
    let kinds = report.breaches.iter().map(|breach| breach.kind.as_str());
    assert!(
        kinds.clone().count() > 0 && kinds.clone().all(|kind| kind == "missing-tile"),
        "{:?}",
        report.breaches
    );
    assert_eq!((report.verdict.exit_code, report.promises.all.unchecked), (4, 0), "{:?}", report.verdict);
}

/// A page with 200 is the answer of no log.
#[test]
fn a_tile_that_is_none_is_told_by_whoever_reads_it() {
    for kind in ["tile", "bundle"] {
        let report = reads_beside((&json!({ kind: 1 }), "2s"), |path| match is_tile(path) {
            true => Passed::Answered(b"<html><body>sorry</body></html>".into()),
            false => Passed::On,
        });
        let kinds: Vec<_> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
        let of_reads =
            report.breaches.iter().filter(|breach| breach.workload == "reads" && breach.seq.is_some());
        assert!(of_reads.count() > 5, "{kind} {kinds:?}");
        assert_eq!(report.verdict.exit_code, 4, "{kind} {:?}", report.verdict);
    }
}

/// Flows that sign into Rekor v1 for `time`, audited or not, of whose consistency proofs `rule` says what becomes.
fn signed_without_proofs(
    (audit, time): (bool, &str),
    rule: impl Fn() -> Passed + Send + Sync + 'static,
) -> Report {
    let services = Services::of(serde_json::from_value(json!({})).unwrap());
    let url = front(&services.lab.rekor.url, move |path| match path.starts_with("/api/v1/log/proof") {
        true => rule(),
        false => Passed::On,
    });
    let sign = json!({
        "fulcio": "none", "timestamp": false, "audit": audit, "read_back": "none", "missing_after": "4s",
    });
    let plan = json!({
        "target": { "lab": { "sigstore": {} } },
        "workloads": [{ "name": "sign", "sigstore_sign": sign, "load": { "rate": "20/s" } }],
        "phases": { "measurement": time, "drain": "12s" },
        "health": { "on_fail": "warn" },
    });
    fs::write(services.folder.path().join("plan.json"), plan.to_string()).unwrap();
    services.report("plan.json", &[format!("target.sigstore.rekor_url={url}")])
}

#[test]
fn a_log_that_never_proves_what_it_served_for_longer_than_it_may_lag_is_told_once() {
    let ways: [fn() -> Passed; 4] = [
        || Passed::Refused(404),
        || Passed::Answered(b"{}".into()),
        || Passed::Answered(b"<html>".into()),
        || Passed::Answered(format!("{{\"rootHash\":\"{}\",\"hashes\":[]}}", "00".repeat(32)).into()),
    ];
    for rule in ways {
        let report = signed_without_proofs((true, "2s"), rule);
        let kinds: Vec<_> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
        assert_eq!(
            (kinds, report.verdict.exit_code),
            (vec!["unproved-checkpoint"], 4),
            "{:?}",
            report.breaches
        );
    }
}

#[test]
fn a_log_that_proves_what_it_served_before_that_is_not_accused() {
    let clock = MonotonicClock::starting_now();
    let report = signed_without_proofs((true, "2s"), move || match clock.now() < Nanos::from_millis(3500) {
        true => Passed::Refused(404),
        false => Passed::On,
    });
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {:?}", report.verdict, report.breaches);
    let promises = &report.promises.all;
    assert!(promises.made > 0 && promises.kept == promises.made, "{promises:?}");
}

/// Whoever audits nothing may not be able to read the log from where it is.
#[test]
fn a_log_that_proves_nothing_to_whoever_audits_nothing_is_not_accused() {
    let ways: [fn() -> Passed; 2] = [
        || Passed::Refused(404),
        || Passed::Answered(format!("{{\"rootHash\":\"{}\",\"hashes\":[]}}", "00".repeat(32)).into()),
    ];
    for rule in ways {
        let report = signed_without_proofs((false, "13s"), rule);
        assert_eq!(report.verdict.exit_code, 0, "{:?} {:?}", report.verdict, report.breaches);
        let promises = &report.promises.all;
        assert!(promises.made > 0 && promises.kept == promises.made, "{promises:?}");
    }
}

/// Where whoever writes reads may be a mirror that is far behind, or of the checkpoint alone.
#[test]
fn a_log_on_tiles_of_which_a_mirror_is_read_is_not_accused_by_whoever_audits_nothing() {
    for (is_stale, is_read) in [(true, true), (false, true), (false, false)] {
        let lab = json!({ "rekor_tiles": { "checkpoint_interval": "100ms" } });
        let services = Services::of(serde_json::from_value(lab).unwrap());
        let url = services.lab.rekor_tiles.url.clone();
        let first = std::sync::OnceLock::new();
        let mirror = front(&url.clone(), move |path| match path {
            "/checkpoint" | "/api/v2/checkpoint" if is_stale => {
                Passed::Answered(first.get_or_init(|| read(&url, path)).clone())
            }
            _ if is_tile(path) => Passed::Refused(404),
            _ => Passed::On,
        });
        let grpc = format!("target.sigstore.rekor_tiles_grpc_url={}", services.lab.rekor_tiles.url);
        let sign = json!({
            "rekor": "v2-grpc", "fulcio": "none", "timestamp": false, "audit": false, "missing_after": "2s",
        });
        let plan = json!({
            "target": { "lab": { "sigstore": {} } },
            "workloads": [{ "name": "sign", "sigstore_sign": sign, "load": { "rate": "20/s" } }],
            "phases": { "measurement": "6s", "drain": "4s" },
            "health": { "on_fail": "warn" },
        });
        fs::write(services.folder.path().join("plan.json"), plan.to_string()).unwrap();
        // Where nothing is said of where it is read, nothing is read.
        let read = if is_read { json!([mirror]) } else { json!([]) };
        let mirrored = format!("target.sigstore.rekor_tiles_url={read}");
        let report = services.report("plan.json", &[mirrored, grpc]);
        assert_eq!(
            report.verdict.exit_code, 0,
            "{is_stale} {is_read} {:?} {:?}",
            report.verdict, report.breaches
        );
        let promises = &report.promises.all;
        assert!(promises.made > 0 && promises.kept == promises.made, "{promises:?}");
    }
}

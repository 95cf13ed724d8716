//! Tiles of Rekor v2 that are not served when the checkpoint is that covers them.

use std::fs;

use hammer_report::Report;
use serde_json::{Value, json};

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

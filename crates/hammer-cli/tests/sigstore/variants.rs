//! Services that are honest and not as by default: what they promise is believed, whatever their keys, names and pace.

use std::fs;

use serde_json::{Value, json};

use crate::on_time::exit_if_on_time;
use crate::services::Services;

/// All flows of a workload (`key` and its settings) on services of that plan are accepted, and each makes so many promises, all kept.
#[track_caller]
fn is_believed(lab: &Value, key: &str, flows: &Value, promises_each: u64) -> Services {
    let services = Services::of(serde_json::from_value(lab.clone()).unwrap());
    let workload = json!({ "name": "flows", key: flows, "load": { "users": 4, "operations": FLOWS } });
    let plan = json!({ "target": { "lab": { "sigstore": {} } }, "workloads": [workload], "phases": { "drain": "60s" } });
    fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
    let report = services.report(PLAN, &[]);
    assert_eq!(report.totals.all.fates.accepted, FLOWS, "{:?}", report.series);
    let promises = &report.promises.all;
    assert_eq!(
        (promises.made, promises.kept),
        (FLOWS * promises_each, FLOWS * promises_each),
        "{:?}",
        report.breaches
    );
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    services
}

#[track_caller]
fn signs(lab: &Value, flows: &Value, promises_each: u64) -> Services {
    is_believed(lab, "sigstore_sign", flows, promises_each)
}

#[test]
fn certificates_of_every_curve_and_depth_are_believed_at_every_interface() {
    for (fulcio, interface) in [
        (json!({ "ca_curve": "p384" }), "v1"),
        (json!({ "ca_curve": "p384", "intermediate": true }), "v2"),
        (json!({ "intermediate": true, "key_seed": 9 }), "grpc"),
    ] {
        signs(&json!({ "fulcio": fulcio }), &json!({ "fulcio": interface }), 3);
    }
}

#[test]
fn certification_requests_are_believed_at_every_interface() {
    for interface in ["v1", "v2", "grpc"] {
        signs(&json!({}), &json!({ "fulcio": interface, "request": "csr" }), 3);
    }
}

#[test]
fn attestations_are_logged_in_either_rekor_in_the_form_that_it_takes() {
    let lab = json!({ "rekor_tiles": { "checkpoint_interval": "100ms" } });
    for rekor in ["v1", "v2", "v2-grpc"] {
        signs(&lab, &json!({ "entry": "dsse", "rekor": rekor, "read_back": null }), 3);
    }
    let services = signs(&lab, &json!({ "entry": "dsse", "read_back": "all", "request": "csr" }), 3);
    assert_eq!(services.lab.rekor.stats().tree_size, FLOWS);
}

#[test]
fn certificates_without_a_ct_log_are_believed_where_none_is_trusted() {
    let services = signs(&json!({ "has_ct_log": false }), &json!({}), 3);
    assert!(services.lab.ct_log.is_none());
}

#[test]
fn scts_beside_the_certificate_are_believed_at_every_interface_and_in_bundles_and_read_entries() {
    let lab = json!({ "fulcio": { "sct": "detached", "intermediate": true } });
    for interface in ["v1", "v2", "grpc"] {
        let bundles = json!({ "folder": interface, "first": 3 });
        let services = Services::of(serde_json::from_value(lab.clone()).unwrap());
        let sign = json!({ "fulcio": interface, "bundles": bundles });
        let flows = json!({ "sign_weight": 1, "verify_weight": 1, "sign": sign, "verify": {} });
        let workload =
            json!({ "name": "flows", "sigstore_mixed": flows, "load": { "users": 4, "operations": 40 } });
        let plan = json!({ "target": { "lab": { "sigstore": {} } }, "workloads": [workload], "phases": { "drain": "60s" } });
        fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
        let report = services.report(PLAN, &[]);
        let promises = &report.promises.all;
        assert!(promises.made > 60 && promises.kept == promises.made, "{interface}: {:?}", report.breaches);
        let logged = services.lab.ct_log.as_ref().unwrap().stats();
        let (chains, asked) = (&logged.requests["add-chain"][&200], services.lab.fulcio.stats().requests);
        assert!(
            asked.values().any(|statuses| statuses.values().sum::<u64>() == *chains),
            "{asked:?} {chains}"
        );
        let written = fs::read_dir(services.folder.path().join(interface)).unwrap();
        let bundles = written
            .filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".sigstore.json"));
        assert_eq!(bundles.count(), 3, "{interface}");
    }
}

#[test]
fn timestamps_of_every_curve_status_and_chain_are_believed_and_logged() {
    for authority in [
        json!({ "curve": "p384" }),
        json!({ "use_http_201": true }),
        json!({ "curve": "p384", "include_chain_in_response": true, "use_http_201": true }),
    ] {
        let lab = json!({ "timestamp_authority": authority });
        signs(&lab, &json!({ "timestamp_entry": true }), 4);
        for format in ["der", "json"] {
            is_believed(&lab, "sigstore_timestamp", &json!({ "format": format }), 1);
        }
    }
}

#[test]
fn a_log_on_tiles_is_believed_and_audited_whatever_its_key_and_its_name() {
    for (key, hostname, rekor) in [
        ("p256", "127.0.0.1", "v2"),
        ("p256", "rekor.example", "v2-grpc"),
        ("ed25519", "rekor.example", "v2"),
    ] {
        let log = json!({ "key": key, "hostname": hostname, "checkpoint_interval": "100ms" });
        let services = signs(&json!({ "rekor_tiles": log }), &json!({ "rekor": rekor }), 3);
        let stats = services.lab.rekor_tiles.stats();
        assert_eq!((stats.accepted, stats.published_size), (FLOWS, FLOWS));
        assert!(stats.requests.contains_key("entries"), "the audit reads the bundles: {:?}", stats.requests);
    }
}

#[test]
fn tokens_that_rsa_signed_are_taken() {
    signs(&json!({ "token_signature": "rs256" }), &json!({}), 3);
}

#[test]
fn a_log_that_takes_half_a_second_to_integrate_is_believed() {
    let services = signs(&json!({ "rekor": { "integration_delay": "500ms" } }), &json!({}), 3);
    assert_eq!(services.lab.rekor.stats().tree_size, FLOWS);
}

const FLOWS: u64 = 12;
const PLAN: &str = "plan.yaml";

//! Reads of single services: each kind is asked for where it is, and what is answered is verified.

use std::fs;

use hammer_lab_sigstore::SigstoreLab;
use hammer_report::Report;
use hammer_report::report::Series;
use serde_json::{Value, json};

use crate::hammer::{Ended, Started, command};
use crate::on_time::exit_if_on_time;
use crate::server::Server;
use crate::services::Services;

/// Reads of `mix` beside flows that get entries logged in both logs.
fn plan(reads: &Value, operations: u64) -> Value {
    let signs = |name: &str, rekor: &str| {
        json!({
            "name": name,
            "sigstore_sign": { "fulcio": "none", "rekor": rekor, "timestamp": false },
            "load": { "rate": "50/s", "operations": 40 },
        })
    };
    let reads = json!({ "name": "reads", "sigstore_read": reads, "load": { "rate": "100/s", "operations": operations } });
    json!({
        "target": { "lab": { "sigstore": {} } },
        "workloads": [signs("one", "v1"), signs("two", "v2"), reads],
        "phases": { "drain": "60s" },
    })
}

fn services(lab: &Value, plan: &Value) -> Services {
    let services = Services::of(serde_json::from_value(lab.clone()).unwrap());
    fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
    services
}

fn of<'a>(report: &'a Report, path: &str) -> &'a Series {
    let mut series = report.series.iter();
    series.find(|series| series.path == path).unwrap_or_else(|| panic!("no series {path}"))
}

#[test]
fn every_kind_of_read_is_asked_for_where_it_is_and_verified() {
    let mix: Value = KINDS
        .iter()
        .map(|(kind, _)| ((*kind).to_owned(), json!(1)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let search_for = ["flow-3@hammer.test".to_owned(), format!("sha256:{}", "00".repeat(32))];
    let reads = json!({ "mix": mix, "search_for": search_for });
    let lab = json!({ "rekor": { "integration_delay": "20ms" }, "rekor_tiles": { "checkpoint_interval": "100ms" } });
    let services = services(&lab, &plan(&reads, 300));
    let report = services.report(PLAN, &[]);
    let promises = &report.promises.all;
    assert_eq!(promises.made, promises.kept, "{:?} {:?}", report.breaches, report.promises);
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    let SigstoreLab { fulcio, rekor, rekor_tiles, timestamp_authority, .. } = &services.lab;
    let stats = [fulcio.stats(), rekor.stats(), rekor_tiles.stats(), timestamp_authority.stats()];
    for (kind, endpoint) in KINDS {
        let accepted = of(&report, &format!("reads/{kind}")).measurement.counts.fates.accepted;
        let answered: u64 = stats.iter().filter_map(|stats| stats.requests.get(endpoint)?.get(&200)).sum();
        assert!(accepted > 0, "{kind} {:?}", report.series);
        // A read of a tree that was empty then is answered by the checkpoint alone.
        assert!(answered > 0, "{kind} was never answered");
    }
    let kinds: Vec<&str> = report.promises.by_kind.iter().map(|kind| kind.kind.as_str()).collect();
    for kind in
        ["tree-head", "consistency", "inclusion", "search", "public-key", "trust-bundle", "configuration"]
    {
        assert!(kinds.contains(&kind), "{kind} {kinds:?}");
    }
}

/// Most of the servers have nothing: what they lack is not what the log lacks.
#[test]
fn a_tile_that_one_of_several_servers_has_not_is_asked_for_at_the_others() {
    let lagging = Server::answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    for urls in [["own", "lagging", "lagging"].as_slice(), &["lagging", "own"]] {
        no_tile_is_missing(urls, &lagging.url());
    }
}

/// As [`a_tile_that_one_of_several_servers_has_not_is_asked_for_at_the_others`], of servers in that order.
fn no_tile_is_missing(order: &[&str], lagging: &str) {
    let reads = json!({ "mix": { "tile": 1, "bundle": 1 } });
    let lab = json!({ "rekor_tiles": { "checkpoint_interval": "50ms" } });
    let services = services(&lab, &plan(&reads, 100));
    let mut target = services.target();
    let own = services.lab.rekor_tiles.url.clone();
    let urls = order.iter().map(|server| if *server == "own" { own.as_str() } else { lagging });
    target["rekor_tiles_read_url"] = urls.collect();
    let target = format!("target={}", json!({ "sigstore": target }));
    let without_audit = "workloads.1.sigstore_sign.audit=false".to_owned();
    let report = services.report(PLAN, &[target, without_audit]);
    let promises = &report.promises.all;
    assert!(report.breaches.is_empty(), "{order:?}: {:?}", report.breaches);
    assert_eq!((promises.broken, promises.unchecked), (0, 0), "{order:?}: {promises:?}");
    let refused = |path: &str| of(&report, path).measurement.counts.fates.refused;
    assert!(refused("reads/tile") > 0 && refused("reads/bundle") > 0, "they were asked for there");
    let inclusion = report.promises.by_kind.iter().find(|kind| kind.kind == "inclusion").unwrap();
    assert!(inclusion.promises.kept > 0, "{inclusion:?}");
}

#[test]
fn entries_that_searches_find_are_read_by_their_uuids_as_often_as_the_plan_says() {
    for (read_back, least, most) in [("all", 1, 200), ("none", 0, 0)] {
        let reads = json!({ "mix": { "search": 1 }, "read_back": read_back });
        let lab = json!({ "rekor": { "integration_delay": "20ms" } });
        let services = services(&lab, &plan(&reads, 200));
        let report = services.report(PLAN, &[]);
        let promises = &report.promises.all;
        assert_eq!(promises.made, promises.kept, "{:?} {:?}", report.breaches, report.promises);
        let requests = services.lab.rekor.stats().requests;
        let read = requests.get("get-entry").map_or(0, |answers| answers[&200]);
        assert!((least..=most).contains(&read), "{read_back}: {read}");
        let series = report.series.iter().find(|series| series.path == "reads/found-entry");
        assert_eq!(series.map_or(0, |series| series.measurement.counts.fates.accepted), read, "{read_back}");
        assert_eq!(of(&report, "reads/search").measurement.counts.fates.accepted, 200);
    }
}

#[test]
fn an_empty_log_is_read_and_promises_no_more_than_its_head() {
    let reads = json!({ "mix": { "log-info": 1, "log-proof": 1, "checkpoint": 1, "tile": 1, "bundle": 1 } });
    let mut plan = plan(&reads, 50);
    plan["workloads"].as_array_mut().unwrap().drain(..2);
    let services = services(&json!({}), &plan);
    let report = services.report(PLAN, &[]);
    let promises = &report.promises.all;
    assert_eq!(promises.made, promises.kept, "{:?}", report.breaches);
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    let stats = services.lab.rekor.stats();
    assert!(!stats.requests.contains_key("log-proof"), "{stats:?}");
}

#[test]
fn a_search_that_is_not_offered_is_a_refusal_and_no_broken_promise() {
    let services =
        services(&json!({ "rekor": { "search": false } }), &plan(&json!({ "mix": { "search": 1 } }), 30));
    let report = services.report(PLAN, &[]);
    let fates = &of(&report, "reads/search").measurement.counts.fates;
    assert_eq!((fates.server_error, fates.accepted), (30, 0));
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
}

#[test]
fn a_plan_that_reads_nothing_or_what_it_has_no_url_of_is_refused_with_its_key() {
    let refused = |reads: Value, change: Option<&str>| -> Ended {
        let services = services(&json!({}), &plan(&reads, 10));
        let changes: Vec<String> = change.into_iter().map(str::to_owned).collect();
        services.run(PLAN, &changes)
    };
    for (reads, change, told) in [
        (json!({}), None, "workloads[2].sigstore_read"),
        (json!({ "mix": { "log-infos": 1 } }), None, "log-infos"),
        (json!({ "mix": { "search": 1 }, "search_for": ["jdoe"] }), None, "expected an e-mail address"),
        (json!({ "mix": { "certchain": 1 } }), Some("target.sigstore.timestamp_url=[]"), "timestamp_url"),
    ] {
        let ended = refused(reads, change);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
}

/// Each kind, and the endpoint of the embedded services that answers it.
const KINDS: [(&str, &str); 10] = [
    ("log-info", "log-info"),
    ("log-proof", "log-proof"),
    ("search", "search"),
    ("public-key", "public-key"),
    ("certchain", "certchain"),
    ("trust-bundle", "trust-bundle"),
    ("configuration", "configuration"),
    ("checkpoint", "checkpoint"),
    ("tile", "tile"),
    ("bundle", "entries"),
];
const PLAN: &str = "plan.yaml";

#[test]
fn the_ct_log_behind_fulcio_is_read_as_any_other_log() {
    let services = Services::of(serde_json::from_value(json!({})).unwrap());
    let workload = json!({
        "name": "certificates",
        "sigstore_sign": { "rekor": "none", "timestamp": false },
        "load": { "users": 2, "operations": 40 },
    });
    let plan = json!({ "target": { "lab": { "sigstore": {} } }, "workloads": [workload], "phases": { "drain": "60s" } });
    fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
    let signed = services.report(PLAN, &[]);
    assert_eq!(signed.totals.all.fates.accepted, 40, "{:?}", signed.series);
    let log = services.lab.ct_log.as_ref().unwrap();
    let log = json!({
        "kind": "rfc6962",
        "submission_url": log.url,
        "public_key": hammer_tlog::encoding::base64(log.log_key_spki()),
    });
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/sigstore-ctlog.yaml");
    let target = format!("target={}", json!({ "log": log }));
    let mut run = command(&[
        "run",
        plan,
        "--set",
        &target,
        "--set",
        "phases={ measurement: 3s, drain: 30s }",
        "--out",
        "-",
    ]);
    run.current_dir(services.folder.path());
    let report = Started::of(run).ended().report();
    let promises = &report.promises.all;
    assert_eq!(promises.made, promises.kept, "{:?} {:?}", report.breaches, report.promises);
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    for kind in [
        "get-sth",
        "get-entries",
        "get-proof-by-hash",
        "get-sth-consistency",
        "get-entry-and-proof",
        "get-roots",
    ] {
        let accepted = of(&report, &format!("ctlog/{kind}")).measurement.counts.fates.accepted;
        assert!(accepted > 0, "{kind} {:?}", report.series);
    }
}

//! Rekor v1 is followed beside the load, its answers' checkpoints are joined to its tree, and entries are read back: what a log does against
//! its word is told, and what is odd but honest is believed.

use std::collections::BTreeSet;
use std::fs;

use hammer_report::Report;
use serde_json::{Value, json};

use crate::lies::{is_believed, run};
use crate::services::Services;

/// Sixty flows with an entry each, all of which are read back, on a Rekor as `rekor` says.
fn followed(rekor: &Value, sign: &Value) -> (Report, Services) {
    followed_until("60s", rekor, sign)
}

/// The same, with so long to drain.
fn followed_until(drain: &str, rekor: &Value, sign: &Value) -> (Report, Services) {
    let services = Services::of(serde_json::from_value(json!({ "rekor": rekor })).unwrap());
    let mut flows = json!({ "timestamp": false, "read_back": "all" });
    flows.as_object_mut().unwrap().extend(sign.as_object().unwrap().clone());
    let load = json!({ "rate": "40/s", "operations": FLOWS });
    let workload = json!({ "name": "flows", "sigstore_sign": flows, "load": load });
    let phases = json!({ "measurement": "10s", "drain": drain });
    let target = json!({ "lab": { "sigstore": {} } });
    let plan = json!({ "target": target, "workloads": [workload], "phases": phases });
    fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
    let report = services.report(PLAN, &[]);
    (report, services)
}

/// A promise of a certificate and one of an entry for each flow.
#[track_caller]
fn all_kept(report: &Report) {
    let promises = &report.promises.all;
    let told = (&report.breaches, notes(report));
    assert_eq!((promises.made, promises.kept), (2 * FLOWS, 2 * FLOWS), "{promises:?} {told:?}");
    assert!(report.breaches.is_empty(), "{told:?}");
}

/// What was noted, as events have it.
fn notes(report: &Report) -> Vec<String> {
    report.events.iter().map(|event| serde_json::to_string(event).unwrap()).collect()
}

fn observed(report: &Report, name: &str) -> Option<f64> {
    report.observations.iter().find(|seen| seen.name == name).map(|seen| seen.last.value)
}

/// The broken promises to operations, as kind and index.
fn broken(report: &Report) -> BTreeSet<(String, Option<u64>)> {
    let named = report.breaches.iter().filter(|breach| breach.seq.is_some());
    named.map(|breach| (breach.kind.clone(), breach.index)).collect()
}

/// What Rekor owns up to, under the name that the report has for it.
fn told(services: &Services, breach: &str) -> BTreeSet<(String, Option<u64>)> {
    let (told, _) = services.lab.rekor.target().told_lies();
    told.iter().map(|lie| (breach.to_owned(), lie.log_index)).collect()
}

#[test]
fn every_checkpoint_of_an_honest_log_is_joined_and_every_entry_found_again() {
    let (report, services) = followed(&json!({}), &json!({}));
    all_kept(&report);
    let stats = services.lab.rekor.stats();
    assert_eq!(stats.tree_size, FLOWS);
    assert_eq!(observed(&report, "entries_read_back"), Some(FLOWS as f64));
    assert!(
        observed(&report, "heads_joined").unwrap() >= 1.0 && observed(&report, "heads_unjoined") == Some(0.0)
    );
    assert!(stats.requests["retrieve-entries"][&200] >= FLOWS / 10, "{:?}", stats.requests);
    assert!(!stats.requests.contains_key("get-entry"), "none is read one by one: {:?}", stats.requests);
    let asked = ["log-info", "log-proof", "retrieve-entries"]
        .map(|endpoint| stats.requests.get(endpoint).map_or(0, |answers| answers.values().sum::<u64>()));
    assert_eq!(observed(&report, "audit_requests"), Some(asked.iter().sum::<u64>() as f64));
}

#[test]
fn a_share_of_the_entries_is_read_back_and_none_where_none_is_wanted() {
    for (share, least, most) in [("none", 0_u64, 0_u64), ("50%", 1, FLOWS - 1)] {
        let (report, services) = followed(&json!({}), &json!({ "read_back": share }));
        all_kept(&report);
        let requests = services.lab.rekor.stats().requests;
        let retrievals = requests.get("retrieve-entries").map_or(0, |answers| answers[&200]);
        assert!((least.div_ceil(10)..=most.div_ceil(10)).contains(&retrievals), "{share}: {requests:?}");
    }
}

#[test]
fn an_entry_that_is_gone_when_it_is_read_back_is_named_as_the_log_names_it() {
    let (report, services) = run("rekor-withheld-entry");
    let told = told(&services, "lost-entry");
    assert_eq!((told.len(), &broken(&report)), (3, &told), "{:?}", report.breaches);
    assert_eq!((report.verdict.exit_code, report.promises.all.broken), (4, 3));
    is_believed("rekor-withheld-entry-honest");
}

#[test]
fn an_entry_that_is_another_when_it_is_read_back_is_named_as_the_log_names_it() {
    let (report, services) = run("rekor-altered-entry");
    let told = told(&services, "altered-entry");
    assert_eq!((told.len(), &broken(&report)), (3, &told), "{:?}", report.breaches);
    assert_eq!((report.verdict.exit_code, report.promises.all.broken), (4, 3));
    is_believed("rekor-altered-entry-honest");
}

#[test]
fn an_entry_that_the_log_says_it_had_and_has_not_is_named_as_the_log_names_it() {
    let (report, services) = run("rekor-false-duplicate");
    let told = told(&services, "lost-entry");
    let (lies, _) = services.lab.rekor.target().told_lies();
    assert_eq!((told.len(), lies.len(), &broken(&report)), (1, 3, &told), "{:?}", report.breaches);
    let leaves: BTreeSet<_> = lies.iter().map(|lie| lie.leaf_hash.unwrap().to_hex()).collect();
    assert_eq!((leaves.len(), report.verdict.exit_code, report.promises.all.broken), (3, 4, 3));
    is_believed("rekor-false-duplicate-honest");
}

#[test]
fn entries_that_the_log_has_already_are_found_where_it_says() {
    // Keys alone, so that the second run sends what the first one did.
    let services = Services::of(serde_json::from_value(json!({})).unwrap());
    for (rekor, rounds) in [("v1", 2), ("v2", 2), ("v2-grpc", 2)] {
        let mut flows = json!({ "fulcio": "none", "rekor": rekor, "timestamp": false });
        if rekor == "v1" {
            flows["read_back"] = "none".into();
        }
        let load = json!({ "rate": "40/s", "operations": FLOWS });
        let workload = json!({ "name": "flows", "sigstore_sign": flows, "load": load });
        let phases = json!({ "measurement": "10s", "drain": "60s" });
        let target = json!({ "lab": { "sigstore": {} } });
        let plan =
            json!({ "target": target, "workloads": [workload], "phases": phases, "seed": rekor.len() });
        fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
        for round in 0..rounds {
            let report = services.report(PLAN, &[]);
            let promises = &report.promises.all;
            let told = (&report.breaches, notes(&report));
            assert_eq!(
                (promises.made, promises.kept),
                (FLOWS, FLOWS),
                "{rekor} {round}: {promises:?} {told:?}"
            );
            assert_eq!(report.totals.all.fates.accepted, FLOWS);
        }
    }
    let known = services.lab.rekor.stats().requests["create-entry"][&409];
    assert_eq!(known, FLOWS);
    assert_eq!(services.lab.rekor_tiles.stats().requests["create-entry"][&409], FLOWS);
}

#[test]
fn entries_that_may_not_be_read_back_are_unchecked_and_not_lost() {
    let refuses = json!({ "rules": [{ "endpoints": ["get-entry", "retrieve-entries"], "refuse": { "share": 1, "status": 403 } }] });
    let (report, _) = followed(&json!({ "faults": refuses }), &json!({}));
    let promises = &report.promises.all;
    assert_eq!(
        (promises.kept, promises.unchecked, promises.broken),
        (FLOWS, FLOWS, 0),
        "{:?}",
        report.breaches
    );
    assert_eq!(report.verdict.exit_code, 5);
}

#[test]
fn a_fork_of_the_log_is_told_with_both_heads_and_ends_the_run() {
    let (report, services) = run("rekor-forked-log-info");
    let (told, _) = services.lab.rekor.target().told_lies();
    assert_eq!(told.len(), 1);
    let forks: Vec<_> = report.breaches.iter().filter(|breach| breach.seq.is_none()).collect();
    assert_eq!(forks.len(), 1, "{:?}", report.breaches);
    assert_eq!(forks[0].kind, "forked-checkpoint");
    assert!(report.breaches.iter().all(|breach| breach.kind == "forked-checkpoint"), "{:?}", report.breaches);
    let saved = forks[0].detail.split("saved as ").nth(1).unwrap();
    assert!(
        saved.split(" and ").all(|file| fs::read_to_string(services.folder.path().join(file)).is_ok()),
        "{saved}"
    );
    assert_eq!(report.verdict.exit_code, 4);
    assert_ne!(report.run.stopped, "as planned", "the run ends by it");
    is_believed("rekor-forked-log-info-honest");
}

#[test]
fn one_proof_that_does_not_hold_is_told_once_and_is_no_fork() {
    let (report, services) = run("rekor-wrong-consistency-proof");
    assert_eq!(services.lab.rekor.target().told_lies().0.len(), 1);
    let kinds: Vec<_> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert_eq!(kinds, ["bad-consistency-proof"], "{:?}", report.breaches);
    assert_eq!(report.verdict.exit_code, 4);
    assert_eq!(services.lab.rekor.stats().accepted, 100, "the run goes on: {}", report.run.stopped);
    assert_eq!(report.promises.all.kept, 200, "{:?}", report.promises.all);
    is_believed("rekor-wrong-consistency-proof-honest");
}

#[test]
fn a_log_that_never_proves_that_its_tree_grew_has_forked() {
    let lies = json!([{ "kind": "wrong-consistency-proof" }]);
    let (report, _) = followed(&json!({ "integration_delay": "20ms", "lies": lies }), &json!({}));
    let to_all: Vec<_> = report.breaches.iter().filter(|breach| breach.seq.is_none()).collect();
    assert_eq!(to_all.len(), 1, "{:?}", report.breaches);
    assert_eq!((to_all[0].kind.as_str(), report.verdict.exit_code), ("forked-checkpoint", 4));
}

#[test]
fn a_tree_that_shrank_is_told_once_nobody_can_lag_so_long() {
    let (report, services) = run("rekor-shrinking-tree");
    let (told, _) = services.lab.rekor.target().told_lies();
    let size = told[0].tree_size.unwrap();
    let kinds: Vec<_> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert_eq!(kinds, ["shrinking-tree"], "{:?}", report.breaches);
    assert!(report.breaches[0].detail.contains(&format!("still has {size} leaves")), "{:?}", report.breaches);
    assert_eq!(report.verdict.exit_code, 4);
    is_believed("rekor-shrinking-tree-honest");
}

#[test]
fn a_log_that_lies_in_its_first_entry_is_named_there_and_nowhere_else() {
    let (report, _) = followed(&json!({ "lies": [{ "kind": "wrong-log-index", "times": 1 }] }), &json!({}));
    assert_eq!(broken(&report).len(), 1, "{:?}", report.breaches);
    assert_eq!(report.breaches[0].kind, "entry-index");
    assert_eq!(
        (report.breaches[0].index, report.promises.all.kept),
        (Some(0), 2 * FLOWS - 1),
        "{:?}",
        report.breaches
    );
}

#[test]
fn log_information_and_proofs_that_lag_behind_the_answers_are_believed() {
    for rekor in [
        json!({ "log_info_lag": "1s" }),
        json!({ "proof_lag": "1s" }),
        json!({ "log_info_lag": "700ms", "proof_lag": "1s" }),
    ] {
        let (report, _) = followed(&rekor, &json!({}));
        all_kept(&report);
        assert_eq!(observed(&report, "heads_unjoined"), Some(0.0), "{rekor}");
    }
}

/// Some fifty checkpoints: one after another their proofs would take half a minute.
#[test]
fn checkpoints_whose_proofs_are_slow_are_joined_within_the_time_to_drain() {
    let slow = json!({ "rules": [{ "endpoints": ["log-proof"], "latency": { "constant": "500ms" } }] });
    let rekor = json!({ "integration_delay": "1ms", "faults": slow });
    let (report, services) = followed_until("16s", &rekor, &json!({ "read_back": "none" }));
    all_kept(&report);
    assert_eq!(observed(&report, "heads_unjoined"), Some(0.0));
    let (joined, proofs) =
        (observed(&report, "heads_joined").unwrap(), &services.lab.rekor.stats().requests["log-proof"]);
    assert!(proofs[&200] as f64 <= joined + 20.0, "each is joined once: {joined} by {proofs:?}");
}

#[test]
fn a_checkpoint_of_rekor_on_tiles_that_a_cache_keeps_for_a_while_is_of_no_tree_that_shrank() {
    let lab = json!({ "rekor_tiles": { "checkpoint_interval": "50ms", "cache_age": "700ms" } });
    let services = Services::of(serde_json::from_value(lab).unwrap());
    let flows = json!({ "rekor": "v2", "timestamp": false });
    let load = json!({ "rate": "40/s", "operations": FLOWS });
    let workload = json!({ "name": "flows", "sigstore_sign": flows, "load": load });
    let phases = json!({ "measurement": "10s", "drain": "60s" });
    let target = json!({ "lab": { "sigstore": {} } });
    let plan = json!({ "target": target, "workloads": [workload], "phases": phases });
    fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
    let report = services.report(PLAN, &[]);
    all_kept(&report);
    assert!(observed(&report, "stale_heads").is_some_and(|stale| stale > 0.0), "{:?}", notes(&report));
}

#[test]
fn where_entries_cannot_be_asked_for_together_they_are_read_one_by_one() {
    let (report, services) = followed(&json!({ "retrieval": false }), &json!({}));
    all_kept(&report);
    assert_eq!(services.lab.rekor.stats().requests["get-entry"][&200], FLOWS);
    assert!(notes(&report).iter().any(|note| note.contains("one by one")), "{:?}", notes(&report));
}

#[test]
fn entries_that_cannot_be_read_back_are_unchecked_and_not_lost() {
    let refuses =
        json!({ "rules": [{ "endpoints": ["get-entry"], "refuse": { "share": 1, "status": 501 } }] });
    let (report, _) = followed(&json!({ "retrieval": false, "faults": refuses }), &json!({}));
    let promises = &report.promises.all;
    assert_eq!(
        (promises.kept, promises.unchecked, promises.broken),
        (FLOWS, FLOWS, 0),
        "{:?}",
        report.breaches
    );
    assert_eq!(report.verdict.exit_code, 5);
    assert!(notes(&report).iter().any(|note| note.contains("cannot be read back")), "{:?}", notes(&report));
}

#[test]
fn a_log_whose_information_is_refused_leaves_its_entries_unchecked() {
    let refuses = json!({ "rules": [{ "endpoints": ["log-info", "log-proof"], "refuse": { "share": 1, "status": 501 } }] });
    let (report, _) = followed_until("3s", &json!({ "faults": refuses }), &json!({}));
    let promises = &report.promises.all;
    assert_eq!((promises.unchecked, promises.broken), (FLOWS, 0), "{:?}", report.breaches);
    assert_eq!(report.verdict.exit_code, 5);
}

const FLOWS: u64 = 60;
const PLAN: &str = "plan.json";

#[test]
fn the_arrivals_end_once_the_log_of_either_rekor_has_so_many_entries() {
    for (rekor, stop) in [("v1", "tree_size"), ("v2", "tree_size"), ("v1", "tree_growth")] {
        let lab = json!({ "rekor_tiles": { "checkpoint_interval": "50ms" } });
        let services = Services::of(serde_json::from_value(lab).unwrap());
        let workload = json!({
            "name": "flows",
            "sigstore_sign": { "fulcio": "none", "rekor": rekor, "timestamp": false },
            "load": { "users": 2, "think": "10ms" },
        });
        let plan = json!({
            "target": { "lab": { "sigstore": {} } },
            "workloads": [workload],
            "stop": { stop: 40 },
            "phases": { "drain": "60s" },
        });
        fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
        let report = services.report(PLAN, &[]);
        let why = if stop == "tree_size" { "tree_size reached" } else { "tree_size grew by 40" };
        assert!(report.run.stopped.contains(why), "{rekor} {stop}: {}", report.run.stopped);
        let accepted = report.totals.all.fates.accepted;
        assert!(accepted >= 40, "{rekor} {stop}: {accepted}");
    }
}

/// Each of its trees proves what it shows, and nobody who only reads sees more than one answer at once.
#[test]
fn a_log_that_forks_is_caught_by_whoever_verifies_by_it_where_nobody_else_follows_it() {
    let fork = |kind: &str| json!([{ "kind": kind, "after": 30 }]);
    let v1 = json!({ "rekor": { "integration_delay": "20ms", "lies": fork("forked-log-info") } });
    let v2 = json!({ "rekor_tiles": { "checkpoint_interval": "100ms", "lies": fork("forked-checkpoint") } });
    for (rekor, lab) in [("v1", v1), ("v2", v2)] {
        let services = Services::of(serde_json::from_value(lab).unwrap());
        let sign = json!({ "rekor": rekor, "fulcio": "none", "timestamp": false, "audit": false });
        let verify = json!({ "rekor": rekor, "timestamp_chain": false });
        let plan = json!({
            "target": { "lab": { "sigstore": {} } },
            "workloads": [
                { "name": "flows", "sigstore_sign": sign, "load": { "rate": "30/s", "operations": 90 } },
                { "name": "verifies", "sigstore_verify": verify, "load": { "rate": "40/s" } },
            ],
            "phases": { "measurement": "6s", "drain": "60s" },
        });
        fs::write(services.folder.path().join(PLAN), plan.to_string()).unwrap();
        let report = services.report(PLAN, &[]);
        let forks = report.breaches.iter().filter(|breach| breach.kind == "forked-checkpoint");
        assert!(forks.filter(|breach| breach.seq.is_none()).count() == 1, "{rekor}: {:?}", report.breaches);
        assert_eq!(report.verdict.exit_code, 4, "{rekor}");
    }
}

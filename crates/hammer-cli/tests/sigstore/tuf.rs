//! The TUF repository: whom to trust comes from it, clients ask for what they lack alone, and a mirror that lags is no liar.

use hammer_lab_sigstore::SigstoreLabPlan;
use serde_json::{Value, json};

use crate::on_time::exit_if_on_time;
use crate::services::Services;

const SIGN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/lies/sigstore/tsa-timestamp-in-the-past-honest.yaml");
const REFRESH: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/lies/sigstore/tuf-rolled-back-timestamp-honest.yaml");

fn services(tuf: &Value) -> Services {
    let plan = json!({ "tuf": tuf });
    Services::of(serde_json::from_value::<SigstoreLabPlan>(plan).unwrap())
}

/// What changes of the target make it trust the repository alone.
fn without_file() -> Vec<String> {
    vec!["target.sigstore.trusted_root=null".to_owned()]
}

#[test]
fn whom_to_trust_comes_from_the_repository_and_the_report_says_so() {
    let services = services(&json!({ "rotate_root_every": "1ms" }));
    let report = services.report(SIGN, &without_file());
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    let promises = &report.promises.all;
    assert!(promises.made >= 40 && promises.kept == promises.made, "{promises:?}");
    let told = serde_json::to_string(&report).unwrap();
    let said = format!("as the TUF repository {} had it before the run", services.lab.tuf.url);
    assert!(told.contains(&said), "{told}");
    let requests = services.lab.tuf.stats().requests;
    assert_eq!((requests["target"][&200], requests["timestamp"][&200]), (1, 1));
    // Of 32 roots that there are by now or soon.
    assert!(requests["root"][&200] >= 1);
}

#[test]
fn a_repository_that_is_not_believed_ends_the_command_with_its_url_and_the_role() {
    let services = services(&json!({ "lies": [ { "kind": "expired-timestamp" } ] }));
    let ended = services.run(SIGN, &without_file());
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    for said in ["timestamp (/timestamp.json)", services.lab.tuf.url.as_str(), "it expired at", "tuf.url"] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
}

#[test]
fn a_warm_client_asks_for_the_next_root_and_the_timestamp_alone() {
    let services = services(&json!({}));
    let changes = [
        "workloads.0.sigstore_tuf.cache=warm".to_owned(),
        "workloads.0.load={ users: 1, operations: 20 }".to_owned(),
        "phases={ drain: 30s }".to_owned(),
    ];
    let report = services.report(REFRESH, &changes);
    assert_eq!(report.promises.all.kept, 20, "{:?}", report.breaches);
    let requests = services.lab.tuf.stats().requests;
    let count = |endpoint: &str| requests[endpoint].values().sum::<u64>();
    // A new timestamp in between names the same snapshot or the next.
    assert_eq!((count("root"), count("timestamp"), count("target")), (20, 20, 1));
    assert!(count("snapshot") <= 2 && count("targets") == 1);
}

#[test]
fn a_mirror_that_lags_within_what_is_stated_is_believed_and_beyond_that_it_is_rolled_back() {
    let lagging = || services(&json!({ "sign_every": "100ms", "mirror_every": "1s" }));
    let with = |stale: &str| [format!("workloads.0.sigstore_tuf.stale_for={stale}")];
    let report = lagging().report(REFRESH, &with("30s"));
    assert_eq!((report.promises.all.broken, report.promises.all.unchecked), (0, 0), "{:?}", report.breaches);
    assert!(report.promises.all.kept >= 40);
    let report = lagging().report(REFRESH, &with("0s"));
    assert!(report.promises.all.broken >= 10, "{:?}", report.promises);
    assert!(report.breaches.iter().all(|breach| breach.kind == "metadata-rollback"), "{:?}", report.breaches);
}

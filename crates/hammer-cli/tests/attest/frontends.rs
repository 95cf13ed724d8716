//! Several frontends of one verification, each with sessions of its own.

use hammer_lab_attest::{AttestLabHandle, AttestLabPlan};
use hammer_report::Report;
use hammer_report::report::Cause;
use serde_json::{Value, json};

use crate::hammer::Ended;
use crate::verifier::{of, planned};

const DEVICES: u64 = 20;

fn lab(settings: Value) -> AttestLabHandle {
    AttestLabHandle::spawn(serde_json::from_value::<AttestLabPlan>(settings).unwrap()).unwrap()
}

/// Provisions the devices of the plans at one frontend.
fn provisioned(lab: &AttestLabHandle) {
    let plan = json!({
        "target": { "attest": { "provisioning_url": lab.url } },
        "workloads": [
            { "name": "provision", "attest_provision": {}, "load": { "users": 2, "operations": DEVICES } },
        ],
        "phases": { "measurement": "30s", "drain": "30s" },
    });
    assert_eq!(planned(&plan).report().totals.all.fates.accepted, DEVICES);
}

/// Sessions at both frontends.
fn verified(labs: &[AttestLabHandle; 2], verify: &Value, load: &Value) -> Ended {
    let urls = [&labs[0].url, &labs[1].url];
    let mut verify = verify.clone();
    verify["devices"] = json!({ "count": DEVICES });
    planned(&json!({
        "target": { "attest": { "verification_url": urls } },
        "workloads": [{ "name": "verify", "attest_verify": verify, "load": load }],
        "phases": { "measurement": "6s", "drain": "30s" },
    }))
}

fn refused<'a>(report: &'a Report, series: &str, why: &str) -> Option<&'a Cause> {
    of(report, series).measurement.causes.iter().find(|cause| cause.cause == why)
}

fn answered(lab: &AttestLabHandle, endpoint: &str, status: u16) -> u64 {
    let requests = lab.stats().requests;
    requests.get(endpoint).and_then(|by_status| by_status.get(&status)).copied().unwrap_or(0)
}

#[test]
fn a_session_stays_with_the_frontend_that_opened_it_unless_the_plan_lets_it_go() {
    let labs = [lab(json!({})), lab(json!({}))];
    labs.iter().for_each(provisioned);
    let load = json!({ "users": 2, "operations": 60 });
    let ended = verified(&labs, &json!({ "read_result": true }), &load);
    let report = ended.report();
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    assert_eq!((report.promises.all.made, report.promises.all.kept), (120, 120), "{}", ended.stderr);
    let opened = labs.each_ref().map(|lab| answered(lab, "new-session", 201));
    assert!(opened.iter().all(|count| *count >= 20) && opened.iter().sum::<u64>() == 60, "{opened:?}");
    for (lab, opened) in labs.iter().zip(opened) {
        assert_eq!((answered(lab, "evidence", 200), answered(lab, "delete", 204)), (opened, opened));
    }

    let ended = verified(&labs, &json!({ "pinned": false }), &load);
    let report = ended.report();
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    let whole = &of(&report, "verify/verify").measurement.counts.fates;
    let lost = refused(&report, "verify/evidence", "session not found").unwrap();
    assert_eq!((lost.fate.as_str(), lost.count + whole.accepted), ("refused", 60));
    assert!(lost.count > 10, "{lost:?}");
    assert_eq!(lost.count, labs.iter().map(|lab| answered(lab, "evidence", 404)).sum::<u64>());
    let promises = &report.promises.all;
    assert_eq!((promises.made, promises.kept), (whole.accepted, whole.accepted), "{promises:?}");
    assert!(lost.answer.as_ref().unwrap().contains("session not found for"), "{lost:?}");
    assert!(ended.stderr.contains("`pinned: false`"), "{}", ended.stderr);
}

#[test]
fn a_frontend_that_is_gone_for_a_while_takes_its_sessions_along_and_accuses_nobody() {
    let faults = json!({ "restarts": [{ "at": "2s", "down": "500ms" }] });
    let labs = [lab(json!({})), lab(json!({ "faults": faults }))];
    labs.iter().for_each(provisioned);
    labs[1].restart_faults();
    let ended = verified(&labs, &json!({}), &json!({ "rate": "100/s" }));
    let report = ended.report();
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    let promises = &report.promises.all;
    let whole = &of(&report, "verify/verify").measurement.counts.fates;
    assert_eq!(promises.kept, promises.made, "{promises:?}");
    let away = whole.unreachable + whole.refused;
    assert!((1..100).contains(&away) && whole.accepted + away == 600, "{whole:?}");
    // In the 2 s before it was gone there were some 100.
    assert!(answered(&labs[1], "evidence", 200) > 130, "{:?}", labs[1].stats());
}

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

#[test]
fn an_embedded_verifier_that_starts_late_is_asked_what_it_is_once_it_is_ready() {
    for answer in ["unavailable", "no-trusted-services", "initializing"] {
        let late = json!({ "ready_after": "1s", "answer": answer });
        let ended = planned(&json!({
            "target": {
                "lab": { "attest": { "starts_late": late } },
                "ready": { "expect": { "json": { "service-state": "READY" } }, "timeout": "30s" },
            },
            "workloads": [{
                "name": "verify", "attest_verify": { "provision_at_start": true },
                "load": { "users": 2, "operations": 20 },
            }],
            "phases": { "measurement": "30s", "drain": "30s" },
        }));
        let report = ended.report();
        assert_eq!(report.promises.all.kept, 20, "{answer}: {}", ended.stderr);
        let events = serde_json::to_string(&report.events).unwrap();
        assert!(events.contains("until the target was ready"), "{answer}: {events}");
    }
}

#[test]
fn a_frontend_that_is_not_there_at_the_start_is_told_and_the_others_are_loaded() {
    let labs = [lab(json!({})), lab(json!({}))];
    labs.iter().for_each(provisioned);
    // Nobody listens there any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for is_first in [true, false] {
        let urls = if is_first {
            [format!("http://{gone}"), labs[0].url.clone()]
        } else {
            [labs[0].url.clone(), format!("http://{gone}")]
        };
        let report = planned(&json!({
            "target": { "attest": { "verification_url": urls } },
            "workloads": [{
                "name": "verify", "attest_verify": { "devices": { "count": DEVICES } },
                "load": { "users": 2, "operations": 40 },
            }],
            "phases": { "measurement": "30s", "drain": "30s" },
        }))
        .report();
        assert!(report.breaches.is_empty() && report.promises.all.kept >= 15, "{:?}", report.promises.all);
        let events = serde_json::to_string(&report.events).unwrap();
        assert!(
            events.contains(&format!("{gone}, a frontend of verification, showed no discovery document")),
            "{events}"
        );
    }
}

#[test]
fn while_frontends_are_of_two_releases_what_either_does_of_a_bad_device_is_right_and_what_neither_does_is_not()
 {
    let of = |settings: Value, mix: Value| {
        let labs = ["v0.0.2502", "v0.0.2608"].map(|release| {
            let mut settings = settings.clone();
            settings["release"] = json!(release);
            lab(settings)
        });
        labs.iter().for_each(provisioned);
        let bad = json!({ "share": "60%", "mix": mix });
        let load = json!({ "users": 2, "operations": 90 });
        let ended = verified(&labs, &json!({ "bad": bad }), &load);
        (ended.report(), labs)
    };
    let (report, labs) =
        of(json!({}), json!({ "wrong-signer": 1, "extra-component": 1, "wrong-measurement": 1 }));
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    assert_eq!(report.promises.all.kept, 90);
    assert!(labs.iter().all(|lab| answered(lab, "evidence", 200) > 20));
    let events = serde_json::to_string(&report.events).unwrap();
    assert!(events.contains("the frontends of verification are of several releases"), "{events}");

    // What either affirms anyway is no lie that could be seen; what neither does is one, of each of them.
    let lies = json!({ "lies": [{ "kind": "affirming-bad", "times": 1 }] });
    let (report, _) = of(lies, json!({ "wrong-measurement": 1 }));
    let kinds: Vec<&str> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert_eq!(kinds, ["affirmed-bad-device"; 2]);
}

#[test]
fn endorsements_that_the_store_had_before_are_told_though_they_are_accepted() {
    let lab = lab(json!({ "release": "v0.0.2608" }));
    let plan = json!({
        "target": { "attest": { "provisioning_url": lab.url } },
        "workloads": [
            { "name": "provision", "attest_provision": {}, "load": { "users": 2, "operations": DEVICES } },
        ],
        "phases": { "measurement": "30s", "drain": "30s" },
    });
    let said = "20 of 20 accepted endorsements of provision were in store before";
    for is_known in [false, true] {
        let ended = planned(&plan);
        let report = ended.report();
        assert_eq!(report.totals.all.fates.accepted, DEVICES);
        let text = hammer_report::text::render(&report).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.contains(said), is_known, "{text}");
        assert_eq!(text.contains("20 in store before (accepted)"), is_known, "{text}");
    }
}

#[test]
fn that_a_verifier_has_none_of_the_devices_is_said_and_what_it_answered_is_kept_in_words() {
    let labs = [lab(json!({})), lab(json!({}))];
    let folder = crate::folder::Folder::new();
    let of = |devices: Value| {
        json!({
            "target": { "attest": { "verification_url": labs[0].url } },
            "workloads": [{
                "name": "verify", "attest_verify": { "devices": devices }, "load": { "users": 2, "operations": 10 },
            }],
            "phases": { "measurement": "30s", "drain": "30s" },
        })
    };
    let plan = of(json!({ "count": DEVICES, "models": 3 }));
    let report = crate::verifier::planned_in(&folder, &plan, &[]).report();
    assert_eq!((report.verdict.exit_code, report.promises.all.broken), (4, 10));
    let events = serde_json::to_string(&report.events).unwrap();
    let said = "10 of 10 results of good devices of verify affirmed nothing";
    assert!(
        events.contains(said) && events.contains("seed 0, `devices.stream` 0 and `devices.models` 3"),
        "{events}"
    );
    let files = std::fs::read_dir(folder.path(".")).unwrap().map(|file| file.unwrap().path());
    let evidence =
        files.into_iter().find(|path| path.to_string_lossy().ends_with("-evidence.jsonl")).unwrap();
    let lines = std::fs::read_to_string(evidence).unwrap();
    let line: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let shown = &line["shown"];
    assert_eq!(
        (&shown["class"], shown["result"].as_str().unwrap().split('.').count()),
        (&json!("good"), 3),
        "{line}"
    );
    assert!(shown["device"].as_u64().unwrap() < DEVICES, "{line}");

    labs.iter().for_each(provisioned);
    let report = planned(&of(json!({ "count": DEVICES }))).report();
    let events = serde_json::to_string(&report.events).unwrap();
    assert!(report.promises.all.kept == 10 && !events.contains("affirmed nothing"), "{events}");
}

#[test]
fn devices_that_are_spread_over_a_million_numbers_are_provisioned_and_verified() {
    let devices = json!({ "stride": 5_000 });
    let report = planned(&json!({
        "target": { "lab": { "attest": {} } },
        "workloads": [
            { "name": "provision", "attest_provision": { "devices": devices } },
            { "name": "verify", "attest_verify": { "devices": devices }, "load": { "users": 4, "operations": 300 } },
        ],
        "fill": { "workload": "provision", "operations": 200, "users": 4 },
        "phases": { "measurement": "30s", "drain": "30s" },
    }))
    .report();
    assert_eq!((report.promises.all.made, report.promises.all.kept), (300, 300), "{:?}", report.breaches);
}

#[test]
fn counted_devices_are_drawn_once_they_were_taken_in_where_the_plan_provisions_them() {
    let of = |target: Value, verify: Value, load: Value| {
        planned(&json!({
            "target": target,
            "workloads": [
                { "name": "provision", "attest_provision": { "devices": { "count": 40 } } },
                { "name": "verify", "attest_verify": verify, "load": load },
            ],
            "fill": { "workload": "provision", "operations": 5, "users": 2 },
            "phases": { "measurement": "30s", "drain": "30s" },
        }))
        .report()
    };
    let verify = json!({ "devices": { "count": 40 } });
    let load = json!({ "users": 4, "operations": 80 });
    let report = of(json!({ "lab": { "attest": {} } }), verify, load.clone());
    assert_eq!(report.promises.all.kept, 80, "{:?}", report.breaches);
    // Users verify what others of them have provisioned by then, on a verifier that may lag for as long as the plan says.
    let lab = lab(json!({ "store": { "write_time": "20ms", "workers": 1 } }));
    let urls =
        json!({ "provisioning_url": lab.url, "verification_url": lab.url, "provisioning_delay": "200ms" });
    let verify = json!({ "devices": { "count": 4 }, "provision_at_start": true });
    let report = of(json!({ "attest": urls }), verify, load);
    assert_eq!(report.promises.all.kept, 80, "{:?}", report.breaches);
}

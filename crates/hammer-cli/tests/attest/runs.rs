//! What runs report is what the verifier counted.

use std::collections::BTreeMap;

use hammer_attest::DeviceClass;
use hammer_lab_attest::{AttestLabPlan, LostSessions, Processing, Release};
use hammer_report::report::Fates;
use hammer_values::{Share, TimeSpan};
use serde_json::json;

use crate::folder::Folder;
use crate::hammer::hammer;
use crate::on_time::exit_if_on_time;
use crate::verifier::{Came, of, planned, run, run_on};

const QUICKSTART: &str = "attest-quickstart";
const SHORT: [&str; 2] =
    ["phases={ measurement: 3s, drain: 30s }", "workloads.1.attest_verify.bad.share=30%"];

fn fates(came: &Came, series: &str) -> Fates {
    of(&came.report(), series).measurement.counts.fates
}

/// The promises of each class of devices: made, and kept.
fn by_class(came: &Came) -> BTreeMap<String, (u64, u64)> {
    let kinds = came.report().promises.by_kind;
    kinds.into_iter().map(|kind| (kind.kind, (kind.promises.made, kind.promises.kept))).collect()
}

#[test]
fn devices_of_each_class_are_judged_as_both_releases_do() {
    for release in [Release::V2502, Release::V2608] {
        let came = run_on(AttestLabPlan { release, ..AttestLabPlan::default() }, QUICKSTART, &SHORT);
        let report = came.report();
        assert!(report.breaches.is_empty(), "{release:?} {:?}", report.breaches);
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
        let (provisioned, verified) = (fates(&came, "provision/provision"), fates(&came, "verify/verify"));
        assert!(provisioned.accepted >= 75 && verified.accepted >= 300, "{provisioned:?} {verified:?}");
        assert_eq!(came.answered("submit", 200), provisioned.accepted);
        for (series, endpoint, status) in
            [("new-session", "new-session", 201), ("evidence", "evidence", 200), ("delete", "delete", 204)]
        {
            let accepted = fates(&came, &format!("verify/{series}")).accepted;
            assert_eq!(
                (accepted, came.answered(endpoint, status)),
                (verified.accepted, accepted),
                "{series}"
            );
        }
        let classes = by_class(&came);
        assert!(classes.values().all(|(made, kept)| made == kept), "{classes:?}");
        // All classes are drawn, each some seven times.
        assert!(DeviceClass::NAMES.iter().all(|class| classes[*class].0 > 0), "{classes:?}");
        assert_eq!(classes.values().map(|(made, _)| made).sum::<u64>(), verified.accepted);
    }
}

#[test]
fn a_nonce_of_the_service_and_tokens_of_the_first_profile_are_verified_as_well() {
    for change in [
        "workloads.1.attest_verify.nonce=service",
        "workloads.1.attest_verify.nonce=device",
        "workloads.1.attest_verify.profile=psa1",
        "workloads.1.attest_verify={ read_result: true, delete: false }",
        "workloads.1.attest_verify.devices.models=3",
    ] {
        let models = "workloads.0.attest_provision.devices.models=3";
        let same = if change.contains("models") { vec![models, change] } else { vec![change] };
        let came = run(QUICKSTART, &[&["phases={ measurement: 2s, drain: 30s }"], same.as_slice()].concat());
        let report = came.report();
        assert!(report.breaches.is_empty(), "{change}: {:?}", report.breaches);
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{change}: {:?}", report.verdict);
        assert!(report.promises.all.kept >= 200, "{change}: {:?}", report.promises.all);
    }
}

#[test]
fn a_result_that_takes_its_time_is_polled_for() {
    let processing = Some(Processing { polls: 2, time: TimeSpan::from_millis(1) });
    let lab = AttestLabPlan { processing, ..AttestLabPlan::default() };
    let polls = "workloads.1.attest_verify.poll_every=5ms";
    let came = run_on(lab, QUICKSTART, &["phases={ measurement: 2s, drain: 30s }", polls]);
    let report = came.report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {:?}", report.verdict, report.breaches);
    let (verified, polled) = (fates(&came, "verify/verify"), fates(&came, "verify/poll"));
    assert!(verified.accepted > 100 && polled.accepted >= 2 * verified.accepted, "{verified:?} {polled:?}");
}

#[test]
fn a_session_that_is_lost_is_a_refusal_with_its_cause_and_accuses_nobody() {
    let lost_sessions = Some(LostSessions { share: Share::percent(30), at: None });
    let lab = AttestLabPlan { lost_sessions, ..AttestLabPlan::default() };
    let came =
        run_on(lab, QUICKSTART, &["phases={ measurement: 2s, drain: 30s }", "workloads.1.thresholds=[]"]);
    let report = came.report();
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    let evidence = &of(&report, "verify/evidence").measurement;
    let lost = evidence.causes.iter().find(|cause| cause.cause == "session not found").expect("a cause");
    assert_eq!((lost.fate.as_str(), lost.count), ("refused", came.answered("evidence", 404)));
    assert!(lost.count > 20, "{lost:?}");
}

#[test]
fn a_verifier_that_was_given_nothing_is_refused_before_the_run() {
    let came = run(QUICKSTART, &["workloads.0.attest_provision.devices.stream=1"]);
    assert_eq!(came.ended.code, 2);
    assert!(
        came.ended.stderr.contains("no workload of the plan provisions such devices"),
        "{}",
        came.ended.stderr
    );
}

#[test]
fn flows_that_wait_for_the_first_device_are_told_apart_from_a_slow_service() {
    let of = |fill: serde_json::Value| {
        let report = planned(&json!({
            "target": { "lab": { "attest": { "store": { "workers": 1, "write_time": "400ms" } } } },
            "workloads": [
                { "name": "provision", "attest_provision": {}, "load": { "users": 1, "operations": 2 } },
                { "name": "verify", "attest_verify": {}, "load": { "rate": "50/s" }, "in_flight": 200 },
            ],
            "fill": fill,
            "phases": { "measurement": "1s", "drain": "30s" },
        }))
        .report();
        assert_eq!(report.promises.all.kept, 50, "{:?}", report.totals);
        serde_json::to_string(&report.events).unwrap()
    };
    let said = "until a device was provisioned that they could verify";
    let (waited, filled) =
        (of(json!(null)), of(json!({ "workload": "provision", "operations": 1, "users": 1 })));
    assert!(waited.contains(said) && !filled.contains(said), "{waited} {filled}");
}

#[test]
fn what_is_said_of_devices_is_counted_for_each_run_of_a_plan_alone() {
    let folder = Folder::new();
    let plan = json!({
        "rounds": 2,
        "target": { "lab": { "keep": true, "attest": {} } },
        "workloads": [
            { "name": "provision", "attest_provision": {}, "load": { "users": 1, "operations": 5 } },
            { "name": "verify", "attest_verify": {}, "load": { "users": 1, "operations": 20 } },
        ],
        "phases": { "measurement": "30s", "drain": "30s" },
    });
    let file = folder.write("plan.yaml", &plan.to_string());
    hammer(&["run", &file, "--out", &folder.path("report.json")]);
    for run in 1..=2 {
        let json = std::fs::read_to_string(folder.path(&format!("report.{run}.json"))).unwrap();
        let report = hammer_report::Report::parse(&json).unwrap();
        let mut said = report.observations.iter().filter(|observation| observation.name == "affirming");
        let last = said.next().unwrap().last.value;
        assert_eq!((report.promises.all.kept, last), (20, 20.0), "run {run}");
    }
}

#[test]
fn each_document_of_an_embedded_verifier_is_read() {
    let report = planned(&json!({
        "target": { "lab": { "attest": {} } },
        "workloads": [{
            "name": "documents", "attest_well_known": { "mix": { "provisioning": 1, "verification": 1, "management": 1 } },
            "load": { "users": 2, "operations": 60 },
        }],
        "phases": { "measurement": "30s", "drain": "30s" },
    }))
    .report();
    let read = ["provisioning", "verification", "management"]
        .map(|kind| of(&report, &format!("documents/{kind}")).measurement.counts.fates.accepted);
    assert!(read.iter().all(|count| *count > 5) && read.iter().sum::<u64>() == 60, "{read:?}");
}

#[test]
fn what_would_silently_verify_something_else_is_refused_before_the_run() {
    for (change, part) in [
        (
            "workloads.1.attest_verify.bad={ mix: { garbage: 1 } }",
            "without a share of bad devices none is drawn",
        ),
        ("workloads.1.attest_verify.bad={ share: 50%, mix: {} }", "name what is wrong"),
        ("workloads.1.attest_verify.bad={ share: 50%, mix: { good: 1 } }", "name what is wrong"),
        ("workloads.1.attest_verify.provision_at_start=true", "it is users who provision as they enter"),
        ("workloads.1.attest_verify.poll_every=0s", "it is 1ms at least"),
        ("workloads.0.attest_provision.devices.first=18446744073709551610", "it is 4611686018427387904"),
        ("workloads.0.attest_provision.devices.first=67108864", "draw devices below 67108864"),
        (
            "workloads.1={ name: verify, attest_verify: { provision_at_start: true, devices: { first: 67108864 } }, load: { users: 1 } }",
            "draw devices below 67108864",
        ),
    ] {
        let came = run(QUICKSTART, &[change]);
        assert!(came.ended.code == 2 && came.ended.stderr.contains(part), "{change}: {}", came.ended.stderr);
    }
}

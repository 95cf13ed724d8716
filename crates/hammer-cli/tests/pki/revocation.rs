//! Signers of several authorities, whose lists of revoked certificates hammer serves, and a service that fetches them.

use std::fs;
use std::path::Path;

use hammer_lab_pki::{PkiLabPlan, RevocationPlan};
use hammer_report::Report;
use hammer_report::report::Event;
use hammer_values::TimeSpan;
use serde_json::{Value, json};

use crate::hammer::{Ended, hammer};
use crate::on_time::exit_if_on_time;
use crate::{Service, accepted};

/// A service that trusts the authorities in that PEM, and fetches their lists.
fn fetching(roots: &str) -> Service {
    let kept = TimeSpan::from_secs(3600);
    let revocation = Some(RevocationPlan { fetch: true, delay: TimeSpan::ZERO, kept });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authorities.pem");
    fs::write(&file, roots).unwrap();
    Service::of(PkiLabPlan { revocation, roots_pem_files: vec![file], ..PkiLabPlan::default() })
}

/// A plan of two seconds whose target has these keys besides.
fn written(path: &Path, target: &Value) {
    let plan = json!({
        "seed": 9,
        "target": target,
        "workloads": [
            { "name": "sign", "pki_sign": { "size": "4KiB" }, "load": { "rate": "20/s" }, "timeout": "60s" },
            { "name": "login", "pki_authenticate": {}, "load": { "rate": "20/s" }, "timeout": "60s" },
        ],
        "phases": { "measurement": "2s", "drain": "60s" },
    });
    fs::write(path, plan.to_string()).unwrap();
}

fn authorities(number: u64, crl: &Value) -> Value {
    json!({ "made_signers": 12, "made_authorities": { "number": number, "crl": crl } })
}

fn observed(report: &Report, name: &str) -> u64 {
    let seen = report.observations.iter().find(|seen| seen.name == name);
    seen.unwrap_or_else(|| panic!("no {name}")).last.value as u64
}

fn notes(report: &Report) -> String {
    let notes = report.events.iter().filter_map(|event| match event {
        Event::Note { text, .. } => Some(text.as_str()),
        _ => None,
    });
    notes.collect::<Vec<_>>().join("\n")
}

fn roots(arguments: &[&str]) -> Ended {
    let ended = hammer(&[&["pki", "roots"], arguments].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    ended
}

#[test]
fn each_list_is_fetched_once_by_the_count_of_hammer_and_of_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.yaml");
    let crl = json!({ "size": "16KiB", "delay": "50ms" });
    written(&plan, &json!({ "pki": authorities(4, &crl) }));
    let trusted = roots(&[&plan.to_string_lossy()]).stdout;
    assert_eq!(trusted.matches("BEGIN CERTIFICATE").count(), 4);
    assert_eq!(roots(&["--authorities", "4", "--seed", "9"]).stdout, trusted);

    let service = fetching(&trusted);
    let mut target = service.target();
    target.as_object_mut().unwrap().extend(authorities(4, &crl).as_object().unwrap().clone());
    written(&plan, &json!({ "pki": target }));
    let run = ["run", &plan.to_string_lossy(), "--out", "-"];
    let report = hammer(&run).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    assert!(accepted(&report, "sign/cades") > 0);
    assert_eq!((observed(&report, "crl/fetches"), service.lab.stats().revocation_lists), (4, 4));
    for authority in 0..4 {
        assert_eq!(observed(&report, &format!("crl/{authority}/fetches")), 1);
    }
    let bytes = observed(&report, "crl/bytes");
    assert!((4 * (16_384 - 70)..=4 * 16_384).contains(&bytes), "{bytes}");
    assert_eq!([observed(&report, "crl/elsewhere"), observed(&report, "crl/given_up")], [0; 2]);
    assert!(!notes(&report).contains("no list of revoked"), "{}", notes(&report));
}

#[test]
fn a_service_that_fetches_no_list_is_told_and_no_failure() {
    let service = Service::of(PkiLabPlan::default());
    let load = ["--authorities", "2", "--size", "4KiB", "--rate", "20/s", "-z", "1s"];
    let report = service.pki("cades", &load).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    assert_eq!(observed(&report, "crl/fetches"), 0);
    let said = "no list of revoked certificates (CRL) was fetched: the service does not check revocation";
    assert!(notes(&report).contains(said), "{}", notes(&report));
}

#[test]
fn an_embedded_service_trusts_the_authorities_of_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.yaml");
    let lab = json!({ "pki": { "revocation": { "fetch": true } } });
    written(&plan, &json!({ "lab": lab, "pki": authorities(3, &json!({ "size": "1KiB" })) }));
    let observe = "observe=[{name: lists, every: 1s, lab: revocation_lists}]";
    let report = hammer(&["run", &plan.to_string_lossy(), "--out", "-", "--set", observe]).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    assert_eq!([observed(&report, "crl/fetches"), observed(&report, "observe/lists")], [3; 2]);
}

#[test]
fn nothing_is_signed_where_lists_cannot_be_reached_and_nobody_fetched_one() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.yaml");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let lab = json!({ "pki": { "revocation": { "fetch": true } } });
    let crl = json!({ "url": format!("http://{nobody}/lists/") });
    written(&plan, &json!({ "lab": lab, "pki": authorities(3, &crl) }));
    let report = hammer(&["run", &plan.to_string_lossy(), "--out", "-"]).report();
    assert_eq!(exit_if_on_time(&report.verdict), 1, "{:?}", report.verdict);
    assert_eq!((accepted(&report, "sign/cades"), report.promises.all.made), (0, 0));
    let reasons = format!("{:?}", report.verdict.reasons);
    assert!(reasons.contains("revocation status of the certificate could not be determined"), "{reasons}");
    assert_eq!(observed(&report, "crl/fetches"), 0);
    assert!(
        notes(&report).contains("no list of revoked certificates (CRL) was fetched"),
        "{}",
        notes(&report)
    );
}

#[test]
fn one_line_has_authorities_too() {
    let service = fetching(&roots(&["--authorities", "3"]).stdout);
    let lists = ["--authorities", "3", "--crl-size", "2KiB", "--crl-delay", "10ms"];
    let load = ["--size", "4KiB", "--rate", "20/s", "-z", "1s"];
    let report = service.pki("cades", &[&lists[..], &load].concat()).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    assert_eq!((observed(&report, "crl/fetches"), service.lab.stats().revocation_lists), (3, 3));
    // It trusts nobody else.
    let report = service.pki("cades", &load).report();
    assert_eq!((accepted(&report, "sign/cades"), exit_if_on_time(&report.verdict)), (0, 1));
}

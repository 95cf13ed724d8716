//! What the arguments of `hammer attest provision`, `verify` and `well-known` become.

use hammer_lab_attest::{AttestLabHandle, AttestLabPlan};
use hammer_report::Report;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::hammer::{Ended, hammer};
use crate::on_time::exit_if_on_time;
use crate::plan::refused;
use crate::server::Server;
use crate::verifier::of;

/// A verifier of those settings.
fn verifier(settings: Value) -> AttestLabHandle {
    AttestLabHandle::spawn(serde_json::from_value::<AttestLabPlan>(settings).unwrap()).unwrap()
}

fn attest(subcommand: &str, url: &str, more: &[&str]) -> Ended {
    hammer(&[&["attest", subcommand, url, "--out", "-"], more].concat())
}

/// The report of a line whose operations were all accepted, and whose promises were all kept.
#[track_caller]
fn kept(ended: &Ended) -> Report {
    let report = ended.report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{}", ended.stderr);
    let (promises, fates) = (&report.promises.all, &report.totals.all.fates);
    assert_eq!(promises.kept, promises.made, "{}", ended.stderr);
    let unsent = fates.starved + fates.shed;
    assert_eq!(fates.accepted + unsent, report.totals.all.offered, "{}", ended.stderr);
    report
}

/// A run's plan, below `path`.
fn planned<'a>(report: &'a Report, path: &str) -> &'a Value {
    report.plan.pointer(path).unwrap_or(&Value::Null)
}

#[test]
fn devices_that_one_line_provisioned_are_verified_by_another() {
    for release in ["v0.0.2502", "v0.0.2608"] {
        let lab = verifier(json!({ "release": release }));
        let those = ["--first", "30", "--models", "4", "--seed", "9"];
        let provision = ["-n", "40", "--users", "3"];
        let report = kept(&attest("provision", &lab.url, &[provision.as_slice(), &those].concat()));
        assert_eq!((report.totals.all.offered, planned(&report, "/seed")), (40, &json!(9)));

        let load = ["-q", "40", "--for", "500ms", "--read-result", "--nonce", "service", "--profile", "psa1"];
        let verify = [those.as_slice(), &["--count", "40"], &load].concat();
        let report = kept(&attest("verify", &lab.url, &verify));
        assert_eq!(
            report.promises.all.made,
            2 * of(&report, "verify/result").measurement.counts.fates.accepted
        );
        let section = planned(&report, "/workloads/0/attest_verify");
        let devices = json!({ "first": 30, "count": 40, "models": 4, "stream": 0 });
        assert_eq!((&section["devices"], &section["profile"]), (&devices, &json!("psa1")));
        assert_eq!(planned(&report, "/workloads/0/load/rate"), "40/s");

        // Those of another seed, and those behind the last, nobody knows.
        for other in [["--seed", "8", "--first", "30"], ["--seed", "9", "--first", "70"]] {
            let line = ["--count", "40", "--models", "4", "--users", "1", "--for", "200ms"];
            let report = attest("verify", &lab.url, &[line.as_slice(), &other].concat()).report();
            assert!(report.promises.all.kept == 0 && report.promises.all.broken > 0, "{other:?}");
        }
    }
}

#[test]
fn a_line_provisions_what_it_verifies_and_each_time_other_devices() {
    let lab = verifier(json!({}));
    let line = ["--provisioning", &lab.url, "--bad", "30%", "--users", "4", "--for", "500ms", "--unpinned"];
    let verify = |more: &[&str]| {
        let ended = attest("verify", &lab.url, &[line.as_slice(), more].concat());
        (kept(&ended), ended.stderr)
    };
    let (first, said) = verify(&["--devices", "20"]);
    let seed = planned(&first, "/seed").clone();
    assert!(
        said.starts_with(&format!("provisions 20 devices first, and verifies those (--seed {seed})\n")),
        "{said}"
    );
    assert_eq!(first.fill.as_ref().map(|fill| fill.filled), Some(20));
    let kinds = first.promises.by_kind.iter().filter(|kind| kind.promises.made > 0).count();
    assert!(kinds > 3, "a third of them has something wrong: {:?}", first.promises);
    assert_eq!(planned(&first, "/workloads/0/attest_verify/pinned"), false);

    let (second, _) = verify(&[]);
    assert_eq!(second.fill.as_ref().map(|fill| fill.filled), Some(100));
    assert_ne!(planned(&second, "/seed"), &seed);
    let (third, said) = verify(&["--devices", "7", "--seed", "3", "--no-delete", "--nonce", "device"]);
    assert!(
        said.contains("(--seed 3)") && third.series.iter().all(|series| series.path != "verify/delete"),
        "{said}"
    );
    let requests = lab.stats().requests;
    assert_eq!(requests["submit"][&200], 127);
}

#[test]
fn users_provision_a_device_each_as_they_enter_where_the_line_wants_it() {
    let lab = verifier(json!({}));
    let line = ["--provisioning", &lab.url, "--provision-at-start", "--users", "5", "--for", "500ms"];
    let ended = attest("verify", &lab.url, &line);
    let report = kept(&ended);
    assert!(report.fill.is_none() && report.promises.all.made > 0, "{}", ended.stderr);
    assert_eq!(lab.stats().requests["submit"][&200], 5);
}

#[test]
fn one_device_again_and_again_is_provisioned_as_in_the_published_test() {
    let lab = verifier(json!({ "release": "v0.0.2608" }));
    let report = kept(&attest("provision", &lab.url, &["--count", "1", "-q", "40", "--for", "500ms"]));
    let accepted = report.totals.all.fates.accepted;
    let causes = &of(&report, "provision/provision").measurement.causes;
    let known = causes.iter().find(|cause| cause.cause == "in store before").map(|cause| cause.count);
    assert_eq!(known, Some(accepted - 1), "{causes:?}");
}

#[test]
fn documents_are_read_of_the_service_that_the_line_names() {
    let lab = verifier(json!({}));
    for (more, name) in [
        (&[][..], "provisioning"),
        (&["--document", "verification"], "verification"),
        (&["--document", "management"], "management"),
    ] {
        let load = ["-q", "40", "--for", "250ms"];
        let report = kept(&attest("well-known", &lab.url, &[more, &load].concat()));
        let reads = of(&report, &format!("well-known/{name}"));
        assert!(reads.measurement.counts.fates.accepted > 0, "{more:?}");
    }
}

#[test]
fn provisioning_lets_in_by_the_password_that_the_line_names() {
    let lab = verifier(json!({ "users": [{ "name": "u", "password": "secret-of-u" }] }));
    let folder = Folder::new();
    let (right, wrong) = (folder.write("right", "secret-of-u\n"), folder.write("wrong", "secret-of-v"));
    let of = |file: &str| {
        let more = ["--basic-user", "u", "--basic-password-file", file, "-n", "5", "--users", "1"];
        attest("provision", &lab.url, &more)
    };
    let ended = of(&right);
    kept(&ended);
    assert!(!ended.stdout.contains("secret-of-u") && !ended.stderr.contains("secret-of-u"));
    for ended in [of(&wrong), attest("provision", &lab.url, &["-n", "5", "--users", "1"])] {
        let report = ended.report();
        let exit = exit_if_on_time(&report.verdict);
        assert_eq!((exit, report.totals.all.fates.refused), (1, 5), "{}", ended.stderr);
        assert!(ended.stderr.contains("HTTP 401"), "{}", ended.stderr);
    }
    let verify = ["--provisioning", &lab.url, "--basic-user", "u", "--basic-password-file", &right];
    kept(&attest("verify", &lab.url, &[verify.as_slice(), &["--users", "2", "--for", "200ms"]].concat()));
}

#[test]
fn provisioning_is_shown_the_token_that_the_line_names_and_its_document_is_asked_for_without() {
    let document = r#"{"media-types": ["application/corim-unsigned+cbor; profile=\"http://arm.com/psa/iot/1\""], "service-state": "READY", "api-endpoints": {"provisioningSubmit": "/submit"}}"#;
    let server = Server::answering_each(move |request| {
        let body = if request == 0 { document } else { r#"{"status": "success"}"# };
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    });
    let folder = Folder::new();
    let token = folder.write("token", "token-of-a-provisioner\n");
    let ended = attest("provision", &server.url(), &["--token-file", &token, "-n", "3", "--users", "1"]);
    assert_eq!(kept(&ended).totals.all.fates.accepted, 3);
    let shown: Vec<_> =
        server.requests().iter().map(|request| request.header("authorization").map(str::to_owned)).collect();
    let bearer = Some("Bearer token-of-a-provisioner".to_owned());
    assert_eq!(shown, [None, bearer.clone(), bearer.clone(), bearer]);
    assert!(!ended.stdout.contains("token-of-a-provisioner"));
}

#[test]
fn frontends_of_one_service_share_what_the_line_sends() {
    let (one, other) = (verifier(json!({})), verifier(json!({})));
    kept(&attest("provision", &one.url, &[&other.url, "-n", "40", "--users", "4"]));
    let taken = [&one, &other].map(|lab| lab.stats().requests["submit"][&200]);
    assert!(taken[0] + taken[1] == 40 && taken.iter().all(|count| *count > 5), "{taken:?}");
}

#[test]
fn endorsements_are_signed_by_the_key_that_the_line_names() {
    let folder = Folder::new();
    let root_key = KeyPair::generate().unwrap();
    let mut root = CertificateParams::default();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let trusted = folder.write("root.pem", &root.self_signed(&root_key).unwrap().pem());
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["signer.test".to_owned()]).unwrap();
    let certificate = certificate.signed_by(&key, &Issuer::new(root, root_key)).unwrap();
    let (key, certificate) =
        (folder.write("key.pem", &key.serialize_pem()), folder.write("certificate.pem", &certificate.pem()));
    let line = ["--signer-key", &key, "--signer-certificate", &certificate, "-n", "5", "--users", "1"];
    let lab = verifier(json!({ "release": "v0.0.2608", "ca_certs": [trusted] }));
    kept(&attest("provision", &lab.url, &line));
    let unsigned = verifier(json!({}));
    refused(
        &attest("provision", &unsigned.url, &line),
        &["failed to use --signer-key: failed to sign endorsements: the service takes none that are signed"],
    );
}

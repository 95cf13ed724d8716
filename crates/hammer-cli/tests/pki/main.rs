//! `hammer run` and `hammer pki` on an embedded signature service: what is reported is held against what the service counted; its lies
//! are caught, and its honest twins are believed.

#[path = "../support/hammer.rs"]
mod hammer;
#[path = "../support/on_time.rs"]
mod on_time;
mod replies;
mod revocation;
#[path = "../support/server.rs"]
#[expect(dead_code, reason = "other tests read what such a server was sent")]
mod server;
mod validate;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hammer_lab_pki::{PkiLabHandle, PkiLabPlan, PkiLieKind};
use hammer_report::Report;
use serde_json::{Value, json};
use tempfile::TempDir;

use hammer::{Ended, Started, command, hammer};
use on_time::exit_if_on_time;

/// A service in this process, and the files that whoever is let in has.
struct Service {
    lab: PkiLabHandle,
    folder: TempDir,
}

impl Service {
    fn of(plan: PkiLabPlan) -> Self {
        let (folder, access_token) = (tempfile::tempdir().unwrap(), plan.access_token.clone());
        let lab = PkiLabHandle::spawn(plan).unwrap();
        fs::write(folder.path().join("token"), access_token).unwrap();
        let roots = lab.target().timestamp_authority().pem().join("\n");
        fs::write(folder.path().join("roots.pem"), roots).unwrap();
        Self { lab, folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// As a plan names it.
    fn target(&self) -> Value {
        json!({
            "url": self.lab.url,
            "token": { "file": self.file("token") },
            "timestamp_roots_pem_files": [self.file("roots.pem")],
        })
    }

    /// Runs a plan on it.
    fn run(&self, plan: &Path) -> Ended {
        let target = format!("target={}", json!({ "pki": self.target() }));
        let mut run = command(&["run", &plan.to_string_lossy(), "--set", &target, "--out", "-"]);
        run.current_dir(self.folder.path());
        Started::of(run).ended()
    }

    /// Runs `hammer pki` on it.
    fn pki(&self, word: &str, arguments: &[&str]) -> Ended {
        self.pki_at(&self.lab.url, word, arguments)
    }

    /// The same on whatever answers at another URL.
    fn pki_at(&self, url: &str, word: &str, arguments: &[&str]) -> Ended {
        let mut run = command(&["pki", word, url, "--token-file", "token", "--out", "-"]);
        run.args(arguments).current_dir(self.folder.path());
        Started::of(run).ended()
    }
}

fn lie_plan(name: &str) -> PathBuf {
    format!("{}/../../configs/lies/pki/{name}.yaml", env!("CARGO_MANIFEST_DIR")).into()
}

fn embedded(plan: &Path) -> PkiLabPlan {
    let plan: Value = serde_saphyr::from_str(&fs::read_to_string(plan).unwrap()).unwrap();
    serde_json::from_value(plan["target"]["lab"]["pki"].clone()).unwrap()
}

fn accepted(report: &Report, path: &str) -> u64 {
    let mut series = report.series.iter();
    let found = series.find(|series| series.path == path).unwrap_or_else(|| panic!("no series {path}"));
    found.measurement.counts.fates.accepted
}

/// As plans write it.
fn written(kind: PkiLieKind) -> String {
    serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()
}

/// Runs the plan of a lie and its honest twin; every broken promise has that name.
fn is_caught(word: &str, kind: PkiLieKind, found_as: &str) {
    let plan = lie_plan(word);
    let service = Service::of(embedded(&plan));
    let report = service.run(&plan).report();
    let (told, unlisted) = service.lab.target().told_lies();
    assert_eq!((told.len(), unlisted), (3, 0), "{told:?}");
    assert!(told.iter().all(|lie| lie.kind == kind), "{told:?}");
    assert_eq!((report.verdict.exit_code, report.promises.all.broken), (4, 3), "{:?}", report.verdict);
    let names: BTreeSet<&str> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert_eq!(names, BTreeSet::from([found_as]));

    let plan = lie_plan(&format!("{word}-honest"));
    let service = Service::of(embedded(&plan));
    let report = service.run(&plan).report();
    assert!(service.lab.target().told_lies().0.is_empty() && report.breaches.is_empty());
    let promises = &report.promises.all;
    assert_eq!((promises.made, promises.kept), (80, 80), "{promises:?}");
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
}

macro_rules! lies {
    ($($name:ident: $kind:ident $(of $plan:literal)? is $found_as:literal;)*) => {
        $(#[test]
        fn $name() {
            let kind = PkiLieKind::$kind;
            is_caught([$($plan.to_owned(),)? written(kind)].first().unwrap(), kind, $found_as);
        })*

        #[test]
        fn every_lie_has_its_plan_and_its_twin() {
            let plans = [$([$($plan.to_owned(),)? written(PkiLieKind::$kind)][0].clone()),*];
            let twins = plans.iter().map(|plan| plan.clone() + "-honest");
            let mut all: Vec<String> = plans.iter().cloned().chain(twins).collect();
            all.sort();
            let folder = lie_plan("another-signer").parent().unwrap().to_owned();
            let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
            let mut files: Vec<String> =
                files.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect();
            files.sort();
            assert_eq!(all, files);
        }
    };
}

lies! {
    a_signature_of_another_document_is_caught: AnotherDocument is "message-digest";
    another_signer_is_caught: AnotherSigner is "another-signer";
    attributes_that_name_no_certificate_are_caught: MissingAttribute is "signature-attributes";
    a_changed_document_is_caught: ChangedDocument is "changed-document";
    a_hole_in_a_byte_range_is_caught: ByteRangeHole is "byte-range";
    a_timestamp_that_is_not_there_is_caught: NoTimestamp is "missing-timestamp";
    a_timestamp_of_an_hour_ago_is_caught: StaleTimestamp is "timestamp-time";
    a_timestamp_over_something_else_is_caught: TimestampOverAnotherImprint is "timestamp-imprint";
    a_reply_of_an_hour_ago_is_caught: StaleTimestamp of "stale-timestamp-reply" is "timestamp-time";
    a_reply_over_something_else_is_caught:
        TimestampOverAnotherImprint of "timestamp-reply-over-another-imprint" is "timestamp-imprint";
    a_reply_to_another_query_is_caught: TimestampWithAnotherNonce is "timestamp-nonce";
    an_altered_file_that_is_called_valid_is_caught: AcceptsAltered is "accepted-altered";
    a_valid_file_that_is_called_invalid_is_caught: RefusesValid is "refused-valid";
    a_nonce_that_comes_again_is_caught: RepeatedNonce is "repeated-nonce";
    another_certificate_that_is_let_in_is_caught: AnotherCertificate is "another-certificate";
}

#[test]
fn one_line_signs_logs_in_and_asks_for_timestamps() {
    let service = Service::of(PkiLabPlan::default());
    let roots = ["--timestamp-roots", "roots.pem"];
    let counted = |ended: &Ended, path: &str, promised: u64| {
        let report = ended.report();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?} {}", report.verdict, ended.stderr);
        assert_eq!(report.promises.all.made, report.promises.all.kept);
        let accepted = accepted(&report, path);
        assert!(accepted > 0);
        assert_eq!(report.promises.all.made, accepted * promised, "{path}");
        accepted
    };
    let load = ["--rate", "40/s", "-z", "1s"];
    let with = |own: &[&'static str]| [own, &load].concat();
    let nonces = counted(&service.pki("auth", &with(&[])), "auth/authentication", 1);
    let tokens = counted(&service.pki("auth", &with(&["--by", "token"])), "auth/authentication", 1);
    let cades = counted(&service.pki("cades", &with(&["--size", "4KiB"])), "sign/cades", 1);
    let pades = ["--timestamp", "--size", "4KiB", "--most-size", "1MiB"];
    let pades = counted(&service.pki("pades", &with(&[&pades[..], &roots].concat())), "sign/pades-t", 1);
    let timestamps = counted(&service.pki("timestamp", &with(&roots)), "timestamp/timestamp", 1);
    let by_http = ["--by", "http", "--path", "/tsa"];
    let by_http =
        counted(&service.pki("timestamp", &with(&[&by_http[..], &roots].concat())), "timestamp/timestamp", 1);
    let stats = service.lab.stats();
    let of = |endpoint: &str| stats.requests[endpoint][&200];
    assert_eq!(
        [of("authentication"), of("cades-finish"), of("pades-finish"), of("timestamp"), of("tsa")],
        [2 * (nonces + tokens), cades, pades, timestamps, by_http]
    );
}

/// Every file of these comes back larger than what is kept in memory.
#[test]
fn a_large_document_goes_up_in_parts_and_is_verified_as_a_small_one_is() {
    let lie = json!({ "kind": "changed-document", "times": 1 });
    let lies = serde_json::from_value(json!([lie])).unwrap();
    let service = Service::of(PkiLabPlan { lies, ..PkiLabPlan::default() });
    let plan = service.file("plan.yaml");
    let large = |name: &str, kind: &str, own: &str| {
        format!(
            "- {{ name: {name}, pki_sign: {{ mix: {{ {kind}: 1 }}, size: 5500KiB{own} }}, load: {{ rate: 1/s }}, timeout: 120s }}\n"
        )
    };
    let workloads = large("inline", "cades", ", multipart_from: 6MiB")
        + &large("parts", "pades", "")
        + &large("url", "cades", ", by_url: true");
    let phases = "phases: { measurement: 3s, drain: 240s }\n";
    fs::write(&plan, format!("target: {{}}\nworkloads:\n{workloads}{phases}")).unwrap();
    let report = service.run(&plan).report();
    let promises = &report.promises.all;
    assert_eq!((promises.made, promises.kept, promises.broken), (9, 8, 1), "{promises:?}");
    assert_eq!(report.breaches[0].kind, "changed-document");
    for (path, requests) in [
        ("inline/start", 3),
        ("parts/upload-begin", 3),
        ("parts/upload-part", 18),
        ("parts/upload-end", 3),
        ("url/upload-part", 18),
        ("url/fetch", 3),
    ] {
        assert_eq!(accepted(&report, path), requests, "{path}");
    }
    assert_eq!(service.lab.stats().requests["upload"][&200], 2 * (3 + 18 + 3));
    // What waits is counted, and nothing does in the end.
    let waits = |name: &str| report.observations.iter().find(|seen| seen.name == name).unwrap().last.value;
    assert_eq!([waits("parts/files_waiting"), waits("url/files_waiting_bytes")], [0.0; 2]);
}

#[test]
fn a_service_that_lets_nobody_in_is_no_success() {
    let service = Service::of(PkiLabPlan::default());
    fs::write(service.file("token"), "tok-9f2c71aa").unwrap();
    let report = service.pki("cades", &["--size", "4KiB", "--rate", "20/s", "-z", "1s"]).report();
    assert_eq!(exit_if_on_time(&report.verdict), 1, "{:?}", report.verdict);
    assert_eq!((accepted(&report, "sign/cades"), report.promises.all.made), (0, 0));
    let written = serde_json::to_string(&report).unwrap();
    assert!(!written.contains("tok-9f2c71aa"), "the token is in the report");
}

/// What did not pass the service's validation is said with a success, and in the service's words, in which a token is not repeated.
#[test]
fn validation_errors_of_a_success_are_told_as_the_service_says_them() {
    let service = Service::of(PkiLabPlan::default());
    fs::write(service.file("token"), "tok-9f2c71aa").unwrap();
    let errors =
        r#"{"validationResults":{"errors":[{"type":"CertificateRevoked","message":"by tok-9f2c71aa"}]}}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{errors}",
        errors.len()
    );
    let server = server::Server::answering(answer);
    let url = format!("http://{}", server.address);
    let report = service.pki_at(&url, "cades", &["--size", "4KiB", "--rate", "20/s", "-z", "1s"]).report();
    assert_eq!(exit_if_on_time(&report.verdict), 1, "{:?}", report.verdict);
    let said =
        format!("{:?}", report.series.iter().map(|series| &series.measurement.causes).collect::<Vec<_>>());
    assert!(
        said.contains("validation errors, with HTTP 200") && said.contains("CertificateRevoked: by"),
        "{said}"
    );
    assert!(!said.contains("tok-9f2c71aa"), "{said}");
}

/// What keeps a plan for signature services from its start is said with the place.
#[test]
fn a_plan_that_contradicts_itself_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.yaml");
    let said = |target: &str, workload: &str| {
        fs::write(&plan, format!("target: {target}\nworkloads: [{{ name: w, {workload}, load: {{ rate: 1/s }} }}]\nphases: {{ measurement: 1s }}\n"))
            .unwrap();
        let ended = hammer(&["run", &plan.to_string_lossy()]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        ended.stderr
    };
    let lab = "{ lab: { pki: {} } }";
    let dss = "{ pki: { url: 'http://127.0.0.1:1', dialect: dss } }";
    for (target, workload, place, why) in [
        ("{ pki: { url: 'http://127.0.0.1:1/x/Api/' } }", "pki_sign: {}", "target.pki.url", "ends in `/Api`"),
        (
            "{ pki: { url: 'http://127.0.0.1:1/signature', dialect: dss } }",
            "pki_sign: {}",
            "target.pki.url",
            "ends in `/signature`",
        ),
        ("{ pki: {} }", "pki_sign: {}", "target.pki.url", "it is not given"),
        (
            "{ pki: { url: 'http://127.0.0.1:1', made_signers: 100000000 } }",
            "pki_sign: {}",
            "target.pki.made_signers",
            "10000",
        ),
        (
            "{ pki: { url: 'http://127.0.0.1:1', signers: [{ key_file: a, certificate_file: b }], made_authorities: { number: 1 } } }",
            "pki_sign: {}",
            "target.pki.made_authorities",
            "issued already",
        ),
        (
            "{ lab: { pki: {} }, pki: { made_signers: 3, made_authorities: { number: 4 } } }",
            "pki_sign: {}",
            "target.pki.made_authorities.number",
            "more than `made_signers`",
        ),
        (
            "{ lab: { pki: {} }, pki: { made_authorities: { number: 1, crl: { size: 65MiB } } } }",
            "pki_sign: {}",
            "target.pki.made_authorities.crl.size",
            "64 MiB",
        ),
        (
            "{ lab: { pki: {} }, pki: { made_signers: 20, made_authorities: { number: 17, crl: { size: 64MiB } } } }",
            "pki_sign: {}",
            "target.pki.made_authorities.crl.size",
            "1 GiB",
        ),
        (
            "{ lab: { pki: {} }, pki: { made_authorities: { number: 1, crl: { listen: '8.8.8.8:80' } } } }",
            "pki_sign: {}",
            "target.pki.made_authorities.crl.listen",
            "target.authorized",
        ),
        (
            "{ lab: { pki: {} }, authorized: me, pki: { made_authorities: { number: 1, crl: { listen: '0.0.0.0:0' } } } }",
            "pki_sign: {}",
            "target.pki.made_authorities.crl.url",
            "nobody can fetch",
        ),
        (
            "{ lab: { pki: {} }, pki: { made_authorities: { number: 1, crl: { valid_for: 1s } } } }",
            "pki_sign: {}",
            "target.pki.made_authorities.crl.valid_for",
            "2s",
        ),
        (
            "{ lab: { pki: {} }, pki: { made_authorities: { number: 1, crl: { url: 'http://8.8.8.8/' } } } }",
            "pki_sign: {}",
            "8.8.8.8",
            "neither a loopback nor a private",
        ),
        (
            "{ lab: { pki: {} }, pki: { url: 'http://127.0.0.1:1' } }",
            "pki_sign: {}",
            "target.pki.url",
            "is embedded",
        ),
        (
            "{ lab: { pki: { revocation: { fetch: true } } } }",
            "pki_sign: {}",
            "target.lab.pki.revocation.fetch",
            "nobody is trusted",
        ),
        ("{ lab: { http: {} }, pki: {} }", "pki_sign: {}", "target", "exactly one"),
        ("{ url: 'http://127.0.0.1:1' }", "pki_sign: {}", "target.pki", "there is no signature service"),
        (lab, "pki_sign: { mix: {} }", "workloads[0].pki_sign.mix", "names nothing"),
        (lab, "pki_sign: { size: 100B }", "workloads[0].pki_sign.size", "has 791 at least"),
        (
            lab,
            "pki_sign: { size: 2KiB, most_size: 1KiB }",
            "workloads[0].pki_sign.most_size",
            "less than `size`",
        ),
        (lab, "pki_sign: { size: 50MiB }", "workloads[0].pki_sign.size", "response_limit"),
        (
            lab,
            "pki_sign: { size: 1GiB, most_size: 12GiB }",
            "workloads[0].pki_sign.most_size",
            "has 9999999999 at most",
        ),
        (lab, "pki_sign: { by_digest: true }", "workloads[0].pki_sign.by_digest", "takes whole documents"),
        (dss, "pki_authenticate: {}", "workloads[0].pki_authenticate", "log in: DSS has none"),
        (dss, "pki_sign: { mix: { cades-t: 1 } }", "target.pki.timestamp_roots_pem_files", "is not given"),
        (dss, "pki_sign: { multipart_from: 1MiB }", "workloads[0].pki_sign.multipart_from", "DSS has none"),
        (dss, "pki_timestamp: {}", "target.pki.timestamp_roots_pem_files", "is not given"),
        (dss, "pki_sign: { security_context: x }", "workloads[0].pki_sign.security_context", "DSS has none"),
        (
            lab,
            "pki_validate: { altered: 10%, invalid: [a] }",
            "workloads[0].pki_validate.altered",
            "no file among",
        ),
        (
            lab,
            "pki_validate: { valid: [a], size: 1KiB }",
            "workloads[0].pki_validate.size",
            "files are given",
        ),
        (
            lab,
            "pki_validate: { indeterminate: [a] }",
            "workloads[0].pki_validate.indeterminate",
            "INDETERMINATE",
        ),
        (lab, "pki_validate: { mix: {} }", "workloads[0].pki_validate.mix", "names nothing"),
        (dss, "pki_validate: { security_context: x }", "pki_validate.security_context", "DSS has none"),
        (lab, "pki_timestamp: { path: /tsa }", "workloads[0].pki_timestamp.path", "`by: http`"),
        (lab, "pki_timestamp: { by: http, path: tsa }", "workloads[0].pki_timestamp.path", "is no path"),
        (lab, "pki_timestamp: { by: http, plan: a }", "workloads[0].pki_timestamp.plan", "no plans"),
        (dss, "pki_timestamp: { plan: a }", "workloads[0].pki_timestamp.plan", "DSS has none"),
        (dss, "pki_timestamp: { by: http }", "target.pki.timestamp_roots_pem_files", "is not given"),
        (lab, "pki_timestamp: { plan: a/b }", "workloads[0].pki_timestamp.plan", "segment of a path"),
        (lab, "pki_timestamp: { plan: a b }", "workloads[0].pki_timestamp.plan", "segment of a path"),
        (lab, "pki_timestamp: { plan: .. }", "workloads[0].pki_timestamp.plan", "segment of a path"),
        (
            "{ pki: { url: 'http://127.0.0.1:1', signers: [{ key_file: none, certificate_file: none }] } }",
            "pki_sign: {}",
            "target.pki",
            "none",
        ),
    ] {
        let said = said(target, workload);
        assert!(said.contains(place) && said.contains(why), "{place} {why}: {said}");
    }
}

/// As a gateway before the service answers whoever has no session there.
#[test]
fn a_login_page_with_a_success_is_shown() {
    let page = "<!DOCTYPE html>\n<title>Sign in to the gateway</title>";
    let answer =
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{page}", page.len());
    let server = server::Server::answering(answer);
    let url = format!("http://{}", server.address);
    let ended = hammer(&["pki", "cades", &url, "--size", "4KiB", "--rate", "20/s", "-z", "1s", "--out", "-"]);
    let report = ended.report();
    let series = &report.series[0];
    let counts = &series.measurement.counts;
    assert!(counts.fates.malformed > 0 && counts.fates.malformed == counts.completed, "{:?}", report.verdict);
    let said =
        format!("{:?}", report.series.iter().map(|series| &series.measurement.causes).collect::<Vec<_>>());
    assert!(said.contains("page in the place of JSON") && said.contains("Sign in to the gateway"), "{said}");
}

/// As authorities hand them out, the root by itself.
#[test]
fn a_root_of_timestamps_and_what_it_issued_may_be_in_two_files() {
    let service = Service::of(PkiLabPlan::default());
    let pem = service.lab.target().timestamp_authority().pem();
    assert!(pem.len() > 1, "there is an intermediate certificate");
    let names: Vec<String> = (0..pem.len()).map(|place| format!("part-{place}.pem")).collect();
    for (name, text) in names.iter().zip(pem) {
        fs::write(service.file(name), text).unwrap();
    }
    let mut arguments = vec!["--rate", "20/s", "-z", "1s"];
    arguments.extend(names.iter().flat_map(|name| ["--timestamp-roots", name]));
    let report = service.pki("timestamp", &arguments).report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
    assert!(report.promises.all.kept > 10, "{:?}", report.promises.all);
}

#[test]
fn where_no_file_can_be_made_for_large_answers_is_told_before_the_run() {
    let mut run =
        command(&["pki", "pades", "http://127.0.0.1:1", "--size", "20MiB", "--rate", "1/s", "-z", "1s"]);
    run.env("TMPDIR", "/nonexistent/folder");
    let ended = Started::of(run).ended();
    let told = "make a file in /nonexistent/folder (TMPDIR)";
    assert!(ended.code == 2 && ended.stderr.contains(told), "{} {}", ended.code, ended.stderr);
}

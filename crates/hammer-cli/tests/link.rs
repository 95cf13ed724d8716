//! A link is not taken for the target: behind a slow one the report says that it is the limit, and of the same load without one, or of a
//! light one behind it, that it is not.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use std::io::{Read as _, Write as _};

use hammer_lab::serve::{LinkPlan, ServePlan};
use hammer_lab::{HttpLabHandle, HttpLabPlan};
use hammer_report::Report;
use hammer_report::report::LinkSource;
use hammer_values::ByteSize;

use folder::Folder;
use hammer::{Ended, hammer};

/// Signatures of documents of 8 KiB, by four users.
const SIGNATURES: &str = "\
target: { lab: { pki: {} } }
workloads:
  - { name: sign, pki_sign: { mix: { cades: 1 }, size: 8KiB }, load: { users: 4 }, timeout: 60s }
phases: { measurement: 4s, drain: 60s }
health: { on_fail: warn }
compat: rest-pki
";

/// A login a second, whose requests have few bytes.
const LOGINS: &str = "\
target: { lab: { pki: {} } }
workloads:
  - { name: login, pki_authenticate: {}, load: { rate: 1/s }, timeout: 60s }
phases: { measurement: 4s, drain: 60s }
health: { on_fail: warn }
";

const SLOW: &str = "target.lab.pki.serve.link={ up: 200kbit, down: 50mbit }";

fn run(plan: &str, changes: &[&str]) -> Ended {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", plan);
    let changes = changes.iter().flat_map(|change| ["--set", change]);
    let arguments: Vec<&str> = ["run", &plan, "--out", "-"].into_iter().chain(changes).collect();
    hammer(&arguments)
}

fn report(plan: &str, changes: &[&str]) -> Report {
    run(plan, changes).report()
}

#[test]
fn behind_a_slow_link_of_the_lab_the_uplink_is_the_limit() {
    let report = report(SIGNATURES, &[SLOW]);
    let link = report.link.as_ref().unwrap();
    assert_eq!((link.source, link.limits()), (LinkSource::Lab, vec!["the uplink"]), "{link:?}");
    assert!(link.conclusion.starts_with("the uplink is the limit: busy "), "{}", link.conclusion);
    let (up, down) = (link.up.unwrap(), link.down.unwrap());
    assert!(!down.is_limit && up.bits_per_s == 200_000, "{link:?}");
    // Bytes of four seconds, and not those that were still under way at the end of them.
    assert!(up.busy.unwrap() < 1.2, "{link:?}");
    let [signature] = link.operations.as_slice() else { panic!("{link:?}") };
    assert_eq!(signature.path, "sign/cades");
    assert!(signature.bytes_out > 8 * 1_024 * 4 / 3, "{signature:?}");
    let text = hammer_report::text::render(&report);
    let verdict = text.lines().next().unwrap();
    assert!(verdict.contains("though the uplink is the limit"), "{verdict}");
    assert!(text.contains("\nlink       the uplink is the limit: busy "), "{text}");

    let compat = report.compat.as_ref().unwrap();
    let [counters] = compat.operations.as_slice() else { panic!("{compat:?}") };
    let series = &report.series[0];
    assert_eq!((compat.compat.as_str(), counters.job.as_str()), ("rest-pki", "CAdES"));
    assert_eq!(counters.successes, series.measurement.ended.accepted);
    assert_eq!(counters.users_over_rate, series.users_over_rate);
    assert!(text.contains("as rest-pki counts"), "{text}");
}

#[test]
fn the_same_load_without_the_slow_link_says_that_the_link_was_not_the_limit() {
    let report = report(SIGNATURES, &["target.link={ up: 100gbit }"]);
    let link = report.link.as_ref().unwrap();
    assert_eq!((link.source, link.limits().len(), link.down), (LinkSource::Plan, 0, None), "{link:?}");
    assert!(
        link.conclusion.starts_with("the link was not the limit: the uplink was busy "),
        "{}",
        link.conclusion
    );
    let text = hammer_report::text::render(&report);
    assert!(!text.contains("is the limit"), "{text}");
}

#[test]
fn what_leaves_the_slow_link_idle_is_not_limited_by_it() {
    let report = report(LOGINS, &[SLOW]);
    let link = report.link.as_ref().unwrap();
    assert_eq!((link.source, link.limits().len()), (LinkSource::Lab, 0), "{link:?}");
    assert!(report.series[0].measurement.counts.fates.accepted > 0, "{:?}", report.verdict);
}

#[test]
fn of_a_link_of_which_nobody_says_anything_nothing_is_said() {
    let report = report(LOGINS, &[]);
    assert_eq!(report.link, None);
    assert!(report.totals.bytes_out_per_s > 0.0 && report.totals.bytes_in_per_s > 0.0);
    assert!(!hammer_report::text::render(&report).contains("\nlink "));
}

/// A plain target behind a link of 8 Mbit/s each way, which answers 128 KiB.
fn plain_target() -> HttpLabHandle {
    let rate = Some("8mbit".parse().unwrap());
    let serve = ServePlan { link: Some(LinkPlan { up: rate, down: rate }), ..ServePlan::default() };
    let plan = HttpLabPlan { serve, body_size: ByteSize::from_kib(128), ..HttpLabPlan::default() };
    HttpLabHandle::spawn(plan).unwrap()
}

fn gets(url: &str) -> String {
    format!(
        "target: {{ url: \"{url}\" }}\nworkloads: [ {{ name: get, http: {{}}, load: {{ rate: 1/s, operations: 1 }} }} ]\nhealth: {{ on_fail: warn }}\n"
    )
}

#[test]
fn a_link_is_measured_by_an_upload_and_a_download_before_the_run() {
    let lab = plain_target();
    let url = &lab.url;
    let measure = format!(
        "target.link={{ measure: {{ upload: \"{url}/up\", size: 128KiB, download: \"{url}/down\" }} }}"
    );
    let report = report(&gets(url), &[&measure]);
    let stats = lab.stop();
    assert_eq!((stats.requests["post"][&200], stats.requests["get"][&200]), (1, 2), "{stats:?}");
    let link = report.link.as_ref().unwrap();
    assert_eq!(link.source, LinkSource::Measured);
    for direction in [link.up.unwrap(), link.down.unwrap()] {
        // The least time that the link lets so many bytes take, but for what a burst of 10 ms makes of it.
        assert!(direction.bits_per_s < 9_000_000, "{link:?}");
    }
    let notes = serde_json::to_string(&report.events).unwrap();
    assert!(notes.contains("the link was measured before the run: 131072 bytes up in "), "{notes}");
}

#[test]
fn a_link_that_cannot_be_measured_is_told_before_the_run() {
    let lab = plain_target();
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let measure = format!("target.link={{ measure: {{ upload: \"http://{gone}/\" }} }}");
    let ended = run(&gets(&lab.url), &[&measure]);
    let told = format!("measure the link by POST http://{gone}/: failed to ");
    assert!(ended.code == 2 && ended.stderr.contains(&told), "{} {}", ended.code, ended.stderr);
    let short = HttpLabHandle::spawn(HttpLabPlan::default()).unwrap();
    let measure = format!("target.link={{ measure: {{ download: \"{}/\" }} }}", short.url);
    let ended = run(&gets(&lab.url), &[&measure]);
    assert!(
        ended.code == 2 && ended.stderr.contains("64 KiB are the least"),
        "{} {}",
        ended.code,
        ended.stderr
    );
    // An answer that does not wait for the body says nothing of how long that takes.
    let early = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let measure = format!(
        "target.link={{ measure: {{ upload: \"http://{}/\", size: 64MiB }} }}",
        early.local_addr().unwrap()
    );
    let answers = std::thread::spawn(move || {
        let (mut peer, _) = early.accept().unwrap();
        // The head of the request, and perhaps some of its body.
        let _ = peer.read(&mut [0; 1 << 10]);
        peer.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").unwrap();
        peer.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = peer.read(&mut [0; 1 << 10]);
    });
    let ended = run(&gets(&lab.url), &[&measure]);
    answers.join().unwrap();
    // That it closed may be what hammer sees first.
    let told = "measure the link by POST";
    assert!(ended.code == 2 && ended.stderr.contains(told), "{} {}", ended.code, ended.stderr);
    assert_eq!(lab.stop().requests.len(), 0, "nothing is sent to a target behind an unknown link");
}

#[test]
fn rates_of_a_link_that_are_none_are_named_by_their_key() {
    for (change, told) in [
        ("target.link={ up: 6 }", "target.link.up: `6` is no rate of a link (like 6mbit, "),
        ("target.link={}", "target.link.up: give up, down or both, or measure"),
        (
            "target.link={ down: 1mbit, measure: { upload: 127.0.0.1:1 } }",
            "target.link.down: the rates are measured",
        ),
        (
            "target.link={ measure: { upload: 127.0.0.1:1, size: 1B } }",
            "target.link.measure.size: it must be 64KiB",
        ),
        ("target.lab.pki.serve.link={ up: 0bit }", "it must be 1bit at least"),
    ] {
        let ended = run(LOGINS, &[change]);
        assert!(ended.code == 2 && ended.stderr.contains(told), "{change}: {} {}", ended.code, ended.stderr);
    }
}

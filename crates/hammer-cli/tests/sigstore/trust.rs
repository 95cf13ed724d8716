//! Where the services are and whom to trust, as others say it: a signing configuration, and the services themselves.

use std::fs;
use std::net::TcpListener;

use hammer_report::Report;
use serde_json::{Value, json};

use crate::hammer::Ended;
use crate::on_time::exit_if_on_time;
use crate::services::Services;

/// Services, and a plan of flows on them in their folder.
fn services(lab: Value, flows: &Value) -> Services {
    let services = Services::of(serde_json::from_value(lab).unwrap());
    let plan = json!({
        "target": { "lab": { "sigstore": {} } },
        "workloads": [{
            "name": "sign", "sigstore_sign": flows, "load": { "rate": "20/s" }, "timeout": "20s",
        }],
        "phases": { "measurement": "1s", "drain": "20s" },
    });
    fs::write(services.folder.path().join("plan.json"), plan.to_string()).unwrap();
    services
}

const WITHOUT_PREFLIGHT: &str = "target.preflight=false";

/// Runs it with these keys of `target.sigstore`.
fn run(services: &Services, keys: &Value) -> Ended {
    let changes =
        keys.as_object().unwrap().iter().map(|(key, value)| format!("target.sigstore.{key}={value}"));
    // Whoever is held to what is not theirs is found here by what they sign, and not before it.
    services.run("plan.json", &changes.chain([WITHOUT_PREFLIGHT.to_owned()]).collect::<Vec<_>>())
}

/// Its report, in which every promise is kept.
#[track_caller]
fn kept(ended: &Ended) -> Report {
    let report = ended.report();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{}", ended.stderr);
    assert!(
        report.promises.all.made > 0 && report.promises.all.made == report.promises.all.kept,
        "{}",
        ended.stderr
    );
    report
}

fn notes(report: &Report) -> String {
    let events = serde_json::to_value(report).unwrap()["events"].clone();
    let notes = events.as_array().unwrap().iter().filter(|event| event["event"] == "note");
    notes.map(|note| note["text"].as_str().unwrap_or_default().to_owned() + "\n").collect()
}

/// No service has a URL of the plan's own.
fn nowhere() -> Value {
    json!({
        "fulcio_url": [], "fulcio_grpc_url": [], "rekor_url": [], "rekor_tiles_url": [], "rekor_tiles_grpc_url": [],
        "timestamp_url": [], "signing_config": "signing_config.json",
    })
}

fn with(mut keys: Value, more: &Value) -> Value {
    keys.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    keys
}

#[test]
fn the_trusted_root_of_another_instance_is_named_in_one_sentence_for_each_kind_of_answer() {
    let services = services(json!({}), &json!({}));
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../hammer-sigstore/testdata/trusted_root.json");
    fs::copy(recorded, services.folder.path().join("other.json")).unwrap();
    let ended = run(&services, &json!({ "trusted_root": "other.json" }));
    let report = ended.report();
    assert_eq!(report.verdict.exit_code, 4, "{}", ended.stderr);
    let reasons = reasons(&report);
    for kind in ["certificates", "entries", "timestamps"] {
        let said = format!(
            "none of the 20 {kind} of sign leads to what other.json trusts, which may be of another instance"
        );
        assert!(reasons.contains(&said.as_str()), "{said} is not in {reasons:?}");
    }
}

fn reasons(report: &Report) -> Vec<&str> {
    report.verdict.reasons.iter().map(|reason| reason.text.as_str()).collect()
}

#[test]
fn a_wrong_origin_is_told_by_its_key_and_not_as_another_instance() {
    for (key, audit) in [("ed25519", false), ("p256", false), ("ed25519", true)] {
        let lab = json!({ "rekor_tiles": { "checkpoint_interval": "50ms", "key": key } });
        let services = services(lab, &json!({ "rekor": "v2", "timestamp": false, "audit": audit }));
        let ended = run(&services, &json!({ "rekor_tiles_origin": "other.test" }));
        let report = ended.report();
        assert_eq!(report.verdict.exit_code, 4, "{}", ended.stderr);
        let reasons = reasons(&report);
        let said = "entries of sign has a checkpoint of the origin that is trusted: the trusted key signed its checkpoint as \
                    \"127.0.0.1\", and not as \"other.test\"; `rekor_tiles_origin` has to be the log's own";
        assert!(
            reasons.iter().any(|text| text.starts_with("none of the ") && text.ends_with(said)),
            "{key} {reasons:?}"
        );
        assert!(!reasons.iter().any(|text| text.contains("another instance")), "{key} {reasons:?}");
    }
}

#[test]
fn a_chain_of_timestamps_without_its_intermediate_is_told_by_its_key() {
    let services = services(json!({}), &json!({ "fulcio": "none", "rekor": "none" }));
    let root: Value = serde_json::from_str(services.lab.trusted_root()).unwrap();
    let chain = root["timestampAuthorities"][0]["certChain"]["certificates"].as_array().unwrap();
    let pem = |certificates: &[Value]| -> String {
        let block = |certificate: &Value| {
            let digits = certificate["rawBytes"].as_str().unwrap();
            format!("-----BEGIN CERTIFICATE-----\n{digits}\n-----END CERTIFICATE-----\n")
        };
        certificates.iter().map(block).collect()
    };
    let [leaf, _, top] = chain.as_slice() else { panic!("{chain:?}") };
    for known in [vec![top.clone()], vec![leaf.clone(), top.clone()]] {
        fs::write(services.folder.path().join("root.pem"), pem(&known)).unwrap();
        let ended = run(&services, &json!({ "timestamp_chain": "root.pem" }));
        let report = ended.report();
        assert_eq!(report.verdict.exit_code, 4, "{}", ended.stderr);
        let said = "none of the 20 timestamps of sign leads to a root that root.pem trusts, which has roots alone: failed to verify \
                    the timestamp: failed to verify a chain: its issuer \"hammer-lab TSA intermediate\" is not trusted; \
                    `timestamp_chain` may lack the intermediate certificate, or be of another instance";
        assert!(reasons(&report).contains(&said), "{:?}", reasons(&report));
    }
    fs::write(services.folder.path().join("whole.pem"), pem(chain)).unwrap();
    kept(&run(&services, &json!({ "timestamp_chain": "whole.pem" })));
}

#[test]
fn a_fill_that_is_held_to_another_instance_says_so_alone_and_before_a_run() {
    let services = services(json!({}), &json!({}));
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../hammer-sigstore/testdata/trusted_root.json");
    fs::copy(recorded, services.folder.path().join("other.json")).unwrap();
    let fill = |workload: &str| format!("fill={{workload: {workload}, operations: 6, users: 2}}");
    let filled = "workloads=[{name: load, sigstore_sign: {}, timeout: 20s}, {name: sign, sigstore_sign: {}, load: {rate: 20/s}}]";
    let root = "target.sigstore.trusted_root=other.json";
    let alone = "workloads=[{name: sign, sigstore_sign: {}, timeout: 20s}]";
    for (changes, of, name) in [
        (vec![alone.to_owned(), fill("sign")], "", "sign"),
        (vec![filled.to_owned(), fill("load")], "of the fill ", "load"),
    ] {
        let ended = services
            .run("plan.json", &[changes, vec![root.to_owned(), WITHOUT_PREFLIGHT.to_owned()]].concat());
        let report = ended.report();
        assert_eq!(report.verdict.exit_code, 4, "{}", ended.stderr);
        for kind in ["certificates", "entries", "timestamps"] {
            let said = format!(
                "{of}none of the 6 {kind} of {name} leads to what other.json trusts, which may be of another instance"
            );
            assert!(reasons(&report).contains(&said.as_str()), "{said} is not in {:?}", reasons(&report));
        }
    }
}

#[test]
fn scts_that_nobody_looks_at_are_told_once_in_the_report() {
    let services = services(json!({}), &json!({ "rekor": "none", "timestamp": false }));
    let mut root: Value = serde_json::from_str(services.lab.trusted_root()).unwrap();
    assert!(!notes(&kept(&run(&services, &json!({})))).contains("SCTs"));
    root["ctlogs"] = json!([]);
    fs::write(services.folder.path().join("no-ctlogs.json"), root.to_string()).unwrap();
    let ended = run(&services, &json!({ "trusted_root": "no-ctlogs.json" }));
    let said = notes(&kept(&ended));
    let told = "SCTs of certificates are not verified, since no key of a CT log is known: neither `ct_log_key` nor the trusted \
                root's `ctlogs` has one";
    assert_eq!(said.matches(told).count(), 1, "{said}");
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(told), "{words}");
    let by_keys = "workloads.sign.sigstore_sign={fulcio: none, rekor: none, timestamp: true}";
    let root = "target.sigstore.trusted_root=no-ctlogs.json";
    let report = services.report("plan.json", &[by_keys.to_owned(), root.to_owned()]);
    assert!(!notes(&report).contains("SCTs"), "{}", notes(&report));
}

#[test]
fn certificates_most_of_which_are_broken_by_something_else_are_not_said_to_be_of_another_instance() {
    let another = json!({ "kind": "certificate-by-another-ca", "every": 4 });
    let lab = json!({ "fulcio": { "lies": [another, { "kind": "bad-sct-signature" }] } });
    let services = services(lab, &json!({ "fulcio": "v1", "rekor": "none", "timestamp": false }));
    let ended = run(&services, &json!({}));
    let report = ended.report();
    let found = |kind: &str| report.breaches.iter().filter(|breach| breach.kind == kind).count();
    assert_eq!((report.promises.all.kept, found("certificate-untrusted")), (0, 5), "{}", ended.stderr);
    let reasons = report.verdict.reasons.iter().map(|reason| reason.text.as_str());
    assert_eq!(reasons.filter(|text| text.contains("of another instance")).count(), 0, "{}", ended.stderr);
}

#[test]
fn a_signing_configuration_says_where_the_services_are_and_a_url_beside_it_wins() {
    for rekor in ["v1", "v2"] {
        let services =
            services(json!({ "rekor_tiles": { "checkpoint_interval": "50ms" } }), &json!({ "rekor": rekor }));
        let file = services.folder.path().join("signing_config.json");
        fs::write(&file, services.lab.signing_config()).unwrap();
        let report = kept(&run(&services, &nowhere()));
        let said = notes(&report);
        for part in [
            "as signing_config.json says, fulcio_url is ",
            &services.lab.rekor.url,
            "timestamp_url is ",
            "at /api/v2, unless rekor_tiles_read_url says otherwise",
        ] {
            assert!(said.contains(part), "{part} is not in {said}");
        }
        // Nobody is at the timestamp authority of this one.
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let stamped = services.lab.timestamp_authority.url.clone();
        let other = services.lab.signing_config().replace(&stamped, &format!("http://{closed}"));
        assert_ne!(other, services.lab.signing_config());
        fs::write(&file, other).unwrap();
        let report = kept(&run(&services, &with(nowhere(), &json!({ "timestamp_url": stamped }))));
        assert!(!notes(&report).contains("timestamp_url is "), "{}", notes(&report));
        let refused = run(&services, &nowhere()).report();
        assert!(refused.totals.measurement.fates.unreachable > 0, "{:?}", refused.totals.measurement.fates);
    }
}

#[test]
fn what_is_wrong_with_a_signing_configuration_is_named_and_nobody_is_dialled_whom_nobody_allowed() {
    let services = services(json!({}), &json!({ "rekor": "none", "timestamp": false }));
    let file = services.folder.path().join("signing_config.json");
    let of = |url: &str, version: u32| {
        json!({
            "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
            "caUrls": [{ "url": url, "majorApiVersion": version, "validFor": { "start": "2020-01-01T00:00:00Z" } }],
        })
        .to_string()
    };
    for (text, part) in [
        (of("http://192.0.2.1:5555", 1), "192.0.2.1"),
        (of("http://127.0.0.1:9", 3), "`fulcio_url` is not given"),
        (of("nowhere", 1), "signing_config.json: `nowhere` is no URL"),
        ("{".to_owned(), "use the signing configuration in signing_config.json"),
        (json!({ "mediaType": "text/plain" }).to_string(), "its mediaType is \"text/plain\""),
    ] {
        fs::write(&file, &text).unwrap();
        let ended = run(&services, &nowhere());
        assert_eq!(ended.code, 2, "{text}: {}", ended.stderr);
        assert!(ended.stderr.contains(part), "{part} is not in {}", ended.stderr);
    }
    fs::remove_file(&file).unwrap();
    let ended = run(&services, &nowhere());
    assert!(ended.code == 2 && ended.stderr.contains("target.sigstore.signing_config"), "{}", ended.stderr);
}

/// Nothing says whom to trust but the servers.
fn by_servers() -> Value {
    json!({ "trusted_root": null, "trust": "servers" })
}

#[test]
fn an_origin_by_which_no_key_is_named_is_refused() {
    let services = services(json!({}), &json!({ "rekor": "v2", "timestamp": false }));
    for origin in ["a b", "a+b", ""] {
        let ended = run(&services, &json!({ "rekor_tiles_origin": origin }));
        let parts = ["--set target.sigstore.rekor_tiles_origin=", "no key has such a name"];
        let is_told = parts.iter().all(|part| ended.stderr.contains(part));
        assert!(ended.code == 2 && is_told, "{origin}: {}", ended.stderr);
    }
}

#[test]
fn services_are_believed_because_they_say_so_where_the_plan_wants_that_and_the_report_says_it_aloud() {
    for fulcio in ["v1", "grpc"] {
        let services = services(json!({}), &json!({ "fulcio": fulcio, "timestamp_entry": true }));
        let ended = run(&services, &by_servers());
        let report = kept(&ended);
        let said = notes(&report);
        // A line of the text has so many characters and no more.
        let told = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let aloud = "ANSWERS ARE HELD TO WHAT THE SERVERS THEMSELVES SAID";
        assert!(told.contains(aloud), "{aloud} is not in {told}");
        for part in [
            aloud,
            "/api/v2/trustBundle",
            "/api/v1/log/publicKey",
            "/api/v1/timestamp/certchain",
            "SCTs are not verified",
        ] {
            assert!(said.contains(part), "{part} is not in {said}");
        }
        assert_eq!(services.lab.fulcio.stats().requests["trust-bundle"][&200], 1, "once, before the run");
    }
}

#[test]
fn fulcio_says_whom_to_trust_over_grpc_where_it_is_not_reached_otherwise() {
    let services = services(json!({}), &json!({ "fulcio": "grpc", "timestamp_entry": true }));
    let report = kept(&run(&services, &with(by_servers(), &json!({ "fulcio_url": [] }))));
    let said = notes(&report);
    assert!(said.contains("/dev.sigstore.fulcio.v2.CA/GetTrustBundle"), "{said}");
    assert!(!said.contains("/api/v2/trustBundle"), "{said}");
    assert_eq!(services.lab.fulcio.stats().requests["trust-bundle"][&200], 1, "once, before the run");
}

#[test]
fn who_breaks_what_he_himself_has_said_is_found_out_all_the_same() {
    for (lab, kind) in [
        (
            json!({ "fulcio": { "lies": [{ "kind": "certificate-by-another-ca", "after": 3, "times": 1 }] } }),
            "certificate-untrusted",
        ),
        (json!({ "rekor": { "lies": [{ "kind": "bad-set", "after": 3, "times": 1 }] } }), "bad-set"),
        (
            json!({ "timestamp_authority": { "lies": [{ "kind": "timestamp-by-an-untrusted-chain", "after": 3, "times": 1 }] } }),
            "timestamp-untrusted",
        ),
    ] {
        let services = services(lab, &json!({}));
        let report = run(&services, &by_servers()).report();
        assert_eq!(exit_if_on_time(&report.verdict), 4, "{kind}: {:?}", report.verdict);
        assert_eq!((report.promises.all.broken, report.breaches[0].kind.as_str()), (1, kind));
    }
}

#[test]
fn who_does_not_say_whom_to_trust_is_named() {
    let services = services(json!({}), &json!({ "rekor": "v2", "timestamp": false }));
    let fulcio = services.lab.fulcio.url.clone();
    for (more, parts) in [
        (json!({ "trusted_root": "trusted_root.json" }), ["target.sigstore.trust", "only one may be given"]),
        (json!({}), ["key of Rekor v2", "(trust: servers), which Rekor v2 does not"]),
        // It serves something else there, and nothing.
        (
            json!({ "rekor_url": fulcio }),
            ["read whom to trust from", "/api/v1/log/publicKey: it was answered with 404"],
        ),
        (
            json!({ "fulcio_url": "http://192.0.2.1:5555" }),
            ["192.0.2.1", "neither a loopback nor a private address"],
        ),
        (
            json!({ "fulcio_url": "http://127.0.0.1:1" }),
            ["read whom to trust from", "http://127.0.0.1:1/api/v2/trustBundle"],
        ),
    ] {
        let ended = run(&services, &with(by_servers(), &more));
        assert_eq!(ended.code, 2, "{more} {}", ended.stderr);
        assert!(
            parts.iter().all(|part| ended.stderr.contains(part)),
            "{parts:?} are not in {}",
            ended.stderr
        );
    }
}

//! Issuers of tokens that live on loopback: hammer's own, whose key changes while a run lasts, and the embedded one, which grants tokens
//! and fails when it is told to.

use std::fs;
use std::net::TcpListener;

use hammer_lab_sigstore::issuer::StaticDocument;
use hammer_lab_sigstore::{IssuerConfig, IssuerLabHandle, IssuerLabPlan};
use hammer_oauth::{IssuerDocuments, IssuerKeys, TokenAlgorithm};
use hammer_report::Report;
use hammer_synth::Seed;
use serde_json::{Value, json};

use crate::hammer::{Ended, Started, command};
use crate::services::{ISSUER, Services};

/// A plan of sign flows without a log, for so many seconds.
fn flows(target: &Value, fulcio: &str, seconds: u32) -> Value {
    json!({
        "target": target,
        "workloads": [{
            "name": "flows",
            "sigstore_sign": { "fulcio": fulcio, "rekor": "none", "timestamp": false },
            "load": { "rate": "20/s" },
            "timeout": "20s",
        }],
        "phases": { "measurement": format!("{seconds}s"), "drain": "20s" },
    })
}

/// Runs a plan in a folder with a client's secret.
fn run(plan: &Value) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plan.json"), plan.to_string()).unwrap();
    fs::write(folder.path().join("secret"), "hush-client\n").unwrap();
    fs::write(folder.path().join("password"), "hush-password\n").unwrap();
    let mut run = command(&["run", "plan.json", "--out", "-", "--quiet"]);
    run.current_dir(folder.path());
    let ended = Started::of(run).ended();
    for secret in ["hush-client", "hush-password", "eyJhbGciOi"] {
        assert!(!ended.stdout.contains(secret) && !ended.stderr.contains(secret), "{secret}");
    }
    ended
}

fn notes(report: &Report, part: &str) -> Vec<String> {
    let events = serde_json::to_value(report).unwrap()["events"].clone();
    let notes = events.as_array().unwrap().iter().filter(|event| event["event"] == "note");
    let notes = notes.map(|note| note["text"].as_str().unwrap_or_default().to_owned());
    notes.filter(|note| note.contains(part)).collect()
}

/// What came of the requests to Fulcio, all of which were answered alike.
#[track_caller]
fn all_certified(report: &Report, ended: &Ended) {
    let fulcio = report.series.iter().find(|series| series.name == "fulcio").unwrap();
    let counts = &fulcio.measurement.counts;
    assert!(counts.offered > 0 && counts.fates.accepted == counts.offered, "{}", ended.stderr);
    assert_eq!(report.promises.all.kept, report.promises.all.made, "{}", ended.stderr);
}

#[test]
fn flows_go_on_while_the_issuer_changes_its_key_and_old_keys_go_once_their_tokens_are_over() {
    for (fulcio, signature) in [("v1", "es256"), ("v2", "es256"), ("grpc", "rs256")] {
        // A key of RSA takes seconds to make where the cores are busy, and a token must live as long as a busy Fulcio takes.
        let identity = json!({ "rotate_every": "1s", "lifetime": "4s" });
        let lab = json!({ "lab": { "sigstore": { "identity": identity, "token_signature": signature } } });
        let ended = run(&flows(&lab, fulcio, 16));
        let report = ended.report();
        all_certified(&report, &ended);
        let told = notes(&report, "the issuer signs with the key ");
        // Where another takes the cores a key of RSA may be made in ten seconds, and none has had the time to go.
        let (least, goes) = if signature == "rs256" { (1, false) } else { (2, true) };
        assert!(told.len() >= least, "{told:?}");
        let keys: std::collections::BTreeSet<&str> =
            told.iter().filter_map(|note| note.split(' ').nth(6)).collect();
        assert_eq!(keys.len(), told.len(), "each time another: {told:?}");
        assert!(!goes || told.iter().any(|note| note.contains("no more")), "{told:?}");
    }
}

#[test]
fn an_issuer_by_its_own_name_rotates_its_key_too() {
    // Nobody else binds a port that was free a moment ago, as a rule; where somebody does, the run says so.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let issuer = format!("http://{address}");
    let services =
        Services::of(serde_json::from_value(json!({ "fulcio": { "issuers": [issuer] } })).unwrap());
    let plan = flows(&json!({ "lab": { "sigstore": {} } }), "v1", 5);
    fs::write(services.folder.path().join("plan.json"), plan.to_string()).unwrap();
    let identity = json!({ "issuer": issuer, "rotate_every": "1s" });
    let ended = services.run("plan.json", &[format!("target.sigstore.identity={identity}")]);
    let report = ended.report();
    all_certified(&report, &ended);
    assert_eq!(
        notes(&report, "the issuer's key changed"),
        Vec::<String>::new(),
        "Fulcio looked the new ones up"
    );
    let told = notes(&report, "the issuer signs with the key ");
    let last = told.last().unwrap();
    assert!(last.contains(&format!("{} keys are published", told.len() + 1)), "tokens of a day: {last}");
    let answered = &services.lab.fulcio.stats().requests["signing-cert-v1"];
    assert_eq!(answered.keys().collect::<Vec<_>>(), [&201]);
}

#[test]
fn a_fulcio_that_does_not_look_keys_up_refuses_tokens_once_the_key_changed_and_the_report_joins_the_two() {
    let services = Services::of(serde_json::from_value(json!({})).unwrap());
    let plan = flows(&json!({ "lab": { "sigstore": {} } }), "v1", 5);
    fs::write(services.folder.path().join("plan.json"), plan.to_string()).unwrap();
    let identity = json!({ "issuer": ISSUER, "listen": "127.0.0.1:0", "rotate_every": "2s" });
    let ended = services.run("plan.json", &[format!("target.sigstore.identity={identity}")]);
    let report = ended.report();
    let told = notes(&report, "the issuer's key changed at ");
    let [said] = told.as_slice() else { panic!("{told:?} {}", ended.stderr) };
    for part in [
        "since then Fulcio refuses every token (HTTP 400, ",
        "error processing the identity token",
        "fulcio.issuers",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
}

#[test]
fn tokens_whose_key_the_issuer_does_not_publish_are_refused_and_fulcio_asks_for_it_each_time() {
    let another = IssuerKeys::derive(&Seed::from_u64(7), TokenAlgorithm::Es256, 0);
    let issuer = IssuerLabHandle::spawn(IssuerConfig::new(IssuerLabPlan::default(), move |url| {
        let documents = IssuerDocuments::new(url, &[&another]).unwrap();
        let IssuerDocuments { discovery, discovery_path, jwks, jwks_path } = documents;
        [(discovery_path, StaticDocument::json(discovery)), (jwks_path, StaticDocument::json(jwks))].into()
    }));
    let issuer = issuer.unwrap();
    let services =
        Services::of(serde_json::from_value(json!({ "fulcio": { "issuers": [issuer.url] } })).unwrap());
    let plan = flows(&json!({ "lab": { "sigstore": {} } }), "v1", 1);
    fs::write(services.folder.path().join("plan.json"), plan.to_string()).unwrap();
    let identity = json!({ "issuer": issuer.url, "listen": "127.0.0.1:0" });
    let report = services.report("plan.json", &[format!("target.sigstore.identity={identity}")]);
    let flows = &report.series.iter().find(|series| series.name == "sign").unwrap().measurement;
    assert!(flows.counts.fates.refused > 0 && flows.counts.fates.accepted == 0, "{flows:?}");
    assert!(flows.causes.iter().any(|cause| cause.cause == "HTTP 400"), "{:?}", flows.causes);
    let fulcio = &services.lab.fulcio.stats().requests["signing-cert-v1"];
    assert_eq!(fulcio.keys().collect::<Vec<_>>(), [&400]);
    assert_eq!(issuer.stats().requests["document"][&200], fulcio[&400], "the key might have come meanwhile");
}

#[test]
fn tokens_that_the_embedded_issuer_grants_are_shown_and_its_counts_are_those_of_the_run() {
    for (kind, more) in [
        ("client_credentials", json!({ "client_secret": { "file": "secret" } })),
        (
            "password",
            json!({ "username": "jdoe", "password": { "file": "password" }, "scope": "openid email" }),
        ),
    ] {
        let rules = json!([{ "endpoints": ["token"], "latency": { "constant": "20ms" }, "refuse": { "share": 0.3, "status": 503 } }]);
        let issuer = json!({ "expires_in": "2s", "faults": { "rules": rules } });
        let services = Services::of(serde_json::from_value(json!({ "issuer": issuer })).unwrap());
        let plan = flows(&json!({ "lab": { "sigstore": {} } }), "v1", 6);
        let folder = services.folder.path();
        fs::write(folder.join("plan.json"), plan.to_string()).unwrap();
        fs::write(folder.join("secret"), "hush-client\n").unwrap();
        fs::write(folder.join("password"), "hush-password\n").unwrap();
        let mut grant =
            json!({ "issuer": services.lab.issuer.url, "kind": kind, "client_id": "hammer", "tokens": 3 });
        grant.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let identity = json!({ "grant": grant });
        let ended = services.run("plan.json", &[format!("target.sigstore.identity={identity}")]);
        let report = ended.report();
        all_certified(&report, &ended);
        let token = &report.series.iter().find(|series| series.name == "token").unwrap().measurement;
        let asked = &services.lab.issuer.stats().requests["token"];
        let (granted, refused) = (asked[&200], asked.get(&503).copied().unwrap_or_default());
        assert!(refused > 0, "three in ten are: {asked:?}");
        // Three were granted before the run, in no figure, and some tries there may have been refused.
        assert_eq!(token.counts.fates.accepted, granted - 3, "{asked:?}");
        assert!(
            (refused.saturating_sub(6)..=refused).contains(&token.counts.fates.pushback),
            "{asked:?} {token:?}"
        );
        assert_eq!(services.lab.issuer.stats().requests["discovery"][&200], 2, "by hammer, and by Fulcio");
    }
}

#[test]
fn an_embedded_issuer_that_is_down_for_a_while_is_one_sentence_and_no_flood_of_refusals() {
    let grant = json!({ "client_id": "hammer", "client_secret": { "file": "secret" }, "timeout": "500ms" });
    let issuer = json!({ "expires_in": "3s", "faults": { "restarts": [{ "at": "1s", "down": "6s" }] } });
    let lab = json!({ "lab": { "sigstore": { "issuer": issuer, "identity": { "grant": grant } } } });
    let ended = run(&flows(&lab, "v1", 16));
    let report = ended.report();
    let flows = &report.series.iter().find(|series| series.name == "sign").unwrap().measurement;
    let fates = &flows.counts.fates;
    assert!(fates.accepted > 0 && fates.abandoned > 0 && fates.refused == 0, "{fates:?}");
    assert!(flows.causes.iter().any(|cause| cause.cause == "no valid token"), "{:?}", flows.causes);
    let token = &report.series.iter().find(|series| series.name == "token").unwrap().measurement;
    assert!(token.counts.fates.unreachable > 0 && token.counts.fates.accepted > 0, "{token:?}");
    let told = notes(&report, "no token was valid");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(" s to ") && !told[0].contains("to the end"), "it came back: {told:?}");
}

#[test]
fn what_is_wrong_with_an_issuer_is_named_by_its_key() {
    let sigstore = |identity: Value| json!({ "sigstore": { "fulcio_url": "http://127.0.0.1:9", "fulcio_chain": "none.pem", "identity": identity } });
    let lab = |keys: Value| json!({ "lab": { "sigstore": keys } });
    let secret = json!({ "client_id": "c", "client_secret": { "file": "secret" } });
    for (target, parts) in [
        (
            lab(json!({ "identity": { "rotate_every": "100ms" } })),
            ["lab.sigstore.identity.rotate_every", "a second at least"],
        ),
        (
            lab(json!({ "identity": { "rotate_every": "2s", "grant": secret } })),
            ["lab.sigstore.identity.rotate_every", "`grant` names another"],
        ),
        (
            lab(json!({ "identity": { "issuer": "http://127.0.0.1:9" } })),
            ["lab.sigstore.identity", "unknown key `issuer`"],
        ),
        (
            lab(json!({ "issuer": { "expires_in": "0s" } })),
            ["lab.sigstore.issuer.expires_in", "a second at least"],
        ),
        (
            lab(json!({ "fulcio": { "issuers": ["https://sso.test"] } })),
            ["lab.sigstore.fulcio.issuers[0]", "no http URL of loopback"],
        ),
    ] {
        let ended = run(&flows(&target, "v1", 1));
        assert_eq!(ended.code, 2, "{target} {}", ended.stderr);
        assert!(
            parts.iter().all(|part| ended.stderr.contains(part)),
            "{parts:?} are not in {}",
            ended.stderr
        );
    }
    let services = Services::of(serde_json::from_value(json!({})).unwrap());
    fs::write(services.folder.path().join("plan.json"), flows(&sigstore(json!({})), "v1", 1).to_string())
        .unwrap();
    fs::write(services.folder.path().join("secret"), "hush-client").unwrap();
    for (identity, parts) in [
        (json!({ "grant": secret }), ["identity.grant.token_url", "give exactly one of token_url, issuer"]),
        (
            json!({ "token": { "file": "secret" }, "rotate_every": "2s" }),
            ["identity.rotate_every", "hammer's own issuer"],
        ),
    ] {
        let ended = services.run("plan.json", &[format!("target.sigstore.identity={identity}")]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(
            parts.iter().all(|part| ended.stderr.contains(part)),
            "{parts:?} are not in {}",
            ended.stderr
        );
    }
}

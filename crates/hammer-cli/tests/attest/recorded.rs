//! The recorded exchanges of real verifiers, met by hammer: what each answer is called, and what is held against whom.

use hammer_report::Report;
use serde_json::{Value, json};

use crate::hammer::Ended;
use crate::recordings::{Script, answer, let_in};
use crate::server::Server;
use crate::verifier::{of, planned};

/// One operation of a workload on a server.
fn once(server: &Server, workload: &str, settings: &Value) -> Ended {
    let url = server.url();
    let plan = json!({
        "target": { "attest": {
            "provisioning_url": url, "verification_url": url, "management_url": url,
            // What was recorded was long ago.
            "skew": "876000h",
        } },
        "workloads": [{
            "name": "one", workload: settings, "load": { "users": 1, "operations": 1 }, "timeout": "20s",
        }],
        "phases": { "measurement": "30s", "drain": "30s" },
    });
    planned(&plan)
}

/// What is told of an operation: its fate, its cause, and a part of what was answered.
type Told = (&'static str, &'static str, &'static str);

/// Holds what is told of the one operation of a series against that.
#[track_caller]
fn is_told(report: &Report, series: &str, (fate, why, part): Told) {
    let measured = &of(report, series).measurement;
    let [cause] = &measured.causes[..] else { panic!("{series}: {:?}", measured.causes) };
    assert_eq!((cause.fate.as_str(), cause.cause.as_str(), cause.count), (fate, why, 1), "{series}");
    let answer = cause.answer.as_deref().unwrap_or_default();
    assert!(answer.contains(part) && part.is_empty() == answer.is_empty(), "{series}: no {part} in {answer}");
}

const OK: Told = ("accepted", "HTTP 200", "");

#[test]
fn each_answer_to_endorsements_is_what_it_says_and_not_what_its_status_is() {
    let failed = "failed with HTTP 200";
    let refused = |cause, part| ("refused", cause, part);
    let of_2502 = [
        ("03-submit-unsigned", OK),
        ("e01-submit-wrong-mediatype", refused("HTTP 415", "no active plugin found")),
        ("e02-submit-no-contenttype", refused("HTTP 400", "mime: no media type")),
        ("e03-submit-empty-body", refused("HTTP 400", "empty body")),
        ("e04-submit-garbage", refused(failed, "submit endorsements failed: CBOR decoding failed")),
        ("e05-submit-bad-accept", refused("HTTP 406", "the only supported output format")),
        ("e18-404", refused("HTTP 404", "404 page not found")),
    ];
    let of_2608 = [
        ("v2608-03-submit-again", ("accepted", "in store before", "")),
        ("v2608-e01-legacy-type", refused("HTTP 415", "no active plugin found")),
        ("v2608-e02-legacy-body", refused(failed, "did not see unsigned CoRIM tag")),
        ("v2608-e03-garbage", refused(failed, "did not see unsigned CoRIM tag")),
        ("v2608-e04-unsigned-as-signed", refused(failed, "failed to parse signed CoRIM")),
        ("v2608-e05-profile-mismatch", refused(failed, "does not match media type profile")),
    ];
    let of_2502 = of_2502.into_iter().map(|(name, expected)| (Script::of_2502(), answer(name), expected));
    let of_2608 = of_2608.into_iter().map(|(name, expected)| (Script::of_2608(), answer(name), expected));
    let by_credentials = [
        (0, refused("HTTP 401", "no Basic Authorizaiton given")),
        (1, OK),
        (2, refused("HTTP 401", "wrong username or password")),
        (3, refused("HTTP 401", "API unauthorized for user")),
    ];
    let by_credentials =
        by_credentials.into_iter().map(|(place, expected)| (Script::of_2502(), let_in(place), expected));
    for (script, submit, expected) in of_2502.chain(of_2608).chain(by_credentials) {
        let server = Script { submit, ..script }.serve();
        let report = once(&server, "attest_provision", &json!({})).report();
        is_told(&report, "one/provision", expected);
    }
}

/// A flow whose nonce the service chooses, of devices with `class`, whose session is read once more.
fn flow(script: Script, class: Option<&str>) -> Ended {
    let bad = class.map_or(json!({}), |class| json!({ "share": "100%", "mix": { class: 1 } }));
    let devices = json!({ "count": 1 });
    let settings = json!({ "devices": devices, "nonce": "service", "read_result": true, "bad": bad });
    once(&script.serve(), "attest_verify", &settings)
}

/// What is held against a verifier, and how many of its promises were kept.
fn held(ended: &Ended) -> (Vec<String>, u64) {
    let report = ended.report();
    (report.breaches.iter().map(|breach| breach.kind.clone()).collect(), report.promises.all.kept)
}

#[test]
fn a_recorded_result_is_that_of_the_recorded_device_and_of_its_session_and_all_else_is_right_with_it() {
    for script in [Script::of_2502(), Script::of_2608()] {
        // That of v0.0.2608 was opened by another nonce.
        let is_of_session = script.new_session == answer("04-newsession-nonce");
        let broken = if is_of_session { "result-of-another-device" } else { "wrong-nonce" };
        let ended = flow(script, None);
        assert_eq!(held(&ended), (vec![broken.to_owned(); 2], 0), "{}", ended.stderr);
        let report = ended.report();
        is_told(&report, "one/new-session", ("accepted", "HTTP 201", ""));
        is_told(&report, "one/delete", ("accepted", "HTTP 204", ""));
        ["evidence", "result", "verify"]
            .iter()
            .for_each(|series| is_told(&report, &format!("one/{series}"), OK));
    }
    let again = Script { evidence: answer("e14-same-session-good-again"), ..Script::of_2502() };
    assert_eq!(held(&flow(again, None)).0, ["result-of-another-device"; 2]);
    for other in ["10-newsession-noncesize", "e08b-newsession-default"] {
        let other = Script { new_session: answer(other), ..Script::of_2502() };
        assert_eq!(held(&flow(other, None)).0, ["wrong-nonce"; 2]);
    }
}

#[test]
fn evidence_that_is_none_or_is_of_another_session_is_judged_as_it_was() {
    let garbage = || Script {
        evidence: answer("e13-evidence-garbage"),
        read: answer("e13-evidence-garbage"),
        ..Script::of_2502()
    };
    // All but the evidence is as it should be: what was recorded is shown, and not what was sent.
    let other_evidence = (vec!["session-of-other-evidence".to_owned(); 2], 0);
    assert_eq!(held(&flow(garbage(), Some("garbage"))), other_evidence);
    assert_eq!(held(&flow(garbage(), None)).0, ["good-device-not-affirmed"; 2]);
    // The session of this one was opened by a request that was not recorded: its nonce is that of its evidence's answer.
    let nonce = "dxXpqCe1scoLkhLvlwwWCwpDB8xnZ1u/sN64D6RMb3o=";
    let opened =
        answer("10-newsession-noncesize").replace("Zvix0pzAzICgV8f/cSByp4PTVtrT48PWLgFRabs/MgY=", nonce);
    let mismatch = answer("e15-evidence-nonce-mismatch");
    assert!(opened.contains(nonce) && mismatch.contains(nonce));
    let stale = || Script {
        new_session: opened.clone(),
        evidence: mismatch.clone(),
        read: mismatch.clone(),
        ..Script::of_2502()
    };
    assert_eq!(held(&flow(stale(), Some("stale-nonce"))), other_evidence);
    assert_eq!(held(&flow(stale(), None)).0, ["good-device-not-affirmed"; 2]);
}

#[test]
fn a_flow_that_is_refused_ends_with_its_cause_and_accuses_nobody() {
    let refused = |cause, part| ("refused", cause, part);
    let not_found = refused("session not found", "session not found for (id, tenant)");
    type Step = fn(&mut Script) -> &mut String;
    let new_session: (&str, Step) = ("new-session", |script| &mut script.new_session);
    let evidence: (&str, Step) = ("evidence", |script| &mut script.evidence);
    let result: (&str, Step) = ("result", |script| &mut script.read);
    for ((series, step), name, told) in [
        (
            new_session,
            "e06-newsession-bad-noncesize",
            refused("HTTP 400", "nonceSize must be in range 8..64"),
        ),
        (new_session, "e07-newsession-bad-nonce", refused("HTTP 400", "nonce must be valid base64")),
        (new_session, "e08-newsession-both", refused("HTTP 400", "mutually exclusive")),
        (new_session, "e17-get-newsession-method", refused("HTTP 404", "404 page not found")),
        (evidence, "e09-evidence-unknown-session", not_found),
        (evidence, "e10-evidence-bad-session-id", refused("HTTP 400", "invalid session id")),
        (evidence, "e11-evidence-wrong-mediatype", refused("HTTP 415", "no active plugin found")),
        (evidence, "e12-evidence-empty", refused("HTTP 400", "unable to read evidence")),
        (evidence, "e18-404", refused("HTTP 404", "404 page not found")),
        (result, "09-get-session-after-delete", not_found),
        (
            result,
            "05-get-session-waiting",
            ("malformed", "still waiting for evidence that it was shown", "\"status\":\"waiting\""),
        ),
    ] {
        let mut script = Script::of_2502();
        *step(&mut script) = answer(name);
        // What was shown before the last step is judged as ever.
        let is_judged = series == "result";
        if is_judged {
            script.evidence = answer("e13-evidence-garbage");
        }
        let ended = flow(script, Some("garbage"));
        let broken = if is_judged { vec!["session-of-other-evidence".to_owned()] } else { Vec::new() };
        assert_eq!(held(&ended), (broken, 0), "{name}: {}", ended.stderr);
        let report = ended.report();
        is_told(&report, &format!("one/{series}"), told);
        is_told(&report, "one/verify", told);
    }
}

#[test]
fn documents_are_read_of_either_release_and_what_is_none_is_refused() {
    let internal = answer("e03-submit-empty-body").replace("400 Bad Request", "500 Internal Server Error");
    let management = answer("e19-mgmt-wellknown");
    for (document, expected) in [
        (answer("01-wellknown-provisioning"), OK),
        (answer("v2608-01-wk-prov"), OK),
        (answer("02-wellknown-verification"), OK),
        (answer("v2608-02-wk-verif"), OK),
        (management, OK),
        (answer("e18-404"), ("refused", "HTTP 404", "404 page not found")),
        (internal.clone(), ("server_error", "HTTP 500", "empty body")),
        (
            answer("01-wellknown-provisioning").replace("READY", "DOWN!"),
            ("refused", "service not ready, with HTTP 200", "media-types"),
        ),
        (answer("e13-evidence-garbage"), ("refused", "service not ready, with HTTP 200", "{")),
    ] {
        let server = Script { provisioning: document, ..Script::of_2502() }.serve();
        let report = once(&server, "attest_well_known", &json!({})).report();
        is_told(&report, "one/provisioning", expected);
    }
    // Before a run that lives by it, it is an error.
    let server = Script { provisioning: internal, ..Script::of_2502() }.serve();
    let ended = once(&server, "attest_provision", &json!({}));
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    for told in [
        "target.attest.provisioning_url: failed to read the discovery document of provisioning",
        "it answered GET /.well-known/veraison/provisioning with 500",
    ] {
        assert!(ended.stderr.contains(told), "no {told} in {}", ended.stderr);
    }
}

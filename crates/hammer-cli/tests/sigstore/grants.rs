//! Tokens that an issuer grants: what flows show while they are refreshed, and what a run says where they are not. What the report says
//! of requests for tokens is held against what the issuer was asked.

use std::fs;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hammer_oauth::{IdentityClaims, MintScratch, TokenAlgorithm, TokenMinter};
use hammer_report::Report;
use serde_json::{Value, json};

use crate::hammer::Ended;
use crate::issuer::{Asked, Issuer, Reply};
use crate::services::{ISSUER, Services, keys};

#[expect(clippy::disallowed_methods, reason = "an issuer has a clock")]
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

fn token(number: u64, life: i64, email: &str) -> String {
    let claims = IdentityClaims {
        subject: email,
        email: Some(email),
        issued_at: now() - 1,
        expires_at: now() + life,
        extra: &[],
    };
    let mut token = String::new();
    let minter = TokenMinter::new(ISSUER, "sigstore", keys(TokenAlgorithm::Es256));
    minter.mint(number, &claims, &mut MintScratch::default(), &mut token);
    token
}

/// The answer to the n-th request: a token of so many seconds, of that address.
fn granted(number: usize, life: i64, email: &str) -> Reply {
    let token = token(number as u64, life, email);
    let answer = json!({ "token_type": "bearer", "id_token": token, "expires_in": life.to_string() });
    Reply::Says(200, answer.to_string())
}

/// What a run came to, and all that it wrote.
struct Came {
    ended: Ended,
    services: Services,
    events: String,
}

impl Came {
    /// Runs flows with these tokens for so long.
    fn of(identity: &Value, flows: &Value, seconds: u32) -> Self {
        Self::on(Services::of(serde_json::from_value(json!({})).unwrap()), identity, flows, seconds)
    }

    fn on(services: Services, identity: &Value, flows: &Value, seconds: u32) -> Self {
        let kind = if flows.get("sign_weight").is_some() { "sigstore_mixed" } else { "sigstore_sign" };
        let workload = json!({ "name": "flows", kind: flows, "load": { "rate": "20/s" }, "timeout": "20s" });
        let plan = json!({
            "target": { "lab": { "sigstore": {} } },
            "workloads": [workload],
            "phases": { "measurement": format!("{seconds}s"), "drain": "20s" },
            "output": { "events": "events.jsonl" },
        });
        let folder = services.folder.path().to_owned();
        fs::write(folder.join("plan.json"), plan.to_string()).unwrap();
        fs::write(folder.join("secret"), format!("{CLIENT_SECRET}\n")).unwrap();
        fs::write(folder.join("password"), format!("{PASSWORD}\n")).unwrap();
        let ended = services.run("plan.json", &[format!("target.sigstore.identity={identity}")]);
        let events = fs::read_to_string(folder.join("events.jsonl")).unwrap_or_default();
        Self { ended, services, events }
    }

    fn report(&self) -> Report {
        self.ended.report()
    }

    /// Nothing that was written has a secret, or a token.
    #[track_caller]
    fn shows_no_secret(&self) {
        let told = [&self.ended.stdout, &self.ended.stderr, &self.events];
        for secret in [CLIENT_SECRET, PASSWORD, "eyJhbGciOi", "aHVzaC1jbGllbnQ"] {
            assert!(told.iter().all(|text| !text.contains(secret)), "{secret}");
        }
    }

    fn notes(&self) -> Vec<String> {
        let events = serde_json::to_value(self.report()).unwrap()["events"].clone();
        let notes = events.as_array().unwrap().iter().filter(|event| event["event"] == "note");
        notes.map(|note| note["text"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

const CLIENT_SECRET: &str = "hush-client";
const PASSWORD: &str = "hush-password";
const EMAIL: &str = "granted@hammer.test";

fn client_credentials(issuer: &Issuer, more: &Value) -> Value {
    let mut grant = json!({
        "token_url": format!("http://{}/token", issuer.at),
        "client_id": "hammer",
        "client_secret": { "file": "secret" },
        "timeout": "500ms",
    });
    grant.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "grant": grant })
}

#[test]
fn granted_tokens_are_refreshed_before_they_are_over_and_no_flow_is_refused_at_any_interface() {
    for (interface, endpoint, status) in
        [("v1", "signing-cert-v1", 201), ("v2", "signing-cert-v2", 200), ("grpc", "signing-cert-grpc", 200)]
    {
        let issuer = Issuer::answering(|number| {
            // The second is of somebody else, so that the proof of possession is too.
            granted(number, 4, if number % 2 == 0 { EMAIL } else { "another@hammer.test" })
        });
        let identity =
            client_credentials(&issuer, &json!({ "tokens": 2, "scope": "openid", "audience": "sigstore" }));
        let came =
            Came::of(&identity, &json!({ "fulcio": interface, "rekor": "none", "timestamp": false }), 6);
        let (report, asked) = (came.report(), issuer.asked());
        let series = |name: &str| report.series.iter().find(|series| series.name == name).unwrap();
        let (flows, fulcio) = (&series("sign").measurement.counts, &series("fulcio").measurement.counts);
        assert!(fulcio.fates.accepted > 0, "{}", came.ended.stderr);
        assert_eq!(fulcio.fates.accepted, fulcio.offered, "{}", came.ended.stderr);
        assert_eq!(fulcio.fates.accepted, flows.fates.accepted);
        let answered = &came.services.lab.fulcio.stats().requests[endpoint];
        assert_eq!((answered.len(), answered[&status]), (1, fulcio.offered));
        assert_eq!(report.promises.all.kept, report.promises.all.made);
        // Two were granted before the run, in no figure.
        let token = series("token");
        assert_eq!((token.workload.as_str(), token.path.as_str()), ("oauth", "oauth/token"));
        let fates = &token.measurement.counts.fates;
        assert!(fates.accepted >= 2, "each was refreshed: {asked:?}");
        assert_eq!(
            (fates.accepted, token.measurement.counts.offered),
            (asked.len() as u64 - 2, fates.accepted)
        );
        assert_eq!(asked[0].path, "/token");
        assert_eq!(asked[0].authorization, "Basic aGFtbWVyOmh1c2gtY2xpZW50");
        assert_eq!(asked[0].body, "grant_type=client_credentials&scope=openid&audience=sigstore");
        assert!(asked.iter().all(|one| *one == asked[0]));
        came.shows_no_secret();
        assert!(!came.notes().iter().any(|note| note.contains("no token was valid")), "{:?}", came.notes());
    }
}

#[test]
fn flows_that_are_mixed_with_others_prove_their_keys_to_tokens_of_two() {
    let issuer = Issuer::answering(|number| {
        granted(number, 600, if number % 2 == 0 { EMAIL } else { "another@hammer.test" })
    });
    let (sign, verify) = (json!({ "timestamp": false }), json!({ "timestamp_chain": false }));
    let flows = json!({ "sign_weight": 1, "verify_weight": 1, "sign": sign, "verify": verify });
    let came = Came::of(&client_credentials(&issuer, &json!({ "tokens": 2 })), &flows, 2);
    let report = came.report();
    let fulcio = report.series.iter().find(|series| series.name.ends_with("fulcio")).unwrap();
    let counts = &fulcio.measurement.counts;
    assert!(counts.offered > 1 && counts.fates.accepted == counts.offered, "{}", came.ended.stderr);
    assert_eq!(report.promises.all.kept, report.promises.all.made, "{}", came.ended.stderr);
    assert_eq!(issuer.asked().len(), 2);
}

#[test]
fn a_password_is_sent_to_the_endpoint_that_the_issuer_names() {
    let issuer = Issuer::answering(|number| granted(number, 600, EMAIL));
    let grant = json!({
        "issuer": format!("http://{}", issuer.at),
        "kind": "password",
        "client_id": "sigstore",
        "client_secret": { "file": "secret" },
        "client_auth": "post",
        "username": "jdoe",
        "password": { "file": "password" },
    });
    let came = Came::of(&json!({ "grant": grant }), &json!({ "rekor": "none", "timestamp": false }), 1);
    let body = "grant_type=password&username=jdoe&password=hush-password&client_id=sigstore&client_secret=hush-client";
    let path = "/token".to_owned();
    assert_eq!(issuer.asked(), [Asked { path, authorization: String::new(), body: body.to_owned() }]);
    let fates = came.report().totals.measurement.fates;
    assert!(fates.accepted > 0 && fates.refused == 0, "{}", came.ended.stderr);
    came.shows_no_secret();
}

#[test]
fn an_issuer_that_grants_no_more_is_one_sentence_and_no_flood_of_refusals() {
    let issuer = Issuer::answering(|number| match number {
        0 => granted(number, 3, EMAIL),
        _ => Reply::Says(503, format!("down {CLIENT_SECRET}")),
    });
    let came = Came::of(
        &client_credentials(&issuer, &json!({})),
        &json!({ "rekor": "none", "timestamp": false }),
        6,
    );
    let report = came.report();
    let series = |name: &str| report.series.iter().find(|series| series.name == name).unwrap();
    let flows = &series("sign").measurement;
    assert!(flows.counts.fates.accepted > 0 && flows.counts.fates.abandoned > 0, "{flows:?}");
    assert_eq!(flows.counts.fates.refused, 0);
    assert!(flows.causes.iter().any(|cause| cause.cause == "no valid token"), "{:?}", flows.causes);
    assert_eq!(
        came.services.lab.fulcio.stats().requests["signing-cert-v1"].keys().collect::<Vec<_>>(),
        [&201]
    );
    let fulcio = &series("fulcio").measurement.counts;
    assert_eq!(
        (fulcio.offered, fulcio.fates.accepted),
        (flows.counts.fates.accepted, flows.counts.fates.accepted)
    );
    let token = &series("token").measurement;
    assert_eq!(token.counts.fates.pushback, issuer.asked().len() as u64 - 1);
    let told: Vec<String> =
        came.notes().into_iter().filter(|note| note.contains("no token was valid")).collect();
    let [note] = told.as_slice() else { panic!("one sentence, and not {told:?}") };
    assert!(
        note.contains(" to the end: ")
            && note.ends_with("failed to be granted a token: the issuer answered 503"),
        "{note}"
    );
    came.shows_no_secret();
}

#[test]
fn what_an_issuer_answers_in_place_of_a_token_has_its_own_cause() {
    let replies = || {
        [
            Reply::Says(400, json!({ "error": "invalid_grant", "error_description": PASSWORD }).to_string()),
            Reply::Says(
                401,
                json!({ "error": "invalid_client", "error_description": CLIENT_SECRET }).to_string(),
            ),
            Reply::Says(200, json!({ "error": "invalid_grant" }).to_string()),
            Reply::Says(200, json!({ "token_type": "Bearer" }).to_string()),
            Reply::Says(200, json!({ "access_token": "opaque" }).to_string()),
            granted(99, 0, EMAIL),
            Reply::Silence,
        ]
    };
    let places = replies().len();
    let issuer = Issuer::answering(move |number| match number {
        // Two tokens last, so that flows go on.
        number if number < places => granted(number, 3, EMAIL),
        number => replies().get(number - places).cloned().unwrap_or_else(|| granted(number, 600, EMAIL)),
    });
    let identity = client_credentials(&issuer, &json!({ "tokens": places }));
    let came = Came::of(&identity, &json!({ "rekor": "none", "timestamp": false }), 8);
    let report = came.report();
    let token = &report.series.iter().find(|series| series.name == "token").unwrap().measurement;
    for cause in [
        "HTTP 400",
        "HTTP 401",
        "refusal within a success",
        "answer without a token",
        "token of no use",
        "token is over when it comes",
        "deadline of the operation",
    ] {
        let found = token.causes.iter().find(|one| one.cause == cause);
        assert_eq!(found.map(|one| one.count), Some(1), "{cause}: {:?}", token.causes);
    }
    assert_eq!(token.counts.offered, issuer.asked().len() as u64 - places as u64);
    assert_eq!(report.totals.measurement.fates.refused, 0, "no flow showed anything else than a good token");
    came.shows_no_secret();
}

#[test]
fn a_run_that_is_granted_no_token_does_not_start_and_says_why() {
    let issuer = Issuer::answering(|_| {
        Reply::Says(401, json!({ "error": "invalid_client", "error_description": CLIENT_SECRET }).to_string())
    });
    let came = Came::of(&client_credentials(&issuer, &json!({})), &json!({}), 1);
    assert_eq!(came.ended.code, 2, "{}", came.ended.stderr);
    let told = "failed to be granted a token: the issuer answered 401 with invalid_client: ***";
    assert!(came.ended.stderr.contains(told), "{}", came.ended.stderr);
    assert!(came.ended.stderr.contains("identity.grant"), "{}", came.ended.stderr);
    assert_eq!(issuer.asked().len(), 1, "what was refused is not asked for again");
    came.shows_no_secret();
}

#[test]
fn a_token_file_that_ends_within_the_run_is_said_before_it_and_is_read_again_when_it_changes() {
    let services = Services::of(serde_json::from_value(json!({})).unwrap());
    let path = services.folder.path().join("token");
    fs::write(&path, token(1, 3, EMAIL)).unwrap();
    let replaced = thread::spawn({
        let path = path.clone();
        move || {
            // Once the first is over, there is another one.
            let over = now() + 5;
            while now() < over {
                thread::park_timeout(Duration::from_millis(50));
            }
            fs::write(&path, token(2, 600, EMAIL)).unwrap();
        }
    });
    let identity = json!({ "token": { "file": "token" } });
    let came = Came::on(services, &identity, &json!({ "rekor": "none", "timestamp": false }), 10);
    replaced.join().unwrap();
    let notes = came.notes();
    assert!(notes.iter().any(|note| note.starts_with("the token of token expires ")), "{notes:?}");
    let told: Vec<&String> =
        notes.iter().filter(|note| note.starts_with("no token was valid from ")).collect();
    assert_eq!(told.len(), 1, "{notes:?}");
    assert!(told[0].contains(" s to ") && told[0].ends_with("; token had no other"), "{told:?}");
    let report = came.report();
    let flows = &report.series.iter().find(|series| series.name == "sign").unwrap();
    let fates = &flows.measurement.counts.fates;
    assert!(fates.accepted > 0 && fates.abandoned > 0 && fates.refused == 0, "{fates:?}");
    assert!(flows.measurement.causes.len() == 2, "{:?}", flows.measurement.causes);
    assert_eq!(
        came.services.lab.fulcio.stats().requests["signing-cert-v1"].keys().collect::<Vec<_>>(),
        [&201]
    );
    came.shows_no_secret();
}

/// A token of somebody who has no address.
fn token_of_subject(subject: &str) -> String {
    let claims =
        IdentityClaims { subject, email: None, issued_at: now() - 1, expires_at: now() + 600, extra: &[] };
    let mut token = String::new();
    let minter = TokenMinter::new(ISSUER, "sigstore", keys(TokenAlgorithm::Es256));
    minter.mint(0, &claims, &mut MintScratch::default(), &mut token);
    token
}

#[test]
fn a_certificate_that_names_its_owner_by_another_claim_is_held_to_what_the_plan_says_of_it() {
    let account = ("kubernetes", "system:serviceaccount:ci:signer");
    let uri = "https://kubernetes.io/namespaces/ci/serviceaccounts/signer";
    let user = ("username", "jdoe");
    let lies = json!([{ "kind": "certificate-for-another-identity", "after": 2 }]);
    for ((issuer_type, subject), stated, lies, broken) in [
        (account, None, json!([]), false),
        (account, Some(uri), json!([]), false),
        (account, Some("https://kubernetes.io/namespaces/ci/serviceaccounts/another"), json!([]), true),
        (account, Some(subject_of(account)), json!([]), true),
        (account, Some(uri), lies.clone(), true),
        // Whom it names is not looked at where nobody says it.
        (account, None, lies.clone(), false),
        (user, None, json!([]), false),
        (user, Some("jdoe!hammer.test"), json!([]), false),
        (user, Some("jdoe!hammer.test"), lies, true),
    ] {
        let fulcio = json!({ "fulcio": { "issuer_type": issuer_type, "lies": lies } });
        let services = Services::of(serde_json::from_value(fulcio).unwrap());
        fs::write(services.folder.path().join("token"), token_of_subject(subject)).unwrap();
        let mut identity = json!({ "token": { "file": "token" } });
        if let Some(stated) = stated {
            identity["certified_subject"] = stated.into();
        }
        let came = Came::on(services, &identity, &json!({ "rekor": "none", "timestamp": false }), 1);
        let report = came.report();
        let (fates, promises) = (&report.totals.all.fates, &report.promises.all);
        assert!(fates.accepted > 2 && fates.accepted == report.totals.all.offered, "{}", came.ended.stderr);
        assert_eq!((promises.broken > 0, promises.unchecked), (broken, 0), "{subject} {stated:?}");
        let named = report.breaches.iter().all(|breach| breach.kind == "certificate-identity");
        assert!(named && promises.kept + promises.broken == promises.made, "{:?}", report.breaches);
    }
}

const fn subject_of<'a>((_, subject): (&str, &'a str)) -> &'a str {
    subject
}

#[test]
fn what_a_token_without_an_address_signed_is_verified_without_asking_whose_it_is() {
    let fulcio = json!({ "fulcio": { "issuer_type": "kubernetes" } });
    let services = Services::of(serde_json::from_value(fulcio).unwrap());
    let token = token_of_subject("system:serviceaccount:ci:signer");
    fs::write(services.folder.path().join("token"), token).unwrap();
    let bundles = json!({ "folder": "bundles", "first": 2 });
    let flows = json!({
        "sign_weight": 1,
        "verify_weight": 1,
        "sign": { "bundles": bundles },
        "verify": {},
    });
    let came = Came::on(services, &json!({ "token": { "file": "token" } }), &flows, 2);
    let report = came.report();
    let promises = &report.promises.all;
    assert!(promises.made > 20 && promises.kept == promises.made, "{promises:?} {:?}", report.breaches);
    let kinds = serde_json::to_value(&report.promises).unwrap();
    assert!(kinds.to_string().contains("\"artifact\""), "{kinds}");
}

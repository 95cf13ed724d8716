//! Who may provision: what is let in, what is refused, and that no secret is told to anybody else.

use std::collections::BTreeSet;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hammer_lab_attest::{AttestLabHandle, AttestLabPlan, LabUser};
use hammer_report::report::Cause;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::hammer::Ended;
use crate::issuer::{Issuer, Reply};
use crate::recordings::{Script, let_in};
use crate::server::Server;
use crate::verifier::{of, planned_in};

const PASSWORD: &str = "hush-password";
const WRONG: &str = "hush-another";
const CLIENT_SECRET: &str = "hush-client";
const TOKEN: &str = "hush-token";

/// Provisions devices, and shows some, at a URL; nothing that is told or written has a secret in it.
fn let_in_by(url: &str, auth: &Value, workloads: &Value) -> Ended {
    let folder = Folder::new();
    let mut auth = auth.to_string();
    for (name, secret) in [("RIGHT", PASSWORD), ("WRONG", WRONG), ("CLIENT", CLIENT_SECRET), ("TOKEN", TOKEN)]
    {
        auth = auth.replace(name, &folder.write(name, &format!("{secret}\n")));
    }
    let auth: Value = serde_json::from_str(&auth).unwrap();
    let urls =
        json!({ "provisioning_url": url, "verification_url": url, "auth": auth, "provisioning_delay": "0s" });
    let plan = json!({
        "target": { "attest": urls },
        "workloads": workloads,
        "phases": { "measurement": "1s", "drain": "30s" },
    });
    let events = folder.path("events.jsonl");
    let ended = planned_in(&folder, &plan, &["--log", "debug", "--events", &events]);
    let events = fs::read_to_string(events).unwrap();
    assert!(events.lines().count() > 1 && ended.stderr.contains(" DEBUG "), "{}", ended.stderr);
    let encoded = [PASSWORD, WRONG].map(|password| STANDARD.encode(format!("a user:{password}")));
    let encoded = encoded.iter().map(|text| text.trim_end_matches('='));
    for secret in encoded.chain(["hush-"]) {
        for told in [&ended.stdout, &ended.stderr, &events] {
            assert!(!told.contains(secret), "{secret} in {told}");
        }
    }
    ended
}

fn provision(operations: u64) -> Value {
    json!([{ "name": "provision", "attest_provision": {}, "load": { "users": 2, "operations": operations } }])
}

fn basic(user: &str, password: &str) -> Value {
    json!({ "basic": { "user": user, "password": { "file": password } } })
}

/// What became of the provisionings of a run: those that were accepted, and the cause of all others.
fn provisioned(ended: &Ended) -> (u64, Option<Cause>) {
    let report = ended.report();
    let measured = &of(&report, "provision/provision").measurement;
    let refused: Vec<&Cause> = measured.causes.iter().filter(|cause| cause.fate != "accepted").collect();
    assert!(refused.len() < 2, "{refused:?}");
    (measured.counts.fates.accepted, refused.first().map(|cause| (*cause).clone()))
}

#[track_caller]
fn is_refused(ended: &Ended, part: &str) {
    let (accepted, cause) = provisioned(ended);
    let cause = cause.unwrap();
    assert_eq!((accepted, cause.fate.as_str(), cause.cause.as_str()), (0, "refused", "HTTP 401"));
    assert!(cause.answer.as_ref().unwrap().contains(part), "{cause:?}");
    // Nothing accepted is said behind what a busy machine makes of the figures.
    assert!(cause.count == 6 && [1, 5].contains(&ended.code), "{cause:?} {}", ended.code);
    assert!(ended.stderr.contains("HTTP 401"), "{}", ended.stderr);
}

#[test]
fn a_user_provisions_with_its_password_and_with_no_other_and_only_where_it_may() {
    let user = |name: &str, provisions| LabUser { name: name.into(), password: PASSWORD.into(), provisions };
    let users = vec![user("a user", true), user("another", false)];
    let lab = AttestLabHandle::spawn(AttestLabPlan { users, ..AttestLabPlan::default() }).unwrap();
    let of = |user: &str, password: &str| let_in_by(&lab.url, &basic(user, password), &provision(6));
    assert_eq!(provisioned(&of("a user", "RIGHT")), (6, None));
    is_refused(&of("a user", "WRONG"), "wrong username or password");
    is_refused(&of("another", "RIGHT"), "API unauthorized for user");
    is_refused(&let_in_by(&lab.url, &json!({ "bearer": { "file": "TOKEN" } }), &provision(6)), "no Basic");
    assert_eq!(lab.stats().requests["submit"], [(200, 6), (401, 18)].into());
}

/// A verifier that provisions for those of whom `lets_in` is true, and says with its refusal what it was sent.
fn demanding(lets_in: impl Fn(&str) -> bool + Send + Sync + 'static) -> Server {
    let script = Script::of_2502();
    Server::answering_to(move |_, request| {
        let sent = request.header("authorization").unwrap_or_default();
        match request.line.contains("/submit ") && !lets_in(sent) {
            true => {
                let refused = let_in(2);
                let (head, _) = refused.split_once("content-length").unwrap();
                let meant = sent.split_once(' ').and_then(|(_, pair)| STANDARD.decode(pair).ok());
                let meant = String::from_utf8(meant.unwrap_or_default()).unwrap();
                let said = format!("wrong username or password: {sent} ({meant})");
                format!("{head}content-length: {}\r\n\r\n{said}", said.len())
            }
            false => script.answer(request),
        }
    })
}

/// What each request to `server` was let in by, of those whose path has `part` in it.
fn shown(server: &Server, part: &str) -> Vec<String> {
    let requests = server.requests().into_iter().filter(|request| request.line.contains(part));
    requests.map(|request| request.header("authorization").unwrap_or_default().to_owned()).collect()
}

/// Verification was asked, and never told who asks.
fn is_verified_without(server: &Server) {
    let paths = ["/challenge-response/", "/.well-known/"];
    assert!(paths.iter().all(|path| shown(server, path).iter().all(String::is_empty)));
    assert!(shown(server, "newSession").len() >= 4, "{:?}", server.requests().len());
}

fn provision_and_verify() -> Value {
    json!([
        { "name": "provision", "attest_provision": {}, "load": { "users": 1, "operations": 6 } },
        { "name": "verify", "attest_verify": { "provision_at_start": true, "devices": { "stream": 1 } },
          "load": { "users": 2, "operations": 4 } },
    ])
}

#[test]
fn what_a_server_repeats_of_a_secret_is_not_told() {
    let server = demanding(|_| false);
    is_refused(&let_in_by(&server.url(), &basic("a user", "RIGHT"), &provision(6)), "***");
    is_refused(&let_in_by(&server.url(), &json!({ "bearer": { "file": "TOKEN" } }), &provision(6)), "***");
}

#[test]
fn a_token_of_a_file_goes_along_with_each_provisioning_and_with_nothing_else() {
    let server = demanding(|sent| sent == format!("Bearer {TOKEN}"));
    let ended = let_in_by(&server.url(), &json!({ "bearer": { "file": "TOKEN" } }), &provision_and_verify());
    assert_eq!(provisioned(&ended), (6, None), "{}", ended.stderr);
    assert_eq!(shown(&server, "/submit "), vec![format!("Bearer {TOKEN}"); 8]);
    is_verified_without(&server);
}

#[test]
fn tokens_that_an_issuer_grants_go_along_with_each_provisioning_and_with_nothing_else() {
    let client = json!({ "client_id": "hammer", "client_secret": { "file": "CLIENT" } });
    let password = json!({
        "kind": "password", "client_id": "hammer", "username": "a user", "password": { "file": "RIGHT" },
    });
    for (grant, asked) in [
        (client, "grant_type=client_credentials".to_owned()),
        (password, format!("grant_type=password&username=a+user&password={PASSWORD}&client_id=hammer")),
    ] {
        let issuer = Issuer::answering(|number| {
            let token = format!("hush-granted-{number}");
            let answer = json!({ "access_token": token, "token_type": "Bearer", "expires_in": 600 });
            Reply::Says(200, answer.to_string())
        });
        let mut grant = grant;
        grant["token_url"] =
            json!(format!("http://{}/realms/veraison/protocol/openid-connect/token", issuer.at));
        grant["tokens"] = json!(2);
        let server = demanding(|sent| sent.starts_with("Bearer hush-granted-"));
        let auth = json!({ "bearer": { "grant": grant } });
        let ended = let_in_by(&server.url(), &auth, &provision_and_verify());
        assert_eq!(provisioned(&ended), (6, None), "{}", ended.stderr);
        let sent = shown(&server, "/submit ");
        let different: BTreeSet<&str> = sent.iter().map(String::as_str).collect();
        let granted = ["Bearer hush-granted-0", "Bearer hush-granted-1"];
        assert_eq!((sent.len(), different), (8, granted.into()), "in turn");
        is_verified_without(&server);
        let asked_for: Vec<String> = issuer.asked().into_iter().map(|asked| asked.body).collect();
        assert_eq!(asked_for, vec![asked; 2]);
    }
}

//! Plans with services by their names, each reached in its own way.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/issuer.rs"]
mod issuer;
#[path = "support/server.rs"]
mod server;

use std::collections::BTreeSet;

use hammer_report::Report;
use hammer_report::report::{Event, Series};
use serde_json::{Value, json};

use folder::Folder;
use hammer::{Ended, Started, command, hammer};
use issuer::{Issuer, Reply};
use server::Server;

/// Any log's.
const KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqG51pjbkmFczWR9zrHs0sIVFt8ErBljJ8NcYFITKMsgMaf6+YjbKxA1OiWXWuLEnKTdx1KB6KqMcaDTzVbZ6Sg==";

#[test]
fn each_service_has_its_own_token_and_connections() {
    let (api, web) = (Server::ok(), Server::ok());
    let folder = Folder::new();
    let token = folder.write("token", "canary");
    let plan = folder.write(
        "plan.yaml",
        &format!(
            "\
target:
  services:
    api: {{ url: \"{}\", token: {{ file: \"{token}\" }}, connection: {{ keepalive: false }} }}
    web: {{ url: \"{}\" }}
  connection: {{ connections: 1 }}
workloads:
  - {{ name: api, http: {{ service: api, path: /a }}, load: {{ users: 1, operations: 5 }} }}
  - {{ name: web, http: {{ service: web, path: /b }}, load: {{ users: 1, operations: 7 }} }}
",
            api.url(),
            web.url()
        ),
    );
    let ended = hammer(&["run", &plan, "--out", "-"]);
    let totals = ended.report().totals.all;
    assert_eq!((totals.offered, totals.fates.accepted), (12, 12), "{}", ended.stderr);
    let sent = |server: &Server, line: &str, token: Option<&str>| {
        let of_service = |request: &server::Request| {
            request.line.starts_with(line) && request.header("authorization") == token
        };
        server.requests().iter().filter(|request| of_service(request)).count()
    };
    assert_eq!((sent(&api, "GET /a ", Some("Bearer canary")), api.requests().len()), (5, 5));
    assert_eq!((sent(&web, "GET /b ", None), web.requests().len()), (7, 7));
    // One for each operation there, and one for all of them here; what was dialled ahead comes on top.
    assert!(api.connections() >= 5 && web.connections() == 1, "{} {}", api.connections(), web.connections());
    assert!(!ended.stdout.contains("canary") && !ended.stderr.contains("canary"));
}

#[test]
fn a_log_is_a_service_beside_another() {
    let web = Server::ok();
    let folder = Folder::new();
    let plan = |log: &str| {
        let text = format!(
            "\
seed: 3
target:
  services:
    argon: {{ log: {log} }}
    web: {{ url: \"{}\" }}
workloads:
  - {{ name: submit, ct_submit: {{ audit: true, logs: [ argon ] }}, load: {{ rate: 50/s, operations: 50 }} }}
  - {{ name: web, http: {{ service: web }}, load: {{ users: 1, operations: 5 }} }}
",
            web.url()
        );
        folder.write("plan.yaml", &text)
    };
    let unserved = plan(&format!("{{ submission_url: \"http://127.0.0.1:9\", public_key: {KEY} }}"));
    let lab = [
        "lab",
        "ct",
        "--roots-of",
        &unserved,
        "--set",
        "batch_max_age=20ms",
        "--set",
        "checkpoint_interval=100ms",
    ];
    let mut lab = Started::of(command(&lab));
    let log = lab.stdout.recv_timeout(hammer::DEADLINE).unwrap();
    let ended = hammer(&["run", &plan(&log), "--out", "-"]);
    lab.child.kill().unwrap();
    let report = ended.report();
    let promises = &report.promises.all;
    assert_eq!(
        (report.totals.all.fates.accepted, promises.kept, promises.made),
        (55, 50, 50),
        "{}",
        ended.stderr
    );
    assert_eq!(web.requests().len(), 5);
    assert!(report.tree_size.is_some(), "the one log's tree has no name before it");
}

#[test]
fn services_that_contradict_the_plan_are_refused_by_line() {
    let refused = |target: &str, http: &str, said: &str| {
        let folder = Folder::new();
        let text = format!(
            "target:\n{target}\nworkloads:\n  - {{ name: web, http: {{ {http} }}, load: {{ users: 1, operations: 1 }} }}\n"
        );
        let plan = folder.write("plan.yaml", &text);
        let ended = hammer(&["plan", &plan]);
        assert_eq!(ended.code, 2, "{said}");
        assert!(
            ended.stderr.contains(said) && ended.stderr.contains("plan.yaml:"),
            "no {said:?} in {}",
            ended.stderr
        );
    };
    let two = "  services:\n    a: { url: \"127.0.0.1:1\" }\n    b: { url: \"127.0.0.1:2\" }";
    refused(two, "service: c", "workloads[0].http.service: the target has no service `c`");
    refused(two, "", "workloads[0].http: there are several services: name one of a, b by `service`");
    refused(
        "  url: \"127.0.0.1:1\"",
        "service: a",
        "workloads[0].http.service: the target has no service `a`",
    );
    refused("  services:\n    a: {}", "", "target.services.a: give exactly one of url, log");
    refused(
        "  services:\n    a: { ulr: \"127.0.0.1:1\" }",
        "",
        "target.services.a.ulr: unknown key `ulr`; did you mean `url`? ",
    );
    refused("  services:\n    \"a b\": { url: \"127.0.0.1:1\" }", "", "`a b` is no word");
    refused("  services:\n    a: { url: \"http://a b/\" }", "", "target.services.a.url: ");
    refused(
        "  services:\n    a: { url: \"127.0.0.1:1\" }\n  url: \"127.0.0.1:1\"",
        "",
        "target: give exactly one of ",
    );
    let log = format!("log: {{ submission_url: \"http://127.0.0.1:9\", public_key: {KEY} }}");
    let named =
        |key: &str| format!("  services:\n    a: {{ {log}, {key} }}\n    b: {{ url: \"127.0.0.1:1\" }}");
    refused(&named("token: { env: A }"), "", "target.services.a.token: a log has tokens of its own");
    refused(
        &format!("  services:\n    a: {{ {log} }}\n    b: {{ url: \"127.0.0.1:1\" }}"),
        "service: a",
        "workloads[0].http.service: the service `a` has no url",
    );
    refused(
        &format!("  services:\n    a: {{ {log} }}"),
        "",
        "workloads[0].http: no service of the target has a url",
    );
    let token = "  services:\n    a: { url: \"127.0.0.1:1\", token: { env: TOKEN } }";
    let twice = "the service has a token of every request to it already";
    refused(token, "bearer: { env: OTHER }", &format!("workloads[0].http.bearer: {twice}"));
    refused(token, "headers: { Authorization: x }", &format!("workloads[0].http.headers: {twice}"));
    let named = "  services:\n    a: { log: { name: b, submission_url: \"http://127.0.0.1:9\" } }\n    b: { url: \"127.0.0.1:1\" }";
    refused(named, "", "target.services.a.log.name: the log is named by its service, `a`");
}

#[test]
fn a_request_beside_a_log_without_a_name_goes_where_chains_are_sent() {
    let (submission, monitoring) = (Server::ok(), Server::ok());
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        &format!(
            "\
target:
  log: {{ submission_url: \"{}log\", monitoring_url: \"{}log\", public_key: {KEY} }}
workloads:
  - {{ name: web, http: {{ path: /ct/v1/get-roots }}, load: {{ users: 1, operations: 6 }} }}
",
            submission.url(),
            monitoring.url()
        ),
    );
    let ended = hammer(&["run", &plan, "--out", "-"]);
    assert_eq!(ended.report().totals.all.fates.accepted, 6, "{}", ended.stderr);
    let asked = |server: &Server| {
        server.requests().iter().filter(|request| request.line.contains("/ct/v1/get-roots ")).count()
    };
    assert_eq!((asked(&submission), asked(&monitoring)), (6, 0));
}

/// Runs requests with tokens of grants for so long; the secret of the client is in a file.
fn granted(target: &Value, workloads: &Value, seconds: u32) -> Ended {
    let folder = Folder::new();
    let secret = folder.write("secret", "hush-client\n");
    let plan = json!({
        "target": target,
        "workloads": workloads,
        "phases": { "measurement": format!("{seconds}s"), "drain": "10s" },
    });
    let plan = folder.write("plan.json", &plan.to_string().replace("SECRET", &secret));
    let ended = hammer(&["run", &plan, "--out", "-"]);
    for secret in ["hush-client", "canary", "aHVzaC1jbGllbnQ"] {
        assert!(!ended.stdout.contains(secret) && !ended.stderr.contains(secret), "{secret}: {ended:?}");
    }
    ended
}

fn grant(issuer: &Issuer, tokens: usize) -> Value {
    json!({ "grant": {
        "token_url": format!("http://{}/token", issuer.at),
        "client_id": "hammer",
        "client_secret": { "file": "SECRET" },
        "tokens": tokens,
        "timeout": "500ms",
    } })
}

/// An issuer of opaque tokens of so many seconds; one that says who somebody is comes along, and is for nobody else.
fn issuer_of(life: u32) -> Issuer {
    Issuer::answering(move |number| {
        let (token, identity) = (format!("canary-{number}"), format!("identity-canary-{number}"));
        let answer = json!({ "access_token": token, "id_token": identity, "token_type": "Bearer", "expires_in": life });
        Reply::Says(200, answer.to_string())
    })
}

fn requests(name: &str, more: &Value) -> Value {
    json!({ "name": name, "http": more, "load": { "rate": "50/s" }, "timeout": "5s" })
}

fn series<'a>(report: &'a Report, path: &str) -> &'a Series {
    let found = report.series.iter().find(|series| series.path == path);
    found.unwrap_or_else(|| panic!("no {path} among {:?}", report.series.iter().map(|series| &series.path)))
}

fn shown(server: &Server) -> BTreeSet<String> {
    let shown =
        server.requests().into_iter().map(|request| request.header("authorization").unwrap_or("").to_owned());
    shown.collect()
}

#[test]
fn requests_have_tokens_of_a_grant_in_turn_which_are_refreshed_before_they_are_over() {
    let (api, issuer) = (Server::ok(), issuer_of(3));
    let target = json!({ "services": { "api": { "url": api.url(), "token": grant(&issuer, 2) } } });
    let workloads = json!([requests("one", &json!({})), requests("two", &json!({ "path": "/two" }))]);
    let ended = granted(&target, &workloads, 5);
    let report = ended.report();
    let fates = &report.totals.measurement.fates;
    assert_eq!((fates.accepted, report.totals.measurement.offered), (500, 500), "{}", ended.stderr);
    // One pool for both, of which two tokens were granted before the run, in no figure.
    let token = &series(&report, "oauth/token").measurement.counts;
    let asked = issuer.asked();
    assert!(token.fates.accepted >= 2, "each was refreshed: {asked:?}");
    assert_eq!((token.offered, token.fates.accepted), (asked.len() as u64 - 2, token.offered));
    assert_eq!(asked[0].body, "grant_type=client_credentials");
    let all: BTreeSet<String> = (0..asked.len()).map(|number| format!("Bearer canary-{number}")).collect();
    let shown = shown(&api);
    assert!(shown.is_subset(&all) && shown.len() >= 4, "{shown:?} of {all:?}");
    assert!(report.connections.iter().any(|connections| connections.service == "oauth"));
}

#[test]
fn a_time_without_a_token_is_one_sentence_and_nothing_is_sent_in_it() {
    let api = Server::ok();
    let issuer = Issuer::answering(|number| match number {
        0 => Reply::Says(200, json!({ "access_token": "canary", "expires_in": "2" }).to_string()),
        1 => Reply::Silence,
        _ => Reply::Says(503, "hush-client".to_owned()),
    });
    let target = json!({ "url": api.url() });
    let workloads = json!([requests("api", &json!({ "bearer": grant(&issuer, 1) }))]);
    let ended = granted(&target, &workloads, 5);
    let report = ended.report();
    let api_series = series(&report, "api/get");
    let counts = &api_series.measurement.counts;
    assert!(counts.fates.accepted > 0 && counts.fates.abandoned > 0, "{counts:?}");
    assert_eq!(api.requests().len() as u64, counts.fates.accepted, "what has no token sends nothing");
    assert!(api_series.measurement.causes.iter().any(|cause| cause.cause == "no valid token"));
    let notes = report.events.iter().filter_map(|event| match event {
        Event::Note { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let told: Vec<&str> = notes.filter(|note| note.contains("was valid")).collect();
    let [note] = told.as_slice() else { panic!("one sentence, and not {told:?}") };
    assert!(note.starts_with("no token was valid from ") && note.contains(" to the end: "), "{note}");
    assert!(note.ends_with("failed to be granted a token: the issuer answered 503"), "{note}");
}

#[test]
fn grants_that_are_the_same_are_one_and_others_have_names_of_their_own() {
    let (api, web) = (Server::ok(), Server::ok());
    let (first, second) = (issuer_of(600), issuer_of(600));
    let target = json!({ "services": {
        "api": { "url": api.url(), "token": grant(&first, 1) },
        "web": { "url": web.url() },
    } });
    let workloads = json!([
        requests("a", &json!({ "service": "api" })),
        requests("b", &json!({ "service": "web", "bearer": grant(&second, 1) })),
        requests("c", &json!({ "service": "web", "bearer": grant(&second, 1) })),
        requests("d", &json!({ "service": "web" })),
    ]);
    let ended = granted(&target, &workloads, 1);
    let report = ended.report();
    assert_eq!((first.asked().len(), second.asked().len()), (1, 1), "{}", ended.stderr);
    assert_eq!(series(&report, "oauth-api/token").measurement.counts.offered, 0);
    assert_eq!(series(&report, "oauth-b/token").measurement.counts.offered, 0);
    assert!(report.series.iter().all(|series| series.workload != "oauth-c" && series.workload != "oauth"));
    let of = |tokens: &[&str]| tokens.iter().map(|token| (*token).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!((shown(&api), shown(&web)), (of(&["Bearer canary-0"]), of(&["", "Bearer canary-0"])));
}

#[test]
fn a_granted_token_follows_a_redirect_to_no_other_origin() {
    let (other, issuer) = (Server::ok(), issuer_of(600));
    let away = format!("HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", other.url());
    let api = Server::answering(away);
    let target = json!({ "url": api.url(), "connection": { "redirects": 1 } });
    let ended = granted(&target, &json!([requests("api", &json!({ "bearer": grant(&issuer, 1) }))]), 1);
    let fates = ended.report().totals.measurement.fates;
    assert_eq!(fates.accepted, 50, "{}", ended.stderr);
    assert_eq!(shown(&api), BTreeSet::from(["Bearer canary-0".to_owned()]));
    assert_eq!(shown(&other), BTreeSet::from([String::new()]));
}

#[test]
fn a_grant_of_requests_that_cannot_be_had_is_refused_where_it_stands() {
    let issuer = Issuer::answering(|_| {
        Reply::Says(401, json!({ "error": "invalid_client", "error_description": "hush-client" }).to_string())
    });
    let url = "http://127.0.0.1:9";
    let with =
        |bearer: &Value| (json!({ "url": url }), json!([requests("web", &json!({ "bearer": bearer }))]));
    let of_service = json!({ "services": { "api": { "url": url, "token": grant(&issuer, 1) } } });
    let inline = json!({ "grant": { "token_url": url, "client_id": "c", "client_secret": "canary" } });
    let nothing = json!({ "grant": { "token_url": url, "client_secret": { "file": "SECRET" } } });
    let both = json!({ "file": "SECRET", "grant": grant(&issuer, 1)["grant"] });
    let absent = json!({ "grant": { "token_url": url, "client_id": "c", "client_secret": { "env": "NO_SUCH_NAME" } } });
    for ((target, workloads), said) in [
        (with(&inline), "workloads[0].http.bearer.grant.client_secret: expected a map with file or env"),
        (with(&nothing), "workloads[0].http.bearer.grant.client_id: it is not given"),
        (with(&both), "workloads[0].http.bearer: give exactly one of file, env, grant, minted"),
        (with(&json!("canary")), "workloads[0].http.bearer: expected a map with file, env, grant or minted"),
        (with(&absent), "workloads[0].http.bearer.grant.client_secret.env: failed to read a secret"),
        (
            (of_service.clone(), json!([requests("web", &json!({}))])),
            "target.services.api.token.grant: failed to be granted a token: the issuer answered 401 with invalid_client: ***",
        ),
        (
            (of_service.clone(), json!([requests("web", &json!({ "bearer": grant(&issuer, 1) }))])),
            "workloads[0].http.bearer: the service has a token of every request to it already",
        ),
        ((of_service, json!([requests("oauth", &json!({}))])), "workloads[0].name: `oauth` is taken"),
    ] {
        let ended = granted(&target, &workloads, 1);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{said}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "no {said:?} in {}", ended.stderr);
    }
    assert_eq!(issuer.asked().len(), 1, "what was refused is not asked for again");
}

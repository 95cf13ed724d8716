//! Plans with services by their names, each reached in its own way.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/server.rs"]
mod server;

use folder::Folder;
use hammer::{Started, command, hammer};
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
        "target.services.a.ulr: unknown field `ulr`, expected one of ",
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

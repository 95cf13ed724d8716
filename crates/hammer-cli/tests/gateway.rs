//! Load on gateways: the embedded one, honest and not, its tokens, and plans that cannot be carried out.

#[path = "support/attended.rs"]
mod attended;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use hammer_report::Report;
use hammer_report::report::Series;
use rustix::process::Signal;
use serde_json::{Value, json};

use folder::Folder;
use hammer::{Ended, Started, command, hammer};

/// That the plan was refused before anything was sent, by a message with all of these parts.
fn refused(ended: &Ended, parts: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    parts.iter().for_each(|part| assert!(ended.stderr.contains(part), "no {part:?} in {}", ended.stderr));
}

/// The quickstart's workload on the embedded gateway with these settings, so many operations of it.
fn quickstart(gateway: &str, operations: u64) -> Ended {
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/http-quickstart.yaml");
    hammer(&[
        "run",
        plan,
        "--set",
        &format!("target.lab.gateway={gateway}"),
        "--set",
        &format!("workloads.gateway.load.operations={operations}"),
        "--set",
        "phases.warm_up=0s",
        "--set",
        "phases.drain=60s",
        "--out",
        "-",
    ])
}

fn series<'a>(report: &'a Report, name: &str) -> &'a Series {
    report.series.iter().find(|series| series.name == name).unwrap()
}

/// Operations of a series that were accepted, and those that ended by that cause.
fn ends(report: &Report, name: &str, cause: &str) -> (u64, u64) {
    let counts = &series(report, name).measurement;
    let by_cause = counts.causes.iter().filter(|known| known.cause == cause).map(|known| known.count).sum();
    (counts.counts.fates.accepted, by_cause)
}

#[test]
fn an_honest_gateway_is_believed_and_so_is_an_odd_one() {
    for gateway in ["{}", "{odd: true}", "{backend: {latency: {constant: 20ms}}}"] {
        let ended = quickstart(gateway, 400);
        let report = ended.report();
        let fates = report.totals.all.fates;
        assert_eq!(
            (fates.accepted, fates.failed()),
            (400, 0),
            "{gateway}: {}{:?}",
            ended.stderr,
            report.series
        );
        let counts = ["page-hot", "page-cold", "echo", "session", "open", "read", "end"]
            .map(|name| series(&report, name).measurement.counts.fates.accepted);
        assert_eq!(counts, [252, 28, 80, 40, 40, 40, 40], "{gateway}");
    }
}

#[test]
fn each_lie_of_a_gateway_is_found_where_it_was_told() {
    for (lie, found) in [
        (
            "login-page",
            vec![("echo", "no JSON"), ("page-hot", "expected text missing"), ("open", "HTTP 200")],
        ),
        ("cut-json", vec![("echo", "no JSON"), ("open", "nothing to extract")]),
        ("stale-session", vec![("read", "unexpected JSON value")]),
    ] {
        // So slow that sessions are open beside each other.
        let slow = "backend: {latency: {constant: 60ms}}";
        let ended = quickstart(&format!("{{{slow}, lies: [{{kind: {lie}, every: 3}}]}}"), 300);
        let report = ended.report();
        for (name, cause) in found {
            let (accepted, lied) = ends(&report, name, cause);
            assert!(
                lied > 0,
                "{lie} of {name}: {accepted} accepted, {:?}",
                series(&report, name).measurement.causes
            );
        }
        assert_ne!(ended.code, 0, "{lie}");
    }
    // A cache that mixes up what it has: the page of another path has the same text here, an echo has not.
    let plan = json!({
        "target": { "lab": { "gateway": { "token": null, "lies": [{ "kind": "another-answer", "every": 5 }] } } },
        "workloads": [{ "name": "echo", "http": { "path": "/echo/${seq}", "json": { "path": "/echo/${seq}" } },
            "load": { "users": 1, "operations": 101 } }],
    });
    let folder = Folder::new();
    let ended = hammer(&["run", &folder.write("plan.json", &plan.to_string()), "--out", "-"]);
    assert_eq!(ends(&ended.report(), "get", "unexpected JSON value"), (81, 20), "{}", ended.stderr);
}

#[test]
fn tokens_are_minted_again_before_they_are_over_and_granted_by_the_gateways_own_issuer() {
    let folder = Folder::new();
    let lab = Started::of(command(&["lab", "gateway", "--out", &folder.path("lab")]));
    let url =
        serde_json::from_str::<Value>(&lab.line_with("url")).unwrap()["url"].as_str().unwrap().to_owned();
    let secret = folder.write("secret", "lab-secret");
    let grant = json!({ "token_url": format!("{url}/oauth/token"), "client_id": "hammer", "client_secret": { "file": secret } });
    let plan = |bearer: Value| {
        let plan = json!({
            "target": { "url": url },
            "workloads": [{ "name": "echo", "http": { "path": "/echo/x", "json": { "user": "hammer" }, "bearer": bearer },
                "load": { "users": 2, "operations": 40 } }],
        });
        hammer(&["run", &folder.write("plan.json", &plan.to_string()), "--out", "-"])
    };
    for bearer in [json!({ "grant": grant }), json!({ "file": folder.path("lab/token") })] {
        let ended = plan(bearer);
        assert_eq!(ends(&ended.report(), "get", ""), (40, 0), "{}", ended.stderr);
    }
    let counted = |lab: Started| {
        lab.signal(Signal::TERM);
        serde_json::from_str::<Value>(&lab.ended().stdout).unwrap()
    };
    // `{"alg":"none"}`, `{"sub":"a","exp":1}`, `signature`: over since 1970, which the gateway is to say.
    let over = folder.write("over", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIiwiZXhwIjoxfQ.c2lnbmF0dXJl");
    let ended = plan(json!({ "file": over }));
    assert_eq!(ends(&ended.report(), "get", "HTTP 401"), (0, 40), "{}", ended.stderr);
    assert!(ended.stdout.contains("has expired: it is sent all the same"), "{}", ended.stdout);
    // Of another key than the issuer's, and then of no token at all.
    let minted = json!({ "minted": { "issuer": "http://issuer.hammer.test", "audience": "gateway" } });
    let ended = plan(minted);
    assert_eq!(ends(&ended.report(), "get", "HTTP 401"), (0, 40), "{}", ended.stderr);
    let counts = counted(lab);
    assert_eq!(counts["requests"]["authorized"], json!({ "200": 80, "401": 80 }), "{counts}");
    let expiring = json!({
        "target": { "lab": { "gateway": {} } },
        "workloads": [{ "name": "echo", "http": { "path": "/x", "bearer": { "minted": {
            "issuer": "http://issuer.hammer.test", "audience": "gateway", "lifetime": "10s", "tokens": 3, "algorithm": "rs256" } } },
            "load": { "rate": "20/s" }, "timeout": "20s" }],
        "phases": { "measurement": "9s" },
    });
    let ended = hammer(&["run", &folder.write("plan.json", &expiring.to_string()), "--out", "-"]);
    let report = ended.report();
    // The first ones would be over before the last requests, and what is minted again is so for two seconds and more.
    let fates = report.totals.all.fates;
    assert_eq!((fates.refused, fates.abandoned), (0, 0), "{}", ended.stderr);
    assert!(fates.accepted > 100, "{fates:?}");
}

#[test]
fn a_grant_that_names_nobody_is_asked_of_the_embedded_gateway_in_each_run() {
    let folder = Folder::new();
    let secret = |name: &str, text: &str| json!({ "file": folder.write(name, text) });
    let grant = json!({ "client_id": "hammer", "client_secret": secret("secret", "lab-secret") });
    let jane = json!({ "client_id": "hammer", "client_secret": secret("secret", "lab-secret"),
        "kind": "password", "username": "jane", "password": secret("password", "lab-password") });
    let plan = |gateway: &Value, grant: &Value| {
        json!({
            "target": { "lab": { "gateway": gateway } },
            "workloads": [
                { "name": "echo", "load": { "users": 2, "operations": 40 },
                  "http": { "path": "/echo/x", "json": { "user": "hammer" }, "bearer": { "grant": grant } } },
                { "name": "jane", "load": { "users": 1, "operations": 20 },
                  "http_flows": { "bearer": { "grant": jane },
                      "flows": [ { "name": "look", "http": { "path": "/echo/x", "json": { "user": "jane" } } } ] } },
            ],
        })
    };
    let run = |plan: &Value, arguments: &[&str]| {
        hammer(&[&["run", &folder.write("plan.json", &plan.to_string())], arguments].concat())
    };
    let ended = run(&plan(&json!({}), &grant), &["--out", "-"]);
    let report = ended.report();
    assert_eq!(ends(&report, "get", ""), (40, 0), "{}", ended.stderr);
    assert_eq!(ends(&report, "look", ""), (20, 0), "{}", ended.stderr);
    // A token lives for two seconds: it is asked for again beside the load, of the same endpoint.
    let mut short = plan(&json!({ "token": { "expires_in": "2s" } }), &grant);
    short["workloads"][0]["load"] = json!({ "rate": "40/s" });
    short["workloads"][0]["timeout"] = json!("20s");
    short["phases"] = json!({ "measurement": "5s" });
    let ended = run(&short, &["--out", "-"]);
    let report = ended.report();
    assert!(series(&report, "token").measurement.counts.fates.accepted > 0, "{}", ended.stderr);
    assert_eq!(
        (report.totals.all.fates.refused, report.totals.all.fates.abandoned),
        (0, 0),
        "{}",
        ended.stderr
    );
    // Each round asks anew.
    let summary = folder.path("summary.json");
    let ended = run(&plan(&json!({}), &grant), &["--set", "rounds=2", "--out", &summary]);
    let summary: Value = serde_json::from_str(&std::fs::read_to_string(&summary).unwrap()).unwrap();
    let counts = summary["runs"].as_array().unwrap().iter().map(|run| {
        let echo = &run["series"][0];
        (echo["offered"].as_u64().unwrap(), echo["failed"].as_u64().unwrap())
    });
    assert_eq!(counts.collect::<Vec<_>>(), [(40, 0); 2], "{summary} {}", ended.stderr);
    // A client that the gateway does not know is told, and what is written of another issuer goes there.
    let unknown = json!({ "client_id": "nobody", "client_secret": secret("secret", "lab-secret") });
    let ended = run(&plan(&json!({}), &unknown), &[]);
    assert!(ended.code == 2 && ended.stderr.contains("workloads[0].http.bearer.grant: "), "{}", ended.stderr);
    let mut elsewhere = grant.clone();
    elsewhere["token_url"] = json!("http://127.0.0.1:9/token");
    elsewhere["timeout"] = json!("1s");
    let ended = run(&plan(&json!({}), &elsewhere), &[]);
    assert!(ended.code != 0 && ended.stderr.contains("workloads[0].http.bearer.grant: "), "{}", ended.stderr);
    // Where nobody is embedded who grants, somebody has to be named.
    let nowhere = "grant.token_url: give exactly one of token_url, issuer";
    let without = plan(&json!({ "token": false }), &grant);
    let mut http = plan(&json!({}), &grant);
    http["target"] = json!({ "lab": { "http": {} } });
    let mut flows = http.clone();
    flows["workloads"].as_array_mut().unwrap().remove(0);
    for (plan, at) in [
        (&without, "workloads[0].http.bearer."),
        (&http, "workloads[0].http.bearer."),
        (&flows, "workloads[0].http_flows.bearer."),
    ] {
        let ended = run(plan, &[]);
        assert!(
            ended.code == 2 && ended.stderr.contains(&format!("{at}{nowhere}")),
            "{at}: {}",
            ended.stderr
        );
    }
    let service = json!({
        "target": { "services": { "api": { "url": "http://127.0.0.1:9", "token": { "grant": grant } } } },
        "workloads": [ { "name": "echo", "http": {}, "load": { "rate": "1/s" } } ],
        "phases": { "measurement": "1s" },
    });
    let ended = run(&service, &[]);
    assert!(ended.stderr.contains(&format!("target.services.api.token.{nowhere}")), "{}", ended.stderr);
}

#[test]
fn what_is_wrong_with_a_request_is_named_by_file_line_and_key() {
    let folder = Folder::new();
    let rows = folder.write("rows.csv", "id,name\n1,a\n2\n");
    let good = folder.write("good.csv", "id,name\n1,a\n");
    for (http, parts) in [
        (
            "path: \"/${page}\"".to_owned(),
            &[
                "plan.yaml:5:",
                "http.path: `${page}` is nothing that is known here: seq, uuid, random:N, hex:N;",
            ][..],
        ),
        (
            format!("{{ values: {{ row: {{ csv: {rows} }} }} }}"),
            &["plan.yaml:5:", "http.values.row.csv: failed to read values from", "rows.csv:3: "],
        ),
        (
            format!("{{ path: \"/${{row.mail}}\", values: {{ row: {{ csv: {good} }} }} }}"),
            &["http.path: failed to fill `${row.mail}`: there is no column `mail`: id, name"],
        ),
        (
            "{ path: \"/${row}\", values: { row: { list: [1, [2]] } } }".to_owned(),
            &["http.values.row.list: each is a text"],
        ),
        ("{ json: { \"$.[\": 1 } }".to_owned(), &["http.json", "`$.[` is no JSONPath (like $.items[0].id)"]),
        (
            "{ values: { page: { count: 5, hot: { values: 5, share: 90% } } } }".to_owned(),
            &["http.values.page.hot.values: none is cold: 5 of 5 are hot"],
        ),
        (
            "{ bearer: { minted: { issuer: a, audience: b, key_file: /no/key } } }".to_owned(),
            &["http.bearer.minted.key_file: failed to", "/no/key"],
        ),
        (
            "{ bearer: { minted: { issuer: a, audience: b, lifetime: 9s } } }".to_owned(),
            &["http.bearer.minted.lifetime: a token has to be good for"],
        ),
        (
            "{ tokens: { order: random } }".to_owned(),
            &["http.tokens: there are none to choose from: give `bearer`"],
        ),
        ("{ bearer: { file: /no/token } }".to_owned(), &["http.bearer.file: failed to", "/no/token"]),
    ] {
        let http = if http.starts_with('{') { http } else { format!("{{ {http} }}") };
        let text = format!(
            "target: {{ lab: {{ gateway: {{}} }} }}\nworkloads:\n  - name: a\n    load: {{ users: 1, operations: 1 }}\n    http: {http}\n"
        );
        refused(&hammer(&["run", &folder.write("plan.yaml", &text)]), parts);
    }
    for (flows, parts) in [
        (
            "[ { name: a, http: {} }, { name: a, http: {} } ]",
            &["plan.yaml:5:", "http_flows.flows[1].name: `a` is the name of another series"][..],
        ),
        (
            "[ { name: a, steps: [ { name: b, http: { path: \"/${id}\" } } ] } ]",
            &["http_flows.flows[0].steps[0].http.path: `${id}` is nothing"],
        ),
        (
            "[ { name: a, steps: [ { name: b, http: { body_file: /no/body } } ] } ]",
            &["http_flows.flows[0].steps[0].http.body_file: failed to read a body from /no/body"],
        ),
        ("[ { name: a, http: { service: b } } ]", &["http_flows.flows[0].http.service"]),
        (
            "[ { name: a, http: { path: \"/${p}\" } }, { name: a-hot, http: {} } ], values: { p: { count: 9, hot: { values: 1, share: 50% } } }",
            &["http_flows.flows[1].name: failed to name the series: `a-hot`"],
        ),
        ("[ { name: a } ]", &["http_flows.flows[0].http: give http, or steps"]),
    ] {
        let text = format!(
            "target: {{ lab: {{ gateway: {{}} }} }}\nworkloads:\n  - name: a\n    load: {{ users: 1, operations: 1 }}\n    http_flows: {{ flows: {flows} }}\n"
        );
        refused(&hammer(&["run", &folder.write("plan.yaml", &text)]), parts);
    }
}

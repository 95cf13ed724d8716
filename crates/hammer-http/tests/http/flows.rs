//! Requests that differ from operation to operation, several kinds of them, and sequences.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use hammer_exchange::stock::{StockedToken, TokenStock, TokenSubject};
use hammer_http::{HttpFlowsPlan, HttpPlan};
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Detail, Fate, Nanos};
use hammer_net::Secret;
use hammer_values::PlanBlock as _;

use crate::canned::{serve, serve_by};
use crate::harness::{only_end, send, send_flows, send_flows_with};

const PATIENCE: Nanos = Nanos::from_secs(20);

fn request(plan: &str) -> HttpPlan {
    let plan: HttpPlan = serde_json::from_str(plan).unwrap();
    assert_eq!(plan.conflict(), None);
    plan
}

fn flows(plan: &str) -> HttpFlowsPlan {
    let plan: HttpFlowsPlan = serde_json::from_str(plan).unwrap();
    assert_eq!(plan.conflict(), None);
    plan
}

fn of<'a>(records: &'a [(String, SeriesRecord)], name: &str) -> &'a SeriesRecord {
    let found = records.iter().find(|(known, _)| known == name);
    &found
        .unwrap_or_else(|| {
            panic!("no {name} in {:?}", records.iter().map(|(name, _)| name).collect::<Vec<_>>())
        })
        .1
}

#[test]
fn each_operation_sends_what_follows_from_its_number() {
    let (url, asked) = serve(200, "");
    let plan = request(
        r#"{"method":"POST","path":"/items/${item}?n=${seq}","headers":{"x-id":"${uuid}","x-same":"yes"},
            "body":"{\"n\":${seq},\"of\":\"${json:name}\",\"id\":\"${uuid}\"}",
            "values":{"item":{"list":["a b","c/d"]},"name":{"list":["x\"y"]}}}"#,
    );
    send(&plan, &url, 20, PATIENCE);
    let asked = asked.lock().unwrap();
    let mut seen = BTreeSet::new();
    for (head, body) in asked.iter() {
        let body: serde_json::Value = serde_json::from_slice(body).unwrap();
        let seq = body["n"].as_u64().unwrap();
        let item = ["a%20b", "c/d"][seq as usize % 2];
        assert!(head.starts_with(&format!("POST /base/items/{item}?n={seq} HTTP/1.1\r\n")), "{head}");
        assert!(head.contains(&format!("x-id: {}\r\n", body["id"].as_str().unwrap())), "{head}");
        assert!(head.contains("x-same: yes\r\n") && body["of"] == "x\"y");
        seen.insert(seq);
    }
    assert_eq!(seen, (0..20).collect());
}

#[test]
fn an_answer_that_is_another_operations_is_malformed() {
    // A cache that mixes up what it has: every tenth answer is that of the operation before.
    let last = Mutex::new(String::new());
    let (url, _) = serve_by(move |head, _| {
        let id = head.split(['/', ' ']).nth(3).unwrap().to_owned();
        let mut last = last.lock().unwrap();
        let told = if id.ends_with('9') { last.clone() } else { id.clone() };
        *last = id;
        (200, String::new(), format!(r#"{{"id": {told}}}"#).into_bytes())
    });
    let plan = request(r#"{"path":"/${seq}","json":{"id":"${seq}"}}"#);
    let record = send(&plan, &url, 50, PATIENCE);
    assert_eq!(record.fate(Fate::Accepted), 45);
    let told = (Fate::Malformed, Detail::Failure("unexpected JSON value"), 5);
    assert!(record.causes.contains(&told), "{:?}", record.causes);
}

#[test]
fn a_sequence_goes_on_with_what_it_was_answered() {
    let sessions: Mutex<BTreeMap<String, String>> = Mutex::default();
    let (url, asked) = serve_by(move |head, _| {
        let mut sessions = sessions.lock().unwrap();
        let line = head.lines().next().unwrap();
        let mut words = line.split(' ');
        match (words.next().unwrap(), words.next().unwrap()) {
            ("POST", "/base/sessions") => {
                let id = format!("{}", 100 + sessions.len());
                let secret = format!("s3cret-{id}");
                sessions.insert(id.clone(), secret.clone());
                let headers = format!(
                    "Set-Cookie: session=stale; Max-Age=0; Path=/old\r\nSet-Cookie: other=1; Path=/\r\nSet-Cookie: session={secret}; HttpOnly\r\nLocation: /base/sessions/{id}\r\nETag: \"e{id}\"\r\n"
                );
                (201, headers, format!(r#"{{"session": {{"ids": [{id}]}}}}"#).into_bytes())
            }
            (_, path) => {
                let id = path.strip_prefix("/base/sessions/").unwrap();
                let is_own = head.contains(&format!("cookie: session={}\r\n", sessions[id]));
                let is_same = head.contains(&format!("if-match: \"e{id}\"\r\n"));
                let status = if is_own && is_same { 200 } else { 403 };
                (status, String::new(), format!(r#"{{"id": "{id}"}}"#).into_bytes())
            }
        }
    });
    let plan = flows(
        r#"{"flows":[{"name":"session","steps":[
            {"name":"open","http":{"method":"POST","path":"/sessions","expect":[201]},
             "extract":{"id":{"json":"$.session.ids[0]"},"sid":{"cookie":"session"},"self":"location","tag":{"header":"etag"}}},
            {"name":"read","http":{"path":"${self}","headers":{"cookie":"session=${sid}","if-match":"${tag}"},"json":{"id":"${id}"}}},
            {"name":"read-again","http":{"path":"/sessions/${id}","headers":{"cookie":"session=${sid}","if-match":"${tag}"}}}]}]}"#,
    );
    let records = send_flows(&plan, &url, 30);
    let names: Vec<&str> = records.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["session", "open", "read", "read-again"]);
    assert_eq!(only_end(of(&records, "open")), (Fate::Accepted, Detail::Status(201), 30));
    for name in ["session", "read", "read-again"] {
        assert_eq!(only_end(of(&records, name)), (Fate::Accepted, Detail::Status(200), 30), "{name}");
    }
    assert_eq!(asked.lock().unwrap().len(), 90);
}

#[test]
fn think_time_between_steps_is_in_the_response_time_of_the_operation_and_in_no_exchange() {
    let (url, asked) = serve(200, "");
    let plan = flows(
        r#"{"flows":[{"name":"visit","steps":[
            {"name":"look","http":{"path":"/a"}},
            {"name":"buy","think":"80ms","http":{"path":"/b"}},
            {"name":"leave","think":"20ms","think_up_to":"40ms","http":{"path":"/c"}}]}]}"#,
    );
    let records = send_flows(&plan, &url, 20);
    let visit = of(&records, "visit");
    assert_eq!((visit.fate(Fate::Accepted), visit.client_time.count()), (20, 20));
    let least = |of: &hammer_measure::Distribution| of.summary().unwrap().min;
    assert!(least(&visit.client_time) >= Nanos::from_millis(100), "{:?}", visit.client_time.summary());
    assert!(least(&visit.response_time()) >= Nanos::from_millis(100));
    // What three exchanges took is no more than the longest of each.
    let longest = |of: &hammer_measure::Distribution| of.summary().unwrap().max;
    let steps: Vec<Nanos> =
        ["look", "buy", "leave"].iter().map(|step| longest(&of(&records, step).service_time)).collect();
    let exchanges = steps.iter().fold(Nanos::ZERO, |sum, step| sum + *step);
    let rounded = exchanges + Nanos(exchanges.0 / 100);
    assert!(longest(&visit.service_time) <= rounded, "{:?} {steps:?}", visit.service_time.summary());
    assert_eq!(asked.lock().unwrap().len(), 60);
}

#[test]
fn a_sequence_ends_at_the_step_that_fails_and_says_no_secret_that_it_was_given() {
    let (url, asked) = serve_by(|head, body| {
        if head.starts_with("POST /base/login") {
            let token = r#"{"access_token":"canary-token"}"#;
            (200, "Set-Cookie: sid=canary-cookie\r\n".to_owned(), token.into())
        } else {
            (403, String::new(), [b"not for ", body].concat())
        }
    });
    let plan = flows(
        r#"{"flows":[{"name":"all","steps":[
            {"name":"login","http":{"method":"POST","path":"/login"},"extract":{"t":{"json":"access_token"},"sid":{"cookie":"sid"}}},
            {"name":"use","http":{"method":"PUT","path":"/x","body":"${t} ${sid}","contains":"any"}},
            {"name":"never","http":{}}]}]}"#,
    );
    let records = send_flows(&plan, &url, 5);
    assert_eq!(only_end(of(&records, "use")), (Fate::Refused, Detail::Status(403), 5));
    assert_eq!(only_end(of(&records, "all")), (Fate::Refused, Detail::Status(403), 5));
    assert_eq!((of(&records, "never").completed(), asked.lock().unwrap().len()), (0, 10));
    let told: Vec<&str> = of(&records, "use").answers.iter().map(|answer| answer.text.as_str()).collect();
    assert_eq!(told, ["not for *** ***"]);
}

#[test]
fn an_answer_without_what_later_steps_need_is_malformed() {
    let plan = flows(
        r#"{"flows":[{"name":"all","steps":[
            {"name":"first","http":{},"extract":{"id":{"json":"/id"}}}, {"name":"second","http":{"path":"/${id}"}}]}]}"#,
    );
    for body in ["<html>", "{}", r#"{"id":null}"#] {
        let records = send_flows(&plan, &serve(200, body).0, 3);
        let nothing = (Fate::Malformed, Detail::Failure("nothing to extract"), 3);
        assert_eq!(
            (only_end(of(&records, "first")), only_end(of(&records, "all"))),
            (nothing, nothing),
            "{body}"
        );
    }
}

#[test]
fn kinds_come_by_their_weights_and_hot_values_have_series_of_their_own() {
    let (url, asked) = serve(200, "");
    let plan = flows(
        r#"{"values":{"page":{"count":100,"hot":{"values":2,"share":"75%"}}},"flows":[
            {"name":"read","weight":4,"http":{"path":"/page/${page}"}}, {"name":"write","http":{"method":"POST","path":"/write"}},
            {"name":"off","weight":0,"http":{"path":"/off"}}]}"#,
    );
    let records = send_flows(&plan, &url, 500);
    let counts: Vec<(&str, u64)> =
        records.iter().map(|(name, record)| (name.as_str(), record.fate(Fate::Accepted))).collect();
    assert_eq!(counts, [("read-hot", 300), ("read-cold", 100), ("write", 100), ("off", 0)]);
    let asked = asked.lock().unwrap();
    let hot =
        asked.iter().filter(|(head, _)| ["/page/0 ", "/page/1 "].iter().any(|page| head.contains(page)));
    assert_eq!(hot.count(), 300);
    let cold: BTreeSet<&str> = asked
        .iter()
        .filter_map(|(head, _)| head.split(' ').nth(1))
        .filter(|path| path.contains("page"))
        .collect();
    assert_eq!(cold.len(), 2 + 98);
}

#[test]
fn values_that_make_no_request_are_not_sent() {
    let (url, asked) = serve(200, "");
    for (plan, cause) in [
        (r#"{"path":"${to}","values":{"to":{"list":["no-slash"]}}}"#, "values make no path"),
        (r#"{"headers":{"x-a":"${to}"},"values":{"to":{"list":["a\nb"]}}}"#, "values make no header"),
    ] {
        let record = send(&request(plan), &url, 3, PATIENCE);
        assert_eq!(only_end(&record), (Fate::Abandoned, Detail::Failure(cause), 3));
    }
    assert!(asked.lock().unwrap().is_empty());
}

#[test]
fn what_a_server_gives_that_cannot_be_sent_is_its_own_fault() {
    for (id, location, step, cause) in [
        ("a\\nb", "/base/x", r#"{"headers":{"x-id":"${id}"}}"#, "extracted value makes no header"),
        ("no-slash", "/base/x", r#"{"path":"${id}"}"#, "extracted value makes no path"),
        ("a", "/base2/x", r#"{"path":"${self}"}"#, "nothing to extract"),
        ("a", "http://127.0.0.2:1/x", r#"{"path":"${self}"}"#, "nothing to extract"),
    ] {
        let (url, _) = serve_by(move |_, _| {
            (200, format!("Location: {location}\r\n"), format!(r#"{{"id":"{id}"}}"#).into_bytes())
        });
        let plan = flows(&format!(
            r#"{{"flows":[{{"name":"all","steps":[
                {{"name":"first","http":{{}},"extract":{{"id":{{"json":"id"}},"self":"location"}}}}, {{"name":"second","http":{step}}}]}}]}}"#,
        ));
        let records = send_flows(&plan, &url, 3);
        assert_eq!(
            only_end(of(&records, "all")),
            (Fate::Malformed, Detail::Failure(cause), 3),
            "{id} {location}"
        );
    }
}

#[test]
fn what_an_answer_lacks_is_told_with_what_it_has() {
    for (plan, body, told) in [
        (r#"{"json":{"/id":"${seq}0","name":"a"}}"#, r#"{"id":7,"name":"a"}"#, "/id is 7, and not "),
        (r#"{"json":{"$.list[0]":1}}"#, "{}", "$.list[0] is not there, and not 1"),
        (r#"{"json":{"id":1}}"#, "<html>login</html>", "no JSON: <html>login</html>"),
        (r#"{"contains":"hello"}"#, "bye", "no hello in: bye"),
        (r#"{"expect_headers":{"x-user":"ann"}}"#, "", "x-user is not there, and not ann"),
    ] {
        let record = send(&request(plan), &serve(200, body).0, 2, PATIENCE);
        let answers: Vec<&str> = record.answers.iter().map(|answer| answer.text.as_str()).collect();
        assert!(answers.len() == 1 && answers[0].starts_with(told), "{plan}: {answers:?}");
    }
    // Nothing of the body is asked for, and what is said with a failure is told all the same.
    let record = send(&HttpPlan::default(), &serve(403, "not for you").0, 2, PATIENCE);
    let answers: Vec<&str> = record.answers.iter().map(|answer| answer.text.as_str()).collect();
    assert_eq!(answers, ["not for you"]);
}

#[test]
fn steps_of_an_operation_have_one_token() {
    let token =
        |text: &str| StockedToken::of(Secret::new(text).unwrap(), &TokenSubject::Unasked, None).unwrap();
    let stock = TokenStock::new(["a", "b", "c"].map(token).into());
    let (url, asked) = serve(200, "");
    let plan = flows(
        r#"{"flows":[{"name":"all","steps":[{"name":"first","http":{"path":"/${seq}"}},{"name":"second","http":{"path":"/${seq}"}}]}]}"#,
    );
    send_flows_with(&plan, Some(&stock), &url, 12);
    let mut tokens: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (head, _) in asked.lock().unwrap().iter() {
        let bearer =
            head.lines().find(|line| line.to_ascii_lowercase().starts_with("authorization")).unwrap();
        tokens.entry(head.split(' ').nth(1).unwrap().to_owned()).or_default().insert(bearer.to_owned());
    }
    assert_eq!((tokens.len(), tokens.values().filter(|of| of.len() == 1).count()), (12, 12), "{tokens:?}");
    let different: BTreeSet<&BTreeSet<String>> = tokens.values().collect();
    assert_eq!(different.len(), 3);
}

#[test]
fn a_password_of_a_file_that_a_server_repeats_is_not_told() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "name,password\nann,canary-1\nbob,canary-2\n").unwrap();
    let (url, _) = serve_by(|_, body| (400, String::new(), [b"wrong: ", body].concat()));
    let plan = request(&format!(
        r#"{{"method":"POST","body":"${{user.name}} ${{user.password}}","contains":"x","values":{{"user":{{"csv":"{}"}}}}}}"#,
        file.path().display()
    ));
    let record = send(&plan, &url, 4, PATIENCE);
    let told: Vec<&str> = record.answers.iter().map(|answer| answer.text.as_str()).collect();
    assert_eq!(told, ["wrong: ann ***"]);
}

#[test]
fn texts_and_names_that_cannot_be_are_refused_where_they_stand() {
    for (plan, key, part) in [
        (
            r#"{"path":"/${item}"}"#,
            "path",
            "`${item}` is nothing that is known here: seq, uuid, random:N, hex:N;",
        ),
        (r#"{"headers":{"x-a":"${HOME}"}}"#, "headers.x-a", "It is not shown, since it may be a secret"),
        (r#"{"body":"${random}"}"#, "body", "what the number is below"),
        (r#"{"contains":"${"}"#, "contains", "has no `}`"),
        (r#"{"json":{"a":{"n":"${seq}"}}}"#, "json", "`a`: a placeholder is a text of its own there"),
        (r#"{"json":{"$.a.b":"${x}"}}"#, "json", "`$.a.b`: `${x}` is nothing"),
        (r#"{"values":{"seq":{"count":1}}}"#, "values.seq", "`${seq}` is something else already"),
        (r#"{"grpc":"/a.B/C","json":{"a":1}}"#, "json", "a message is no JSON"),
    ] {
        let conflict = serde_json::from_str::<HttpPlan>(plan).unwrap().conflict().unwrap();
        assert!(key != "headers.x-a" || !conflict.reason().contains("HOME"), "{conflict}");
        assert!(conflict.key() == key && conflict.reason().contains(part), "{conflict}");
    }
    let step = |steps: &str| {
        format!(r#"{{"values":{{"v":{{"count":2}}}},"flows":[{{"name":"f","steps":[{steps}]}}]}}"#)
    };
    for (plan, key, part) in [
        (r#"{"flows":[]}"#.to_owned(), "flows", "one at least"),
        (r#"{"flows":[{"name":"a"}]}"#.to_owned(), "flows[0].http", "give http, or steps"),
        (r#"{"flows":[{"name":"a","weight":0,"http":{}}]}"#.to_owned(), "flows[0].weight", "1 at least"),
        (
            r#"{"flows":[{"name":"a","http":{}},{"name":"a","http":{}}]}"#.to_owned(),
            "flows[1].name",
            "another series",
        ),
        (
            r#"{"flows":[{"name":"a","http":{"values":{"v":{"count":1}}}}]}"#.to_owned(),
            "flows[0].http.values",
            "beside flows",
        ),
        (
            step(r#"{"name":"s","http":{"path":"/${id}"},"extract":{"id":{"json":"id"}}}"#),
            "flows[0].steps[0].http.path",
            "nothing that is known",
        ),
        (
            step(r#"{"name":"s","http":{},"extract":{"v":{"json":"id"}}}"#),
            "flows[0].steps[0].extract.v",
            "name of a value",
        ),
        (
            step(r#"{"name":"s","http":{"grpc":"/a.B/C"},"extract":{"x":{"json":"id"}}}"#),
            "flows[0].steps[0].extract",
            "message of a call",
        ),
        (
            step(r#"{"name":"s","think":"1s","http":{}}"#),
            "flows[0].steps[0].think",
            "no answer before the first step",
        ),
        (
            step(r#"{"name":"s","http":{}},{"name":"t","think":"2s","think_up_to":"1s","http":{}}"#),
            "flows[0].steps[1].think_up_to",
            "must not be below think",
        ),
    ] {
        let conflict = serde_json::from_str::<HttpFlowsPlan>(&plan).unwrap().conflict().unwrap();
        assert!(conflict.key() == key && conflict.reason().contains(part), "{conflict}");
    }
    for nonsense in [
        r#"{"path":"${a}b c"}"#,
        r#"{"path":"a${seq}"}"#,
        r#"{"path":"/a#b"}"#,
        r#"{"path":"/a#${seq}"}"#,
        r#"{"values":{"a":{"count":5,"hot":{"values":5,"share":0.9}}}}"#,
        r#"{"values":{"a":{}}}"#,
        r#"{"values":{"a":{"count":1,"list":[1]}}}"#,
        r#"{"values":{"a":{"count":0}}}"#,
    ] {
        assert!(serde_json::from_str::<HttpPlan>(nonsense).is_err(), "{nonsense}");
    }
}

use std::collections::BTreeMap;

use hammer_exchange::WallTime;
use hammer_exchange::stock::{StockedToken, TokenStock, TokenSubject};
use hammer_http::HttpPlan;
use hammer_lab::{HttpLabHandle, HttpLabPlan};
use hammer_measure::{Detail, Fate, Nanos};
use hammer_net::Secret;
use hammer_values::{ByteSize, OneOrMany, Status};

use crate::canned;
use crate::harness::{only_end, send, send_with};

const PATIENCE: Nanos = Nanos::from_secs(20);

#[test]
fn an_endpoint_is_loaded_and_the_bytes_are_counted() {
    let lab =
        HttpLabHandle::spawn(HttpLabPlan { body_size: ByteSize::from_bytes(128), ..HttpLabPlan::default() })
            .unwrap();
    let record = send(&HttpPlan::default(), &lab.url, 200, PATIENCE);
    assert_eq!(only_end(&record), (Fate::Accepted, Detail::Status(200), 200));
    assert!(record.bytes_in >= 200 * 128 && record.bytes_out >= 200 * 20);
    assert_eq!(lab.stop().requests.values().flat_map(|by_status| by_status.values()).sum::<u64>(), 200);
}

#[test]
fn the_request_is_sent_as_the_plan_says() {
    let (url, asked) = canned::serve(200, "");
    let values = ["yes", "again"].map(|text| text.to_owned().try_into().unwrap());
    let plan = HttpPlan {
        method: "PUT".to_owned().try_into().unwrap(),
        path: "/a?b=c".to_owned().try_into().unwrap(),
        headers: BTreeMap::from([(
            "x-test".to_owned().try_into().unwrap(),
            OneOrMany::Many(values.to_vec()),
        )]),
        body: Some("the body".into()),
        ..HttpPlan::default()
    };
    send(&plan, &url, 3, PATIENCE);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 3);
    for (head, body) in asked.iter() {
        let head = head.to_ascii_lowercase();
        assert!(head.starts_with("put /base/a?b=c http/1.1\r\n"), "{head}");
        assert!(head.contains("x-test: yes\r\nx-test: again\r\n"), "{head}");
        assert_eq!(body, b"the body");
    }
}

#[test]
fn requests_take_tokens_in_turn() {
    let token =
        |text: &str| StockedToken::of(Secret::new(text).unwrap(), &TokenSubject::Unasked, None).unwrap();
    let stock = TokenStock::new(vec![token("one"), token("two")]);
    let (url, asked) = canned::serve(200, "");
    let tokens = Some((stock, WallTime { epoch_unix_ms: 0 }));
    send_with(&HttpPlan::default(), tokens, &url, 20);
    let asked = asked.lock().unwrap();
    for name in ["one", "two"] {
        let bearer = format!("authorization: bearer {name}\r\n");
        let having = asked.iter().filter(|(head, _)| head.to_ascii_lowercase().contains(&bearer));
        assert_eq!(having.count(), 10, "{name}");
    }
}

#[test]
fn a_body_may_come_from_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), [0, 255, 10]).unwrap();
    let (url, asked) = canned::serve(200, "");
    let plan = HttpPlan {
        method: "POST".to_owned().try_into().unwrap(),
        body_file: Some(file.path().to_owned()),
        ..HttpPlan::default()
    };
    send(&plan, &url, 1, PATIENCE);
    assert_eq!(asked.lock().unwrap()[0].1, [0, 255, 10]);
}

#[test]
fn statuses_are_accepted_as_the_plan_expects_them() {
    for (status, expect, fate) in [
        (200, vec![], Fate::Accepted),
        (204, vec![], Fate::Accepted),
        (404, vec![], Fate::Refused),
        (404, vec![200, 404], Fate::Accepted),
        (204, vec![200], Fate::Refused),
        (302, vec![200], Fate::Refused),
        (429, vec![200], Fate::Pushback),
        (503, vec![503], Fate::Accepted),
        (500, vec![200], Fate::ServerError),
    ] {
        let (url, _) = canned::serve(status, "");
        let statuses = expect.iter().copied().map(Status::nearest).collect();
        let record = send(&HttpPlan { expect: statuses, ..HttpPlan::default() }, &url, 2, PATIENCE);
        assert_eq!(only_end(&record), (fate, Detail::Status(status), 2), "{status} {expect:?}");
    }
}

#[test]
fn an_accepted_answer_without_the_expected_text_is_malformed() {
    let plan = HttpPlan { contains: Some("healthy".into()), ..HttpPlan::default() };
    let end = |status, body: &str| only_end(&send(&plan, &canned::serve(status, body).0, 2, PATIENCE));
    assert_eq!(end(200, "all is healthy here"), (Fate::Accepted, Detail::Status(200), 2));
    assert_eq!(end(200, "all is ill"), (Fate::Malformed, Detail::Failure("expected text missing"), 2));
    assert_eq!(end(500, "all is ill"), (Fate::ServerError, Detail::Status(500), 2));
}

#[test]
fn what_a_server_says_with_a_refusal_is_told_without_the_credentials_that_it_repeats() {
    let said = r#"{"key": "one \"two\" canary", "sid": "canary-sid-1", "basic": "canary-password"}"#;
    let headers = serde_json::json!({
        "X-Api-Key": "one \"two\" canary",
        "Cookie": "sid=canary-sid-1; theme=dark",
        "Authorization": "Basic dXNlcjpjYW5hcnktcGFzc3dvcmQ=",
    });
    let plan = serde_json::from_value(serde_json::json!({ "headers": headers, "contains": "any" })).unwrap();
    let record = send(&plan, &canned::serve(401, said).0, 2, PATIENCE);
    let told: Vec<&str> = record.answers.iter().map(|answer| answer.text.as_str()).collect();
    assert_eq!(told, [r#"{"key": "***", "sid": "***", "basic": "***"}"#]);
}

#[test]
fn a_target_that_is_not_there_is_unreachable() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let record = send(&HttpPlan::default(), &format!("http://127.0.0.1:{port}"), 5, PATIENCE);
    assert_eq!(only_end(&record), (Fate::Unreachable, Detail::Failure("connection refused"), 5));
}

#[test]
fn a_target_that_never_answers_times_out_and_was_sent_to() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let record = send(&HttpPlan::default(), &url, 3, Nanos::from_secs(2));
    assert_eq!(record.fate(Fate::TimedOut), 3);
    assert_eq!(record.service_time.count(), 3, "its time counts from the first byte sent");
}

//! The echo and its sessions, by each hop.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::client::{Answer, Gateway};

#[tokio::test]
async fn the_echo_says_what_came_and_who_asked() {
    let gateway = Gateway::with_token(json!({ "backend": { "body": "it works" } })).await;
    let plain = gateway.get("/anything").await;
    assert_eq!(
        (plain.text().as_str(), plain.header("content-type")),
        ("it works", "text/plain; charset=utf-8")
    );
    let headers = [("x-a", "1"), ("x-a", "2")];
    for (prefix, user) in
        [("", json!("hammer")), ("/hops/authenticated", json!("hammer")), ("/hops/backend", Value::Null)]
    {
        let echo = gateway.send("PUT", &format!("{prefix}/echo/a/b?c=d&e"), &headers, "sent").await.json();
        assert_eq!(
            (&echo["method"], &echo["path"], &echo["query"]),
            (&json!("PUT"), &json!("/echo/a/b"), &json!("c=d&e"))
        );
        assert_eq!((&echo["headers"]["x-a"], &echo["body"]), (&json!("1, 2"), &json!("sent")));
        assert_eq!(echo["user"], user, "{prefix}");
        assert_eq!(
            echo["headers"]["authorization"].is_null(),
            !user.is_null(),
            "a validated token goes no further"
        );
    }
}

/// Id, place and cookie of a session that was started.
fn started(answer: &Answer) -> (String, String, String) {
    assert_eq!(answer.status, 201, "{}", answer.text());
    let cookie = answer.header("set-cookie");
    let pair = cookie.strip_suffix("; Path=/; HttpOnly").unwrap_or_else(|| panic!("{cookie}"));
    assert!(pair.strip_prefix("session=").is_some_and(|secret| secret.len() == 32), "{cookie}");
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    (id, answer.header("location").to_owned(), pair.to_owned())
}

#[tokio::test]
async fn a_session_is_read_with_its_cookie_until_it_is_ended() {
    let gateway = Gateway::with_token(json!({})).await;
    for prefix in ["", "/hops/authenticated", "/hops/backend"] {
        let answer = gateway.send("POST", &format!("{prefix}/sessions"), &[], "").await;
        let (id, place, cookie) = started(&answer);
        assert_eq!(place, format!("{prefix}/sessions/{id}"));
        assert_eq!(answer.json()["links"]["self"], place);
        assert_eq!(answer.json()["items"][1]["id"], format!("{id}-2"));
        let with = [("cookie", format!("theme=dark; {cookie}"))];
        let with = with.each_ref().map(|(name, value)| (*name, value.as_str()));
        for reads in [1, 2] {
            let read = gateway.send("GET", &place, &with, "").await;
            assert_eq!(
                (read.status, &read.json()["id"], &read.json()["reads"]),
                (200, &json!(id), &json!(reads))
            );
        }
        assert_eq!(gateway.get(&place).await.status, 403);
        assert_eq!(gateway.send("GET", &place, &[("cookie", "session=00")], "").await.status, 403);
        assert_eq!(gateway.send("DELETE", &place, &[], "").await.status, 403);
        let ended = gateway.send("DELETE", &place, &with, "").await;
        assert_eq!((ended.status, ended.body.len(), ended.header("content-type")), (204, 0, ""));
        assert_eq!(gateway.send("GET", &place, &with, "").await.status, 404);
    }
    let put = gateway.send("PUT", "/sessions/a", &[], "").await;
    assert_eq!((put.status, put.header("allow")), (405, "GET, DELETE"));
    assert_eq!(gateway.get("/sessions").await.header("allow"), "POST");
}

#[tokio::test]
async fn the_oldest_session_goes_where_there_are_too_many() {
    let gateway = Gateway::with_token(json!({ "backend": { "max_sessions": 2 } })).await;
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(started(&gateway.send("POST", "/sessions", &[], "").await));
    }
    let mut statuses = Vec::new();
    for (_, place, cookie) in &all {
        statuses.push(gateway.send("GET", place, &[("cookie", cookie)], "").await.status);
    }
    assert_eq!(statuses, [404, 200, 200]);
}

#[tokio::test]
async fn the_backend_takes_its_time() {
    let gateway = Arc::new(Gateway::of(json!({ "backend": { "latency": { "constant": "20ms" } } })).await);
    let waits = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        async move { gateway.get("/hops/backend/a").await.status }
    });
    assert_eq!(gateway.get("/stats").await.json()["requests"], json!({}), "nothing is answered yet");
    let advancing = async {
        while !waits.is_finished() {
            gateway.advance(Duration::from_millis(20));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), advancing).await.unwrap();
    assert_eq!(waits.await.unwrap(), 200);
}

#[tokio::test]
async fn a_gateway_that_loses_its_data_knows_neither_sessions_nor_decisions() {
    let restart = json!({ "restarts": [{ "at": "10s", "down": "0s", "data": "lose" }] });
    let gateway = Gateway::with_token(json!({ "faults": restart })).await;
    let (_, place, cookie) = started(&gateway.send("POST", "/sessions", &[], "").await);
    assert_eq!(gateway.send("GET", &place, &[("cookie", &cookie)], "").await.status, 200);
    assert_eq!(gateway.get("/stats").await.json()["sessions"], 1);
    gateway.advance(Duration::from_secs(10));
    let address = gateway.lab.url.strip_prefix("http://").unwrap();
    let lost = async {
        loop {
            // It is killed and up again at some instant from now on.
            if tokio::net::TcpStream::connect(address).await.is_ok()
                && gateway.lab.target().open_sessions() == 0
            {
                return;
            }
            gateway.advance(Duration::from_millis(10));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), lost).await.unwrap();
    assert_eq!(gateway.send("GET", &place, &[("cookie", &cookie)], "").await.status, 404);
    assert_eq!(gateway.lab.stats().authorization_cache_misses, 3, "start, read, and read again");
}

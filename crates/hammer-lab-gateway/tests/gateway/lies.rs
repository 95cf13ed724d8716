//! Each lie is what it says, and is owned up to.

use hammer_lab_gateway::{GatewayLieKind, ToldGatewayLie};
use serde_json::{Value, json};

use crate::client::{Answer, Gateway};

async fn lying(rule: Value) -> Gateway {
    Gateway::with_token(json!({ "lies": [rule] })).await
}

/// Starts a session; its place and its cookie.
async fn start(gateway: &Gateway) -> (String, String) {
    let answer = gateway.send("POST", "/sessions", &[], "").await;
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    (answer.header("location").to_owned(), cookie)
}

fn told(gateway: &Gateway) -> Vec<(GatewayLieKind, String, String)> {
    let (told, unlisted) = gateway.lab.target().told_lies();
    assert_eq!(unlisted, 0);
    told.into_iter().map(|ToldGatewayLie { kind, method, path }| (kind, method, path)).collect()
}

fn of(kind: GatewayLieKind, method: &str, path: &str) -> (GatewayLieKind, String, String) {
    (kind, method.to_owned(), path.to_owned())
}

fn has_its_length(answer: &Answer) -> bool {
    answer.header("content-length") == answer.body.len().to_string()
}

#[tokio::test]
async fn an_honest_gateway_told_no_lie() {
    let gateway = Gateway::with_token(json!({})).await;
    gateway.get("/echo/a").await;
    assert_eq!(told(&gateway), []);
}

#[tokio::test]
async fn a_login_page_stands_in_the_place_of_an_answer() {
    let gateway = lying(json!({ "kind": "login-page", "after": 1, "every": 2 })).await;
    let [first, second, third] =
        [gateway.get("/echo/a").await, gateway.get("/hops/backend/b").await, gateway.get("/echo/c").await];
    assert_eq!(
        (first.json()["path"].as_str(), third.json()["path"].as_str()),
        (Some("/echo/a"), Some("/echo/c"))
    );
    assert_eq!((second.status, second.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(second.text().contains("<form") && has_its_length(&second));
    assert_eq!(told(&gateway), [of(GatewayLieKind::LoginPage, "GET", "/b")]);
    // What is refused has no lie, and is not counted by its rule.
    assert_eq!(gateway.send("GET", "/sessions/a", &[], "").await.status, 404);
    assert!(gateway.get("/echo/d").await.text().contains("<form"));
}

#[tokio::test]
async fn the_answer_is_that_of_another_path_that_was_asked_before() {
    let gateway = lying(json!({ "kind": "another-answer", "times": 2 })).await;
    assert_eq!(gateway.get("/echo/a").await.json()["path"], "/echo/a", "none was asked before");
    assert_eq!(gateway.get("/echo/b").await.json()["path"], "/echo/a");
    assert_eq!(gateway.send("POST", "/echo/c", &[], "").await.json()["path"], "/echo/c", "no GET");
    assert_eq!(gateway.get("/echo/b").await.json()["path"], "/echo/a");
    assert_eq!(gateway.get("/echo/c").await.json()["path"], "/echo/c", "twice at most");
    let kind = GatewayLieKind::AnotherAnswer;
    assert_eq!(told(&gateway), [of(kind, "GET", "/echo/b"), of(kind, "GET", "/echo/b")]);
}

#[tokio::test]
async fn an_answer_that_is_the_same_for_every_path_is_no_lie() {
    let gateway = lying(json!({ "kind": "another-answer" })).await;
    for path in ["/a", "/b", "/c"] {
        assert_eq!(gateway.get(path).await.text(), "hello-world\n");
    }
    assert_eq!(told(&gateway), []);
}

#[tokio::test]
async fn json_is_cut_short_with_the_length_that_it_has_then() {
    let gateway = lying(json!({ "kind": "cut-json" })).await;
    assert_eq!(gateway.get("/a").await.text(), "hello-world\n", "no JSON");
    let cut = gateway.get("/echo/a").await;
    assert_eq!(
        (cut.status, cut.header("content-type"), has_its_length(&cut)),
        (200, "application/json", true)
    );
    assert!(serde_json::from_slice::<Value>(&cut.body).unwrap_err().is_eof(), "{}", cut.text());
    assert_eq!(told(&gateway), [of(GatewayLieKind::CutJson, "GET", "/echo/a")]);
}

#[tokio::test]
async fn a_session_is_answered_with_another_one() {
    let gateway = lying(json!({ "kind": "stale-session" })).await;
    let (own, cookie) = start(&gateway).await;
    let read = async || gateway.send("GET", &own, &[("cookie", &cookie)], "").await;
    assert!(own.ends_with(read().await.json()["id"].as_str().unwrap()), "there is no other one");
    let (other, _) = start(&gateway).await;
    assert!(other.ends_with(read().await.json()["id"].as_str().unwrap()));
    assert_eq!(told(&gateway), [of(GatewayLieKind::StaleSession, "GET", &own)]);
}

#[tokio::test]
async fn an_odd_gateway_can_lie_as_well() {
    let plan = json!({ "odd": true, "lies": [{ "kind": "cut-json" }] });
    let gateway = Gateway::with_token(plan).await;
    let cut = gateway.get("/echo/a").await;
    assert!(serde_json::from_slice::<Value>(&cut.body).unwrap_err().is_eof());
}

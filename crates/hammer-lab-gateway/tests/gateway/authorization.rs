//! Decisions: asked for, remembered, and waited for.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::client::{Gateway, until};

fn counts(gateway: &Gateway) -> (u64, u64) {
    let stats = gateway.lab.stats();
    (stats.authorization_cache_hits, stats.authorization_cache_misses)
}

#[tokio::test]
async fn a_decision_is_asked_once_for_each_subject_method_and_path_until_its_time_is_over() {
    let gateway = Gateway::with_token(json!({ "authorization": { "denied": ["/admin"] } })).await;
    for (path, status) in
        [("/a", 200), ("/a?b", 200), ("/admin/x", 403), ("/admin/x", 403), ("/administrator", 200)]
    {
        assert_eq!(gateway.get(path).await.status, status, "{path}");
    }
    assert_eq!(counts(&gateway), (2, 3));
    assert_eq!(gateway.send("POST", "/a", &[], "").await.status, 200);
    assert_eq!(counts(&gateway), (2, 4));
    gateway.advance(Duration::from_secs(30));
    assert_eq!((gateway.get("/a").await.status, gateway.get("/admin/x").await.status), (200, 403));
    assert_eq!(counts(&gateway), (3, 5), "what was denied is asked again after half a minute");
    let denied = gateway.get("/admin/x").await.json();
    assert_eq!(denied["error"], "forbidden");
}

#[tokio::test]
async fn what_is_allowed_is_asked_again_after_five_minutes() {
    let gateway = Gateway::with_token(json!({ "token": { "expires_in": "1h" } })).await;
    gateway.get("/a").await;
    gateway.advance(Duration::from_millis(299_999));
    gateway.get("/a").await;
    assert_eq!(counts(&gateway), (1, 1));
    gateway.advance(Duration::from_millis(1));
    gateway.get("/a").await;
    assert_eq!(counts(&gateway), (1, 2));
}

#[tokio::test]
async fn only_the_whole_way_asks() {
    let gateway = Gateway::with_token(json!({ "authorization": { "denied": ["/"] } })).await;
    assert_eq!(gateway.get("/hops/authenticated/a").await.status, 200);
    assert_eq!(gateway.get("/hops/backend/a").await.status, 200);
    assert_eq!(counts(&gateway), (0, 0));
    assert_eq!(gateway.get("/a").await.status, 403);
    let without = Gateway::with_token(json!({ "authorization": null })).await;
    assert_eq!((without.get("/a").await.status, counts(&without)), (200, (0, 0)));
}

#[tokio::test]
async fn a_decision_takes_the_time_of_the_api_and_a_cached_one_none() {
    let latency = json!({ "latency": { "constant": "3ms" } });
    let gateway = Arc::new(Gateway::with_token(json!({ "authorization": latency })).await);
    let waits = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        async move { gateway.get("/a").await.status }
    });
    gateway.until_misses(1).await;
    assert!(!waits.is_finished());
    // Time may pass between the count and the start of the wait.
    let advancing = async {
        while !waits.is_finished() {
            gateway.advance(Duration::from_millis(3));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), advancing).await.unwrap();
    assert_eq!(waits.await.unwrap(), 200);
    assert_eq!((gateway.get("/a").await.status, counts(&gateway)), (200, (1, 1)));
}

#[tokio::test]
async fn beyond_the_burst_each_decision_waits_for_its_turn() {
    let limit = json!({ "rate": "10/s", "burst": 2 });
    let gateway = Arc::new(Gateway::with_token(json!({ "authorization": limit })).await);
    for path in ["/0", "/1"] {
        assert_eq!(gateway.get(path).await.status, 200);
    }
    let mut waiting = Vec::new();
    for number in 0..3_u64 {
        let asking = Arc::clone(&gateway);
        waiting.push(tokio::spawn(async move { asking.get(&format!("/w{number}")).await.status }));
        // One after another, so that their turns are in this order.
        gateway.until_misses(3 + number).await;
    }
    let waited_for = 100 + 200 + 300;
    until(|| gateway.lab.stats().authorization_wait_ms == waited_for).await;
    assert_eq!(gateway.get("/0").await.status, 200, "what is cached waits for nobody");
    for number in 0..3 {
        gateway.advance(Duration::from_millis(99));
        assert!(!waiting[number].is_finished(), "{number}");
        gateway.advance(Duration::from_millis(1));
        until(|| waiting[number].is_finished()).await;
        assert!(waiting[number + 1..].iter().all(|later| !later.is_finished()), "first come first served");
    }
    for answered in waiting {
        assert_eq!(answered.await.unwrap(), 200);
    }
    assert_eq!(counts(&gateway), (1, 5));
}

#[tokio::test]
async fn the_page_of_counts_has_requests_by_hop_and_what_the_cache_did() {
    let gateway =
        Gateway::with_token(json!({ "lies": [{ "kind": "login-page", "after": 5, "times": 1 }] })).await;
    for path in ["/a", "/a", "/b", "/hops/backend/a", "/hops/authenticated/a", "/hops/backend/a"] {
        gateway.get(path).await;
    }
    gateway.send("POST", "/hops/backend/sessions", &[], "").await;
    let stats = gateway.get("/stats").await;
    assert_eq!(stats.header("cache-control"), "no-store");
    let said: Value = json!({
        "requests": {
            "authenticated": { "200": 1 }, "authorized": { "200": 3 }, "backend": { "200": 2, "201": 1 },
            "token": { "200": 1 },
        },
        "authorization": { "cache_hits": 1, "cache_misses": 2, "wait_ms": 0 },
        "sessions": 1,
        "lies": { "login-page": 1 },
        "unlisted_lies": 0,
    });
    assert_eq!(stats.json(), said);
}

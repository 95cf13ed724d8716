//! The token endpoint, and the documents beside it.

use hammer_lab::jws::{CompactJws, JwkSet};
use serde_json::{Value, json};

use crate::client::{CLIENT, Gateway, NOW};

fn claims(token: &Value) -> Value {
    CompactJws::split(token.as_str().unwrap()).unwrap().claims().unwrap()
}

#[tokio::test]
async fn the_client_and_the_user_are_granted_tokens_that_the_key_of_the_documents_verifies() {
    let gateway = Gateway::of(json!({ "token": { "expires_in": "7s" } })).await;
    let discovery = gateway.get("/.well-known/openid-configuration").await.json();
    assert_eq!(discovery["issuer"], "http://issuer.hammer.test");
    assert_eq!(discovery["token_endpoint"], format!("{}/oauth/token", gateway.lab.url));
    assert_eq!(discovery["jwks_uri"], format!("{}/jwks", gateway.lab.url));
    let keys = gateway.get("/jwks").await;
    assert_eq!(Some(keys.text()), gateway.lab.target().jwk_set());
    let keys = JwkSet::read(&keys.body).unwrap();
    let by_password =
        format!("{}&username=jane&password=lab-password", CLIENT.replace("client_credentials", "password"));
    for (form, subject) in [(CLIENT, "hammer"), (by_password.as_str(), "jane")] {
        let answer = gateway.granted(form).await;
        assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"), "{}", answer.text());
        let granted = answer.json();
        assert_eq!((&granted["token_type"], &granted["expires_in"]), (&json!("Bearer"), &json!(7)));
        let token = &granted["access_token"];
        assert_eq!(CompactJws::split(token.as_str().unwrap()).unwrap().is_signed_by(&keys), Ok(true));
        let said = json!({ "iss": "http://issuer.hammer.test", "aud": "gateway", "sub": subject, "iat": NOW, "exp": NOW + 7 });
        assert_eq!(claims(token), said);
    }
}

#[tokio::test]
async fn who_is_not_the_client_or_the_user_is_refused_as_the_rfc_says() {
    let gateway = Gateway::of(json!({})).await;
    for (form, status, error) in [
        ("grant_type=client_credentials&client_id=hammer&client_secret=else", 401, "invalid_client"),
        ("grant_type=client_credentials&client_id=else&client_secret=lab-secret", 401, "invalid_client"),
        ("grant_type=password&client_id=hammer&username=jane&password=lab-password", 401, "invalid_client"),
        (
            "grant_type=password&client_id=hammer&client_secret=lab-secret&username=jane&password=else",
            400,
            "invalid_grant",
        ),
        ("grant_type=refresh_token&client_id=hammer&client_secret=lab-secret", 400, "unsupported_grant_type"),
        ("", 400, "invalid_request"),
    ] {
        let answer = gateway.granted(form).await;
        assert_eq!((answer.status, &answer.json()["error"]), (status, &json!(error)), "{form}");
    }
    assert_eq!(gateway.get("/oauth/token").await.status, 405);
    assert_eq!(gateway.send("POST", "/jwks", &[], "").await.status, 405);
    let requests = gateway.lab.stats().requests;
    assert_eq!((requests["token"][&401], requests["token"][&405], requests["jwks"][&405]), (3, 1, 1));
}

#[tokio::test]
async fn without_tokens_nobody_grants_any_and_nobody_needs_one() {
    let gateway = Gateway::of(json!({ "token": null })).await;
    assert_eq!(gateway.granted(CLIENT).await.status, 404);
    assert_eq!(gateway.get("/jwks").await.status, 404);
    let echo = gateway.get("/echo/a").await;
    assert_eq!((echo.status, &echo.json()["user"]), (200, &Value::Null));
    assert_eq!(gateway.lab.target().jwk_set(), None);
}

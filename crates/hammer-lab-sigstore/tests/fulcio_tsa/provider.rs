//! The embedded OpenID provider: what it grants Fulcio takes, and it refuses as RFC 6749 says.

use hammer_lab_authority::LabSigner;
use hammer_lab_sigstore::{FulcioLabPlan, ProviderConfig, ProviderLabHandle, ProviderLabPlan};
use serde_json::json;

use crate::{
    client::{Answer, get, request, send},
    signer::{Signer, clock, fulcio, v1_request},
};

async fn provider(plan: serde_json::Value) -> ProviderLabHandle {
    let plan: ProviderLabPlan = serde_json::from_value(plan).unwrap();
    let config = ProviderConfig { plan, audience: "sigstore".to_owned() };
    ProviderLabHandle::start_with_clock(config, clock()).await.unwrap()
}

async fn asked(endpoint: &str, body: &str) -> Answer {
    let form = [("content-type", "application/x-www-form-urlencoded")];
    send(request("POST", endpoint, &form, body.to_owned())).await
}

#[tokio::test]
async fn what_it_grants_by_a_password_is_what_fulcio_certifies() {
    let provider = provider(json!({ "expires_in": "7s" })).await;
    let discovery = get(&format!("{}/.well-known/openid-configuration", provider.url)).await.json();
    assert_eq!(discovery["issuer"], provider.url);
    let endpoint = discovery["token_endpoint"].as_str().unwrap();
    let body = "grant_type=password&username=jane%40example.com&password=p&client_id=c&scope=openid";
    let answer = asked(endpoint, body).await;
    assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, "no-store"));
    let granted = answer.json();
    assert_eq!((&granted["token_type"], &granted["expires_in"]), (&json!("Bearer"), &json!(7)));
    let plan = FulcioLabPlan { issuers: vec![provider.url.clone()], ..FulcioLabPlan::default() };
    let fulcio = fulcio(plan, None).await;
    let signer = Signer { email: "jane@example.com", key: LabSigner::p256("signer", 8).unwrap() };
    let token = granted["id_token"].as_str().unwrap();
    let answer = send(v1_request(&fulcio.url, token, signer.body(&signer.proof()))).await;
    assert_eq!(answer.status.as_u16(), 201, "{}", answer.text());
    let stats = provider.stats();
    assert_eq!(
        ["discovery", "jwks", "token"].map(|endpoint| stats.requests[endpoint][&200]),
        [2, 1, 1],
        "the test asked for one document, Fulcio for both"
    );
}

#[tokio::test]
async fn a_request_that_is_none_is_refused_with_its_error() {
    let provider = provider(json!({})).await;
    let endpoint = format!("{}/token", provider.url);
    for (body, status, error) in [
        ("grant_type=client_credentials&client_id=c", 401, "invalid_client"),
        ("grant_type=password&client_id=c&username=u", 400, "invalid_grant"),
        ("grant_type=refresh_token&client_id=c", 400, "unsupported_grant_type"),
        ("", 400, "invalid_request"),
    ] {
        let answer = asked(&endpoint, body).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["error"]), (status, &json!(error)), "{body}");
    }
    assert_eq!(get(&endpoint).await.status.as_u16(), 405);
    assert_eq!(get(&format!("{}/else", provider.url)).await.status.as_u16(), 404);
    let without = asked(&endpoint, "grant_type=client_credentials&client_id=c&client_secret=s").await.json();
    assert!(without["id_token"].is_null() && without["access_token"].is_string(), "no openid was asked for");
}

#[tokio::test]
async fn a_plan_without_meaning_is_refused_at_its_key() {
    for (plan, key) in [
        (json!({ "expires_in": "100ms" }), "expires_in"),
        (json!({ "faults": { "rules": [{ "endpoints": ["tokens"] }] } }), "faults.rules[0].endpoints"),
    ] {
        let plan: ProviderLabPlan = serde_json::from_value(plan).unwrap();
        let config = ProviderConfig { plan, audience: "sigstore".to_owned() };
        let error = ProviderLabHandle::start_with_clock(config, clock()).await.unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
    }
}

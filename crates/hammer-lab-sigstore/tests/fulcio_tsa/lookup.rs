//! Fulcio and the issuers that it looks up: keys that are not known, keys that change, and keys that are gone.

use hammer_lab_sigstore::{
    FulcioConfig, FulcioLabHandle, FulcioLabPlan, IssuerConfig, IssuerLabHandle, IssuerLabPlan,
    issuer::{StaticDocument, StaticDocuments},
};

use crate::{
    client::send,
    signer::{NOW, Signer, clock, fulcio, jwks, token_by, v1_request},
};

/// An issuer with the keys of these seeds.
async fn issuer(seeds: &[u8]) -> IssuerLabHandle {
    let keys = jwks(seeds);
    let config = IssuerConfig::new(IssuerLabPlan::default(), move |url: &str| {
        let discovery = format!(r#"{{"issuer":"{url}","jwks_uri":"{url}/jwks.json"}}"#);
        StaticDocuments::from([
            ("/.well-known/openid-configuration".to_owned(), StaticDocument::json(discovery)),
            ("/jwks.json".to_owned(), StaticDocument::json(keys)),
        ])
    });
    IssuerLabHandle::start(config).await.unwrap()
}

/// The status of Fulcio's answer to a token of `issuer` by the key of that seed.
async fn status(fulcio: &FulcioLabHandle, issuer: &str, seed: u8) -> u16 {
    let signer = Signer::new();
    let token = token_by(issuer, signer.email, seed);
    send(v1_request(&fulcio.url, &token, signer.body(&signer.proof()))).await.status.as_u16()
}

fn looking_up(issuers: &[&str]) -> FulcioLabPlan {
    let issuers = issuers.iter().map(ToString::to_string).collect();
    FulcioLabPlan { issuers, ..FulcioLabPlan::default() }
}

fn asked(issuer: &IssuerLabHandle) -> u64 {
    issuer.stats().requests.get("document").map_or(0, |by_status| by_status[&200])
}

#[tokio::test]
async fn keys_are_asked_for_when_a_token_names_one_that_is_not_known_and_not_before() {
    let issuer = issuer(&[1]).await;
    let fulcio = fulcio(looking_up(&[&issuer.url]), None).await;
    assert_eq!(asked(&issuer), 0, "nobody has come with its token");
    for _ in 0..3 {
        assert_eq!(status(&fulcio, &issuer.url, 1).await, 201);
    }
    assert_eq!(asked(&issuer), 1);
    // The issuer changes its key; both are published.
    issuer.target().replace("/jwks.json", StaticDocument::json(jwks(&[2, 1])));
    assert_eq!(status(&fulcio, &issuer.url, 1).await, 201);
    assert_eq!(asked(&issuer), 1, "the old key is known");
    assert_eq!(status(&fulcio, &issuer.url, 2).await, 201);
    assert_eq!(status(&fulcio, &issuer.url, 1).await, 201);
    assert_eq!(asked(&issuer), 2);
}

#[tokio::test]
async fn a_token_whose_key_is_gone_is_refused_once_fulcio_has_asked_again() {
    let issuer = issuer(&[2]).await;
    let fulcio = fulcio(looking_up(&[&issuer.url]), None).await;
    assert_eq!(status(&fulcio, &issuer.url, 1).await, 400);
    assert_eq!(status(&fulcio, &issuer.url, 1).await, 400);
    assert_eq!(asked(&issuer), 2, "each time, since it might have come meanwhile");
    assert_eq!(status(&fulcio, &issuer.url, 2).await, 201);
    issuer.target().replace("/jwks.json", StaticDocument::json(jwks(&[3])));
    assert_eq!(status(&fulcio, &issuer.url, 2).await, 201, "who is not asked has not heard of it");
    assert_eq!(status(&fulcio, &issuer.url, 3).await, 201);
    assert_eq!(status(&fulcio, &issuer.url, 2).await, 400, "and now has");
}

#[tokio::test]
async fn an_issuer_is_asked_once_for_all_who_wait_for_its_keys() {
    let issuer = issuer(&[1]).await;
    let fulcio = fulcio(looking_up(&[&issuer.url]), None).await;
    let all = (0..20).map(|_| status(&fulcio, &issuer.url, 1));
    assert_eq!(futures::future::join_all(all).await, [201; 20]);
    assert_eq!(asked(&issuer), 1);
}

#[tokio::test]
async fn an_issuer_that_is_another_or_not_there_has_no_keys() {
    let issuer = issuer(&[1]).await;
    let nowhere = "http://127.0.0.1:1";
    let fulcio = fulcio(looking_up(&[nowhere, &issuer.url]), None).await;
    assert_eq!(status(&fulcio, nowhere, 1).await, 400);
    let discovery = format!(r#"{{"issuer":"{nowhere}","jwks_uri":"{}/jwks.json"}}"#, issuer.url);
    issuer.target().replace("/.well-known/openid-configuration", StaticDocument::json(discovery));
    assert_eq!(status(&fulcio, &issuer.url, 1).await, 400);
    let away = format!(r#"{{"issuer":"{}","jwks_uri":"http://192.0.2.1/jwks.json"}}"#, issuer.url);
    issuer.target().replace("/.well-known/openid-configuration", StaticDocument::json(away));
    assert_eq!(status(&fulcio, &issuer.url, 1).await, 400, "nobody is asked who is not on loopback");
    assert_eq!(asked(&issuer), 0);
    assert_eq!(status(&fulcio, "http://127.0.0.1:2", 1).await, 400, "of an issuer that nobody named");
}

#[tokio::test]
async fn an_issuer_that_cannot_be_looked_up_is_named() {
    for url in ["https://127.0.0.1:1", "http://192.0.2.1:1", "nowhere"] {
        let config = FulcioConfig::from_plan(looking_up(&["http://127.0.0.1:1", url]), NOW * 1000).unwrap();
        let error = FulcioLabHandle::start_with_clock(config, clock()).await.unwrap_err().to_string();
        assert!(error.contains("issuers[1]") && error.contains(url), "{error}");
    }
}

use hammer_lab_sigstore::{
    IssuerConfig, IssuerLabHandle, IssuerLabPlan,
    issuer::{StaticDocument, StaticDocuments},
};

use crate::client::{get, post};

async fn issuer() -> IssuerLabHandle {
    let config = IssuerConfig::new(IssuerLabPlan::default(), |url: &str| {
        let discovery = format!(r#"{{"issuer":"{url}","jwks_uri":"{url}/jwks.json"}}"#);
        StaticDocuments::from([
            ("/.well-known/openid-configuration".to_owned(), StaticDocument::json(discovery)),
            ("/jwks.json".to_owned(), StaticDocument::json(r#"{"keys":[]}"#)),
        ])
    });
    IssuerLabHandle::start(config).await.unwrap()
}

#[tokio::test]
async fn documents_name_the_url_that_they_are_reached_by() {
    let issuer = issuer().await;
    let discovery = get(&format!("{}/.well-known/openid-configuration", issuer.url)).await;
    assert_eq!(discovery.header("content-type"), "application/json");
    assert_eq!(discovery.json()["issuer"], issuer.url);
    let keys = get(discovery.json()["jwks_uri"].as_str().unwrap()).await;
    assert_eq!(keys.text(), r#"{"keys":[]}"#);
    let stats = issuer.stats();
    assert_eq!((stats.requests["discovery"][&200], stats.requests["document"][&200]), (1, 1));
}

#[tokio::test]
async fn a_document_that_is_replaced_is_served_from_then_on() {
    let issuer = issuer().await;
    let url = format!("{}/jwks.json", issuer.url);
    let content_type = http::HeaderValue::from_static("application/jwk-set+json");
    issuer.target().replace("/jwks.json", StaticDocument { content_type, body: "{}".into() });
    let answer = get(&url).await;
    assert_eq!((answer.header("content-type"), answer.text().as_str()), ("application/jwk-set+json", "{}"));
}

#[tokio::test]
async fn what_is_not_there_and_what_is_no_reading_is_refused() {
    let issuer = issuer().await;
    assert_eq!(get(&format!("{}/else", issuer.url)).await.status.as_u16(), 404);
    let answer = post(&format!("{}/jwks.json", issuer.url), "text/plain", "").await;
    assert_eq!(answer.status.as_u16(), 405);
}

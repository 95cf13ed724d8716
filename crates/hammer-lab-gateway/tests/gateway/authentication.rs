//! Which tokens the gateway takes.

use std::{io::Write as _, path::Path, time::Duration};

use hammer_lab_authority::{LabSigner, TokenKey, pem};
use serde_json::{Value, json};

use crate::client::{Answer, CLIENT, Gateway, NOW};

fn claims() -> Value {
    json!({ "iss": "http://issuer.hammer.test", "aud": ["else", "gateway"], "sub": "eve", "exp": NOW + 10 })
}

async fn shown(gateway: &Gateway, authorization: &str) -> Answer {
    gateway.send("GET", "/hops/authenticated/echo/a", &[("authorization", authorization)], "").await
}

async fn shown_token(gateway: &Gateway, token: &str) -> Answer {
    shown(gateway, &format!("Bearer {token}")).await
}

#[tokio::test]
async fn a_token_that_is_wrong_is_refused_with_its_challenge() {
    let gateway = Gateway::of(json!({})).await;
    let (own, another) = (TokenKey::of_seed("gateway", 1).unwrap(), TokenKey::of_seed("gateway", 2).unwrap());
    let with = |key: &str, value: Value| {
        let mut claims = claims();
        claims[key] = value;
        own.token(&claims)
    };
    assert_eq!(shown_token(&gateway, &own.token(&claims())).await.json()["user"], "eve");
    for (token, description) in [
        ("a.b".to_owned(), "the token is malformed"),
        ("a.b.c".to_owned(), "the token is malformed"),
        (another.token(&claims()), "the signature of the token is by no trusted key"),
        (with("iss", json!("http://else")), "the token is of another issuer"),
        (with("aud", json!("else")), "the token is for another audience"),
        (with("exp", json!(NOW - 1)), "the token has expired"),
        (with("nbf", json!(NOW + 6)), "the token is not valid yet"),
        (with("sub", json!("")), "the token names no subject"),
    ] {
        let answer = shown_token(&gateway, &token).await;
        assert_eq!(answer.status, 401, "{description}");
        let challenge = format!("Bearer error=\"invalid_token\", error_description=\"{description}\"");
        assert_eq!(answer.header("www-authenticate"), challenge);
        assert_eq!(answer.json(), json!({ "error": "invalid_token", "error_description": description }));
    }
    let requests = gateway.lab.stats().requests;
    assert_eq!((requests["authenticated"][&200], requests["authenticated"][&401]), (1, 8));
}

#[tokio::test]
async fn a_request_without_a_token_is_challenged_and_told_of_no_error() {
    let gateway = Gateway::of(json!({})).await;
    for path in ["/anything", "/hops/authenticated/anything"] {
        let answer = gateway.get(path).await;
        assert_eq!((answer.status, answer.header("www-authenticate")), (401, "Bearer"));
        assert_eq!(answer.json()["error"], "unauthorized");
    }
    let basic = shown(&gateway, "Basic aGFtbWVyOmxhYg==").await;
    assert_eq!((basic.status, basic.header("www-authenticate")), (401, "Bearer"));
    assert_eq!(gateway.get("/hops/backend/anything").await.text(), "hello-world\n");
}

#[tokio::test]
async fn a_granted_token_is_taken_until_it_expires() {
    let gateway = Gateway::of(json!({ "token": { "expires_in": "2s" } })).await;
    let token = gateway.granted(CLIENT).await.json()["access_token"].as_str().unwrap().to_owned();
    let lower = shown(&gateway, &format!("bearer {token}")).await;
    assert_eq!((lower.status, &lower.json()["user"]), (200, &json!("hammer")));
    gateway.advance(Duration::from_millis(2_000));
    assert_eq!(shown_token(&gateway, &token).await.status, 200);
    gateway.advance(Duration::from_millis(1));
    let late = shown_token(&gateway, &token).await;
    assert_eq!((late.status, &late.json()["error_description"]), (401, &json!("the token has expired")));
}

fn file(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::File::create(&path).unwrap().write_all(content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn keys_of_files_are_trusted_besides_the_own_one() {
    let folder = tempfile::tempdir().unwrap();
    let set_key = TokenKey::of_seed("file", 1).unwrap();
    let set = file(folder.path(), "jwks.json", set_key.jwk_set().as_bytes());
    // The key of the PEM is known by no name, so that a token may name it as it likes.
    let spki = LabSigner::p256("file", 2).unwrap().spki().to_vec();
    let pem =
        file(folder.path(), "key.pem", pem::PemBlock::of(pem::PUBLIC_KEY, &spki).to_string().as_bytes());
    let gateway = Gateway::of(json!({ "token": { "jwks_files": [set], "public_key_files": [pem] } })).await;
    for key in [set_key, TokenKey::of_seed("file", 2).unwrap(), TokenKey::of_seed("gateway", 1).unwrap()] {
        assert_eq!(shown_token(&gateway, &key.token(&claims())).await.status, 200);
    }
    let unknown = TokenKey::of_seed("file", 3).unwrap();
    assert_eq!(shown_token(&gateway, &unknown.token(&claims())).await.status, 401);
}

#[tokio::test]
async fn a_token_by_an_rsa_key_of_openssl_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output =
            std::process::Command::new("openssl").args(arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    run(&["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "key.pem"]);
    run(&["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"]);
    let url = |bytes: &[u8]| {
        let text = standard_base64(bytes);
        text.trim_end_matches('=').replace('+', "-").replace('/', "_")
    };
    let header = json!({ "alg": "RS256", "kid": "k" }).to_string();
    let signed = format!("{}.{}", url(header.as_bytes()), url(claims().to_string().as_bytes()));
    file(folder.path(), "signed", signed.as_bytes());
    let signature = run(&["dgst", "-sha256", "-sign", "key.pem", "signed"]);
    let public = folder.path().join("public.pem");
    let gateway = Gateway::of(json!({ "token": { "public_key_files": [public] } })).await;
    let token = format!("{signed}.{}", url(&signature));
    let answer = shown_token(&gateway, &token).await;
    assert_eq!((answer.status, &answer.json()["user"]), (200, &json!("eve")), "{}", answer.text());
    let es256 = token.replacen(&url(header.as_bytes()), &url(br#"{"alg":"ES256"}"#), 1);
    assert_eq!(shown_token(&gateway, &es256).await.status, 401);
}

/// Standard base64, by the PEM that holds it.
fn standard_base64(bytes: &[u8]) -> String {
    let text = pem::PemBlock::of("X", bytes).to_string();
    text.lines().filter(|line| !line.starts_with("-----")).collect()
}

#[tokio::test]
async fn a_plan_without_meaning_is_refused_at_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let empty = file(folder.path(), "empty.json", br#"{"keys": []}"#);
    let text = file(folder.path(), "text.pem", b"no key");
    for (plan, said) in [
        (json!({ "token": { "expires_in": "100ms" } }), "token.expires_in"),
        (json!({ "token": { "jwks_files": [empty] } }), "it has no key of RSA or P-256"),
        (json!({ "token": { "jwks_files": [text] } }), "expected"),
        (json!({ "token": { "public_key_files": [text] } }), "no PEM with a PUBLIC KEY"),
        (json!({ "token": { "public_key_files": ["absent.pem"] } }), "read absent.pem"),
        (json!({ "authorization": { "denied": ["/a", "?b"] } }), "authorization.denied[1]"),
        (json!({ "authorization": { "rate": "0/s" } }), "authorization.rate"),
        (json!({ "faults": { "rules": [{ "endpoints": ["tokens"] }] } }), "faults.rules[0].endpoints"),
    ] {
        let Err(error) = Gateway::spawn(plan).await else { panic!("nothing is said of {said}") };
        assert!(error.to_string().contains(said), "{error}");
    }
}

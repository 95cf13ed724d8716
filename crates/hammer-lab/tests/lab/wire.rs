//! HTTP as the targets speak it.

use std::sync::Arc;

use hammer_lab::{
    CtLabPlan, HttpLabHandle, HttpLabPlan,
    serve::{ServePlan, TlsFiles},
};
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;

use crate::{
    chains::{Mint, body},
    client::{Connection, dial, get, post, request, until},
    ct_log::{quick_plan, start},
};

#[tokio::test]
async fn one_listener_speaks_http1_and_http2_by_prior_knowledge() {
    let lab = HttpLabHandle::start(HttpLabPlan::default()).await.unwrap();
    for mut connection in [Connection::http1(&lab.url).await, Connection::http2(&lab.url).await] {
        for _ in 0..3 {
            assert_eq!(connection.send(request("GET", &lab.url, "")).await.unwrap().status, 200);
        }
    }
    assert_eq!(lab.stop().connections, 2);
}

#[tokio::test]
async fn tls_is_spoken_with_the_files_of_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    std::fs::write(&files.certificate, made.cert.pem()).unwrap();
    let key = made.signing_key.serialize_pem().replace("PRIVATE KEY", "TEST PRIVATE KEY");
    std::fs::write(&files.key, key).unwrap();
    let serve = ServePlan { tls: Some(files), ..ServePlan::default() };
    let lab = HttpLabHandle::start(HttpLabPlan { serve, ..HttpLabPlan::default() }).await.unwrap();
    assert!(lab.url.starts_with("https://"));
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, dial(&lab.url).await).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(answer.starts_with(b"HTTP/1.1 200 OK"), "{}", String::from_utf8_lossy(&answer));
    lab.shutdown().await;
}

#[tokio::test]
async fn wrong_methods_and_paths_get_405_and_404() {
    let lab = start(quick_plan(), &Mint::new()).await;
    let base = &lab.url;
    assert_eq!(get(&format!("{base}/ct/v1/add-chain")).await.status, 405);
    assert_eq!(post(&format!("{base}/ct/v1/get-roots"), "").await.status, 405);
    for path in ["/tile/0/000", "/tile/0/zzz", "/tile/data/000.p/1", "/issuer/00", "/nothing", "x/checkpoint"]
    {
        assert_eq!(get(&format!("{base}{path}")).await.status, 404, "{path}");
    }
    assert_eq!(lab.stop().requests["add-chain"][&405], 1);
}

#[tokio::test]
async fn a_body_beyond_its_limit_gets_413() {
    let serve = ServePlan { max_body: hammer_values::ByteSize::from_bytes(1000), ..ServePlan::default() };
    let lab = start(CtLabPlan { serve, ..quick_plan() }, &Mint::new()).await;
    let answer = post(&format!("{}/ct/v1/add-chain", lab.url), vec![b' '; 5000]).await;
    assert_eq!(answer.status, 413);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_missing_content_type_and_unknown_fields_do_not_matter() {
    let mint = Mint::new();
    let lab = start(quick_plan(), &mint).await;
    let mut text = String::from_utf8(body(&mint.chain(1))).unwrap();
    text.insert_str(1, r#""more": [1, {"a": null}], "#);
    assert_eq!(post(&format!("{}/ct/v1/add-chain", lab.url), text).await.status, 200);
    lab.shutdown().await;
}

#[tokio::test]
async fn what_is_under_way_is_answered_when_the_log_stops() {
    let mint = Mint::new();
    let never = hammer_values::TimeSpan::from_secs(3600);
    let plan = CtLabPlan { batch_max_age: never, checkpoint_interval: never, ..quick_plan() };
    let lab = start(plan, &mint).await;
    let url = format!("{}/ct/v1/add-chain", lab.url);
    let submission = body(&mint.chain(1));
    let waiting = tokio::spawn(async move { post(&url, submission).await });
    until(|| lab.stats().outstanding == 1).await;
    let stats = tokio::task::spawn_blocking(|| lab.stop()).await.unwrap();
    assert_eq!(waiting.await.unwrap().status, 200);
    assert_eq!((stats.tree_size, stats.published_size), (1, 1));
}

#[tokio::test]
async fn a_taken_address_is_an_error_at_the_start() {
    let lab = HttpLabHandle::start(HttpLabPlan::default()).await.unwrap();
    let listen = lab.url.trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
    let serve = ServePlan { listen, ..ServePlan::default() };
    let error = HttpLabHandle::start(HttpLabPlan { serve, ..HttpLabPlan::default() }).await.unwrap_err();
    assert!(error.to_string().starts_with(&format!("listen on {listen}: ")), "{error}");
    lab.shutdown().await;
}

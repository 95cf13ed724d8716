use std::sync::Arc;

use hammer_lab::ManualClock;
use hammer_lab_sigstore::{AuthorityCurve, TsaLabHandle, TsaLabPlan};
use hammer_tlog::keys::der::{self, DerReader};

use crate::{
    client::{Answer, get, post, request, send},
    openssl::{OpensslFolder, certificates, pem},
    signer::{NOW, clock},
};

const REQUEST: &[u8] = include_bytes!("../../testdata/tsa/request.tsq");
const REQUEST_JSON: &str = include_str!("../../testdata/tsa/request.json");
const RESPONSE: &[u8] = include_bytes!("../../testdata/tsa/response.tsr");
const CERTCHAIN: &str = include_str!("../../testdata/tsa/certchain.pem");

pub(crate) async fn tsa(plan: TsaLabPlan) -> TsaLabHandle {
    TsaLabHandle::start_with_clock(plan, clock()).await.unwrap()
}

pub(crate) async fn stamp(tsa: &TsaLabHandle, query: impl Into<bytes::Bytes>) -> Answer {
    post(&format!("{}/api/v1/timestamp", tsa.url), "application/timestamp-query", query).await
}

/// OpenSSL's verdict about a response to a query at the time of the tests, with the served chain.
pub(crate) async fn verify(tsa: &TsaLabHandle, query: &[u8], response: &[u8]) -> Result<String, String> {
    let chain = certificates(&get(&format!("{}/api/v1/timestamp/certchain", tsa.url)).await.text());
    let folder = OpensslFolder::new();
    folder.write("query.tsq", query);
    folder.write("response.tsr", response);
    folder.write("root.pem", pem("CERTIFICATE", &chain[2]));
    folder.write("others.pem", pem("CERTIFICATE", &chain[0]) + &pem("CERTIFICATE", &chain[1]));
    let at = NOW.to_string();
    let arguments = [
        "ts",
        "-verify",
        "-queryfile",
        "query.tsq",
        "-in",
        "response.tsr",
        "-CAfile",
        "root.pem",
        "-untrusted",
        "others.pem",
        "-attime",
        &at,
    ];
    folder.run(&arguments)
}

/// A query over `artifact`, made by OpenSSL.
pub(crate) fn query(options: &[&str]) -> Vec<u8> {
    let folder = OpensslFolder::new();
    folder.write("artifact", "an artifact");
    folder.run(&[&["ts", "-query", "-data", "artifact", "-out", "query.tsq"], options].concat()).unwrap();
    std::fs::read(folder.path().join("query.tsq")).unwrap()
}

/// What OpenSSL reads in a response, but for the lines of the serial number.
pub(crate) fn text(response: &[u8]) -> String {
    let folder = OpensslFolder::new();
    folder.write("response.tsr", response);
    folder.run(&["ts", "-reply", "-in", "response.tsr", "-text"]).unwrap()
}

/// The tags of an element and of all within it, and the lengths of those that hold no others, serial numbers, names and
/// signatures apart.
fn shape(reader: &mut DerReader<'_>, depth: usize, out: &mut Vec<(usize, u8)>) {
    while let Ok(element) = reader.read() {
        out.push((depth, element.tag));
        if element.tag & 0x20 != 0 {
            shape(&mut element.content(), depth + 1, out);
        }
    }
}

#[tokio::test]
async fn a_recorded_request_gets_a_response_of_the_recorded_structure_and_headers() {
    let tsa = tsa(TsaLabPlan::default()).await;
    let answer = stamp(&tsa, REQUEST).await;
    assert_eq!(answer.status.as_u16(), 200);
    for (name, value) in [
        ("cache-control", "no-cache, no-store, no-transform, must-revalidate, private, max-age=0"),
        ("content-type", "application/timestamp-reply"),
        ("expires", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("pragma", "no-cache"),
        ("vary", "Origin"),
        ("x-accel-expires", "0"),
    ] {
        assert_eq!(answer.header(name), value);
    }
    let shape_of = |response| {
        let mut tags = Vec::new();
        shape(&mut DerReader::new(response), 0, &mut tags);
        tags
    };
    assert_eq!(shape_of(&answer.body), shape_of(RESPONSE));
    let kept = |text: String| -> Vec<String> {
        let lines =
            text.lines().filter(|line| !line.starts_with("Serial number") && !line.starts_with("TSA:"));
        // The recording was made a second later.
        lines.map(|line| line.replace("06:48:11", "06:48:10")).collect()
    };
    assert_eq!(kept(text(&answer.body)), kept(text(RESPONSE)));
    verify(&tsa, REQUEST, &answer.body).await.unwrap();
}

#[tokio::test]
async fn openssl_verifies_timestamps_of_every_hash_by_every_curve() {
    for curve in [AuthorityCurve::P256, AuthorityCurve::P384] {
        for include_chain_in_response in [false, true] {
            let plan = TsaLabPlan { curve, include_chain_in_response, ..TsaLabPlan::default() };
            let tsa = tsa(plan).await;
            for hash in ["-sha256", "-sha384", "-sha512"] {
                for options in [&["-cert", hash][..], &[hash], &["-no_nonce", "-cert", hash]] {
                    let query = query(options);
                    let answer = stamp(&tsa, query.clone()).await;
                    verify(&tsa, &query, &answer.body).await.unwrap();
                    let another = stamp(&tsa, REQUEST).await;
                    verify(&tsa, &query, &another.body).await.unwrap_err();
                }
            }
        }
    }
}

#[tokio::test]
async fn certificates_are_in_a_response_where_they_are_asked_for() {
    let tsa = tsa(TsaLabPlan::default()).await;
    let leaf = tsa.target().authority().certificate();
    let holds_leaf = |answer: &Answer| answer.body.windows(leaf.len()).any(|bytes| bytes == leaf);
    assert!(holds_leaf(&stamp(&tsa, query(&["-sha256", "-cert"])).await));
    assert!(!holds_leaf(&stamp(&tsa, query(&["-sha256"])).await));
}

#[tokio::test]
async fn a_recorded_request_in_json_is_answered_in_der() {
    let tsa = tsa(TsaLabPlan { use_http_201: true, ..TsaLabPlan::default() }).await;
    let url = format!("{}/api/v1/timestamp", tsa.url);
    let answer = post(&url, "application/json", REQUEST_JSON).await;
    assert_eq!(answer.status.as_u16(), 201);
    assert_eq!(answer.header("content-type"), "application/timestamp-reply");
    let text = text(&answer.body);
    assert!(text.contains("Nonce: 0x42F4DC4A\n"), "{text}");
    assert!(text.contains("df a3 44 29 cd cb d6 49"), "{text}");
}

#[tokio::test]
async fn the_chain_is_served_as_the_recorded_one() {
    let tsa = tsa(TsaLabPlan::default()).await;
    let answer = get(&format!("{}/api/v1/timestamp/certchain", tsa.url)).await;
    assert_eq!(answer.header("content-type"), "application/pem-certificate-chain");
    assert_eq!(answer.header("cache-control"), "max-age=86400, immutable");
    let (ours, theirs) = (certificates(&answer.text()), certificates(CERTCHAIN));
    assert_eq!(ours, tsa.target().authority().chain());
    assert!(answer.text().ends_with("-----END CERTIFICATE-----\n"));
    // Leaf and intermediate: the same extensions in the same order.
    for (ours, theirs) in ours.iter().zip(&theirs).take(2) {
        let kinds = |der| -> Vec<(Vec<u8>, bool)> {
            let certificate = hammer_tlog::keys::certificate::Certificate::parse(der).unwrap();
            certificate.extensions.map(|extension| (extension.oid.to_vec(), extension.critical)).collect()
        };
        assert_eq!(kinds(ours), kinds(theirs));
    }
    let ping = get(&format!("{}/ping", tsa.url)).await;
    assert_eq!((ping.status.as_u16(), ping.text().as_str()), (200, "."));
}

#[tokio::test]
async fn a_request_is_refused_as_by_the_real_server() {
    let tsa = tsa(TsaLabPlan::default()).await;
    let url = format!("{}/api/v1/timestamp", tsa.url);
    let generic = r#"{"code":400,"message":"Error generating timestamp response"}"#;
    let too_large = r#"{"code":400,"message":"timestamp request is too large"}"#;
    let media = r#"{"code":415,"message":"unsupported media type \"text/plain\", only [application/json application/timestamp-query] are allowed"}"#;
    let padded = REQUEST_JSON.replace('}', &format!("{}}}", " ".repeat(1024)));
    for (content_type, body, status, told) in [
        ("application/timestamp-query", "nothing", 400, generic),
        ("application/json", "{}", 400, generic),
        ("application/json;charset=utf-8", REQUEST_JSON, 400, generic),
        ("application/json", padded.as_str(), 400, too_large),
        ("text/plain", REQUEST_JSON, 415, media),
    ] {
        let answer = post(&url, content_type, body.to_owned()).await;
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (status, told), "{content_type} {body}");
        assert_eq!(answer.header("content-type"), "application/json");
    }
    let answer = get(&url).await;
    assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, "POST"));
    assert_eq!(answer.text(), r#"{"code":405,"message":"method GET is not allowed, but [POST] are"}"#);
    let answer = send(request("DELETE", &format!("{}/else", tsa.url), &[], "")).await;
    assert_eq!(answer.text(), r#"{"code":404,"message":"path /else was not found"}"#);
}

#[tokio::test]
async fn the_time_of_a_timestamp_is_the_clocks_in_whole_seconds() {
    let clock = Arc::new(ManualClock::at_unix_ms(NOW * 1000 + 999));
    let tsa = TsaLabHandle::start_with_clock(TsaLabPlan::default(), clock.clone()).await.unwrap();
    let time = async || -> String {
        let text = text(&stamp(&tsa, REQUEST).await.body);
        text.lines().find(|line| line.starts_with("Time stamp")).unwrap().to_owned()
    };
    assert_eq!(time().await, "Time stamp: Nov 21 06:48:10 2026 GMT");
    clock.advance(std::time::Duration::from_millis(1));
    assert_eq!(time().await, "Time stamp: Nov 21 06:48:11 2026 GMT");
}

#[tokio::test]
async fn no_two_timestamps_have_the_same_serial_number() {
    let tsa = tsa(TsaLabPlan::default()).await;
    let serial = async || {
        let body = stamp(&tsa, REQUEST).await.body;
        let imprint_at = body.windows(4).position(|bytes| bytes == [0x6f, 0xda, 0xf7, 0x25]).unwrap();
        let mut after = DerReader::new(&body[imprint_at + 32..]);
        after.expect(der::INTEGER).unwrap().value.to_vec()
    };
    assert_ne!(serial().await, serial().await);
}

//! A small HTTP client: one connection for each request.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use hammer_lab::ManualClock;
use hammer_lab_gateway::{GatewayLabHandle, GatewayLabPlan};
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// When the clocks of these tests start, in seconds since the Unix epoch.
pub(crate) const NOW: u64 = 1_800_000_000;

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A gateway with a clock that stands still.
pub(crate) struct Gateway {
    pub(crate) lab: GatewayLabHandle,
    pub(crate) clock: ManualClock,
    token: Option<String>,
}

impl Gateway {
    /// A gateway of a plan; decisions of authorization take no time where it says nothing else.
    pub(crate) async fn of(plan: Value) -> Self {
        Self::spawn(plan).await.unwrap()
    }

    pub(crate) async fn spawn(mut plan: Value) -> Result<Self, hammer_lab::LabError> {
        if plan.get("authorization").is_none() {
            plan["authorization"] = json!({});
        }
        if plan["authorization"].is_object() && plan["authorization"].get("latency").is_none() {
            plan["authorization"]["latency"] = json!({ "constant": "0s" });
        }
        let plan: GatewayLabPlan = serde_json::from_value(plan).unwrap();
        let clock = ManualClock::at_unix_ms(NOW * 1000);
        let lab = GatewayLabHandle::start_with_clock(plan, Arc::new(clock.clone())).await?;
        Ok(Self { lab, clock, token: None })
    }

    /// The same, whose requests show a token of its own endpoint.
    pub(crate) async fn with_token(plan: Value) -> Self {
        let mut gateway = Self::of(plan).await;
        gateway.token =
            Some(gateway.granted(CLIENT).await.json()["access_token"].as_str().unwrap().to_owned());
        gateway
    }

    /// What its token endpoint answers to this form.
    pub(crate) async fn granted(&self, form: &str) -> Answer {
        let form_type = [("content-type", "application/x-www-form-urlencoded")];
        self.send("POST", "/oauth/token", &form_type, form.to_owned()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let authorization = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let authorization = authorization.as_deref().map(|value| ("authorization", value));
        let headers: Vec<_> = headers.iter().copied().chain(authorization).collect();
        request(&self.lab.url, method, path, &headers, body.into()).await
    }

    /// Waits until as many requests as this wait for their decision, or have it.
    pub(crate) async fn until_misses(&self, misses: u64) {
        until(|| self.lab.stats().authorization_cache_misses == misses).await;
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

/// One request on a connection of its own.
pub(crate) async fn request(
    url: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Bytes,
) -> Answer {
    let host = url.strip_prefix("http://").unwrap();
    let io = TokioIo::new(TcpStream::connect(host).await.unwrap());
    let (mut sender, connection) = http1::handshake(io).await.unwrap();
    tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path).header("host", host);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = sender.send_request(request.body(Full::new(body)).unwrap()).await.unwrap();
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer { status: parts.status.as_u16(), headers: parts.headers, body }
}

/// Waits until `condition` holds, and fails after a minute.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    let poll = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), poll).await.expect("it did not come to pass in a minute");
}

/// The form of the client's own grant.
pub(crate) const CLIENT: &str = "grant_type=client_credentials&client_id=hammer&client_secret=lab-secret";

//! A small HTTP client: one connection a request.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::TcpStream;

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The JSON of an answer with this status.
    #[track_caller]
    pub(crate) fn json(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

pub(crate) async fn get(url: &str) -> Answer {
    send(request("GET", url, "")).await
}

pub(crate) async fn post(url: &str, body: impl Into<Bytes>) -> Answer {
    send(request("POST", url, body)).await
}

async fn send(request: Request<Full<Bytes>>) -> Answer {
    let io = TokioIo::new(dial(&request).await);
    let (mut sender, connection) = http1::handshake(io).await.unwrap();
    tokio::spawn(connection);
    let (parts, body) = within(sender.send_request(request)).await.unwrap().into_parts();
    let body = within(body.collect()).await.unwrap().to_bytes();
    Answer { status: parts.status, headers: parts.headers, body }
}

/// Head, body and trailers of the answer to a call of gRPC with this message.
pub(crate) async fn call(url: &str, message: &[u8]) -> (HeaderMap, Bytes, Option<HeaderMap>) {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let mut request = request("POST", url, [&[0], length.as_slice(), message].concat());
    request.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
    let io = TokioIo::new(dial(&request).await);
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let (parts, body) = within(sender.send_request(request)).await.unwrap().into_parts();
    let whole = within(body.collect()).await.unwrap();
    let trailers = whole.trailers().cloned();
    (parts.headers, whole.to_bytes(), trailers)
}

async fn dial<B>(request: &Request<B>) -> TcpStream {
    let host = request.headers()["host"].to_str().unwrap();
    TcpStream::connect(host).await.unwrap()
}

fn request(method: &str, url: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let host = url.split("://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    Request::builder().method(method).uri(url).header("host", host).body(Full::new(body.into())).unwrap()
}

/// What the future gives, or a failure after a minute.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("it did not come to pass in a minute")
}

//! A small HTTP client: one connection for each request.

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: HeaderMap,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A request with these headers, to be sent by [`send`].
pub(crate) fn request(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(url).header("host", host(url));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::new(body.into())).unwrap()
}

/// The answer over HTTP/1.1.
pub(crate) async fn send(request: Request<Full<Bytes>>) -> Answer {
    let io = TokioIo::new(dial(&request).await);
    let (mut sender, connection) = http1::handshake(io).await.unwrap();
    tokio::spawn(connection);
    read(sender.send_request(request).await.unwrap()).await
}

/// The answer over HTTP/2 with prior knowledge.
pub(crate) async fn send_http2(request: Request<Full<Bytes>>) -> Answer {
    let io = TokioIo::new(dial(&request).await);
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    read(sender.send_request(request).await.unwrap()).await
}

pub(crate) async fn get(url: &str) -> Answer {
    send(request("GET", url, &[], "")).await
}

pub(crate) async fn post(url: &str, content_type: &str, body: impl Into<Bytes>) -> Answer {
    send(request("POST", url, &[("content-type", content_type)], body)).await
}

async fn read(answer: http::Response<hyper::body::Incoming>) -> Answer {
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.unwrap();
    let trailers = body.trailers().cloned().unwrap_or_default();
    Answer { status: parts.status, headers: parts.headers, body: body.to_bytes(), trailers }
}

async fn dial(request: &Request<Full<Bytes>>) -> TcpStream {
    TcpStream::connect(request.uri().authority().unwrap().as_str()).await.unwrap()
}

fn host(url: &str) -> &str {
    url.split("://").nth(1).unwrap().split('/').next().unwrap()
}

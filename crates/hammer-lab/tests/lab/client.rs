//! A small HTTP client: one connection, one request after another.

use std::time::Duration;

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
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self) -> T {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

pub(crate) enum Connection {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    pub(crate) async fn http1(url: &str) -> Self {
        let (sender, connection) = http1::handshake(TokioIo::new(dial(url).await)).await.unwrap();
        tokio::spawn(connection);
        Self::Http1(sender)
    }

    pub(crate) async fn http2(url: &str) -> Self {
        let io = TokioIo::new(dial(url).await);
        let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        Self::Http2(sender)
    }

    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Answer> {
        let answer = match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
            Self::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
        };
        let (parts, body) = answer.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }
}

pub(crate) async fn dial(url: &str) -> TcpStream {
    let address = url.split("://").nth(1).unwrap().split('/').next().unwrap();
    TcpStream::connect(address).await.unwrap()
}

pub(crate) fn request(method: &str, url: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let host = url.split("://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    Request::builder().method(method).uri(url).header("host", host).body(Full::new(body.into())).unwrap()
}

pub(crate) async fn get(url: &str) -> Answer {
    Connection::http1(url).await.send(request("GET", url, "")).await.unwrap()
}

pub(crate) async fn post(url: &str, body: impl Into<Bytes>) -> Answer {
    Connection::http1(url).await.send(request("POST", url, body)).await.unwrap()
}

/// Waits until `condition` holds, and fails after a minute.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    let poll = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    within(poll).await;
}

/// What the future gives, or a failure after a minute.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("it did not come to pass in a minute")
}

//! A small HTTP client: one connection a request.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
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
        String::from_utf8(self.body.to_vec()).unwrap()
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

/// Sends a request with these headers.
pub(crate) async fn send(
    (method, url): (&str, &str),
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Answer {
    let host = url.split("://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let path = &url[url.find(&host).unwrap() + host.len()..];
    let mut request = Request::builder().method(method).uri(path).header("host", &host);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body.into())).unwrap();
    let io = TokioIo::new(TcpStream::connect(host).await.unwrap());
    let (mut sender, connection) = http1::handshake(io).await.unwrap();
    tokio::spawn(connection);
    let (parts, body) = within(sender.send_request(request)).await.unwrap().into_parts();
    let body = within(body.collect()).await.unwrap().to_bytes();
    Answer { status: parts.status, headers: parts.headers, body }
}

/// What the future gives, or a failure after a minute.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("it did not come to pass in a minute")
}

//! Answers as the real services shape them.

mod body;

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{
    HeaderName, HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS},
};

pub use body::AnswerBody;

/// 200 with a body of this type.
pub fn ok(content_type: &'static str, body: impl Into<Bytes>) -> Response<AnswerBody> {
    shaped(StatusCode::OK, CONTENT_TYPE, content_type, body.into())
}

/// 200 with JSON.
pub fn json(body: impl Into<Bytes>) -> Response<AnswerBody> {
    ok("application/json", body)
}

/// 200 with bytes that never change once served.
pub fn immutable(content_type: &'static str, body: impl Into<Bytes>) -> Response<AnswerBody> {
    let mut answer = ok(content_type, body);
    let forever = HeaderValue::from_static("public, max-age=604800, immutable");
    answer.headers_mut().insert(CACHE_CONTROL, forever);
    answer
}

/// 200 with bytes that never change once served, compressed.
pub fn gzip(content_type: &'static str, body: &[u8]) -> Response<AnswerBody> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // A vector takes whatever is written to it.
    let compressed = encoder.write_all(body).and_then(|()| encoder.finish()).unwrap_or_default();
    let mut answer = immutable(content_type, compressed);
    answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    answer
}

/// 200 with text that must not be cached.
pub fn no_store(body: impl Into<Bytes>) -> Response<AnswerBody> {
    let mut answer = ok(TEXT, body);
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// An error as Go's logs write it: the status text, a newline, the reason, a newline.
pub fn error(status: StatusCode, reason: &str) -> Response<AnswerBody> {
    let text = format!("{}\n{reason}\n", status.canonical_reason().unwrap_or("Error"));
    let mut answer = shaped(status, CONTENT_TYPE, TEXT, text.into());
    answer.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// A refusal of the given status, with Retry-After in whole seconds if there is one.
pub fn refusal(status: u16, retry_after_s: Option<u32>) -> Response<AnswerBody> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let mut answer = error(status, status.canonical_reason().unwrap_or("refused"));
    if let Some(seconds) = retry_after_s {
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

fn shaped(
    status: StatusCode,
    header: HeaderName,
    content_type: &'static str,
    body: Bytes,
) -> Response<AnswerBody> {
    let mut answer = Response::new(AnswerBody::from(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header, HeaderValue::from_static(content_type));
    answer
}

const TEXT: &str = "text/plain; charset=utf-8";

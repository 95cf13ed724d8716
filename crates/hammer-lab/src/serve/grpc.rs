//! Unary calls of gRPC, as a target reads and answers them (gRPC's doc/PROTOCOL-HTTP2.md). Messages are bytes here; nothing is
//! compressed.

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Response, header::CONTENT_TYPE, request::Parts};

use super::answer::AnswerBody;

/// Why a call failed: every code but that of success (gRPC's doc/statuscodes.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum GrpcCode {
    /// The call was cut off.
    Cancelled = 1,
    /// Nobody knows.
    Unknown = 2,
    /// The request cannot be right, whatever the server's state.
    InvalidArgument = 3,
    /// The time that the caller gave was over.
    DeadlineExceeded = 4,
    /// There is no such entity.
    NotFound = 5,
    /// The entity is there already.
    AlreadyExists = 6,
    /// The caller may not do this.
    PermissionDenied = 7,
    /// A quota or a store is used up.
    ResourceExhausted = 8,
    /// The server's state forbids it.
    FailedPrecondition = 9,
    /// The call was cut off by another one.
    Aborted = 10,
    /// The request asks for what lies beyond the valid range.
    OutOfRange = 11,
    /// There is no such method.
    Unimplemented = 12,
    /// An invariant of the server's is broken.
    Internal = 13,
    /// The server cannot answer at present.
    Unavailable = 14,
    /// Data are lost.
    DataLoss = 15,
    /// Nobody knows who calls.
    Unauthenticated = 16,
}

/// What a target refuses a call for: a code, and a text for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrpcRefusal {
    /// The `grpc-status`.
    pub code: GrpcCode,
    /// The `grpc-message`, not yet encoded.
    pub message: String,
}

impl GrpcRefusal {
    /// A refusal with this code and this text.
    pub fn new(code: GrpcCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<GrpcRefusal> for Response<AnswerBody> {
    fn from(refusal: GrpcRefusal) -> Self {
        error(refusal.code, &refusal.message)
    }
}

/// Whether the head is that of a call of gRPC: its `content-type` is `application/grpc`, alone or with a suffix.
#[must_use]
pub fn is_call(parts: &Parts) -> bool {
    let content_type = parts.headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    match content_type.strip_prefix(GRPC.as_bytes()) {
        Some(suffix) => suffix.is_empty() || suffix.starts_with(b"+") || suffix.starts_with(b";"),
        None => false,
    }
}

/// The only message of a request's body, without a copy.
///
/// # Errors
/// What gRPC's servers answer to a body of no message, of more than one, one that is cut off, or a compressed one.
pub fn message(body: &Bytes) -> Result<Bytes, GrpcRefusal> {
    let internal = |reason: &str| GrpcRefusal::new(GrpcCode::Internal, reason);
    let Some((&[flag, ref length @ ..], rest)) = body.split_first_chunk::<PREFIX>() else {
        return Err(internal("the request holds no whole message"));
    };
    if flag != 0 {
        let reason = "compressed messages are not supported";
        return Err(GrpcRefusal::new(GrpcCode::Unimplemented, reason));
    }
    let length = u32::from_be_bytes(*length) as usize;
    match rest.len() {
        there if there < length => Err(internal("the request's message is cut off")),
        there if there > length => Err(internal("a unary call has one message")),
        _ => Ok(body.slice(PREFIX..)),
    }
}

/// The answer to a call that was done: one message, and the trailer that says so.
#[must_use]
pub fn ok(message: &[u8]) -> Response<AnswerBody> {
    let Ok(length) = u32::try_from(message.len()) else {
        return error(GrpcCode::ResourceExhausted, "the answer has 4 GiB or more");
    };
    let mut framed = BytesMut::with_capacity(PREFIX + message.len());
    framed.put_u8(0);
    framed.put_u32(length);
    framed.put_slice(message);
    let mut trailers = HeaderMap::with_capacity(1);
    trailers.insert(GRPC_STATUS, HeaderValue::from_static("0"));
    shaped(AnswerBody::with_trailers(framed.freeze(), trailers))
}

/// The answer to a call that failed, in its head alone ("Trailers-Only").
#[must_use]
pub fn error(code: GrpcCode, message: &str) -> Response<AnswerBody> {
    let mut answer = shaped(AnswerBody::default());
    answer.headers_mut().insert(GRPC_STATUS, HeaderValue::from(code as u16));
    // What is encoded is visible ASCII, which every value of a header may hold.
    if let Ok(message) = HeaderValue::from_str(&percent_encoded(message)) {
        answer.headers_mut().insert(GRPC_MESSAGE, message);
    }
    answer
}

fn shaped(body: AnswerBody) -> Response<AnswerBody> {
    let mut answer = Response::new(body);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
    answer
}

/// Every byte but the visible ones of ASCII and the space, and the percent sign itself, as `%` and two digits ("Status-Message").
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => encoded.push(char::from(byte)),
            _ => {
                encoded.push('%');
                for digit in [byte >> 4, byte & 15] {
                    encoded.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
                }
            }
        }
    }
    encoded
}

/// One byte that says whether the message is compressed, and its length in four, big-endian.
const PREFIX: usize = 5;
const GRPC: &str = "application/grpc";
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_not_one_plain_message_is_refused() {
        assert_eq!(message(&Bytes::from_static(b"\0\0\0\0\x03abc")).unwrap(), "abc");
        assert_eq!(message(&Bytes::from_static(b"\0\0\0\0\0")).unwrap(), "");
        for (body, code) in [
            (&b""[..], GrpcCode::Internal),
            (b"\0\0\0\0", GrpcCode::Internal),
            (b"\0\0\0\0\x04abc", GrpcCode::Internal),
            (b"\0\0\0\0\x02abc", GrpcCode::Internal),
            (b"\0\xff\xff\xff\xff", GrpcCode::Internal),
            (b"\x01\0\0\0\x03abc", GrpcCode::Unimplemented),
        ] {
            assert_eq!(message(&Bytes::from_static(body)).unwrap_err().code, code, "{body:?}");
        }
    }

    #[test]
    fn a_text_is_encoded_where_it_is_not_visible_ascii() {
        for (text, encoded) in [
            ("tree 42 not found", "tree 42 not found"),
            ("100%", "100%25"),
            ("a\nb\u{7f}", "a%0Ab%7F"),
            ("\u{fc}", "%C3%BC"),
        ] {
            let refused = Response::from(GrpcRefusal::new(GrpcCode::NotFound, text));
            assert_eq!(refused.headers()["grpc-message"], encoded);
            assert_eq!(refused.headers()["grpc-status"], "5");
        }
    }

    #[test]
    fn a_call_is_known_by_its_content_type() {
        for (content_type, is) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("application/grpc;charset=utf-8", true),
            ("application/grpc-web", false),
            ("application/json", false),
        ] {
            let request = http::Request::post("/a/b").header("content-type", content_type).body(()).unwrap();
            assert_eq!(is_call(&request.into_parts().0), is, "{content_type}");
        }
    }
}

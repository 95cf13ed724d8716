//! A unary call as a request and an answer of HTTP.

use std::borrow::Cow;
use std::time::Duration;

use http::header::{CONTENT_TYPE, TE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::fault::GrpcFault;
use super::framing::only_message;
use super::status::GrpcStatus;
use super::text::percent_decoded;
use super::timeout::timeout_value;
use crate::body::Body;
use crate::request::{Answer, Request};

/// What a call ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnaryReply<'a> {
    /// The status.
    pub status: GrpcStatus,
    /// The message of a status OK, without its length; empty with any other.
    pub message: &'a [u8],
    text: &'a [u8],
    /// What came in place of a reply, with a status of HTTP alone.
    page: &'a [u8],
}

impl<'a> UnaryReply<'a> {
    /// What the server says of a status that is not OK; empty where it says nothing.
    pub fn text(&self) -> Cow<'a, str> {
        percent_decoded(self.text)
    }

    /// The same, or else the body of an answer that is of HTTP alone.
    pub fn said(&self) -> Cow<'a, [u8]> {
        match self.text() {
            Cow::Borrowed("") => Cow::Borrowed(self.page),
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }

    fn of(status: GrpcStatus) -> Self {
        Self { status, message: &[], text: &[], page: &[] }
    }
}

/// A call of the unary method at `path` (`/package.Service/Method`, behind the path of the endpoints' URLs) with a message as
/// [`frame`](super::frame) and [`encode`](super::encode) make it. It can be sent again and again with another body, by a client of
/// HTTP/2.
pub fn unary_request(path: PathAndQuery, message: impl Into<Body>) -> Request {
    let mut request = Request::post(path, message);
    request.headers.insert(TE, HeaderValue::from_static("trailers"));
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    [CONTENT_TYPE, ENCODING, STATUS, MESSAGE].into_iter().fold(request, Request::keep_header)
}

/// Tells the server by `grpc-timeout` that `request` has so long.
pub fn tell_timeout(request: &mut Request, timeout: Duration) {
    request.headers.insert(TIMEOUT, timeout_value(timeout));
}

/// What the answer to a [`unary_request`] says: its `grpc-status`, from the trailers, or from the headers where nothing follows them
/// ("Trailers-Only"); else the status that gRPC gives to that of HTTP. A server says how a call ended once it has: what stands in the
/// headers before a message was known before the call was carried out.
///
/// # Errors
/// An answer of HTTP that is none of gRPC, or a status OK without exactly one message that is not compressed.
pub fn unary_reply(answer: &Answer) -> Result<UnaryReply<'_>, GrpcFault> {
    let alone = || Some(&answer.headers).filter(|_| answer.body.is_empty());
    let told = |name: HeaderName| answer.trailers.get(&name).or_else(|| alone()?.get(&name));
    let differ =
        |from: &HeaderMap| from.get_all(STATUS).iter().any(|status| Some(status) != from.get(STATUS));
    if differ(&answer.trailers) || alone().is_some_and(differ) {
        return Err(GrpcFault::SeveralStatuses);
    }
    match (told(STATUS).map(|code| GrpcStatus::from_code(code.as_bytes())), answer.status) {
        // What is no gRPC by its type or its status of HTTP is none, whatever else it says (PROTOCOL-HTTP2.md, "Responses").
        (Some(GrpcStatus::Ok), status) if status != StatusCode::OK || !is_grpc(answer) => {
            Err(GrpcFault::NotGrpc)
        }
        (Some(GrpcStatus::Ok), _) => {
            let is_identity = || answer.headers.get(ENCODING).is_none_or(|encoding| encoding == "identity");
            let message = only_message(&answer.body, is_identity)?;
            Ok(UnaryReply { message, ..UnaryReply::of(GrpcStatus::Ok) })
        }
        (Some(status), _) => {
            let text = told(MESSAGE).map_or(&[][..], HeaderValue::as_bytes);
            Ok(UnaryReply { text, ..UnaryReply::of(status) })
        }
        (None, StatusCode::OK) => Err(if is_grpc(answer) { GrpcFault::NoStatus } else { GrpcFault::NotGrpc }),
        (None, status) => {
            let status = GrpcStatus::from_http(status.as_u16());
            Ok(UnaryReply { page: &answer.body, ..UnaryReply::of(status) })
        }
    }
}

fn is_grpc(answer: &Answer) -> bool {
    let media_type = answer.headers.get(CONTENT_TYPE).map_or(&[][..], HeaderValue::as_bytes);
    media_type.get(..MEDIA_TYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(MEDIA_TYPE.as_bytes()))
}

const MEDIA_TYPE: &str = "application/grpc";
const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");
const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

#[cfg(test)]
mod tests {
    use super::*;

    const GRPC: (&str, &str) = ("content-type", "application/grpc");

    fn answer(status: u16, headers: &[(&'static str, &str)], trailers: &[(&'static str, &str)]) -> Answer {
        let map = |all: &[(&'static str, &str)]| {
            all.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
        };
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: map(headers),
            trailers: map(trailers),
            body: b"\0\0\0\0\x02ab".to_vec(),
            ..Answer::new()
        }
    }

    #[test]
    fn a_status_stands_in_trailers_or_in_headers_alone() {
        let done = answer(200, &[GRPC], &[("grpc-status", "0")]);
        assert_eq!(
            unary_reply(&done).unwrap(),
            UnaryReply { message: b"ab", ..UnaryReply::of(GrpcStatus::Ok) }
        );
        let refused = [("grpc-status", "5"), ("grpc-message", "no%20such%20log")];
        let mut alone = answer(200, &refused, &[]);
        alone.body.clear();
        for refused in [answer(200, &[], &refused), alone] {
            let reply = unary_reply(&refused).unwrap();
            assert_eq!((reply.status, reply.message), (GrpcStatus::NotFound, &[][..]));
            assert_eq!((reply.text(), &*reply.said()), ("no such log".into(), &b"no such log"[..]));
        }
    }

    #[test]
    fn an_ok_of_what_is_no_grpc_is_none() {
        let ok = [("grpc-status", "0")];
        let html = ("content-type", "text/html");
        for other in [answer(200, &[], &ok), answer(200, &[html], &ok), answer(201, &[GRPC], &ok)] {
            assert_eq!(unary_reply(&other), Err(GrpcFault::NotGrpc));
        }
        let mut twice = answer(200, &[GRPC], &ok);
        twice.trailers.append(STATUS, HeaderValue::from_static("0"));
        assert_eq!(unary_reply(&twice).unwrap().message, b"ab");
        twice.trailers.append(STATUS, HeaderValue::from_static("13"));
        assert_eq!(unary_reply(&twice), Err(GrpcFault::SeveralStatuses));
    }

    #[test]
    fn a_status_in_the_headers_before_a_message_is_none() {
        for code in ["0", "5"] {
            let early = [GRPC, ("grpc-status", code)];
            assert_eq!(unary_reply(&answer(200, &early, &[])), Err(GrpcFault::NoStatus));
            assert_eq!(unary_reply(&answer(503, &early, &[])).unwrap().status, GrpcStatus::Unavailable);
            // The trailers say it, whatever was said before.
            let late = answer(200, &early, &[("grpc-status", "8")]);
            assert_eq!(unary_reply(&late).unwrap().status, GrpcStatus::ResourceExhausted);
        }
    }

    #[test]
    fn an_answer_of_http_alone_has_a_status_unless_it_is_a_success() {
        let page = answer(503, &[], &[]);
        let reply = unary_reply(&page).unwrap();
        assert_eq!((reply.status, &*reply.said()), (GrpcStatus::Unavailable, page.body.as_slice()));
        assert_eq!(unary_reply(&answer(200, &[], &[])), Err(GrpcFault::NotGrpc));
        let html = answer(200, &[("content-type", "text/html")], &[]);
        assert_eq!(unary_reply(&html), Err(GrpcFault::NotGrpc));
        let silent = answer(200, &[("content-type", "application/grpc+proto")], &[]);
        assert_eq!(unary_reply(&silent), Err(GrpcFault::NoStatus));
    }

    #[test]
    fn an_ok_without_exactly_one_plain_message_is_no_answer() {
        let mut done = answer(200, &[GRPC, ("grpc-encoding", "gzip")], &[("grpc-status", "0")]);
        done.body[0] = 1;
        assert_eq!(unary_reply(&done), Err(GrpcFault::Compressed));
        done.headers.insert(ENCODING, HeaderValue::from_static("identity"));
        assert_eq!(unary_reply(&done), Err(GrpcFault::NoEncoding));
        done.headers.remove(ENCODING);
        assert_eq!(unary_reply(&done), Err(GrpcFault::NoEncoding));
        done.body[0] = 0;
        assert_eq!(unary_reply(&done).unwrap().message, b"ab");
        done.body.clear();
        assert_eq!(unary_reply(&done), Err(GrpcFault::NoMessage));
    }

    #[test]
    fn a_request_says_what_the_protocol_wants() {
        let mut request = unary_request(PathAndQuery::from_static("/log.Log/Add"), "framed");
        tell_timeout(&mut request, Duration::from_secs(2));
        let expected =
            [("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "2000000u")];
        assert!(expected.iter().all(|(name, value)| request.headers[*name] == *value));
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/log.Log/Add"));
    }
}

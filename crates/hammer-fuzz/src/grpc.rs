//! Any trailers and body as the answer to a unary call of gRPC.

use bytes::BytesMut;
use hammer_net::Answer;
use hammer_net::grpc::{GrpcStatus, frame, unary_reply};
use http::{HeaderName, HeaderValue};

/// A line for `grpc-status`, one for `grpc-message`, and the body. A message that is believed is all that the body holds, and is
/// framed as it was read.
pub(crate) fn reply(data: &[u8]) -> bool {
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let mut answer = Answer::new();
    for name in ["grpc-status", "grpc-message"] {
        let value = parts.next().and_then(|line| HeaderValue::from_bytes(line).ok());
        answer.trailers.extend(value.map(|value| (HeaderName::from_static(name), value)));
    }
    answer.body = parts.next().unwrap_or_default().to_vec();
    let Ok(reply) = unary_reply(&answer) else { return false };
    assert!(reply.text().len() <= 3 * data.len());
    if reply.status != GrpcStatus::Ok {
        assert!(reply.message.is_empty());
        return true;
    }
    // Its flag alone may differ: it says that a message may be compressed, by an encoding that is none.
    let framed = frame(reply.message, &mut BytesMut::new()).expect("it has a length");
    assert_eq!(framed[1..], answer.body[1..]);
    true
}

//! Unary calls of gRPC over HTTP/2 (gRPC's doc/PROTOCOL-HTTP2.md): a message is framed into the body of a request, and an answer of
//! HTTP is read as status and message. It sends nothing itself, and knows no message's fields: those are bytes, or types of prost.

mod call;
mod fault;
mod framing;
mod status;
mod text;
mod timeout;

pub use call::{UnaryReply, tell_timeout, unary_reply, unary_request};
pub use fault::GrpcFault;
pub use framing::{encode, frame};
pub use status::GrpcStatus;

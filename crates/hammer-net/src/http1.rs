//! HTTP/1.1 (RFC 9112): connections that are driven by the operation that holds them, and their pool. No second task,
//! no wake across tasks; whoever drops an exchange halfway drops its connection with it.

mod answer_reader;
mod chunks;
mod connection;
mod exchange;
mod fault;
mod head;
mod outgoing;
mod pool;
mod request_head;

pub(crate) use connection::Http1Connection;
pub(crate) use pool::Http1Pool;
pub(crate) use request_head::HeadTemplate;

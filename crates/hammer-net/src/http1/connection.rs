//! A connection of HTTP/1.1, driven by the operation that holds it.

use std::future::poll_fn;

use hammer_measure::Nanos;
use hammer_measure::connection::OpenConnection;
use http::HeaderValue;

use super::exchange::Http1Exchange;
use super::outgoing::Outgoing;
use super::request_head::HeadTemplate;
use crate::attempt::Broken;
use crate::context::ClientContext;
use crate::dial::Dialled;
use crate::request::{Answer, Request};
use crate::stream::Stream;

/// An established connection. At rest it holds no buffer.
pub(crate) struct Http1Connection {
    pub(super) stream: Stream,
    pub(super) opened: Nanos,
    pub(super) idle_since: Nanos,
    /// It has carried an exchange before.
    pub(super) is_used: bool,
    bytes_out: u64,
    bytes_in: u64,
    pub(super) open: OpenConnection,
}

impl Http1Connection {
    pub(crate) fn new(dialled: Dialled) -> Self {
        Self {
            stream: dialled.stream,
            opened: dialled.opened,
            idle_since: dialled.opened,
            is_used: false,
            bytes_out: 0,
            bytes_in: 0,
            open: dialled.open,
        }
    }

    /// Sends `request` and reads the whole answer; whether the connection can serve another one.
    pub(crate) async fn exchange(
        &mut self,
        context: &ClientContext,
        template: &HeadTemplate,
        host: &str,
        request: &Request,
        bearer: Option<&HeaderValue>,
        answer: &mut Answer,
    ) -> Result<bool, Broken> {
        if self.is_used {
            context.log.reused();
        }
        let outgoing = Outgoing::new(request, template, bearer, context);
        let mut exchange = Http1Exchange::new(self, context, host, request, outgoing, answer);
        let done = poll_fn(|cx| exchange.poll(cx)).await;
        self.is_used = true;
        done
    }

    /// Moves the bytes that passed since the last call over to `answer`.
    pub(super) fn note_bytes(&mut self, answer: &mut Answer) {
        let socket = self.stream.socket();
        let (out, in_) = (socket.bytes_out(), socket.bytes_in());
        answer.bytes_out += out - self.bytes_out;
        answer.bytes_in += in_ - self.bytes_in;
        (self.bytes_out, self.bytes_in) = (out, in_);
    }
}

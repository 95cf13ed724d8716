//! A request on its way to the kernel.

use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use hammer_measure::Nanos;
use http::HeaderValue;

use super::request_head::HeadTemplate;
use crate::context::ClientContext;
use crate::request::Request;
use crate::stream::Stream;

/// How far a request has come.
pub(super) struct Outgoing {
    /// A copy of what is in the client's buffer, where the kernel did not take all of it at once.
    held: Option<Vec<u8>>,
    /// Bytes in the client's buffer: the head, and a body that is small.
    buffered: usize,
    /// Bytes of the body behind them.
    rest: usize,
    written: usize,
    /// The place in the body that the client's buffer of what is made goes on from, until others write there.
    made_from: Option<usize>,
    pub(super) sent: Option<Nanos>,
    is_done: bool,
}

impl Outgoing {
    /// Puts `request` into the client's buffer. It must be polled before anybody else does.
    pub(super) fn new(
        request: &Request,
        template: &HeadTemplate,
        bearer: Option<&HeaderValue>,
        context: &ClientContext,
    ) -> Self {
        let mut buffer = context.head.borrow_mut();
        template.write(&mut buffer, request, bearer);
        let is_small = request.body.len() <= SMALL_BODY;
        if is_small {
            request.body.append_to(&mut buffer);
        }
        let rest = if is_small { 0 } else { request.body.len() };
        Self {
            held: None,
            buffered: buffer.len(),
            rest,
            written: 0,
            made_from: None,
            sent: None,
            is_done: false,
        }
    }

    /// Nothing more of it will leave.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// All of it has left.
    pub(super) fn has_left(&self) -> bool {
        self.is_done && self.written == self.buffered + self.rest
    }

    /// Writes on.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Stream,
        request: &Request,
        context: &ClientContext,
    ) -> Poll<io::Result<()>> {
        self.made_from = None;
        let polled = match self.sent {
            Some(_) => self.poll_write(cx, stream, request, context),
            None => {
                // It is not sent while it is made.
                self.make(request, context);
                let (before, out) = (context.clock.now(), stream.socket().bytes_out());
                let polled = self.poll_write(cx, stream, request, context);
                // TLS may keep what it takes for a while; sent is what the kernel has.
                self.sent = (stream.socket().bytes_out() > out).then_some(before);
                polled
            }
        };
        match &polled {
            Poll::Ready(_) => self.is_done = true,
            Poll::Pending if self.held.is_none() => {
                // Whoever is polled next writes its own request there.
                self.held = Some(context.head.borrow().clone());
            }
            Poll::Pending => {}
        }
        polled
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Stream,
        request: &Request,
        context: &ClientContext,
    ) -> Poll<io::Result<()>> {
        while self.written < self.buffered + self.rest {
            let taken = ready!(self.poll_send(cx, stream, request, context))?;
            if taken == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += taken;
        }
        stream.poll_flush(cx)
    }

    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Stream,
        request: &Request,
        context: &ClientContext,
    ) -> Poll<io::Result<usize>> {
        self.make(request, context);
        let made = context.made.borrow();
        let buffer = context.head.borrow();
        let buffered = self.held.as_deref().unwrap_or(&buffer);
        let mut slices = [IoSlice::new(&[]); MOST_SLICES];
        let mut filled = 0;
        if self.written < self.buffered {
            slices[0] = IoSlice::new(&buffered[self.written..]);
            filled = 1;
        }
        if self.rest > 0 {
            filled += request.body.slices(self.skip(), &made, &mut slices[filled..]);
        }
        stream.poll_send(cx, &slices[..filled])
    }

    /// Makes what of the body is sent next. It is made again where the kernel took but a part of it: a buffer for each request under way
    /// would cost more.
    fn make(&mut self, request: &Request, context: &ClientContext) {
        let skip = self.skip();
        if self.rest > 0 && self.made_from != Some(skip) {
            let mut made = context.made.borrow_mut();
            made.clear();
            request.body.make(skip, &mut made);
            self.made_from = Some(skip);
        }
    }

    /// Bytes of the body behind the buffered ones that have left.
    fn skip(&self) -> usize {
        self.written.saturating_sub(self.buffered)
    }
}

/// Copied behind its head, a body of so many bytes costs less than a call with two parts does.
const SMALL_BODY: usize = 4 << 10;
/// Parts that one call hands over; a rope of more takes several.
const MOST_SLICES: usize = 16;

//! A request on its way to the kernel.

use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use hammer_measure::Nanos;

use crate::context::ClientContext;
use crate::request::Request;
use crate::stream::Stream;

/// How far a request has come.
pub(super) struct Outgoing {
    /// A copy of the head where the kernel did not take all of it at once; before that it is in the client's buffer.
    held_head: Option<Vec<u8>>,
    head_length: usize,
    written: usize,
    pub(super) sent: Option<Nanos>,
    is_done: bool,
}

impl Outgoing {
    /// A request whose head stands in the client's buffer.
    pub(super) fn new(head_length: usize) -> Self {
        Self { held_head: None, head_length, written: 0, sent: None, is_done: false }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Writes on; the first poll must follow its making at once.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Stream,
        request: &Request,
        context: &ClientContext,
    ) -> Poll<io::Result<()>> {
        let polled = self.poll_write(cx, stream, request, context);
        match &polled {
            Poll::Ready(_) => self.is_done = true,
            Poll::Pending if self.held_head.is_none() => {
                // Whoever is polled next writes its own head there.
                self.held_head = Some(context.head.borrow().clone());
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
        while self.written < self.head_length + request.body.len() {
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
        let buffered = context.head.borrow();
        let head = self.held_head.as_deref().unwrap_or(&buffered);
        let mut slices = [IoSlice::new(&[]); MOST_SLICES];
        let mut filled = 0;
        if self.written < self.head_length {
            slices[0] = IoSlice::new(&head[self.written..]);
            filled = 1;
        }
        let skip = self.written.saturating_sub(self.head_length);
        filled += request.body.slices(skip, &mut slices[filled..]);
        if self.sent.is_some() {
            return stream.poll_send(cx, &slices[..filled]);
        }
        let (before, out) = (context.clock.now(), stream.socket().bytes_out());
        let polled = stream.poll_send(cx, &slices[..filled]);
        // TLS may keep what it takes; sent is what the kernel has.
        if stream.socket().bytes_out() > out {
            self.sent = Some(before);
        }
        polled
    }
}

/// Parts that one call hands over; a rope of more takes several.
const MOST_SLICES: usize = 16;

//! A slow link before a server: what its clients send, and what it answers them, share a rate each way.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use hammer_values::BitRate;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock::{Clock, Sleep};

/// The rates of the link that stands before a server, as its clients see it; a direction without one has no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkPlan {
    /// What all clients together send, bits a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<BitRate>,
    /// What all of them together are answered, bits a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<BitRate>,
}

/// Both directions of a link, shared by the connections of a listener.
#[derive(Debug, Clone, Default)]
pub(super) struct Link {
    up: Option<Arc<TokenBucket>>,
    down: Option<Arc<TokenBucket>>,
}

impl Link {
    pub(super) fn new(plan: LinkPlan) -> Self {
        let bucket = |rate| Arc::new(TokenBucket::new(rate));
        Self { up: plan.up.map(bucket), down: plan.down.map(bucket) }
    }
}

/// A token bucket that is [`BURST`] deep, in which a taker may go into debt: it is told when its bytes are through, in the order in which
/// the takers came.
#[derive(Debug)]
struct TokenBucket {
    rate: BitRate,
    /// When the last byte that was taken is through; since the clock was made.
    free_at: Mutex<Duration>,
}

impl TokenBucket {
    const fn new(rate: BitRate) -> Self {
        Self { rate, free_at: Mutex::new(Duration::ZERO) }
    }

    /// The instant at which so many bytes are through that are taken now.
    fn take(&self, bytes: usize, now: Duration) -> Duration {
        // No holder of the lock can panic, and none awaits.
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        *free_at = (*free_at).max(now.saturating_sub(BURST)) + self.rate.time_of(bytes as u64);
        *free_at
    }
}

/// A stream behind a link. It has one segment at most on the way in each direction, so that those who share the link take turns.
/// While a segment is on the way nothing more is read from the stream below, which is how its peer comes to wait.
pub(super) struct LinkedStream<S> {
    stream: S,
    link: Link,
    clock: Arc<dyn Clock>,
    /// What was read from the stream below, and is on its way to the server.
    arriving: Segment,
    /// Until when.
    arrival: Option<Sleep>,
    /// Bytes that may be written to the stream below.
    departing: usize,
    /// From when on.
    departure: Option<Sleep>,
}

/// Bytes of one segment; no room for any where the direction has no bound.
struct Segment {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl<S> LinkedStream<S> {
    pub(super) fn new(stream: S, link: Link, clock: Arc<dyn Clock>) -> Self {
        let room = if link.up.is_some() { SEGMENT } else { 0 };
        let arriving = Segment { bytes: vec![0; room].into(), start: 0, end: 0 };
        Self { stream, link, clock, arriving, arrival: None, departing: 0, departure: None }
    }
}

/// When so many bytes are through that are taken now; nothing where they are already.
fn through(bucket: &TokenBucket, clock: &dyn Clock, bytes: usize) -> Option<Sleep> {
    let now = clock.elapsed();
    let at = bucket.take(bytes, now);
    (at > now).then(|| clock.sleep_until(at))
}

fn poll_sleep(sleep: &mut Option<Sleep>, context: &mut Context<'_>) -> Poll<()> {
    if let Some(pending) = sleep {
        ready!(pending.as_mut().poll(context));
        *sleep = None;
    }
    Poll::Ready(())
}

impl<S: AsyncRead + Unpin> LinkedStream<S> {
    /// Has bytes in `arriving` unless the stream below has ended.
    fn poll_arriving(&mut self, bucket: &TokenBucket, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.arriving.start == self.arriving.end {
            let mut buffer = ReadBuf::new(&mut self.arriving.bytes);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer))?;
            (self.arriving.start, self.arriving.end) = (0, buffer.filled().len());
            if self.arriving.end > 0 {
                self.arrival = through(bucket, &*self.clock, self.arriving.end);
            }
        }
        ready!(poll_sleep(&mut self.arrival, context));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LinkedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let Some(bucket) = this.link.up.clone() else {
            return Pin::new(&mut this.stream).poll_read(context, buffer);
        };
        ready!(this.poll_arriving(&bucket, context))?;
        let Segment { bytes, start, end } = &mut this.arriving;
        let taken = (*end - *start).min(buffer.remaining());
        buffer.put_slice(&bytes[*start..*start + taken]);
        *start += taken;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LinkedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let Some(bucket) = &this.link.down else {
            return Pin::new(&mut this.stream).poll_write(context, bytes);
        };
        if this.departing == 0 && !bytes.is_empty() {
            this.departing = bytes.len().min(SEGMENT);
            this.departure = through(bucket, &*this.clock, this.departing);
        }
        ready!(poll_sleep(&mut this.departure, context));
        let part = &bytes[..bytes.len().min(this.departing)];
        let written = ready!(Pin::new(&mut this.stream).poll_write(context, part))?;
        this.departing -= written;
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.link.down.is_none() {
            return Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        }
        let first = slices.iter().find(|slice| !slice.is_empty()).map_or(&[][..], |slice| slice);
        self.poll_write(context, first)
    }

    fn is_write_vectored(&self) -> bool {
        self.link.down.is_none() && self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// What goes through at once after a silence, as the time that it takes: timers are late by a millisecond or two, and what was lost by
/// that is made up for.
const BURST: Duration = Duration::from_millis(10);
/// Bytes of a segment: what a packet of Ethernet has room for behind the headers of IP and TCP.
const SEGMENT: usize = 1_460;

#[cfg(test)]
mod tests;

//! What a connection is read from and written to: a socket, with TLS or without.

use std::io::{self, IoSlice, Read as _};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use hammer_measure::Nanos;
use tokio::io::{AsyncBufRead as _, AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use crate::receive::Received;
use crate::socket::Socket;
use crate::wire::Wire;

/// A socket, with TLS or without.
pub(crate) enum Stream {
    Plain(Socket),
    Tls(Box<TlsSocket>),
}

/// A socket with TLS.
pub(crate) struct TlsSocket {
    tls: TlsStream<Socket>,
    /// What is wrong with a record that came behind others, which are read first.
    failed: Option<io::Error>,
}

impl TlsSocket {
    /// Reads what is there, above TLS.
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut filled = 0;
        while filled < buf.len() && self.failed.is_none() {
            // By pieces, since a read of several keeps an error behind the first to itself.
            match Pin::new(&mut self.tls).poll_fill_buf(cx) {
                Poll::Ready(Ok([])) => return Poll::Ready(Ok(filled)),
                Poll::Ready(Ok(piece)) => {
                    let here = piece.len().min(buf.len() - filled);
                    buf[filled..filled + here].copy_from_slice(&piece[..here]);
                    filled += here;
                    Pin::new(&mut self.tls).consume(here);
                }
                Poll::Ready(Err(error)) => self.failed = Some(error),
                Poll::Pending if filled == 0 => return Poll::Pending,
                Poll::Pending => return Poll::Ready(Ok(filled)),
            }
        }
        // rustls takes in all that a read of the socket brought before it gives any of it away: a record that it cannot read would take
        // an answer along that was whole before it.
        if filled == 0
            && let Some(error) = self.failed.take()
        {
            match self.tls.get_mut().1.reader().read(buf) {
                Ok(bytes) if bytes > 0 => (filled, self.failed) = (bytes, Some(error)),
                _ => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(filled))
    }
}

impl From<TlsStream<Socket>> for TlsSocket {
    fn from(tls: TlsStream<Socket>) -> Self {
        Self { tls, failed: None }
    }
}

impl Stream {
    pub(crate) fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.tls.get_ref().0,
        }
    }

    /// Whether the peer has neither said anything, above TLS, nor closed the connection, as far as the kernel knows.
    pub(crate) fn is_quiet(&mut self, now: Nanos) -> bool {
        // A close_notify (RFC 8446 section 6.1) that came with the last answer is TLS's alone to know: the kernel has nothing more of it. So is a
        // record that is none.
        if let Self::Tls(tls) = self
            && (tls.failed.is_some() || !tls.tls.get_ref().1.wants_read())
        {
            return false;
        }
        // What TLS says for itself, such as a ticket, is read on the way.
        self.socket().is_quiet(now)
            || self.poll_recv(&mut Context::from_waker(Waker::noop()), &mut [0]).is_pending()
    }

    /// Reads what is there, above TLS; no byte is the end of what the peer sends.
    pub(crate) fn poll_recv(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<Received>> {
        let tls = match self {
            Self::Plain(socket) => return socket.poll_recv(cx, buf),
            Self::Tls(tls) => tls,
        };
        let bytes = ready!(tls.poll_read(cx, buf))?;
        // Read out of what the socket brought last, if not just now.
        let received = tls.tls.get_ref().0.last_received().unwrap_or_default();
        Poll::Ready(Ok(Received { bytes, ..received }))
    }

    /// Ready when nothing that was taken is kept back.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(_) => Poll::Ready(Ok(())),
            Self::Tls(tls) => Pin::new(&mut tls.tls).poll_flush(cx),
        }
    }

    /// Hands what it takes of `bufs` to the kernel, through TLS where there is any.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(socket) => socket.poll_send(cx, bufs),
            Self::Tls(tls) => Pin::new(&mut tls.tls).poll_write_vectored(cx, bufs),
        }
    }
}

/// A stream below HTTP/2, which notes what passes for those who share the connection.
pub(crate) struct WireIo {
    stream: Stream,
    wire: Rc<Wire>,
    /// A reset that a write found. It is told to who reads, behind the last answers that came: h2 tells its streams what a read fails
    /// by, and of a write that fails it tells them nothing.
    reset: Option<io::Error>,
}

impl WireIo {
    pub(crate) fn new(stream: Stream, wire: Rc<Wire>) -> Self {
        Self { stream, wire, reset: None }
    }

    fn note(&self) {
        let socket = self.stream.socket();
        self.wire.note_bytes(socket.bytes_out(), socket.bytes_in());
    }
}

impl AsyncRead for WireIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = self.stream.poll_recv(cx, buf.initialize_unfilled());
        self.note();
        // Where there is nothing to read yet, the reactor has not seen the reset, nor what came before it.
        let received = match (ready!(polled), self.reset.take()) {
            (Ok(received), reset) if received.bytes > 0 => {
                self.reset = reset;
                received
            }
            (_, Some(reset)) => return Poll::Ready(Err(reset)),
            (received, None) => received?,
        };
        buf.advance(received.bytes);
        if received.bytes > 0 {
            self.wire.note_read(received);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WireIo {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = self.stream.poll_send(cx, bufs);
        self.note();
        match ready!(polled) {
            Ok(written) => {
                self.wire.note_written(written);
                Poll::Ready(Ok(written))
            }
            Err(error) if is_reset(&error) => {
                self.reset.get_or_insert(error);
                Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()))
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = self.stream.poll_flush(cx);
        self.note();
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Stream::Tls(tls) => Pin::new(&mut tls.tls).poll_shutdown(cx),
        }
    }
}

/// Whether the peer is gone, which the socket tells who reads as well.
fn is_reset(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

//! The socket of a connection, which notes instants and counts bytes as they pass.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::wire::Wire;

/// A TCP connection that counts what goes over the wire, below TLS.
pub(crate) struct CountedTcp {
    pub(crate) tcp: TcpStream,
    pub(crate) wire: Rc<Wire>,
}

/// With TLS or without.
pub(crate) enum Stream {
    Plain(CountedTcp),
    Tls(Box<TlsStream<CountedTcp>>),
}

/// A connection that notes the first write and the reads of an operation, above TLS.
pub(crate) struct WireIo {
    pub(crate) stream: Stream,
    pub(crate) wire: Rc<Wire>,
}

impl AsyncRead for CountedTcp {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.tcp).poll_read(cx, buf))?;
        self.wire.add_in(buf.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for CountedTcp {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.tcp).poll_write(cx, buf))?;
        self.wire.add_out(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A request without a body is one buffer, which `send` takes for less than `writev` does.
        let written = match bufs {
            [only] => ready!(Pin::new(&mut self.tcp).poll_write(cx, only))?,
            _ => ready!(Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs))?,
        };
        self.wire.add_out(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

impl WireIo {
    /// The instant before the operation's first write took bytes.
    fn first_write(
        &mut self,
        write: impl FnOnce(&mut Stream) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.wire.sent().is_some() {
            return write(&mut self.stream);
        }
        let before = self.wire.clock.now();
        let written = ready!(write(&mut self.stream))?;
        self.wire.note_sent(before);
        Poll::Ready(Ok(written))
    }
}

impl AsyncRead for WireIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_read(cx, buf),
            Stream::Tls(tls) => Pin::new(tls).poll_read(cx, buf),
        })?;
        if buf.filled().len() > before {
            self.wire.note_read();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WireIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.first_write(|stream| match stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_write(cx, buf),
            Stream::Tls(tls) => Pin::new(tls).poll_write(cx, buf),
        })
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.first_write(|stream| match stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_write_vectored(cx, bufs),
            Stream::Tls(tls) => Pin::new(tls).poll_write_vectored(cx, bufs),
        })
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Stream::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}

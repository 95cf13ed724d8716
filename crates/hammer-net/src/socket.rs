//! A TCP socket of a shard's own epoll.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use nix::sys::socket::{setsockopt, sockopt};
use rustix::io::Errno;
use rustix::net::{
    self, AddressFamily, SendAncillaryBuffer, SendFlags, Shutdown, SocketFlags, SocketType, ipproto,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::coop;

use crate::reactor::{Demand, Reactor, Registration};
use crate::receive::Received;

/// A connected TCP socket, without a descriptor in tokio's epoll. Dropping it closes it, without a `shutdown`.
///
/// One task may read while another one writes; two that do the same would take each other's wake-ups.
pub struct Socket {
    // Closed before its slot is free for another one.
    fd: OwnedFd,
    registration: Registration,
    bytes_in: Cell<u64>,
    bytes_out: Cell<u64>,
    last_received: Cell<Option<Received>>,
    /// While the kernel takes no more, room for more wakes the thread even in a lazy reactor.
    is_blocked: RefCell<Option<Demand>>,
}

impl Socket {
    /// Connects to `addr`; until it is connected, the reactor is eager. There is no time limit.
    ///
    /// # Errors
    ///
    /// With the code of the operating system: there is no descriptor or port left, or the peer refused or cannot be reached.
    pub async fn connect(reactor: &Rc<Reactor>, addr: SocketAddr) -> io::Result<Self> {
        let _awaited = reactor.demand();
        let fd = open(addr)?;
        match net::connect(&fd, &addr) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let socket = Self {
            registration: reactor.register(&fd)?,
            fd,
            bytes_in: Cell::default(),
            bytes_out: Cell::default(),
            last_received: Cell::default(),
            is_blocked: RefCell::default(),
        };
        // On loopback the peer has answered by now, which saves the wait.
        reactor.turn();
        poll_fn(|cx| socket.registration.readiness.poll_writable(cx)).await;
        if socket.registration.readiness.has_failed() {
            net::sockopt::socket_error(&socket.fd)??;
        }
        Ok(socket)
    }

    /// Reads what is there into `buf`, which has room, by one call; waits where there is nothing.
    ///
    /// # Errors
    ///
    /// As of `recvmsg`, with the code of the operating system.
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<Received>> {
        // A peer that sends faster than this thread reads must not keep it from all else.
        let progress = ready!(coop::poll_proceed(cx));
        let readiness = &self.registration.readiness;
        loop {
            ready!(readiness.poll_readable(cx));
            match self.registration.reactor.receive(&self.fd, buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => readiness.note_nothing_to_read(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                received => {
                    progress.made_progress();
                    return Poll::Ready(received.inspect(|received| self.note_received(received, buf.len())));
                }
            }
        }
    }

    /// Writes what the kernel takes of `bufs`, by one call; waits where it takes nothing. How many bytes it took is returned.
    ///
    /// # Errors
    ///
    /// As of `sendmsg`, with the code of the operating system; a closed connection raises no signal.
    pub fn poll_send(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let progress = ready!(coop::poll_proceed(cx));
        let readiness = &self.registration.readiness;
        loop {
            ready!(readiness.poll_writable(cx));
            match send(&self.fd, bufs) {
                Err(Errno::AGAIN) => {
                    readiness.note_full();
                    self.is_blocked.replace(Some(self.registration.reactor.demand()));
                }
                Err(Errno::INTR) => {}
                sent => {
                    progress.made_progress();
                    self.is_blocked.take();
                    return Poll::Ready(self.note_sent(sent));
                }
            }
        }
    }

    /// Whether, as of the last turn, there is nothing to read and the peer has neither closed nor reset the connection.
    pub fn is_quiet(&self) -> bool {
        self.registration.readiness.is_quiet()
    }

    /// What the last read brought that brought bytes.
    pub fn last_received(&self) -> Option<Received> {
        self.last_received.get()
    }

    /// Bytes read so far.
    pub fn bytes_in(&self) -> u64 {
        self.bytes_in.get()
    }

    /// Bytes that the kernel took so far.
    pub fn bytes_out(&self) -> u64 {
        self.bytes_out.get()
    }

    fn note_received(&self, received: &Received, room: usize) {
        if received.bytes == 0 {
            return;
        }
        if received.bytes < room {
            self.registration.readiness.note_short_read();
        }
        self.bytes_in.set(self.bytes_in.get() + received.bytes as u64);
        self.last_received.set(Some(*received));
    }

    fn note_sent(&self, sent: rustix::io::Result<usize>) -> io::Result<usize> {
        let bytes = sent?;
        self.bytes_out.set(self.bytes_out.get() + bytes as u64);
        Ok(bytes)
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buf.remaining() > 0 {
            let received = ready!(self.poll_recv(cx, buf.initialize_unfilled()))?;
            buf.advance(received.bytes);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_send(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(net::shutdown(&self.fd, Shutdown::Write)?))
    }
}

fn open(addr: SocketAddr) -> io::Result<OwnedFd> {
    let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    net::sockopt::set_tcp_nodelay(&fd, true)?;
    // Without stamps, what is read arrived when it was read, and says so.
    let _ = setsockopt(&fd, sockopt::ReceiveTimestampns, &true);
    Ok(fd)
}

fn send(fd: &OwnedFd, bufs: &[IoSlice<'_>]) -> rustix::io::Result<usize> {
    match bufs {
        // One buffer is cheaper than a message of one.
        [only] => net::send(fd, only, SendFlags::NOSIGNAL),
        _ => net::sendmsg(fd, bufs, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL),
    }
}

#[cfg(test)]
mod tests;

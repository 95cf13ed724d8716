//! A socket of a shard's own epoll: of TCP, or of this machine.

use std::cell::{Cell, Ref, RefCell};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hammer_measure::Nanos;
use rustix::io::Errno;
use rustix::net::{
    self, AddressFamily, SendAncillaryBuffer, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType,
    ipproto,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::reactor::registration::{Place, Ready, Registration};
use crate::reactor::{Demand, Reactor};
use crate::receive::{Received, ask_for_stamps};

/// How long a dial of a Unix socket waits for room in the listener's queue before it looks again.
const FULL_QUEUE: Duration = Duration::from_millis(1);

/// Less than an exchange on loopback takes.
const JUST_NOW: Nanos = Nanos::from_micros(20);

/// A connected socket of TCP, or a Unix socket. Dropping it closes it, without a `shutdown`.
///
/// One task may read while another one writes; two that do the same would take each other's wake-ups.
pub struct Socket {
    registration: Registration,
    reactor: Rc<Reactor>,
    bytes_in: Cell<u64>,
    bytes_out: Cell<u64>,
    last_received: Cell<Option<Received>>,
    /// There is something to read that the epoll has not told of.
    has_news: Cell<bool>,
    /// What the first write finds that the epoll has not told of: room, since it was connected at once, or that it was reset since.
    at_hand: Cell<Option<Result<(), Errno>>>,
    is_nodelay: Cell<bool>,
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
        let fd = open(addr)?;
        match net::connect(&fd, &addr) {
            Ok(()) | Err(Errno::INPROGRESS) => Self::connecting(reactor, addr, fd).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Connects to the Unix socket of that path, as [`Socket::connect`] does to an address.
    ///
    /// # Errors
    ///
    /// As of [`Socket::connect`], and where the path is longer than the name of a socket may be.
    pub async fn connect_unix(reactor: &Rc<Reactor>, path: &Path) -> io::Result<Self> {
        let addr = SocketAddrUnix::new(path)?;
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        loop {
            match net::connect(&fd, &addr) {
                // No epoll tells when a full queue of the listener has room again.
                Err(Errno::AGAIN) => tokio::time::sleep(FULL_QUEUE).await,
                connected => break connected?,
            }
        }
        let socket = Self::settled(reactor, fd).await?;
        // That is an option of TCP.
        socket.is_nodelay.set(true);
        Ok(socket)
    }

    /// What becomes of `fd`, which was told to connect to `addr`.
    async fn connecting(reactor: &Rc<Reactor>, addr: SocketAddr, fd: OwnedFd) -> io::Result<Self> {
        Self::settled(reactor, fd).await?.unless_own_peer(addr)
    }

    /// The same of a socket of any kind.
    async fn settled(reactor: &Rc<Reactor>, fd: OwnedFd) -> io::Result<Self> {
        let _awaited = reactor.demand();
        let socket = Self {
            registration: reactor.register(fd)?,
            reactor: Rc::clone(reactor),
            bytes_in: Cell::default(),
            bytes_out: Cell::default(),
            last_received: Cell::default(),
            has_news: Cell::default(),
            at_hand: Cell::default(),
            is_nodelay: Cell::default(),
            is_blocked: RefCell::default(),
        };
        // On loopback the peer has answered by now: to ask costs less than to wait for what the epoll says.
        if net::getpeername(socket.registration.fd()).is_ok() {
            socket.at_hand.set(Some(Ok(())));
            return Ok(socket);
        }
        let has_failed = |place: Ref<'_, Place>, cx: &mut Context<'_>| {
            place.poll_writable(cx).map_ok(|ready| ready.has_failed())
        };
        if poll_fn(|cx| has_failed(socket.registration.place(), cx)).await? {
            match net::sockopt::socket_error(socket.registration.fd())? {
                // Whoever refuses says so by another code: this one had accepted.
                Err(reset @ (Errno::CONNRESET | Errno::PIPE)) => socket.at_hand.set(Some(Err(reset))),
                error => error?,
            }
        }
        Ok(socket)
    }

    /// A dial to a port of this machine that nobody listens on may get that port as its own, and then TCP connects it with itself
    /// (RFC 9293, section 3.5, figure 7): nobody accepted it.
    fn unless_own_peer(self, addr: SocketAddr) -> io::Result<Self> {
        let may_be =
            addr.port() >= *LOWEST_OWN_PORT && net::getsockname(self.registration.fd())? == addr.into();
        if may_be { Err(Errno::CONNREFUSED.into()) } else { Ok(self) }
    }

    /// Reads what is there into `buf`, which has room, by one call; waits where there is nothing.
    ///
    /// # Errors
    ///
    /// As of `recvmsg`, with the code of the operating system.
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<Received>> {
        let place = self.registration.place();
        loop {
            let mut ready = match self.has_news.take() {
                true => Ready::Asked,
                false => ready!(self.poll_readable(&place, cx))?,
            };
            match self.reactor.receive(self.registration.fd(), buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.note_nothing_to_read(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(received) => {
                    self.note_received(&received, buf.len(), &mut ready);
                    return Poll::Ready(Ok(received));
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
        self.reactor.gather(&self.registration);
        self.send_promptly()?;
        let place = self.registration.place();
        loop {
            let mut ready = match self.at_hand.take() {
                Some(at_hand) => at_hand.map(|()| Ready::Asked)?,
                None => match place.poll_writable(cx)? {
                    Poll::Ready(ready) => ready,
                    Poll::Pending => {
                        self.is_blocked.borrow_mut().get_or_insert_with(|| self.reactor.demand());
                        return Poll::Pending;
                    }
                },
            };
            match send(self.registration.fd(), bufs) {
                Err(Errno::AGAIN) => {
                    ready.note_full();
                }
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
                Ok(bytes) => {
                    self.is_blocked.take();
                    self.bytes_out.set(self.bytes_out.get() + bytes as u64);
                    return Poll::Ready(Ok(bytes));
                }
            }
        }
    }

    /// Whether there is nothing to read and the peer has neither closed nor reset the connection, as far as the kernel knows; while
    /// nobody waits to read. `now` tells whether that costs a call: not behind a read of just now.
    pub fn is_quiet(&self, now: Nanos) -> bool {
        // A close behind what was read just now came with it, or is too late for any look.
        let is_fresh = self.last_received.get().is_some_and(|last| now.since(last.read) <= JUST_NOW);
        if !is_fresh {
            self.reactor.turn_after(JUST_NOW, now);
            self.has_news.set(self.registration.has_news());
        }
        !self.has_news.get() && self.registration.place().is_quiet()
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

    /// Has the kernel hold nothing back from the second write on. In the first one the tail behind full segments leaves at once, since
    /// Linux waits for nothing but an acknowledgement of an earlier tail (Minshall's rule); and a connection for one request is
    /// spared a call.
    fn send_promptly(&self) -> io::Result<()> {
        if self.bytes_out.get() > 0 && !self.is_nodelay.replace(true) {
            net::sockopt::set_tcp_nodelay(self.registration.fd(), true)?;
        }
        Ok(())
    }

    fn poll_readable<'a>(&self, place: &'a Place, cx: &mut Context<'_>) -> Poll<io::Result<Ready<'a>>> {
        let polled = place.poll_readable(cx);
        self.registration.set_awaited(polled.is_pending());
        polled
    }

    fn note_received(&self, received: &Received, room: usize, ready: &mut Ready<'_>) {
        if received.bytes == 0 {
            return;
        }
        if received.bytes < room {
            ready.note_short_read();
        }
        self.bytes_in.set(self.bytes_in.get() + received.bytes as u64);
        self.last_received.set(Some(*received));
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
        Poll::Ready(Ok(net::shutdown(self.registration.fd(), Shutdown::Write)?))
    }
}

/// The lowest port that the kernel gives to who connects.
static LOWEST_OWN_PORT: LazyLock<u16> = LazyLock::new(|| {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range.split_whitespace().next().and_then(|lowest| lowest.parse().ok()).unwrap_or(1024)
});

fn open(addr: SocketAddr) -> io::Result<OwnedFd> {
    let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    // Without stamps, what is read arrived when it was read, and says so.
    let _ = ask_for_stamps(&fd);
    Ok(fd)
}

fn send(fd: BorrowedFd<'_>, bufs: &[IoSlice<'_>]) -> rustix::io::Result<usize> {
    match bufs {
        // One buffer is cheaper than a message of one.
        [only] => net::send(fd, only, SendFlags::NOSIGNAL),
        _ => net::sendmsg(fd, bufs, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL),
    }
}

#[cfg(test)]
mod tests;

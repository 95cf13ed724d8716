//! From an endpoint to an established connection, past the guard.

use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use hammer_measure::Nanos;
use hammer_measure::connection::{ConnectionLog, OpenConnection};
use rustls::HandshakeKind;

use crate::config::HttpVersion;
use crate::context::ClientContext;
use crate::failure::{Failure, FailureKind};
use crate::guard;
use crate::resolve::Origin;
use crate::socket::Socket;
use crate::stream::Stream;
use crate::tls_fault::of_handshake;
use crate::wire::WireTimes;

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// An established connection of which the version is known.
pub(crate) struct Dialled {
    pub(crate) stream: Stream,
    pub(crate) protocol: Protocol,
    pub(crate) opened: Nanos,
    /// The address that answered.
    pub(crate) addr: SocketAddr,
    pub(crate) open: OpenConnection,
}

/// Dials `origin` at the first of `addresses` that answers, within the dial timeout, and writes the instants into `times`.
pub(crate) async fn dial(
    context: &ClientContext,
    origin: &Origin,
    addresses: impl Iterator<Item = SocketAddr> + Clone,
    times: &mut WireTimes,
) -> Result<Dialled, Failure> {
    // What is sent again was sent when it was sent first.
    *times = WireTimes { dial_started: Some(context.clock.now()), sent: times.sent, ..WireTimes::default() };
    let limit = context.config.dial_timeout;
    let name = || origin.name_at(addresses.clone().next());
    let dialled = context.patience.limit(establish(context, origin, addresses.clone(), times)).await;
    let dialled = dialled.unwrap_or_else(|_| Err(too_late(&name(), limit, times)));
    tell(name, times, dialled.as_ref().err(), context.clock.now());
    dialled
}

/// One line for a dial that failed, and for one that did not where somebody wants to see those.
fn tell(name: impl Fn() -> String, times: &WireTimes, failure: Option<&Failure>, now: Nanos) {
    let took = now.since(times.dial_started.unwrap_or(now));
    match failure {
        Some(failure) => tracing::warn!(endpoint = %name(), %took, "failed to {failure}"),
        None => tracing::debug!(endpoint = %name(), %took, tls = times.tls_done.is_some(), "connected"),
    }
}

/// The time for a dial was over; `times` say how far it came.
#[cold]
fn too_late(name: &str, limit: Duration, times: &WireTimes) -> Failure {
    let within = Nanos::from(limit);
    let detail = match times.connected {
        None => format!("connect to {name} within {within}"),
        Some(_) => format!(
            "agree on TLS with {name} within {within}: the server took the connection, and said no more"
        ),
    };
    Failure::new(FailureKind::DialTimeout, detail)
}

async fn establish(
    context: &ClientContext,
    origin: &Origin,
    addresses: impl Iterator<Item = SocketAddr>,
    times: &mut WireTimes,
) -> Result<Dialled, Failure> {
    // Until it speaks, answers wake the thread.
    let _awaited = context.reactor.demand();
    let Connected { socket, addr, open } = connect(context, origin, addresses).await?;
    let connected = context.clock.now();
    times.connected = Some(connected);
    let version = context.config.version;
    let Some((connector, name)) = &origin.tls else {
        let protocol = plain_protocol(version);
        return Ok(Dialled { stream: Stream::Plain(socket), protocol, opened: connected, addr, open });
    };
    let mut step = DialStep::new(context, ConnectionLog::handshake_failed);
    // Boxed, as all that few dials need: a dial is a future that is moved, and TLS would make it one of kilobytes.
    let tls = Box::pin(connector.connect(name.clone(), socket))
        .await
        .map_err(|error| of_handshake(&origin.name_at(Some(addr)), &error))?;
    let opened = context.clock.now();
    times.tls_done = Some(opened);
    let session = tls.get_ref().1;
    let protocol = tls_protocol(version, session.alpn_protocol(), origin)?;
    step.is_done = true;
    let is_resumed = session.handshake_kind() == Some(HandshakeKind::Resumed);
    context.log.handshaken(opened.since(connected), is_resumed);
    Ok(Dialled { stream: Stream::Tls(Box::new(tls.into())), protocol, opened, addr, open })
}

/// A connection that speaks nothing yet.
struct Connected {
    socket: Socket,
    addr: SocketAddr,
    open: OpenConnection,
}

async fn connect(
    context: &ClientContext,
    origin: &Origin,
    mut addresses: impl Iterator<Item = SocketAddr>,
) -> Result<Connected, Failure> {
    let first = addresses.next();
    let first = first.ok_or_else(|| no_address(origin.host()))?;
    match addresses.next() {
        None => connect_to(context, origin, first).await,
        Some(second) => {
            Box::pin(connect_to_any(context, origin, [first, second].into_iter().chain(addresses))).await
        }
    }
}

/// Tries one address after another: the next one where one refuses, and beside one that is silent for a while.
async fn connect_to_any(
    context: &ClientContext,
    origin: &Origin,
    addresses: impl Iterator<Item = SocketAddr>,
) -> Result<Connected, Failure> {
    let mut addresses = addresses.peekable();
    let mut under_way = FuturesUnordered::new();
    let mut refused = String::new();
    loop {
        under_way.extend(addresses.next().map(|addr| connect_to(context, origin, addr)));
        let next = under_way.next();
        let ended = match addresses.peek() {
            Some(_) => tokio::time::timeout(SILENCE, next).await,
            None => Ok(next.await),
        };
        match ended {
            Ok(Some(Ok(connected))) => return Ok(connected),
            Ok(Some(Err(failure))) if under_way.is_empty() && addresses.peek().is_none() => {
                let detail = refused + &failure.detail;
                return Err(Failure { detail: detail.into(), ..failure });
            }
            // One refused, or all are silent: the next one.
            Ok(Some(Err(failure))) => refused = refused + &failure.detail + "; ",
            Err(_) => {}
            Ok(None) => return Err(no_address(origin.host())),
        }
    }
}

async fn connect_to(
    context: &ClientContext,
    origin: &Origin,
    addr: SocketAddr,
) -> Result<Connected, Failure> {
    let host = origin.host();
    let unix_socket = origin.unix_socket();
    // A socket of this machine is as near as loopback is.
    if unix_socket.is_none() {
        guard::check(host, addr, context.config.authorized.as_deref())
            .map_err(|refused| Failure::new(FailureKind::Unauthorized, refused.to_string()))?;
    }
    let started = context.clock.now();
    let mut step = DialStep::new(context, |log| log.dial_failed(addr));
    let connected = match unix_socket {
        Some(path) => Box::pin(Socket::connect_unix(&context.reactor, path)).await,
        None => Socket::connect(&context.reactor, addr).await,
    };
    let socket = connected.map_err(|error| {
        let place = unix_socket.map_or_else(|| addr.to_string(), |path| path.display().to_string());
        Failure::of_dial(host, &place, &error)
    })?;
    step.is_done = true;
    let open = context.log.dialled(addr, context.clock.now().since(started));
    Ok(Connected { socket, addr, open })
}

/// A step of a dial: the connect of TCP, or the handshake of TLS. Whoever gives it up, for its deadline or for another address that
/// answered, gives up one that failed.
struct DialStep<'a, F: Fn(&ConnectionLog)> {
    log: &'a ConnectionLog,
    note_failed: F,
    is_done: bool,
}

impl<'a, F: Fn(&ConnectionLog)> DialStep<'a, F> {
    fn new(context: &'a ClientContext, note_failed: F) -> Self {
        Self { log: &context.log, note_failed, is_done: false }
    }
}

impl<F: Fn(&ConnectionLog)> Drop for DialStep<'_, F> {
    fn drop(&mut self) {
        if !self.is_done {
            (self.note_failed)(self.log);
        }
    }
}

#[cold]
fn no_address(host: &str) -> Failure {
    Failure::new(FailureKind::Dns, format!("find an address of {host}"))
}

fn plain_protocol(version: HttpVersion) -> Protocol {
    match version {
        HttpVersion::Negotiated | HttpVersion::Http1 => Protocol::Http1,
        HttpVersion::Http2 | HttpVersion::Http2PriorKnowledge => Protocol::Http2,
    }
}

fn tls_protocol(version: HttpVersion, chosen: Option<&[u8]>, origin: &Origin) -> Result<Protocol, Failure> {
    match version {
        HttpVersion::Http1 => Ok(Protocol::Http1),
        HttpVersion::Http2PriorKnowledge => Ok(Protocol::Http2),
        HttpVersion::Negotiated if chosen == Some(b"h2") => Ok(Protocol::Http2),
        HttpVersion::Negotiated => Ok(Protocol::Http1),
        HttpVersion::Http2 if chosen == Some(b"h2") => Ok(Protocol::Http2),
        HttpVersion::Http2 => {
            let detail = format!("speak HTTP/2 with {}: it did not choose h2 in ALPN", origin.authority);
            Err(Failure::new(FailureKind::Tls, detail))
        }
    }
}

/// How long an address may be silent before the next one is tried beside it (RFC 8305, section 5, recommends 250 ms).
const SILENCE: Duration = Duration::from_millis(250);

//! From an endpoint to an established connection, past the guard.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use hammer_measure::Nanos;
use tokio::net::TcpStream;

use crate::config::HttpVersion;
use crate::context::ClientContext;
use crate::failure::{Failure, FailureKind};
use crate::guard;
use crate::io::{CountedTcp, Stream, WireIo};
use crate::resolve::Origin;
use crate::wire::{Wire, WireTimes};

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// An established connection of which the version is known.
pub(crate) struct Dialled {
    pub(crate) io: WireIo,
    pub(crate) wire: Rc<Wire>,
    pub(crate) protocol: Protocol,
    pub(crate) opened: Nanos,
    /// The address that answered.
    pub(crate) addr: SocketAddr,
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
    let dialled = tokio::time::timeout(limit, establish(context, origin, addresses.clone(), times)).await;
    let dialled = dialled.unwrap_or_else(|_| {
        let detail = format!("connect to {} within {}", name(), Nanos::from(limit));
        Err(Failure::new(FailureKind::DialTimeout, detail))
    });
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

async fn establish(
    context: &ClientContext,
    origin: &Origin,
    addresses: impl Iterator<Item = SocketAddr>,
    times: &mut WireTimes,
) -> Result<Dialled, Failure> {
    let (tcp, addr) = connect(context, origin.host(), addresses).await?;
    times.connected = Some(context.clock.now());
    let wire = Rc::new(Wire::new(Rc::clone(&context.clock)));
    let tcp = CountedTcp { tcp, wire: Rc::clone(&wire) };
    let version = context.config.version;
    let (stream, protocol) = match &origin.tls {
        None => (Stream::Plain(tcp), plain_protocol(version)),
        Some((connector, name)) => {
            let tls = connector
                .connect(name.clone(), tcp)
                .await
                .map_err(|error| of_handshake(&origin.name_at(Some(addr)), &error))?;
            times.tls_done = Some(context.clock.now());
            let protocol = tls_protocol(version, tls.get_ref().1.alpn_protocol(), origin)?;
            (Stream::Tls(Box::new(tls)), protocol)
        }
    };
    let opened = times.tls_done.or(times.connected).unwrap_or_default();
    Ok(Dialled { io: WireIo { stream, wire: Rc::clone(&wire) }, wire, protocol, opened, addr })
}

/// Tries one address after another.
async fn connect(
    context: &ClientContext,
    host: &str,
    addresses: impl Iterator<Item = SocketAddr>,
) -> Result<(TcpStream, SocketAddr), Failure> {
    let mut failure = None;
    for addr in addresses {
        guard::check(host, addr, context.config.authorized.as_deref())
            .map_err(|refused| Failure::new(FailureKind::Unauthorized, refused.to_string()))?;
        match connect_to(addr).await {
            Ok(tcp) => return Ok((tcp, addr)),
            Err(error) => failure = Some(Failure::of_dial(&format!("{host} at {addr}"), &error)),
        }
    }
    Err(failure.unwrap_or_else(|| Failure::new(FailureKind::Dns, format!("find an address of {host}"))))
}

async fn connect_to(addr: SocketAddr) -> io::Result<TcpStream> {
    let tcp = TcpStream::connect(addr).await?;
    tcp.set_nodelay(true)?;
    Ok(tcp)
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

#[cold]
fn of_handshake(host: &str, error: &io::Error) -> Failure {
    Failure::new(FailureKind::Tls, format!("agree on TLS with {host}: {error}"))
}

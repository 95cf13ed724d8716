//! An endpoint: the addresses of one server, and the connections to it.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use futures::future::join_all;
use hammer_measure::Nanos;
use http::HeaderValue;
use tokio::sync::Semaphore;

use crate::attempt::{Broken, Exchanged};
use crate::config::HttpVersion;
use crate::context::ClientContext;
use crate::dial::{Protocol, dial};
use crate::failure::{Failure, closed};
use crate::http1::{HeadTemplate, Http1Connection, Http1Pool};
use crate::http2::{self, Grant, Http2Pool, Started};
use crate::request::{Answer, Request};
use crate::resolve::{Origin, address_of_peer};
use crate::wire::WireTimes;

/// The addresses of one server, and the connections to it.
pub(crate) struct Endpoint {
    pub(crate) origin: Rc<Origin>,
    /// Its place in the client's list; `None` for a redirect's other origin.
    pub(crate) index: Option<usize>,
    http1: Http1Pool,
    http2: Rc<Http2Pool>,
    template: HeadTemplate,
    addresses: Vec<SocketAddr>,
    preferred: Cell<usize>,
    in_flight: Cell<usize>,
    retired: Cell<bool>,
    /// The last dial to it failed: until then others are chosen. Zero where it did not.
    rests_until: Cell<Nanos>,
    protocol: Cell<Option<Protocol>>,
    discovery: Semaphore,
}

/// Counts an operation in flight for as long as it lives.
pub(crate) struct InFlight<'a>(&'a Cell<usize>);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Endpoint {
    pub(crate) fn new(
        context: &Rc<ClientContext>,
        origin: Rc<Origin>,
        addresses: Vec<SocketAddr>,
        index: Option<usize>,
    ) -> Self {
        Self {
            http1: Http1Pool::new(context.config.connections),
            http2: Rc::new(Http2Pool::new(context)),
            protocol: Cell::new(known_protocol(context.config.version, &origin)),
            template: HeadTemplate::new(&context.config, &origin),
            origin,
            index,
            addresses,
            preferred: Cell::new(0),
            in_flight: Cell::new(0),
            retired: Cell::new(false),
            rests_until: Cell::new(Nanos::ZERO),
            discovery: Semaphore::new(1),
        }
    }

    /// Host and port, and the address where it differs.
    pub(crate) fn name(&self) -> String {
        self.origin.name_at(self.addresses().next())
    }

    /// Its addresses, the preferred one first.
    fn addresses(&self) -> impl Iterator<Item = SocketAddr> + Clone {
        let (before, from) = self.addresses.split_at(self.preferred.get());
        from.iter().chain(before).copied()
    }

    fn prefer(&self, addr: SocketAddr) {
        self.preferred.set(self.addresses.iter().position(|known| *known == addr).unwrap_or(0));
    }

    pub(crate) fn has_addresses(&self, addresses: &[SocketAddr]) -> bool {
        self.addresses == addresses
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.get()
    }

    /// A dial to it failed: it is passed over for a while.
    pub(crate) fn rest(&self, context: &ClientContext) {
        self.rests_until.set(context.clock.now() + REST);
    }

    /// Whether it is passed over.
    pub(crate) fn is_resting(&self, context: &ClientContext) -> bool {
        let until = self.rests_until.get();
        until > Nanos::ZERO && context.clock.now() < until
    }

    /// It was chosen. Where the last dial to it failed, what comes within the next while goes elsewhere until this one has succeeded.
    pub(crate) fn tries_again(&self, context: &ClientContext) {
        if self.rests_until.get() > Nanos::ZERO {
            self.rest(context);
        }
    }

    pub(crate) fn enter(&self) -> InFlight<'_> {
        self.in_flight.set(self.in_flight.get() + 1);
        InFlight(&self.in_flight)
    }

    /// Whether DNS still names it. One that is retired keeps no idle connection.
    pub(crate) fn set_retired(&self, retired: bool) {
        self.retired.set(retired);
        if retired {
            self.http1.clear();
            self.http2.clear();
        }
    }

    fn is_retired(&self) -> bool {
        self.retired.get()
    }

    /// That of its addresses which is tried first, as long as no connection says more; none of a Unix socket.
    fn preferred_address(&self) -> Option<SocketAddr> {
        self.addresses().next().and_then(address_of_peer)
    }

    /// Sends `request` on a connection of its own choice; over HTTP/1.1 on a newly dialled one when `fresh`.
    pub(crate) async fn exchange(
        &self,
        context: &ClientContext,
        request: &Request,
        bearer: Option<&HeaderValue>,
        answer: &mut Answer,
        fresh: bool,
    ) -> Result<(), Broken> {
        answer.peer = self.preferred_address();
        let mut protocol = match self.protocol.get() {
            Some(protocol) => protocol,
            None => Box::pin(self.discover(context, &mut answer.wire)).await?,
        };
        loop {
            let done = match protocol {
                Protocol::Http1 => self.over_http1(context, request, bearer, answer, fresh).await,
                Protocol::Http2 => Box::pin(self.over_http2(context, request, bearer, answer)).await,
            }?;
            match done {
                Exchanged::Done => return Ok(()),
                Exchanged::Other(now) => protocol = now,
            }
        }
    }

    /// Sends `request` on an idle connection or a new one.
    async fn over_http1(
        &self,
        context: &ClientContext,
        request: &Request,
        bearer: Option<&HeaderValue>,
        answer: &mut Answer,
        fresh: bool,
    ) -> Result<Exchanged, Broken> {
        let slot = self.http1.slot().await?;
        // A fresh one takes the place of an idle one, so that the endpoint's bound holds.
        let (idle, passed_over) = self.http1.take(context);
        if passed_over > 0 {
            context.note_redialled(answer);
        }
        let mut connection = match idle.filter(|_| !fresh) {
            Some(connection) => connection,
            None => match Box::pin(self.open(context, &mut answer.wire)).await? {
                Opened::Http1(connection) => connection,
                other => return Ok(Exchanged::Other(self.adopt(other))),
            },
        };
        answer.peer = self.preferred_address();
        let host = self.origin.authority.as_str();
        let is_kept = connection.exchange(context, &self.template, host, request, bearer, answer).await?;
        if is_kept && context.config.keepalive && !self.is_retired() {
            drop(slot);
            self.http1.put(connection);
        }
        Ok(Exchanged::Done)
    }

    /// Sends `request` on a stream of the idlest connection, or of a new one.
    async fn over_http2(
        &self,
        context: &ClientContext,
        request: &Request,
        bearer: Option<&HeaderValue>,
        answer: &mut Answer,
    ) -> Result<Exchanged, Broken> {
        let head = http2::to_http(request, &self.origin, bearer, context.config.user_agent.as_ref())?;
        let lease = match self.http2.stream().await {
            Grant::Stream(lease) => lease,
            Grant::Dial(permit) => match Box::pin(self.open(context, &mut answer.wire)).await? {
                Opened::Http2(started) => self.http2.first_stream(permit, started),
                other => return Ok(Exchanged::Other(self.adopt(other))),
            },
        };
        answer.peer = self.preferred_address();
        http2::exchange(&lease, context, self.origin.authority.as_str(), head, request, answer).await?;
        Ok(Exchanged::Done)
    }

    /// Keeps a connection that speaks another version than its predecessors did.
    fn adopt(&self, connection: Opened) -> Protocol {
        let protocol = match connection {
            Opened::Http1(connection) => {
                self.http1.put(connection);
                Protocol::Http1
            }
            Opened::Http2(dialled) => {
                self.http2.add(dialled);
                Protocol::Http2
            }
        };
        self.protocol.set(Some(protocol));
        protocol
    }

    /// Dials and starts to speak whatever was agreed.
    async fn open(&self, context: &ClientContext, times: &mut WireTimes) -> Result<Opened, Failure> {
        let dialled = dial(context, &self.origin, self.addresses(), times).await?;
        self.prefer(dialled.addr);
        self.rests_until.set(Nanos::ZERO);
        match dialled.protocol {
            Protocol::Http1 => Ok(Opened::Http1(Box::new(Http1Connection::new(dialled)))),
            Protocol::Http2 => {
                let started = Box::pin(Started::new(dialled, self.origin.authority.as_str(), context));
                Ok(Opened::Http2(started.await?))
            }
        }
    }

    /// The version that the server chooses: one connection is dialled to learn it, and kept.
    async fn discover(&self, context: &ClientContext, times: &mut WireTimes) -> Result<Protocol, Failure> {
        // One at a time dials to learn the protocol. The others wait, and find it known: else each would open a connection.
        let _turn = self.discovery.acquire().await.map_err(|_| closed())?;
        if let Some(protocol) = self.protocol.get() {
            return Ok(protocol);
        }
        let connection = self.open(context, times).await?;
        Ok(self.adopt(connection))
    }

    /// Has `count` connections established, or as many as are allowed.
    pub(crate) async fn warm_up(&self, context: &ClientContext, count: usize) -> Result<(), Failure> {
        if self.protocol.get().is_none() && count > 0 {
            self.discover(context, &mut WireTimes::default()).await?;
        }
        let there = self.http1.count() + self.http2.count();
        let config = &context.config;
        let (wanted, most) = match self.protocol.get() {
            Some(Protocol::Http2) if count > 0 => {
                (config.per_address.unwrap_or(count.div_ceil(config.streams)), config.http2_connections())
            }
            _ => (count, config.connections),
        };
        let missing = wanted.min(most).saturating_sub(there);
        let dials = (0..missing).map(|_| async {
            let _slot = self.http1.slot().await?;
            self.adopt(self.open(context, &mut WireTimes::default()).await?);
            Ok(())
        });
        // Those that were established stay, whatever became of the others.
        let dialled = join_all(dials).await.into_iter().collect();
        // One that has not said yet how many streams it takes has one for whoever comes first. It is no failure if it never does.
        let _ = tokio::time::timeout(context.config.dial_timeout, self.http2.settled()).await;
        dialled
    }
}

/// How long an endpoint is passed over whose dial failed; gRPC waits as long before it tries one again (doc/connection-backoff.md).
const REST: Nanos = Nanos::from_secs(1);

/// A connection that speaks what was agreed.
pub(crate) enum Opened {
    Http1(Box<Http1Connection>),
    Http2(Started),
}

/// The version spoken with `origin`, when no negotiation decides it.
fn known_protocol(version: HttpVersion, origin: &Origin) -> Option<Protocol> {
    match version {
        HttpVersion::Negotiated if origin.tls.is_some() => None,
        HttpVersion::Negotiated | HttpVersion::Http1 => Some(Protocol::Http1),
        HttpVersion::Http2 | HttpVersion::Http2PriorKnowledge => Some(Protocol::Http2),
    }
}

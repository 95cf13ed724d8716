//! An endpoint: the addresses of one server, and the connections to it.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use futures::future::try_join_all;
use http::HeaderValue;
use tokio::sync::Semaphore;

use crate::client::Shared;
use crate::dial::dial;
use crate::failure::{Failure, FailureKind};
use crate::http1::{self, Http1Connection, Http1Pool};
use crate::http2::{self, Http2Connection, Http2Pool, Started};
use crate::request::{Answer, Request};
use crate::resolve::Origin;
use crate::wire::WireTimes;

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// The addresses of one server, and the connections to it.
pub(crate) struct Endpoint {
    pub(crate) origin: Rc<Origin>,
    /// Its place in the client's list; `None` for a redirect's other origin.
    pub(crate) index: Option<usize>,
    pub(crate) http1: Http1Pool,
    pub(crate) http2: Http2Pool,
    addresses: Vec<SocketAddr>,
    preferred: Cell<usize>,
    in_flight: Cell<usize>,
    retired: Cell<bool>,
    protocol: Cell<Option<Protocol>>,
    discovery: Semaphore,
}

/// An exchange that failed, and whether it may be tried on another connection.
pub(crate) enum Broken {
    /// A connection that was idle turned out to be closed before the request was written.
    Unsent,
    /// It was closed after the request was written, before any byte of an answer; or an HTTP/2 server says that it did
    /// not touch the request. The connection is out of the pool.
    Idle(Failure),
    /// The request cannot be tried again.
    Final(Failure),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self::Final(failure)
    }
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
        shared: &Shared,
        origin: Rc<Origin>,
        addresses: Vec<SocketAddr>,
        index: Option<usize>,
    ) -> Self {
        Self {
            http1: Http1Pool::new(shared.config.connections),
            http2: Http2Pool::default(),
            protocol: Cell::new(shared.known_protocol(&origin)),
            origin,
            index,
            addresses,
            preferred: Cell::new(0),
            in_flight: Cell::new(0),
            retired: Cell::new(false),
            discovery: Semaphore::new(1),
        }
    }

    /// Host and port, and the address where it differs.
    pub(crate) fn name(&self) -> String {
        let authority = &self.origin.authority;
        match (self.origin.literal(), self.addresses().next()) {
            (None, Some(addr)) => format!("{authority} at {addr}"),
            _ => authority.to_string(),
        }
    }

    /// Its addresses, the preferred one first.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        let (before, from) = self.addresses.split_at(self.preferred.get());
        from.iter().chain(before).copied()
    }

    pub(crate) fn prefer(&self, addr: SocketAddr) {
        self.preferred.set(self.addresses.iter().position(|known| *known == addr).unwrap_or(0));
    }

    pub(crate) fn has_addresses(&self, addresses: &[SocketAddr]) -> bool {
        self.addresses == addresses
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.get()
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

    pub(crate) fn is_retired(&self) -> bool {
        self.retired.get()
    }

    /// Sends `request` on a connection of its own choice; over HTTP/1.1 on a newly dialled one when `fresh`.
    pub(crate) async fn exchange(
        self: &Rc<Self>,
        shared: &Rc<Shared>,
        request: &Request,
        bearer: Option<&HeaderValue>,
        answer: &mut Answer,
        fresh: bool,
    ) -> Result<(), Broken> {
        let mut protocol = match self.protocol.get() {
            Some(protocol) => protocol,
            None => Box::pin(self.discover(shared, &mut answer.wire)).await?,
        };
        loop {
            let done = match protocol {
                Protocol::Http1 => http1::exchange(self, shared, request, bearer, answer, fresh).await,
                Protocol::Http2 => Box::pin(http2::exchange(self, shared, request, bearer, answer)).await,
            }?;
            match done {
                Exchanged::Done => return Ok(()),
                Exchanged::Other(now) => protocol = now,
            }
        }
    }

    /// Keeps a connection that speaks another version than its predecessors did.
    pub(crate) fn adopt(self: &Rc<Self>, shared: &Rc<Shared>, connection: Opened) -> Protocol {
        let protocol = match connection {
            Opened::Http1(connection) => {
                self.http1.put(connection);
                Protocol::Http1
            }
            Opened::Http2(dialled) => {
                self.http2.add(self, shared, dialled, 0);
                Protocol::Http2
            }
        };
        self.protocol.set(Some(protocol));
        protocol
    }

    /// Dials and starts to speak whatever was agreed.
    pub(crate) async fn open(
        self: &Rc<Self>,
        shared: &Rc<Shared>,
        times: &mut WireTimes,
    ) -> Result<Opened, Failure> {
        let dialled = dial(shared, self, times).await?;
        match dialled.protocol {
            Protocol::Http1 => Ok(Opened::Http1(Http1Connection::start(dialled, &self.origin).await?)),
            Protocol::Http2 => Ok(Opened::Http2(Http2Connection::start(dialled, self, shared).await?)),
        }
    }

    /// The version that the server chooses: one connection is dialled to learn it, and kept.
    async fn discover(
        self: &Rc<Self>,
        shared: &Rc<Shared>,
        times: &mut WireTimes,
    ) -> Result<Protocol, Failure> {
        // One at a time dials to learn the protocol. The others wait, and find it known: else each would open a connection.
        let _turn = self.discovery.acquire().await.map_err(|_| closed())?;
        if let Some(protocol) = self.protocol.get() {
            return Ok(protocol);
        }
        let connection = self.open(shared, times).await?;
        Ok(self.adopt(shared, connection))
    }

    /// Has `count` connections established, or as many as are allowed.
    pub(crate) async fn warm_up(self: &Rc<Self>, shared: &Rc<Shared>, count: usize) -> Result<(), Failure> {
        if self.protocol.get().is_none() && count > 0 {
            self.discover(shared, &mut WireTimes::default()).await?;
        }
        let there = self.http1.count() + self.http2.count();
        let wanted = match self.protocol.get() {
            Some(Protocol::Http2) => count.div_ceil(shared.config.streams),
            _ => count,
        };
        let missing = wanted.min(shared.config.connections).saturating_sub(there);
        let dials = (0..missing).map(|_| async {
            let slot = self.http1.slot().await?;
            let connection = self.open(shared, &mut WireTimes::default()).await?;
            Ok::<_, Failure>((slot, connection))
        });
        for (_slot, connection) in try_join_all(dials).await? {
            self.adopt(shared, connection);
        }
        Ok(())
    }
}

/// A connection that speaks what was agreed.
pub(crate) enum Opened {
    Http1(Box<Http1Connection>),
    Http2(Started),
}

/// How an exchange ended that did not fail.
pub(crate) enum Exchanged {
    /// The answer is whole.
    Done,
    /// The server now speaks another version; nothing was sent.
    Other(Protocol),
}

/// The pool's semaphores are never closed; this stands where the type asks for an error.
#[cold]
pub(crate) fn closed() -> Failure {
    Failure::new(FailureKind::Closed, "use a closed client")
}

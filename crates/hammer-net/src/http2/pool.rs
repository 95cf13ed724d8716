//! The HTTP/2 connections of an endpoint, each driven by a task of the shard, and their streams, granted in order. A
//! stream is granted below the limit that both the plan and the server's SETTINGS give, so that none waits within the
//! protocol.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::{Rc, Weak};

use bytes::Bytes;
use h2::client::{Builder, Connection as Driver, SendRequest};
use hammer_measure::Nanos;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use crate::context::ClientContext;
use crate::dial::Dialled;
use crate::failure::{Failure, FailureKind, closed};
use crate::io::WireIo;
use crate::wire::Wire;

/// The connections of an endpoint. `streams` holds a permit for each stream that could be opened now, so that who waits for one is
/// served in order, whichever connection has it.
///
/// For each connection in the pool, permits − debt = limit − streams under way, as long as nobody has taken a permit and not yet
/// looked for its stream. A permit too many is harmless: who takes it finds no stream, and looks again. One too few would keep
/// somebody waiting for ever.
pub(crate) struct Http2Pool {
    streams: Semaphore,
    connections: RefCell<Vec<Rc<Http2Connection>>>,
    dialling: Cell<usize>,
}

/// An established connection; its task ends with it.
pub(crate) struct Http2Connection {
    pub(crate) sender: SendRequest<Bytes>,
    pub(crate) wire: Rc<Wire>,
    opened: Nanos,
    idle_since: Cell<Nanos>,
    limit: Cell<usize>,
    in_flight: Cell<usize>,
    /// Streams under way beyond a limit that the server lowered: it cannot take their permits back, so as many of them as end give
    /// none back.
    debt: Cell<usize>,
    is_retired: Cell<bool>,
    task: RefCell<Option<AbortHandle>>,
}

/// A connection that nobody drives yet.
pub(crate) struct Started {
    sender: SendRequest<Bytes>,
    driver: Box<Driver<WireIo, Bytes>>,
    wire: Rc<Wire>,
    opened: Nanos,
}

impl Default for Http2Pool {
    fn default() -> Self {
        Self { streams: Semaphore::new(0), connections: RefCell::default(), dialling: Cell::new(0) }
    }
}

impl Drop for Http2Connection {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Http2Pool {
    pub(crate) fn count(&self) -> usize {
        self.connections.borrow().len()
    }

    /// Lets every connection finish its streams and take no more.
    pub(crate) fn clear(&self) {
        let connections = self.connections.take();
        for connection in connections {
            self.retire(&connection);
        }
    }

    /// Spawns the task that drives the connection, and offers its streams but for the `taken` first.
    pub(crate) fn add(
        self: &Rc<Self>,
        context: &ClientContext,
        started: Started,
        taken: usize,
    ) -> Rc<Http2Connection> {
        let limit = started.driver.max_concurrent_send_streams().min(context.config.streams);
        let connection = Rc::new(Http2Connection {
            sender: started.sender,
            wire: started.wire,
            opened: started.opened,
            idle_since: Cell::new(started.opened),
            limit: Cell::new(limit),
            in_flight: Cell::new(0),
            debt: Cell::new(taken.saturating_sub(limit)),
            is_retired: Cell::new(false),
            task: RefCell::new(None),
        });
        let driven =
            drive(started.driver, context.config.streams, Rc::downgrade(self), Rc::downgrade(&connection));
        let task = tokio::task::spawn_local(driven);
        *connection.task.borrow_mut() = Some(task.abort_handle());
        self.connections.borrow_mut().push(Rc::clone(&connection));
        self.streams.add_permits(limit.saturating_sub(taken));
        connection
    }

    /// Takes the connection out of the pool. One permit is left over, for whoever waits to see that a dial is due.
    pub(crate) fn retire(&self, connection: &Rc<Http2Connection>) {
        if connection.is_retired.replace(true) {
            return;
        }
        self.connections.borrow_mut().retain(|other| !Rc::ptr_eq(other, connection));
        // The permits of streams under way end with them: a lease of a retired connection gives none back.
        let unused = connection.limit.get().saturating_sub(connection.in_flight.get());
        self.streams.forget_permits(unused);
        // Those who wait look for room to dial only once they have a permit, and there may be no other connection to give one.
        self.streams.add_permits(1);
    }

    /// The server's SETTINGS changed how many streams `connection` may have.
    fn set_limit(&self, connection: &Http2Connection, limit: usize) {
        let before = connection.limit.replace(limit);
        if limit > before {
            // What is still owed is paid first: the streams beyond the lower limit were within this one.
            let owed = connection.debt.get().min(limit - before);
            connection.debt.set(connection.debt.get() - owed);
            self.streams.add_permits(limit - before - owed);
        } else {
            // Permits in use, or taken and not looked at yet, cannot be forgotten; they are owed.
            let forgotten = self.streams.forget_permits(before - limit);
            connection.debt.set(connection.debt.get() + before - limit - forgotten);
        }
    }

    /// A stream for which a permit was taken.
    fn open(self: &Rc<Self>, context: &ClientContext) -> Option<Lease> {
        if context.expires() {
            let now = context.clock.now();
            let expired = |connection: &&Rc<Http2Connection>| {
                let idle_since =
                    if connection.in_flight.get() > 0 { now } else { connection.idle_since.get() };
                context.is_expired(now, connection.opened, idle_since)
            };
            let expired: Vec<_> = self.connections.borrow().iter().filter(expired).cloned().collect();
            expired.iter().for_each(|connection| self.retire(connection));
        }
        let connections = self.connections.borrow();
        let free =
            connections.iter().filter(|connection| connection.in_flight.get() < connection.limit.get());
        let idlest = free.min_by_key(|connection| connection.in_flight.get())?;
        Some(Lease::new(self, Rc::clone(idlest)))
    }

    /// A stream of the idlest connection; or, where there is none below its limit, leave to dial another.
    pub(crate) async fn stream(self: &Rc<Self>, context: &ClientContext) -> Result<Grant, Failure> {
        loop {
            let is_full = self.count() + self.dialling.get() >= context.config.connections;
            if self.streams.available_permits() == 0 && !is_full {
                return Ok(Grant::Dial(DialPermit::new(self)));
            }
            // Forgotten, since the lease gives it back as it ends. Nothing awaits until the lease is there, so none is lost on the way.
            self.streams.acquire().await.map_err(|_| closed())?.forget();
            if let Some(lease) = self.open(context) {
                return Ok(Grant::Stream(lease));
            }
        }
    }

    /// The first stream of the connection that `permit` was for.
    pub(crate) fn first_stream(
        self: &Rc<Self>,
        context: &ClientContext,
        mut permit: DialPermit,
        started: Started,
    ) -> Lease {
        permit.is_done = true;
        let connection = self.add(context, started, 1);
        Lease::new(self, connection)
    }
}

/// What whoever asks for a stream gets.
pub(crate) enum Grant {
    Stream(Lease),
    Dial(DialPermit),
}

/// Leave for a dial, held while it is under way; when it comes to nothing, whoever waited for it takes it up.
pub(crate) struct DialPermit {
    pool: Rc<Http2Pool>,
    is_done: bool,
}

impl DialPermit {
    fn new(pool: &Rc<Http2Pool>) -> Self {
        pool.dialling.set(pool.dialling.get() + 1);
        Self { pool: Rc::clone(pool), is_done: false }
    }
}

impl Drop for DialPermit {
    fn drop(&mut self) {
        self.pool.dialling.set(self.pool.dialling.get() - 1);
        if !self.is_done {
            // Who waits would wait for the streams of this connection, which does not come: one of them dials in its place.
            self.pool.streams.add_permits(1);
        }
    }
}

/// A granted stream.
pub(crate) struct Lease {
    pool: Rc<Http2Pool>,
    pub(crate) connection: Rc<Http2Connection>,
}

impl Lease {
    fn new(pool: &Rc<Http2Pool>, connection: Rc<Http2Connection>) -> Self {
        connection.in_flight.set(connection.in_flight.get() + 1);
        Self { pool: Rc::clone(pool), connection }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let connection = &self.connection;
        connection.in_flight.set(connection.in_flight.get() - 1);
        connection.idle_since.set(connection.wire.clock.now());
        if connection.is_retired.get() {
            return;
        }
        match connection.debt.get() {
            0 => self.pool.streams.add_permits(1),
            debt => connection.debt.set(debt - 1),
        }
    }
}

impl Http2Connection {
    /// Whether it serves one stream only.
    pub(crate) fn has_one_stream(&self) -> bool {
        self.in_flight.get() == 1
    }

    /// Sends the preface (RFC 9113, section 3.4).
    pub(crate) async fn start(
        dialled: Dialled,
        host: &str,
        context: &ClientContext,
    ) -> Result<Started, Failure> {
        let (sender, driver) = Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .initial_max_send_streams(context.config.streams.min(STREAMS_BEFORE_SETTINGS))
            .enable_push(false)
            .handshake(dialled.io)
            .await
            .map_err(|error| Failure::of_exchange(host, &error, FailureKind::Protocol))?;
        Ok(Started { sender, driver: Box::new(driver), wire: dialled.wire, opened: dialled.opened })
    }
}

/// Drives a connection to its end, and keeps its stream limit in step with the server's.
async fn drive(
    mut driver: Box<Driver<WireIo, Bytes>>,
    streams: usize,
    pool: Weak<Http2Pool>,
    connection: Weak<Http2Connection>,
) {
    let mut limit = driver.max_concurrent_send_streams().min(streams);
    poll_fn(|cx| {
        let polled = Pin::new(&mut driver).poll(cx);
        let now = driver.max_concurrent_send_streams().min(streams);
        if now != limit {
            limit = now;
            if let (Some(pool), Some(connection)) = (pool.upgrade(), connection.upgrade())
                && !connection.is_retired.get()
            {
                pool.set_limit(&connection, now);
            }
        }
        polled.map(drop)
    })
    .await;
    if let (Some(pool), Some(connection)) = (pool.upgrade(), connection.upgrade()) {
        pool.retire(&connection);
    }
}

/// What a client may assume before the server's SETTINGS (RFC 9113, section 6.5.2, advises at least 100).
const STREAMS_BEFORE_SETTINGS: usize = 100;
const STREAM_WINDOW: u32 = 2 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

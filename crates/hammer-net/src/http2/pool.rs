//! The HTTP/2 connections of an endpoint, each driven by a task of the shard, and their streams, granted in order. A
//! stream is granted below the limit that both the plan and the server's SETTINGS give, so that none waits within the
//! protocol. Before its SETTINGS a server has to take one stream only.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::admission::{Admission, Admitted, ConnectionId, Ticket};
use super::connection::{Http2Connection, Started};
use super::drive::{Watch, drive};
use crate::context::ClientContext;

/// The connections of an endpoint. Whether one of them is idle or old for too long is looked at before each grant.
pub(crate) struct Http2Pool {
    pub(super) context: Rc<ClientContext>,
    admission: RefCell<Admission<Rc<Http2Connection>>>,
}

impl Http2Pool {
    pub(crate) fn new(context: &Rc<ClientContext>) -> Self {
        let most = context.config.http2_connections();
        let spread = context.config.per_address.map_or(1, |_| most);
        Self { context: Rc::clone(context), admission: RefCell::new(Admission::new(most, spread)) }
    }

    /// Connections that are established or being so.
    pub(crate) fn count(&self) -> usize {
        self.admission.borrow().count()
    }

    /// Lets every connection finish its streams and take no more.
    pub(crate) fn clear(&self) {
        let retired = self.admission.borrow_mut().retire_where(|_, _| true);
        drop(retired);
    }

    /// Offers the streams of a connection that was made without a [`DialPermit`].
    pub(crate) fn add(self: &Rc<Self>, started: Started) {
        self.start(started, |admission, connection| admission.add(connection, 1));
    }

    /// Streams under way on `id`, unless it was retired.
    pub(super) fn in_flight(&self, id: ConnectionId) -> Option<usize> {
        self.admission.borrow().in_flight(id)
    }

    /// Spawns the task that drives the connection, which `insert` puts into the pool with a limit of one stream.
    fn start(
        self: &Rc<Self>,
        started: Started,
        insert: impl FnOnce(&mut Admission<Rc<Http2Connection>>, Rc<Http2Connection>) -> ConnectionId,
    ) -> (ConnectionId, Rc<Http2Connection>) {
        let (connection, driver) = started.into_parts();
        let id = insert(&mut self.admission.borrow_mut(), Rc::clone(&connection));
        let watch = Watch::new(self, id, &connection);
        let task = tokio::task::spawn_local(drive(driver, connection.sender.clone(), watch));
        connection.is_driven_by(task.abort_handle());
        (id, connection)
    }

    /// A stream of the idlest connection; or, where there is none below its limit, leave to dial another.
    pub(crate) async fn stream(self: &Rc<Self>) -> Grant {
        self.retire_expired();
        let asked = self.admission.borrow_mut().ask();
        match asked {
            Ok(admitted) => self.grant(admitted),
            Err(ticket) => self.grant(StreamWait { pool: self, ticket: Some(ticket) }.await),
        }
    }

    fn grant(self: &Rc<Self>, admitted: Admitted<Rc<Http2Connection>>) -> Grant {
        let pool = Rc::clone(self);
        match admitted {
            Admitted::Stream(id, connection) => {
                Grant::Stream(Lease { pool, id, connection, is_fresh: false })
            }
            Admitted::Dial => Grant::Dial(DialPermit { pool, is_done: false }),
        }
    }

    /// The first stream of the connection that `permit` was for.
    pub(crate) fn first_stream(self: &Rc<Self>, mut permit: DialPermit, started: Started) -> Lease {
        permit.is_done = true;
        let (id, connection) = self.start(started, |admission, connection| admission.dialled(connection, 1));
        Lease { pool: Rc::clone(self), id, connection, is_fresh: true }
    }

    /// Returns when the SETTINGS of all connections that are there came, or those are over.
    pub(crate) async fn settled(&self) {
        let connections: Vec<_> = self.admission.borrow().connections().cloned().collect();
        for connection in connections {
            connection.settled().await;
        }
    }

    fn retire_expired(&self) {
        if !self.context.expires() {
            return;
        }
        let now = self.context.clock.now();
        let retired = self.admission.borrow_mut().retire_where(|connection, in_flight| {
            let idle_since = if in_flight > 0 { now } else { connection.idle_since.get() };
            self.context.is_expired(now, connection.opened, idle_since)
        });
        drop(retired);
    }

    /// The server allows so many streams on `id`.
    pub(super) fn set_allowed(&self, id: ConnectionId, allowed: usize) {
        // Where each operation has a connection of its own, that one has one stream.
        let most = if self.context.config.keepalive { self.context.config.streams } else { 1 };
        self.admission.borrow_mut().set_limit(id, allowed.min(most));
    }

    pub(super) fn retire(&self, id: ConnectionId) {
        let retired = self.admission.borrow_mut().retire(id);
        drop(retired);
    }
}

/// Whoever waits for a stream or leave to dial. Dropped, it gives up its place, or what it was granted.
struct StreamWait<'a> {
    pool: &'a Http2Pool,
    ticket: Option<Ticket>,
}

impl Future for StreamWait<'_> {
    type Output = Admitted<Rc<Http2Connection>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(ticket) = self.ticket.take() else { return Poll::Pending };
        let polled = self.pool.admission.borrow_mut().poll(&ticket, cx);
        if polled.is_pending() {
            self.ticket = Some(ticket);
        }
        polled
    }
}

impl Drop for StreamWait<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.pool.admission.borrow_mut().abandon(&ticket);
        }
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

impl Drop for DialPermit {
    fn drop(&mut self) {
        if !self.is_done {
            self.pool.admission.borrow_mut().give_back(&Admitted::Dial);
        }
    }
}

/// A granted stream.
pub(crate) struct Lease {
    pool: Rc<Http2Pool>,
    id: ConnectionId,
    pub(crate) connection: Rc<Http2Connection>,
    /// The connection was dialled for it.
    pub(crate) is_fresh: bool,
}

impl Lease {
    /// No stream is granted on its connection any more; this one and the others under way go on.
    pub(crate) fn retire(&self) {
        self.pool.retire(self.id);
    }

    /// Whether the server may refuse a stream of its connection only because there are more than it allows, or because it had no
    /// chance yet to say how many that is.
    pub(crate) fn exceeds_allowed(&self) -> bool {
        let in_flight = self.pool.in_flight(self.id);
        self.connection.allowed().is_none_or(|allowed| in_flight.is_some_and(|count| count > allowed))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.pool.context.expires() {
            self.connection.idle_since.set(self.connection.wire.clock.now());
        }
        if !self.pool.context.config.keepalive {
            self.retire();
        }
        self.pool.retire_expired();
        self.pool.admission.borrow_mut().release(self.id);
    }
}

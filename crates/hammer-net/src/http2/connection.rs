//! An established connection of HTTP/2, what its server allows, and its end.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::{Builder, Connection as Driver, SendRequest};
use hammer_measure::Nanos;
use hammer_measure::connection::{ConnectionLog, OpenConnection};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::context::ClientContext;
use crate::dial::Dialled;
use crate::failure::{Failure, FailureKind};
use crate::reactor::Demand;
use crate::request::MOST_HEAD;
use crate::stream::WireIo;
use crate::wire::Wire;

/// An established connection; its task ends with it.
pub(crate) struct Http2Connection {
    pub(crate) sender: SendRequest<Bytes>,
    pub(crate) wire: Rc<Wire>,
    pub(crate) opened: Nanos,
    /// Kept up to date where connections expire.
    pub(crate) idle_since: Cell<Nanos>,
    /// It has carried an exchange.
    pub(crate) is_used: Cell<bool>,
    /// The streams that the server's SETTINGS allow; `None` before they came.
    allowed: Cell<Option<usize>>,
    is_over: Cell<bool>,
    /// Its SETTINGS came, or it is over.
    settled: Notify,
    /// It is counted as closed before an answer was whole.
    is_counted: Cell<bool>,
    task: RefCell<Option<AbortHandle>>,
    pub(super) open: OpenConnection,
    _awaited: Demand,
}

/// A connection that nobody drives yet.
pub(crate) struct Started {
    sender: SendRequest<Bytes>,
    pub(super) driver: Box<Http2Driver>,
    wire: Rc<Wire>,
    opened: Nanos,
    open: OpenConnection,
    /// Windows and farewells are not to wait for the next arrival.
    awaited: Demand,
}

/// What moves a connection on.
pub(super) type Http2Driver = Driver<WireIo, Bytes>;

impl Drop for Http2Connection {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Started {
    /// Sends the preface (RFC 9113, section 3.4), and waits for nothing.
    pub(crate) async fn new(dialled: Dialled, host: &str, context: &ClientContext) -> Result<Self, Failure> {
        let wire = Rc::new(Wire::new(Rc::clone(&context.clock), dialled.opened));
        let (sender, driver) = Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .initial_max_send_streams(BEFORE_SETTINGS)
            .max_header_list_size(MOST_HEAD as u32)
            .enable_push(false)
            .handshake(WireIo::new(dialled.stream, Rc::clone(&wire)))
            .await
            .map_err(|error| Failure::of_exchange(host, &error, FailureKind::Protocol))?;
        Ok(Self {
            sender,
            driver: Box::new(driver),
            wire,
            opened: dialled.opened,
            open: dialled.open,
            awaited: context.reactor.demand(),
        })
    }

    /// The connection, and what has to be driven for it.
    pub(super) fn into_parts(self) -> (Rc<Http2Connection>, Box<Http2Driver>) {
        let connection = Http2Connection {
            sender: self.sender,
            wire: self.wire,
            opened: self.opened,
            idle_since: Cell::new(self.opened),
            is_used: Cell::new(false),
            allowed: Cell::new(None),
            is_over: Cell::new(false),
            settled: Notify::new(),
            is_counted: Cell::new(false),
            task: RefCell::new(None),
            open: self.open,
            _awaited: self.awaited,
        };
        (Rc::new(connection), self.driver)
    }
}

impl Http2Connection {
    /// The streams that the server's SETTINGS allow; `None` before they came.
    pub(crate) fn allowed(&self) -> Option<usize> {
        self.allowed.get()
    }

    /// Returns when its SETTINGS came, or it is over.
    pub(super) async fn settled(&self) {
        while self.allowed.get().is_none() && !self.is_over.get() {
            self.settled.notified().await;
        }
    }

    pub(super) fn is_driven_by(&self, task: AbortHandle) {
        *self.task.borrow_mut() = Some(task);
    }

    /// Looks at what the server allows now; says whether that is news.
    pub(super) fn learn(&self, driver: &Http2Driver) -> bool {
        let now = driver.max_concurrent_send_streams();
        if now == BEFORE_SETTINGS || self.allowed.get() == Some(now) {
            return false;
        }
        self.allowed.set(Some(now));
        self.settled.notify_waiters();
        true
    }

    /// A stream lost its answer because the peer closed the connection; counted once.
    pub(super) fn count_closed(&self, log: &ConnectionLog) {
        if !self.is_counted.replace(true) {
            log.closed();
        }
    }

    /// Nothing drives it any more.
    pub(super) fn ends(&self) {
        self.is_over.set(true);
        self.settled.notify_waiters();
    }
}

/// Whether streams may be opened still: the server has said no farewell, and their numbers are not used up.
pub(super) fn takes_streams(sender: &mut SendRequest<Bytes>, cx: &mut Context<'_>) -> bool {
    // A sender that opened no stream itself waits for none, so that this is ready at once.
    !matches!(sender.poll_ready(cx), Poll::Ready(Err(_)))
}

/// A number of streams that no server's SETTINGS can allow: they allow at most 2^32 - 1, and h2 has its greatest number for those
/// that say nothing of it. As long as it stands, none came.
const BEFORE_SETTINGS: usize = usize::MAX - 1;
const STREAM_WINDOW: u32 = 2 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

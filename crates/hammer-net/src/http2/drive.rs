//! The task of a connection, and what it tells the pool.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::{Rc, Weak};

use bytes::Bytes;
use h2::client::SendRequest;

use super::admission::ConnectionId;
use super::connection::{Http2Connection, Http2Driver, takes_streams};
use super::pool::Http2Pool;
use crate::failure::{FailureKind, kind_of_h2};

/// What a connection's task tells the pool.
pub(super) struct Watch {
    pool: Weak<Http2Pool>,
    id: ConnectionId,
    connection: Weak<Http2Connection>,
}

impl Watch {
    pub(super) fn new(pool: &Rc<Http2Pool>, id: ConnectionId, connection: &Rc<Http2Connection>) -> Self {
        Self { pool: Rc::downgrade(pool), id, connection: Rc::downgrade(connection) }
    }

    fn learn(&self, driver: &Http2Driver) {
        if let (Some(pool), Some(connection)) = (self.pool.upgrade(), self.connection.upgrade())
            && connection.learn(driver)
            && let Some(allowed) = connection.allowed()
        {
            pool.set_allowed(self.id, allowed);
        }
    }

    /// The peer ended the connection; counted once, however many streams it carried.
    fn count_end(&self, ended: &Result<(), h2::Error>) {
        let Some(pool) = self.pool.upgrade() else { return };
        let log = &pool.context.log;
        // Who has a stream of a retired connection alone keeps it.
        let has_streams =
            pool.in_flight(self.id).map_or_else(|| self.connection.upgrade().is_some(), |count| count > 0);
        let error = ended.as_ref().err();
        if error.is_some_and(|error| !error.is_remote() && !error.is_io()) {
            // What the peer sent could not be borne, and it was told so.
            return;
        }
        match error.and_then(kind_of_h2) {
            Some(FailureKind::Reset) => log.reset(),
            // A stream that lost its answer by it counts it.
            _ if has_streams => {}
            _ => log.closed_idle(),
        }
    }

    fn retire(&self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.retire(self.id);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.retire();
        if let Some(connection) = self.connection.upgrade() {
            connection.ends();
        }
    }
}

/// Drives a connection to its end, keeps its stream limit in step with the server's, and has no stream granted on it after a
/// farewell (RFC 9113, section 6.8).
pub(super) async fn drive(mut driver: Box<Http2Driver>, mut sender: SendRequest<Bytes>, watch: Watch) {
    let mut takes = true;
    let ended = poll_fn(|cx| {
        let polled = Pin::new(&mut driver).poll(cx);
        watch.learn(&driver);
        if takes && !takes_streams(&mut sender, cx) {
            takes = false;
            watch.retire();
        }
        polled
    });
    let ended = ended.await;
    watch.count_end(&ended);
}

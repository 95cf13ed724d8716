//! What the clients of one shard note of their connections as they go.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;

use super::peer::{Peer, PeerExchange, Peers};
use super::{ConnectionCounts, ConnectionRecord};
use crate::timing::Nanos;

/// The log of the connections of one service on one thread. Its clones are the same log. A log that nobody takes anything from
/// (the default) is for clients whose figures nobody asks for.
#[derive(Clone, Debug, Default)]
pub struct ConnectionLog {
    shared: Rc<Connections>,
}

/// A connection that is open, until it is dropped: whoever owns the connection owns this with it.
#[derive(Debug)]
#[must_use = "a connection counts as open until this is dropped"]
pub struct OpenConnection {
    connections: Rc<Connections>,
    peer: Rc<Peer>,
    address: SocketAddr,
}

#[derive(Debug, Default)]
struct Connections {
    peers: Peers,
    record: RefCell<ConnectionRecord>,
    open: Cell<u64>,
    /// Of all intervals.
    most_open: Cell<u64>,
}

impl ConnectionLog {
    /// TCP connected to the peer at `address`, which took so long.
    pub fn dialled(&self, address: SocketAddr, took: Nanos) -> OpenConnection {
        let peer = self.shared.peers.at(address);
        peer.opened();
        let connections = Rc::clone(&self.shared);
        let mut record = connections.record.borrow_mut();
        record.counts.dials += 1;
        record.dial.record(took);
        connections.open.set(connections.open.get() + 1);
        if connections.open.get() > connections.most_open.get() {
            connections.most_open.set(connections.open.get());
            record.counts.most_open += 1;
        }
        drop(record);
        OpenConnection { connections, peer, address }
    }

    /// A dial to `peer` made no connection: refused, timed out, or given up because another address had answered first.
    pub fn dial_failed(&self, peer: SocketAddr) {
        self.shared.peers.at(peer).dial_failed();
        self.count(|counts| {
            counts.dials += 1;
            counts.failed_dials += 1;
        });
    }

    /// A TLS handshake was completed, which took so long, from a session of earlier where it was `resumed`.
    pub fn handshaken(&self, took: Nanos, resumed: bool) {
        let mut record = self.shared.record.borrow_mut();
        record.counts.tls_handshakes += 1;
        record.counts.tls_resumed += u64::from(resumed);
        record.tls.record(took);
    }

    /// A TLS handshake was begun and led to nothing: either side refused or ended it, or time was over.
    pub fn handshake_failed(&self) {
        self.count(|counts| counts.failed_handshakes += 1);
    }

    /// A name was looked up, and addresses found, which took so long.
    pub fn looked_up(&self, took: Nanos) {
        let mut record = self.shared.record.borrow_mut();
        record.counts.look_ups += 1;
        record.look_up.record(took);
    }

    /// A name was looked up, and no address found.
    pub fn look_up_failed(&self) {
        self.count(|counts| {
            counts.look_ups += 1;
            counts.failed_look_ups += 1;
        });
    }

    /// An exchange goes over a connection that has carried one before.
    pub fn reused(&self) {
        self.count(|counts| counts.reused += 1);
    }

    /// The first byte of an answer came so long after the first byte of its request was sent.
    pub fn answered_first_byte(&self, took: Nanos) {
        self.shared.record.borrow_mut().first_byte.record(took);
    }

    /// The peer reset a connection.
    pub fn reset(&self) {
        self.count(|counts| counts.resets += 1);
    }

    /// The peer had closed a connection before its first exchange or between two, found before a byte of the next was written.
    pub fn closed_idle(&self) {
        self.count(|counts| counts.closed_idle += 1);
    }

    /// The peer closed a connection before an answer was whole.
    pub fn closed(&self) {
        self.count(|counts| counts.closed += 1);
    }

    /// The peer refused a stream.
    pub fn refused_stream(&self) {
        self.count(|counts| counts.refused_streams += 1);
    }

    /// The bytes of an exchange left this machine a second time.
    pub fn resent(&self) {
        self.count(|counts| counts.resent += 1);
    }

    /// An exchange of which nothing had left goes over another connection.
    pub fn redialled(&self) {
        self.count(|counts| counts.redialled += 1);
    }

    /// The kernel did not say when an answer had arrived.
    pub fn unstamped(&self) {
        self.count(|counts| counts.unstamped += 1);
    }

    /// What was noted since the last call; goes on in `empty`, which must be clear.
    pub(crate) fn swap(&self, empty: &mut ConnectionRecord) {
        std::mem::swap(&mut *self.shared.record.borrow_mut(), empty);
        self.shared.peers.swap(&mut empty.peers, &mut empty.other_peers);
    }

    fn count(&self, count: impl FnOnce(&mut ConnectionCounts)) {
        count(&mut self.shared.record.borrow_mut().counts);
    }
}

impl OpenConnection {
    /// An exchange over it starts.
    pub fn exchange(&self) -> PeerExchange {
        self.peer.exchange()
    }

    /// The peer's address.
    pub fn peer(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.peer.closed();
        self.connections.open.set(self.connections.open.get() - 1);
    }
}

//! What is recorded of each peer of a service, by its address, so that it shows how balancing spreads the load.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::histogram::Distribution;
use crate::timing::Nanos;

/// What is counted of one peer over some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerCounts {
    /// Exchanges that ended on one of its connections, however they ended; what was sent twice counts twice.
    pub requests: u64,
    /// Those of them that got no whole answer: the connection or the stream was lost, or the exchange was cut off.
    pub failures: u64,
    /// Whole answers that say that the peer failed or has too much to do.
    pub error_answers: u64,
    /// TCP connections to it that were asked for, those that failed included.
    pub dials: u64,
    /// Dials that made no connection.
    pub failed_dials: u64,
    /// How far the number of its open connections rose above all it had been.
    pub most_open: u64,
}

/// Everything recorded of one peer over some time. Records add up: over shards and over intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerRecord {
    /// How often what happened.
    pub counts: PeerCounts,
    /// From the first byte of a request sent to the last byte of its answer, of whole answers.
    pub service_time: Distribution,
}

/// One peer of a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServicePeer {
    /// Its address.
    pub peer: SocketAddr,
    /// What became of what was sent to it.
    pub record: PeerRecord,
}

/// A peer as its connections know it.
#[derive(Debug, Default)]
pub(super) struct Peer {
    record: RefCell<PeerRecord>,
    open: Cell<u64>,
    /// Of all intervals.
    most_open: Cell<u64>,
}

/// The peers of a service on one thread.
#[derive(Debug, Default)]
pub(super) struct Peers {
    named: RefCell<Vec<(SocketAddr, Rc<Peer>)>>,
    /// All that came when there were [`MOST_PEERS`].
    others: Rc<Peer>,
}

/// An exchange with a peer, from before its first byte is written. Dropped before it is told how it ended, it failed.
#[derive(Debug)]
#[must_use = "an exchange counts as a failure when this is dropped"]
pub struct PeerExchange(Option<Rc<Peer>>);

impl PeerCounts {
    /// Adds those of another shard, or of a later interval.
    pub fn add(&mut self, more: &Self) {
        self.requests += more.requests;
        self.failures += more.failures;
        self.error_answers += more.error_answers;
        self.dials += more.dials;
        self.failed_dials += more.failed_dials;
        self.most_open += more.most_open;
    }
}

impl PeerRecord {
    /// Adds another record of the same peer.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.service_time.merge(&other.service_time);
    }

    pub(super) fn clear(&mut self) {
        self.counts = PeerCounts::default();
        self.service_time.clear();
    }
}

impl Peers {
    /// The peer at `address`; one that stands for all that are too many.
    pub(super) fn at(&self, address: SocketAddr) -> Rc<Peer> {
        let mut named = self.named.borrow_mut();
        if let Some((_, peer)) = named.iter().find(|(known, _)| *known == address) {
            return Rc::clone(peer);
        }
        if named.len() == MOST_PEERS {
            return Rc::clone(&self.others);
        }
        let peer = Rc::<Peer>::default();
        named.push((address, Rc::clone(&peer)));
        peer
    }

    /// What was recorded since the last call; goes on in `empty` and `others`, which must be clear.
    pub(super) fn swap(&self, empty: &mut Vec<ServicePeer>, others: &mut PeerRecord) {
        for (address, peer) in self.named.borrow().iter() {
            peer.swap(record_of(empty, *address));
        }
        self.others.swap(others);
    }
}

impl Peer {
    pub(super) fn opened(&self) {
        self.open.set(self.open.get() + 1);
        let mut record = self.record.borrow_mut();
        record.counts.dials += 1;
        if self.open.get() > self.most_open.get() {
            self.most_open.set(self.open.get());
            record.counts.most_open += 1;
        }
    }

    pub(super) fn closed(&self) {
        self.open.set(self.open.get() - 1);
    }

    pub(super) fn dial_failed(&self) {
        let counts = &mut self.record.borrow_mut().counts;
        counts.dials += 1;
        counts.failed_dials += 1;
    }

    pub(super) fn exchange(self: &Rc<Self>) -> PeerExchange {
        PeerExchange(Some(Rc::clone(self)))
    }

    fn swap(&self, empty: &mut PeerRecord) {
        std::mem::swap(&mut *self.record.borrow_mut(), empty);
    }
}

impl PeerExchange {
    /// The answer is whole, so long after the first byte of the request was sent; `is_error` where it says that the peer failed or has
    /// too much to do.
    pub fn answered(&mut self, took: Nanos, is_error: bool) {
        if let Some(peer) = self.0.take() {
            let mut record = peer.record.borrow_mut();
            record.counts.requests += 1;
            record.counts.error_answers += u64::from(is_error);
            record.service_time.record(took);
        }
    }

    /// Nothing of it left: it goes over another connection, and is none of this one's.
    pub fn unsent(&mut self) {
        self.0 = None;
    }
}

impl Drop for PeerExchange {
    fn drop(&mut self) {
        if let Some(peer) = self.0.take() {
            let counts = &mut peer.record.borrow_mut().counts;
            counts.requests += 1;
            counts.failures += 1;
        }
    }
}

/// The record of a peer among all of them, which stand in the order of their addresses; made where there is none.
pub(super) fn record_of(all: &mut Vec<ServicePeer>, peer: SocketAddr) -> &mut PeerRecord {
    let place = match all.binary_search_by(|known| known.peer.cmp(&peer)) {
        Ok(place) => place,
        Err(place) => {
            all.insert(place, ServicePeer { peer, record: PeerRecord::default() });
            place
        }
    };
    &mut all[place].record
}

/// Of a service on a shard; what goes to any further one is summed.
pub(super) const MOST_PEERS: usize = 32;

//! What became of a service's connections: how many were dialled, used again and lost, what was sent twice, and how long look-ups,
//! dials, TLS handshakes and first bytes took.

use serde::{Deserialize, Serialize};

use crate::histogram::Distribution;

mod log;
mod peer;
mod wire;

pub use log::{ConnectionLog, OpenConnection};
pub use peer::{PeerCounts, PeerExchange, PeerRecord, ServicePeer};

pub(crate) use wire::services;

/// What is counted of the connections of one service over some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionCounts {
    /// TCP connections that were asked for, those that failed included.
    pub dials: u64,
    /// Dials that made no connection: refused, timed out, or given up because another address had answered first.
    pub failed_dials: u64,
    /// How far the number of open connections rose above all it had been; over the whole run, the most that were open at once,
    /// added up over shards.
    pub most_open: u64,
    /// Exchanges on a connection that had carried one before.
    pub reused: u64,
    /// Connections that the peer reset.
    pub resets: u64,
    /// Connections that the peer had closed before the first exchange or between two, as was found before a byte of the next was written.
    pub closed_idle: u64,
    /// Connections that the peer closed before an answer was whole.
    pub closed: u64,
    /// Streams that the peer refused (RFC 9113 section 8.7).
    pub refused_streams: u64,
    /// Exchanges whose bytes left this machine twice.
    pub resent: u64,
    /// Exchanges that went over to another connection before anything of them had left.
    pub redialled: u64,
    /// TLS handshakes that were completed.
    pub tls_handshakes: u64,
    /// TLS handshakes that resumed an earlier session (RFC 8446 section 2.2).
    pub tls_resumed: u64,
    /// TLS handshakes that were begun and led to nothing: either side refused or ended them, or time was over.
    pub failed_handshakes: u64,
    /// Look-ups of names, those that failed included.
    pub look_ups: u64,
    /// Look-ups that found no address.
    pub failed_look_ups: u64,
    /// Answers whose arrival the kernel did not stamp: they count as having arrived when they were read.
    pub unstamped: u64,
}

/// Everything recorded of the connections of one service over some time. Records add up: over shards and over intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct ConnectionRecord {
    /// How often what happened.
    pub counts: ConnectionCounts,
    /// How long look-ups took that found an address.
    pub look_up: Distribution,
    /// How long TCP took to connect.
    pub dial: Distribution,
    /// How long TLS handshakes took.
    pub tls: Distribution,
    /// From the first byte of a request sent to the first byte of its answer.
    pub first_byte: Distribution,
    /// What went to each peer, in the order of their addresses.
    pub peers: Vec<ServicePeer>,
    /// What went to peers beyond the greatest number that a shard tells apart, summed.
    pub other_peers: PeerRecord,
}

/// The connections of one service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceConnections {
    /// The service's name.
    pub service: String,
    /// What became of its connections.
    pub record: ConnectionRecord,
}

impl ConnectionCounts {
    /// Adds those of another shard, or of a later interval.
    pub fn add(&mut self, more: &Self) {
        let mut more = *more;
        for (ours, more) in self.each().into_iter().zip(more.each()) {
            *ours += *more;
        }
    }

    /// Connections that were established.
    pub fn connected(&self) -> u64 {
        self.dials.saturating_sub(self.failed_dials)
    }

    fn each(&mut self) -> [&mut u64; 16] {
        [
            &mut self.dials,
            &mut self.failed_dials,
            &mut self.most_open,
            &mut self.reused,
            &mut self.resets,
            &mut self.closed_idle,
            &mut self.closed,
            &mut self.refused_streams,
            &mut self.resent,
            &mut self.redialled,
            &mut self.tls_handshakes,
            &mut self.tls_resumed,
            &mut self.failed_handshakes,
            &mut self.look_ups,
            &mut self.failed_look_ups,
            &mut self.unstamped,
        ]
    }
}

impl ConnectionRecord {
    /// Adds another record of the same service.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.look_up.merge(&other.look_up);
        self.dial.merge(&other.dial);
        self.tls.merge(&other.tls);
        self.first_byte.merge(&other.first_byte);
        for theirs in &other.peers {
            peer::record_of(&mut self.peers, theirs.peer).merge(&theirs.record);
        }
        self.other_peers.merge(&other.other_peers);
    }

    /// Forgets everything and keeps the allocations.
    pub fn clear(&mut self) {
        self.counts = ConnectionCounts::default();
        let durations = [&mut self.look_up, &mut self.dial, &mut self.tls, &mut self.first_byte];
        durations.into_iter().for_each(Distribution::clear);
        self.peers.iter_mut().for_each(|of_peer| of_peer.record.clear());
        self.other_peers.clear();
    }

    fn durations(&self) -> [&Distribution; 4] {
        [&self.look_up, &self.dial, &self.tls, &self.first_byte]
    }
}

impl ServiceConnections {
    /// Nothing yet of a service.
    fn of(service: &str) -> Self {
        Self { service: service.to_owned(), record: ConnectionRecord::default() }
    }
}

/// The record of a service among all of them, which stand in the order of their names; made where there is none.
pub(crate) fn record_of<'a>(all: &'a mut Vec<ServiceConnections>, service: &str) -> &'a mut ConnectionRecord {
    let place = match all.binary_search_by(|known| known.service.as_str().cmp(service)) {
        Ok(place) => place,
        Err(place) => {
            all.insert(place, ServiceConnections::of(service));
            place
        }
    };
    &mut all[place].record
}

#[cfg(test)]
mod tests;

//! When a peer of a service answered for the first time, stopped to, and did again: from what was recorded of it in each interval.

use std::net::SocketAddr;

use crate::connection::{PeerCounts, ServiceConnections};
use crate::event::Beside;
use crate::timing::Nanos;

/// What is known of the peers of all services so far. Instants are ends of intervals.
#[derive(Debug, Default)]
pub struct PeerWatch {
    services: Vec<WatchedService>,
}

#[derive(Debug)]
struct WatchedService {
    service: String,
    /// The first answer of any peer.
    first: Nanos,
    peers: Vec<WatchedPeer>,
}

/// A peer that has answered.
#[derive(Debug)]
struct WatchedPeer {
    peer: SocketAddr,
    /// Its last answer.
    last: Nanos,
    /// How long the service was asked without an answer of this one, what was asked of all its peers meanwhile, and what of this one.
    silent: Silence,
    is_silent: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Silence {
    lasted: Nanos,
    asked: u64,
    failed: u64,
}

/// What was asked of a peer in an interval.
struct Asked {
    answers: u64,
    /// Exchanges and dials.
    asked: u64,
    failed: u64,
}

impl Asked {
    const fn of(counts: &PeerCounts) -> Self {
        let answers = counts.requests - counts.failures;
        let asked = counts.requests + counts.failed_dials;
        Self { answers, asked, failed: counts.failures + counts.failed_dials }
    }
}

impl PeerWatch {
    /// Looks at what was recorded in the interval that ended at `at` and lasted `span`; what changed.
    pub fn look(&mut self, connections: &[ServiceConnections], at: Nanos, span: Nanos) -> Vec<Beside> {
        let mut changes = Vec::new();
        for of_service in connections {
            let asked = of_service.record.peers.iter().map(|of| (of.peer, Asked::of(&of.record.counts)));
            let asked: Vec<(SocketAddr, Asked)> = asked.collect();
            if asked.iter().all(|(_, asked)| asked.asked == 0) {
                continue;
            }
            let watched = self.services.iter_mut().find(|known| known.service == of_service.service);
            match watched {
                Some(watched) => watched.look(&asked, (at, span), &mut changes),
                None if asked.iter().any(|(_, asked)| asked.answers > 0) => {
                    let service = of_service.service.clone();
                    let mut watched = WatchedService { service, first: at, peers: Vec::new() };
                    watched.look(&asked, (at, span), &mut changes);
                    self.services.push(watched);
                }
                None => {}
            }
        }
        changes
    }
}

impl WatchedService {
    fn look(&mut self, asked: &[(SocketAddr, Asked)], (at, span): (Nanos, Nanos), changes: &mut Vec<Beside>) {
        let all = asked.iter().map(|(_, asked)| asked.asked).sum();
        let patience = LEAST_ASKED * self.peers.len().max(1) as u64;
        for (peer, asked) in asked {
            let service = || self.service.clone();
            let Some(known) = self.peers.iter_mut().find(|known| known.peer == *peer) else {
                if asked.answers > 0 {
                    self.peers.push(WatchedPeer::new(*peer, at));
                    // Those that are there from the start do not join, though one is asked a little later than another.
                    if at.since(self.first) >= STARTING {
                        changes.push(Beside::PeerJoined { service: self.service.clone(), peer: *peer });
                    }
                }
                continue;
            };
            if asked.answers > 0 {
                let last = std::mem::replace(known, WatchedPeer::new(*peer, at));
                if last.is_silent {
                    changes.push(Beside::PeerBack { service: service(), peer: *peer, last: last.last });
                }
                continue;
            }
            known.silent.add(span, all, asked.failed);
            let Silence { lasted, asked, failed } = known.silent;
            if lasted >= LONG && asked >= patience && !std::mem::replace(&mut known.is_silent, true) {
                let (peer, last) = (*peer, known.last);
                changes.push(Beside::PeerSilent { service: service(), peer, last, failed });
            }
        }
    }
}

impl WatchedPeer {
    fn new(peer: SocketAddr, last: Nanos) -> Self {
        Self { peer, last, silent: Silence::default(), is_silent: false }
    }
}

impl Silence {
    fn add(&mut self, span: Nanos, asked: u64, failed: u64) {
        self.lasted += span;
        self.asked += asked;
        self.failed += failed;
    }
}

/// After the first answer of a service.
const STARTING: Nanos = Nanos::from_secs(1);
const LONG: Nanos = Nanos::from_secs(5);
/// For each peer of its service: of so many none goes to one of several by chance once in 500 millions of times.
const LEAST_ASKED: u64 = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::{ConnectionRecord, PeerRecord, ServicePeer};

    fn peer(last: u8) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, last], 8_080))
    }

    /// What changed in seconds in each of which so many answers came from each of three peers, or so many failed.
    fn changes(seconds: &[[i64; 3]]) -> Vec<(u64, Beside)> {
        let mut watch = PeerWatch::default();
        let mut changes = Vec::new();
        for (second, peers) in seconds.iter().enumerate() {
            let at = Nanos::from_secs(second as u64 + 1);
            let of_peer = |(place, count): (usize, &i64)| {
                let failures = if *count < 0 { count.unsigned_abs() } else { 0 };
                let counts = PeerCounts { requests: count.unsigned_abs(), failures, ..PeerCounts::default() };
                let record = PeerRecord { counts, ..PeerRecord::default() };
                ServicePeer { peer: peer(place as u8 + 1), record }
            };
            let peers = peers.iter().enumerate().map(of_peer).collect();
            let record = ConnectionRecord { peers, ..ConnectionRecord::default() };
            let connections = [ServiceConnections { service: "url".to_owned(), record }];
            let found = watch.look(&connections, at, Nanos::from_secs(1));
            changes.extend(found.into_iter().map(|change| (second as u64 + 1, change)));
        }
        changes
    }

    fn seconds(pieces: &[(usize, [i64; 3])]) -> Vec<[i64; 3]> {
        pieces.iter().flat_map(|(seconds, peers)| vec![*peers; *seconds]).collect()
    }

    fn service() -> String {
        "url".to_owned()
    }

    #[test]
    fn a_peer_that_answers_later_than_the_others_joins_and_those_of_the_start_do_not() {
        let joined = |place| Beside::PeerJoined { service: service(), peer: peer(place) };
        let course = seconds(&[(10, [9, 9, 0]), (5, [6, 6, 6])]);
        assert_eq!(changes(&course), [(11, joined(3))]);
        assert_eq!(changes(&seconds(&[(10, [9, 9, 9])])), []);
        // What is only tried does not join.
        assert_eq!(changes(&seconds(&[(10, [9, 0, 0]), (3, [9, -3, 0]), (2, [9, 3, 0])])), [(14, joined(2))]);
    }

    #[test]
    fn a_peer_that_answers_no_more_is_told_with_what_failed_and_so_is_its_return() {
        let silent = |failed| Beside::PeerSilent {
            service: service(),
            peer: peer(2),
            last: Nanos::from_secs(10),
            failed,
        };
        let back = Beside::PeerBack { service: service(), peer: peer(2), last: Nanos::from_secs(10) };
        // It is looked up no more.
        let course = seconds(&[(10, [50, 50, 0]), (20, [100, 0, 0]), (5, [50, 50, 0])]);
        assert_eq!(changes(&course), [(15, silent(0)), (31, back)]);
        // It answers nothing that it is asked.
        let course = seconds(&[(10, [50, 50, 0]), (20, [90, -10, 0])]);
        assert_eq!(changes(&course), [(15, silent(50))]);
    }

    #[test]
    fn who_is_not_asked_is_not_silent() {
        // Nobody is asked for long, then one in seven seconds by chance.
        let course = seconds(&[(3, [5, 5, 0]), (60, [0, 0, 0]), (7, [1, 0, 0]), (3, [0, 1, 0])]);
        assert_eq!(changes(&course), []);
        let all_fail = seconds(&[(3, [50, 0, 0]), (10, [-50, 0, 0])]);
        let last = Nanos::from_secs(3);
        let silent = Beside::PeerSilent { service: service(), peer: peer(1), last, failed: 250 };
        assert_eq!(changes(&all_fail), [(8, silent)]);
    }
}

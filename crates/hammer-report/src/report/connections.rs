//! What became of the connections to each service.

use hammer_measure::{ConnectionRecord, PeerRecord, ServiceConnections};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::Durations;

/// The connections to one service over the whole run: what was dialled before the start and in warm-up is in these figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// The service's name in the plan; `url` or `log` where it has none.
    pub service: String,
    /// TCP connections that were asked for, those that failed included.
    pub dials: u64,
    /// Dials that made no connection: refused, timed out, or given up because another address had answered first.
    pub failed_dials: u64,
    /// The most connections that were open at once, added up over shards: what was ever needed.
    pub most_open: u64,
    /// Exchanges on a connection that had carried one before.
    pub reused: u64,
    /// Connections that the peer reset.
    pub resets: u64,
    /// Connections that the peer had closed before the first exchange or between two, as was found before a byte of the next was written.
    pub closed_idle: u64,
    /// Connections that the peer closed before an answer was whole.
    pub closed: u64,
    /// Streams that the peer refused (HTTP/2).
    pub refused_streams: u64,
    /// Exchanges whose bytes left this machine twice.
    pub resent: u64,
    /// Exchanges that went over to another connection before anything of them had left.
    pub redialled: u64,
    /// TLS handshakes that were completed.
    pub tls_handshakes: u64,
    /// TLS handshakes that resumed an earlier session.
    pub tls_resumed: u64,
    /// TLS handshakes that were begun and led to nothing: either side refused or ended them, or time was over.
    #[serde(default)]
    pub failed_handshakes: u64,
    /// Look-ups of names, those that failed included.
    pub look_ups: u64,
    /// Look-ups that found no address.
    pub failed_look_ups: u64,
    /// Answers whose arrival the kernel did not stamp: they count as having arrived when they were read.
    pub unstamped: u64,
    /// How long look-ups took that found an address; `null` where there was none.
    pub look_up: Option<Durations>,
    /// How long TCP took to connect.
    pub dial: Option<Durations>,
    /// How long TLS handshakes took.
    pub tls: Option<Durations>,
    /// From the first byte of a request sent to the first byte of its answer.
    pub first_byte: Option<Durations>,
    /// What went to each peer, in the order of their addresses.
    #[serde(default)]
    pub peers: Vec<PeerFigures>,
}

impl Connections {
    /// Connections that were established.
    pub fn connected(&self) -> u64 {
        self.dials.saturating_sub(self.failed_dials)
    }

    /// Answers of which a byte came.
    pub fn answers(&self) -> u64 {
        self.first_byte.as_ref().map_or(0, |durations| durations.count)
    }

    /// Whether anything became of them but being dialled once and used until the end.
    pub fn are_amiss(&self) -> bool {
        let lost = [self.resets, self.closed_idle, self.closed, self.refused_streams];
        let repeated = [self.resent, self.redialled];
        let failed = [self.failed_dials, self.failed_handshakes, self.failed_look_ups, self.unstamped];
        let mut amiss = lost.into_iter().chain(repeated).chain(failed);
        amiss.any(|count| count > 0) || self.connected() > self.most_open
    }

    /// The durations that were recorded, by name.
    pub fn durations(&self) -> impl Iterator<Item = (&'static str, &Durations)> {
        let named = [
            ("look_up", &self.look_up),
            ("dial", &self.dial),
            ("tls", &self.tls),
            ("first_byte", &self.first_byte),
        ];
        named.into_iter().filter_map(|(name, durations)| Some((name, durations.as_ref()?)))
    }
}

impl From<&ServiceConnections> for Connections {
    fn from(of_service: &ServiceConnections) -> Self {
        let (record, counts) = (&of_service.record, of_service.record.counts);
        Self {
            service: of_service.service.clone(),
            dials: counts.dials,
            failed_dials: counts.failed_dials,
            most_open: counts.most_open,
            reused: counts.reused,
            resets: counts.resets,
            closed_idle: counts.closed_idle,
            closed: counts.closed,
            refused_streams: counts.refused_streams,
            resent: counts.resent,
            redialled: counts.redialled,
            tls_handshakes: counts.tls_handshakes,
            tls_resumed: counts.tls_resumed,
            failed_handshakes: counts.failed_handshakes,
            look_ups: counts.look_ups,
            failed_look_ups: counts.failed_look_ups,
            unstamped: counts.unstamped,
            look_up: Durations::of(&record.look_up),
            dial: Durations::of(&record.dial),
            tls: Durations::of(&record.tls),
            first_byte: Durations::of(&record.first_byte),
            peers: PeerFigures::all(record),
        }
    }
}

/// What went to one peer of a service over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerFigures {
    /// Its address and port; `null` for peers beyond the 32 that a shard tells apart, which are summed.
    pub peer: Option<String>,
    /// Exchanges that ended on one of its connections, however they ended; what was sent twice counts twice.
    pub requests: u64,
    /// Those of them that got no whole answer: the connection or the stream was lost, or the exchange was cut off.
    pub failures: u64,
    /// Whole answers that say that the peer failed or has too much to do: HTTP 429 and 5xx, or such a status of gRPC.
    pub error_answers: u64,
    /// TCP connections to it that were asked for, those that failed included.
    pub dials: u64,
    /// Dials to it that made no connection.
    pub failed_dials: u64,
    /// The most connections to it that were open at once, added up over shards.
    pub most_open: u64,
    /// From the first byte of a request sent to the last byte of its answer, of whole answers; `null` where there was none.
    pub service_time: Option<Durations>,
}

impl PeerFigures {
    fn all(record: &ConnectionRecord) -> Vec<Self> {
        let named = record.peers.iter().map(|of| Self::of(Some(of.peer.to_string()), &of.record));
        let others = Self::of(None, &record.other_peers);
        let others = (record.other_peers != PeerRecord::default()).then_some(others);
        named.chain(others).collect()
    }

    fn of(peer: Option<String>, record: &PeerRecord) -> Self {
        let counts = record.counts;
        Self {
            peer,
            requests: counts.requests,
            failures: counts.failures,
            error_answers: counts.error_answers,
            dials: counts.dials,
            failed_dials: counts.failed_dials,
            most_open: counts.most_open,
            service_time: Durations::of(&record.service_time),
        }
    }

    /// Whole answers.
    pub fn answers(&self) -> u64 {
        self.service_time.as_ref().map_or(0, |durations| durations.count)
    }
}

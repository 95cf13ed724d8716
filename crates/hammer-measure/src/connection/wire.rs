//! Records of connections as they travel: what is read is what a log could have noted, or an error.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::peer::PeerRecord;
use super::{ConnectionRecord, ServiceConnections};
use crate::histogram::{Distribution, MOST_COUNTED};

impl Serialize for ConnectionRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived one, which is no trait's.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for ConnectionRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let record = Self::deserialize(deserializer)?;
        record.contradiction().map_or(Ok(record), |found| Err(D::Error::custom(found)))
    }
}

/// The connections of all services, in the order of their names, which hold no more memory than a run's own would.
pub(crate) fn services<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ServiceConnections>, D::Error> {
    deserializer.deserialize_seq(ServicesVisitor)
}

struct ServicesVisitor;

impl<'de> Visitor<'de> for ServicesVisitor {
    type Value = Vec<ServiceConnections>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connections of services")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let (mut services, mut bytes) = (Vec::<ServiceConnections>::new(), 0);
        while let Some(next) = seq.next_element::<ServiceConnections>()? {
            bytes += next.record.bytes();
            if bytes > MOST_BYTES {
                return Err(A::Error::custom("the histograms of its connections hold more than 64 MiB"));
            }
            if services.last().is_some_and(|last| last.service >= next.service) {
                return Err(A::Error::custom("its services are not in the order of their names"));
            }
            services.push(next);
        }
        Ok(services)
    }
}

impl ConnectionRecord {
    /// What of the record no log could have noted beside the rest of it; `None` where all of it is one story.
    fn contradiction(&self) -> Option<&'static str> {
        let mut counts = self.counts;
        if counts.each().into_iter().any(|count| *count > MOST_COUNTED) {
            return Some("it counts more connections than any run has");
        }
        if self.dial.count() + counts.failed_dials != counts.dials {
            return Some("its dials are not those that connected and those that failed");
        }
        if self.look_up.count() + counts.failed_look_ups != counts.look_ups {
            return Some("its look-ups are not those that found an address and those that failed");
        }
        if self.tls.count() != counts.tls_handshakes || counts.tls_resumed > counts.tls_handshakes {
            return Some("it has more or fewer times of TLS handshakes than handshakes, or resumed more");
        }
        let is_endless = |took: &&Distribution| took.infinite() > 0;
        if self.durations().iter().any(is_endless) {
            return Some("something that ended took for ever");
        }
        if !self.peers.is_sorted_by(|one, next| one.peer < next.peer) {
            return Some("its peers are not in the order of their addresses");
        }
        self.of_peers().find_map(PeerRecord::contradiction).or_else(|| self.dials_of_peers())
    }

    /// Each dial was to one peer, and nothing is open that is no peer's.
    fn dials_of_peers(&self) -> Option<&'static str> {
        let sum = |count: fn(&PeerRecord) -> u64| self.of_peers().map(count).sum::<u64>();
        let dials = (sum(|peer| peer.counts.dials), sum(|peer| peer.counts.failed_dials));
        (dials != (self.counts.dials, self.counts.failed_dials))
            .then_some("the dials of its peers are not its own")
    }

    fn of_peers(&self) -> impl Iterator<Item = &PeerRecord> {
        self.peers.iter().map(|of_peer| &of_peer.record).chain([&self.other_peers])
    }

    /// Bytes of memory.
    fn bytes(&self) -> usize {
        let of_peers = self.of_peers().map(|peer| size_of::<PeerRecord>() + peer.service_time.bytes());
        let durations = self.durations().map(Distribution::bytes);
        size_of::<Self>() + durations.iter().sum::<usize>() + of_peers.sum::<usize>()
    }
}

impl PeerRecord {
    fn contradiction(&self) -> Option<&'static str> {
        let counts = self.counts;
        let all = [
            counts.requests,
            counts.failures,
            counts.error_answers,
            counts.dials,
            counts.failed_dials,
            counts.most_open,
        ];
        if all.iter().any(|count| *count > MOST_COUNTED) {
            return Some("it counts more of a peer than any run has");
        }
        let answers = self.service_time.count();
        if self.service_time.infinite() > 0 || answers + counts.failures != counts.requests {
            return Some("the requests to a peer are not those that were answered and those that failed");
        }
        let is_less = counts.error_answers <= answers && counts.failed_dials <= counts.dials;
        (!is_less).then_some("a peer has more errors than answers, or more failed dials than dials")
    }
}

/// Of all services of an interval together.
const MOST_BYTES: usize = 64 << 20;

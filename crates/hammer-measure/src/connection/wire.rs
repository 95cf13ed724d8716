//! Records of connections as they travel: what is read is what a log could have noted, or an error.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
        self.durations().iter().any(is_endless).then_some("something that ended took for ever")
    }

    /// Bytes of memory.
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.durations().map(Distribution::bytes).iter().sum::<usize>()
    }
}

/// Of all services of an interval together.
const MOST_BYTES: usize = 64 << 20;

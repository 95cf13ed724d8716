//! Operations told by the lengths of their parts, and what became of them, by hand and at random.

use proptest::prelude::*;

use crate::histogram::Distribution;
use crate::timing::{Nanos, Timing};

/// The parts of a response time, in the order in which they follow each other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) lag: Nanos,
    pub(crate) backlog: Nanos,
    pub(crate) connection: Nanos,
    pub(crate) service: Nanos,
}

impl Parts {
    /// The instants of an operation with these parts.
    pub(crate) fn timing(self, intended: Nanos) -> Timing {
        let released = intended + self.lag;
        let started = released + self.backlog;
        let sent = started + self.connection;
        Timing::new(intended, released).started(started).finished(sent, sent + self.service)
    }

    /// Their sum.
    pub(crate) fn sum(self) -> Nanos {
        self.lag + self.backlog + self.connection + self.service
    }
}

/// A distribution of these nanoseconds.
pub(crate) fn of_nanos(nanos: impl IntoIterator<Item = u64>) -> Distribution {
    let mut distribution = Distribution::default();
    nanos.into_iter().for_each(|nanos| distribution.record(Nanos(nanos)));
    distribution
}

/// Durations from nothing to minutes, each power of ten as likely as the next.
pub(crate) fn any_nanos() -> impl Strategy<Value = Nanos> {
    (0..12u32, 0..10u64, 0..1_000_000u64)
        .prop_map(|(power, digit, rest)| Nanos(10u64.pow(power) * digit + rest % 10u64.pow(power)))
}

/// Parts of up to 10 ms: a histogram of longer ones takes longer to walk.
pub(crate) fn any_parts() -> impl Strategy<Value = Parts> {
    prop::array::uniform4((0..10_000_000u64).prop_map(Nanos))
        .prop_map(|[lag, backlog, connection, service]| Parts { lag, backlog, connection, service })
}

//! Operations told by the lengths of their parts, and what became of them, by hand and at random.

use proptest::prelude::*;

use crate::histogram::Distribution;
use crate::timing::Nanos;

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

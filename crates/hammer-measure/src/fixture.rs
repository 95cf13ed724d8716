//! Operations told by the lengths of their parts, and what became of them, by hand and at random.

use crate::histogram::Distribution;
use crate::timing::Nanos;

/// A distribution of these nanoseconds.
pub(crate) fn of_nanos(nanos: impl IntoIterator<Item = u64>) -> Distribution {
    let mut distribution = Distribution::default();
    nanos.into_iter().for_each(|nanos| distribution.record(Nanos(nanos)));
    distribution
}

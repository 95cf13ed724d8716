//! Medians over runs, whose percentiles have no average.

use std::cmp::Ordering;

use crate::report::Nanoseconds;

/// The middle one, or the lesser of the two in the middle; 0 of none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// The same of durations, of which what never ended is longer than everything; `None` of none.
pub(super) fn median_length(mut values: Vec<Nanoseconds>) -> Option<Nanoseconds> {
    values.sort_by(by_length);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

fn by_length(one: &Nanoseconds, other: &Nanoseconds) -> Ordering {
    let key = |figure: &Nanoseconds| match figure {
        Nanoseconds::At(nanos) => (false, *nanos),
        Nanoseconds::Beyond { beyond_ns } => (true, *beyond_ns),
    };
    key(one).cmp(&key(other))
}

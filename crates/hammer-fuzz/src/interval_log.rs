//! Lines of HdrHistogram's interval logs, and the histograms in them.

use hammer_measure::Distribution;
use hammer_measure::interval_log::LogLine;

/// A histogram that is believed is the same when it is written and read again, and has no more than its summary says.
pub(crate) fn line(data: &[u8]) -> bool {
    let Some(LogLine::Interval(interval)) = LogLine::read(data) else { return false };
    assert!(data.ends_with(b"\n"), "what is cut off is no line");
    let Ok(times) = Distribution::from_payload(interval.payload, 0) else { return false };
    let again =
        times.payload().map(|payload| Distribution::from_payload(&payload, 0).expect("what was written"));
    assert_eq!(again.unwrap_or_default(), times);
    assert_eq!(times.summary().map_or(0, |summary| summary.count), times.count());
    true
}

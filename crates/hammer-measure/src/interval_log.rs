//! Lines of HdrHistogram's interval logs (`.hlog`), as the library's own parser reads them.

use std::time::Duration;

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use crate::timing::Nanos;

/// What a line of an interval log says.
#[derive(Clone, Debug, PartialEq)]
pub enum LogLine<'a> {
    /// When what was measured started, since the Unix epoch.
    StartTime(Nanos),
    /// What the instants of intervals are since, itself since the Unix epoch.
    BaseTime(Nanos),
    /// The durations of an interval.
    Interval(LoggedInterval<'a>),
    /// A comment, or the names of the columns.
    Comment,
}

/// The durations of an interval, whose histogram is not read yet.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedInterval<'a> {
    /// Whose they are.
    pub tag: Option<&'a str>,
    /// Its start, since the log's base time.
    pub start: Nanos,
    /// Its length.
    pub span: Nanos,
    /// The longest, in the unit that the writer of the log has chosen.
    pub longest: f64,
    /// Base64 of an HDR V2 payload: see [`Distribution::from_payload`](crate::Distribution::from_payload).
    pub payload: &'a str,
}

impl<'a> LogLine<'a> {
    /// Reads a line with the line feed that ends it; none where it is no line of a log, or has an instant beyond what nanoseconds hold.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        let mut entries = IntervalLogIterator::new(line);
        // Nothing is told of a comment.
        let Some(entry) = entries.next() else { return (!line.is_empty()).then_some(Self::Comment) };
        let read = match entry.ok()? {
            LogEntry::StartTime(at) => Self::StartTime(nanos(at)?),
            LogEntry::BaseTime(at) => Self::BaseTime(nanos(at)?),
            LogEntry::Interval(interval) => Self::Interval(LoggedInterval {
                tag: interval.tag().map(|tag| tag.as_str()),
                start: nanos(interval.start_timestamp())?,
                span: nanos(interval.duration())?,
                longest: interval.max(),
                payload: interval.encoded_histogram(),
            }),
        };
        entries.next().is_none().then_some(read)
    }
}

fn nanos(at: Duration) -> Option<Nanos> {
    u64::try_from(at.as_nanos()).ok().map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_it_says_and_nothing_where_it_is_damaged() {
        let at = Nanos(1_790_000_000_123_000_000);
        let start = "#[StartTime: 1790000000.123 (seconds since epoch), 2026-09-21T14:13:20.123Z]\n";
        assert_eq!(LogLine::read(start.as_bytes()), Some(LogLine::StartTime(at)));
        let base = start.replace("Start", "Base");
        assert_eq!(LogLine::read(base.as_bytes()), Some(LogLine::BaseTime(at)));
        let columns =
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
        for comment in ["#\n", "#[Histogram log format version 1.3]\n", columns] {
            assert_eq!(LogLine::read(comment.as_bytes()), Some(LogLine::Comment), "{comment}");
        }
        let interval = "Tag=web/get,12.500,1.000,30.015,SElTVA==\n";
        let read = LoggedInterval {
            tag: Some("web/get"),
            start: Nanos::from_millis(12_500),
            span: Nanos::from_secs(1),
            longest: 30.015,
            payload: "SElTVA==",
        };
        assert_eq!(LogLine::read(interval.as_bytes()), Some(LogLine::Interval(read.clone())));
        assert_eq!(
            LogLine::read(b"12.500,1.000,30.015,SElTVA==\r\n"),
            Some(LogLine::Interval(LoggedInterval { tag: None, ..read }))
        );
        let beyond = format!("Tag=web/get,{}.000,1.000,30.015,SElTVA==\n", u64::MAX);
        let two = format!("{interval}{interval}");
        let cut = &interval[..interval.len() - 1];
        for damaged in ["", "\n", "Tag=web/get\n", "web/get,1.0,1.0,1.0,SElTVA==\n", &beyond, &two, cut] {
            assert_eq!(LogLine::read(damaged.as_bytes()), None, "{damaged:?}");
        }
    }
}

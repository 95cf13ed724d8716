//! HdrHistogram's interval logs (`.hlog`, version 1.3): a histogram of response times for each interval and series, which its own tools read.

use std::io::{self, Write};
use std::sync::Arc;

use hammer_measure::histogram::Distribution;
use hammer_measure::snapshot::{RunInfo, Snapshot};
use hammer_measure::{Nanos, Reporter, RunEvent};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::builder::rfc3339;
use crate::report::Report;

pub mod logged_times;
mod tag;

use tag::tag;

/// Writes a line for each interval and series in which something ended; each interval's lines are flushed together.
///
/// Values are nanoseconds; the maximum of a line is in milliseconds, as those tools have it. What never ended has no duration, and is in
/// no line.
pub struct HlogWriter {
    out: Box<dyn Write + Send>,
    info: Option<Arc<RunInfo>>,
    /// What kept it from being written; nothing is written behind that.
    error: Option<io::Error>,
}

impl HlogWriter {
    /// To that file.
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out, info: None, error: None }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// What kept the log from being written.
    pub fn finish(mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    fn start(&mut self, info: &Arc<RunInfo>) -> io::Result<()> {
        self.out.write_all(head(info.epoch_unix_ms).as_bytes())?;
        self.info = Some(Arc::clone(info));
        Ok(())
    }

    fn interval(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        let Some(info) = &self.info else { return Ok(()) };
        for (series, responses) in info.series.iter().zip(&snapshot.responses) {
            if let Some(line) = line(&series.path(), (snapshot.at, snapshot.span), &responses.times) {
                self.out.write_all(line.as_bytes())?;
            }
        }
        self.out.flush()
    }
}

impl Reporter for HlogWriter {
    fn event(&mut self, event: &RunEvent) {
        let written = match event {
            _ if self.error.is_some() => return,
            RunEvent::Started(info) => self.start(info),
            RunEvent::Interval(snapshot) => self.interval(snapshot),
            _ => return,
        };
        self.error = written.err();
    }
}

/// The log of a run that has ended, by the stretches that its report has: of a long run neighbours are added up.
///
/// None where the report does not say when it was.
pub fn document(report: &Report) -> Option<String> {
    let epoch = OffsetDateTime::parse(&report.run.epoch, &Rfc3339).ok()?;
    let mut text = head(u64::try_from(epoch.unix_timestamp_nanos() / 1_000_000).ok()?);
    let longest = report.response_times.iter().map(|series| series.stretches.len()).max().unwrap_or_default();
    // In the order of time.
    for place in 0..longest {
        for series in &report.response_times {
            let Some(stretch) = series.stretches.get(place) else { continue };
            let Some(hdr) = &stretch.hdr else { continue };
            // A payload that cannot be read has no line, and no maximum.
            let Ok(times) = Distribution::from_payload(hdr, 0) else { continue };
            let span = (Nanos(stretch.at_ns), Nanos(stretch.span_ns));
            text.extend(line(&series.path, span, &times));
        }
    }
    Some(text)
}

fn head(epoch_unix_ms: u64) -> String {
    let seconds = format!("{}.{:03}", epoch_unix_ms / 1_000, epoch_unix_ms % 1_000);
    format!(
        "#[hammer: response times, from the instant that the plan named, in nanoseconds]\n\
         #[Histogram log format version 1.3]\n\
         #[StartTime: {seconds} (seconds since epoch), {}]\n\
         #[BaseTime: {seconds} (seconds since epoch)]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        rfc3339(epoch_unix_ms)
    )
}

/// A line, whose instants are seconds since the base time; none where nothing ended.
fn line(path: &str, (at, span): (Nanos, Nanos), times: &Distribution) -> Option<String> {
    if times.count() <= times.infinite() {
        return None;
    }
    let payload = times.payload()?;
    Some(format!(
        "Tag={},{:.3},{:.3},{:.3},{payload}\n",
        tag(path),
        at.since(span).as_secs_f64(),
        span.as_secs_f64(),
        times.longest().0 as f64 / 1e6,
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use hammer_measure::Phase;

    use super::*;
    use crate::fixture::{Story, operation, report_of};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_interval_of_a_series_in_which_something_ended_has_a_line_with_its_histogram() {
        let mut story = Story::new(vec![operation("a", "x"), operation("a", "y,z")]);
        story.accept(0, Phase::Measurement, 10, Nanos::from_millis(3));
        story.interval(Phase::Measurement);
        story.accept(0, Phase::Measurement, 4, Nanos::from_millis(2));
        story.accept(1, Phase::Measurement, 1, Nanos::from_millis(5));
        story.interval(Phase::Measurement);
        let events = story.finish(|_| {});
        let kept = Shared::default();
        let mut log = HlogWriter::new(Box::new(kept.clone()));
        events.iter().for_each(|event| log.event(event));
        log.finish().unwrap();
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.starts_with("Tag="))
            .map(|line| line.split(',').collect())
            .collect();
        let of = |line: &[&str]| {
            let times = Distribution::from_payload(line[4], 0).unwrap();
            (line[0].to_owned(), line[1].to_owned(), line[2].to_owned(), times.count())
        };
        let own =
            |tag: &str, from: &str, count| (format!("Tag={tag}"), from.to_owned(), "1.000".to_owned(), count);
        let found: Vec<_> = lines.iter().map(|line| of(line)).collect();
        assert_eq!(found, [own("a/x", "0.000", 10), own("a/x", "1.000", 4), own("a/y%2Cz", "1.000", 1)]);
        assert!(lines[0][3].parse::<f64>().unwrap() >= 30.0, "{:?}", lines[0]);
        assert!(text.contains("#[StartTime: 1790000000.123 (seconds since epoch), "), "{text}");
        // The same but for how a payload is packed.
        let unpacked = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.split(",HIST").next().unwrap().to_owned()).collect()
        };
        assert_eq!(unpacked(&document(&report_of(&events)).unwrap()), unpacked(&text));
    }
}

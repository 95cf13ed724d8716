use std::sync::{Arc, Mutex};

use super::*;
use crate::fixture::{disaster, quickstart};

/// Bytes that the test can read while the writer owns them, and how often they were flushed.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<(Vec<u8>, usize)>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().1 += 1;
        Ok(())
    }
}

fn lines(events: &[RunEvent]) -> Vec<String> {
    let sink = Sink::default();
    let mut writer = EventsWriter::new(Box::new(sink.clone()));
    events.iter().for_each(|event| writer.event(event));
    assert!(sink.0.lock().unwrap().1 >= events.len(), "each line is flushed");
    writer.finish().unwrap();
    let bytes = sink.0.lock().unwrap().0.clone();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn each_event_is_one_line_that_comes_back_whole() {
    for events in [quickstart(), disaster()] {
        let lines = lines(&events);
        assert_eq!(lines.len(), events.len());
        for line in &lines {
            let back: Line = serde_json::from_str(line).unwrap();
            assert_eq!(&serde_json::to_string(&back).unwrap(), line);
        }
        assert!(lines[0].starts_with(r#"{"event":"started","schema":"hammer.events/1""#));
        assert!(lines.last().unwrap().starts_with(r#"{"event":"finished""#));
    }
}

#[test]
fn every_kind_of_event_has_its_line() {
    let lines = lines(&disaster());
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_interval_line_has_the_figures_of_the_interval_and_the_counts_so_far() {
    let lines = lines(&quickstart());
    let intervals: Vec<IntervalLine> = lines
        .iter()
        .filter_map(|line| match serde_json::from_str(line).unwrap() {
            Line::Frame(frame) => match *frame {
                Frame::Interval(interval) => Some(interval),
                _ => None,
            },
            Line::Event(_) => None,
        })
        .collect();
    assert_eq!(intervals.len(), 11);
    for (second, interval) in intervals.iter().enumerate().skip(1) {
        let series = &interval.series[0];
        assert_eq!(series.interval.counts.offered, 500);
        assert_eq!(series.measurement.offered, 500 * second as u64);
        assert_eq!(series.warm_up.fates.unreachable, 20);
        assert!(series.measurement.balances() && series.interval.counts.balances());
        assert_eq!(series.interval.durations.response_time.as_ref().unwrap().count, 500);
    }
}

#[test]
fn a_full_disk_is_remembered_and_stops_no_run() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut writer = EventsWriter::new(Box::new(full));
    quickstart().iter().for_each(|event| writer.event(event));
    let error = writer.finish().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

use std::sync::{Arc, Mutex};

use hammer_measure::snapshot::Observation;
use hammer_measure::{Nanos, Phase};
use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, events};
use crate::fixture::schema::Schema;
use crate::fixture::{Story, disaster, operation, quickstart, report_of};
use crate::report::Fates;

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
fn that_verdicts_are_waited_for_is_shown_and_has_no_line() {
    let mut events = quickstart();
    let expected = lines(&events);
    let until = Nanos::from_secs(40);
    events.insert(events.len() - 1, RunEvent::Judging { at: Nanos::from_secs(11), awaited: 7, until });
    let sink = Sink::default();
    let mut writer = EventsWriter::new(Box::new(sink.clone()));
    events.iter().for_each(|event| writer.event(event));
    writer.finish().unwrap();
    let written = String::from_utf8(sink.0.lock().unwrap().0.clone()).unwrap();
    assert_eq!(written.lines().collect::<Vec<_>>(), expected);
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

fn read(line: &str) -> Line {
    serde_json::from_str(line).unwrap()
}

fn intervals(lines: &[String]) -> Vec<IntervalLine> {
    let frames = lines.iter().filter_map(|line| match read(line) {
        Line::Frame(frame) => Some(*frame),
        Line::Event(_) => None,
    });
    frames
        .filter_map(|frame| if let Frame::Interval(interval) = frame { Some(interval) } else { None })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_line_of_any_run_is_as_the_schema_says_and_comes_back(chapters in any_run()) {
        let events = events(&chapters);
        let lines = lines(&events);
        prop_assert_eq!(lines.len(), events.len());
        let schema = Schema::of::<Line>();
        for line in &lines {
            prop_assert_eq!(schema.hold(&serde_json::from_str(line).unwrap()), Ok(()));
            prop_assert_eq!(&serde_json::to_string(&read(line)).unwrap(), line);
        }
    }

    #[test]
    fn lines_stand_in_the_order_of_the_run_and_say_what_the_report_says(chapters in any_run()) {
        let events = events(&chapters);
        let (lines, report) = (lines(&events), report_of(&events));
        let told: Vec<Event> = lines.iter().filter_map(|line| match read(line) {
            Line::Event(event) => Some(event),
            Line::Frame(_) => None,
        }).collect();
        prop_assert_eq!(told, report.events);
        let intervals = intervals(&lines);
        prop_assert!(intervals.iter().enumerate().all(|(index, interval)| interval.index == index as u64));
        prop_assert_eq!(intervals.len(), report.intervals.len());
        for (line, interval) in intervals.iter().zip(&report.intervals) {
            prop_assert_eq!((line.at_ns, line.span_ns, line.phase), (interval.at_ns, interval.span_ns, interval.phase));
            prop_assert_eq!(line.promises, interval.promises);
            for (line, interval) in line.series.iter().zip(&interval.series) {
                prop_assert_eq!((line.interval.counts.offered, line.interval.counts.fates), (interval.offered, interval.fates));
            }
        }
    }

    #[test]
    fn what_intervals_say_adds_up_to_what_is_so_far(chapters in any_run()) {
        let intervals = intervals(&lines(&events(&chapters)));
        for place in 0..intervals[0].series.len() {
            let mut so_far = Counts::default();
            for interval in &intervals {
                let series = &interval.series[place];
                so_far.add(&series.interval.counts);
                let mut phases = series.warm_up;
                phases.add(&series.measurement);
                prop_assert_eq!(phases, so_far, "{} at {}", &series.path, interval.at_ns);
                prop_assert!(phases.balances());
            }
        }
    }
}

#[test]
fn the_first_line_says_what_the_run_is() {
    let step = SeriesInfo { operation: false, ..operation("submit", "add-chain/post") };
    let closed = SeriesInfo { closed_loop: true, ..operation("reads", "tile") };
    let mut story = Story::new(vec![operation("submit", "add-chain"), step, closed]);
    story.interval(Phase::Measurement);
    let lines = lines(&story.finish(|_| {}));
    let Line::Frame(frame) = read(&lines[0]) else { panic!("{}", lines[0]) };
    let Frame::Started(started) = *frame else { panic!("{}", lines[0]) };
    assert_eq!((started.schema.as_str(), started.seed.as_str()), (SCHEMA, "18446744073709551615"));
    assert_eq!(
        (started.shards, started.warm_up_ns, started.measurement_ns),
        (2, 1_000_000_000, Some(10_000_000_000))
    );
    let series: Vec<(&str, SeriesKind, bool)> =
        started.series.iter().map(|series| (series.path.as_str(), series.kind, series.closed_loop)).collect();
    let expected = [
        ("submit/add-chain", SeriesKind::Operation, false),
        ("submit/add-chain/post", SeriesKind::Step, false),
        ("reads/tile", SeriesKind::Operation, true),
    ];
    assert_eq!(series, expected);
    let expected =
        StartedHeadline { observation: "tree_size".to_owned(), label: "tree size".to_owned(), grows: true };
    assert_eq!(started.headlines, [expected]);
}

#[test]
fn cpu_is_divided_by_the_operations_of_both_phases_and_not_by_steps() {
    let step = SeriesInfo { operation: false, ..operation("submit", "add-chain/post") };
    let mut story = Story::new(vec![operation("submit", "add-chain"), step]);
    story.accept(0, Phase::WarmUp, 100, Nanos(10));
    story.accept(0, Phase::Measurement, 75, Nanos(10));
    (0..50).for_each(|_| story.step(1, Nanos(10)));
    story.interval(Phase::Measurement);
    let used = intervals(&lines(&story.finish(|_| {})))[0].resources;
    assert_eq!(used.cpu_ns_per_completed, Some(10_000_000), "1.75 s over 175 operations");
}

#[test]
fn an_observation_that_json_cannot_say_is_left_out_alone() {
    let mut story = Story::new(vec![operation("get", "get")]);
    let seen = |name: &str, value| Observation::new(name, Nanos(7), value);
    story.observations = vec![seen("ratio", f64::NAN), seen("tree_size", 12.0), seen("rate", f64::INFINITY)];
    story.interval(Phase::Measurement);
    let found = intervals(&lines(&story.finish(|_| {}))).remove(0).observations;
    assert_eq!(found, [ObservationLine { name: "tree_size".to_owned(), at_ns: 7, value: 12.0 }]);
}

#[test]
fn the_last_line_says_how_the_run_ended() {
    let lines = lines(&disaster());
    let Line::Frame(frame) = read(lines.last().unwrap()) else { panic!("no frame") };
    let Frame::Finished(finished) = *frame else { panic!("not finished") };
    let report = report_of(&disaster());
    assert_eq!((finished.stopped, finished.interrupted), (report.run.stopped, true));
    assert_eq!((finished.phases, finished.promises), (report.phases, report.promises.all));
    assert_eq!((finished.breaches, finished.thresholds), (report.breaches, report.thresholds));
    assert_eq!(finished.health, report.health);
}

/// Fails once, after so many writes, and takes all that follow.
struct Failing(Option<usize>, Sink);

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0 {
            Some(0) => {
                self.0 = None;
                Err(io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads"))
            }
            left => {
                self.0 = left.map(|left| left - 1);
                self.1.write(bytes)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}

#[test]
fn after_the_first_error_nothing_more_is_written_and_what_was_is_whole() {
    for writes in 0..4 {
        let sink = Sink::default();
        let mut writer = EventsWriter::new(Box::new(Failing(Some(writes), sink.clone())));
        quickstart().iter().for_each(|event| writer.event(event));
        assert_eq!(writer.finish().unwrap_err().to_string(), "nobody reads");
        let bytes = sink.0.lock().unwrap().0.clone();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.lines().count(), writes);
        assert!(text.is_empty() || text.ends_with('\n'));
        text.lines().for_each(|line| _ = read(line));
    }
}

#[test]
fn counts_of_a_line_have_the_keys_of_the_report() {
    let line: serde_json::Value = serde_json::from_str(&lines(&disaster())[2]).unwrap();
    let fates: Fates = serde_json::from_value(line["series"][0]["interval"]["fates"].clone()).unwrap();
    assert_eq!(fates, report_of(&disaster()).series[0].measurement.counts.fates);
}

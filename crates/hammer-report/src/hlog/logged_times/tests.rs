use std::io::Write;
use std::sync::{Arc, Mutex};

use hammer_measure::{Phase, Reporter};

use super::*;
use crate::fixture::{Story, operation, report_of};
use crate::hlog::HlogWriter;

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run of so many seconds, and its log: in the n-th n operations of the first series end after n ms and more, of the second one every
/// third second; in the fifth nothing ends, and in the sixth one never does.
fn run(seconds: u64) -> (Report, String) {
    let mut story = Story::new(vec![operation("submit", "add-chain"), operation("reads", "a tile")]);
    for second in 1..=seconds {
        if second != 5 {
            story.accept(0, Phase::Measurement, second, Nanos::from_millis(second));
        }
        if second % 3 == 0 {
            story.accept(1, Phase::Measurement, 1, Nanos::from_micros(700));
        }
        if second == 6 {
            story.never(0, hammer_measure::Fate::Shed, 1);
        }
        story.interval(Phase::Measurement);
    }
    let events = story.finish(|_| {});
    let kept = Kept::default();
    let mut log = HlogWriter::new(Box::new(kept.clone()));
    events.iter().for_each(|event| log.event(event));
    log.finish().unwrap();
    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    (report_of(&events), text)
}

fn seconds(report: &Report, from: u64, to: u64) -> Window {
    Window::of(report, Some(Nanos::from_secs(from)), Some(Nanos::from_secs(to))).unwrap()
}

fn read(log: &str, report: &Report) -> Result<LoggedTimes, LoggedTimesError> {
    LoggedTimes::read(log.as_bytes(), report, Window::whole(report))
}

#[test]
fn a_window_has_exactly_its_intervals_with_what_ended_in_each() {
    let (report, log) = run(11);
    let times = LoggedTimes::read(log.as_bytes(), &report, seconds(&report, 2, 8)).unwrap();
    assert_eq!((times.intervals, times.merged), (5, 0), "of six nothing ended in one");
    for (logged, reported) in times.series.iter().zip(&report.response_times) {
        assert_eq!(logged.path, reported.path);
        assert_eq!(logged.stretches.len(), 6);
        for (own, theirs) in logged.stretches.iter().zip(&reported.stretches[2..8]) {
            assert_eq!((own.at_ns, own.span_ns), (theirs.at_ns, theirs.span_ns));
            assert_eq!((own.count, own.infinite), (theirs.count - theirs.infinite, 0), "{own:?}");
            let figures = |of: &crate::report::ResponseStretch, never| {
                let hdr = of.hdr.as_ref()?;
                Distribution::from_payload(hdr, never).unwrap().summary()
            };
            assert_eq!(figures(own, 0), figures(theirs, 0));
        }
    }
    let count = |place: usize| times.series[0].stretches[place].count;
    assert_eq!([count(0), count(1), count(2), count(3), count(5)], [3, 4, 0, 6, 8]);
}

#[test]
fn of_more_intervals_than_charts_have_points_neighbours_are_added_up_and_nothing_is_lost() {
    let (report, log) = run(700);
    let times = read(&log, &report).unwrap();
    let stretches = &times.series[0].stretches;
    assert!((300..=600).contains(&stretches.len()), "{}", stretches.len());
    assert_eq!(times.merged, 700 - stretches.len() as u64);
    assert_eq!(stretches.iter().map(|of| of.count).sum::<u64>(), (1..=700).sum::<u64>() - 5);
    let mut end = 0;
    for stretch in stretches {
        end += stretch.span_ns;
        assert_eq!(stretch.at_ns, end, "they follow one another");
    }
    // A part of it that is short has all of its own.
    let times = LoggedTimes::read(log.as_bytes(), &report, seconds(&report, 400, 650)).unwrap();
    assert_eq!((times.intervals, times.merged, times.series[0].stretches.len()), (250, 0, 250));
    assert_eq!(times.series[0].stretches[0].count, 401);
}

#[test]
fn what_is_not_the_whole_log_of_that_run_is_refused_by_its_line() {
    let (report, log) = run(11);
    read(&log, &report).unwrap();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    assert!(
        lines[4].starts_with("\"StartTimestamp\"") && lines[5].starts_with("Tag=submit/add-chain,0.000,")
    );
    let without = |place: usize| [&lines[..place], &lines[place + 1..]].concat().concat();
    let altered = |from: &str, to: &str| {
        assert!(log.contains(from), "{from}");
        log.replacen(from, to, 1)
    };
    let payload = |line: &str| line.trim_end().rsplit_once(',').unwrap().1.to_owned();
    let damaged = payload(lines[5]).replace('A', "B");
    let (_, other) = run(10);
    let cases = [
        (String::new(), "line 0: no line says StartTime and BaseTime before it"),
        ("\0\u{1}ELF\n".to_owned(), "line 1: it is no line of an interval log"),
        ("x".repeat(2 << 20), "line 1: it is longer than 1048576 bytes"),
        ("#\n".repeat(10_001), "line 10001: there are more than 10000 comments"),
        (log[..log.len() - 1].to_owned(), "line 18: it is cut off"),
        (without(17), "line 17: of submit/add-chain it has 50 response times so far, and the report 61"),
        (other, "of submit/add-chain it has 50 response times so far, and the report 61"),
        (without(7), "line 17: of submit/add-chain it has 58 response times so far, and the report 61"),
        (format!("{log}{log}"), "line 21: there is a second StartTime"),
        ([&log, lines[17]].concat(), "line 19: of submit/add-chain it has 72 response times so far"),
        (without(2), "line 5: no line says StartTime and BaseTime before it"),
        (without(3), "line 5: no line says StartTime and BaseTime before it"),
        (
            altered("#[StartTime: 1790000000.123", "#[StartTime: 1790000000.124"),
            "line 3: its StartTime is 1790000000.124, and the run started at 1790000000.123: it is the log of another run",
        ),
        (altered("#[BaseTime: 1790000000.123", "#[BaseTime: 0.000"), "line 4: its BaseTime is 0.000, and"),
        (
            altered("Tag=submit/add-chain", "Tag=submit/\u{1b}[2Jx"),
            "line 6: its tag `submit/\u{fffd}[2Jx` is that of no series of the report",
        ),
        (altered("Tag=submit/add-chain,", ""), "line 6: its tag `` is that of no series"),
        (altered(",2.000,1.000,", ",1.000,1.000,"), "line 8: there is a line of `submit/add-chain` for this"),
        (altered(",3.000,1.000,", ",2.500,1.000,"), "line 10: its interval starts at 2.50s, before"),
        (
            altered(",10.000,1.000,", ",10.000,9.000,"),
            "line 18: its interval ends at 19.0s, and the run ended at",
        ),
        (altered(&payload(lines[5]), "?"), "line 6: failed to decode the base64 of a histogram"),
        (altered(&payload(lines[5]), &damaged), "line 6: failed to "),
        (altered(&payload(lines[5]), &payload(lines[6])), "line 6: its maximum is "),
    ];
    for (log, told) in cases {
        let error = read(&log, &report).unwrap_err().to_string();
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[test]
fn a_report_that_says_too_little_of_its_series_has_no_log() {
    let (report, log) = run(3);
    let refused = |alter: fn(&mut Report)| {
        let mut report = report.clone();
        alter(&mut report);
        read(&log, &report).unwrap_err().to_string()
    };
    assert!(refused(|report| report.run.epoch = "once".to_owned()).contains("does not say when the run was"));
    assert!(refused(|report| report.response_times.clear()).contains("has no response times"));
    let told = refused(|report| report.response_times[0].path = "reads/a tile".to_owned());
    assert!(
        told.contains("has two series with the tag `reads/a%20tile`: reads/a tile and reads/a tile"),
        "{told}"
    );
}

#[test]
fn a_window_lies_within_its_run() {
    let (report, _) = run(3);
    let whole = Window::whole(&report);
    assert_eq!(whole.to(), Nanos::from_millis(11_412));
    let of = |from: Option<u64>, to: Option<u64>| {
        Window::of(&report, from.map(Nanos::from_secs), to.map(Nanos::from_secs))
    };
    assert_eq!(of(None, None), Ok(whole));
    assert_eq!(of(None, Some(60)), Ok(whole), "what is beyond its end is its end");
    let ends = |window: Window| (window.from(), window.to());
    assert_eq!(of(Some(2), None).map(ends), Ok((Nanos::from_secs(2), whole.to())));
    let told = |from, to| of(Some(from), to).unwrap_err().to_string();
    assert_eq!(told(12, None), "chart the run from 12.0s on: it ended 11.4s after its start");
    assert_eq!(told(2, Some(2)), "chart the run from 2.00s to 2.00s: nothing lies between them");
    assert!(of(Some(3), Some(2)).is_err());
}

#[test]
fn a_window_within_an_interval_has_nothing_to_be_drawn() {
    let (report, _) = run(3);
    let last = report.intervals.last().unwrap();
    let end = Nanos(last.at_ns - 1);
    let told = Window::of(&report, Some(end), Some(Nanos(end.0 + 1))).unwrap_err().to_string();
    assert!(told.contains("no interval of the run has its middle between them"), "{told}");
}

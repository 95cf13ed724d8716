use std::sync::{Arc, Mutex};

use hammer_measure::{Outcome, Phase, SeriesInfo};
use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, events};
use crate::fixture::{Story, operation, report_of, step};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// The rows of a file without quoted fields.
fn rows(text: &str) -> Vec<Vec<String>> {
    assert!(text.ends_with("\r\n"), "{text:?}");
    text.split_terminator("\r\n").map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

/// What is written of a run: statistics, history, failures.
fn written(events: &[RunEvent]) -> [Vec<Vec<String>>; 3] {
    texts(events).map(|text| rows(&text))
}

fn texts(events: &[RunEvent]) -> [String; 3] {
    let files = [Written::default(), Written::default(), Written::default()];
    let [stats, history, failures] = files.clone().map(|file| -> Box<dyn Write + Send> { Box::new(file) });
    let mut csv = LocustCsv::new(LocustWriters { stats, history, failures });
    events.iter().for_each(|event| csv.event(event));
    csv.finish().unwrap();
    files.map(|file| file.text())
}

/// Twenty seconds: in each ten users get fifty answers in 10 ms, of which five fail from the eleventh on; each has a step.
fn run() -> Vec<RunEvent> {
    let users = SeriesInfo { closed_loop: true, ..operation("verify", "verify") };
    let mut story = Story::new(vec![users, step("verify", "evidence"), operation("sign", "sign")]);
    story.phase(Phase::Measurement);
    for second in 0..20 {
        let failed = if second < 10 { 0 } else { 5 };
        story.users(0, 1);
        for _ in failed..50 {
            story.accept(0, Phase::Measurement, 1, Nanos::from_millis(10));
            story.step(1, Nanos::from_millis(4));
        }
        for _ in 0..failed {
            let error = (Outcome::ServerError, Detail::Status(500));
            story.end((0, Phase::Measurement), 1, Nanos::from_millis(10), error);
        }
        story.interval(Phase::Measurement);
    }
    story.phase(Phase::Drain);
    story.finish(|_| {})
}

#[test]
fn the_columns_are_those_of_locust() {
    let recorded = [
        include_str!("../../testdata/locust/stats.csv"),
        include_str!("../../testdata/locust/stats_history.csv"),
        include_str!("../../testdata/locust/failures.csv"),
    ];
    for (ours, theirs) in written(&run()).iter().zip(recorded.map(rows)) {
        assert_eq!(ours[0], theirs[0]);
        assert!(ours.len() > 1 && ours.iter().all(|row| row.len() == theirs[0].len()), "{ours:?}");
    }
}

/// The cell of that column in a row.
fn cell<'a>(rows: &'a [Vec<String>], row: &'a [String], column: &str) -> &'a str {
    &row[rows[0].iter().position(|name| name == column).unwrap()]
}

#[test]
fn a_row_a_second_for_each_name_has_the_rates_and_percentiles_of_ten_seconds() {
    let [_, history, _] = written(&run());
    assert_eq!(history.len(), 1 + 20 * 4);
    let of = |second: usize| {
        let row = &history[1 + second * 4];
        let number = |column| cell(&history, row, column).parse::<f64>().unwrap();
        assert_eq!((cell(&history, row, "Type"), cell(&history, row, "Name")), ("verify", "verify"));
        (number("Requests/s"), number("Failures/s"), number("Total Request Count"), number("User Count"))
    };
    assert_eq!(of(0), (50.0, 0.0, 50.0, 10.0));
    assert_eq!(of(9), (50.0, 0.0, 500.0, 10.0));
    // Five of the last ten seconds had five failures each.
    assert_eq!(of(14), (50.0, 2.5, 750.0, 10.0));
    assert_eq!(of(19), (50.0, 5.0, 1_000.0, 10.0));
    let last = history.last().unwrap();
    assert_eq!((cell(&history, last, "Type"), cell(&history, last, "Name")), ("", "Aggregated"));
    assert_eq!(cell(&history, last, "Total Request Count"), "1000", "steps are parts of operations");
    assert_eq!((cell(&history, last, "50%"), cell(&history, last, "100%")), ("10", "10"));
    assert_eq!(cell(&history, &history[3], "Name"), "sign");
    assert_eq!(cell(&history, &history[3], "99%"), "N/A", "nobody asked");
}

#[test]
fn the_statistics_are_those_of_the_run_and_each_cause_has_a_row() {
    let [stats, _, failures] = written(&run());
    let names: Vec<_> = stats[1..].iter().map(|row| cell(&stats, row, "Name")).collect();
    assert_eq!(names, ["verify", "evidence", "sign", "Aggregated"]);
    let row = &stats[1];
    let figures = ["Request Count", "Failure Count", "Median Response Time", "Requests/s", "Failures/s"];
    assert_eq!(figures.map(|column| cell(&stats, row, column)), ["1000", "50", "10", "50", "2.5"]);
    let evidence = ["Request Count", "50%"].map(|column| cell(&stats, &stats[2], column));
    assert_eq!(evidence, ["950", "4"]);
    assert_eq!(failures[1][..4], ["verify", "verify", "HTTP 500", "50"]);
    // The epoch is at 14:13:20.123.
    assert_eq!(failures[1][4..], ["2026-09-21T14:13:31Z", "2026-09-21T14:13:40Z"]);
}

#[test]
fn what_ended_behind_the_last_whole_second_is_in_the_history_too() {
    let mut story = Story::new(vec![operation("sign", "sign")]);
    story.phase(Phase::Measurement);
    story.accept(0, Phase::Measurement, 40, Nanos::from_millis(10));
    story.interval(Phase::Measurement);
    story.accept(0, Phase::Measurement, 10, Nanos::from_millis(10));
    story.short_interval(Nanos::from_millis(500));
    let [stats, history, _] = written(&story.finish(|_| {}));
    assert_eq!(cell(&stats, stats.last().unwrap(), "Request Count"), "50");
    let [before, last] = history[history.len() - 3..].iter().step_by(2).collect::<Vec<_>>()[..] else {
        panic!()
    };
    let seconds = [before, last].map(|row| cell(&history, row, "Timestamp").parse::<u64>().unwrap());
    assert_eq!((cell(&history, last, "Total Request Count"), seconds[1] - seconds[0]), ("50", 1));
}

proptest! {
    #[test]
    fn the_statistics_out_of_a_report_are_those_that_its_run_wrote(run in any_run()) {
        let mut events = events(&run);
        // Its phases are told by hand; a run's own begin where its report says.
        events.insert(1, RunEvent::Phase { phase: Phase::WarmUp, at: Nanos::ZERO });
        let [written, _, _] = texts(&events);
        prop_assert_eq!(stats(&report_of(&events)).unwrap(), written);
    }
}

#[test]
fn a_report_with_figures_alone_has_no_statistics() {
    let mut report = report_of(&run());
    report.series[1].measurement.durations.response_time_by_fate.get_mut("accepted").unwrap().hdr = None;
    assert_eq!(
        stats(&report).unwrap_err().to_string(),
        "the response times of verify/evidence have no histogram"
    );
}

use super::*;
use crate::fixture::{Parts, carry_out, completion, of_nanos};
use crate::outcome::{Detail, Outcome};
use crate::recorder::Recorder;

/// A record of which no two figures are equal.
fn record() -> SeriesRecord {
    let mut recorder = Recorder::new(1);
    for (count, outcome) in [(5, Outcome::Accepted), (3, Outcome::Refused), (2, Outcome::TimedOut)] {
        for millis in 1..=count {
            let parts = Parts::of_service(Nanos::from_millis(20 * millis));
            carry_out(&mut recorder, parts, &completion(outcome, Detail::None));
        }
    }
    (0..9).for_each(|_| recorder.offer(0, Phase::Measurement));
    (0..8).for_each(|_| recorder.queue(0, Phase::Measurement));
    recorder.shed(0, Phase::Measurement);
    let parts = Parts::default().timing(Nanos::ZERO);
    (0..7).for_each(|_| recorder.start(0, Phase::Measurement, &parts));
    let mut record = recorder.swap(Nanos(1), Interval::with_series(1)).series[0][1].clone();
    (record.resent, record.redialled) = (4, 3);
    record
}

#[test]
fn the_figures_of_a_record_are_its_counts() {
    let figures = SeriesFigures::of(&record());
    assert_eq!((figures.offered, figures.dispatched, figures.completed), (19, 17, 10));
    assert_eq!((figures.backlog, figures.in_flight), (1, 7));
    assert_eq!((figures.resent, figures.redialled), (4, 3));
    assert_eq!((figures.bytes_out, figures.bytes_in), (100, 200));
    for fate in Fate::ALL {
        let expected = match fate {
            Fate::Accepted => 5,
            Fate::Refused => 3,
            Fate::TimedOut => 2,
            Fate::Shed => 1,
            _ => 0,
        };
        assert_eq!(figures.fate(fate), expected, "{fate}");
    }
    assert!(figures.balances());
}

#[test]
fn the_figures_of_a_record_are_the_summaries_of_its_durations() {
    let record = record();
    let figures = SeriesFigures::of(&record);
    assert_eq!(figures.dispatch_lag, record.dispatch_lag.summary());
    assert_eq!(figures.backlog_wait, record.backlog_wait.summary());
    assert_eq!(figures.connection_wait, record.connection_wait.summary());
    assert_eq!(figures.service_time, record.service_time.summary());
    assert_eq!(figures.read_lag, record.read_lag.summary());
    let counts =
        [&figures.dispatch_lag, &figures.backlog_wait, &figures.connection_wait, &figures.service_time]
            .map(|summary| summary.as_ref().unwrap().count);
    assert_eq!(counts, [17, 17, 10, 10]);
    let response = figures.response_time.unwrap();
    assert_eq!((response.count, response.infinite), (11, 1), "all fates together, and what was shed");
    assert_eq!(response.max, of_nanos([106_000_000]).summary().unwrap().max);
    assert_eq!(figures.response_octaves.count(), 10);
}

#[test]
fn nothing_recorded_has_no_durations_and_balances() {
    let figures = SeriesFigures::of(&SeriesRecord::default());
    assert!(figures.balances());
    assert_eq!((figures.response_time, figures.service_time, figures.dispatch_lag), (None, None, None));
    assert_eq!(figures.response_octaves, Octaves::default());
}

fn ended(phases: Vec<(Phase, Nanos, Nanos)>) -> RunResult {
    RunResult {
        total: Interval::default(),
        phases,
        promises: Ledger::default(),
        promises_by_workload: Vec::new(),
        promises_by_kind: Vec::new(),
        evidence: Vec::new(),
        breaches: Vec::new(),
        observations: Vec::new(),
        health: Health::default(),
        resources: Resources::default(),
        verdicts: Vec::new(),
        stopped: String::new(),
        interrupted: false,
    }
}

#[test]
fn the_measured_length_is_that_of_measurement_alone() {
    let (second, four) = (Nanos::from_secs(1), Nanos::from_millis(3_500));
    let run = ended(vec![
        (Phase::WarmUp, Nanos::ZERO, second),
        (Phase::Measurement, second, four),
        (Phase::Drain, four, Nanos::from_secs(9)),
    ]);
    assert_eq!(run.measured_seconds(), 2.5);
    assert_eq!(ended(vec![(Phase::WarmUp, Nanos::ZERO, second)]).measured_seconds(), 0.0);
    assert_eq!(ended(Vec::new()).measured_seconds(), 0.0);
}

#[test]
fn cpu_seconds_are_those_of_user_and_system() {
    let resources = Resources { cpu_user: 1.25, cpu_system: 0.5, ..Resources::default() };
    assert_eq!(resources.cpu_seconds(), 1.75);
}

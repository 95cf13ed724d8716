use super::*;

const PHASE: Phase = Phase::Measurement;

fn answered(outcome: Outcome) -> Completion {
    Completion {
        outcome,
        detail: Detail::Status(200),
        sent: true,
        retried: false,
        bytes_out: 10,
        bytes_in: 20,
    }
}

fn timing() -> Timing {
    Timing::new(Nanos(1_000), Nanos(2_000)).started(Nanos(3_000)).finished(Nanos(4_000), Nanos(9_000))
}

#[test]
fn fates_balance_in_each_interval_and_over_all() {
    let mut recorder = Recorder::new(1);
    let mut total = Interval::with_series(1);
    for _ in 0..3 {
        recorder.offer(0, PHASE);
        recorder.queue(0, PHASE);
    }
    recorder.start(0, PHASE, &timing());
    recorder.offer(0, PHASE);
    recorder.shed(0, PHASE);
    let first = recorder.swap(Nanos(10), Interval::with_series(1));
    assert_eq!((first.series[0][1].backlog, first.series[0][1].in_flight), (2, 1));
    total.merge(&first);
    recorder.finish(0, PHASE, &timing(), &answered(Outcome::Accepted));
    recorder.abandon_queued(0, PHASE);
    recorder.offer(0, PHASE);
    recorder.starve(0, PHASE);
    let second = recorder.swap(Nanos(20), Interval::with_series(1));
    assert!(second.series[0][1].balances());
    total.merge(&second);
    let record = &total.series[0][1];
    assert!(record.balances());
    assert_eq!((record.offered, record.backlog, record.in_flight), (5, 1, 0));
    assert_eq!(record.response_time().count(), 4);
    assert_eq!(record.causes, [(Fate::Accepted, Detail::Status(200), 1)]);
}

#[test]
fn an_end_without_an_offer_does_not_balance() {
    let mut record = SeriesRecord::default();
    record.fates[Fate::Accepted as usize] = 1;
    assert!(!record.balances());
}

#[test]
fn what_was_never_sent_has_no_service_time() {
    let mut recorder = Recorder::new(1);
    let unsent = Completion { sent: false, ..answered(Outcome::Unreachable) };
    recorder.step(0, PHASE, &timing(), &unsent);
    let record = &recorder.swap(Nanos(1), Interval::with_series(1)).series[0][1];
    assert_eq!(record.service_time.count(), 0);
    assert_eq!(record.connection_wait.count(), 1);
}

#[test]
fn phases_are_kept_apart() {
    let mut recorder = Recorder::new(1);
    recorder.offer(0, Phase::WarmUp);
    recorder.shed(0, Phase::WarmUp);
    let interval = recorder.swap(Nanos(1), Interval::with_series(1));
    assert_eq!(interval.series[0][0].fate(Fate::Shed), 1);
    assert_eq!(interval.series[0][1].offered, 0);
}

#[test]
fn a_cleared_interval_has_no_end() {
    let mut interval = Interval { at: Nanos(7), ..Interval::with_series(1) };
    interval.clear();
    assert_eq!(interval.at, Nanos::ZERO);
}

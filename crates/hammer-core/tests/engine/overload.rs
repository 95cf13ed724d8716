//! A server that falls behind its load: what it took in a phase is what ended in it.

use hammer_core::phase::Phases;
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Command, Fate, Nanos, Phase};

use crate::harness::{MILLI, SECOND, Scripted, Simulated, at_rate};

/// A server of 500/s under 1,000/s: five slots, and 10 ms an answer. Its two records.
fn overloaded(warm_up: Nanos, commands: Vec<(Nanos, Command)>) -> [SeriesRecord; 2] {
    let run = Simulated::measuring(SECOND);
    let phases = Phases { warm_up, ..run.phases };
    let run = Simulated { phases, commands, ..run };
    let mut total = run.run(Scripted::answering_after(MILLI * 10), at_rate(1_000.0, 5, 10_000));
    total.series.remove(0)
}

fn accepted_within(records: &[SeriesRecord; 2], phase: Phase) -> u64 {
    SeriesRecord::ended_within(records, phase)[Fate::Accepted as usize]
}

#[test]
fn of_a_hundred_service_times_of_overload_the_rate_is_the_capacity() {
    for warm_up in [Nanos::ZERO, MILLI * 500, SECOND * 3] {
        let records = overloaded(warm_up, Vec::new());
        assert_eq!((records[1].offered, records[1].fate(Fate::Accepted)), (1_000, 1_000));
        let measured = accepted_within(&records, Phase::Measurement);
        assert!((490..=510).contains(&measured), "{measured} of a capacity of 500 after {warm_up}");
        let before = accepted_within(&records, Phase::WarmUp) as f64;
        let expected = 500.0 * warm_up.as_secs_f64();
        assert!((before - expected).abs() <= expected * 0.02, "{before} in warm-up, not {expected}");
    }
}

#[test]
fn what_ends_after_a_stop_ended_in_drain() {
    let stop = Command::Stop { reason: "enough".to_owned() };
    let records = overloaded(Nanos::ZERO, vec![(SECOND + MILLI * 500, stop)]);
    assert_eq!((records[1].offered, records[1].fate(Fate::Accepted)), (500, 500));
    let measured = accepted_within(&records, Phase::Measurement);
    assert!((240..=255).contains(&measured), "{measured} in half a second");
}

#[test]
fn what_keeps_up_ends_in_the_phase_that_it_was_intended_in_but_for_what_is_under_way_at_its_end() {
    let run = Simulated::measuring(SECOND);
    let run = Simulated { phases: Phases { warm_up: SECOND, ..run.phases }, ..run };
    let total = run.run(Scripted::answering_after(MILLI * 10), at_rate(100.0, 5, 10_000));
    let [warm_up, measured] = &total.series[0];
    let accepted = |record: &SeriesRecord| record.ended.map(|ended| ended[Fate::Accepted as usize]);
    assert_eq!((accepted(warm_up), accepted(measured)), ([99, 1], [0, 99]));
}

use super::*;
use crate::fixture::{Parts, carry_out, completion};
use crate::outcome::{Detail, Outcome};
use crate::recorder::{Completion, HeldUp, HeldUpBy, Interval, Recorder};
use crate::series::Phase;

const MILLI: Nanos = Nanos::from_millis(1);

/// A series of operations, each with how long its answer took and what held it up.
#[derive(Default)]
struct Told(Vec<(u64, Nanos, Option<HeldUp>)>);

impl Told {
    /// So many that nothing held up.
    fn free(mut self, count: u64, service: Nanos) -> Self {
        self.0.push((count, service, None));
        self
    }

    /// So many that were held up for `time`.
    fn held_up(self, count: u64, time: Nanos) -> Self {
        self.held_up_by(count, time, HeldUpBy::Standstill)
    }

    fn held_up_by(mut self, count: u64, time: Nanos, by: HeldUpBy) -> Self {
        self.0.push((count, time, Some(HeldUp { time, by })));
        self
    }

    fn recorder(&self) -> Recorder {
        let mut recorder = Recorder::new(1);
        for (count, service, held_up) in &self.0 {
            let accepted = completion(Outcome::Accepted, Detail::None);
            let end = Completion { held_up: *held_up, ..accepted };
            (0..*count).for_each(|_| carry_out(&mut recorder, Parts::of_service(*service), &end));
        }
        recorder
    }

    fn judged(&self) -> Option<Standstill> {
        judged(self.recorder())
    }
}

fn judged(mut recorder: Recorder) -> Option<Standstill> {
    let interval = recorder.swap(Nanos::ZERO, Interval::with_series(1));
    Standstill::of("web/get", &interval.series[0][1], SLICES)
}

#[test]
fn ten_that_are_more_than_one_in_a_hundred_are_told_and_fewer_are_not() {
    let of = |held_up, free| Told::default().held_up(held_up, MILLI * 12).free(free, MILLI).judged();
    let found = of(10, 900).expect("10 of 910");
    assert_eq!((found.count, found.of, found.causes), (10, 910, vec![StandstillCause::StoodStill]));
    assert!(found.longest >= MILLI * 12 && found.free_p99.is_some());
    assert_eq!(of(9, 100), None, "nine are no ten");
    assert_eq!(of(10, 990), None, "one in a hundred");
}

#[test]
fn many_count_only_where_they_waited_for_longer_than_slices_and_than_a_twentieth_of_the_others() {
    let of = |time, service| Told::default().held_up(50, time).free(50, service).judged();
    assert_eq!(of(MILLI * 9, MILLI), None);
    assert!(of(MILLI * 11, MILLI).is_some());
    assert_eq!(of(MILLI * 40, MILLI * 1_000), None);
    assert!(of(MILLI * 70, MILLI * 1_000).is_some());
}

#[test]
fn one_that_was_held_up_for_longer_than_the_others_took_is_told() {
    let of = |time, slowest| {
        Told::default().held_up(1, time).free(2_000, MILLI * 10).free(40, slowest).judged().is_some()
    };
    assert!(of(MILLI * 60, MILLI * 10));
    assert!(!of(MILLI * 45, MILLI * 10), "no longer than 50 ms");
    assert!(!of(MILLI * 60, MILLI * 80), "others took as long by themselves");
    assert!(of(MILLI * 2_000, MILLI * 80));
}

#[test]
fn where_none_is_free_of_it_nothing_can_be_held_against_it() {
    let found = Told::default().held_up(40, MILLI * 3).judged().expect("none is free");
    assert_eq!((found.count, found.of, found.free_p99), (40, 40, None));
    assert!(Told::default().held_up(1, MILLI * 30).judged().is_some());
    assert_eq!(Told::default().held_up(3, MILLI * 2).judged(), None, "a few, for less than a slice");
    assert_eq!(Told::default().judged(), None, "nothing was sent");
    assert_eq!(Told::default().free(40, MILLI).judged(), None);
}

#[test]
fn each_cause_is_named_and_supply_is_one() {
    let of = |by| Told::default().held_up_by(20, MILLI * 20, by).free(20, MILLI).judged().unwrap();
    assert_eq!(of(HeldUpBy::Supply).causes, [StandstillCause::Supply]);
    assert_eq!(of(HeldUpBy::Reading).causes, [StandstillCause::ReadLate]);
    let text = of(HeldUpBy::Standstill).to_string();
    let expected =
        "hammer held up 20 of 40 operations of web/get, for 20.0ms at most: a thread that sends stood still";
    assert_eq!(text, expected);
}

#[test]
fn ten_arrivals_that_were_shed_since_they_came_late_are_told() {
    let shed = |count| {
        let mut recorder = Told::default().free(5_000, MILLI).recorder();
        for _ in 0..count {
            recorder.offer(0, Phase::Measurement);
            recorder.shed_late(0, Phase::Measurement, MILLI * 4);
        }
        judged(recorder)
    };
    assert_eq!(shed(9), None);
    assert_eq!(shed(10).unwrap().causes, [StandstillCause::Shed]);
    // Of a target that is overloaded some are late by chance, and would have been shed anyway.
    let overloaded = |count| {
        let mut recorder = Told::default().free(5_000, MILLI).recorder();
        for late in 0..count {
            recorder.offer(0, Phase::Measurement);
            match late < 10 {
                true => recorder.shed_late(0, Phase::Measurement, MILLI * 4),
                false => recorder.shed(0, Phase::Measurement),
            }
        }
        judged(recorder)
    };
    assert!(overloaded(99).is_some() && overloaded(100).is_none());
}

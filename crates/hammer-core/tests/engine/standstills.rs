//! Nobody runs for a while: what was due or under way then was held up by that, and nothing else was.

use hammer_core::dispatch::{Closed, Iterations, Load, Open, Stages, Think};
use hammer_core::schedule::{Burst, Profile, Schedule};
use hammer_measure::recorder::Interval;
use hammer_measure::{Fate, Nanos};

use crate::harness::{MILLI, SECOND, Scripted, Simulated, at_rate};

/// An open loop of 50/s over 10 s.
fn open(standstills: &[(Nanos, Nanos)], in_flight: usize, backlog: usize) -> Interval {
    let run = Simulated { standstills: standstills.to_vec(), ..Simulated::measuring(SECOND * 10) };
    run.run(Scripted::answering_after(MILLI * 5), at_rate(50.0, in_flight, backlog))
}

/// What a sweep each 10 ms cannot see of a standstill.
fn is_seen(stood: Nanos, length: Nanos) -> bool {
    (length.since(MILLI * 10)..=length).contains(&stood)
}

#[test]
fn what_comes_due_in_a_standstill_was_held_up_until_its_end() {
    let total = open(&[(SECOND * 5 + MILLI * 3, MILLI * 500)], 100, 100);
    let record = &total.series[0][1];
    assert_eq!(record.held_up.times.count(), 25 + 1, "what was due in it, and what was under way");
    assert_eq!(record.held_up.response_time.count(), 26);
    let longest = record.held_up.times.quantile(1.0).unwrap().nanos();
    assert!(is_seen(longest, MILLI * 500), "{longest}");
    let [warm_up, measured] = &total.alarms;
    assert_eq!((warm_up.late.count(), warm_up.stood), (0, Nanos::ZERO));
    assert!(is_seen(measured.stood, MILLI * 500), "{}", measured.stood);
    assert_eq!(measured.late.count_above(MILLI), 1, "one alarm was late");
}

#[test]
fn where_nothing_stands_still_nothing_is_held_up_and_no_alarm_is_late() {
    let total = open(&[], 100, 100);
    assert_eq!(total.series[0][1].held_up.times.count(), 0);
    assert!(total.alarms[1].late.count() >= 1_000, "each sweep is heard");
    assert_eq!((total.alarms[1].late.count_above(Nanos::ZERO), total.alarms[1].stood), (0, Nanos::ZERO));
}

#[test]
fn users_that_wait_through_every_standstill_are_held_up_each_time() {
    let stops = (0..100).map(|turn| (SECOND + MILLI * (90 * turn + 7), MILLI * 80)).collect();
    let run = Simulated { standstills: stops, ..Simulated::measuring(MILLI * 8_990) };
    let (stages, think) = (Stages::constant(10), Think::Constant(Nanos::ZERO));
    let load = Closed { stages, spawn_rate: None, think, iterations: Iterations::Endless, seed: 1 };
    let total = run.run(Scripted::answering_after(MILLI * 21), Load::Closed(load));
    let record = &total.series[0][1];
    let ended: u64 = record.fates.iter().sum();
    assert!(
        ended >= 900 && record.held_up.times.count() == ended,
        "{} of {ended}",
        record.held_up.times.count()
    );
    assert!(total.alarms[1].stood >= MILLI * (70 * 99), "{}", total.alarms[1].stood);
}

#[test]
fn a_backlog_that_a_standstill_fills_sheds_what_the_generator_held_up() {
    let held_up = open(&[(SECOND * 5 + MILLI * 3, MILLI * 500)], 4, 4);
    let record = &held_up.series[0][1];
    assert_eq!((record.fates[Fate::Shed as usize], record.held_up.shed), (17, 17));
    let run = Simulated::measuring(SECOND * 10);
    let stalled = Scripted::answering_after(MILLI * 5).stalled(SECOND * 5, MILLI * 500);
    let record = &run.run(stalled, at_rate(50.0, 4, 4)).series[0][1];
    assert!(record.fates[Fate::Shed as usize] >= 15);
    assert_eq!((record.held_up.shed, record.held_up.times.count()), (0, 0), "that was the server's");
}

#[test]
fn a_burst_that_no_backlog_holds_is_shed_by_its_plan_though_a_standstill_makes_it_late() {
    let schedule = Schedule::even(Profile::Burst(Burst { size: 100, every: 1.0, within: 0.0 }));
    let load = Load::Open(Open { schedule, in_flight: 10, backlog: 10 });
    // Each burst is meant for an instant in the middle of one.
    let standstills = (0..10).map(|turn| (SECOND * turn + MILLI * 950, MILLI * 100)).collect();
    let run = Simulated { standstills, ..Simulated::measuring(SECOND * 10) };
    let record = &run.run(Scripted::answering_after(MILLI * 5), load).series[0][1];
    assert!(record.fates[Fate::Shed as usize] >= 720 && record.held_up.times.count() >= 150);
    assert_eq!(record.held_up.shed, 0);
}

#[test]
fn users_whom_supply_keeps_waiting_were_held_up_by_that() {
    let (stages, think) = (Stages::constant(10), Think::Constant(MILLI * 20));
    let load = Closed { stages, spawn_rate: None, think, iterations: Iterations::Endless, seed: 1 };
    let mut run = Simulated::measuring(SECOND * 4);
    run.supply_stall = (SECOND * 2, SECOND * 2 + MILLI * 500);
    let total = run.run(Scripted::answering_after(MILLI).prepared_ahead(), Load::Closed(load));
    let held_up = &total.series[0][1].held_up;
    assert_eq!((held_up.times.count(), held_up.by_supply), (10, 10), "each user waited once");
    assert!(held_up.times.quantile(0.01).unwrap().nanos() > MILLI * 100);
    assert_eq!(total.alarms[1].stood, Nanos::ZERO, "nothing stood still");
}

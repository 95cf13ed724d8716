use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::dispatch::{Load, Open};
use hammer_core::schedule::{Burst, Constant, Profile, Ramp, Schedule};
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Command, Fate, Nanos, Quantile};

use crate::harness::{MILLI, SECOND, Scripted, Simulated, at_rate, bytes_of};

fn at(record: &hammer_measure::Distribution, quantile: f64) -> Nanos {
    match record.quantile(quantile).unwrap() {
        Quantile::At(nanos) => nanos,
        beyond => panic!("{beyond}"),
    }
}

/// 1,000/s for 20 s against a server that answers in 2 ms and stalls for 2 s in the middle.
fn stalled(in_flight: usize, backlog: usize) -> SeriesRecord {
    let server = Scripted::answering_after(MILLI + MILLI).stalled(Nanos::from_secs(10), Nanos::from_secs(2));
    let total = Simulated::measuring(Nanos::from_secs(20)).run(server, at_rate(1_000.0, in_flight, backlog));
    total.series[0][1].clone()
}

#[test]
fn a_stall_shows_in_response_time_though_few_requests_met_it() {
    let record = stalled(8, 10_000);
    assert_eq!(record.fate(Fate::Accepted), 20_000);
    let response = at(&record.response_time(), 0.99);
    assert!(response >= Nanos::from_millis(1_600) && response <= Nanos::from_millis(2_100), "{response}");
    assert!(at(&record.service_time, 0.99) < Nanos::from_millis(50));
    assert!(record.service_time.count_above(SECOND) <= 8, "{}", record.service_time.count_above(SECOND));
}

#[test]
fn with_slots_enough_both_show_the_stall() {
    let record = stalled(5_000, 10_000);
    assert_eq!(record.fate(Fate::Accepted), 20_000);
    assert!(at(&record.response_time(), 0.99) >= Nanos::from_millis(1_600));
    assert!(at(&record.service_time, 0.99) >= Nanos::from_millis(1_600));
    assert_eq!(at(&record.backlog_wait, 0.999), Nanos::ZERO, "nothing waited for a slot");
}

#[test]
fn a_short_backlog_sheds_and_the_percentile_says_beyond() {
    let record = stalled(8, 100);
    assert!(record.fate(Fate::Shed) >= 1_800, "{}", record.fate(Fate::Shed));
    let p99 = record.response_time().quantile(0.99).unwrap();
    assert!(p99.to_string().starts_with("> "), "{p99}");
    assert_eq!(record.offered, 20_000);
}

#[test]
fn answers_have_no_say_in_what_is_offered() {
    let fast = Simulated::measuring(SECOND).run(Scripted::answering_after(Nanos(1)), at_rate(500.0, 10, 10));
    let slow = Simulated::measuring(SECOND).run(Scripted::answering_after(SECOND), at_rate(500.0, 10, 10));
    assert_eq!(fast.series[0][1].offered, 500);
    assert_eq!(slow.series[0][1].offered, 500);
    assert_eq!(slow.series[0][1].fate(Fate::Shed), 480);
}

#[test]
fn what_arrives_with_the_end_of_an_interval_and_finds_a_slot_does_not_wait() {
    for shards in [1, 3] {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let told = Rc::clone(&seen);
        Simulated::measuring(Nanos::from_secs(5)).over(shards).run_telling(
            Arc::new(Scripted::answering_after(MILLI)),
            at_rate(10.0, 8, 8),
            |_, _| None,
            move |interval, is_last| {
                let record = &interval.series[0][1];
                told.borrow_mut().push((record.offered, record.backlog, record.in_flight, is_last));
            },
        );
        let seen = seen.borrow();
        assert!(seen.len() >= 5, "{seen:?}");
        assert!(seen.iter().all(|(_, waiting, _, _)| *waiting == 0), "{shards} shards: {seen:?}");
        // It is under way at the end of one interval, and over in the next.
        assert_eq!(seen.iter().map(|(offered, ..)| offered).sum::<u64>(), 50);
        assert_eq!(seen.iter().map(|(_, _, under_way, _)| under_way).sum::<i64>(), 0);
    }
}

#[test]
fn what_is_sent_and_when_is_the_same_over_one_two_and_seven_shards() {
    let sent = |shards| {
        let server = Scripted::answering_after(MILLI);
        let received = server.received.clone();
        let schedule = Schedule::poisson(Profile::Ramp(Ramp { from: 100.0, to: 900.0, over: 2.0 }), 11, 0);
        let load = Load::Open(Open { schedule, in_flight: 70, backlog: 70 });
        Simulated::measuring(Nanos::from_secs(3)).over(shards).run(server, load);
        received.lock().unwrap().clone()
    };
    let one = sent(1);
    assert!(one.len() > 1_500, "{}", one.len());
    for shards in [2, 7] {
        let split = sent(shards);
        assert!(split.keys().eq(one.keys()));
        assert!(split.values().map(|(_, bytes)| bytes).eq(one.values().map(|(_, bytes)| bytes)));
        // Arrivals within 50 us go together, so the instants of release agree to that.
        assert!(
            split
                .values()
                .zip(one.values())
                .all(|((a, _), (b, _))| a.since(*b).max(b.since(*a)) <= Nanos(50_000))
        );
    }
}

/// How late an arrival of 20,000/s was released at most, while the server, known for its service time, was silent.
fn latest_release(service: Nanos) -> Nanos {
    let mut run = Simulated::measuring(SECOND);
    run.phases.warm_up = SECOND;
    // No answer wakes the shard meanwhile.
    let server = Scripted::answering_after(service).stalled(SECOND + MILLI * 250, MILLI * 500);
    let total = run.run(server, at_rate(20_000.0, 20_000, 0));
    at(&total.series[0][1].dispatch_lag, 1.0)
}

#[test]
fn arrivals_wait_for_each_other_longer_where_answers_take_long() {
    let fast = latest_release(Nanos::from_micros(500));
    assert!(fast <= Nanos::from_micros(51), "{fast}");
    let slow = latest_release(Nanos::from_millis(100));
    assert!(slow >= Nanos::from_micros(190) && slow <= Nanos::from_micros(251), "{slow}");
}

#[test]
fn a_burst_is_released_together() {
    let schedule = Schedule::even(Profile::Burst(Burst { size: 100, every: 0.5, within: 0.0 }));
    let load = Load::Open(Open { schedule, in_flight: 1_000, backlog: 0 });
    let record =
        Simulated::measuring(SECOND).run(Scripted::answering_after(MILLI), load).series[0][1].clone();
    assert_eq!(record.fate(Fate::Accepted), 200);
    assert!(at(&record.dispatch_lag, 1.0) <= Nanos(50_176), "{}", at(&record.dispatch_lag, 1.0));
}

#[test]
fn operations_belong_to_the_phase_of_their_intended_start() {
    let mut run = Simulated::measuring(Nanos::from_secs(2));
    run.phases.warm_up = SECOND;
    let total = run.run(Scripted::answering_after(Nanos::from_millis(1_500)), at_rate(100.0, 1_000, 10));
    let [warm_up, measured] = &total.series[0];
    assert_eq!((warm_up.offered, measured.offered), (100, 200));
    assert_eq!((warm_up.fate(Fate::Accepted), measured.fate(Fate::Accepted)), (100, 200));
}

#[test]
fn a_deadline_counts_at_its_elapsed_time() {
    let mut run = Simulated::measuring(SECOND);
    run.timeout = Nanos::from_millis(100);
    let record = run.run(Scripted::answering_after(SECOND), at_rate(50.0, 100, 10)).series[0][1].clone();
    assert_eq!(record.fate(Fate::TimedOut), 50);
    let response = at(&record.response_time(), 0.5);
    assert!(response >= Nanos::from_millis(100) && response < Nanos::from_millis(115), "{response}");
}

#[test]
fn drain_ends_at_its_deadline_and_what_it_cut_off_is_abandoned() {
    let mut run = Simulated::measuring(SECOND);
    run.phases.drain = SECOND;
    let record =
        run.run(Scripted::answering_after(Nanos::from_secs(20)), at_rate(10.0, 5, 100)).series[0][1].clone();
    assert_eq!(record.fate(Fate::Abandoned), 10, "five in flight, five in the backlog");
    assert_eq!((record.backlog, record.in_flight), (0, 0));
    assert!(matches!(record.response_time().quantile(0.5), Some(Quantile::Beyond(_))));
}

#[test]
fn a_pause_suspends_arrivals_and_a_rate_changes_them() {
    let mut run = Simulated::measuring(Nanos::from_secs(4));
    let start = run.phases.start;
    run.commands = vec![
        (start + SECOND, Command::Pause),
        (start + SECOND + SECOND, Command::Resume),
        (start + Nanos::from_secs(3), Command::Rate { workload: None, factor: 3.0 }),
    ];
    let record = run.run(Scripted::answering_after(MILLI), at_rate(100.0, 10, 10)).series[0][1].clone();
    assert_eq!(record.offered, 100 + 100 + 300);
}

#[test]
fn a_raised_limit_lets_the_backlog_go() {
    let mut run = Simulated::measuring(SECOND);
    let start = run.phases.start;
    run.commands = vec![(start + Nanos::from_millis(500), Command::InFlight { workload: None, limit: 100 })];
    let record = run.run(Scripted::answering_after(Nanos::from_secs(2)), at_rate(100.0, 1, 1_000)).series[0]
        [1]
    .clone();
    assert_eq!(record.fate(Fate::Accepted), 100);
    let longest = at(&record.backlog_wait, 1.0);
    assert!(longest > Nanos::from_millis(400) && longest < Nanos::from_millis(3_600), "{longest}");
}

#[test]
fn a_stop_ends_arrivals_and_what_is_under_way_ends() {
    let mut run = Simulated::measuring(Nanos::from_secs(100));
    run.commands = vec![(run.phases.start + SECOND, Command::Stop { reason: "enough".into() })];
    let record = run.run(Scripted::answering_after(SECOND), at_rate(100.0, 1_000, 10)).series[0][1].clone();
    assert!((100..=101).contains(&record.offered), "{}", record.offered);
    assert_eq!(record.fate(Fate::Accepted), record.offered);
}

#[test]
fn a_flow_of_two_steps_has_a_series_for_each() {
    let server = Scripted { steps: 2, ..Scripted::answering_after(MILLI) };
    let total = Simulated::measuring(SECOND).run(server, at_rate(100.0, 10, 10));
    let [flow, first, second] = [0, 1, 2].map(|series| &total.series[series][1]);
    assert_eq!((flow.offered, first.offered, second.offered), (100, 100, 100));
    assert!(at(&flow.service_time, 1.0) >= MILLI + MILLI, "from the first byte to the last answer");
    assert!(at(&first.service_time, 1.0) < MILLI + MILLI);
    assert_eq!(flow.bytes_out, first.bytes_out + second.bytes_out);
}

#[test]
fn a_stop_while_paused_ends_the_run() {
    let mut run = Simulated::measuring(Nanos::from_secs(100));
    let start = run.phases.start;
    run.commands = vec![
        (start + MILLI * 995, Command::Pause),
        (start + SECOND * 2, Command::Stop { reason: "enough".into() }),
    ];
    let total = run.run(Scripted::answering_after(MILLI), at_rate(100.0, 10, 10));
    assert_eq!(total.series[0][1].offered, 100);
    assert!(total.at <= start + SECOND * 2 + MILLI, "{}", total.at);
}

#[test]
fn a_pause_that_outlasts_the_plan_ends_with_it() {
    let mut run = Simulated::measuring(SECOND * 2);
    let start = run.phases.start;
    run.commands = vec![(start + MILLI * 995, Command::Pause)];
    let total = run.run(Scripted::answering_after(MILLI), at_rate(100.0, 10, 10));
    assert_eq!(total.series[0][1].offered, 100);
    assert!(total.at <= start + SECOND * 2 + MILLI, "{}", total.at);
}

#[test]
fn a_run_without_time_to_drain_leaves_nothing_waiting() {
    let mut run = Simulated::measuring(MILLI * 10);
    run.phases.drain = Nanos::ZERO;
    let record =
        run.run(Scripted::answering_after(MILLI), at_rate(100_000.0, 1_000, 10)).series[0][1].clone();
    assert_eq!((record.offered, record.backlog, record.in_flight), (1_000, 0, 0));
    let abandoned = record.fate(Fate::Abandoned);
    assert!(
        abandoned >= 99,
        "{abandoned}: a millisecond's worth but for the answer that comes with the very end"
    );
}

#[test]
fn a_run_is_over_with_its_last_answer() {
    let mut run = Simulated::measuring(SECOND);
    run.phases.measurement = None;
    let start = run.phases.start;
    let schedule = Schedule::even(Profile::Constant(Constant { rate: 1_000.0 })).operations(100);
    let load = Load::Open(Open { schedule, in_flight: 10, backlog: 10 });
    let total = run.run(Scripted::answering_after(Nanos::from_micros(2_300)), load);
    assert_eq!(total.series[0][1].fate(Fate::Accepted), 100);
    assert_eq!(total.at, start + MILLI * 99 + Nanos::from_micros(2_300));
}

#[test]
fn a_limit_below_the_number_of_shards_leaves_no_shard_without_a_slot() {
    let run = Simulated::measuring(SECOND).over(2);
    let record = run.run(Scripted::answering_after(MILLI), at_rate(100.0, 1, 10)).series[0][1].clone();
    assert_eq!((record.offered, record.fate(Fate::Accepted)), (100, 100));
}

#[test]
fn what_is_prepared_ahead_is_what_would_be_sent_anyway() {
    let sent = |server: Scripted, shards| {
        let received = server.received.clone();
        Simulated::measuring(SECOND).over(shards).run(server, at_rate(1_000.0, 100, 100));
        received.lock().unwrap().clone()
    };
    let inline = sent(Scripted::answering_after(MILLI), 1);
    for shards in [1, 2, 7] {
        assert_eq!(sent(Scripted::answering_after(MILLI).prepared_ahead(), shards), inline);
    }
}

#[test]
fn an_operation_that_is_due_and_not_prepared_is_starved_and_those_after_it_are_their_own() {
    let server = Scripted::answering_after(MILLI).prepared_ahead();
    let received = server.received.clone();
    let mut run = Simulated::measuring(SECOND * 2);
    run.supply.operations = 64;
    run.supply_stall = (run.phases.start + MILLI * 500, run.phases.start + SECOND);
    let record = run.run(server, at_rate(1_000.0, 100, 100)).series[0][1].clone();
    let starved = record.fate(Fate::Starved);
    assert!((430..=445).contains(&starved), "{starved}: what was due in 500 ms less the ring's 64");
    assert_eq!((record.offered, record.fate(Fate::Accepted)), (2_000, 2_000 - starved));
    let received = received.lock().unwrap();
    assert!(received.iter().all(|(seq, (_, bytes))| *bytes == bytes_of(*seq)));
    assert!(received.keys().rev().copied().take(990).eq((1_010..2_000).rev()), "it catches up at once");
}

#[test]
fn a_slow_load_lasts_as_long_as_planned() {
    let run = Simulated::measuring(SECOND * 3);
    let total = run.run(Scripted::answering_after(MILLI), at_rate(0.5, 1, 1));
    assert_eq!(total.series[0][1].offered, 2, "at 0 and at 2 s");
    assert_eq!(total.at, run.phases.start + SECOND * 3);
}

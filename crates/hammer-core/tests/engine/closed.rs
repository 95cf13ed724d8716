use std::sync::Arc;

use hammer_core::dispatch::{Closed, FillGoal, FillLimits, Iterations, Load, Stage, Stages, Think};
use hammer_measure::{Command, Fate, Nanos};

use crate::harness::{MILLI, SECOND, Scripted, Simulated, bytes_of};

fn users(stages: Stages, think: Think, iterations: Iterations) -> Load {
    Load::Closed(Closed { stages, spawn_rate: None, think, iterations, seed: 3 })
}

#[test]
fn users_wait_for_their_answers_and_think() {
    let load = users(Stages::constant(10), Think::Constant(Nanos::from_millis(90)), Iterations::Endless);
    let record =
        Simulated::measuring(SECOND).run(Scripted::answering_after(MILLI * 10), load).series[0][1].clone();
    assert_eq!(record.fate(Fate::Accepted), 100, "10 users, one operation every 100 ms");
}

#[test]
fn users_are_counted_by_group_whatever_the_shards() {
    for shards in [1, 3] {
        let stages = Stages::constant(10).in_groups(4);
        let load = users(stages, Think::Constant(MILLI * 90), Iterations::Endless);
        let run = Simulated::measuring(SECOND).over(shards);
        let record = run.run(Scripted::answering_after(MILLI * 10), load).series[0][1].clone();
        let counted: Vec<_> = record.groups.iter().map(|group| (group.completed, group.accepted)).collect();
        // Ten users in four groups: three, three, two and two.
        assert_eq!(counted, [(30, 30), (30, 30), (20, 20), (20, 20)], "on {shards}");
        assert!(record.groups.iter().all(|group| group.longest == MILLI * 10), "{:?}", record.groups);
        assert_eq!(record.groups[3].time, MILLI * 200);
    }
}

#[test]
fn a_stall_is_not_in_the_figures_of_a_closed_loop() {
    let server = Scripted::answering_after(MILLI * 2).stalled(Nanos::from_secs(10), Nanos::from_secs(2));
    let load = users(Stages::constant(8), Think::Constant(MILLI * 6), Iterations::Endless);
    let record = Simulated::measuring(Nanos::from_secs(20)).run(server, load).series[0][1].clone();
    assert_eq!(
        record.response_time().count_above(SECOND),
        8,
        "one for each user, though 2,000 were not sent"
    );
}

#[test]
fn shared_operations_are_done_once_each_whatever_the_shards() {
    for shards in [1, 2, 7] {
        let server = Scripted::answering_after(MILLI);
        let received = server.received.clone();
        let mut run = Simulated::measuring(SECOND).over(shards);
        run.phases.measurement = None;
        let load = users(Stages::constant(14), Think::Constant(Nanos::ZERO), Iterations::Shared(1_000));
        let total = run.run(server, load);
        assert_eq!(total.series[0][1].fate(Fate::Accepted), 1_000);
        assert!(received.lock().unwrap().keys().copied().eq(0..1_000));
    }
}

fn filled(shards: usize, users_there: usize, server: Scripted, limits: FillLimits) -> (Arc<FillGoal>, u64) {
    let goal = Arc::new(FillGoal::new(1_000, 5_000, limits));
    let mut run = Simulated::measuring(SECOND).over(shards);
    run.phases.measurement = None;
    let iterations = Iterations::Accepted(goal.clone());
    let load = users(Stages::constant(users_there), Think::Constant(Nanos::ZERO), iterations);
    let total = run.run(server, load);
    assert_eq!(total.series[0][1].fate(Fate::Accepted), goal.accepted());
    (goal, total.series[0][1].offered)
}

#[test]
fn a_fill_ends_with_exactly_what_was_asked_for_and_tries_again_what_failed_as_another_operation() {
    let limits = FillLimits { failed: 1_000, in_a_row: 100 };
    for (shards, is_ahead) in [(1, false), (3, true), (7, false)] {
        let server = Scripted::answering_after(MILLI).refusing(|seq| seq % 5 == 2);
        let server = if is_ahead { server.prepared_ahead() } else { server };
        let received = server.received.clone();
        let (goal, offered) = filled(shards, 14, server, limits);
        assert_eq!((goal.accepted(), goal.has_given_up()), (1_000, false));
        assert_eq!(offered, 1_000 + goal.failed(), "every failure had one more in its place");
        let received = received.lock().unwrap();
        assert_eq!((received.len() as u64, received.keys().next()), (offered, Some(&5_000)));
    }
}

#[test]
fn a_fill_that_only_fails_is_given_up_and_names_its_first_failure() {
    for (shards, is_ahead) in [(1, true), (2, false)] {
        let server = Scripted::answering_after(MILLI).refusing(|seq| seq >= 5_300);
        let server = if is_ahead { server.prepared_ahead() } else { server };
        let (goal, _) = filled(shards, 4, server, FillLimits { failed: 1_000, in_a_row: 12 });
        assert!(goal.has_given_up() && goal.accepted() == 300, "{goal:?}");
        let first = goal.first_failure().unwrap();
        assert!((5_300..5_304).contains(&first.seq) && first.accepted >= 297, "{first:?}");
    }
}

#[test]
fn a_fill_with_fewer_users_than_shards_is_whole() {
    let server = Scripted::answering_after(MILLI).refusing(|seq| seq == 5_001);
    let (goal, _) = filled(5, 2, server, FillLimits { failed: 10, in_a_row: 10 });
    assert_eq!((goal.accepted(), goal.failed()), (1_000, 1));
}

#[test]
fn an_operation_is_named_by_its_user_and_iteration() {
    let keys = |shards| {
        let server = Scripted::answering_after(MILLI * 10);
        let received = server.received.clone();
        let load = users(Stages::constant(4), Think::Constant(MILLI * 90), Iterations::Endless);
        Simulated::measuring(SECOND).over(shards).run(server, load);
        received.lock().unwrap().clone()
    };
    let one = keys(1);
    assert!(one.keys().copied().eq(0..40), "4 users, 10 iterations");
    assert!(keys(2).iter().eq(one.iter()), "the same bytes at the same instants");
    assert!(keys(3).iter().eq(one.iter()));
}

#[test]
fn users_arrive_by_stages() {
    let stages = Stages::ramped(0, vec![Stage { users: 10, over: Nanos::from_secs(10) }]);
    let load = users(stages, Think::Constant(SECOND), Iterations::Endless);
    let record = Simulated::measuring(Nanos::from_secs(10))
        .run(Scripted::answering_after(Nanos(1)), load)
        .series[0][1]
        .clone();
    assert!((50..=60).contains(&record.offered), "{}: the area under the ramp", record.offered);
}

#[test]
fn users_of_stages_come_by_the_stages_whatever_the_spawn_rate() {
    let ramped = |first, spawn_rate| {
        let stages = Stages::ramped(first, vec![Stage { users: 20, over: SECOND }]);
        let think = Think::Constant(MILLI * 100);
        let load = Closed { stages, spawn_rate, think, iterations: Iterations::Endless, seed: 3 };
        let run = Simulated::measuring(SECOND * 4);
        run.run(Scripted::answering_after(Nanos(1)), Load::Closed(load)).series[0][1].user_time.as_secs_f64()
    };
    let by_stages = ramped(0, None);
    assert!((69.0..=70.0).contains(&by_stages), "{by_stages}: the area under the stages");
    assert!((ramped(0, Some(2.0)) - by_stages).abs() < 0.1, "nobody is there from the start");
    // The second of two, each a user fewer for half a second.
    let (at_once, spaced) = (ramped(2, Some(1e6)), ramped(2, Some(2.0)));
    assert!((0.4..0.6).contains(&(at_once - spaced)), "{at_once} - {spaced}");
}

#[test]
fn many_users_of_a_steep_stage_are_not_held_apart() {
    let stages = Stages::ramped(0, vec![Stage { users: 2_000, over: MILLI * 10 }]);
    let load = users(stages, Think::Constant(SECOND * 60), Iterations::Endless);
    let total = Simulated::measuring(MILLI * 20).run(Scripted::answering_after(Nanos(1)), load);
    assert_eq!(total.series[0][1].offered, 2_000);
}

#[test]
fn at_a_rate_that_no_time_suffices_for_the_first_user_alone_enters() {
    let (stages, think) = (Stages::constant(5), Think::Constant(SECOND * 60));
    for spawn_rate in [1e-11, 1e-300, 1.5e-10] {
        let load = Closed {
            stages: stages.clone(),
            spawn_rate: Some(spawn_rate),
            think,
            iterations: Iterations::Endless,
            seed: 3,
        };
        let total = Simulated::measuring(SECOND).run(Scripted::answering_after(MILLI), Load::Closed(load));
        assert_eq!(total.series[0][1].offered, 1, "{spawn_rate}/s");
    }
}

#[test]
fn a_pause_holds_users_back() {
    let mut run = Simulated::measuring(Nanos::from_secs(3));
    let start = run.phases.start;
    run.commands = vec![(start + SECOND, Command::Pause), (start + SECOND + SECOND, Command::Resume)];
    let load = users(Stages::constant(1), Think::Constant(MILLI * 9), Iterations::Endless);
    let record = run.run(Scripted::answering_after(MILLI), load).series[0][1].clone();
    assert!((199..=202).contains(&record.offered), "{}", record.offered);
    assert!(record.response_time().count_above(MILLI * 100) == 0, "the pause is in nobody's figures");
}

#[test]
fn a_think_time_is_kept_to_the_nanosecond() {
    let load = users(Stages::constant(3), Think::Constant(MILLI * 3), Iterations::Endless);
    let record =
        Simulated::measuring(SECOND).run(Scripted::answering_after(MILLI), load).series[0][1].clone();
    assert_eq!(record.fate(Fate::Accepted), 750, "3 users, one operation every 4 ms");
    assert_eq!(record.dispatch_lag.summary().unwrap().max, Nanos::ZERO);
}

#[test]
fn shared_operations_prepared_ahead_are_done_once_each_whatever_the_shards() {
    for shards in [1, 2, 7] {
        let server = Scripted::answering_after(MILLI).prepared_ahead();
        let received = server.received.clone();
        let mut run = Simulated::measuring(SECOND).over(shards);
        run.phases.measurement = None;
        run.supply.operations = 8;
        let load = users(Stages::constant(14), Think::Constant(Nanos::ZERO), Iterations::Shared(1_000));
        let total = run.run(server, load);
        assert_eq!(total.series[0][1].fate(Fate::Accepted), 1_000);
        let received = received.lock().unwrap();
        assert!(received.keys().copied().eq(0..1_000));
        assert!(received.iter().all(|(seq, (_, bytes))| *bytes == bytes_of(*seq)));
    }
}

#[test]
fn users_whose_operations_are_prepared_ahead_send_what_they_would_send_anyway() {
    let sent = |server: Scripted, shards| {
        let received = server.received.clone();
        let load = users(Stages::constant(4), Think::Constant(MILLI * 90), Iterations::Endless);
        Simulated::measuring(SECOND).over(shards).run(server, load);
        received.lock().unwrap().clone()
    };
    let inline = sent(Scripted::answering_after(MILLI * 10), 1);
    for shards in [1, 2, 7] {
        let ahead = sent(Scripted::answering_after(MILLI * 10).prepared_ahead(), shards);
        assert_eq!(ahead, inline, "the same bytes at the same instants over {shards} shards");
    }
}

#[test]
fn fewer_users_than_shards_do_all_that_is_shared() {
    for server in [Scripted::answering_after(MILLI), Scripted::answering_after(MILLI).prepared_ahead()] {
        let mut run = Simulated::measuring(SECOND).over(7);
        run.phases.measurement = None;
        let load = users(Stages::constant(3), Think::Constant(Nanos::ZERO), Iterations::Shared(100));
        let record = run.run(server, load).series[0][1].clone();
        assert_eq!((record.offered, record.fate(Fate::Accepted)), (100, 100));
    }
}

#[test]
fn the_end_of_what_is_shared_waits_for_nobody_who_thinks() {
    let mut run = Simulated::measuring(SECOND);
    run.phases.measurement = None;
    let start = run.phases.start;
    let load = users(Stages::constant(2), Think::Constant(SECOND * 60), Iterations::Shared(2));
    let total = run.run(Scripted::answering_after(MILLI), load);
    assert_eq!(total.series[0][1].fate(Fate::Accepted), 2);
    // The second user starts 100 us after the first.
    assert_eq!(total.at, start + Nanos::from_micros(100) + MILLI, "over as the last answer is there");
}

#[test]
fn users_who_wait_for_supply_leave_at_the_end() {
    let mut run = Simulated::measuring(SECOND);
    let start = run.phases.start;
    run.supply_stall = (start + MILLI * 100, Nanos::MAX);
    let load = users(Stages::constant(2), Think::Constant(MILLI * 9), Iterations::Endless);
    let total = run.run(Scripted::answering_after(MILLI).prepared_ahead(), load);
    let record = &total.series[0][1];
    assert!(record.offered < 30 && record.fate(Fate::Accepted) == record.offered, "{}", record.offered);
    assert!(total.at <= start + SECOND + MILLI, "{}", total.at);
}

#[test]
fn a_stop_while_paused_ends_the_run() {
    let mut run = Simulated::measuring(Nanos::from_secs(100));
    let start = run.phases.start;
    run.commands = vec![
        (start + SECOND, Command::Pause),
        (start + SECOND * 2, Command::Stop { reason: "enough".into() }),
    ];
    let load = users(Stages::constant(2), Think::Constant(MILLI * 9), Iterations::Endless);
    let total = run.run(Scripted::answering_after(MILLI), load);
    assert_eq!(total.series[0][1].fate(Fate::Abandoned), 0);
    assert!(total.at <= start + SECOND * 2 + MILLI, "{}", total.at);
}

#[test]
fn a_pause_that_outlasts_the_plan_ends_with_it() {
    let mut run = Simulated::measuring(SECOND * 2);
    let start = run.phases.start;
    run.commands = vec![(start + SECOND, Command::Pause)];
    let load = users(Stages::constant(2), Think::Constant(MILLI * 9), Iterations::Endless);
    let total = run.run(Scripted::answering_after(MILLI), load);
    assert!(total.at <= start + SECOND * 2 + MILLI, "{}", total.at);
}

#[test]
fn a_load_whose_users_think_past_the_end_lasts_as_long_as_planned() {
    let load = users(Stages::constant(1), Think::Constant(SECOND * 60), Iterations::Endless);
    let run = Simulated::measuring(SECOND * 3);
    let total = run.run(Scripted::answering_after(MILLI), load);
    assert_eq!(total.series[0][1].offered, 1);
    assert_eq!(total.at, run.phases.start + SECOND * 3);
}

/// Linearly from none to ten over a second, and ten for another.
#[test]
fn users_count_from_when_they_arrive() {
    let stages = vec![Stage { users: 10, over: SECOND }, Stage { users: 10, over: SECOND }];
    let load = users(Stages::ramped(0, stages), Think::Constant(MILLI * 9), Iterations::Endless);
    let record =
        Simulated::measuring(SECOND * 2).run(Scripted::answering_after(MILLI), load).series[0][1].clone();
    let present = record.user_time.as_secs_f64() / 2.0;
    assert!((7.3..7.9).contains(&present), "{present} users on average, not ten");
    let cycles = record.completed() as f64 / 2.0;
    assert!((present / cycles - 0.010).abs() < 0.0003, "users divided by rate is their cycle of 10 ms");
}

/// Ten for a second, and five for another, since a command leaves the others out.
#[test]
fn users_whom_a_command_leaves_out_are_not_there() {
    let load = users(Stages::constant(10), Think::Constant(MILLI * 9), Iterations::Endless);
    let mut run = Simulated::measuring(SECOND * 2);
    let at = run.phases.start + SECOND;
    run.commands = vec![(at, Command::InFlight { workload: None, limit: 5 })];
    let record = run.run(Scripted::answering_after(MILLI), load).series[0][1].clone();
    let present = record.user_time.as_secs_f64() / 2.0;
    assert!((7.3..7.7).contains(&present), "{present} users on average");
    let cycles = record.completed() as f64 / 2.0;
    assert!((present / cycles - 0.010).abs() < 0.0003, "users divided by rate is their cycle of 10 ms");
}

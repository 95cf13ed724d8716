use hammer_measure::promise::Breach;
use hammer_measure::{Command, CommandId, Nanos, Outcome, RunEvent};

use super::history::{MOST_POINTS, Spread};
use super::log::MOST_LINES;
use super::panel::{PanelFigures, Throttle};
use super::workload::{KeyDirection, SteeredWorkload};
use super::*;
use crate::tui::fixture::{PANEL_OF_LOG, PANEL_OF_NOTARY, Run, SECOND, workload};
use crate::tui::spec::{PanelSide, PanelTimes};

fn panel(run: &Run) -> PanelFigures {
    PanelFigures::of(&run.state).unwrap()
}

#[test]
fn the_service_time_of_the_panel_is_that_of_writes_of_the_last_30_s() {
    let mut run = Run::of_log();
    run.end(0, Outcome::Accepted, [5_000]);
    run.end(2, Outcome::Accepted, [9_000]);
    run.interval(SECOND);
    run.end(0, Outcome::Accepted, [10]);
    run.end(1, Outcome::Accepted, [30]);
    run.interval(SECOND);
    let Spread { count, max, .. } = panel(&run).service_time.unwrap();
    assert_eq!(count, 3, "a read is no write");
    assert!(max >= Nanos::from_millis(4_990));
    (0..29).for_each(|_| run.interval(SECOND));
    let spread = panel(&run).service_time.unwrap();
    assert_eq!(spread.count, 2, "the first second is 30 s ago");
    assert_eq!(spread.mean().as_millis_f64().round(), 20.0);
    assert!(spread.min.as_millis_f64().round() == 10.0 && spread.max.as_millis_f64().round() == 30.0);
    run.interval(SECOND);
    assert!(panel(&run).service_time.is_none());
}

#[test]
fn oversupply_is_what_was_shed_or_still_waits_of_the_last_second() {
    let mut run = Run::of_log();
    run.wait(0, 100);
    run.interval(SECOND);
    assert_eq!(panel(&run).write.unwrap().oversupply, 100);
    run.shed(0, 7);
    run.wait(0, 5);
    run.interval(SECOND);
    let write = panel(&run).write.unwrap();
    assert_eq!(
        write,
        Throttle { workers: 128, current_max: Some(128.0), oversupply: 12 },
        "the 100 are not of this second"
    );
    assert_eq!(panel(&run).read.unwrap().oversupply, 0);
}

#[test]
fn reads_of_a_workload_that_writes_as_well_stand_among_reads() {
    let mut run = Run::of_clerks();
    run.interval(SECOND);
    run.end(0, Outcome::Accepted, [7_000, 7_000]);
    run.end(1, Outcome::Accepted, [10; 8]);
    run.end(2, Outcome::Accepted, [10; 5]);
    run.interval(SECOND);
    let panel = panel(&run);
    let Spread { count, min, .. } = panel.service_time.unwrap();
    assert_eq!((count, min.as_secs_f64().round()), (2, 7.0), "a copy is no seal");
    let throttle = |workers, current_max| Throttle { workers, current_max: Some(current_max), oversupply: 0 };
    assert_eq!((panel.write, panel.read), (Some(throttle(16, 2.0)), Some(throttle(18, 13.0))));
    let operations = |side| run.state.operations(Some(side));
    assert_eq!((operations(PanelSide::Writes), operations(PanelSide::Reads)), (vec![0], vec![1, 2]));
}

#[test]
fn short_intervals_are_put_together_to_a_second() {
    let mut run = Run::of_log();
    for _ in 0..10 {
        run.end(0, Outcome::Accepted, [10, 20]);
        run.shed(0, 1);
        run.interval(Nanos::from_millis(100));
    }
    let points: Vec<_> = run.state.history.recent().collect();
    assert_eq!(points.len(), 1);
    assert_eq!((points[0].span, points[0].series[0].offered, points[0].series[0].accepted), (SECOND, 30, 20));
    assert_eq!(panel(&run).write.unwrap().oversupply, 10);
}

#[test]
fn the_size_grows_by_what_was_seen_over_the_window() {
    let mut run = Run::of_log();
    let size = PANEL_OF_LOG.size.unwrap().observation;
    run.interval(SECOND);
    assert_eq!((panel(&run).size, panel(&run).growth), (None, None));
    for second in 0..40 {
        run.observe(size, 1_000.0 + 62.0 * f64::from(second));
        run.interval(SECOND);
    }
    let panel = panel(&run);
    assert_eq!(panel.size, Some(1_000.0 + 62.0 * 39.0));
    let (rate, over) = panel.growth.unwrap();
    assert_eq!(rate, 62.0);
    assert_eq!(over, Nanos::from_secs(30), "from the size at the start of the window");
}

#[test]
fn the_sizes_of_several_targets_add_up() {
    let mut run = Run::of_notary(PANEL_OF_NOTARY);
    run.observe("early/pages", 1_000.0);
    run.observe("late/pages", 30.0);
    run.observe("webpages", 7.0);
    run.interval(SECOND);
    assert_eq!(panel(&run).size, Some(1_030.0));
}

/// What the panel says of times that are observed under these names.
fn observed(run: &mut Run, names: [&str; 3]) -> [Option<[f64; 3]>; 2] {
    for (name, value) in names.into_iter().zip([1.314, 4.714, 8.963]) {
        run.observe(name, value);
    }
    run.interval(SECOND);
    let PanelFigures { times, from_intended, .. } = panel(run);
    [times, from_intended].map(|times| Some(times?.map(|nanos| nanos.as_millis_f64().round())))
}

#[test]
fn the_times_of_the_panel_come_from_observers_alone() {
    let PanelTimes { observations, from_intended, .. } = PANEL_OF_LOG.times.unwrap();
    let millis = Some([1_314.0, 4_714.0, 8_963.0]);
    let mut run = Run::of_log();
    run.interval(SECOND);
    assert_eq!((panel(&run).times, panel(&run).from_intended), (None, None));
    assert_eq!(observed(&mut run, observations), [millis, None]);
    assert_eq!(observed(&mut Run::of_log(), from_intended.unwrap()), [None, millis]);
    let mut run = Run::of_notary(PANEL_OF_NOTARY);
    assert_eq!(observed(&mut run, observations), [None, None], "they are no words of the notary's");
    assert_eq!(observed(&mut run, ["bound_min", "bound_avg", "bound_max"]), [millis, None]);
}

#[test]
fn a_plan_without_a_panel_has_none() {
    assert!(PanelFigures::of(&Run::of_web().state).is_none());
}

#[test]
fn a_soak_keeps_its_memory_flat_and_its_last_hour() {
    let mut run = Run::of_web();
    let mut offered = 0;
    for second in 0..5_000_u64 {
        run.shed(0, 1);
        run.interval(SECOND);
        run.state.take(&RunEvent::Note { at: Nanos::ZERO, text: format!("second {second}") });
        let thinned = run.state.history.thinned();
        assert!(thinned.len() <= MOST_POINTS);
        let sum: u64 = thinned.map(|point| point.series[0].offered).sum();
        offered = sum;
        if second < 3_600 {
            assert_eq!(sum, second + 1, "nothing of the first hour is lost");
        }
    }
    assert!((3_600..=3_900).contains(&offered), "{offered}");
    assert!(run.state.history.recent().count() <= 30);
    assert_eq!(run.state.log.len(), MOST_LINES);
    assert_eq!(run.state.log.forgotten(), 5_001 - MOST_LINES as u64);
}

#[test]
fn as_many_steps_back_as_forth_end_at_the_planned_rate() {
    let mut load = SteeredWorkload::planned(workload("submit", PanelSide::Writes, 100.0, 8));
    let up = load.change_rate(KeyDirection::Up);
    assert_eq!(up, Some(Command::Rate { workload: Some("submit".to_owned()), factor: 1.1 }));
    (0..9).for_each(|_| drop(load.change_rate(KeyDirection::Up)));
    (0..10).for_each(|_| drop(load.change_rate(KeyDirection::Down)));
    assert!((load.factor - 1.0).abs() < 1e-6, "{}", load.factor);
    assert!((load.current_rate().unwrap() - 100.0).abs() < 1e-4);
    while load.change_rate(KeyDirection::Down).is_some() {}
    assert!(load.factor >= 0.001);
}

#[test]
fn a_limit_never_falls_to_none() {
    let mut load = SteeredWorkload::planned(workload("submit", PanelSide::Writes, 100.0, 3));
    let limits = std::iter::from_fn(|| load.change_in_flight(KeyDirection::Down));
    let limits: Vec<_> = limits
        .map(|command| match command {
            Command::InFlight { limit, .. } => limit,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(limits, [2, 1]);
    assert_eq!(load.in_flight, 1);
}

#[test]
fn a_log_that_was_scrolled_up_stays_where_it_is() {
    let mut run = Run::of_log();
    let breach = Breach {
        workload: "submit".to_owned(),
        seq: Some(7),
        kind: "bad-sct-signature".to_owned(),
        index: None,
        detail: "it does not verify".to_owned(),
    };
    run.state.take(&RunEvent::Note { at: SECOND, text: "the second of three lines".to_owned() });
    run.state.screen.below = 1;
    run.state.take(&RunEvent::Breach { at: SECOND, breach });
    assert_eq!(run.state.screen.below, 2);
    let last = run.state.log.entries().next_back().unwrap();
    assert_eq!(
        (last.kind, last.text.as_str()),
        (EntryKind::Broken, "submit 7: bad-sct-signature: it does not verify")
    );
}

#[test]
fn an_answer_that_comes_behind_the_next_key_sets_nothing_back() {
    let mut state = Run::of_web().state;
    let command = |factor| Command::Rate { workload: Some("web".to_owned()), factor };
    let answer = |id, factor| RunEvent::Command {
        id: CommandId(id),
        at: Nanos::from_secs(1),
        command: command(factor),
        refused: Vec::new(),
    };
    state.workloads[0].factor = 1.21;
    state.asked_last = Some(CommandId(2));
    state.take(&answer(1, 1.1));
    assert!((state.workloads[0].factor - 1.21).abs() < 1e-9);
    state.take(&answer(2, 1.21));
    // Somebody else steers as well.
    state.take(&answer(3, 0.5));
    assert!((state.workloads[0].factor - 0.5).abs() < 1e-9);
}

#[test]
fn an_interval_where_phases_meet_tells_neither_rates_nor_a_share_of_cores() {
    let mut run = Run::of_web();
    let rated = |run: &Run| run.state.rated.clone().map(|rated| (rated.span, rated.cpu_share));
    run.interval(Nanos::from_millis(17));
    assert_eq!(rated(&run), None, "a sliver is no first interval either");
    run.interval(SECOND);
    assert_eq!(rated(&run), Some((SECOND, Some(0.0))));
    run.cpu += 0.5;
    run.end(0, Outcome::Accepted, [1; 40]);
    run.interval(SECOND);
    run.cpu += 0.02;
    run.end(0, Outcome::Accepted, [1]);
    run.interval(Nanos::from_micros(120));
    assert_eq!(rated(&run), Some((SECOND, Some(0.25))));
    assert_eq!(run.state.rated.unwrap().series(0).unwrap().offered, 40);
}

#[test]
fn of_the_first_interval_no_share_of_cores_is_known() {
    let mut run = Run::of_web();
    run.interval(SECOND);
    assert_eq!(run.state.rated.unwrap().cpu_share, None);
}

#[test]
fn the_size_grows_over_the_time_between_the_two_that_were_seen() {
    let mut run = Run::of_log();
    for second in 0..8_u32 {
        // Observers look less often than intervals end.
        if second.is_multiple_of(4) {
            run.observe(PANEL_OF_LOG.size.unwrap().observation, 100.0 * f64::from(second));
        }
        run.interval(SECOND);
    }
    assert_eq!(panel(&run).growth, Some((100.0, Nanos::from_secs(4))));
}

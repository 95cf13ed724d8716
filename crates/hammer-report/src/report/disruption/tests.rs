use hammer_measure::event::{Beside, HookExit};
use hammer_measure::{Detail, Nanos, Outcome, Phase, RunEvent, SeriesInfo};

use super::*;
use crate::fixture::{Story, operation, report_of};
use crate::report::Report;
use crate::text::render;

/// What happens in a second.
#[derive(Clone, Copy)]
enum Second {
    /// So many are accepted, the slowest after so many milliseconds.
    Accepted(u64, u64),
    /// So many are answered with 500.
    Failed(u64),
    /// So many are started, and none ends.
    Hung(u64),
    /// Nothing is due.
    Quiet,
}

use Second::{Accepted, Failed, Hung, Quiet};

/// Measurement second by second, with hooks that started before the second of that number.
fn run(series: SeriesInfo, seconds: &[Second], hooks: &[(usize, &str)]) -> Report {
    let at = (0, Phase::Measurement);
    let mut story = Story::new(vec![series]);
    story.phase(Phase::Measurement);
    for (place, second) in seconds.iter().enumerate() {
        for (_, name) in hooks.iter().filter(|(second, _)| *second == place) {
            let at = Nanos::from_secs(place as u64);
            let name = (*name).to_owned();
            story.events.push(RunEvent::Beside { at, what: Beside::HookStarted { name: name.clone() } });
            let ended = Beside::HookEnded { name, started: at, exit: HookExit::Status(0), cut_off: false };
            story.events.push(RunEvent::Beside { at: at + Nanos::from_millis(5), what: ended });
        }
        match *second {
            Accepted(count, most) => {
                story.accept(0, Phase::Measurement, count, Nanos(most * 1_000_000 / count));
            }
            Failed(count) => {
                let failed = (Outcome::ServerError, Detail::Status(500));
                story.end(at, count, Nanos::from_micros(10), failed);
            }
            Hung(count) => story.start(at, count),
            Quiet => {}
        }
        story.interval(Phase::Measurement);
    }
    story.phase(Phase::Drain);
    report_of(&story.finish(|_| {}))
}

fn open() -> SeriesInfo {
    operation("sign", "sign")
}

fn closed() -> SeriesInfo {
    SeriesInfo { closed_loop: true, ..open() }
}

const GOOD: Second = Accepted(100, 20);

fn seconds(nanos: Option<u64>) -> Option<f64> {
    nanos.map(|nanos| nanos as f64 / 1e9)
}

#[test]
fn an_outage_has_its_ends_its_fates_and_the_time_until_all_was_as_before() {
    let course =
        [GOOD, GOOD, GOOD, Failed(100), Failed(100), Hung(100), Accepted(300, 900), GOOD, GOOD, GOOD];
    let report = run(open(), &course, &[(3, "kill"), (5, "start")]);
    let [outage] = &report.disruptions[..] else { panic!("{:?}", report.disruptions) };
    assert_eq!((outage.kind, outage.path.as_str()), (DisruptionKind::Outage, "sign/sign"));
    assert_eq!((outage.from_ns, seconds(outage.to_ns)), (3_000_000_000, Some(6.0)));
    assert_eq!(seconds(outage.recovered_ns), Some(7.0), "what had waited is late for another second");
    assert_eq!((outage.fates.accepted, outage.fates.server_error, outage.fates.in_flight), (0, 200, 100));
    assert_eq!(outage.before.unwrap().accepted_per_s, 100.0);
    assert_eq!(outage.within.accepted_per_s, 75.0);
    let names: Vec<_> =
        outage.beside.iter().filter_map(Event::beside_words).map(|(_, words)| words).collect();
    let expected = [
        "kill started",
        "kill ended after 5.00ms with status 0",
        "start started",
        "start ended after 5.00ms with status 0",
    ];
    assert_eq!(names, expected);
    let text = render(&report);
    let said = text.lines().skip_while(|line| !line.starts_with("outage")).take(8).collect::<Vec<_>>();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_silence_that_most_operations_met_starts_where_it_did_and_is_in_no_figure_of_before() {
    let mut course = vec![GOOD; 5];
    course.extend([Hung(100); 10]);
    // Most of all response times are longer than a quarter of the silence.
    course.extend([Accepted(1_100, 11_000), GOOD, GOOD, GOOD]);
    for hooks in [&[(5, "hang")][..], &[]] {
        let report = run(open(), &course, hooks);
        let [outage] = &report.disruptions[..] else { panic!("{hooks:?}: {:?}", report.disruptions) };
        assert_eq!((outage.kind, outage.from_ns), (DisruptionKind::Outage, 5_000_000_000));
        assert_eq!((seconds(outage.to_ns), seconds(outage.recovered_ns)), (Some(15.0), Some(16.0)));
        assert_eq!(outage.before.unwrap().accepted_per_s, 100.0, "{hooks:?}");
        assert_eq!(outage.within.accepted_per_s, 100.0, "1,100 in eleven seconds");
    }
    // Nobody did anything, and in the end all failed.
    course.truncate(15);
    course.extend([Failed(1_100), GOOD, GOOD, GOOD]);
    let report = run(open(), &course, &[]);
    let [outage] = &report.disruptions[..] else { panic!("{:?}", report.disruptions) };
    assert_eq!((outage.from_ns, outage.before.unwrap().accepted_per_s), (5_000_000_000, 100.0));
}

#[test]
fn what_is_never_accepted_again_has_no_end() {
    let report = run(closed(), &[GOOD, GOOD, GOOD, Failed(100), Failed(100)], &[]);
    let [outage] = &report.disruptions[..] else { panic!("{:?}", report.disruptions) };
    assert_eq!((outage.from_ns, outage.to_ns, outage.recovered_ns), (3_000_000_000, None, None));
    let text = render(&report).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("200 server error; not accepted again by the end of measurement before"), "{text}");
}

#[test]
fn a_server_that_flaps_is_in_one_outage_until_two_seconds_in_a_row_were_good() {
    let course = [GOOD, GOOD, Failed(50), GOOD, Failed(50), GOOD, GOOD, GOOD, Failed(50), GOOD, GOOD];
    let report = run(open(), &course, &[]);
    let ends: Vec<_> =
        report.disruptions.iter().map(|one| (one.from_ns / 1_000_000_000, seconds(one.to_ns))).collect();
    assert_eq!(ends, [(2, Some(5.0)), (8, Some(9.0))]);
    assert_eq!(report.disruptions[0].fates.server_error, 100);
}

#[test]
fn a_server_that_is_throttled_slows_down_and_is_no_outage() {
    let slow = Accepted(100, 400);
    let few = Accepted(20, 20);
    for (series, slowed) in [(open(), slow), (closed(), few)] {
        let mut course = vec![GOOD; 12];
        course[4..8].fill(slowed);
        let report = run(series.clone(), &course, &[(4, "throttle"), (8, "free")]);
        if series.closed_loop {
            // Users who wait are under way; in this story nobody is, so that an open loop offered as few.
            assert_eq!(report.disruptions, []);
            continue;
        }
        let [slowdown] = &report.disruptions[..] else { panic!("{:?}", report.disruptions) };
        assert_eq!(slowdown.kind, DisruptionKind::Slowdown);
        assert_eq!((slowdown.from_ns, seconds(slowdown.to_ns)), (4_000_000_000, Some(8.0)));
        assert_eq!(slowdown.recovered_ns, slowdown.to_ns);
        // The same without a hook or a mark is the load's affair.
        assert_eq!(run(series, &course, &[]).disruptions, []);
    }
}

#[test]
fn users_who_wait_and_are_served_less_often_are_a_slowdown() {
    let mut story = Story::new(vec![closed()]);
    story.phase(Phase::Measurement);
    story.start((0, Phase::Measurement), 20);
    for second in 0..12 {
        if second == 4 {
            let what = Beside::Mark { source: "marks".to_owned(), text: "throttled".to_owned() };
            story.events.push(RunEvent::Beside { at: Nanos::from_secs(4), what });
        }
        let count = if (4..8).contains(&second) { 20 } else { 100 };
        story.accept(0, Phase::Measurement, count, Nanos::from_micros(200));
        story.interval(Phase::Measurement);
    }
    let report = report_of(&story.finish(|_| {}));
    let [slowdown] = &report.disruptions[..] else { panic!("{:?}", report.disruptions) };
    assert_eq!((slowdown.from_ns, seconds(slowdown.to_ns)), (4_000_000_000, Some(8.0)));
    assert_eq!(slowdown.within.accepted_per_s, 20.0);
}

#[test]
fn a_run_that_is_served_evenly_or_has_little_to_do_has_no_disruption() {
    let noisy = [Accepted(100, 20), Accepted(91, 31), Accepted(112, 25), Accepted(95, 18)];
    let ramp = [Accepted(10, 5), Accepted(100, 20), Accepted(200, 60), Accepted(100, 20), Quiet, Quiet];
    let rare = [Accepted(1, 3), Quiet, Hung(1), Hung(1), Accepted(1, 900), Quiet];
    for (course, hooks) in [
        (&noisy[..], &[(2, "idle")][..]),
        (&ramp[..], &[][..]),
        (&ramp[..], &[(3, "idle")][..]),
        (&rare[..], &[][..]),
    ] {
        let report = run(open(), course, hooks);
        assert_eq!(report.disruptions, [], "{hooks:?}");
    }
    assert_eq!(run(open(), &[Failed(10), Failed(10)], &[]).disruptions, [], "it never was another way");
    // Three of four fail, from the start to the end.
    let mut story = Story::new(vec![open()]);
    story.phase(Phase::Measurement);
    for _ in 0..5 {
        story.accept(0, Phase::Measurement, 50, Nanos::from_micros(10));
        let failed = (Outcome::ServerError, Detail::Status(500));
        story.end((0, Phase::Measurement), 150, Nanos::from_micros(10), failed);
        story.interval(Phase::Measurement);
    }
    assert_eq!(report_of(&story.finish(|_| {})).disruptions, []);
}

#[test]
fn half_of_all_that_fails_by_chance_is_no_outage_and_what_comes_on_top_is_one() {
    let halves = [(27, 33), (33, 27), (30, 30), (27, 33), (34, 26)];
    let of = |parts: &[(u64, u64)]| {
        let mut story = Story::new(vec![open()]);
        story.phase(Phase::Measurement);
        for (accepted, refused) in parts {
            let failed = (Outcome::ServerError, Detail::Status(500));
            story.accept(0, Phase::Measurement, *accepted, Nanos::from_micros(10));
            story.end((0, Phase::Measurement), *refused, Nanos::from_micros(10), failed);
            story.interval(Phase::Measurement);
        }
        report_of(&story.finish(|_| {})).disruptions
    };
    assert_eq!(of(&halves), []);
    let found = of(&[&halves[..], &[(3, 57), (0, 60)], &halves].concat());
    let [outage] = &found[..] else { panic!("{found:?}") };
    assert_eq!((outage.kind, outage.from_ns), (DisruptionKind::Outage, 5_000_000_000));
    assert_eq!(seconds(outage.to_ns), Some(7.0));
}

#[test]
fn a_share_of_failures_is_no_outage_and_silence_is_one_where_much_was_usual() {
    let mut story = Story::new(vec![open()]);
    story.phase(Phase::Measurement);
    for _ in 0..6 {
        story.accept(0, Phase::Measurement, 70, Nanos::from_micros(10));
        let failed = (Outcome::Pushback, Detail::Status(503));
        story.end((0, Phase::Measurement), 30, Nanos::from_micros(10), failed);
        story.interval(Phase::Measurement);
    }
    assert_eq!(report_of(&story.finish(|_| {})).disruptions, []);
    let report = run(open(), &[GOOD, GOOD, Hung(100), Accepted(200, 900), GOOD, GOOD], &[]);
    let [outage] = &report.disruptions[..] else { panic!("{:?}", report.disruptions) };
    assert_eq!((outage.kind, seconds(outage.to_ns)), (DisruptionKind::Outage, Some(3.0)));
}

/// Rekor v2 with a checkpoint every 10 s: what came since the last one is answered at once, after 5 s on average.
#[test]
fn a_server_that_answers_in_batches_is_silent_between_them_and_in_no_outage() {
    let batch = [&[Hung(100); 9][..], &[Accepted(1000, 10_000)]].concat();
    let report = run(open(), &batch.repeat(4), &[]);
    assert_eq!(report.disruptions, []);
    // A checkpoint that does not come for long is another thing.
    let stopped = [batch.repeat(2), vec![Hung(100); 45], batch.repeat(2)].concat();
    let report = run(open(), &stopped, &[]);
    let [outage] = &report.disruptions[..] else { panic!("{:?}", report.disruptions) };
    assert_eq!((outage.kind, outage.from_ns), (DisruptionKind::Outage, 20_000_000_000));
}

#[test]
fn answers_that_grow_slow_by_themselves_after_a_silence_by_chance_are_no_slowdown() {
    // Of four a second, a second has none by chance.
    let few = Accepted(4, 20);
    let slow = Accepted(4, 400);
    let course = [&[few; 6][..], &[Hung(4), Accepted(8, 900), few, few, few], &[slow; 5]].concat();
    assert_eq!(run(open(), &course, &[]).disruptions, []);
    // The same after a hook, where the silence is in what was before, though it came early.
    let course = [&[few, Hung(4), Accepted(8, 20)][..], &[few; 6], &[slow; 3]].concat();
    let report = run(open(), &course, &[(9, "throttle")]);
    let [slowdown] = &report.disruptions[..] else { panic!("{:?}", report.disruptions) };
    assert_eq!((slowdown.kind, slowdown.from_ns), (DisruptionKind::Slowdown, 9_000_000_000));
    assert_eq!(slowdown.before.unwrap().accepted_per_s, 4.0);
}

#[test]
fn answers_that_grow_slow_after_an_outage_are_a_slowdown_without_a_hook() {
    for bad in [Hung(100), Failed(100)] {
        let course =
            [&[GOOD; 4][..], &[bad, Accepted(200, 900)], &[GOOD; 4], &[Accepted(100, 400); 3]].concat();
        let report = run(open(), &course, &[]);
        let told: Vec<_> = report.disruptions.iter().map(|told| (told.kind, told.from_ns)).collect();
        let expected = [(DisruptionKind::Outage, 4_000_000_000), (DisruptionKind::Slowdown, 10_000_000_000)];
        assert_eq!(told, expected);
    }
}

/// Measurement in which nothing ended in the fifth and the sixth second, and what was due then in the seventh; by hammer's own standstill
/// or not.
fn held_up(stood: bool) -> Report {
    let mut story = Story::new(vec![open()]);
    story.phase(Phase::Measurement);
    for second in 0..12 {
        match second {
            // The standstill is told with the interval in which it began, at whichever time of it.
            4 => {
                story.start((0, Phase::Measurement), 100);
                if stood {
                    story.alarm(Nanos::from_millis(1_990), Nanos::from_millis(1_980));
                }
            }
            5 => story.start((0, Phase::Measurement), 100),
            6 => story.accept(0, Phase::Measurement, 300, Nanos::from_millis(5)),
            _ => story.accept(0, Phase::Measurement, 100, Nanos::from_micros(200)),
        }
        story.interval(Phase::Measurement);
    }
    story.phase(Phase::Drain);
    report_of(&story.finish(|_| {}))
}

#[test]
fn what_hammer_itself_stood_still_for_is_no_outage_of_the_server() {
    assert_eq!(held_up(true).disruptions, []);
    // The same where hammer ran.
    let report = held_up(false);
    let told: Vec<_> = report.disruptions.iter().map(|told| (told.kind, told.from_ns)).collect();
    assert_eq!(told, [(DisruptionKind::Outage, 4_000_000_000)]);
}

#[test]
fn a_burst_that_is_sent_as_an_interval_ends_and_answered_at_once_is_no_outage() {
    for closed_loop in [false, true] {
        let mut story = Story::new(vec![if closed_loop { closed() } else { open() }]);
        story.phase(Phase::Measurement);
        for second in 0..16 {
            match second % 4 {
                // Sent in the last moment of it, and answered in the first of the next.
                3 => story.start((0, Phase::Measurement), 100),
                0 if second > 0 => {
                    story.accept_started((0, Phase::Measurement), 100, Nanos::from_millis(50));
                }
                _ => {}
            }
            story.interval(Phase::Measurement);
        }
        assert_eq!(report_of(&story.finish(|_| {})).disruptions, []);
    }
}

#[test]
fn what_fails_for_lack_of_descriptors_is_no_outage_of_the_server() {
    let course = |cause| {
        let mut story = Story::new(vec![open()]);
        story.phase(Phase::Measurement);
        for second in 0..8 {
            if (3..6).contains(&second) {
                story.accept(0, Phase::Measurement, 20, Nanos::from_micros(200));
                story.end((0, Phase::Measurement), 80, Nanos::from_micros(10), (Outcome::Unreachable, cause));
            } else {
                story.accept(0, Phase::Measurement, 100, Nanos::from_micros(200));
            }
            story.interval(Phase::Measurement);
        }
        report_of(&story.finish(|_| {})).disruptions
    };
    assert_eq!(course(Detail::DESCRIPTORS_EXHAUSTED), []);
    assert_eq!(course(Detail::Failure("connection refused")).len(), 1);
}

#[test]
fn answers_that_hammers_own_standstill_made_late_are_no_slowdown_after_a_hook() {
    let course = |stood_ms| {
        let mut story = Story::new(vec![open()]);
        story.phase(Phase::Measurement);
        for second in 0..12 {
            if second == 4 {
                let what = Beside::Mark { source: "marks".to_owned(), text: "moved".to_owned() };
                story.events.push(RunEvent::Beside { at: Nanos::from_secs(4), what });
            }
            let is_held = (6..9).contains(&second);
            if is_held {
                story.alarm(Nanos::from_millis(stood_ms), Nanos::from_millis(stood_ms));
            }
            story.accept(0, Phase::Measurement, 100, Nanos::from_micros(if is_held { 4_000 } else { 200 }));
            story.interval(Phase::Measurement);
        }
        report_of(&story.finish(|_| {})).disruptions
    };
    assert_eq!(course(400), []);
    assert_eq!(course(50).len(), 1, "that it stood still a little does not excuse 400 ms");
}

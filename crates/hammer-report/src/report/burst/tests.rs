use hammer_measure::event::Beside;
use hammer_measure::{Detail, Nanos, Outcome, Phase, RunEvent, SeriesInfo};

use super::*;
use crate::fixture::{Story, operation, report_of};
use crate::report::Report;
use crate::text::render;

/// In a second so many are accepted, the slowest after so many milliseconds, and so many fail by each cause.
#[derive(Clone, Copy)]
struct Second(u64, u64, [u64; 2]);

const GOOD: Second = Second(100, 95, [0, 0]);
const BAD: Second = Second(60, 420, [38, 2]);

fn run(series: SeriesInfo, seconds: &[Second]) -> Story {
    let at = (0, Phase::Measurement);
    let mut story = Story::new(vec![series]);
    story.phase(Phase::Measurement);
    for Second(accepted, most, [errors, resets]) in seconds {
        story.accept(0, Phase::Measurement, *accepted, Nanos(most * 1_000_000 / accepted));
        story.end(at, *errors, Nanos::from_micros(10), (Outcome::ServerError, Detail::Status(500)));
        let reset = (Outcome::Unreachable, Detail::Failure("connection reset"));
        story.end(at, *resets, Nanos::from_micros(10), reset);
        story.interval(Phase::Measurement);
    }
    story.phase(Phase::Drain);
    story
}

fn told(story: Story) -> Report {
    report_of(&story.finish(|_| {}))
}

fn verify() -> SeriesInfo {
    operation("verify", "verify")
}

fn said(report: &Report) -> String {
    let text = render(report);
    let is_told = |line: &&str| ["burst", "late start"].iter().any(|label| line.starts_with(label));
    let start = text.lines().position(|line| is_told(&line)).unwrap();
    let lines: Vec<&str> =
        text.lines().skip(start).take_while(|line| !line.starts_with("promises")).collect();
    lines.join("\n")
}

#[test]
fn a_burst_has_its_ends_its_causes_its_rate_and_what_became_of_the_99th_percentile() {
    let course = [vec![GOOD; 20], vec![BAD; 15], vec![GOOD; 20]].concat();
    let mut story = run(verify(), &course);
    let mark = |text: &str| Beside::Mark { source: "marks".to_owned(), text: text.to_owned() };
    for (second, text) in [(13, "long before"), (18, "instance joins"), (36, "after it")] {
        story.events.push(RunEvent::Beside { at: Nanos::from_secs(second), what: mark(text) });
    }
    let report = told(story);
    let [burst] = &report.bursts[..] else { panic!("{:?}", report.bursts) };
    assert_eq!((burst.kind, burst.path.as_str()), (BurstKind::Failures, "verify/verify"));
    assert_eq!((burst.from_ns, burst.to_ns), (20_000_000_000, Some(35_000_000_000)));
    assert_eq!((burst.failed, burst.failed_per_s, burst.usual_failed_per_s), (600, 40.0, 0.0));
    let causes: Vec<_> = burst.causes.iter().map(|cause| (cause.cause.as_str(), cause.count)).collect();
    assert_eq!(causes, [("HTTP 500", 570), ("connection reset", 30)]);
    assert_eq!(burst.beside.len(), 1, "{:?}", burst.beside);
    assert_eq!(report.verdict.exit_code, 0, "it decides nothing");
    insta::assert_snapshot!(said(&report));
}

#[test]
fn a_burst_that_nothing_follows_lasts_to_the_end_and_two_are_told_in_the_order_of_time() {
    let course = [vec![GOOD; 10], vec![BAD; 5], vec![GOOD; 10], vec![BAD; 5]].concat();
    let report = told(run(verify(), &course));
    let ends: Vec<_> =
        report.bursts.iter().map(|burst| (burst.from_ns / 1_000_000_000, burst.to_ns)).collect();
    assert_eq!(ends, [(10, Some(15_000_000_000)), (25, None)]);
    assert_eq!(report.bursts[1].lasted_ns, 5_000_000_000);
    assert!(said(&report).contains("verify/verify from 25.0s to the end of measurement: 200 failed"));
}

#[test]
fn a_late_start_is_of_its_own_kind_and_in_no_figure_of_what_is_usual() {
    let late = Second(100, 2_300, [0, 0]);
    let course = [vec![late; 2], vec![GOOD; 15], vec![BAD; 4], vec![GOOD; 10]].concat();
    let report = told(run(verify(), &course));
    let [start, burst] = &report.bursts[..] else { panic!("{:?}", report.bursts) };
    assert_eq!((start.kind, start.from_ns, start.to_ns), (BurstKind::LateStart, 0, Some(2_000_000_000)));
    assert_eq!((start.failed, start.causes.len()), (0, 0));
    assert_eq!(burst.kind, BurstKind::Failures);
    assert_eq!(start.usual_p99_ns, burst.usual_p99_ns);
    insta::assert_snapshot!(said(&report));
}

#[test]
fn answers_that_waver_or_grow_slow_later_are_no_late_start() {
    let waver = |second: u64| Second(100, 80 + 37 * second % 60, [0, 0]);
    let slower = |second: u64| Second(100, 20 + 40 * second, [0, 0]);
    let spike = |second: u64| Second(100, if second == 7 { 4_000 } else { 90 }, [0, 0]);
    let faster = |second: u64| Second(100, if second < 18 { 400 } else { 90 }, [0, 0]);
    let shapes: [(&str, &dyn Fn(u64) -> Second); 4] =
        [("waver", &waver), ("slower", &slower), ("spike", &spike), ("faster after most of it", &faster)];
    for (name, shape) in shapes {
        let report = told(run(verify(), &(0..30).map(shape).collect::<Vec<_>>()));
        assert_eq!(report.bursts, [], "{name}");
    }
}

#[test]
fn what_failed_without_a_cause_of_its_own_is_told_by_its_fate() {
    let mut story = run(verify(), &[GOOD; 10]);
    story.events.pop();
    for second in 0..10 {
        let (late, most) = if second < 5 { (30, Nanos::from_millis(500)) } else { (0, Nanos::ZERO) };
        story.accept(0, Phase::Measurement, 100, Nanos::from_micros(900));
        story.end((0, Phase::Measurement), late, most, (Outcome::TimedOut, Detail::None));
        story.interval(Phase::Measurement);
    }
    let report = told(story);
    let [burst] = &report.bursts[..] else { panic!("{:?}", report.bursts) };
    let [cause] = &burst.causes[..] else { panic!("{:?}", burst.causes) };
    assert_eq!((cause.fate.as_str(), cause.cause.as_str(), cause.count), ("timed_out", "", 150));
    assert!(said(&report).contains("150 failed (30/s: 150 timed out)"), "{}", said(&report));
}

#[test]
fn refusals_that_are_meant_are_no_failures_and_of_few_intervals_nothing_is_usual() {
    let refused = |seconds: usize| {
        let mut story =
            Story::new(vec![SeriesInfo { refusals_meant: true, ..operation("submit", "invalid") }]);
        story.phase(Phase::Measurement);
        for second in 0..seconds {
            let outcome = if second < 10 { Outcome::Accepted } else { Outcome::Refused };
            story.end((0, Phase::Measurement), 50, Nanos::from_micros(10), (outcome, Detail::Status(400)));
            story.interval(Phase::Measurement);
        }
        told(story)
    };
    assert_eq!(refused(30).bursts, []);
    assert_eq!(told(run(verify(), &[GOOD, GOOD, BAD, BAD])).bursts, []);
    assert_eq!(told(run(verify(), &[GOOD, GOOD, GOOD, BAD, BAD])).bursts.len(), 1);
    let mut step = run(SeriesInfo { operation: false, ..verify() }, &[]);
    for second in 0..20 {
        let count = if second == 10 { 50 } else { 1 };
        (0..count).for_each(|_| step.step(0, Nanos::from_millis(2)));
        step.interval(Phase::Measurement);
    }
    assert_eq!(told(step).bursts, [], "steps are parts of operations");
}

#[test]
fn a_day_of_seconds_has_its_bursts_though_its_intervals_are_merged() {
    let mut timeline = crate::report::timeline::Timeline::default();
    let story = |second| run(verify(), &[second]);
    let (good, bad) = (story(GOOD), story(BAD));
    let paths = vec!["verify/verify".to_owned()];
    for second in 0..86_400_u64 {
        let is_bad = (50_000..50_060).contains(&second);
        let mut snapshot = (*if is_bad { &bad } else { &good }.last_snapshot()).clone();
        snapshot.at = Nanos::from_secs(second + 1);
        timeline.push(&paths, &snapshot);
    }
    let report = told(run(verify(), &[GOOD; 20]));
    assert!(timeline.intervals().len() <= 3_600);
    let bursts = Burst::all(&report.series, timeline.intervals(), &[]);
    let [burst] = &bursts[..] else { panic!("{bursts:?}") };
    let (from, to) = (burst.from_ns / 1_000_000_000, burst.to_ns.unwrap() / 1_000_000_000);
    assert!((49_968..=50_000).contains(&from) && (50_060..=50_092).contains(&to), "{from} to {to}");
    assert_eq!(burst.failed, 2_400);
    assert_eq!(burst.causes[0].count, 38 * 60);
}

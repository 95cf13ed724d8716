use hammer_measure::event::CommandRefusal;
use hammer_measure::{Command, CommandId, Nanos, Phase, RunEvent};

use super::paragraphs;
use crate::fixture::{Story, breach, operation, report_of};
use crate::text::render;

#[test]
fn notes_and_commands_are_told_with_their_instants_and_what_is_left_out_is_counted() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::Measurement, 1, Nanos(10));
    story.interval(Phase::Measurement);
    let at = Nanos::from_millis(1_500);
    story.events.push(RunEvent::Note { at, text: "the log is slow".to_owned() });
    story.events.push(RunEvent::Command {
        id: CommandId(1),
        at,
        command: Command::Pause,
        refused: Vec::new(),
    });
    story.events.push(RunEvent::Breach { at, breach: breach(1) });
    let mut report = report_of(&story.finish(|_| {}));
    report.events_left_out = 1_200;
    assert_eq!(
        paragraphs(&render(&report), "note"),
        ["at 1.50s: the log is slow", "at 1.50s: arrivals paused by hand", "1,200 more notes left out"]
    );
}

#[test]
fn a_command_that_was_refused_is_not_said_to_be_done_and_who_refused_it_is_named() {
    let mut story = Story::new(vec![operation("open", "get"), operation("closed", "get")]);
    story.interval(Phase::Measurement);
    let at = Nanos::from_millis(1_500);
    let rate = |workload: Option<&str>| Command::Rate { workload: workload.map(str::to_owned), factor: 2.0 };
    let by = |workloads: &[&str]| -> Vec<CommandRefusal> {
        let refusal =
            |workload: &&str| CommandRefusal { workload: (*workload).to_owned(), why: "no".to_owned() };
        workloads.iter().map(refusal).collect()
    };
    let asked = [
        (rate(None), by(&["closed"])),
        (rate(Some("closed")), by(&["closed"])),
        (rate(Some("other")), by(&["other"])),
        (Command::Pause, by(&["open", "closed"])),
    ];
    let events = asked.map(|(command, refused)| RunEvent::Command { id: CommandId(1), at, command, refused });
    story.events.extend(events);
    assert_eq!(
        paragraphs(&render(&report_of(&story.finish(|_| {}))), "note"),
        [
            "at 1.50s: rate of all workloads set to 2 times the plan's by hand; refused by closed: no",
            "at 1.50s: not done: rate of closed set to 2 times the plan's by hand; refused by closed: no",
            "at 1.50s: not done: rate of other set to 2 times the plan's by hand; refused by other: no",
            "at 1.50s: not done: arrivals paused by hand; refused by open: no; refused by closed: no",
        ]
    );
}

#[test]
fn a_cold_start_is_told_of_what_was_accepted_and_a_warm_one_is_not() {
    let first = |took: u64| {
        let mut story = Story::new(vec![operation("get", "get")]);
        story.interval(Phase::WarmUp);
        story.start((0, Phase::WarmUp), 10);
        story.accept_started((0, Phase::WarmUp), 10, Nanos::from_millis(took));
        story.interval(Phase::WarmUp);
        story.start((0, Phase::Measurement), 100);
        story.accept_started((0, Phase::Measurement), 100, Nanos::from_millis(20));
        story.interval(Phase::Measurement);
        paragraphs(&render(&report_of(&story.finish(|_| {}))), "  warm-up")
    };
    assert_eq!(first(30), Vec::<String>::new());
    let told = first(1_000);
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert!(told.starts_with("10 offered = 10 accepted; response time "), "{told}");
    assert!(told.contains(" at most, and 20.0ms later"), "{told}");
}

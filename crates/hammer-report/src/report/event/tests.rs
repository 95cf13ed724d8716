use hammer_measure::{CommandId, Nanos, Phase};
use serde_json::{Value, json};

use super::*;
use crate::fixture::{breach, quickstart};

const AT: Nanos = Nanos(1_500_000_000);

fn told(event: &RunEvent) -> Value {
    let event = Event::of(event).unwrap();
    assert_eq!(event.at_ns(), AT.0);
    let json = serde_json::to_value(&event).unwrap();
    assert_eq!(serde_json::from_value::<Event>(json.clone()).unwrap(), event);
    json
}

fn command(command: hammer_measure::Command) -> (Value, String) {
    let words = Command::of(&command).unwrap().words();
    let mut event = told(&RunEvent::Command { id: CommandId(1), at: AT, command, refused: Vec::new() });
    (event["command"].take(), words)
}

#[test]
fn each_event_says_what_happened_and_when() {
    assert_eq!(
        told(&RunEvent::Phase { phase: Phase::WarmUp, at: AT }),
        json!({ "event": "phase", "at_ns": AT.0, "phase": "warm_up" })
    );
    assert_eq!(
        told(&RunEvent::Note { at: AT, text: "the log is slow".to_owned() }),
        json!({ "event": "note", "at_ns": AT.0, "text": "the log is slow" })
    );
    let told = told(&RunEvent::Breach { at: AT, breach: breach(9) });
    assert_eq!((&told["event"], &told["breach"]["seq"]), (&json!("breach"), &json!(9)));
}

#[test]
fn each_command_says_what_was_done() {
    use hammer_measure::Command;
    let submit = || Some("submit".to_owned());
    let cases = [
        (Command::Pause, json!({ "kind": "pause" }), "arrivals paused by hand"),
        (Command::Resume, json!({ "kind": "resume" }), "arrivals resumed by hand"),
        (
            Command::Rate { workload: None, factor: 2.5 },
            json!({ "kind": "rate", "workload": null, "factor": 2.5 }),
            "rate of all workloads set to 2.5 times the plan's by hand",
        ),
        (
            Command::InFlight { workload: submit(), limit: 64 },
            json!({ "kind": "in_flight", "workload": "submit", "limit": 64 }),
            "in-flight limit of submit set to 64 by hand",
        ),
        (
            Command::Stop { reason: "SIGINT".to_owned() },
            json!({ "kind": "stop", "reason": "SIGINT" }),
            "stopped: SIGINT",
        ),
    ];
    for (applied, json, words) in cases {
        assert_eq!(command(applied), (json, words.to_owned()));
    }
    let (unsayable, _) = command(Command::Rate { workload: submit(), factor: f64::NAN });
    assert_eq!(unsayable["factor"], 0.0, "JSON has no NaN");
}

#[test]
fn a_start_an_interval_and_an_end_are_no_events_of_a_report() {
    let kinds = |event: &RunEvent| match event {
        RunEvent::Started(_) => Some("started"),
        RunEvent::Interval(_) => Some("interval"),
        RunEvent::Finished(_) => Some("finished"),
        _ => None,
    };
    let mut met = Vec::new();
    for event in quickstart() {
        assert_eq!(Event::of(&event).is_none(), kinds(&event).is_some(), "{:?}", kinds(&event));
        met.extend(kinds(&event));
    }
    met.dedup();
    assert_eq!(met, ["started", "interval", "finished"]);
}

#[test]
fn a_hook_and_a_mark_say_what_happened_and_in_which_words() {
    let beside = |what: Beside| {
        let event = RunEvent::Beside { at: AT, what };
        (told(&event), Event::of(&event).unwrap().beside_words())
    };
    let name = || "oom".to_owned();
    let words = |kind, text: &str| Some((kind, text.to_owned()));
    assert_eq!(
        beside(Beside::HookStarted { name: name() }),
        (json!({ "event": "hook_started", "at_ns": AT.0, "name": "oom" }), words("hook", "oom started"))
    );
    let ended = |exit, cut_off| {
        beside(Beside::HookEnded { name: name(), started: Nanos::from_secs(1), exit, cut_off })
    };
    let (json, said) = ended(HookExit::Status(3), false);
    assert_eq!(
        (&json["status"], &json["signal"], &json["cut_off"]),
        (&json!(3), &Value::Null, &json!(false))
    );
    assert_eq!(said, words("hook", "oom ended after 500ms with status 3"));
    let (json, said) = ended(HookExit::Signal(15), true);
    assert_eq!(
        (&json["status"], &json["signal"], &json["cut_off"]),
        (&Value::Null, &json!(15), &json!(true))
    );
    assert_eq!(said, words("hook", "oom ended after 500ms by signal 15, cut off by the end of the run"));
    let (_, said) = beside(Beside::Mark { source: name(), text: "killed".to_owned() });
    assert_eq!(said, words("mark", "killed (oom)"));
    assert_eq!(beside(Beside::MarksLeftOut { count: 2 }).1, words("mark", "2 more left out"));
    let note = Event::of(&RunEvent::Note { at: AT, text: name() }).unwrap();
    assert_eq!(note.beside_words(), None);
}

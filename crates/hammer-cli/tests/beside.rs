//! What a plan has done beside the load, and what the reports say of it.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use std::fs;

use hammer_report::Report;
use hammer_report::report::{Event, PhaseName};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, test_kill_process};
use serde_json::Value;

use folder::Folder;
use hammer::{DEADLINE, Ended, hammer};

/// Answers take 20 ms, so that a machine that is a little late is still believed.
const PLAN: &str = "\
target:
  lab: { http: { faults: { rules: [{ latency: { constant: 20ms } }] } } }
workloads:
  - name: web
    http: {}
    load: { rate: 50/s }
phases:
  measurement: 1s
";

/// Carries the plan out with these blocks behind it; the JSON is on standard output.
fn run(folder: &Folder, blocks: &str, more: &[&str]) -> Ended {
    let plan = folder.write("plan.yaml", &format!("{PLAN}{blocks}"));
    let mut args = vec!["run", &plan, "--out", "-"];
    args.extend(more);
    hammer(&args)
}

fn measurement(report: &Report) -> u64 {
    report.phases.iter().find(|span| span.phase == PhaseName::Measurement).unwrap().begin_ns
}

fn notes(report: &Report) -> Vec<&str> {
    let mut notes = Vec::new();
    for event in &report.events {
        if let Event::Note { text, .. } = event {
            notes.push(text.as_str());
        }
    }
    notes
}

fn marks(report: &Report) -> Vec<(&str, &str)> {
    let mut marks = Vec::new();
    for event in &report.events {
        if let Event::Mark { source, text, .. } = event {
            marks.push((source.as_str(), text.as_str()));
        }
    }
    marks
}

#[test]
fn a_hook_in_mid_run_stands_on_the_time_axis_with_its_marks() {
    let folder = Folder::new();
    let events = folder.path("events.jsonl");
    let hooks =
        "hooks: { at: [{ at: 300ms, name: oom, run: 'echo mark killed; echo no mark; sleep 0.1' }] }\n";
    let ended = run(&folder, hooks, &["--events", &events]);
    let report = ended.report();

    let begin = measurement(&report);
    let started = report.events.iter().find_map(|event| match event {
        Event::HookStarted { at_ns, name } => Some((*at_ns, name.as_str())),
        _ => None,
    });
    let (started, name) = started.unwrap();
    assert!(name == "oom" && started >= begin + 300_000_000, "{started} after {begin}");
    let ends: Vec<_> =
        report.events.iter().filter(|event| matches!(event, Event::HookEnded { .. })).collect();
    let [Event::HookEnded { at_ns, started_ns, status: Some(0), signal: None, cut_off: false, .. }] =
        ends[..]
    else {
        panic!("{ends:?}")
    };
    assert!(*started_ns == started && *at_ns >= started + 100_000_000, "{ends:?}");
    assert_eq!(marks(&report), [("oom", "killed")]);

    // With the JSON on standard output, the text is on standard error.
    assert!(ended.stderr.contains(": oom started\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains(" with status 0\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains(": killed (oom)\n"), "{}", ended.stderr);
    let lines = fs::read_to_string(&events).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["event"] == kind).count();
    assert_eq!((of("hook_started"), of("hook_ended"), of("mark")), (1, 1, 1));
    assert_eq!(lines.last().unwrap()["event"], "finished");
}

#[test]
fn a_hook_that_fails_in_mid_run_is_a_note() {
    let hooks = "hooks: { at: [{ at: 10ms, name: bad, run: 'echo no such server >&2; exit 3' }] }\n";
    let report = run(&Folder::new(), hooks, &[]).report();
    let ended = |event: &Event| matches!(event, Event::HookEnded { status: Some(3), .. });
    assert!(report.events.iter().any(ended), "{:?}", report.events);
    assert!(
        notes(&report).contains(&"hook bad failed: exit status: 3: no such server"),
        "{:?}",
        notes(&report)
    );
    assert_eq!(report.totals.all.fates.accepted, 50);
}

#[test]
fn the_end_of_the_run_ends_a_hook_and_what_it_started() {
    let hooks = "hooks: { at: [{ at: 10ms, name: long, run: 'sleep 600 & echo mark $!; wait' }] }\n";
    let report = run(&Folder::new(), hooks, &[]).report();
    let cut_off = |event: &Event| matches!(event, Event::HookEnded { cut_off: true, signal: Some(15), .. });
    assert!(report.events.iter().any(cut_off), "{:?}", report.events);
    let [(_, sleep)] = marks(&report)[..] else { panic!("{:?}", report.events) };
    assert!(is_gone(sleep), "{sleep} still sleeps");
}

/// A process that has left its group gets no signal, as one that the kernel holds does not end by any.
#[test]
fn a_hook_that_cannot_be_ended_holds_up_the_end_of_no_run() {
    let leave = "setpgrp(0, getpgrp(getppid())); $| = 1; print qq(mark $$\\n); sleep 600";
    let hook = format!("trap \"\" TERM; exec perl -e '{leave}'");
    let hooks = format!("hooks: {{ at: [{{ at: 10ms, name: held, run: {} }}] }}\n", Value::from(hook));
    let report = run(&Folder::new(), &hooks, &[]).report();
    let [(_, process)] = marks(&report)[..] else { panic!("{:?}", report.events) };
    let held = process.parse().ok().and_then(Pid::from_raw).unwrap();
    let runs = test_kill_process(held).is_ok();
    kill_process(held, Signal::KILL).unwrap();
    assert!(runs && is_gone(process));
    let said = "hook held is left behind: it has not ended 500ms after SIGKILL";
    assert!(notes(&report).contains(&said), "{:?}", notes(&report));
    assert!(
        !report.events.iter().any(|event| matches!(event, Event::HookEnded { .. })),
        "{:?}",
        report.events
    );
}

/// Whether a process has ended, or ends before a deadline; one that nobody has waited for has ended, too.
fn is_gone(process: &str) -> bool {
    let process = process.parse().ok().and_then(Pid::from_raw).unwrap();
    let Ok(ended) = pidfd_open(process, PidfdFlags::empty()) else { return true };
    let deadline = Timespec::try_from(DEADLINE).unwrap();
    poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&deadline)).unwrap() == 1
}

#[test]
fn a_hook_that_is_never_due_is_told() {
    let hooks = "hooks: { at: [{ at: 10m, name: late, run: 'true' }] }\n";
    let report = run(&Folder::new(), hooks, &[]).report();
    let said = "hook late was not run: the run ended before it was due";
    assert!(notes(&report).contains(&said), "{:?}", notes(&report));
}

#[test]
fn lines_that_are_appended_to_the_file_of_marks_are_marks() {
    let folder = Folder::new();
    let file = folder.write("marks", "from an earlier run\n");
    let hooks = format!(
        "hooks: {{ marks: '{file}', at: [{{ at: 10ms, name: hand, run: 'echo by hand >> {file}' }}] }}\n"
    );
    let report = run(&folder, &hooks, &[]).report();
    assert_eq!(marks(&report), [(file.as_str(), "by hand")]);
}

#[test]
fn marks_beyond_a_thousand_are_counted() {
    let hooks = "hooks: { at: [{ at: 10ms, name: many, run: 'yes mark again | head -n 1200' }] }\n";
    let report = run(&Folder::new(), hooks, &[]).report();
    let left_out = |event: &Event| matches!(event, Event::MarksLeftOut { count: 200, .. });
    assert!(report.events.iter().any(left_out));
    assert_eq!(marks(&report).len() as u64 + report.events_left_out, 1_000);
}

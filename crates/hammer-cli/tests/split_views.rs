//! A log that shows one tree to some and another to others is found wherever hammer was shown both.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/front.rs"]
#[expect(dead_code, reason = "other tests have fronts that refuse")]
mod front;
#[path = "support/hammer.rs"]
#[expect(dead_code, reason = "other tests start no commands of their own")]
mod hammer;
#[path = "support/log.rs"]
mod log;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests have servers of their own")]
mod server;

use std::sync::atomic::{AtomicU64, Ordering};

use hammer_lab::CtLabPlan;
use hammer_lab::ct::Flavour;
use hammer_report::Report;
use hammer_values::TimeSpan;
use serde_json::{Value, json};

use folder::Folder;
use front::{Passed, front, read};
use hammer::{Started, command};
use log::{FLAVOURS, Log};
use on_time::exit_if_on_time;

/// What a run of these workloads reports of a log that is read at all of these.
fn run(read_at: &[&Log], flavour: Flavour, workloads: &Value) -> Report {
    run_within("1d", read_at, flavour, workloads)
}

/// The same of a log with that merge delay.
fn run_within(mmd: &str, read_at: &[&Log], flavour: Flavour, workloads: &Value) -> Report {
    let urls: Vec<&str> = read_at.iter().map(|log| log.lab.url.as_str()).collect();
    run_at(&urls, mmd, read_at, flavour, workloads)
}

/// The same of a log that is submitted to, and read, at these URLs.
fn run_at(urls: &[&str], mmd: &str, read_at: &[&Log], flavour: Flavour, workloads: &Value) -> Report {
    let kind = if flavour == Flavour::StaticCt { "static-ct" } else { "rfc6962" };
    let log = json!({
        "kind": kind,
        "submission_url": urls[0],
        "monitoring_url": urls,
        "origin": read_at[0].lab.origin(),
        "public_key": read_at[0].key,
        "mmd": mmd,
    });
    let plan = json!({ "target": { "log": log }, "workloads": workloads, "phases": { "measurement": "2s" } });
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &plan.to_string());
    let mut run = command(&["run", &plan, "--out", "-"]);
    // Both heads are saved there.
    run.current_dir(read_at[0].folder.path());
    Started::of(run).ended().report()
}

/// Reads of nothing but tree heads.
fn head_reads(flavour: Flavour) -> Value {
    let head = if flavour == Flavour::StaticCt { "checkpoint" } else { "get-sth" };
    json!({ "name": "read", "ct_read": { "mix": { head: 1 } }, "load": { "rate": "40/s" } })
}

fn submissions() -> Value {
    json!({ "name": "submit", "ct_submit": {}, "load": { "rate": "40/s" } })
}

/// Two logs of one key and origin, whose trees have no leaf in common but as many.
fn two(flavour: Flavour, submitted: [&str; 2]) -> [Log; 2] {
    submitted.map(|seconds| {
        let log = Log::of(flavour, Vec::new());
        assert!(log.submit(seconds) > 0);
        log
    })
}

#[track_caller]
fn is_found(report: &Report) {
    let kinds: Vec<&str> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert_eq!(kinds, ["forked-checkpoint"], "{:?} {:?}", report.breaches, report.events);
    assert_eq!(report.verdict.exit_code, 4);
}

#[test]
fn reads_alone_find_that_two_front_ends_have_trees_of_their_own() {
    for flavour in FLAVOURS {
        for seconds in [["500ms", "500ms"], ["500ms", "200ms"], ["200ms", "500ms"]] {
            let [one, other] = two(flavour, seconds);
            is_found(&run(&[&one, &other], flavour, &json!([head_reads(flavour)])));
        }
    }
}

#[test]
fn what_reads_are_shown_is_held_against_what_the_audit_is_shown() {
    for flavour in FLAVOURS {
        let [one, other] = two(flavour, ["500ms", "200ms"]);
        let report = run(&[&one, &other], flavour, &json!([submissions(), head_reads(flavour)]));
        is_found(&report);
    }
}

#[test]
fn the_head_of_a_server_that_is_asked_beside_the_one_that_is_read_is_held_against_the_tree() {
    for flavour in FLAVOURS {
        // There are looks at what lacks the leaves that were promised last.
        let checkpoint_interval = TimeSpan::from_millis(700);
        let plan = CtLabPlan { flavour, checkpoint_interval, ..CtLabPlan::default() };
        let plan = CtLabPlan { enable_publication_awaiter: false, ..plan };
        let [one, other] = [plan.clone(), plan].map(Log::of_plan);
        assert!(one.submit("1s") > other.submit("300ms"));
        // All servers are asked before a promise is due.
        is_found(&run_within("8s", &[&one, &other], flavour, &json!([submissions()])));
    }
}

#[test]
fn a_head_that_is_signed_and_of_no_tree_that_grows_is_a_fork_once_the_tree_has_outgrown_it() {
    for flavour in FLAVOURS {
        let [one, other] = two(flavour, ["200ms", "300ms"]);
        let head = if flavour == Flavour::StaticCt { "/checkpoint" } else { "/ct/v1/get-sth" };
        let (forged, asked) = (read(&other.lab.url, head), AtomicU64::new(0));
        // All else is the log's, so that no consistency proof holds.
        let url = front(&one.lab.url, move |path| match path == head {
            true if (4..7).contains(&asked.fetch_add(1, Ordering::Relaxed)) => {
                Passed::Answered(forged.clone())
            }
            _ => Passed::On,
        });
        // By the next look the tree has outgrown it.
        let workloads = json!([{ "name": "submit", "ct_submit": {}, "load": { "rate": "200/s" } }]);
        is_found(&run_at(&[&url], "1d", &[&one], flavour, &workloads));
    }
}

/// A head beyond the log's own tree, which it never proves: no more than that can be found out, and it is not passed over.
#[test]
fn a_head_beyond_the_tree_that_reads_saw_once_is_not_passed_over_in_a_short_run() {
    for flavour in FLAVOURS {
        let [one, other] = two(flavour, ["200ms", "500ms"]);
        let head = if flavour == Flavour::StaticCt { "/checkpoint" } else { "/ct/v1/get-sth" };
        let (forged, asked) = (read(&other.lab.url, head), AtomicU64::new(0));
        let url = front(&one.lab.url, move |path| match path == head {
            true if asked.fetch_add(1, Ordering::Relaxed) == 30 => Passed::Answered(forged.clone()),
            _ => Passed::On,
        });
        let report = run_at(&[&url], "1d", &[&one], flavour, &json!([head_reads(flavour)]));
        assert!([4, 5].contains(&report.verdict.exit_code), "{:?} {:?}", report.verdict, report.events);
    }
}

#[test]
fn nobody_is_accused_where_two_front_ends_have_one_tree() {
    for flavour in FLAVOURS {
        let log = Log::of(flavour, Vec::new());
        log.submit("200ms");
        for workloads in [json!([head_reads(flavour)]), json!([submissions(), head_reads(flavour)])] {
            let report = run(&[&log, &log], flavour, &workloads);
            assert!(report.breaches.is_empty(), "{:?}", report.breaches);
            assert_eq!(report.promises.all.kept, report.promises.all.made);
            assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
        }
    }
}

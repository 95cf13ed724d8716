//! Logs that behave oddly and are honest: nobody is accused of it.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/log.rs"]
#[expect(dead_code, reason = "other tests start commands on it")]
mod log;
#[path = "support/on_time.rs"]
mod on_time;

use hammer_lab::ct::Flavour;
use hammer_report::Report;
use hammer_report::report::Event;
use serde_json::{Value, json};

use folder::Folder;
use hammer::hammer;
use log::Log;
use on_time::exit_if_on_time;

/// What a run of that plan reports.
fn run(plan: &Value) -> Report {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &plan.to_string());
    hammer(&["run", &plan, "--out", "-"]).report()
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

/// The target of a plan that loads the log at that URL.
fn target(log: &Log, url: &str) -> Value {
    json!({ "log": { "submission_url": url, "origin": log.lab.origin(), "public_key": log.key } })
}

#[track_caller]
fn is_believed(report: &Report) {
    let promises = &report.promises.all;
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    assert!(promises.made > 0 && promises.kept == promises.made, "{promises:?} {:?}", notes(report));
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
}

#[test]
fn a_plan_with_fixed_dates_that_is_run_again_counts_as_resubmitted_and_says_so() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let mut target = target(&log, log.lab.url.as_str());
    // Less than lies between the two runs.
    target["log"]["skew"] = json!("2s");
    let submit = json!({ "not_before": "2026-01-01", "not_after": "2027-01-01" });
    let plan = json!({
        "target": target,
        "workloads": [{ "name": "submit", "ct_submit": submit, "load": { "rate": "50/s" } }],
        "phases": { "measurement": "2500ms" },
    });
    let reports = [run(&plan), run(&plan)];
    for report in &reports {
        is_believed(report);
    }
    for report in &reports {
        assert_eq!(report.tree_size.map(|size| size.last), Some(125.0), "both runs send the same leaves");
        let is_told = |note: &&str| note.starts_with("submit: its leaves have fixed dates");
        assert!(notes(report).iter().any(is_told), "{:?}", notes(report));
    }
}

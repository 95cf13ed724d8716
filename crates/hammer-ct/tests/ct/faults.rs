//! Logs that cannot be read at times, or not in every way.

use std::sync::Arc;
use std::time::Duration;

use hammer_core::observe::Observer;
use hammer_ct::{Auditor, CtRun, LogTarget, SubmitPlan, SubmitWorkload};
use hammer_lab::CtLabPlan;
use hammer_lab::ct::Flavour;
use hammer_lab::fault::{FaultRule, FaultScript, Refusal};

use crate::harness::{Outcome, TestRun, client, lab, target};

/// A share of the requests to these endpoints is refused.
fn refusing(endpoints: &[&str], share: f64, status: u16) -> FaultScript {
    let endpoints = endpoints.iter().map(ToString::to_string).collect();
    let refuse = Some(Refusal { share, status, retry_after_s: None });
    FaultScript {
        rules: vec![FaultRule { endpoints, refuse, ..FaultRule::default() }],
        ..FaultScript::default()
    }
}

/// Submits so many chains, of the workload of that number, to a log and audits it.
fn audit(log: &LogTarget, workload: u64, operations: u64, plan: &SubmitPlan) -> Outcome {
    let mut run = TestRun::new();
    let shared = Arc::new(log.clone());
    let mut auditor = Auditor::new("log", shared.clone(), client(log), run.epoch_unix_ms)
        .every(Duration::from_millis(50))
        .folder(std::env::temp_dir());
    let chains = CtRun { workload, ..run.ct() };
    let submit = SubmitWorkload::new(plan, shared, client(log), &chains).unwrap();
    run.load(submit.audited(auditor.link("w0")), 400.0, operations);
    run.observers = vec![Box::new(auditor) as Box<dyn Observer>];
    run.run()
}

#[test]
fn a_log_without_get_entry_and_proof_is_audited_from_where_it_stands() {
    for before in [30, 1_100] {
        let plan = SubmitPlan::default();
        let faults = refusing(&["get-entry-and-proof"], 1.0, 404);
        let lab = lab(&plan, CtLabPlan { flavour: Flavour::Rfc6962, faults, ..CtLabPlan::default() });
        let log = target(&lab, Flavour::Rfc6962);
        audit(&log, 0, before, &plan).assert_kept(before);
        let outcome = audit(&log, 1, 100, &plan);
        outcome.assert_kept(100);
        assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
    }
}

#[test]
fn a_small_log_without_get_entry_and_proof_that_does_not_grow_is_audited_too() {
    let plan = SubmitPlan { resubmitted: true, ..SubmitPlan::default() };
    let faults = refusing(&["get-entry-and-proof"], 1.0, 501);
    let lab = lab(&plan, CtLabPlan { flavour: Flavour::Rfc6962, faults, ..CtLabPlan::default() });
    let log = target(&lab, Flavour::Rfc6962);
    for _ in 0..2 {
        audit(&log, 0, 50, &plan).assert_kept(50);
    }
}

#[test]
fn an_audit_that_is_pushed_back_at_times_goes_on() {
    let reads = [
        (Flavour::StaticCt, ["checkpoint", "tile", "data-tile"], 429),
        (Flavour::Rfc6962, ["get-sth", "get-sth-consistency", "get-entries"], 503),
    ];
    for (flavour, endpoints, status) in reads {
        let plan = SubmitPlan::default();
        let faults = refusing(&endpoints, 0.5, status);
        // Pages shorter than what is asked for, too.
        let lab = lab(&plan, CtLabPlan { flavour, faults, max_get_entries: 7, ..CtLabPlan::default() });
        let outcome = audit(&target(&lab, flavour), 0, 400, &plan);
        outcome.assert_kept(400);
        assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
        assert!(
            outcome.notes.iter().any(|note| note.contains(&format!("status {status}"))),
            "{:?}",
            outcome.notes
        );
    }
}

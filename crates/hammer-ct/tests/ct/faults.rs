//! Logs that cannot be read at times, or not in every way.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use hammer_core::observe::Observer;
use hammer_ct::{AuditInterval, Auditor, CtRun, LogTarget, SubmitPlan, SubmitWorkload};
use hammer_lab::ct::Flavour;
use hammer_lab::fault::{FaultRule, FaultScript, Refusal};
use hammer_lab::{CtLabHandle, CtLabPlan};
use hammer_measure::Nanos;
use hammer_values::{Share, Status, TimeSpan};

use crate::harness::{DRAIN_TO_THE_END, Outcome, TestRun, client, lab, lab_as, target};
use crate::lagging;

/// A share of the requests to these endpoints is refused.
pub(crate) fn refusing(endpoints: &[&str], share: f64, status: u16) -> FaultScript {
    let endpoints = endpoints.iter().map(ToString::to_string).collect();
    let (share, status) = (Share::try_from(share).unwrap(), Status::nearest(status));
    let refuse = Some(Refusal { share, status, retry_after: None });
    FaultScript {
        rules: vec![FaultRule { endpoints, refuse, ..FaultRule::default() }],
        ..FaultScript::default()
    }
}

/// Submits so many chains, of the workload of that number, to a log and audits it.
pub(crate) fn audit(log: &LogTarget, workload: u64, operations: u64, plan: &SubmitPlan) -> Outcome {
    audit_with(|auditor| auditor, Nanos::from_secs(20), log, workload, operations, plan)
}

/// The same by an auditor that is made so, with so long a drain.
fn audit_with(
    made: impl Fn(Auditor) -> Auditor,
    drain: Nanos,
    log: &LogTarget,
    workload: u64,
    operations: u64,
    plan: &SubmitPlan,
) -> Outcome {
    let mut run = TestRun::new();
    run.drain = drain;
    let (shared, folder) = (Arc::new(log.clone()), tempfile::tempdir().unwrap());
    let auditor = Auditor::new("log", shared.clone(), client(log), run.epoch_unix_ms)
        .every(AuditInterval::LEAST)
        .folder(folder.path().to_owned());
    let mut auditor = made(auditor);
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

pub(crate) const FLAVOURS: [Flavour; 2] = [Flavour::StaticCt, Flavour::Rfc6962];

/// A log that publishes nothing in time.
fn withholding(plan: &SubmitPlan, flavour: Flavour) -> CtLabHandle {
    let checkpoint_interval = TimeSpan::from_millis(3_600_000);
    let log = CtLabPlan { flavour, checkpoint_interval, ..CtLabPlan::default() };
    lab_as(plan, CtLabPlan { enable_publication_awaiter: false, ..log })
}

/// A drain after which no look that went well before it counts any more: what such a look did not find would be pending.
const TO_IMPATIENCE: Nanos = Nanos::from_secs(4);

/// All promises are unchecked, each with its receipt, and one note says where the log could not be read and why.
fn assert_unchecked(outcome: &Outcome, place: &str, promises: u64, why: &str, folder: &Path) {
    let ledger = outcome.result.promises;
    assert_eq!((ledger.made, ledger.unchecked), (promises, promises), "{ledger:?} {:?}", outcome.notes);
    let begin = format!("log: {promises} promises are unchecked, since {place} could not be read: failed to");
    let told: Vec<_> = outcome.notes.iter().filter(|note| note.starts_with(&begin)).collect();
    assert!(told.len() == 1 && told[0].contains(why), "{begin}: {:?}", outcome.notes);
    let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let lines = fs::read_to_string(file).unwrap();
    let of_them = lines.lines().filter(|line| line.contains(r#""reason":"unchecked""#)).count();
    assert_eq!((of_them, lines.lines().count()), (promises as usize, promises as usize));
}

#[test]
fn what_a_log_promised_that_could_never_be_read_is_unchecked() {
    for flavour in FLAVOURS {
        let plan = SubmitPlan::default();
        let lab = withholding(&plan, flavour);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let nobody = format!("http://{}/log", listener.local_addr().unwrap());
        drop(listener);
        let log = LogTarget { monitoring: vec![nobody.parse().unwrap()], ..target(&lab, flavour) };
        let folder = tempfile::tempdir().unwrap();
        let outcome = audit_with(
            |auditor| auditor.folder(folder.path().to_owned()),
            DRAIN_TO_THE_END,
            &log,
            0,
            40,
            &plan,
        );
        assert_unchecked(&outcome, &nobody, 40, "connect", folder.path());
    }
}

#[test]
fn what_is_in_files_when_a_log_could_never_be_read_is_unchecked_too() {
    let plan = SubmitPlan::default();
    let faults = refusing(&["checkpoint"], 1.0, 404);
    let lab = lab(&plan, CtLabPlan { flavour: Flavour::StaticCt, faults, ..CtLabPlan::default() });
    let log = target(&lab, Flavour::StaticCt);
    let outcome = audit_with(|auditor| auditor.in_memory(10), DRAIN_TO_THE_END, &log, 0, 100, &plan);
    let ledger = outcome.result.promises;
    assert_eq!((ledger.made, ledger.unchecked), (100, 100), "{ledger:?} {:?}", outcome.notes);
    let told = |note: &String| note.contains("100 promises are unchecked") && note.contains("status 404");
    assert!(outcome.notes.iter().any(told), "{:?}", outcome.notes);
    let spilled = outcome.result.observations.iter().find(|seen| seen.name == "audit_spilled_max").unwrap();
    assert!(spilled.value > 10.0, "{spilled:?}");
}

#[test]
fn what_is_pending_when_a_log_stops_serving_its_tree_is_unchecked() {
    for flavour in FLAVOURS {
        let plan = SubmitPlan::default();
        let lab = withholding(&plan, flavour);
        let log = lagging::failing_after(&target(&lab, flavour), 4);
        let folder = tempfile::tempdir().unwrap();
        let outcome =
            audit_with(|auditor| auditor.folder(folder.path().to_owned()), TO_IMPATIENCE, &log, 0, 40, &plan);
        let was_read = outcome.result.observations.iter().any(|seen| seen.name == "tree_size");
        assert!(was_read, "{:?}", outcome.result.observations);
        let place = log.monitoring[0].to_string();
        assert_unchecked(&outcome, &place, 40, "status 503", folder.path());
    }
}

#[test]
fn what_a_log_that_can_be_read_withholds_is_pending() {
    for flavour in FLAVOURS {
        let plan = SubmitPlan::default();
        let lab = withholding(&plan, flavour);
        let log = target(&lab, flavour);
        let outcome = audit_with(|auditor| auditor, DRAIN_TO_THE_END, &log, 0, 40, &plan);
        let ledger = outcome.result.promises;
        assert_eq!((ledger.made, ledger.pending), (40, 40), "{ledger:?} {:?}", outcome.notes);
        assert!(!outcome.notes.iter().any(|note| note.contains("unchecked")), "{:?}", outcome.notes);
    }
}

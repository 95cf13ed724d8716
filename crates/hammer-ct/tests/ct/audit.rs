//! Submissions that are audited, of honest logs and of others.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hammer_core::run::StopRule;
use hammer_ct::{AuditInterval, Auditor, LOG_FORKED, LogTarget, SubmitPlan, SubmitWorkload};
use hammer_lab::ct::{Flavour, Lie, LieKind, ToldLie};
use hammer_lab::{CtLabHandle, CtLabPlan};
use hammer_measure::{Fate, Nanos, Phase};
use hammer_values::{Count, TimeSpan};

use crate::harness::{DRAIN_TO_THE_END, Outcome, TestRun, client, lab, lab_as, target, whole_percent};
use crate::lagging;

const FLAVOURS: [Flavour; 2] = [Flavour::StaticCt, Flavour::Rfc6962];

fn mixed() -> SubmitPlan {
    SubmitPlan { precert_percent: whole_percent(30), ..SubmitPlan::default() }
}

/// Submits to `log` at 200/s, and audits what it accepts; evidence goes to `folder`.
fn audit(log: LogTarget, workloads: usize, operations: u64, folder: &Path) -> Outcome {
    let mut run = TestRun::new();
    let (client, log) = (client(&log), Arc::new(log));
    let auditor = Auditor::new("log", log.clone(), client.clone(), run.epoch_unix_ms);
    let mut auditor = auditor.every(AuditInterval::LEAST).folder(folder.to_owned());
    for _ in 0..workloads {
        let submit = SubmitWorkload::new(&mixed(), log.clone(), client.clone(), &run.ct()).unwrap();
        run.load(submit.audited(auditor.link("w0")), 200.0, operations);
    }
    run.observers = vec![Box::new(auditor)];
    run.stops = vec![StopRule::at_least(LOG_FORKED, 1.0)];
    run.run()
}

fn lying(flavour: Flavour, lies: Vec<Lie>) -> CtLabHandle {
    lab(&mixed(), CtLabPlan { flavour, lies, ..CtLabPlan::default() })
}

/// A log that answers at once, and publishes so often.
fn publishing_every(checkpoint_interval: TimeSpan, flavour: Flavour) -> CtLabHandle {
    let batch_max_age = TimeSpan::from_millis(20);
    let plan = CtLabPlan { flavour, batch_max_age, checkpoint_interval, ..CtLabPlan::default() };
    lab_as(&mixed(), CtLabPlan { enable_publication_awaiter: false, ..plan })
}

fn observed(outcome: &Outcome, name: &str) -> Option<f64> {
    outcome.result.observations.iter().find(|seen| seen.name == name).map(|seen| seen.value)
}

fn accepted(outcome: &Outcome) -> u64 {
    (0..2).map(|series| outcome.fate(series, Fate::Accepted)).sum()
}

/// Breaches that are of no submission.
fn others(outcome: &Outcome) -> u64 {
    outcome.result.breaches.iter().filter(|breach| breach.workload == "log").count() as u64
}

/// Audits a log that lies about every 40th of 100 entries from the 10th on; what it says it lied about, and the outcome.
fn caught(flavour: Flavour, kind: LieKind) -> (Vec<ToldLie>, Outcome) {
    let (lies, outcome, _) = caught_in(flavour, kind);
    (lies, outcome)
}

fn caught_in(flavour: Flavour, kind: LieKind) -> (Vec<ToldLie>, Outcome, tempfile::TempDir) {
    let lab = lying(flavour, vec![Lie { after: 10, every: Count::at_least_one(40), ..Lie::of(kind) }]);
    let folder = tempfile::tempdir().unwrap();
    let outcome = audit(target(&lab, flavour), 1, 100, folder.path());
    (lab.stop().lies, outcome, folder)
}

#[test]
fn every_accepted_chain_is_found_in_an_honest_log() {
    for flavour in FLAVOURS {
        let lab = lying(flavour, Vec::new());
        let folder = tempfile::tempdir().unwrap();
        let outcome = audit(target(&lab, flavour), 1, 300, folder.path());
        outcome.assert_kept(300);
        assert_eq!(accepted(&outcome), 300);
        assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
        assert!(outcome.notes.len() <= 1, "{:?}", outcome.notes);
        assert!(outcome.notes.iter().all(|note| note.contains("publication: ")), "{:?}", outcome.notes);
        assert!(
            std::fs::read_dir(folder.path()).unwrap().next().is_none(),
            "nothing has to be shown to anyone"
        );
        assert_eq!(observed(&outcome, "overdue"), Some(0.0));
        let answers = ["answers_before_publication", "answers_after_publication", "answers_undecided"];
        assert_eq!(answers.iter().map(|name| observed(&outcome, name).unwrap()).sum::<f64>(), 300.0);
        for name in ["time_to_integrate", "time_to_integrate_from_intended"] {
            let [min, avg, max] =
                ["min", "avg", "max"].map(|which| observed(&outcome, &format!("{name}_{which}")).unwrap());
            assert!(0.0 < min && min < avg && avg < max && max < 20.0, "{name}: {min} {avg} {max}");
        }
        assert_eq!(observed(&outcome, "audited"), Some(300.0));
        assert_eq!(observed(&outcome, "audit_pending"), Some(0.0));
        assert!(observed(&outcome, "audit_requests").unwrap() > 2.0);
        assert!(observed(&outcome, "audit_bytes").unwrap() > 100_000.0);
        assert!(observed(&outcome, "publication_delay_max").unwrap() < 20.0);
        assert!(observed(&outcome, "merge_delay_max").unwrap() < 20.0);
    }
}

#[test]
fn leaves_that_were_in_the_log_before_the_audit_are_found_all_the_same() {
    for flavour in FLAVOURS {
        let lab = lying(flavour, Vec::new());
        let folder = tempfile::tempdir().unwrap();
        audit(target(&lab, flavour), 1, 100, folder.path()).assert_kept(100);
        // The same chains: the log answers with the SCTs that it gave before.
        let log = Arc::new(target(&lab, flavour));
        let mut run = TestRun::new();
        let mut auditor = Auditor::new("log", log.clone(), client(&log), run.epoch_unix_ms);
        let plan = SubmitPlan { resubmitted: true, ..mixed() };
        let submit = SubmitWorkload::new(&plan, log.clone(), client(&log), &run.ct()).unwrap();
        run.load(submit.audited(auditor.link("w0")), 200.0, 100);
        run.observers = vec![Box::new(auditor)];
        run.run().assert_kept(100);
    }
}

#[test]
fn a_server_that_lags_behind_is_noted_and_every_leaf_is_found_all_the_same() {
    for flavour in FLAVOURS {
        let lab = lying(flavour, Vec::new());
        let folder = tempfile::tempdir().unwrap();
        let outcome = audit(lagging::front(&target(&lab, flavour)), 1, 300, folder.path());
        outcome.assert_kept(300);
        assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
        // On a busy machine the looks may all fall where the server has caught up.
        let seen = observed(&outcome, "stale_heads").is_some_and(|heads| heads >= 1.0);
        let told = outcome.notes.iter().filter(|note| note.contains("lags behind")).count();
        assert_eq!(told, usize::from(seen), "{flavour:?} {:?}", outcome.notes);
        assert_eq!(observed(&outcome, LOG_FORKED), None);
        assert_eq!(observed(&outcome, "tree_size"), Some(300.0), "{flavour:?}");
    }
}

#[test]
fn workloads_share_an_auditor_and_each_has_its_verdicts() {
    let lab = lying(Flavour::StaticCt, Vec::new());
    let folder = tempfile::tempdir().unwrap();
    let outcome = audit(target(&lab, Flavour::StaticCt), 2, 100, folder.path());
    outcome.assert_kept(200);
    for (_, ledger) in &outcome.result.promises_by_workload {
        assert_eq!((ledger.made, ledger.kept), (100, 100));
    }
}

#[test]
fn a_lost_leaf_is_named_with_its_submission_and_index() {
    let (lies, outcome) = caught(Flavour::StaticCt, LieKind::LostLeaf);
    assert_eq!(lies.len(), 3, "{lies:?}");
    assert_eq!(outcome.result.promises.broken, 3, "{:?}", outcome.result.breaches);
    assert_eq!(outcome.result.promises.kept, 97);
    for lie in &lies {
        let breach = outcome.result.breaches.iter().find(|breach| breach.index == lie.index).unwrap();
        assert_eq!((breach.kind.as_str(), breach.workload.as_str()), ("lost-leaf", "w0"));
        assert!(breach.seq.unwrap() < 100, "{breach:?}");
    }
}

#[test]
fn an_altered_leaf_and_a_wrong_index_are_named() {
    for (told, kind) in [(LieKind::AlteredLeaf, "altered-leaf"), (LieKind::WrongIndex, "wrong-index")] {
        let (lies, outcome) = caught(Flavour::StaticCt, told);
        for lie in &lies {
            let of = |breach: &&hammer_measure::promise::Breach| {
                breach.workload == "w0" && breach.kind == kind && breach.index == lie.index
            };
            assert!(
                outcome.result.breaches.iter().any(|breach| of(&breach)),
                "{:?}",
                outcome.result.breaches
            );
        }
        let ledger = outcome.result.promises;
        assert_eq!((lies.len(), ledger.broken - others(&outcome)), (3, 3), "{:?}", outcome.result.breaches);
    }
}

#[test]
fn a_missed_merge_delay_is_broken_once_it_is_over() {
    let lies = vec![Lie { after: 10, every: Count::at_least_one(40), ..Lie::of(LieKind::MmdMissed) }];
    let plan = CtLabPlan {
        flavour: Flavour::Rfc6962,
        lies,
        max_merge_delay: TimeSpan::from_millis(2000),
        ..CtLabPlan::default()
    };
    let lab = lab(&mixed(), plan);
    let folder = tempfile::tempdir().unwrap();
    let log = LogTarget { mmd: Duration::from_secs(2), ..target(&lab, Flavour::Rfc6962) };
    let outcome = audit(log, 1, 100, folder.path());
    assert_eq!((outcome.result.promises.kept, outcome.result.promises.broken), (97, 3));
    assert!(
        outcome.result.breaches.iter().all(|breach| breach.kind == "mmd-missed"),
        "{:?}",
        outcome.result.breaches
    );
}

#[test]
fn a_server_that_stays_behind_breaks_no_promise_that_another_shows_to_be_kept() {
    for flavour in FLAVOURS {
        let lab = publishing_every(TimeSpan::from_millis(50), flavour);
        let folder = tempfile::tempdir().unwrap();
        let log = lagging::frozen_and_live(&target(&lab, flavour));
        // Long enough to be due during the load.
        let outcome = audit(LogTarget { mmd: Duration::from_secs(3), ..log }, 1, 1_000, folder.path());
        outcome.assert_kept(1_000);
        assert_eq!(outcome.result.breaches.len(), 0, "{flavour:?} {:?}", outcome.result.breaches);
    }
}

#[test]
fn a_fork_or_a_shrinking_tree_ends_the_run_with_both_heads_saved() {
    for flavour in FLAVOURS {
        for (told, kind) in
            [(LieKind::ForkedCheckpoint, "forked-checkpoint"), (LieKind::ShrinkingTree, "shrinking-tree")]
        {
            // A tree that shrinks for the time between two looks is not seen to: it does so again.
            let times = (told == LieKind::ShrinkingTree).then_some(100);
            let lab = lying(flavour, vec![Lie { after: 50, times, ..Lie::of(told) }]);
            let folder = tempfile::tempdir().unwrap();
            let mut run = TestRun { drain: Nanos::from_secs(600), ..TestRun::new() };
            let log = Arc::new(target(&lab, flavour));
            let auditor = Auditor::new("log", log.clone(), client(&log), run.epoch_unix_ms);
            let mut auditor = auditor.every(AuditInterval::LEAST).folder(folder.path().to_owned());
            let submit = SubmitWorkload::new(&mixed(), log.clone(), client(&log), &run.ct()).unwrap();
            run.load(submit.audited(auditor.link("w0")), 200.0, 4000);
            run.observers = vec![Box::new(auditor)];
            run.stops = vec![StopRule::at_least(LOG_FORKED, 1.0)];
            let outcome = run.run();
            assert!(
                outcome.result.stopped.contains(LOG_FORKED),
                "{flavour:?} {told:?}: {} {:?} {:?}",
                outcome.result.stopped,
                outcome.notes,
                outcome.result.breaches
            );
            let breach = outcome.result.breaches.iter().find(|breach| breach.kind == kind);
            let breach = breach.unwrap_or_else(|| panic!("{:?}", outcome.result.breaches));
            let saved: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
            assert!(saved.len() >= 2, "{breach:?}");
            let named = |path: &Path| breach.detail.contains(path.to_str().unwrap());
            assert_eq!(saved.iter().filter(|file| named(&file.path())).count(), 2, "{breach:?}");
            assert!(saved.iter().all(|file| file.metadata().unwrap().len() > 0));
            // What is pending stays so, and is not waited for.
            let drain = outcome.result.phases.iter().find(|(phase, ..)| *phase == Phase::Drain);
            let (_, begin, end) = drain.unwrap();
            assert!(end.since(*begin) < Nanos::from_secs(60), "{flavour:?} {told:?}: {drain:?}");
        }
    }
}

/// The lines of the only file of receipts in the folder.
fn receipts(folder: &Path) -> (String, Vec<serde_json::Value>) {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let text = std::fs::read_to_string(file).unwrap();
    (file.display().to_string(), text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn a_broken_promise_leaves_its_receipt_in_a_file_that_a_note_names() {
    let lab = lying(
        Flavour::StaticCt,
        vec![Lie { after: 10, every: Count::at_least_one(40), ..Lie::of(LieKind::LostLeaf) }],
    );
    let folder = tempfile::tempdir().unwrap();
    let log = target(&lab, Flavour::StaticCt);
    let outcome = audit(log.clone(), 1, 100, folder.path());
    let lies = lab.stop().lies;
    let (file, lines) = receipts(folder.path());
    assert!(
        outcome.notes.iter().any(|note| note.contains(&file) && note.contains("3 broken, 0 pending")),
        "{:?}",
        outcome.notes
    );
    assert_eq!((lines.len(), lies.len()), (3, 3));
    for line in &lines {
        let index = line["leaf_index"].as_u64();
        assert!(lies.iter().any(|lie| lie.index == index), "{line}");
        let breach = outcome.result.breaches.iter().find(|breach| breach.index == index).unwrap();
        assert_eq!((line["seq"].as_u64(), line["reason"].as_str()), (breach.seq, Some("lost-leaf")));
        assert_eq!((&line["workload"], &line["detail"]), (&"w0".into(), &breach.detail.clone().into()));
        let sct = |name: &str| line["sct"][name].as_str().unwrap().to_owned();
        assert_eq!(sct("id"), hammer_tlog::encoding::base64(&log.key.log_id().0));
        assert_eq!(sct("extensions").len(), 12, "eight bytes");
        assert!(sct("signature").starts_with("BAM"), "ecdsa over sha256");
        let [intended, sent, received] =
            ["intended_ns", "sent_ns", "received_ns"].map(|name| line[name].as_u64().unwrap());
        assert!(intended <= sent && sent < received, "{line}");
    }
}

#[test]
fn a_promise_that_no_signature_backs_leaves_its_sct_too() {
    let (lies, outcome, folder) = caught_in(Flavour::Rfc6962, LieKind::BadSctSignature);
    let (_, lines) = receipts(folder.path());
    assert_eq!((lines.len(), lies.len(), outcome.result.promises.broken), (3, 3, 3));
    assert!(
        lines
            .iter()
            .all(|line| line["reason"] == "bad-sct-signature" && line["sct"]["signature"].is_string())
    );
}

#[test]
fn what_is_pending_at_the_end_is_listed() {
    for flavour in FLAVOURS {
        let lab = publishing_every(TimeSpan::from_millis(3_600_000), flavour);
        let folder = tempfile::tempdir().unwrap();
        let mut run = TestRun::new();
        let log = Arc::new(target(&lab, flavour));
        let auditor = Auditor::new("log", log.clone(), client(&log), run.epoch_unix_ms);
        let mut auditor = auditor.every(AuditInterval::LEAST).folder(folder.path().to_owned());
        let submit = SubmitWorkload::new(&mixed(), log.clone(), client(&log), &run.ct()).unwrap();
        run.load(submit.audited(auditor.link("w0")), 200.0, 40);
        run.drain = DRAIN_TO_THE_END;
        run.observers = vec![Box::new(auditor)];
        let outcome = run.run();
        assert_eq!((outcome.result.promises.made, outcome.result.promises.pending), (40, 40));
        let (file, lines) = receipts(folder.path());
        assert!(
            outcome.notes.iter().any(|note| note.contains(&file) && note.contains("0 broken, 40 pending")),
            "{:?}",
            outcome.notes
        );
        let mut seqs: Vec<_> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
        seqs.sort_unstable();
        assert_eq!(seqs, (0..40).collect::<Vec<_>>());
        assert!(lines.iter().all(|line| line["reason"] == "pending"));
    }
}

#[test]
fn receipts_beyond_the_bound_are_spilled_and_every_leaf_is_found_all_the_same() {
    for flavour in FLAVOURS {
        let lab = publishing_every(TimeSpan::from_millis(1_500), flavour);
        let mut run = TestRun::new();
        let log = Arc::new(target(&lab, flavour));
        let auditor = Auditor::new("log", log.clone(), client(&log), run.epoch_unix_ms);
        let mut auditor = auditor.every(AuditInterval::LEAST).in_memory(40);
        let submit = SubmitWorkload::new(&mixed(), log.clone(), client(&log), &run.ct()).unwrap();
        run.load(submit.audited(auditor.link("w0")), 300.0, 600);
        run.observers = vec![Box::new(auditor)];
        let outcome = run.run();
        outcome.assert_kept(600);
        assert!(observed(&outcome, "audit_spilled_max").unwrap() > 40.0);
    }
}

//! Logs that are read in a folder, and compressed bundles.

use std::fs::{self, File};
use std::sync::Arc;

use hammer_ct::{
    AuditInterval, Auditor, LogTarget, ReadKind, ReadPlan, ReadWorkload, SubmitPlan, SubmitWorkload,
};
use hammer_lab::CtLabPlan;
use hammer_lab::ct::Flavour;
use hammer_measure::Fate;

use crate::harness::{Outcome, TestRun, client, lab, target, weights};

/// Submits 300 chains to a log and audits it where `log` says that it is read.
fn audited(plan: CtLabPlan, log: impl Fn(LogTarget) -> LogTarget) -> (LogTarget, Outcome) {
    let submissions = SubmitPlan::default();
    let lab = lab(&submissions, plan);
    let log = log(target(&lab, Flavour::StaticCt));
    let mut run = TestRun::new();
    let (client, shared) = (client(&log), Arc::new(log.clone()));
    let auditor = Auditor::new("log", shared.clone(), client.clone(), run.epoch_unix_ms);
    let mut auditor = auditor.every(AuditInterval::LEAST);
    let followed = Auditor::of_heads("log", shared.clone(), client.clone(), run.epoch_unix_ms);
    let submit = SubmitWorkload::new(&submissions, shared, client, &run.ct()).unwrap();
    run.load(submit.audited(auditor.link("w0")), 300.0, 300);
    run.observers = vec![Box::new(auditor), Box::new(followed)];
    (log, run.run())
}

#[test]
fn a_folder_is_audited_and_read_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let plan = CtLabPlan { storage_dir: Some(path.clone()), ..CtLabPlan::default() };
    let (log, outcome) = audited(plan, |log| LogTarget { folder: Some(path.clone()), ..log });
    outcome.assert_kept(300);
    // As Sunlight keeps them.
    let bundle = path.join("tile/data/000");
    let plain = fs::read(&bundle).unwrap();
    let mut encoder =
        flate2::write::GzEncoder::new(File::create(&bundle).unwrap(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &plain).unwrap();
    encoder.finish().unwrap();
    let mut run = TestRun::new();
    let kinds = [ReadKind::Checkpoint, ReadKind::Tile, ReadKind::Bundle, ReadKind::Issuer];
    let plan = ReadPlan { mix: weights(kinds.map(|kind| (kind, 1u16))), ..ReadPlan::default() };
    let client = client(&log);
    let reads = ReadWorkload::new(&plan, Arc::new(log), client, &run.ct()).unwrap();
    run.load(reads, 500.0, 100);
    let outcome = run.run();
    assert_eq!((0..4).map(|series| outcome.fate(series, Fate::Accepted)).sum::<u64>(), 100);
    let ledger = outcome.result.promises;
    assert_eq!(
        (ledger.made, ledger.kept),
        (ledger.kept, ledger.made),
        "{ledger:?} {:?}",
        outcome.result.breaches
    );
    assert!(ledger.made >= 100, "{ledger:?}");
}

#[test]
fn an_audit_reads_compressed_bundles() {
    let (_log, outcome) = audited(CtLabPlan { gzip: true, ..CtLabPlan::default() }, |log| log);
    outcome.assert_kept(300);
}

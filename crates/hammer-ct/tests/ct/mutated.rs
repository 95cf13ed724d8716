//! Logs whose answers are altered at random on their way: every operation has a fate, every promise a verdict, and
//! none is kept that the log did not make.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hammer_ct::{AuditInterval, Auditor, ReadPlan, ReadWorkload, SubmitPlan, SubmitWorkload};
use hammer_lab::CtLabPlan;
use hammer_lab::ct::{Flavour, Lie, LieKind};
use hammer_measure::{Fate, Nanos};
use hammer_mutate::cases;
use hammer_values::Count;

use crate::harness::{Outcome, TestRun, client, lab, target, whole_percent};
use crate::proxy::{self, Rule};

const FLAVOURS: [Flavour; 2] = [Flavour::StaticCt, Flavour::Rfc6962];

fn mixed() -> SubmitPlan {
    SubmitPlan { precert_percent: whole_percent(30), ..SubmitPlan::default() }
}

fn count(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Each of so many operations ended once, and each promise is accounted for.
fn assert_accounted(outcome: &Outcome, operations: u64) {
    let series = outcome.operations.iter();
    let ended: u64 = series.flat_map(|series| Fate::ALL.map(|fate| outcome.fate(*series, fate))).sum();
    assert_eq!(ended, operations);
    let ledger = outcome.result.promises;
    assert_eq!(ledger.made, ledger.kept + ledger.broken + ledger.pending + ledger.unchecked, "{ledger:?}");
}

#[test]
fn of_altered_answers_to_submissions_only_what_the_log_signed_is_kept() {
    for (seed, flavour) in (1..).zip(FLAVOURS) {
        let (plan, operations) = (mixed(), cases(400));
        let lab = lab(&plan, CtLabPlan { flavour, ..CtLabPlan::default() });
        let (log, passed) =
            proxy::before(&target(&lab, flavour), Rule { seed, one_in: 2, submissions: true });
        let (mut run, client) = (TestRun::new(), client(&log));
        let workload = SubmitWorkload::new(&plan, Arc::new(log), client, &run.ct()).unwrap();
        run.load(workload, 400.0, operations);
        let outcome = run.run();
        assert_accounted(&outcome, operations);
        let ledger = outcome.result.promises;
        let (kept, raw) = (count(&passed.whole) + count(&passed.same_sct), count(&passed.raw));
        assert!((kept..=kept + raw).contains(&ledger.kept), "{kept} of {passed:?}: {ledger:?}");
        assert_eq!((ledger.pending, ledger.unchecked), (0, 0), "{ledger:?}");
        assert!(operations < 100 || (count(&passed.altered) > 50 && ledger.broken > 0), "{ledger:?}");
    }
}

#[test]
fn an_audit_of_altered_answers_finds_no_leaf_that_is_not_there() {
    for (seed, flavour) in (1..).zip(FLAVOURS) {
        let lies = match flavour {
            Flavour::StaticCt => {
                vec![Lie { after: 10, every: Count::at_least_one(20), ..Lie::of(LieKind::LostLeaf) }]
            }
            Flavour::Rfc6962 => Vec::new(),
        };
        let (plan, operations) = (mixed(), cases(300));
        let lab = lab(&plan, CtLabPlan { flavour, lies, ..CtLabPlan::default() });
        let (log, passed) =
            proxy::before(&target(&lab, flavour), Rule { seed, one_in: 3, submissions: false });
        let folder = tempfile::tempdir().unwrap();
        let mut run = TestRun { drain: Nanos::from_secs(3), ..TestRun::new() };
        let (client, log) = (client(&log), Arc::new(log));
        let auditor = Auditor::new("log", log.clone(), client.clone(), run.epoch_unix_ms);
        let mut auditor = auditor.every(AuditInterval::LEAST).folder(folder.path().to_owned());
        let submit = SubmitWorkload::new(&plan, log, client, &run.ct()).unwrap();
        run.load(submit.audited(auditor.link("w0")), 150.0, operations);
        run.observers = vec![Box::new(auditor)];
        let outcome = run.run();
        assert_accounted(&outcome, operations);
        let lies = lab.stop().lies.len() as u64;
        let (kept, accepted) =
            (outcome.result.promises.kept, outcome.fate(0, Fate::Accepted) + outcome.fate(1, Fate::Accepted));
        assert!(kept + lies <= accepted, "{kept} kept and {lies} lies of {accepted}");
        let lied = flavour == Flavour::Rfc6962 || lies > 2;
        assert!(operations < 100 || (lied && count(&passed.altered) > 5), "{lies} {passed:?}");
    }
}

#[test]
fn of_altered_answers_to_reads_only_what_is_whole_is_kept() {
    for (seed, flavour) in (1..).zip(FLAVOURS) {
        let (plan, operations) = (SubmitPlan::default(), cases(500));
        let lab = lab(&plan, CtLabPlan { flavour, ..CtLabPlan::default() });
        let grown = target(&lab, flavour);
        let mut run = TestRun::new();
        let submit = SubmitWorkload::new(&plan, Arc::new(grown.clone()), client(&grown), &run.ct()).unwrap();
        run.load(submit, 1_000.0, 300);
        run.run().assert_kept(300);

        let (log, passed) = proxy::before(&grown, Rule { seed, one_in: 2, submissions: true });
        let (mut run, client) = (TestRun::new(), client(&log));
        let workload = ReadWorkload::new(&ReadPlan::default(), Arc::new(log), client, &run.ct()).unwrap();
        run.load(workload, 500.0, operations);
        let outcome = run.run();
        assert_accounted(&outcome, operations);
        let ledger = outcome.result.promises;
        // Alterations may spare the log's own line of a checkpoint: those are not more than all that were altered.
        let passed_on = count(&passed.whole) + count(&passed.altered) + count(&passed.raw);
        assert!(ledger.kept <= passed_on, "{ledger:?} {passed:?}");
        // A proof that does not come leaves its read without a verdict; most of what is altered does come.
        assert!(ledger.unchecked <= count(&passed.altered) / 4, "{ledger:?} {passed:?}");
        assert!(operations < 100 || ledger.broken > 0, "{ledger:?}");
    }
}

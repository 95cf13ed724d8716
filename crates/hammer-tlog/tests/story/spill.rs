//! Receipts beyond what memory holds.

use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::{AuditBounds, Finding, NoSpill, bundles};
use hammer_tlog::logs::follow::{Follower, ProofMethod};

use crate::log::{EPOCH_MS, Log, MMD_MS};
use crate::watch::{Shelf, Sweep, Watch, broken, kept};

const SMALL: AuditBounds = AuditBounds { receipts: 10_000, window: 256 };
const MANY: u64 = 60_000;

/// A log that has answered many submissions whose leaves no head covers yet.
fn story<S: hammer_tlog::logs::audit::Spill>(spill: S) -> (Log, Watch<S>) {
    let mut watch = Watch::with(SMALL, spill);
    let mut log = Log::of(0);
    watch.poll(&log);
    (0..MANY).for_each(|seq| watch.audit.accept(log.submit(seq)));
    assert_eq!(watch.audit.pending(), MANY);
    (log, watch)
}

#[test]
fn receipts_beyond_the_bound_are_spilled_and_still_kept() {
    let (log, mut watch) = story(Shelf::default());
    assert!(watch.audit.spilled() >= MANY - 10_000, "{} are spilled", watch.audit.spilled());
    watch.poll(&log);
    assert_eq!((watch.audit.pending(), watch.audit.spilled()), (0, 0));
    assert_eq!(watch.kept(), (0..MANY).collect::<Vec<_>>());
    assert_eq!((watch.broken(), watch.findings.len()), (vec![], 0));
}

#[test]
fn spilled_receipts_of_leaves_before_the_first_head_are_looked_up() {
    let mut watch = Watch::with(AuditBounds { receipts: 300, ..SMALL }, Shelf::default());
    watch.follower = Follower::new(ProofMethod::Leaves, bundles::<StaticCtLeaves>());
    let mut log = Log::of(10);
    (0..1_000).for_each(|seq| watch.audit.accept(log.submit(seq)));
    assert!(watch.audit.spilled() >= 700, "{} are spilled", watch.audit.spilled());
    watch.poll(&log);
    assert_eq!((watch.audit.pending(), watch.audit.spilled()), (0, 0));
    assert_eq!(watch.kept(), (0..1_000).collect::<Vec<_>>());
    assert_eq!((watch.broken(), watch.findings.len()), (vec![], 0));
}

#[test]
fn spilled_receipts_are_overdue_like_others() {
    let (_, mut watch) = story(Shelf::default());
    watch.audit.overdue(EPOCH_MS + MMD_MS + 1);
    watch.read(&Log::of(0));
    assert_eq!(watch.broken().len() as u64, MANY);
    assert_eq!((watch.audit.pending(), watch.audit.spilled()), (0, 0));
}

#[test]
fn a_spill_that_fails_keeps_the_receipts_and_says_so() {
    let (log, mut watch) = story(NoSpill);
    watch.poll(&log);
    assert_eq!(watch.kept().len() as u64, MANY);
    assert!(watch.findings.iter().all(|finding| matches!(finding, Finding::Unspilled { receipts: 0, .. })));
    assert!(!watch.findings.is_empty());
}

#[test]
fn receipts_that_the_spill_lost_are_counted() {
    let (log, mut watch) = story(Shelf { forgets: true, ..Shelf::default() });
    let spilled = watch.audit.spilled();
    watch.poll(&log);
    let lost = |finding: &Finding| match finding {
        Finding::Unspilled { receipts, .. } => *receipts,
        _ => 0,
    };
    assert_eq!(watch.findings.iter().map(lost).sum::<u64>(), spilled);
    assert_eq!(watch.kept().len() as u64, MANY - spilled);
}

/// The same, swept by get-entries.
fn swept<S: hammer_tlog::logs::audit::Spill>(spill: S) -> (Log, Sweep<S>) {
    let mut sweep = Sweep::with(SMALL, spill);
    let mut log = Log::of(0);
    sweep.poll(&log);
    (0..MANY).for_each(|seq| sweep.audit.accept(log.submit(seq)));
    assert_eq!(sweep.audit.pending(), MANY);
    (log, sweep)
}

#[test]
fn swept_receipts_beyond_the_bound_are_spilled_and_still_kept() {
    let (log, mut sweep) = swept(Shelf::default());
    assert!(sweep.audit.spilled() >= MANY - 10_000, "{} are spilled", sweep.audit.spilled());
    sweep.poll(&log);
    sweep.audit.settle();
    sweep.verdicts.extend(sweep.audit.verdicts());
    assert_eq!((sweep.audit.pending(), sweep.audit.spilled()), (0, 0));
    assert_eq!(kept(&sweep.verdicts), (0..MANY).collect::<Vec<_>>());
    assert_eq!((broken(&sweep.verdicts), sweep.findings.len()), (vec![], 0));
}

#[test]
fn spilled_receipts_of_a_sweep_are_overdue_like_others() {
    let (_, mut sweep) = swept(Shelf::default());
    sweep.audit.overdue(EPOCH_MS + MMD_MS + 1);
    assert_eq!(broken(&sweep.audit.verdicts()).len() as u64, MANY);
    assert_eq!(sweep.audit.pending(), 0);
}

#[test]
fn a_spill_that_fails_or_loses_receipts_of_a_sweep_says_so() {
    let (log, mut sweep) = swept(NoSpill);
    sweep.poll(&log);
    assert_eq!(kept(&sweep.verdicts).len() as u64, MANY);
    assert!(!sweep.findings.is_empty());
    let (log, mut sweep) = swept(Shelf { forgets: true, ..Shelf::default() });
    let spilled = sweep.audit.spilled();
    sweep.poll(&log);
    sweep.audit.settle();
    sweep.findings.extend(sweep.audit.findings());
    let lost = |finding: &Finding| match finding {
        Finding::Unspilled { receipts, .. } => *receipts,
        _ => 0,
    };
    assert_eq!(sweep.findings.iter().map(lost).sum::<u64>(), spilled);
    assert_eq!((kept(&sweep.verdicts).len() as u64, sweep.audit.pending()), (MANY - spilled, 0));
}

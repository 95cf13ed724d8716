//! Logs that are audited by their entries.

use hammer_tlog::logs::audit::{AuditBounds, EntryAudit, EntryRange, Finding, NoSpill};
use hammer_tlog::logs::merkle::{Frontier, inclusion_proof};

use crate::log::{EPOCH_MS, Log, MMD_MS, certificate, numbered};
use crate::watch::{Sweep, broken, kept};

/// A log of `before` leaves that is swept.
fn story(before: u64) -> (Log, Sweep) {
    let log = Log::of(before);
    let mut sweep = Sweep::new();
    sweep.poll(&log);
    (log, sweep)
}

#[test]
fn a_log_that_gives_fewer_entries_than_asked_is_swept() {
    for batch in [1, 7, 256, 1000] {
        let (mut log, mut sweep) = story(300);
        log.batch = batch;
        for growth in [1, 5, 300] {
            let first = log.tree.size();
            (0..growth).for_each(|seq| sweep.audit.accept(log.submit(first + seq)));
            log.now_ms += 500;
            sweep.poll(&log);
            assert_eq!((sweep.audit.pending(), sweep.audit.behind()), (0, 0));
        }
        assert_eq!(kept(&sweep.verdicts), (300..606).collect::<Vec<_>>());
        assert_eq!((broken(&sweep.verdicts), sweep.findings.len()), (vec![], 0));
    }
}

#[test]
fn entries_are_asked_for_up_to_the_newest_head() {
    let (log, sweep) = (Log::of(10), Sweep::new());
    let mut audit = sweep.audit;
    assert_eq!(audit.needs(5), None);
    audit.follow(&hammer_tlog::logs::follow::Event::First { head: log.head() });
    assert_eq!(audit.needs(4), Some(EntryRange { start: 0, end: 3 }));
    assert_eq!(audit.needs(40), Some(EntryRange { start: 0, end: 9 }));
    audit.leaves(3, log.tree.leaves()[3..].iter().copied());
    assert_eq!(audit.behind(), 10);
    audit.leaves(0, log.tree.leaves().iter().copied());
    assert_eq!((audit.needs(4), audit.behind()), (None, 0));
}

#[test]
fn an_altered_entry_is_found_and_believed_for_nobody() {
    let (mut log, mut sweep) = story(300);
    (0..10).for_each(|seq| sweep.audit.accept(log.submit(seq)));
    let honest = log.leaf_inputs.clone();
    log.leaf_inputs[305][20] ^= 1;
    sweep.poll(&log);
    assert!(matches!(sweep.findings[..], [Finding::TamperedEntries { start: 300, size: 310, .. }]));
    sweep.audit.overdue(u64::MAX);
    assert_eq!((sweep.verdicts.len(), sweep.audit.pending()), (0, 10));
    // A proof by hash still keeps what the sweep cannot; and once the entries are whole, so does the sweep.
    let leaf = log.tree.leaves()[303];
    let proof = inclusion_proof(&log.tree, 303, 310).unwrap();
    assert!(sweep.audit.proof(leaf, 304, &log.head(), &proof).is_err());
    sweep.audit.proof(leaf, 303, &log.head(), &proof).unwrap();
    log.leaf_inputs = honest;
    log.submit(99);
    sweep.poll(&log);
    assert_eq!(kept(&sweep.verdicts), (0..10).collect::<Vec<_>>());
}

#[test]
fn a_leaf_that_never_comes_is_overdue_once_all_has_been_read() {
    let (mut log, mut sweep) = story(300);
    let (lost, _) = log.promise(1, 300, &certificate(1, 24));
    sweep.audit.accept(lost);
    sweep.audit.accept(numbered(lost, 2).duplicate());
    log.now_ms = MMD_MS + 1;
    sweep.audit.accept(log.submit(3));
    sweep.poll(&log);
    sweep.audit.overdue(EPOCH_MS + MMD_MS);
    assert_eq!(sweep.audit.verdicts(), []);
    sweep.audit.overdue(EPOCH_MS + MMD_MS + 1);
    let verdicts = sweep.audit.verdicts();
    assert_eq!(broken(&verdicts), [(1, Some(300), "overdue"), (2, Some(300), "overdue")]);
    assert_eq!((kept(&sweep.verdicts), sweep.audit.pending()), (vec![3], 0));
}

#[test]
fn a_leaf_that_comes_too_late_breaks_the_merge_delay() {
    for (seen_ms, late) in [(MMD_MS, None), (MMD_MS + 1, Some((1, Some(300), "overdue")))] {
        let (mut log, mut sweep) = story(300);
        let certificate = certificate(1, 24);
        let (receipt, leaf) = log.promise(1, 300, &certificate);
        sweep.audit.accept(receipt);
        log.now_ms = seen_ms;
        sweep.poll(&log);
        log.integrate_too_late(leaf, &certificate, 300);
        sweep.poll(&log);
        assert_eq!(broken(&sweep.verdicts), Vec::from_iter(late), "a head without it at {seen_ms} ms");
        assert_eq!(kept(&sweep.verdicts).is_empty(), late.is_some());
    }
}

#[test]
fn a_leaf_whose_log_was_not_looked_at_meanwhile_is_kept() {
    let (mut log, mut sweep) = story(300);
    sweep.audit.accept(log.submit(1));
    log.now_ms = 2 * MMD_MS;
    sweep.poll(&log);
    assert_eq!((kept(&sweep.verdicts), broken(&sweep.verdicts)), (vec![1], vec![]));
}

#[test]
fn a_receipt_that_comes_after_its_leaf_is_kept_and_so_is_its_duplicate() {
    let (mut log, mut sweep) = story(300);
    let receipt = log.submit(1);
    sweep.poll(&log);
    sweep.audit.accept(numbered(receipt, 2).duplicate());
    sweep.audit.accept(receipt);
    sweep.audit.accept(numbered(receipt, 3));
    sweep.poll(&log);
    assert_eq!(kept(&sweep.verdicts), [1, 2]);
    assert_eq!(broken(&sweep.verdicts), [(3, Some(300), "index-promised-twice")]);
}

#[test]
fn a_sweep_may_begin_at_any_size() {
    for size in [1, 2, 255, 256, 300] {
        let mut log = Log::of(size);
        let (leaf, path) = (log.tree.leaves()[size as usize - 1], inclusion_proof(&log.tree, size - 1, size));
        let frontier = Frontier::from_last_leaf(size, leaf, &path.unwrap()).unwrap();
        assert_eq!(frontier.root(), log.head().root);
        let mut sweep = Sweep::new();
        sweep.audit = EntryAudit::after(AuditBounds::default(), frontier, NoSpill);
        sweep.audit.accept(log.submit(1));
        sweep.poll(&log);
        assert_eq!((kept(&sweep.verdicts), sweep.findings.len()), (vec![1], 0));
    }
    assert!(Frontier::from_last_leaf(0, Log::of(1).tree.leaves()[0], &[]).is_err());
    assert!(Frontier::from_last_leaf(4, Log::of(1).tree.leaves()[0], &[]).is_err());
}

#[test]
fn a_sweep_that_begins_at_another_tree_says_so() {
    let log = Log::of(3);
    let other = Log::of(2).tree.leaves()[..2].iter().copied().chain([log.tree.leaves()[0]]).collect();
    let mut audit = EntryAudit::after(AuditBounds::default(), other, NoSpill);
    audit.follow(&hammer_tlog::logs::follow::Event::First { head: log.head() });
    assert!(matches!(audit.findings()[..], [Finding::TamperedEntries { start: 3, size: 3, .. }]));
    assert_eq!(audit.needs(9), None);
}

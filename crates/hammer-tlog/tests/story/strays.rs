//! Leaves that stand elsewhere.

use hammer_tlog::logs::audit::{Kind, Receipt, Verdict};
use hammer_tlog::logs::follow::Event;

use crate::log::{Log, certificate, numbered};
use crate::watch::{Watch, follow};

/// Takes a submission at the next index, and promises another.
fn misplaced(log: &mut Log, seq: u64, index: u64) -> Receipt {
    let (receipt, _) = log.promise(seq, index, &certificate(seq, 24));
    log.submit(seq);
    receipt
}

/// Follows the log without reading a bundle.
fn head(watch: &mut Watch, log: &Log) {
    let events = follow(&mut watch.follower, log, log.head());
    events.iter().for_each(|event| watch.audit.follow(event));
}

/// Where the tree has the leaves of those that were promised elsewhere.
fn holds(watch: &Watch) -> Vec<u64> {
    let held = |verdict: &Verdict| match verdict {
        Verdict::Broken(breach) => match breach.kind {
            Kind::WrongIndex { holds } => Some(holds),
            _ => None,
        },
        Verdict::Kept(_) => None,
    };
    watch.verdicts.iter().filter_map(held).collect()
}

#[test]
fn a_leaf_that_was_promised_far_beyond_the_tree_is_at_a_wrong_index_at_once() {
    let (mut log, mut watch) = (Log::of(10), Watch::new());
    watch.audit.accept(misplaced(&mut log, 0, 1 << 30));
    (1..4).for_each(|seq| watch.audit.accept(log.submit(seq)));
    watch.poll(&log);
    assert_eq!((watch.broken(), holds(&watch)), (vec![(0, Some(1 << 30), "wrong-index")], vec![10]));
    assert_eq!((watch.kept(), watch.audit.pending()), (vec![1, 2, 3], 0));
}

#[test]
fn a_leaf_that_was_promised_beyond_the_edge_of_its_bundle_is_at_a_wrong_index() {
    for more in [0, 1, 300] {
        let (mut log, mut watch) = (Log::of(255), Watch::new());
        watch.audit.accept(misplaced(&mut log, 0, 256));
        (1..=more).for_each(|seq| watch.audit.accept(log.submit(seq)));
        watch.poll(&log);
        assert_eq!(watch.broken(), [(0, Some(256), "wrong-index")], "{more}");
        assert_eq!((holds(&watch), watch.kept()), (vec![255], (1..=more).collect()));
        assert_eq!(watch.audit.pending(), 0);
    }
}

#[test]
fn a_receipt_that_comes_after_its_leaf_was_read_is_held_against_it_once_heads_have_not_shown_it() {
    for promised in [256, 1 << 30] {
        let (mut log, mut watch) = (Log::of(200), Watch::new());
        let late = misplaced(&mut log, 0, promised);
        watch.poll(&log);
        watch.audit.accept(late);
        let mut heads = 0;
        while watch.broken().is_empty() {
            assert!(heads < 3, "{promised}");
            watch.audit.follow(&Event::Same { head: log.head() });
            watch.read(&log);
            heads += 1;
        }
        assert_eq!(watch.broken(), [(0, Some(promised), "wrong-index")]);
        assert_eq!((holds(&watch), heads, watch.audit.pending()), (vec![200], 2, 0));
    }
}

#[test]
fn of_a_late_receipt_the_tree_may_have_another_leaf_at_the_promised_index_by_then() {
    let (mut log, mut watch) = (Log::of(255), Watch::new());
    let late = misplaced(&mut log, 0, 256);
    watch.poll(&log);
    watch.audit.accept(late);
    (1..10).for_each(|seq| watch.audit.accept(log.submit(seq)));
    watch.poll(&log);
    assert_eq!((watch.broken(), holds(&watch)), (vec![(0, Some(256), "wrong-index")], vec![255]));
    assert_eq!((watch.kept(), watch.audit.pending()), ((1..10).collect(), 0));
}

#[test]
fn a_leaf_that_is_nowhere_is_lost_though_others_have_its_time() {
    let (mut log, mut watch) = (Log::of(300), Watch::new());
    watch.poll(&log);
    let (lost, _) = log.promise(0, 300, &certificate(0, 24));
    watch.audit.accept(lost);
    log.grow(1..3);
    watch.poll(&log);
    assert_eq!((watch.broken(), watch.audit.pending()), (vec![(0, Some(300), "lost-leaf")], 0));
}

#[test]
fn a_leaf_whose_other_bundles_are_not_served_any_more_is_lost() {
    let (mut log, mut watch) = (Log::of(300), Watch::new());
    watch.poll(&log);
    let (lost, _) = log.promise(0, 300, &certificate(0, 24));
    watch.audit.accept(lost);
    log.grow(1..3);
    head(&mut watch, &log);
    for _ in 0..4 {
        for tile in watch.audit.needs(9, true) {
            match tile.index {
                1 => watch.audit.tile(tile, &log.serve(tile).unwrap()),
                _ => watch.audit.missing(tile),
            }
        }
    }
    watch.read(&log);
    assert_eq!((watch.broken(), watch.audit.pending()), (vec![(0, Some(300), "lost-leaf")], 0));
}

#[test]
fn of_an_honest_log_nothing_is_read_twice_however_late_its_receipts_come() {
    // All leaves have one time.
    let (mut log, mut watch) = (Log::of(100), Watch::new());
    let mut receipts: Vec<_> = (0..700).map(|seq| log.submit(seq)).collect();
    let size = log.tree.size();
    let late = receipts.split_off(300);
    let events = follow(&mut watch.follower, &log, log.head_at(size - 400));
    events.iter().for_each(|event| watch.audit.follow(event));
    watch.read(&log);
    receipts.into_iter().rev().for_each(|receipt| watch.audit.accept(receipt));
    late.into_iter().for_each(|receipt| watch.audit.accept(receipt));
    assert_eq!(watch.audit.needs(9, true), []);
    watch.poll(&log);
    for _ in 0..3 {
        watch.audit.follow(&Event::Same { head: log.head() });
        assert_eq!(watch.audit.needs(9, true), []);
    }
    assert_eq!((watch.kept(), watch.broken()), ((0..700).collect(), vec![]));
    assert_eq!((watch.audit.pending(), watch.findings.len()), (0, 0));
}

#[test]
fn a_log_that_takes_a_chain_twice_in_one_instant_is_not_accused() {
    let (mut log, mut watch) = (Log::of(100), Watch::new());
    // The answer to the first is on its way while its leaf is read.
    let first = log.submit(0);
    let again = numbered(log.submit(0), 1).duplicate();
    watch.audit.accept(again);
    let events = follow(&mut watch.follower, &log, log.head_at(101));
    events.iter().for_each(|event| watch.audit.follow(event));
    watch.read(&log);
    assert_eq!(watch.broken(), []);
    watch.audit.accept(first);
    watch.poll(&log);
    assert_eq!((watch.kept(), watch.broken()), (vec![0, 1], vec![]));
}

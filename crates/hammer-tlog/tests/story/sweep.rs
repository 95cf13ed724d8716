//! Logs that are swept once.

use std::ops::Range;

use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::{BundleFault, Flaw, TileSweep};
use hammer_tlog::logs::follow::{Head, TileFault};
use hammer_tlog::logs::merkle::Hash;
use hammer_tlog::logs::tile::{Level, TileId};

use crate::log::Log;

/// Sweeps what the log serves; whether it was proved, and the flaws.
fn swept(log: &Log, head: &Head, range: Range<u64>) -> (bool, Vec<Flaw>) {
    let mut sweep = TileSweep::<StaticCtLeaves>::new(head, range);
    let mut flaws = Vec::new();
    while !sweep.is_over() {
        let needs = sweep.needs(5);
        assert!(!needs.is_empty(), "{sweep:?}");
        for tile in needs {
            match log.serve(tile) {
                Some(bytes) => sweep.tile(tile, bytes),
                None => sweep.missing(tile),
            }
        }
        flaws.extend(sweep.flaws());
    }
    flaws.extend(sweep.flaws());
    (sweep.is_proved(), flaws)
}

fn whole(log: &Log) -> (bool, Vec<Flaw>) {
    swept(log, &log.head(), 0..u64::MAX)
}

#[test]
fn an_honest_log_is_proved_whatever_its_size_and_the_range() {
    for size in [0, 1, 255, 256, 257, 600, 1_024] {
        let mut log = Log::of(size);
        assert_eq!(whole(&log), (true, Vec::new()), "{size}");
        log.collects = true;
        for range in [0..1, 100..300, 256..512, 300..u64::MAX, size..u64::MAX, u64::MAX..u64::MAX] {
            assert_eq!(swept(&log, &log.head(), range.clone()), (true, Vec::new()), "{range:?} of {size}");
        }
        let head = log.head();
        log.grow(0..300);
        assert_eq!(swept(&log, &head, 0..u64::MAX), (true, Vec::new()), "{size}, grown since");
    }
}

#[test]
fn a_range_reads_its_bundles_alone() {
    let log = Log::of(66_000);
    assert_eq!(swept(&log, &log.head(), 65_600..65_700), (true, Vec::new()));
    let sweep = TileSweep::<StaticCtLeaves>::new(&log.head(), 1_000..1_100);
    assert_eq!((sweep.leaves(), sweep.read()), (768..1_280, 0));
    assert!(sweep.needs(100).iter().all(|tile| matches!(tile.level, Level::Hashes(1..))));
}

#[test]
fn what_is_tampered_with_is_told_from_what_is_not() {
    let mut log = Log::of(66_000);
    log.flipped = Some((Level::Data, 3, 8 * 20));
    let (proved, flaws) = whole(&log);
    let [Flaw::Bundle { tile, index: 768, fault: BundleFault::Leaf { .. } }] = flaws[..] else {
        panic!("{flaws:?}")
    };
    assert_eq!((proved, tile), (true, TileId::data(3)));

    for (level, index, item) in [(0, 3, 5), (1, 0, 7), (2, 0, 0)] {
        log.flipped = Some((Level::Hashes(level), index, 8 * 32 * item));
        let (proved, flaws) = whole(&log);
        let [Flaw::Tile { tile, fault: TileFault::Hash { position, .. } }] = &flaws[..] else {
            panic!("{flaws:?}")
        };
        assert_eq!((tile.level, tile.index, usize::from(*position)), (Level::Hashes(level), index, item));
        assert!(proved);
    }
}

#[test]
fn each_altered_entry_of_a_bundle_is_told() {
    let mut log = Log::of(600);
    for index in [7, 8, 100, 255, 300] {
        // A bit of its time.
        log.entries[index][7] ^= 1;
    }
    let (proved, flaws) = whole(&log);
    let told = flaws.iter().map(|flaw| match flaw {
        Flaw::Bundle { index, fault: BundleFault::Leaf { .. }, .. } => *index,
        other => panic!("{other:?}"),
    });
    assert_eq!((proved, told.collect::<Vec<_>>()), (true, vec![7, 8, 100, 255, 300]));
}

#[test]
fn entries_that_lead_to_another_root_prove_nothing() {
    let log = Log::of(700);
    let head = Head { root: Hash([7; 32]), ..log.head() };
    let (proved, flaws) = swept(&log, &head, 0..u64::MAX);
    assert_eq!((proved, flaws), (false, vec![Flaw::Root { computed: log.head().root, expected: head.root }]));
}

#[test]
fn an_entry_of_another_index_and_one_that_cannot_be_read_are_told() {
    let mut log = Log::of(300);
    log.submit_as(0, 7);
    assert_eq!(whole(&log), (true, vec![Flaw::Index { index: 300, says: Some(7) }]));

    let mut log = Log::of(300);
    log.entries[299].truncate(20);
    let (proved, flaws) = whole(&log);
    let [Flaw::Bundle { index: 299, fault: BundleFault::Entry(_), .. }] = flaws[..] else {
        panic!("{flaws:?}")
    };
    assert!(proved);
}

#[test]
fn a_log_that_serves_nothing_proves_nothing() {
    let log = Log::of(300);
    let mut sweep = TileSweep::<StaticCtLeaves>::new(&log.head(), 0..u64::MAX);
    while !sweep.is_over() {
        sweep.needs(2).into_iter().for_each(|tile| sweep.missing(tile));
    }
    let missing = [TileId::data(0), TileId::hashes(0, 0)].map(|tile| Flaw::Missing { tile });
    assert_eq!((sweep.is_proved(), sweep.flaws()), (false, missing.to_vec()));
}

//! Logs that are audited by their tiles.

use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::{
    AuditBounds, Breach, BundleFault, Finding, Kind, NoSpill, Receipt, Verdict, bundles,
};
use hammer_tlog::logs::follow::{Event, Follower, ProofMethod};
use hammer_tlog::logs::merkle::{Hash, sha256};
use hammer_tlog::logs::tile::{Level, TileId};

use crate::log::{EPOCH_MS, Log, MMD_MS, certificate, numbered};
use crate::watch::Watch;

/// A log of `before` leaves that is watched, and takes `ours` submissions.
fn story(before: u64, ours: u64) -> (Log, Watch) {
    let mut log = Log::of(before);
    let mut watch = Watch::new();
    watch.poll(&log);
    for seq in 0..ours {
        let receipt = log.submit(seq);
        watch.audit.accept(receipt);
    }
    (log, watch)
}

#[test]
fn every_receipt_of_a_growing_log_is_kept_with_its_delays() {
    let (mut log, mut watch) = story(300, 0);
    for (poll, batch) in [1, 7, 255, 256, 300, 0, 2].into_iter().enumerate() {
        let first = log.tree.size();
        (0..batch).for_each(|seq| watch.audit.accept(log.submit(first + seq)));
        log.now_ms += 1500;
        watch.poll(&log);
        assert_eq!(watch.audit.pending(), 0, "poll {poll}");
    }
    assert_eq!(watch.kept(), (300..300 + 821).collect::<Vec<_>>());
    assert_eq!((watch.broken(), watch.findings.len(), watch.audit.behind()), (vec![], 0, 0));
    let Verdict::Kept(kept) = &watch.verdicts[0] else { panic!("the first is kept") };
    assert_eq!((kept.index, kept.publication_delay_ns()), (300, Some(1_500_000_000)));
    assert_eq!(kept.merge_delay_ms(), Some(1500));
}

#[test]
fn an_answer_after_publication_has_no_publication_delay() {
    let (mut log, mut watch) = story(300, 0);
    let receipts: Vec<_> = (0..10).map(|seq| log.submit(seq)).collect();
    watch.poll(&log);
    for receipt in receipts {
        let mut receipt = receipt;
        receipt.received_ns = 5_000_000_000;
        watch.audit.accept(receipt);
    }
    watch.read(&log);
    assert_eq!(watch.kept(), (0..10).collect::<Vec<_>>());
    let delays = watch.verdicts.iter().map(|verdict| match verdict {
        Verdict::Kept(kept) => kept.publication_delay_ns(),
        Verdict::Broken(_) => None,
    });
    assert!(delays.into_iter().all(|delay| delay == Some(0)));
}

#[test]
fn an_audit_that_begins_at_the_first_head_reads_only_what_follows() {
    let mut log = Log::of(300);
    let mut watch = Watch::new();
    watch.follower = Follower::new(ProofMethod::Leaves, bundles::<StaticCtLeaves>());
    watch.poll(&log);
    assert_eq!(watch.audit.needs(9, true), []);
    (0..3).for_each(|seq| watch.audit.accept(log.submit(seq)));
    watch.audit.follow(&watch.follower.events().pop().unwrap_or(Event::Same { head: log.head() }));
    watch.poll(&log);
    assert_eq!((watch.kept(), watch.findings.len()), (vec![0, 1, 2], 0));
}

#[test]
fn what_was_promised_before_the_first_head_was_seen_is_looked_up_in_its_tree() {
    for size in [0, 3, 300, 512] {
        let mut log = Log::of(size);
        let mut watch = Watch::new();
        watch.follower = Follower::new(ProofMethod::Leaves, bundles::<StaticCtLeaves>());
        (0..600).for_each(|seq| watch.audit.accept(log.submit(seq)));
        let (lost, _) = log.promise(600, size + 10, &certificate(600, 24));
        watch.audit.accept(lost);
        watch.poll(&log);
        (601..610).for_each(|seq| watch.audit.accept(log.submit(seq)));
        watch.poll(&log);
        assert_eq!(watch.kept(), (0..610).filter(|seq| *seq != 600).collect::<Vec<_>>(), "{size}");
        assert_eq!(watch.broken(), [(600, Some(size + 10), "lost-leaf")]);
        assert_eq!((watch.audit.pending(), watch.findings.len()), (0, 0));
    }
}

#[test]
fn a_bundle_that_is_wanted_in_two_widths_and_vanished_is_read_from_the_full_one() {
    let mut log = Log::of(100);
    let mut watch = Watch::new();
    watch.follower = Follower::new(ProofMethod::Leaves, bundles::<StaticCtLeaves>());
    for batch in [0..50, 50..94] {
        batch.for_each(|seq| watch.audit.accept(log.submit(seq)));
        let events = crate::watch::follow(&mut watch.follower, &log, log.head());
        events.iter().for_each(|event| watch.audit.follow(event));
    }
    let bundles = watch.audit.needs(9, true).into_iter().filter(|tile| tile.level == Level::Data);
    assert_eq!(bundles.map(|tile| tile.width).collect::<Vec<_>>(), [150, 194]);
    log.grow(1000..1200);
    log.collects = true;
    watch.read(&log);
    assert_eq!((watch.kept(), watch.findings), ((0..94).collect(), vec![]));
}

#[test]
fn what_could_not_be_looked_up_is_looked_up_again_at_the_next_head() {
    let (log, mut watch, late) = forgotten();
    watch.audit.accept(late);
    for _ in 0..3 {
        for _ in 0..3 {
            watch.audit.needs(9, true).into_iter().for_each(|tile| watch.audit.missing(tile));
        }
        assert_eq!((watch.audit.needs(9, true), watch.audit.pending()), (vec![], 1));
        watch.audit.follow(&Event::Same { head: log.head() });
    }
    let findings = watch.audit.findings();
    assert!(matches!(findings[..], [Finding::MissingTile { .. }]), "{findings:?}");
    watch.poll(&log);
    assert_eq!((watch.kept(), watch.audit.pending()), (vec![1], 0));
}

#[test]
fn only_full_bundles_are_needed_until_partial_ones_are_asked_for() {
    let mut log = Log::of(600);
    let mut watch = Watch::new();
    for event in crate::watch::follow(&mut watch.follower, &log, log.head()) {
        watch.audit.follow(&event);
    }
    let paths = |tiles: Vec<TileId>| tiles.iter().map(TileId::path).collect::<Vec<_>>();
    assert_eq!(paths(watch.audit.needs(9, false)), ["tile/data/000", "tile/data/001"]);
    assert_eq!(paths(watch.audit.needs(9, true)), ["tile/data/000", "tile/data/001", "tile/data/002.p/88"]);
    assert_eq!(paths(watch.audit.needs(1, true)), ["tile/data/000"]);
    assert_eq!(watch.audit.behind(), 600);
    log.submit(1);
}

#[test]
fn a_partial_bundle_that_vanished_is_read_from_the_full_one() {
    let (mut log, mut watch) = story(500, 5);
    for event in crate::watch::follow(&mut watch.follower, &log, log.head()) {
        watch.audit.follow(&event);
    }
    log.grow(100..100 + 10);
    log.collects = true;
    assert_eq!(log.serve(watch.audit.needs(1, true)[0]), None);
    watch.read(&log);
    assert_eq!((watch.kept(), watch.findings.len()), (vec![0, 1, 2, 3, 4], 0));
}

#[test]
fn a_bundle_that_is_not_served_is_named_once() {
    let (log, mut watch) = story(300, 1);
    for event in crate::watch::follow(&mut watch.follower, &log, log.head()) {
        watch.audit.follow(&event);
    }
    for _ in 0..3 {
        for tile in watch.audit.needs(9, true) {
            watch.audit.missing(tile);
        }
    }
    assert_eq!(
        watch.audit.findings(),
        [Finding::MissingTile { tile: TileId { width: 45, ..TileId::data(1) } }]
    );
    assert_eq!(watch.audit.pending(), 1);
}

#[test]
fn each_form_of_a_bundle_that_is_not_served_is_asked_for_once_until_it_is_asked_for_again() {
    let (mut log, mut watch) = (Log::of(600), Watch::new());
    watch.audit.accept(log.submit(0));
    let grow = |watch: &mut Watch, log: &Log| {
        let events = crate::watch::follow(&mut watch.follower, log, log.head());
        events.iter().for_each(|event| watch.audit.follow(event));
    };
    let asked = |watch: &mut Watch| {
        let mut asked = Vec::new();
        // More than enough for each form, and no more than a storm would take.
        for _ in 0..20 {
            for tile in watch.audit.needs(9, true) {
                asked.push(tile.path());
                watch.audit.missing(tile);
            }
        }
        asked
    };
    let wide = |width: u16| {
        ["tile/data/000", "tile/data/001", &format!("tile/data/002.p/{width}"), "tile/data/002"]
            .map(str::to_owned)
    };
    grow(&mut watch, &log);
    assert_eq!(asked(&mut watch), wide(89));
    assert_eq!(asked(&mut watch), [""; 0]);
    watch.audit.ask_again();
    assert_eq!(asked(&mut watch), wide(89));
    watch.audit.accept(log.submit(1));
    grow(&mut watch, &log);
    assert_eq!(asked(&mut watch), wide(90)[2..], "the tree has more of it");
    assert_eq!((watch.audit.findings().len(), watch.audit.pending()), (3, 2));
    watch.audit.ask_again();
    watch.read(&log);
    assert_eq!((watch.kept(), watch.findings.len()), (vec![0, 1], 0));
}

#[test]
fn a_lost_leaf_is_broken_as_soon_as_its_index_is_covered() {
    let (mut log, mut watch) = story(300, 2);
    let (receipt, _) = log.promise(2, log.tree.size(), &certificate(2, 24));
    watch.audit.accept(receipt);
    watch.poll(&log);
    assert_eq!((watch.kept(), watch.audit.pending()), (vec![0, 1], 1));
    log.submit(99);
    watch.poll(&log);
    assert_eq!(watch.broken(), [(2, Some(302), "lost-leaf")]);
    assert_eq!((watch.audit.pending(), watch.findings.len()), (0, 0));
}

#[test]
fn a_wrong_index_is_told_from_a_lost_leaf_whenever_the_receipt_comes() {
    for late in [false, true] {
        let (mut log, mut watch) = story(300, 1);
        let (wrong, _) = log.promise(1, 302, &certificate(1, 24));
        log.submit_as(1, 301);
        let right = log.submit(2);
        if late {
            watch.poll(&log);
        }
        watch.audit.accept(wrong);
        watch.audit.accept(right);
        watch.poll(&log);
        assert_eq!(watch.broken(), [(1, Some(302), "wrong-index")], "late: {late}");
        assert_eq!((watch.kept(), watch.audit.pending()), (vec![0, 2], 0));
    }
}

#[test]
fn a_leaf_whose_entry_is_served_at_its_index_and_that_the_tree_has_not_is_lost_and_at_no_wrong_index() {
    for late in [false, true] {
        let (mut log, mut watch) = story(300, 1);
        let (promised, leaf) = log.promise(1, 301, &certificate(1, 24));
        log.integrate(sha256(&leaf.0), &certificate(1, 24), 301);
        if late {
            watch.poll(&log);
        }
        watch.audit.accept(promised);
        watch.poll(&log);
        assert_eq!(watch.broken(), [(1, Some(301), "lost-leaf")], "late: {late}");
    }
}

#[test]
fn an_index_promised_twice_is_broken_for_the_submission_that_is_not_there() {
    for late in [false, true] {
        let (mut log, mut watch) = story(300, 1);
        let (twice, _) = log.promise(7, 300, &certificate(7, 24));
        if late {
            watch.poll(&log);
        }
        watch.audit.accept(twice);
        log.submit(9);
        watch.poll(&log);
        assert_eq!(watch.broken(), [(7, Some(300), "index-promised-twice")]);
        assert_eq!(watch.kept(), [0]);
    }
}

#[test]
fn a_duplicate_may_promise_what_was_promised_before() {
    for late in [false, true] {
        let (mut log, mut watch) = story(300, 0);
        let receipt = log.submit(1);
        let again = numbered(receipt, 2);
        watch.audit.accept(again.duplicate());
        if late {
            watch.poll(&log);
        }
        watch.audit.accept(receipt);
        watch.audit.accept(numbered(receipt, 3));
        watch.poll(&log);
        assert_eq!(watch.kept(), [1, 2]);
        assert_eq!(watch.broken(), [(3, Some(300), "index-promised-twice")]);
    }
}

#[test]
fn a_leaf_altered_in_its_bundle_is_named() {
    for late in [false, true] {
        let (mut log, mut watch) = story(300, 0);
        let receipts: Vec<_> = (0..10).map(|seq| log.submit(seq)).collect();
        let entry = log.entries[256].len();
        // In the certificate of the entry with index 304.
        log.flipped = Some((Level::Data, 1, (48 * entry + 20) * 8));
        if late {
            watch.poll(&log);
        }
        receipts.into_iter().for_each(|receipt| watch.audit.accept(receipt));
        watch.poll(&log);
        assert_eq!(watch.broken(), [(4, Some(304), "altered-leaf")]);
        let names_other = |verdict: &Verdict| {
            matches!(verdict, Verdict::Broken(Breach { kind: Kind::AlteredLeaf { found: Some(_) }, .. }))
        };
        assert!(watch.verdicts.iter().any(names_other), "{:?}", watch.verdicts);
        assert_eq!(watch.kept().len(), 9);
        assert!(
            matches!(
                watch.findings[..],
                [Finding::TamperedBundle { index: 304, fault: BundleFault::Leaf { .. }, .. }]
            ),
            "{:?}",
            watch.findings
        );
    }
}

#[test]
fn a_bundle_that_is_cut_off_or_too_long_is_tampered_with() {
    for (length, fault) in [(10, "entry"), (41, "count"), (43 * 44 + 44, "longer")] {
        let (log, mut watch) = story(300, 0);
        let mut fresh = Watch::new();
        for event in crate::watch::follow(&mut fresh.follower, &log, log.head()) {
            fresh.audit.follow(&event);
        }
        let tile = fresh.audit.needs(9, true)[1];
        let mut bytes = log.serve(tile).unwrap();
        bytes.extend_from_slice(&log.entries[0]);
        let entry = log.entries[0].len();
        let cut = match fault {
            "entry" => length,
            "count" => entry * length,
            _ => bytes.len(),
        };
        fresh.audit.tile(tile, &bytes[..cut]);
        let findings = fresh.audit.findings();
        assert!(matches!(findings[..], [Finding::TamperedBundle { .. }]), "{fault}: {findings:?}");
        watch.read(&log);
    }
}

#[test]
fn a_bundle_that_goes_on_after_its_last_entry_is_told_once_and_its_leaves_are_kept() {
    for (after, fault) in [(&b"zz"[..], "Trailing(45)"), (b"", "Entries(46)")] {
        let (mut log, mut watch) = (Log::of(300), Watch::new());
        watch.audit.accept(log.submit(0));
        let events = crate::watch::follow(&mut watch.follower, &log, log.head());
        events.iter().for_each(|event| watch.audit.follow(event));
        let needs = watch.audit.needs(9, true);
        for tile in &needs {
            let more = if tile.is_full() || !after.is_empty() { after } else { &log.entries[0] };
            watch.audit.tile(*tile, &[&log.serve(*tile).unwrap(), more].concat());
        }
        let findings = watch.audit.findings();
        let faults: Vec<_> = findings
            .iter()
            .map(|finding| match finding {
                Finding::TamperedBundle { fault, .. } => format!("{fault:?}"),
                other => panic!("{other:?}"),
            })
            .collect();
        let full = (!after.is_empty()).then(|| "Trailing(256)".to_owned());
        assert_eq!(faults, full.into_iter().chain([fault.to_owned()]).collect::<Vec<_>>());
        watch.audit.accept(log.submit(1));
        let events = crate::watch::follow(&mut watch.follower, &log, log.head());
        events.iter().for_each(|event| watch.audit.follow(event));
        let tile = watch.audit.needs(9, true)[0];
        watch.audit.tile(tile, &[&log.serve(tile).unwrap(), &b"zz"[..]].concat());
        watch.read(&log);
        assert_eq!((watch.kept(), watch.findings.len()), (vec![0, 1], 0));
    }
}

#[test]
fn a_merge_delay_that_is_over_is_broken_once() {
    let (mut log, mut watch) = story(300, 1);
    let (never, _) = log.promise(1, log.tree.size(), &certificate(1, 24));
    watch.audit.accept(never);
    log.now_ms = MMD_MS;
    watch.poll(&log);
    watch.audit.overdue(EPOCH_MS + MMD_MS);
    watch.read(&log);
    assert_eq!((watch.kept(), watch.broken()), (vec![0], vec![]));
    watch.audit.overdue(EPOCH_MS + MMD_MS + 1);
    watch.audit.overdue(EPOCH_MS + MMD_MS + 9);
    watch.read(&log);
    assert_eq!((watch.broken(), watch.audit.pending()), (vec![(1, Some(301), "overdue")], 0));
}

#[test]
fn a_leaf_that_is_published_too_late_breaks_the_merge_delay() {
    for (seen_ms, late) in [(MMD_MS, None), (MMD_MS + 1, Some((0, Some(300), "overdue")))] {
        let (mut log, mut watch) = story(300, 0);
        let certificate = certificate(0, 24);
        let (receipt, leaf) = log.promise(0, 300, &certificate);
        watch.audit.accept(receipt);
        log.now_ms = seen_ms;
        watch.poll(&log);
        log.integrate_too_late(leaf, &certificate, 300);
        watch.poll(&log);
        assert_eq!(watch.broken(), Vec::from_iter(late), "a head without it at {seen_ms} ms");
        assert_eq!(watch.kept().is_empty(), late.is_some());
    }
}

#[test]
fn a_leaf_whose_log_was_not_looked_at_meanwhile_is_kept() {
    let (mut log, mut watch) = story(300, 1);
    log.now_ms = 2 * MMD_MS;
    watch.poll(&log);
    assert_eq!((watch.kept(), watch.broken()), (vec![0], vec![]));
}

#[test]
fn a_receipt_without_index_is_broken_at_once() {
    let mut watch = Watch::new();
    let (receipt, leaf) = Log::of(0).promise(5, 0, &certificate(5, 24));
    watch.audit.accept(Receipt::new(5, leaf, None, receipt.received_ns, receipt.promised_ms));
    watch.read(&Log::of(0));
    assert_eq!(watch.broken(), [(5, None, "no-leaf-index")]);
}

/// A log whose audit no longer remembers the leaf of this receipt.
fn forgotten() -> (Log, Watch, Receipt) {
    let mut watch = Watch::with(AuditBounds { window: 256, ..AuditBounds::default() }, NoSpill);
    let mut log = Log::of(700);
    let late = log.submit(1);
    for _ in 0..5 {
        log.grow(1000..1256);
        watch.poll(&log);
    }
    log.now_ms += 10 * MMD_MS;
    (log, watch, late)
}

#[test]
fn a_leaf_whose_tile_has_another_hash_is_named_and_no_other() {
    let (mut log, mut watch) = (Log::of(300), Watch::new());
    watch.poll(&log);
    (0..20).for_each(|seq| watch.audit.accept(log.submit(seq)));
    log.flipped = Some((Level::Hashes(0), 1, (307 - 256) * 256));
    watch.poll(&log);
    (20..40).for_each(|seq| watch.audit.accept(log.submit(seq)));
    watch.poll(&log);
    assert_eq!(watch.broken(), [(7, Some(307), "tampered-tile")]);
    assert_eq!((watch.kept().len(), watch.audit.pending(), watch.findings.len()), (39, 0, 0));
}

#[test]
fn what_the_window_has_forgotten_is_looked_up_up_to_the_root() {
    for collects in [false, true] {
        let (mut log, mut watch, late) = forgotten();
        watch.audit.accept(late);
        watch.audit.accept(log.promise(2, 3, &certificate(2, 24)).0);
        // The tiles at the edge fill up while they are wanted.
        log.grow(5000..6000);
        log.collects = collects;
        watch.poll(&log);
        assert_eq!((watch.kept(), watch.broken()), (vec![1], vec![(2, Some(3), "lost-leaf")]));
        assert_eq!((watch.audit.pending(), watch.findings.len()), (0, 0));
    }
}

#[test]
fn a_look_up_believes_neither_a_tampered_tile_nor_an_altered_leaf() {
    let (mut log, mut watch, late) = forgotten();
    log.flipped = Some((Level::Hashes(0), 2, 188 * 256));
    watch.audit.accept(late);
    watch.read(&log);
    assert_eq!(
        (watch.verdicts.len(), watch.audit.pending()),
        (1, 0),
        "the leaf itself is proved by its siblings"
    );
    let neighbour = numbered(late, 2).duplicate();
    log.flipped = Some((Level::Hashes(0), 2, 189 * 256));
    watch.audit.accept(neighbour);
    watch.read(&log);
    let tile = TileId::hashes(0, 2);
    assert_eq!(watch.findings, [Finding::TamperedTile { tile, receipts: 1 }]);
    assert_eq!((watch.verdicts.len(), watch.audit.pending()), (1, 1));
    let entry = log.entries[512].len();
    log.flipped = Some((Level::Data, 2, (188 * entry + 20) * 8));
    watch.audit.accept(numbered(late, 3).duplicate());
    watch.read(&log);
    assert_eq!(watch.broken(), [(3, Some(700), "altered-leaf")]);
}

#[test]
fn the_fingerprints_of_audited_entries_are_given_once() {
    let (mut log, mut watch) = story(300, 1);
    assert_eq!(watch.audit.references(), []);
    log.fingerprints = vec![[1; 32], [2; 32]];
    log.grow(1..5);
    log.fingerprints = vec![[3; 32], [2; 32]];
    log.grow(5..6);
    watch.poll(&log);
    assert_eq!(watch.audit.references(), [1, 2, 3].map(|byte| Hash([byte; 32])));
    log.grow(6..9);
    watch.poll(&log);
    assert_eq!(watch.audit.references(), []);
}

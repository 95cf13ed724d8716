//! Logs that are followed, honest and not.

use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::bundles;
use hammer_tlog::logs::follow::{
    Event, Evidence, Follower, Head, Need, ProofMethod, QUEUE, TileFault, Unproved,
};
use hammer_tlog::logs::merkle::{EMPTY_ROOT, sha256};
use hammer_tlog::logs::tile::{Level, TileId};

use crate::log::Log;
use crate::watch::{follow, proved};

/// A follower that trusts the log as it is.
fn trusting(by: ProofMethod, log: &Log) -> Follower {
    let mut follower = Follower::new(by, bundles::<StaticCtLeaves>());
    let head = log.head();
    assert_eq!(follow(&mut follower, log, head.clone()), [Event::First { head }]);
    follower
}

#[test]
fn a_growing_log_is_followed_by_all_ways_of_proof() {
    for by in [ProofMethod::Leaves, ProofMethod::Edges, ProofMethod::Proofs] {
        for start in [0, 1, 255, 256, 300, 66_000] {
            let mut log = Log::of(start);
            let mut follower = trusting(by, &log);
            for growth in [1, 3, 252, 256, 1, 511, 70] {
                let (from, before) = (log.head(), log.tree.size() as usize);
                log.grow(0..growth);
                let to = log.head();
                let leaves =
                    if by == ProofMethod::Leaves { log.tree.leaves()[before..].to_vec() } else { Vec::new() };
                let events = follow(&mut follower, &log, to.clone());
                assert_eq!(events, [Event::Grew { from, to: to.clone(), leaves }], "{by:?} from {start}");
                assert_eq!(follower.trusted(), Some(&to));
            }
        }
    }
}

#[test]
fn an_unchanged_tree_needs_nothing() {
    let log = Log::of(5);
    let mut follower = trusting(ProofMethod::Leaves, &log);
    let head = log.head();
    follower.head(head.clone());
    assert_eq!(follower.need(), None);
    assert_eq!(follower.events(), [Event::Same { head }]);
}

#[test]
fn heads_without_a_time_are_proved_in_any_order_and_a_false_one_is_a_fork() {
    let timeless = |log: &Log| Head { timestamp_ms: 0, ..log.head() };
    let mut log = Log::of(5);
    let older = timeless(&log);
    log.grow(0..4);
    let newer = timeless(&log);
    let strict = &mut Follower::new(ProofMethod::Proofs, bundles::<StaticCtLeaves>());
    let shrank = Event::Shrank { older: newer.clone(), newer: older.clone() };
    follow(strict, &log, newer.clone());
    assert_eq!(follow(strict, &log, older.clone()), [shrank]);

    let mut follower = Follower::new(ProofMethod::Proofs, bundles::<StaticCtLeaves>()).in_any_order();
    follow(&mut follower, &log, newer.clone());
    let stale = Event::Stale { head: older.clone(), newest: newer.clone() };
    assert_eq!(follow(&mut follower, &log, older.clone()), [stale]);
    assert_eq!(follower.trusted(), Some(&newer));
    let false_one = Head { root: sha256(b"another"), ..older };
    let events = follow(&mut follower, &log, false_one.clone());
    assert!(matches!(&events[..], [Event::Forked { newer, .. }] if *newer == false_one), "{events:?}");
}

#[test]
fn a_head_that_was_set_aside_is_forgotten_and_may_come_again() {
    let mut log = Log::of(5);
    let mut follower = trusting(ProofMethod::Proofs, &log);
    log.grow(0..4);
    let (from, to) = (follower.trusted().unwrap().clone(), log.head());
    follower.head(to.clone());
    assert!(follower.need().is_some());
    follower.set_aside();
    assert_eq!((follower.need(), follower.behind(), follower.events()), (None, 0, Vec::new()));
    let events = follow(&mut follower, &log, to.clone());
    assert_eq!(events, [Event::Grew { from, to, leaves: Vec::new() }]);
}

#[test]
fn growth_needs_only_the_new_tiles() {
    let mut log = Log::of(66_000);
    let needs = |by, log: &mut Log| {
        let mut follower = trusting(by, log);
        log.grow(0..1000);
        follower.head(log.head());
        let Some(Need::Tiles(tiles)) = follower.need() else { panic!("no tiles are needed") };
        tiles.iter().map(TileId::path).collect::<Vec<_>>()
    };
    let leaves = needs(ProofMethod::Leaves, &mut log);
    assert_eq!(leaves, ["tile/0/257", "tile/0/258", "tile/0/259", "tile/0/260", "tile/0/261.p/184"]);
    let edges = needs(ProofMethod::Edges, &mut log);
    assert_eq!(edges, ["tile/0/261", "tile/0/265.p/160", "tile/1/001.p/9"]);
}

#[test]
fn a_partial_tile_that_vanished_is_read_from_the_full_one() {
    let mut log = Log { collects: true, ..Log::of(300) };
    let mut follower = trusting(ProofMethod::Leaves, &log);
    log.grow(0..100);
    let head = log.head();
    follower.head(head.clone());
    log.grow(0..200);
    let partial = TileId { width: 144, ..TileId::hashes(0, 1) };
    assert_eq!(follower.need(), Some(Need::Tiles(vec![partial])));
    assert_eq!(log.serve(partial), None);
    follower.missing(partial);
    assert_eq!(follower.need(), Some(Need::Tiles(vec![partial.full()])));
    follower.tile(partial.full(), &log.serve(partial.full()).unwrap());
    assert_eq!(follower.trusted(), Some(&head));
    let grown = follow(&mut follower, &log, log.head());
    assert!(matches!(&grown[..], [Event::Grew { .. }, Event::Grew { .. }]), "{grown:?}");
}

#[test]
fn a_tile_that_is_not_served_is_named_once_or_each_time_that_is_asked_for_and_may_come_later() {
    let mut log = Log::of(300);
    let mut follower = trusting(ProofMethod::Leaves, &log);
    log.submit(1);
    let (head, served) = (log.head(), std::mem::take(&mut log.entries));
    let tree = std::mem::take(&mut log.tree);
    let tile = TileId { width: 45, ..TileId::hashes(0, 1) };
    let missing = [Event::MissingTile { tile, head: head.clone() }];
    assert_eq!(follow(&mut follower, &log, head.clone()), missing);
    assert_eq!(follow(&mut follower, &log, head.clone()), []);
    follower.ask_again();
    assert_eq!(follow(&mut follower, &log, head.clone()), missing);
    (log.tree, log.entries) = (tree, served);
    assert!(matches!(&follow(&mut follower, &log, head)[..], [Event::Grew { .. }]));
}

/// Feeds a head of which the log serves no tile.
fn unserved(follower: &mut Follower, head: &Head) {
    follower.head(head.clone());
    while let Some(Need::Tiles(tiles)) = follower.need() {
        tiles.into_iter().for_each(|tile| follower.missing(tile));
    }
    let told = follower.events();
    assert!(matches!(&told[..], [Event::MissingTile { .. }]), "{told:?}");
}

#[test]
fn a_head_whose_tiles_were_not_served_is_held_against_the_tree_that_has_outgrown_it() {
    for by in [ProofMethod::Leaves, ProofMethod::Edges] {
        for is_forged in [true, false] {
            let mut log = Log::of(300);
            let mut follower = trusting(by, &log);
            log.grow(0..600);
            let root = if is_forged { sha256(b"forged") } else { log.head().root };
            let head = Head { root, ..log.head() };
            unserved(&mut follower, &head);
            log.grow(0..100);
            let told = follow(&mut follower, &log, log.head());
            let forks: Vec<_> = told.iter().filter(|event| !matches!(event, Event::Grew { .. })).collect();
            match (is_forged, &forks[..]) {
                (true, [Event::Forked { newer, .. }]) => assert_eq!(newer, &head),
                (false, []) => assert!(follower.knows(&head)),
                _ => panic!("{by:?}: {told:?}"),
            }
        }
    }
}

#[test]
fn two_roots_of_one_size_are_a_fork() {
    for by in [ProofMethod::Leaves, ProofMethod::Edges, ProofMethod::Proofs] {
        let log = Log::of(300);
        let mut follower = trusting(by, &log);
        let newer = Head { root: sha256(b"fork"), ..log.head() };
        let fork = Event::Forked { older: log.head(), newer: newer.clone(), evidence: Evidence::SameSize };
        assert_eq!(follow(&mut follower, &log, newer.clone()), [fork]);
        assert_eq!(follow(&mut follower, &log, newer), []);
        assert_eq!(follower.trusted(), Some(&log.head()));
    }
}

#[test]
fn a_smaller_tree_is_a_shrunk_one() {
    let log = Log::of(300);
    let mut follower = trusting(ProofMethod::Proofs, &log);
    let (older, newer) = (log.head(), log.head_at(299));
    let events = follow(&mut follower, &log, newer.clone());
    assert_eq!(events, [Event::Shrank { older: older.clone(), newer }]);
    assert_eq!(follower.trusted(), Some(&older));
}

#[test]
fn a_head_that_somebody_else_was_served_is_proved_to_be_an_earlier_one_or_is_a_fork() {
    for by in [ProofMethod::Leaves, ProofMethod::Edges, ProofMethod::Proofs] {
        let mut log = Log::of(200);
        let (older, mut follower) = (log.head(), trusting(by, &log));
        log.grow(200..300);
        follow(&mut follower, &log, log.head());
        let trusted = log.head();
        let mut earlier = |head: Head| {
            follower.earlier(head);
            proved(&mut follower, &log)
        };
        // A tree that was never trusted, one that was, and the one that is.
        for size in [250, 200] {
            let head = log.head_at(size);
            assert_eq!(earlier(head.clone()), [Event::Stale { head, newest: trusted.clone() }], "{by:?}");
        }
        assert_eq!(earlier(trusted.clone()), [Event::Same { head: trusted.clone() }]);
        for head in [
            Head { root: sha256(b"fork"), ..older.clone() },
            Head { root: sha256(b"fork"), ..trusted.clone() },
        ] {
            let events = earlier(head.clone());
            assert!(
                matches!(&events[..], [Event::Forked { newer, .. }] if *newer == head),
                "{by:?} {events:?}"
            );
        }
    }
}

#[test]
fn a_root_of_another_tree_is_a_fork_that_is_not_followed() {
    for by in [ProofMethod::Leaves, ProofMethod::Edges, ProofMethod::Proofs] {
        let mut log = Log::of(300);
        let mut follower = trusting(by, &log);
        let older = log.head();
        log.grow(0..400);
        let newer = Head { root: sha256(b"fork"), ..log.head() };
        // A consistency proof may be that of a server which lags behind; not for ever.
        let looks = if by == ProofMethod::Proofs { 4 } else { 1 };
        let events: Vec<Event> =
            (0..looks).flat_map(|_| follow(&mut follower, &log, newer.clone())).collect();
        let [Event::Forked { older: one, newer: other, evidence }] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!((one, other), (&older, &newer));
        assert_eq!(matches!(evidence, Evidence::Proof(_)), by == ProofMethod::Proofs);
        assert_eq!(follower.trusted(), Some(&older));
        // The honest tree goes on.
        log.submit(9);
        assert!(matches!(&follow(&mut follower, &log, log.head())[..], [Event::Grew { .. }]));
    }
}

#[test]
fn a_rewritten_past_is_a_fork() {
    for rewritten in [3, 257, 299] {
        let log = Log::of(300);
        let mut follower = trusting(ProofMethod::Leaves, &log);
        let mut other = Log::of(rewritten);
        other.grow(rewritten..500);
        let events = follow(&mut follower, &other, other.head());
        let [Event::Forked { evidence, .. }] = &events[..] else { panic!("{events:?}") };
        assert_eq!(*evidence == Evidence::Rewritten, rewritten >= 256, "leaf {rewritten}: {evidence:?}");
        assert_eq!(follower.trusted(), Some(&log.head()));
    }
}

#[test]
fn a_tampered_hash_tile_is_named_with_the_hash_once_and_the_entries_are_believed() {
    for (index, position) in [(1, 0), (1, 43), (1, 44), (1, 255), (2, 3), (3, 15)] {
        let mut log = Log::of(300);
        let mut follower = trusting(ProofMethod::Leaves, &log);
        log.grow(0..484);
        log.flipped = Some((Level::Hashes(0), index, position * 256 + 7));
        let events = follow(&mut follower, &log, log.head());
        let [
            Event::TamperedTile { tile, fault: TileFault::Hash { position: at, expected, .. }, .. },
            Event::Grew { leaves, .. },
        ] = &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!(leaves[..], log.tree.leaves()[300..]);
        assert_eq!((tile.level, tile.index, usize::from(*at)), (Level::Hashes(0), index, position));
        assert_eq!(*expected, log.tree.leaves()[index as usize * 256 + position]);
        log.grow(484..500);
        assert!(matches!(&follow(&mut follower, &log, log.head())[..], [Event::Grew { .. }]));
    }
}

#[test]
fn a_tampered_upper_tile_is_told_from_a_fork_by_the_leaves() {
    let mut log = Log::of(300);
    let mut follower = trusting(ProofMethod::Edges, &log);
    log.grow(0..1000);
    log.flipped = Some((Level::Hashes(1), 0, 3 * 256));
    let events = follow(&mut follower, &log, log.head());
    let [Event::TamperedTile { tile, fault: TileFault::Hash { position: 3, .. }, .. }, Event::Grew { .. }] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(tile.path(), "tile/1/000.p/5");
}

#[test]
fn a_tile_of_the_wrong_length_is_tampered_with() {
    let mut log = Log::of(10);
    let mut follower = trusting(ProofMethod::Leaves, &log);
    log.submit(1);
    follower.head(log.head());
    follower.tile(TileId { width: 11, ..TileId::hashes(0, 0) }, &[0; 352 - 1]);
    let events = follower.events();
    assert!(matches!(events[..], [Event::TamperedTile { fault: TileFault::Bytes(_), .. }]), "{events:?}");
    assert_eq!(follower.need(), None);
}

#[test]
fn a_first_head_whose_tiles_lead_elsewhere_is_not_trusted() {
    let log = Log { flipped: Some((Level::Hashes(1), 0, 0)), ..Log::of(600) };
    let mut follower = Follower::new(ProofMethod::Leaves, bundles::<StaticCtLeaves>());
    let events = follow(&mut follower, &log, log.head());
    assert!(matches!(events[..], [Event::Unproved { reason: Unproved::Proof(_), .. }]), "{events:?}");
    assert_eq!(follower.trusted(), None);
}

#[test]
fn a_tree_too_large_to_be_read_is_not_believed() {
    for by in [ProofMethod::Leaves, ProofMethod::Edges] {
        let log = Log::of(10);
        let mut follower = trusting(by, &log);
        let head = Head { size: u64::MAX, ..log.head() };
        let events = follow(&mut follower, &log, head);
        assert!(
            matches!(events[..], [Event::Unproved { .. } | Event::MissingTile { .. }]),
            "{by:?} {events:?}"
        );
    }
}

#[test]
fn heads_that_come_while_one_is_proved_are_proved_in_turn() {
    let log = Log::of(200);
    let mut follower = Follower::from_empty(ProofMethod::Leaves, bundles::<StaticCtLeaves>());
    (1..100).for_each(|size| follower.head(log.head_at(size)));
    assert_eq!((follower.behind(), follower.skipped()), (QUEUE + 1, 98 - QUEUE as u64));
    let events = follow(&mut follower, &log, log.head_at(100));
    assert_eq!(events.len(), QUEUE + 1);
    assert_eq!(follower.trusted().unwrap().size, 100);
    assert_eq!(Head::empty().root, EMPTY_ROOT);
}

#[test]
fn an_older_head_of_a_smaller_tree_is_stale_once_it_is_proved_to_be_a_prefix() {
    for by in [ProofMethod::Leaves, ProofMethod::Edges, ProofMethod::Proofs] {
        for (size, stale) in
            [(1, 0), (300, 0), (300, 1), (300, 255), (300, 256), (300, 299), (66_000, 65_537)]
        {
            let mut log = Log::of(size);
            let head = log.head_at(stale);
            log.now_ms += 1;
            let newest = log.head();
            let mut follower = trusting(by, &log);
            let told = Event::Stale { head: head.clone(), newest: newest.clone() };
            assert_eq!(
                follow(&mut follower, &log, head.clone()),
                vec![told.clone()],
                "{by:?} {size} {stale}"
            );
            // What was proved is not proved again.
            follower.head(head);
            assert_eq!((follower.need(), follower.events()), (None, vec![told]), "{by:?} {size} {stale}");
            assert_eq!(follower.trusted(), Some(&newest));
        }
    }
}

#[test]
fn a_head_that_was_trusted_is_known_to_be_a_prefix() {
    let mut log = Log::of(300);
    let mut follower = trusting(ProofMethod::Leaves, &log);
    let head = log.head();
    log.now_ms += 1;
    log.grow(0..400);
    follow(&mut follower, &log, log.head());
    follower.head(head.clone());
    assert_eq!(follower.need(), None);
    assert_eq!(follower.events(), [Event::Stale { head, newest: log.head() }]);
}

#[test]
fn an_older_head_that_is_no_prefix_is_a_fork() {
    for by in [ProofMethod::Leaves, ProofMethod::Edges, ProofMethod::Proofs] {
        for stale in [0, 1, 256, 299] {
            let mut log = Log::of(300);
            let newer = Head { root: sha256(b"fork"), ..log.head_at(stale) };
            log.now_ms += 1;
            let mut follower = trusting(by, &log);
            // The root of a power of two is in no proof: a server that lags behind may be the reason at first.
            let looks = if by == ProofMethod::Proofs && stale.is_power_of_two() { 4 } else { 1 };
            let events: Vec<Event> =
                (0..looks).flat_map(|_| follow(&mut follower, &log, newer.clone())).collect();
            let [Event::Forked { older, newer: other, .. }] = &events[..] else {
                panic!("{by:?} {stale}: {events:?}")
            };
            assert_eq!((older, other), (&log.head(), &newer));
            assert_eq!(follow(&mut follower, &log, newer), [], "told once");
            log.grow(0..50);
            assert!(matches!(&follow(&mut follower, &log, log.head())[..], [Event::Grew { .. }]));
        }
    }
}

#[test]
fn a_tampered_tile_proves_no_fork() {
    let mut log = Log::of(300);
    let newer = log.head_at(299);
    log.now_ms += 1;
    let mut follower = trusting(ProofMethod::Leaves, &log);
    log.flipped = Some((Level::Hashes(0), 1, 7));
    let events = follow(&mut follower, &log, newer);
    assert!(matches!(events[..], [Event::Unproved { .. }]), "{events:?}");
}

#[test]
fn growth_is_proved_before_a_stale_head_and_their_number_is_bounded() {
    let mut log = Log::of(300);
    let stale: Vec<_> = (1..200).map(|size| log.head_at(size)).collect();
    log.now_ms += 1;
    let mut follower = trusting(ProofMethod::Proofs, &log);
    log.grow(0..50);
    stale.into_iter().for_each(|head| follower.head(head));
    assert_eq!(follower.need(), Some(Need::ConsistencyProof { first: 1, second: 300, refused: 0 }));
    let events = follow(&mut follower, &log, log.head());
    assert!(matches!(events[0], Event::Grew { .. }), "{events:?}");
    let stale = events[1..].iter().all(|event| matches!(event, Event::Stale { .. }));
    assert!(stale && events.len() <= QUEUE + 2, "{events:?}");
}

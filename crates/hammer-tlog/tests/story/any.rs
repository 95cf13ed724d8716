//! Stories that are drawn at random.

use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::{AuditBounds, Finding, bundles};
use hammer_tlog::logs::follow::{Event, Follower, Head, Need, ProofMethod};
use hammer_tlog::logs::merkle::Hash;
use hammer_tlog::logs::tile::Level;
use proptest::prelude::*;

use crate::log::Log;
use crate::watch::{Shelf, Sweep, Watch, kept};

/// What happens between two polls: leaves of others, and ours, some of whose receipts come after the poll.
fn batches() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    prop::collection::vec((0_u64..200, 0_u64..200, 0_u64..50), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_receipt_is_kept_exactly_once(
        before in 0_u64..600, batches in batches(), collects: bool, partial: bool, bound in 1_usize..400,
    ) {
        let bounds = AuditBounds { receipts: bound, window: 256 };
        let mut watch = Watch::with(bounds, Shelf::default());
        let mut log = Log { collects, ..Log::of(before) };
        let (mut seq, mut late) = (0, Vec::new());
        for (others, ours, held) in batches {
            log.grow(1_000_000..1_000_000 + others);
            for number in 0..ours {
                let receipt = log.submit(seq);
                seq += 1;
                if number < held { late.push(receipt) } else { watch.audit.accept(receipt) }
            }
            log.now_ms += 100;
            if partial {
                watch.poll(&log);
            }
            late.drain(..late.len() / 2).for_each(|receipt| watch.audit.accept(receipt));
        }
        late.into_iter().for_each(|receipt| watch.audit.accept(receipt));
        watch.poll(&log);
        prop_assert_eq!(watch.kept(), (0..seq).collect::<Vec<_>>());
        prop_assert_eq!((watch.broken(), watch.findings, watch.audit.pending()), (vec![], vec![], 0));
    }

    #[test]
    fn every_receipt_of_a_swept_log_is_kept_exactly_once(
        before in 0_u64..600, batches in batches(), batch in 1_usize..300, bound in 1_usize..400,
    ) {
        let bounds = AuditBounds { receipts: bound, ..AuditBounds::default() };
        let (mut log, mut sweep) = (Log::of(before), Sweep::with(bounds, Shelf::default()));
        log.batch = batch;
        let (mut seq, mut late) = (0, Vec::new());
        for (others, ours, held) in batches {
            log.grow(1_000_000..1_000_000 + others);
            for number in 0..ours {
                let receipt = log.submit(seq);
                seq += 1;
                if number < held { late.push(receipt) } else { sweep.audit.accept(receipt) }
            }
            sweep.poll(&log);
            late.drain(..late.len() / 2).for_each(|receipt| sweep.audit.accept(receipt));
        }
        late.into_iter().for_each(|receipt| sweep.audit.accept(receipt));
        sweep.audit.settle();
        sweep.verdicts.extend(sweep.audit.verdicts());
        prop_assert_eq!(kept(&sweep.verdicts), (0..seq).collect::<Vec<_>>());
        prop_assert_eq!((sweep.findings, sweep.audit.pending()), (vec![], 0));
    }

    #[test]
    fn a_flipped_bit_in_a_hash_tile_is_found(before in 0_u64..600, growth in 1_u64..600, at: usize) {
        let mut log = Log::of(before);
        let mut watch = Watch::new();
        watch.poll(&log);
        log.grow(0..growth);
        // Any bit of the tiles that the growth is read from.
        let begin = before as usize / 256 * 256;
        let bit = begin * 256 + at % ((log.tree.size() as usize - begin) * 256);
        let (tile, position) = ((bit / 65_536) as u64, bit % 65_536);
        log.flipped = Some((Level::Hashes(0), tile, position));
        let events = watch.poll(&log);
        let [Event::TamperedTile { tile: named, .. }, Event::Grew { .. }] = &events[..] else {
            return Err(TestCaseError::fail(format!("{events:?}")));
        };
        prop_assert_eq!((named.level, named.index), (Level::Hashes(0), tile));
        prop_assert_eq!(watch.follower.trusted().unwrap().size, before + growth);
    }

    #[test]
    fn a_flipped_bit_in_a_bundle_is_found(before in 0_u64..600, growth in 1_u64..600, at: usize) {
        let mut log = Log::of(before);
        let mut watch = Watch::new();
        watch.poll(&log);
        (0..growth).for_each(|seq| watch.audit.accept(log.submit(seq)));
        let begin = before / 256;
        let lengths: Vec<_> = (begin..log.tree.size().div_ceil(256))
            .map(|tile| log.entries[tile as usize * 256..].iter().take(256).map(Vec::len).sum::<usize>() * 8)
            .collect();
        let mut bit = at % lengths.iter().sum::<usize>();
        let mut tile = begin;
        for length in lengths {
            if bit < length {
                break;
            }
            bit -= length;
            tile += 1;
        }
        log.flipped = Some((Level::Data, tile, bit));
        watch.poll(&log);
        let found = watch.findings.iter().any(
            |finding| matches!(finding, Finding::TamperedBundle { tile: named, .. } if named.index == tile),
        );
        prop_assert!(found, "{:?}", watch.findings);
        prop_assert_eq!(watch.kept().len() + watch.broken().len(), growth as usize);
    }

    #[test]
    fn a_flipped_bit_in_an_entry_is_found(before in 0_u64..300, growth in 1_u64..300, at: usize) {
        let (mut log, mut sweep) = (Log::of(before), Sweep::new());
        sweep.poll(&log);
        (0..growth).for_each(|seq| sweep.audit.accept(log.submit(seq)));
        let entry = before as usize + at % growth as usize;
        let bit = at / growth as usize % (log.leaf_inputs[entry].len() * 8);
        log.leaf_inputs[entry][bit / 8] ^= 1 << (bit % 8);
        sweep.poll(&log);
        prop_assert!(
            matches!(sweep.findings[..], [Finding::TamperedEntries { .. }]), "{:?}", sweep.findings
        );
        prop_assert_eq!(kept(&sweep.verdicts), [0; 0]);
    }

    #[test]
    fn any_bytes_are_taken_for_a_tile(bytes in prop::collection::vec(any::<u8>(), 0..3000), size in 1_u64..600) {
        let log = Log::of(size);
        let mut watch = Watch::new();
        for event in crate::watch::follow(&mut watch.follower, &log, log.head()) {
            watch.audit.follow(&event);
        }
        for tile in watch.audit.needs(9, true) {
            watch.audit.tile(tile, &bytes);
        }
        prop_assert!(!watch.audit.findings().is_empty());
        prop_assert_eq!(watch.audit.verdicts(), []);
    }

    #[test]
    fn a_follower_takes_any_bytes_and_any_proof_and_trusts_none(
        bytes in prop::collection::vec(any::<u8>(), 0..3000), whole: bool, claimed: u64, before in 1_u64..600,
    ) {
        for by in [ProofMethod::Leaves, ProofMethod::Edges, ProofMethod::Proofs] {
            let log = Log::of(before);
            let mut follower = Follower::new(by, bundles::<StaticCtLeaves>());
            crate::watch::follow(&mut follower, &log, log.head());
            let size = before + 1 + claimed % 5000;
            follower.head(Head { size, ..log.head() });
            for _ in 0..20 {
                match follower.need() {
                    Some(Need::Tiles(tiles)) => tiles.into_iter().for_each(|tile| {
                        let length = if whole { usize::from(tile.width) * 32 } else { bytes.len() };
                        let bytes: Vec<_> = bytes.iter().copied().chain([7; 8192]).take(length).collect();
                        follower.tile(tile, &bytes);
                    }),
                    Some(Need::ConsistencyProof { first, second, .. }) => {
                        let proof: Vec<_> = bytes.as_chunks().0.iter().copied().map(Hash).collect();
                        follower.consistency_proof(first, second, &proof);
                    }
                    None => break,
                }
            }
            prop_assert_eq!(follower.need(), None);
            // What may be the answer of a server that lags behind is told at the end.
            follower.end();
            prop_assert_eq!(follower.events().len(), 1);
            prop_assert_eq!(follower.trusted(), Some(&log.head()));
        }
    }
}

//! The recorded log, audited.

use std::collections::BTreeSet;

use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{
    AuditBounds, EntryAudit, Flaw, NoSpill, Receipt, TileAudit, TileSweep, Verdict, bundles,
};
use hammer_tlog::logs::follow::{Event, Follower, Head, Need, ProofMethod};
use hammer_tlog::logs::merkle::{consistency_proof, leaf_hash};
use hammer_tlog::logs::tile::TileId;

use crate::archive::{RECORDED, RecordedLog, SIZE, SIZES, TREE, head};
use crate::entries::{entries, leaf_input};

/// A day, as the maximum merge delay.
const MMD_MS: u64 = 86_400_000;

/// The receipts that the log's submitters got.
fn receipts() -> impl Iterator<Item = Receipt> {
    entries().zip(0..).map(|(entry, index)| {
        Receipt::new(index, entry.leaf_hash().unwrap(), Some(index), 0, entry.timestamp_ms).within(MMD_MS)
    })
}

/// Feeds a follower one head and all that it needs; gives what it found out.
fn follow(follower: &mut Follower, head: Head) -> Vec<Event> {
    follower.head(head);
    for _ in 0..100 {
        match follower.need() {
            None => return follower.events(),
            Some(Need::Tiles(tiles)) => tiles.into_iter().for_each(|tile| match RECORDED.tile(tile) {
                Some(bytes) => follower.tile(tile, bytes),
                None => follower.missing(tile),
            }),
            Some(Need::ConsistencyProof { first, second, .. }) => {
                follower.consistency_proof(first, second, &consistency_proof(&*TREE, first, second).unwrap());
            }
        }
    }
    panic!("the follower goes in circles");
}

/// Follows the log through all of its sizes, and holds what it tells against the tree; feeds it to `take`.
fn grow(by: ProofMethod, mut take: impl FnMut(&Event)) {
    let mut follower = Follower::from_empty(by, bundles::<StaticCtLeaves>());
    for (before, size) in [0].into_iter().chain(SIZES).zip(SIZES) {
        let events = follow(&mut follower, head(size));
        let [event @ Event::Grew { from, to, leaves }] = &events[..] else {
            panic!("{by:?} {size}: {events:?}")
        };
        assert_eq!((from.size, to), (before, &head(size)));
        let all = &TREE.leaves()[before as usize..size as usize];
        assert_eq!(leaves, if by == ProofMethod::Leaves { all } else { &[] }, "{by:?} {size}");
        take(event);
    }
}

/// Every receipt, kept at its index.
fn assert_all_kept(verdicts: &[Verdict]) {
    let mut kept: Vec<_> = verdicts
        .iter()
        .map(|verdict| match verdict {
            Verdict::Kept(kept) => (kept.receipt.seq, kept.index),
            Verdict::Broken(breach) => panic!("{breach:?}"),
        })
        .collect();
    kept.sort_unstable();
    assert_eq!(kept, (0..SIZE).map(|index| (index, index)).collect::<Vec<_>>());
}

/// Sweeps the tree of one head; whether it was proved, the flaws, and the issuers of its chains.
pub(crate) fn swept(log: &RecordedLog, head: &Head) -> (bool, Vec<Flaw>, BTreeSet<Hash>) {
    let mut sweep = TileSweep::<StaticCtLeaves>::new(head, 0..u64::MAX);
    while !sweep.is_over() {
        let needs: Vec<TileId> = sweep.needs(8);
        assert!(!needs.is_empty(), "{sweep:?}");
        for tile in needs {
            match log.tile(tile) {
                Some(bytes) => sweep.tile(tile, bytes.to_vec()),
                None => sweep.missing(tile),
            }
        }
    }
    (sweep.is_proved(), sweep.flaws(), sweep.references().into_iter().collect())
}

fn issuers() -> BTreeSet<Hash> {
    RECORDED.files.keys().filter_map(|path| Hash::from_hex(path.strip_prefix("issuer/")?)).collect()
}

#[test]
fn the_log_is_followed_through_its_growth_by_all_ways_of_proof() {
    for by in [ProofMethod::Leaves, ProofMethod::Edges, ProofMethod::Proofs] {
        grow(by, |_| ());
    }
}

#[test]
fn an_audit_by_bundles_finds_every_leaf_where_it_was_promised() {
    for after in [false, true] {
        let mut audit = TileAudit::<StaticCtLeaves, _>::new(AuditBounds::default(), NoSpill);
        if !after {
            receipts().for_each(|receipt| audit.accept(receipt));
        }
        grow(ProofMethod::Leaves, |event| {
            audit.follow(event);
            while let [tile, ..] = audit.needs(8, true)[..] {
                match RECORDED.tile(tile) {
                    Some(bytes) => audit.tile(tile, bytes),
                    None => audit.missing(tile),
                }
            }
        });
        if after {
            receipts().for_each(|receipt| audit.accept(receipt));
        }
        assert_all_kept(&audit.verdicts());
        assert_eq!((audit.findings(), audit.pending(), audit.behind()), (Vec::new(), 0, 0));
        assert_eq!(audit.references().into_iter().collect::<BTreeSet<_>>(), issuers());
    }
}

#[test]
fn an_audit_by_entries_finds_every_leaf_and_leads_to_every_root() {
    let inputs: Vec<_> = entries().map(|entry| leaf_input(&entry)).collect();
    let mut audit = EntryAudit::new(AuditBounds::default(), NoSpill);
    receipts().for_each(|receipt| audit.accept(receipt));
    grow(ProofMethod::Proofs, |event| {
        audit.follow(event);
        while let Some(range) = audit.needs(100) {
            let asked = &inputs[range.start as usize..=range.end as usize];
            audit.leaves(range.start, asked.iter().map(|input| leaf_hash(input)));
        }
    });
    assert_all_kept(&audit.verdicts());
    assert_eq!((audit.findings(), audit.pending(), audit.behind()), (Vec::new(), 0, 0));
}

#[test]
fn a_sweep_of_every_size_proves_it_and_finds_no_flaw() {
    for size in SIZES {
        let (proved, flaws, named) = swept(&RECORDED, &head(size));
        assert_eq!((proved, flaws), (true, Vec::new()), "{size}");
        assert!(size < SIZE || named == issuers());
    }
}

//! Follower and audit, fed what a log serves: no head is trusted that is not proved, no promise kept whose leaf is not
//! there.

use hammer_tlog::ct::bundle::{Entries, StaticCtLeaves};
use hammer_tlog::ct::rfc6962::{GetEntries, GetSthConsistency};
use hammer_tlog::logs::audit::{AuditBounds, EntryAudit, NoSpill, Receipt, TileAudit, Verdict, bundles};
use hammer_tlog::logs::follow::{Event, Follower, Head, Need, ProofMethod};
use hammer_tlog::logs::merkle::{Hash, leaf_hash};
use hammer_tlog::logs::tile::{Level, TileId};

use crate::log::{OTHER, SIZE, head, leaf, leaves, root};

/// Rounds in which a follower says what it needs; more would be no progress.
const ROUNDS: usize = 20;

/// The tile of all leaves, and the same bytes wherever a tile or a consistency proof is asked for.
pub(crate) fn follow(data: &[u8]) -> bool {
    let grew = |signed: Hash, by: ProofMethod, older: Option<u64>| {
        let mut follower = older.map_or_else(
            || Follower::from_empty(by, bundles::<StaticCtLeaves>()),
            |_| Follower::new(by, bundles::<StaticCtLeaves>()),
        );
        older.map(|size| head(size, root(size))).into_iter().for_each(|head| follower.head(head));
        follower.head(head(SIZE, signed));
        feed(&mut follower, data)
    };
    // Every tree continues the empty one: there is nothing to prove by a proof.
    let followed = [
        (ProofMethod::Leaves, None),
        (ProofMethod::Edges, None),
        (ProofMethod::Leaves, Some(4)),
        (ProofMethod::Edges, Some(4)),
    ];
    for (by, older) in followed.into_iter().chain([(ProofMethod::Proofs, Some(4))]) {
        assert_eq!(grew(OTHER, by, older), None, "a head that is not the log's is trusted");
    }
    let honest = grew(root(SIZE), ProofMethod::Leaves, None);
    assert!(honest.as_ref().is_none_or(|found| *found == leaves()));
    let _ = (grew(root(SIZE), ProofMethod::Edges, None), grew(root(SIZE), ProofMethod::Proofs, Some(4)));
    honest.is_some()
}

/// Feeds `data` for all that is needed; the leaves by which the tree grew to the last head, if it did.
fn feed(follower: &mut Follower, data: &[u8]) -> Option<Vec<Hash>> {
    for _ in 0..ROUNDS {
        match follower.need() {
            None => break,
            Some(Need::Tiles(tiles)) => tiles.into_iter().for_each(|tile| follower.tile(tile, data)),
            Some(Need::ConsistencyProof { first, second, .. }) => {
                let proof = serde_json::from_slice::<GetSthConsistency>(data);
                let proof = proof.map(|answer| answer.consistency).unwrap_or_default();
                follower.consistency_proof(first, second, &proof);
            }
        }
    }
    let grown = |event| match event {
        Event::Grew { to, leaves, .. } if to.size == SIZE => Some(leaves),
        _ => None,
    };
    follower.events().into_iter().find_map(grown)
}

/// The receipts of all leaves, and one of a leaf that the log does not have.
fn receipts(with_index: bool) -> impl Iterator<Item = Receipt> {
    let index = move |index| Some(index).filter(|_| with_index);
    let kept = (0..SIZE).map(move |at| Receipt::new(at, leaf(at), index(at), 0, 1_000 + at).within(1_000));
    kept.chain([Receipt::new(SIZE, OTHER, index(2), 0, 1_002).within(1_000)])
}

fn grown() -> Event {
    Event::Grew { from: Head::empty(), to: head(SIZE, root(SIZE)), leaves: leaves() }
}

/// Promises kept by these verdicts, each of which is of a leaf of the log.
fn kept(verdicts: Vec<Verdict>) -> Vec<u64> {
    let kept = verdicts.into_iter().filter_map(|verdict| match verdict {
        Verdict::Kept(kept) => Some(kept),
        Verdict::Broken(_) => None,
    });
    kept.map(|kept| {
        assert_eq!(kept.receipt.leaf, leaf(kept.index), "a promise is kept whose leaf is not there");
        kept.index
    })
    .collect()
}

/// The bundle of all leaves.
pub(crate) fn bundle(data: &[u8]) -> bool {
    let mut audit = TileAudit::<StaticCtLeaves, _>::new(AuditBounds::default(), NoSpill);
    audit.follow(&grown());
    receipts(true).for_each(|receipt| audit.accept(receipt));
    let tile = TileId::covering(Level::Data, 0, SIZE).expect("the log has leaves");
    audit.tile(tile, data);
    let kept = kept(audit.verdicts());
    let read: Vec<_> = Entries::new(data).map_while(Result::ok).map(|entry| entry.leaf_hash()).collect();
    for index in &kept {
        assert_eq!(read.get(*index as usize), Some(&Ok(leaf(*index))), "kept by another entry");
    }
    audit.tile(tile, data);
    audit.overdue(u64::MAX);
    let _ = (audit.findings(), audit.references(), audit.verdicts(), audit.pending());
    kept.len() as u64 == SIZE
}

/// The answer of get-entries for all leaves.
pub(crate) fn entries(data: &[u8]) -> bool {
    let Ok(GetEntries { entries }) = serde_json::from_slice(data) else { return false };
    let mut audit = EntryAudit::new(AuditBounds::default(), NoSpill);
    audit.follow(&grown());
    receipts(false).for_each(|receipt| audit.accept(receipt));
    for _ in 0..ROUNDS {
        let Some(range) = audit.needs(1_000) else { break };
        let rest = entries.iter().skip(range.start as usize);
        audit.leaves(range.start, rest.map(|entry| leaf_hash(&entry.leaf_input.0)));
    }
    let kept = kept(audit.verdicts());
    audit.overdue(u64::MAX);
    audit.settle();
    let _ = (audit.findings(), audit.verdicts(), audit.pending());
    kept.len() as u64 == SIZE
}

//! Why a leaf is not where it was promised.

use super::leaf_format::LeafFormat;
use super::receipt::Receipt;
use super::tile_leaves::TileLeaves;
use super::verdict::Kind;
use crate::hash::Hash;

/// Why the tree has another leaf where this receipt promises its own.
pub(super) fn misplaced<F: LeafFormat>(
    leaves: &TileLeaves,
    position: usize,
    found: Hash,
    receipt: &Receipt,
    receipts: &[Receipt],
    bytes: &[u8],
    first: u64,
) -> Kind {
    if let Some(holds) = elsewhere::<F>(receipt, bytes, first) {
        return Kind::WrongIndex { holds };
    }
    let rival = rival(receipt, receipts);
    if !receipt.is_duplicate() && (rival.is_some() || leaves.is_claimed(position)) {
        return Kind::PromisedTwice { first: rival };
    }
    Kind::LostLeaf { found }
}

/// Another receipt of the same index that is not a duplicate's.
pub(super) fn rival(receipt: &Receipt, receipts: &[Receipt]) -> Option<u64> {
    let rivals = |other: &&Receipt| {
        other.index() == receipt.index() && other.seq != receipt.seq && !other.is_duplicate()
    };
    receipts.iter().find(rivals).map(|other| other.seq)
}

/// The index of the entry that is the promised one at another index. One that is served at the promised index, where the tree has another
/// leaf, is of another tree: it is not in this one.
pub(super) fn elsewhere<F: LeafFormat>(receipt: &Receipt, bytes: &[u8], first: u64) -> Option<u64> {
    let entries = F::entries(bytes).map_while(Result::ok);
    let mut others = (first..).zip(entries).filter(|(index, _)| Some(*index) != receipt.index());
    others.find(|(_, entry)| F::is_promised(entry, receipt)).map(|(index, _)| index)
}

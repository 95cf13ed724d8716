//! Bundles, held against their hash tiles.

use std::collections::BTreeSet;

use crate::hash::Hash;
use crate::logs::audit::leaf_format::{EntryFault, LeafFormat};
use crate::logs::audit::tile_leaves::TileLeaves;
use crate::logs::audit::verdict::{BundleFault, Finding};
use crate::logs::tile::{FULL_WIDTH, TileId};

/// Holds the first `width` entries of a bundle against the tree's leaves, and notes those that are altered. Tells of the
/// first that was not known to be.
pub(super) fn compare<F: LeafFormat>(
    leaves: &mut TileLeaves,
    tile: TileId,
    width: usize,
    bytes: &[u8],
) -> Option<Finding> {
    let mut first = None;
    let mut note = |leaves: &mut TileLeaves, position: usize, fault: BundleFault| {
        if leaves.altered.set(position) && first.is_none() {
            first = Some(Finding::TamperedBundle { tile, index: tile.first() + position as u64, fault });
        }
    };
    let (mut entries, mut trails) = (0, false);
    for entry in F::entries(bytes) {
        let position = entries;
        entries += 1;
        let got = match entry {
            Ok(_) if !(leaves.skip..width).contains(&position) => continue,
            Ok(entry) => {
                if let Some(beside) = F::beside(&entry) {
                    leaves.has_beside(position, beside);
                }
                F::leaf_hash(&entry).map_err(BundleFault::Leafless)
            }
            Err(error) => {
                // What follows cannot be read either.
                entries = position;
                trails = true;
                for position in position.max(leaves.skip)..width {
                    note(leaves, position, BundleFault::Entry(error.clone()));
                }
                break;
            }
        };
        match (got, leaves.hash(position)) {
            (Ok(got), Some(expected)) if got != expected => {
                note(leaves, position, BundleFault::Leaf { got, expected });
            }
            (Err(fault), _) => note(leaves, position, fault),
            _ => {}
        }
    }
    let whole = entries == usize::from(tile.width) || entries == usize::from(FULL_WIDTH);
    for position in entries.max(leaves.skip)..width {
        note(leaves, position, BundleFault::Entries(entries));
    }
    let overlong = match whole {
        true => trails.then_some(BundleFault::Trailing(entries)),
        false => (entries > width).then_some(BundleFault::Entries(entries)),
    };
    if let Some(fault) = overlong
        && first.is_none()
        && !std::mem::replace(&mut leaves.overlong, true)
    {
        first = Some(Finding::TamperedBundle { tile, index: tile.first() + width as u64, fault });
    }
    first
}

/// Notes the references that are not yet known.
pub(super) fn note_references<'a, F: LeafFormat>(
    (known, fresh): (&mut BTreeSet<Hash>, &mut Vec<Hash>),
    entries: impl Iterator<Item = Result<F::Entry<'a>, EntryFault>>,
) {
    let mut last: &[[u8; 32]] = &[];
    for entry in entries.map_while(Result::ok) {
        let references = F::references(&entry);
        // Neighbours often have the same ones.
        if references == last {
            continue;
        }
        last = references;
        for reference in last.iter().copied().map(Hash) {
            if known.len() < REFERENCES && known.insert(reference) {
                fresh.push(reference);
            }
        }
    }
}

/// References that are remembered.
const REFERENCES: usize = 4096;

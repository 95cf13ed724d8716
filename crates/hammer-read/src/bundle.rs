use std::borrow::Cow;
use std::fmt;

use hammer_core::promise::Fault;
use hammer_net::gunzip;
use hammer_tlog::logs::audit::LeafFormat;
use hammer_tlog::logs::tile::{FULL_WIDTH, Level, TileId};

use crate::broken::{ALTERED_LEAF, unverified};
use crate::part::Part;
use crate::proved_tree::ProvedTree;

/// Holds each entry of a bundle in the format `F` against its hash tile, and that against the root. The bundle ends with its last entry,
/// which is that of the full tile where the partial one is no longer there.
///
/// # Errors
/// The first entry or tile that is not of the tree, or what stands behind the last entry.
pub fn check_bundle<F: LeafFormat>(
    tree: &mut ProvedTree,
    bundle: &Part<'_>,
    tiles: &[Part<'_>],
) -> Result<(), Fault> {
    let tile = bundle.id();
    let hashes = tree.prove(tiles)?;
    let hashes = hashes.get(&(Level::Hashes(0), tile.index)).ok_or_else(unverified)?;
    let bytes = plain(bundle)?;
    let altered = |index: u64, why: &dyn fmt::Display| {
        Err(Fault::at(ALTERED_LEAF, index, format!("{tile}: the entry of index {index} {why}")))
    };
    let mut entries = F::entries(&bytes);
    for (index, expected) in (tile.first()..).zip(hashes) {
        let entry = match entries.next() {
            None => return altered(index, &"is not in it"),
            Some(Err(why)) => return altered(index, &format_args!("cannot be read: {why}")),
            Some(Ok(entry)) => entry,
        };
        match F::leaf_hash(&entry) {
            Ok(found) if found == *expected => {}
            Ok(found) => {
                return altered(index, &format_args!("is that of {found}, and the tree has {expected}"));
            }
            Err(why) => return altered(index, &format_args!("has no leaf: {why}")),
        }
        if F::check_index(&entry, index).is_err() {
            let detail = format!("{tile}: the entry of index {index} states another one");
            return Err(Fault::at("wrong-leaf-index", index, detail));
        }
    }
    match surplus(tile, entries.map(|entry| entry.map(drop))) {
        Some(why) => {
            let end = tile.first() + u64::from(tile.width);
            Err(Fault::at(ALTERED_LEAF, end, format!("{tile}: behind its {} entries {why}", tile.width)))
        }
        None => Ok(()),
    }
}

/// What stands behind the items of a tile, of which `rest` are read: nothing, or all others of the full tile.
pub fn surplus<E: fmt::Display>(tile: TileId, rest: impl Iterator<Item = Result<(), E>>) -> Option<String> {
    let mut more = 0;
    for item in rest {
        match item {
            Ok(()) => more += 1,
            Err(why) => return Some(format!("stands what cannot be read: {why}")),
        }
    }
    let of_full = usize::from(FULL_WIDTH - tile.width);
    (more != 0 && more != of_full).then(|| format!("stand {more} more"))
}

/// The entries or lines of a tile, decoded.
///
/// # Errors
/// When its encoding cannot be read.
pub fn plain<'a>(part: &Part<'a>) -> Result<Cow<'a, [u8]>, Fault> {
    if !part.is_gzip {
        return Ok(part.bytes.into());
    }
    let unreadable = |why| Fault::new(ALTERED_LEAF, format!("{} cannot be read: failed to {why}", part.id()));
    Ok(gunzip(part.bytes, LARGEST_TILE).map_err(unreadable)?.into())
}

/// Most bytes that a bundle of entries or names stands for: 256 entries of a quarter of a mebibyte.
pub const LARGEST_TILE: usize = 64 << 20;

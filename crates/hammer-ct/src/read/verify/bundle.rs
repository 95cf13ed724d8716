use std::borrow::Cow;

use hammer_core::promise::Fault;
use hammer_net::gunzip;
use hammer_tlog::ct::bundle::Entries;
use hammer_tlog::logs::tile::Level;

use super::broken::{ALTERED_LEAF, unverified};
use super::tree::Tree;
use crate::read::record::Part;

/// Holds each entry of a bundle against its hash tile, and that against the root.
pub(super) fn check(tree: &mut Tree, bundle: &Part<'_>, tiles: &[Part<'_>]) -> Result<(), Fault> {
    let tile = bundle.id();
    let hashes = tree.prove(tiles)?;
    let hashes = hashes.get(&(Level::Hashes(0), tile.index)).ok_or_else(unverified)?;
    let bytes = plain(bundle)?;
    let altered = |index: u64, why: &dyn std::fmt::Display| {
        Err(Fault::at(ALTERED_LEAF, index, format!("{tile}: the entry of index {index} {why}")))
    };
    let mut entries = Entries::new(&bytes);
    for (index, expected) in (tile.first()..).zip(hashes) {
        let entry = match entries.next() {
            None => return altered(index, &"is not in it"),
            Some(Err(why)) => return altered(index, &format_args!("cannot be read: {why}")),
            Some(Ok(entry)) => entry,
        };
        match entry.leaf_hash() {
            Ok(found) if found == *expected => {}
            Ok(found) => {
                return altered(index, &format_args!("is that of {found}, and the tree has {expected}"));
            }
            Err(why) => return altered(index, &format_args!("has no leaf: {why}")),
        }
        if !matches!(entry.leaf_index(), Ok(Some(stated)) if stated == index) {
            let detail = format!("{tile}: the entry of index {index} states another one");
            return Err(Fault::at("wrong-leaf-index", index, detail));
        }
    }
    Ok(())
}

/// The entries or lines of a tile, decoded.
pub(super) fn plain<'a>(part: &Part<'a>) -> Result<Cow<'a, [u8]>, Fault> {
    if !part.is_gzip {
        return Ok(part.bytes.into());
    }
    let unreadable = |why| Fault::new(ALTERED_LEAF, format!("{} cannot be read: failed to {why}", part.id()));
    Ok(gunzip(part.bytes, LARGEST_TILE).map_err(unreadable)?.into())
}

/// 256 entries of a quarter of a mebibyte.
const LARGEST_TILE: usize = 64 << 20;

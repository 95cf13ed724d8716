use std::sync::Arc;

use futures::lock::Mutex;
use hammer_tlog::logs::tile::{FULL_WIDTH, HEIGHT, Level, TileId};

use crate::support::Support;

/// A tree head that the session saw, as it was served.
#[derive(Debug)]
pub struct SeenHead {
    /// Its bytes.
    pub raw: Vec<u8>,
    /// The leaves of its tree, by what it says.
    pub size: u64,
    /// The partial tiles at the right edge of its tree, once they were read.
    pub(crate) edges: Mutex<Option<Arc<[Support]>>>,
}

impl SeenHead {
    pub(crate) fn new(raw: Vec<u8>, size: u64) -> Self {
        Self { raw, size, edges: Mutex::default() }
    }
}

/// The partial hash tiles of a tree of `size` leaves: its root can be computed from them.
pub(crate) fn edges(size: u64) -> impl Iterator<Item = TileId> {
    (0..=7).filter_map(move |level| {
        let items = Level::Hashes(level).items(size);
        let width = (items % u64::from(FULL_WIDTH)) as u16;
        let index = items / u64::from(FULL_WIDTH);
        (width > 0).then_some(TileId { level: Level::Hashes(level), index, width })
    })
}

/// The full hash tiles above the tile of level 0 and that `index`, up to the edge of a tree of `size` leaves.
pub(crate) fn above(index: u64, size: u64) -> impl Iterator<Item = TileId> {
    (1..=7)
        .map(move |level| TileId::hashes(level, index >> (HEIGHT * level)))
        .take_while(move |tile| tile.first() + u64::from(FULL_WIDTH) <= tile.level.items(size))
}

/// The hash tiles that lead from the leaf of an index to the root of a tree of `size` leaves, which has it: all that a proof of its
/// inclusion is computed from.
pub fn tiles_to_root(index: u64, size: u64) -> impl Iterator<Item = TileId> {
    let tile = index / u64::from(FULL_WIDTH);
    let own = TileId::covering(Level::Hashes(0), index, size).filter(TileId::is_full);
    own.into_iter().chain(above(tile, size)).chain(edges(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(tiles: impl Iterator<Item = TileId>) -> Vec<String> {
        tiles.map(|tile| tile.path()).collect()
    }

    #[test]
    fn edges_and_what_is_above_a_tile_lead_to_the_root() {
        assert_eq!(paths(edges(5)), ["tile/0/000.p/5"]);
        assert_eq!(paths(edges(256)), ["tile/1/000.p/1"]);
        assert_eq!(paths(edges(65_536 + 300)), ["tile/0/257.p/44", "tile/1/001.p/1", "tile/2/000.p/1"]);
        assert_eq!(paths(above(3, 65_536 + 300)), ["tile/1/000"]);
        assert_eq!(paths(above(256, 65_536 + 300)), [""; 0]);
        let to_root = |index, size| paths(tiles_to_root(index, size));
        assert_eq!(to_root(3, 5), ["tile/0/000.p/5"]);
        assert_eq!(to_root(3, 256), ["tile/0/000", "tile/1/000.p/1"]);
        assert_eq!(to_root(299, 300), ["tile/0/001.p/44", "tile/1/000.p/1"]);
        let edges = ["tile/0/257.p/44", "tile/1/001.p/1", "tile/2/000.p/1"];
        assert_eq!(to_root(3, 65_536 + 300), [&["tile/0/000", "tile/1/000"][..], &edges].concat());
        assert_eq!(to_root(65_540, 65_536 + 300), [&["tile/0/256"][..], &edges].concat());
        let above = paths(above(70_000, 1 << 40));
        assert_eq!(above, ["tile/1/273", "tile/2/001", "tile/3/000", "tile/4/000"]);
    }
}

//! Tiles, as another implementation has them.

use hammer_tlog::logs::merkle::{Hash, inclusion_proof, root_at};
use hammer_tlog::logs::tile::{
    FULL_WIDTH, HEIGHT, Level, TileId, TileReader, encode_hashes, root, tiles_for, tiles_for_growth,
};
use proptest::prelude::*;
use tlog_tiles::{Error, Tile, TileHashReader, prove_record, tree_hash};

use crate::altered::{altered, edits};
use crate::twin::{TwinTree, all_theirs, huge_sizes, sizes, theirs};

/// The path without the height, which C2SP tlog-tiles leaves out since it is always 8.
fn path(tile: &Tile) -> String {
    tile.path().replacen("tile/8/", "tile/", 1)
}

fn same(tile: TileId) -> Tile {
    let (level, is_data) = match tile.level {
        Level::Hashes(level) => (level, false),
        _ => (0, true),
    };
    Tile::new(HEIGHT, level, tile.index, tile.width.into(), is_data)
}

/// The path as the other implementation reads it. Where a level is over 63 or a width is 0 it panics instead of refusing.
fn read_by_the_other(path: &str) -> Option<Tile> {
    let rest = path.strip_prefix("tile/")?;
    let level = rest.split('/').next().and_then(|level| level.parse::<u8>().ok());
    let width = rest.split('/').next_back().and_then(|width| width.parse::<u32>().ok());
    if level.is_some_and(|level| level > 63) || (rest.contains(".p/") && width == Some(0)) {
        return None;
    }
    Tile::from_path(&format!("tile/8/{rest}")).ok()
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![4 => (0_u8..64).prop_map(Level::Hashes), 1 => Just(Level::Data)]
}

fn index() -> impl Strategy<Value = u64> {
    (0_u32..=64, any::<u64>()).prop_map(|(bits, drawn)| drawn.checked_shr(64 - bits).unwrap_or(0))
}

/// The tiles of one of our trees, for the other implementation.
struct Served<'a>(&'a TwinTree);

impl tlog_tiles::TileReader for Served<'_> {
    fn height(&self) -> u8 {
        HEIGHT
    }

    fn read_tiles(&self, tiles: &[Tile]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(tiles.iter().map(|tile| self.0.bytes(path(tile).parse().unwrap())).collect())
    }

    fn save_tiles(&self, _: &[Tile], _: &[Vec<u8>]) {}
}

impl TwinTree {
    fn bytes(&self, tile: TileId) -> Vec<u8> {
        let Level::Hashes(level) = tile.level else { panic!("{tile} is no hash tile") };
        let hashes = self.ours.stretch(level * HEIGHT, tile.first(), tile.width.into());
        encode_hashes(hashes.unwrap_or_else(|| panic!("the tree has no {tile}")))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_tile_has_the_same_path(level in level(), index in index(), width in 1_u16..=256) {
        let tile = TileId { level, index, width };
        prop_assert_eq!(tile.path(), path(&same(tile)));
        prop_assert_eq!(read_by_the_other(&tile.path()), Some(same(tile)));
    }

    #[test]
    fn what_one_reads_as_a_path_the_other_reads(
        level in level(), index in index(), width in 1_u16..=256, edits in edits(),
    ) {
        let bytes = altered(TileId { level, index, width }.path().as_bytes(), &edits);
        if let Ok(text) = String::from_utf8(bytes) {
            prop_assert_eq!(text.parse::<TileId>().ok().map(same), read_by_the_other(&text), "{}", text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn growth_makes_the_same_tiles(old in prop_oneof![Just(0), huge_sizes()], more in 0_u64..100_000) {
        let ours: Vec<_> = tiles_for_growth(old, old + more).map(same).collect();
        prop_assert_eq!(ours, Tile::new_tiles(HEIGHT, old, old + more));
    }

    #[test]
    fn a_tree_has_the_same_tiles_with_the_same_bytes(seed: u64, size in sizes()) {
        let twin = TwinTree::of(seed, size);
        let tiles: Vec<_> = tiles_for(size).collect();
        prop_assert_eq!(tiles.iter().copied().map(same).collect::<Vec<_>>(), Tile::new_tiles(HEIGHT, 0, size));
        for tile in tiles {
            let bytes = twin.bytes(tile);
            prop_assert_eq!(&bytes, &same(tile).read_data(&twin.theirs).unwrap());
            if tile.is_full() {
                let hashes = tile.parse_hashes(&bytes).unwrap();
                prop_assert_eq!(theirs(root(&hashes)), Tile::subtree_hash(&bytes));
            }
        }
    }

    #[test]
    fn a_tree_read_through_its_tiles_is_the_same(
        seed: u64, size in prop_oneof![30 => sizes(), 1 => 65_530_u64..65_800], index: u64,
    ) {
        let (twin, index) = (TwinTree::of(seed, size), index % size);
        let head = root_at(&twin.ours, size).unwrap();
        let served = Served(&twin);
        // It holds only some of the tiles against the root, so that nothing is said here of tiles that are tampered with.
        let others = TileHashReader::new(size, theirs(head), &served);
        let ours = TileReader::new(|level, index| {
            let tile = TileId::covering(Level::Hashes(level), index * u64::from(FULL_WIDTH), size)?;
            tile.parse_hashes(&twin.bytes(tile)).ok()
        });
        prop_assert_eq!(theirs(root_at(&ours, size).unwrap()), tree_hash(size, &others).unwrap());
        let path: Vec<Hash> = inclusion_proof(&ours, index, size).unwrap();
        prop_assert_eq!(all_theirs(&path), prove_record(size, index, &others).unwrap());
    }
}

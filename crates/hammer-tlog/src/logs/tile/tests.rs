//! Paths and widths of tiles.

use proptest::prelude::*;

use super::*;
use crate::logs::merkle::{Tree, inclusion_proof, leaf_hash, root_at};

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![
        (0_u8..64).prop_map(Level::Hashes),
        Just(Level::Data),
        Just(Level::Names),
        Just(Level::Entries)
    ]
}

fn tree(size: u64) -> Tree {
    (0..size).map(|leaf| leaf_hash(&leaf.to_be_bytes())).collect()
}

/// The tiles of a tree as a log would serve them, those of its present size only.
fn served(tree: &Tree, size: u64) -> impl Fn(u8, u64) -> Option<Vec<Hash>> {
    move |level, index| {
        let tile = TileId::covering(Level::Hashes(level), index * 256, size)?;
        let first = tile.first() as usize;
        Some(tree.level(level * HEIGHT)[first..first + usize::from(tile.width)].to_vec())
    }
}

#[test]
fn paths_are_those_of_the_specification() {
    assert_eq!(TileId::hashes(0, 1_234_067).path(), "tile/0/x001/x234/067");
    assert_eq!(TileId { width: 5, ..TileId::data(1234) }.path(), "tile/data/x001/234.p/5");
    assert_eq!(TileId::new(Level::Names, 0).path(), "tile/names/000");
    assert_eq!(TileId::hashes(1, 999).path(), "tile/1/999");
    assert_eq!(TileId::hashes(1, 1000).path(), "tile/1/x001/000");
}

#[test]
fn what_is_not_the_canonical_path_is_refused() {
    let paths = [
        "tile/0/0",
        "tile/0/x000/001",
        "tile/0/001/002",
        "tile/0/x001",
        "tile/00/001",
        "tile/64/000",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/01",
        "tile/0/000.p/+1",
        "/tile/0/000",
        "tile/0/+12",
        "tile/0/x018/x446/x744/x073/x709/x551/616",
        "tile/issuer/000",
        "tile/0/",
        "",
    ];
    for path in paths {
        assert_eq!(path.parse::<TileId>(), Err(TileError::Path { path: path.to_owned() }));
    }
}

#[test]
fn a_tree_has_full_tiles_and_one_partial_tile_at_each_edge() {
    let paths = |size| tiles_for(size).map(|tile| tile.path()).collect::<Vec<_>>();
    assert_eq!(paths(0), [""; 0]);
    assert_eq!(paths(1), ["tile/0/000.p/1"]);
    assert_eq!(paths(256), ["tile/0/000", "tile/1/000.p/1"]);
    // The example of C2SP tlog-tiles, in part.
    let all = paths(70_000);
    assert_eq!(all.len(), 274 + 2 + 1);
    assert_eq!(all[273..], ["tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1"]);
}

#[test]
fn growth_makes_only_the_tiles_that_change() {
    let paths = |old, new| tiles_for_growth(old, new).map(|tile| tile.path()).collect::<Vec<_>>();
    assert_eq!(paths(7, 7), [""; 0]);
    assert_eq!(paths(255, 256), ["tile/0/000", "tile/1/000.p/1"]);
    assert_eq!(paths(256, 300), ["tile/0/001.p/44"]);
    let data = data_tiles_for_growth(200, 513).map(|tile| tile.path()).collect::<Vec<_>>();
    assert_eq!(data, ["tile/data/000", "tile/data/001", "tile/data/002.p/1"]);
}

#[test]
fn a_tile_is_found_by_what_it_covers() {
    let covering = |item, size| TileId::covering(Level::Data, item, size).map(|tile| tile.path());
    assert_eq!(covering(300, 301).as_deref(), Some("tile/data/001.p/45"));
    assert_eq!(covering(300, 600).as_deref(), Some("tile/data/001"));
    assert_eq!(covering(301, 301), None);
    assert_eq!(covering(u64::MAX, 301), None);
    assert_eq!(TileId::covering(Level::Hashes(63), 0, u64::MAX), None);
}

#[test]
fn a_collected_partial_tile_is_read_from_the_full_one() {
    let full = tree(256);
    let partial = TileId { width: 9, ..TileId::hashes(0, 0) };
    let bytes = encode_hashes(full.leaves());
    assert_eq!(partial.full().path(), "tile/0/000");
    assert_eq!(partial.parse_hashes(&bytes).unwrap(), full.leaves()[..9]);
    assert_eq!(partial.parse_hashes(&bytes[..9 * 32]).unwrap(), full.leaves()[..9]);
    for length in [0, 8 * 32, 10 * 32, 9 * 32 + 1, 257 * 32] {
        let bytes = vec![0; length];
        assert_eq!(partial.parse_hashes(&bytes), Err(TileError::Length { tile: partial, length, width: 9 }));
    }
    assert_eq!(root(full.leaves()), full.level(8)[0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_path_reads_back(level in level(), index: u64, width in 1_u16..=256) {
        let tile = TileId { level, index, width };
        prop_assert_eq!(tile.path().parse::<TileId>().unwrap(), tile);
    }

    #[test]
    fn any_text_is_read_as_a_path_or_refused(text in "(tile/)?[0-9a-zx./]{0,40}") {
        if let Ok(tile) = text.parse::<TileId>() {
            prop_assert_eq!(tile.path(), text);
        }
    }

    #[test]
    fn a_tree_read_through_its_tiles_is_the_tree(size in prop_oneof![9 => 1_u64..2000, 1 => 65_500_u64..66_000], index: u64) {
        let tree = tree(size);
        let tiles = TileReader::new(served(&tree, size));
        prop_assert_eq!(root_at(&tiles, size), root_at(&tree, size));
        let index = index % size;
        prop_assert_eq!(inclusion_proof(&tiles, index, size), inclusion_proof(&tree, index, size));
    }
}

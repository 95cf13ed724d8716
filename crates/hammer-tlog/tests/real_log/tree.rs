//! The recorded log's tree.

use hammer_tlog::hash::Hash;
use hammer_tlog::logs::merkle::{
    consistency_proof, inclusion_proof, root_at, verify_consistency, verify_inclusion,
};
use hammer_tlog::logs::note::rfc6962_key_id;
use hammer_tlog::logs::tile::{Level, TileId, TileReader, encode_hashes, tiles_for};
use proptest::prelude::*;
use tlog_tiles::{
    Error, HashReader as _, Tile, TileHashReader, check_record, check_tree, prove_record, prove_tree,
    stored_hash_index, tree_hash,
};

use crate::archive::{ORIGIN, RECORDED, SIZE, SIZES, TREE, head, key};

pub(crate) fn theirs(hash: Hash) -> tlog_tiles::Hash {
    tlog_tiles::Hash(hash.0)
}

fn all_theirs(hashes: &[Hash]) -> Vec<tlog_tiles::Hash> {
    hashes.iter().copied().map(theirs).collect()
}

/// The recorded tiles, for the other implementation.
struct Served;

impl tlog_tiles::TileReader for Served {
    fn height(&self) -> u8 {
        8
    }

    fn read_tiles(&self, tiles: &[Tile]) -> Result<Vec<Vec<u8>>, Error> {
        let path = |tile: &Tile| tile.path().replacen("tile/8/", "tile/", 1);
        tiles.iter().map(|tile| RECORDED.files.get(&path(tile)).cloned().ok_or(Error::InvalidTile)).collect()
    }

    fn save_tiles(&self, _: &[Tile], _: &[Vec<u8>]) {}
}

fn read_by_the_other() -> TileHashReader<'static> {
    TileHashReader::new(SIZE, theirs(head(SIZE).root), &Served)
}

/// The last tree, read through its recorded tiles at every step.
fn read_by_us() -> TileReader<impl Fn(u8, u64) -> Option<Vec<Hash>>> {
    TileReader::new(|level, index| {
        let tile = TileId::covering(Level::Hashes(level), index * 256, SIZE)?;
        tile.parse_hashes(RECORDED.tile(tile)?).ok()
    })
}

#[test]
fn the_checkpoint_is_the_logs_and_both_read_it_alike() {
    let (checkpoint, verified) = RECORDED.open().unwrap();
    assert_eq!((checkpoint.origin.as_str(), checkpoint.size), (ORIGIN, SIZE));
    assert!(checkpoint.root.to_hex().starts_with("01ad47cb"));
    assert!(verified.timestamp_ms.is_some());
    let note = signed_note::Note::from_bytes(&RECORDED.files["checkpoint"]).unwrap();
    assert_eq!(note.text(), checkpoint.to_string().as_bytes());
    let others = tlog_tiles::Checkpoint::from_bytes(note.text()).unwrap();
    assert_eq!((others.origin(), others.size(), *others.hash()), (ORIGIN, SIZE, theirs(checkpoint.root)));
    let key_id = signed_note::key_id(ORIGIN, &[&[5], key().log_id().as_bytes().as_slice()].concat());
    assert_eq!(rfc6962_key_id(ORIGIN, &key().log_id()), key_id);
}

#[test]
fn every_tile_leads_to_the_root() {
    let root = head(SIZE).root;
    assert_eq!(root_at(&*TREE, SIZE), Ok(root));
    assert_eq!(root_at(&read_by_us(), SIZE), Ok(root));
    assert_eq!(tree_hash(SIZE, &read_by_the_other()).unwrap(), theirs(root));
    for (tile, bytes) in RECORDED.tiles(|level| matches!(level, Level::Hashes(_))) {
        let Level::Hashes(level) = tile.level else { unreachable!("only hash tiles were asked for") };
        let hashes = TREE.stretch(level * 8, tile.first(), tile.width.into()).unwrap();
        assert_eq!(encode_hashes(hashes), bytes, "{tile}");
    }
}

#[test]
fn the_log_has_the_tiles_that_its_trees_must_have() {
    for size in SIZES {
        // A partial tile may be gone once the full one is there (C2SP tlog-tiles).
        let missing = |tile: &TileId| RECORDED.tile(*tile).or(RECORDED.tile(tile.full())).is_none();
        assert_eq!(tiles_for(size).find(missing), None, "{size}");
    }
    let needed: Vec<TileId> = SIZES.into_iter().flat_map(tiles_for).collect();
    for (tile, _) in RECORDED.tiles(|level| matches!(level, Level::Hashes(_))) {
        assert!(needed.contains(&tile), "{tile}");
    }
}

#[test]
fn the_other_reads_the_same_leaves() {
    let indexes: Vec<u64> = (0..SIZE).map(|leaf| stored_hash_index(0, leaf)).collect();
    assert_eq!(read_by_the_other().read_hashes(&indexes).unwrap(), all_theirs(TREE.leaves()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_leaf_is_proved_in_any_tree_by_both_alike(size in 1..=SIZE, index: u64) {
        let (index, root) = (index % size, root_at(&read_by_us(), size).unwrap());
        prop_assert_eq!(theirs(root), tree_hash(size, &read_by_the_other()).unwrap());
        let (leaf, path) = (TREE.leaves()[index as usize], inclusion_proof(&read_by_us(), index, size).unwrap());
        prop_assert_eq!(all_theirs(&path), prove_record(size, index, &read_by_the_other()).unwrap());
        verify_inclusion(index, size, &leaf, &path, &root).unwrap();
        check_record(&all_theirs(&path), size, theirs(root), index, theirs(leaf)).unwrap();
    }

    #[test]
    fn any_tree_is_proved_to_be_a_prefix_by_both_alike(old in 1..=SIZE, more: u64) {
        let new = old + more % (SIZE + 1 - old);
        let roots = [old, new].map(|size| root_at(&read_by_us(), size).unwrap());
        let proof = consistency_proof(&read_by_us(), old, new).unwrap();
        prop_assert_eq!(all_theirs(&proof), prove_tree(new, old, &read_by_the_other()).unwrap());
        verify_consistency(old, new, &roots[0], &roots[1], &proof).unwrap();
        check_tree(&all_theirs(&proof), new, theirs(roots[1]), old, theirs(roots[0])).unwrap();
    }
}

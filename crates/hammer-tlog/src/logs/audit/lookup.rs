//! Leaves that are looked up in tiles that were passed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use super::leaf_format::LeafFormat;
use super::receipt::Receipt;
use crate::hash::Hash;
use crate::logs::merkle::{NodeReader, inclusion_proof, verify_inclusion};
use crate::logs::tile::{FULL_WIDTH, HEIGHT, Level, TileId, TileReader};

const FULL: u64 = FULL_WIDTH as u64;

/// Receipts at leaves whose hashes the audit does not hold: a bundle, and the hash tiles from its leaves to the root.
#[derive(Debug)]
pub(super) struct Lookup<F> {
    format: PhantomData<F>,
    /// The tile of the leaves.
    pub(super) index: u64,
    size: u64,
    root: Hash,
    pub(super) receipts: Vec<Receipt>,
    wanted: BTreeMap<(Level, u64), TileId>,
    hashes: BTreeMap<(u8, u64), Vec<Hash>>,
    bundle: Vec<u8>,
}

/// What a leaf was found to be.
pub(super) enum Found {
    /// The receipt's, in the tree and in the bundle.
    Kept,
    /// The receipt's in the tree; in the bundle another, or none.
    Altered(Option<Hash>),
    /// Another one, in the tree.
    Other(Hash),
    /// The tile that should hold it does not lead to the root.
    Unproved,
}

impl<F: LeafFormat> Lookup<F> {
    /// A look-up in the tree of `size` leaves, which has the tile.
    pub(super) fn new(index: u64, size: u64, root: Hash, receipts: Vec<Receipt>) -> Self {
        let walk = Walk(RefCell::new(BTreeSet::from([(0, index)])));
        // The walk has every node, so that it passes by all tiles of the path.
        let _ = inclusion_proof(&walk, index * FULL, size);
        let hashes = walk.0.into_inner().into_iter().map(|(level, index)| (Level::Hashes(level), index));
        let wanted = hashes.chain([(F::LEVEL, index)]).filter_map(|(level, index)| {
            Some(((level, index), TileId::covering(level, index * FULL, size)?))
        });
        let wanted = wanted.collect();
        Self {
            format: PhantomData,
            index,
            size,
            root,
            receipts,
            wanted,
            hashes: BTreeMap::new(),
            bundle: Vec::new(),
        }
    }

    pub(super) fn wanted(&self) -> impl Iterator<Item = TileId> {
        self.wanted.values().copied()
    }

    /// Takes a tile's bytes; says whether they are as many hashes as they should be.
    pub(super) fn tile(&mut self, tile: TileId, bytes: &[u8]) -> bool {
        let Some(wanted) = self.wanted.remove(&(tile.level, tile.index)) else { return true };
        let Level::Hashes(level) = tile.level else {
            self.bundle = bytes.to_vec();
            return true;
        };
        let exact = TileId {
            width: TileId::covering(tile.level, tile.first(), self.size)
                .map_or(wanted.width, |tile| tile.width),
            ..wanted
        };
        let hashes = exact.parse_hashes(bytes);
        let whole = hashes.is_ok();
        self.hashes.insert((level, tile.index), hashes.unwrap_or_default());
        whole
    }

    /// Takes that a tile is not served; gives it as the tree has it where nothing is left to ask for in its place.
    pub(super) fn missing(&mut self, tile: TileId) -> Option<TileId> {
        // The bundle may have been asked for in another width beside.
        let wanted = self.wanted.get_mut(&(tile.level, tile.index)).filter(|wanted| **wanted == tile)?;
        if !wanted.is_full() {
            *wanted = wanted.full();
            return None;
        }
        TileId::covering(tile.level, tile.first(), self.size)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.wanted.is_empty()
    }

    pub(super) fn judge(&self, receipt: &Receipt) -> Found {
        let Some(index) = receipt.index() else { return Found::Unproved };
        let position = (index % FULL) as usize;
        let reader = TileReader::new(|level, index| self.hashes.get(&(level, index)).cloned());
        let Ok(path) = inclusion_proof(&reader, index, self.size) else { return Found::Unproved };
        let proves = |leaf: &Hash| verify_inclusion(index, self.size, leaf, &path, &self.root).is_ok();
        if !proves(&receipt.leaf) {
            let other = self.hashes.get(&(0, self.index)).and_then(|hashes| hashes.get(position));
            return other.filter(|leaf| proves(leaf)).map_or(Found::Unproved, |leaf| Found::Other(*leaf));
        }
        let entry = F::entries(&self.bundle).nth(position).and_then(Result::ok);
        match entry.and_then(|entry| F::leaf_hash(&entry).ok()) {
            Some(leaf) if leaf == receipt.leaf => Found::Kept,
            leaf => Found::Altered(leaf),
        }
    }
}

/// Has every node, and notes the tile of each that is asked for.
struct Walk(RefCell<BTreeSet<(u8, u64)>>);

impl NodeReader for Walk {
    fn node(&self, level: u8, index: u64) -> Option<Hash> {
        let first = index << (level % HEIGHT);
        self.0.borrow_mut().insert((level / HEIGHT, first / FULL));
        Some(Hash([0; 32]))
    }
}

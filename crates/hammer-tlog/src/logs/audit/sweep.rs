//! One pass over a log with tiles.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::marker::PhantomData;
use std::ops::Range;

use super::leaf_format::LeafFormat;
use super::verdict::BundleFault;
use crate::hash::Hash;
use crate::logs::follow::{Head, TileFault, subtrees};
use crate::logs::merkle::Frontier;
use crate::logs::tile::{FULL_WIDTH, HEIGHT, Level, TileId, root};

const FULL: u64 = FULL_WIDTH as u64;

/// What a sweep found wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// An entry of a bundle is not the leaf that the tree has at its index.
    Bundle {
        /// The bundle.
        tile: TileId,
        /// The entry's index.
        index: u64,
        /// What is wrong with it.
        fault: BundleFault,
    },
    /// An entry says that it has another index than it has, or none ([`LeafFormat::check_index`]).
    Index {
        /// The index that it has.
        index: u64,
        /// The index that it says.
        says: Option<u64>,
    },
    /// A hash tile is not that of the tree.
    Tile {
        /// The tile.
        tile: TileId,
        /// What is wrong with it.
        fault: TileFault,
    },
    /// Neither the tile nor, where it is partial, the full one in its place is served.
    Missing {
        /// The tile.
        tile: TileId,
    },
    /// What is served leads to another root than the signed one.
    Root {
        /// The root that the entries lead to.
        computed: Hash,
        /// The signed root.
        expected: Hash,
    },
}

/// One pass over a log with tiles, whose entries are in the format `F`, as one head has it: every entry is hashed, and held against the hash tiles of all
/// levels and, with what stands before and after it, against the root. It holds one tile of each level at a time.
#[derive(Debug)]
pub struct TileSweep<F> {
    format: PhantomData<F>,
    size: u64,
    root: Hash,
    leaves: Range<u64>,
    stage: SweepStage,
    /// The next bundle.
    next: u64,
    by_entries: Frontier,
    /// The edge that the hash tiles lead to, once it is another.
    by_tiles: Option<Frontier>,
    /// Hashes of the levels above the leaves that are not yet in a whole tile, from level 1 on.
    above: Vec<Above>,
    /// Tiles of the levels above that are to be compared.
    compared: VecDeque<Compared>,
    full_only: BTreeSet<(Level, u64)>,
    got: BTreeMap<(Level, u64), Option<Vec<u8>>>,
    /// Entries that differ from their hash tile, of each bundle the first: which of the two is wrong, the root tells.
    differing: Vec<(TileId, u64, [Hash; 2])>,
    references: BTreeSet<Hash>,
    fresh_references: Vec<Hash>,
    flaws: Vec<Flaw>,
    is_proved: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SweepStage {
    /// The subtrees before the first leaf.
    Before,
    Bundles,
    /// The subtrees after the last leaf.
    After,
    Over,
}

/// What a hash may be: by the entries below it, and by the hash tiles below it.
type Candidates = [Hash; 2];

#[derive(Debug, Default)]
struct Above {
    /// The index of the first hash, at its level.
    first: u64,
    hashes: Vec<Candidates>,
}

#[derive(Debug)]
struct Compared {
    tile: TileId,
    /// Hashes of the tile before the known ones.
    skip: usize,
    known: Vec<Candidates>,
}

impl<F: LeafFormat> TileSweep<F> {
    /// A sweep of the tree of `head` over the leaves of `range`, widened to whole bundles.
    pub fn new(head: &Head, range: Range<u64>) -> Self {
        let begin = range.start.min(head.size) / FULL * FULL;
        let end = range.end.min(head.size).max(begin).div_ceil(FULL).saturating_mul(FULL).min(head.size);
        let mut sweep = Self {
            format: PhantomData,
            size: head.size,
            root: head.root,
            leaves: begin..end,
            stage: SweepStage::Before,
            next: begin / FULL,
            by_entries: Frontier::new(),
            by_tiles: None,
            above: Vec::new(),
            compared: VecDeque::new(),
            full_only: BTreeSet::new(),
            got: BTreeMap::new(),
            differing: Vec::new(),
            references: BTreeSet::new(),
            fresh_references: Vec::new(),
            flaws: Vec::new(),
            is_proved: false,
        };
        sweep.advance();
        sweep
    }

    /// The leaves that it reads.
    pub fn leaves(&self) -> Range<u64> {
        self.leaves.clone()
    }

    /// Leaves read so far.
    pub fn read(&self) -> u64 {
        (self.next * FULL).min(self.leaves.end) - self.leaves.start
    }

    /// Whether nothing is left to be read.
    pub fn is_over(&self) -> bool {
        self.stage == SweepStage::Over
    }

    /// Whether all that was read led to the signed root; the flaws that are left then are of tiles and bundles beside it.
    pub fn is_proved(&self) -> bool {
        self.is_proved
    }

    /// The tiles to be fetched next, at most `limit`. Says the same until it is fed.
    pub fn needs(&self, limit: usize) -> Vec<TileId> {
        let missing = |tile: &TileId| !self.got.contains_key(&(tile.level, tile.index));
        let asked = |tile: TileId| match self.full_only.contains(&(tile.level, tile.index)) {
            true => tile.full(),
            false => tile,
        };
        let above = self.compared.iter().map(|compared| compared.tile);
        let bundles =
            (self.next..self.leaves.end.div_ceil(FULL)).flat_map(|index| self.pair(index)).flatten();
        let stage: Box<dyn Iterator<Item = TileId>> = match self.stage {
            SweepStage::Before => Box::new(self.edge(0, self.leaves.start)),
            SweepStage::Bundles => Box::new(above.chain(bundles)),
            SweepStage::After => Box::new(above.chain(self.edge(self.leaves.end, self.size))),
            SweepStage::Over => Box::new(std::iter::empty()),
        };
        stage.filter(missing).map(asked).take(limit).collect()
    }

    /// Takes the bytes (not compressed) of a tile: those of `tile` as it was asked for, or of the full one in its place.
    pub fn tile(&mut self, tile: TileId, bytes: Vec<u8>) {
        self.got.insert((tile.level, tile.index), Some(bytes));
        self.advance();
    }

    /// Takes that a tile is not served. For a partial one the full one is needed from now on.
    pub fn missing(&mut self, tile: TileId) {
        let key = (tile.level, tile.index);
        if tile.is_full() {
            self.flaws.push(Flaw::Missing { tile });
            self.got.insert(key, None);
            self.advance();
        } else {
            self.full_only.insert(key);
        }
    }

    /// What was found wrong since the last call.
    pub fn flaws(&mut self) -> Vec<Flaw> {
        std::mem::take(&mut self.flaws)
    }

    /// What entries refer to ([`LeafFormat::references`]) and was met for the first time since the last call, of the first 4096
    /// in all.
    pub fn references(&mut self) -> Vec<Hash> {
        std::mem::take(&mut self.fresh_references)
    }

    /// Goes as far as the tiles at hand lead.
    fn advance(&mut self) {
        self.compare();
        if self.stage == SweepStage::Before && self.append_edge(0, self.leaves.start) {
            self.stage = SweepStage::Bundles;
        }
        while self.stage == SweepStage::Bundles && self.bundle() {}
        if self.stage == SweepStage::After
            && self.compared.is_empty()
            && self.append_edge(self.leaves.end, self.size)
        {
            self.judge();
        }
    }

    /// Reads the next bundle where it is there; says whether there may be another.
    fn bundle(&mut self) -> bool {
        if self.next * FULL >= self.leaves.end {
            for level in 0..self.above.len() {
                self.settle(level);
            }
            self.stage = SweepStage::After;
            return false;
        }
        let [Some(data), Some(hashes)] = self.pair(self.next) else { return false };
        if [data, hashes].iter().any(|tile| !self.got.contains_key(&(tile.level, tile.index))) {
            return false;
        }
        let bytes = self.got.remove(&(data.level, data.index)).flatten();
        let entries = bytes.map(|bytes| self.entries(data, &bytes)).unwrap_or_default();
        let bytes = self.got.remove(&(hashes.level, hashes.index)).flatten();
        let hashed = bytes.and_then(|bytes| self.hashes(hashes, &bytes)).unwrap_or_default();
        self.next += 1;
        let mut leaves = Vec::with_capacity(data.width.into());
        for position in 0..usize::from(data.width) {
            let (entry, hash) = (entries.get(position).copied().flatten(), hashed.get(position).copied());
            match (entry.or(hash), hash.or(entry)) {
                (Some(entry), Some(hash)) => leaves.push([entry, hash]),
                // Neither says what the leaf is: the root cannot be reached.
                _ => {
                    self.stage = SweepStage::Over;
                    return false;
                }
            }
        }
        self.take_leaves(data, &leaves);
        true
    }

    fn take_leaves(&mut self, bundle: TileId, leaves: &[Candidates]) {
        let first = bundle.first();
        let differing = (first..).zip(leaves).filter(|(_, leaf)| leaf[0] != leaf[1]);
        for (index, leaf) in differing {
            self.by_tiles.get_or_insert_with(|| self.by_entries.clone());
            if self.differing.len() < DIFFERING {
                self.differing.push((bundle, index, *leaf));
            }
        }
        self.by_entries.extend(leaves.iter().map(|leaf| leaf[0]));
        if let Some(by_tiles) = &mut self.by_tiles {
            by_tiles.extend(leaves.iter().map(|leaf| leaf[1]));
        }
        if bundle.is_full() {
            self.raise(0, bundle.index, candidates(leaves));
        }
    }

    /// Takes the hash `index` of tile level `above + 1`.
    fn raise(&mut self, above: usize, index: u64, hash: Candidates) {
        if self.above.len() == above {
            self.above.push(Above::default());
        }
        let level_above = &mut self.above[above];
        if level_above.hashes.is_empty() {
            level_above.first = index;
        }
        level_above.hashes.push(hash);
        if (index + 1).is_multiple_of(FULL) {
            let whole = (level_above.hashes.len() == usize::from(FULL_WIDTH))
                .then(|| candidates(&level_above.hashes));
            self.settle(above);
            if let Some(whole) = whole {
                self.raise(above + 1, index / FULL, whole);
            }
        }
    }

    /// Has the hashes of a level compared with their tile.
    fn settle(&mut self, above: usize) {
        let Above { first, hashes } = std::mem::take(&mut self.above[above]);
        let level = Level::Hashes(above as u8 + 1);
        if let Some(tile) = TileId::covering(level, first, self.size).filter(|_| !hashes.is_empty()) {
            let skip = (first - tile.first()) as usize;
            self.compared.push_back(Compared { tile, skip, known: hashes });
        }
    }

    /// Compares the tiles of the levels above that are there.
    fn compare(&mut self) {
        while let Some(Compared { tile, .. }) = self.compared.front()
            && let Some(bytes) = self.got.remove(&(tile.level, tile.index))
        {
            let Some(Compared { tile, skip, known }) = self.compared.pop_front() else { return };
            let Some(hashes) = bytes.and_then(|bytes| self.hashes(tile, &bytes)) else { continue };
            let pairs = hashes.iter().zip(0..).skip(skip).zip(&known);
            let wrong = pairs.map(|((got, position), known)| (*got, position, known));
            for (got, position, [expected, _]) in wrong.filter(|(got, _, known)| !known.contains(got)).take(1)
            {
                let fault = TileFault::Hash { position, got, expected: *expected };
                self.flaws.push(Flaw::Tile { tile, fault });
            }
        }
    }

    /// Holds what was read against the root, and says of each difference which side is wrong.
    fn judge(&mut self) {
        self.stage = SweepStage::Over;
        let entries_lead = self.by_entries.root() == self.root;
        let tiles_lead = self.by_tiles.as_ref().map_or(entries_lead, |tiles| tiles.root() == self.root);
        self.is_proved = entries_lead || tiles_lead;
        if !self.is_proved {
            let (computed, expected) = (self.by_entries.root(), self.root);
            self.flaws.push(Flaw::Root { computed, expected });
        }
        let mut differing = std::mem::take(&mut self.differing);
        if entries_lead {
            // A tile is told once, an entry each.
            differing.dedup_by_key(|(bundle, ..)| *bundle);
        }
        for (bundle, index, [entry, hash]) in differing {
            self.flaws.push(if entries_lead {
                let position = (index - bundle.first()) as u16;
                let tile = TileId { level: Level::Hashes(0), ..bundle };
                Flaw::Tile { tile, fault: TileFault::Hash { position, got: hash, expected: entry } }
            } else {
                let fault = BundleFault::Leaf { got: entry, expected: hash };
                Flaw::Bundle { tile: bundle, index, fault }
            });
        }
    }

    /// The leaf hashes of a bundle's entries, none for those that cannot be read.
    fn entries(&mut self, tile: TileId, bytes: &[u8]) -> Vec<Option<Hash>> {
        let mut hashes = Vec::with_capacity(tile.width.into());
        let (mut entries, mut trails) = (0, false);
        for (entry, index) in F::entries(bytes).zip(tile.first()..) {
            let hash = match entry {
                Ok(entry) if entries < usize::from(tile.width) => {
                    self.note(&entry, index);
                    F::leaf_hash(&entry).map_err(BundleFault::Leafless)
                }
                Ok(_) => {
                    entries += 1;
                    continue;
                }
                Err(_) if entries >= usize::from(tile.width) => {
                    trails = true;
                    break;
                }
                Err(error) => Err(BundleFault::Entry(error)),
            };
            entries += 1;
            if let Err(fault) = &hash {
                self.flaws.push(Flaw::Bundle { tile, index, fault: fault.clone() });
            }
            hashes.push(hash.ok());
        }
        let whole = entries == usize::from(tile.width) || entries == usize::from(FULL_WIDTH);
        if (!whole || trails) && hashes.iter().all(Option::is_some) {
            let index = tile.first() + hashes.len() as u64;
            let fault = if whole { BundleFault::Trailing(entries) } else { BundleFault::Entries(entries) };
            self.flaws.push(Flaw::Bundle { tile, index, fault });
        }
        hashes
    }

    /// Notes the index that an entry says it has, and what it refers to.
    fn note(&mut self, entry: &F::Entry<'_>, index: u64) {
        if let Err(says) = F::check_index(entry, index) {
            self.flaws.push(Flaw::Index { index, says });
        }
        for reference in F::references(entry).iter().copied().map(Hash) {
            if self.references.len() < REFERENCES && self.references.insert(reference) {
                self.fresh_references.push(reference);
            }
        }
    }

    fn hashes(&mut self, tile: TileId, bytes: &[u8]) -> Option<Vec<Hash>> {
        let hashes = tile.parse_hashes(bytes);
        hashes.map_err(|error| self.flaws.push(Flaw::Tile { tile, fault: TileFault::Bytes(error) })).ok()
    }

    /// The bundle and the hash tile of these 256 leaves.
    fn pair(&self, index: u64) -> [Option<TileId>; 2] {
        [F::LEVEL, Level::Hashes(0)].map(|level| TileId::covering(level, index * FULL, self.size))
    }

    /// The tiles with the largest complete subtrees between two sizes.
    fn edge(&self, from: u64, to: u64) -> impl Iterator<Item = TileId> {
        let size = self.size;
        let tile = move |(level, index): (u8, u64)| {
            TileId::covering(Level::Hashes(level / HEIGHT), index << (level % HEIGHT), size)
        };
        let mut tiles: Vec<TileId> = subtrees(from, to).filter_map(tile).collect();
        tiles.dedup();
        tiles.into_iter()
    }

    /// Appends the subtrees between two sizes, once their tiles are there; says whether they were. Without one of them the
    /// root cannot be reached.
    fn append_edge(&mut self, from: u64, to: u64) -> bool {
        let tiles: Vec<TileId> = self.edge(from, to).collect();
        if tiles.iter().any(|tile| !self.got.contains_key(&(tile.level, tile.index))) {
            return false;
        }
        let mut read = BTreeMap::new();
        for tile in tiles {
            let bytes = self.got.remove(&(tile.level, tile.index)).flatten();
            let Some(hashes) = bytes.and_then(|bytes| self.hashes(tile, &bytes)) else {
                self.stage = SweepStage::Over;
                return false;
            };
            read.insert((tile.level, tile.index), hashes);
        }
        for (level, index) in subtrees(from, to) {
            let first = index << (level % HEIGHT);
            let hashes = &read[&(Level::Hashes(level / HEIGHT), first / FULL)];
            let begin = (first % FULL) as usize;
            let subtree = root(&hashes[begin..begin + (1 << (level % HEIGHT))]);
            self.by_entries.append_subtree(level, subtree);
            if let Some(by_tiles) = &mut self.by_tiles {
                by_tiles.append_subtree(level, subtree);
            }
        }
        true
    }
}

/// The roots of a tile's hashes.
fn candidates(hashes: &[Candidates]) -> Candidates {
    let by = |side: usize| root(&hashes.iter().map(|hash| hash[side]).collect::<Vec<_>>());
    let by_entries = by(0);
    let differ = hashes.iter().any(|hash| hash[0] != hash[1]);
    [by_entries, if differ { by(1) } else { by_entries }]
}

/// Differences that are told; those beyond are not.
const DIFFERING: usize = 1000;
const REFERENCES: usize = 4096;

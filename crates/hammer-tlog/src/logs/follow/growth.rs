//! A tree that grows, by its tiles.

use std::collections::BTreeMap;

use super::event::{Event, Evidence, TileFault, Unproved};
use super::false_proofs::PROOFS;
use super::head::Head;
use super::{Bundles, ProofMethod, Trusted};
use crate::hash::Hash;
use crate::logs::merkle::{Frontier, MerkleError};
use crate::logs::tile::{FULL_WIDTH, HEIGHT, Level, TileId, root};

/// Leaves that are read one by one for one head; a tree that claims more is not believed without other proof.
const LEAVES: u64 = 1 << 26;

const FULL: u64 = FULL_WIDTH as u64;

/// A head that is being proved by tiles.
#[derive(Debug)]
pub(super) struct Growth {
    pub(super) head: Head,
    by: ProofMethod,
    bundles: Bundles,
    /// Leaves of the older tree.
    from: u64,
    stage: GrowthStage,
    wanted: BTreeMap<(Level, u64), Wanted>,
    tiles: BTreeMap<(Level, u64), Vec<Hash>>,
    /// Upper tiles that did not lead to the root, to be told from good ones by the leaves.
    suspects: BTreeMap<(Level, u64), Vec<Hash>>,
    /// Consistency proofs that did not hold.
    refused: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrowthStage {
    /// The largest complete subtrees that the new tree adds.
    Edges,
    /// All leaf hashes that it adds.
    Leaves,
    /// The entries themselves, since their hashes in tiles do not lead to the root.
    Bundles,
}

#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// As wide as the tree has it.
    tile: TileId,
    /// Whether only the full tile in its place is served.
    full: bool,
}

pub(super) enum Outcome {
    /// Tiles are wanted.
    Wants,
    /// Another stage has started.
    Again,
    /// The head continues the trusted one.
    Proved { trusted: Box<Trusted>, leaves: Vec<Hash> },
    /// It does not, or not provably.
    Refused(Box<Event>),
}

impl Growth {
    /// The first head, to be shown to be that of a tree by that tree's edges.
    pub(super) fn first(head: Head, by: ProofMethod, bundles: Bundles) -> Self {
        let mut growth = Self::bare(0, head, (by, bundles), GrowthStage::Edges);
        growth.want_edges();
        if by == ProofMethod::Leaves && !growth.head.size.is_multiple_of(FULL) {
            growth.want(Level::Hashes(0), growth.head.size / FULL);
        }
        growth
    }

    /// Fails with the number of leaves where that is more than can be read.
    pub(super) fn new(trusted: &Trusted, head: Head, by: ProofMethod, bundles: Bundles) -> Result<Self, u64> {
        let from = trusted.head.size;
        let mut growth = Self::bare(from, head, (by, bundles), GrowthStage::Leaves);
        match by {
            ProofMethod::Leaves if growth.leaves() > LEAVES => return Err(growth.leaves()),
            ProofMethod::Leaves => growth.want_items(Level::Hashes(0)),
            ProofMethod::Edges => {
                growth.stage = GrowthStage::Edges;
                growth.want_edges();
            }
            ProofMethod::Proofs => {}
        }
        Ok(growth)
    }

    /// The tree of `head`, to be shown to have the tree of its first `from` leaves as a prefix (see [`Growth::roots`]).
    pub(super) fn since(from: u64, head: Head, by: ProofMethod, bundles: Bundles) -> Self {
        let mut growth = Self::bare(from, head, (by, bundles), GrowthStage::Edges);
        growth.want_edges();
        growth.want_subtrees(0, from);
        growth
    }

    fn bare(from: u64, head: Head, (by, bundles): (ProofMethod, Bundles), stage: GrowthStage) -> Self {
        let (wanted, tiles, suspects, refused) = Default::default();
        Self { head, by, bundles, from, stage, wanted, tiles, suspects, refused }
    }

    /// How many consistency proofs did not hold.
    pub(super) fn refused(&self) -> u32 {
        self.refused
    }

    /// Takes that a consistency proof does not hold; whether another one is worth asking for.
    pub(super) fn refuse_proof(&mut self) -> bool {
        self.refused += 1;
        self.refused < PROOFS
    }

    /// The roots of the first `from` leaves and of all, once nothing is wanted any more.
    pub(super) fn roots(&self) -> Option<(Hash, Hash)> {
        if !self.wanted.is_empty() {
            return None;
        }
        let prefix = self.extended(Frontier::new(), self.from);
        Some((prefix.root(), self.grown_by_edges(prefix).root()))
    }

    fn leaves(&self) -> u64 {
        self.head.size - self.from
    }

    pub(super) fn wanted(&self) -> Vec<TileId> {
        let asked = |wanted: &Wanted| if wanted.full { wanted.tile.full() } else { wanted.tile };
        self.wanted.values().map(asked).collect()
    }

    /// Takes a tile's bytes; fails with the tile and what is wrong with it.
    pub(super) fn tile(&mut self, tile: TileId, bytes: &[u8]) -> Result<(), (TileId, TileFault)> {
        let key = (tile.level, tile.index);
        let Some(wanted) = self.wanted.get(&key).copied() else { return Ok(()) };
        let hashes = match tile.level {
            level if level == self.bundles.level => (self.bundles.leaf_hashes)(bytes, wanted.tile.width),
            _ => wanted.tile.parse_hashes(bytes).map_err(|error| (tile, TileFault::Bytes(error)))?,
        };
        self.wanted.remove(&key);
        self.tiles.insert(key, hashes);
        Ok(())
    }

    /// The tile as the tree has it, where nothing is left to ask for in its place.
    pub(super) fn missing(&mut self, tile: TileId) -> Option<TileId> {
        let wanted = self.wanted.get_mut(&(tile.level, tile.index))?;
        if !tile.is_full() {
            wanted.full = true;
            return None;
        }
        // Without its entries, what is wrong with a tile cannot be told from a fork.
        Some(wanted.tile)
    }

    pub(super) fn step(&mut self, trusted: Option<&Trusted>) -> (Vec<Event>, Outcome) {
        if !self.wanted.is_empty() {
            return (Vec::new(), Outcome::Wants);
        }
        match (self.stage, trusted) {
            (GrowthStage::Edges, None) => (Vec::new(), self.judge_first()),
            (GrowthStage::Edges, Some(trusted)) => (Vec::new(), self.judge_edges(trusted)),
            (GrowthStage::Leaves, Some(trusted)) => self.judge_leaves(trusted),
            (GrowthStage::Bundles, Some(trusted)) => self.judge_bundles(trusted),
            (GrowthStage::Leaves | GrowthStage::Bundles, None) => (Vec::new(), Outcome::Wants),
        }
    }

    fn judge_first(&self) -> Outcome {
        let frontier = self.grown_by_edges(Frontier::new());
        let computed = frontier.root();
        if computed != self.head.root {
            let error = MerkleError::RootMismatch { computed, expected: self.head.root };
            let reason = Unproved::Proof(error);
            return refused(Event::Unproved { head: self.head.clone(), reason });
        }
        let tail = match self.by {
            ProofMethod::Leaves => self.tail(),
            ProofMethod::Edges | ProofMethod::Proofs => Vec::new(),
        };
        self.proved(frontier, tail, Vec::new())
    }

    fn judge_edges(&mut self, trusted: &Trusted) -> Outcome {
        let frontier = self.grown_by_edges(trusted.frontier.clone());
        if frontier.root() == self.head.root {
            return self.proved(frontier, Vec::new(), Vec::new());
        }
        if self.leaves() > LEAVES {
            let reason = Unproved::Growth { leaves: self.leaves() };
            return refused(Event::Unproved { head: self.head.clone(), reason });
        }
        self.suspects = std::mem::take(&mut self.tiles);
        self.stage = GrowthStage::Leaves;
        self.want_items(Level::Hashes(0));
        Outcome::Again
    }

    fn judge_leaves(&mut self, trusted: &Trusted) -> (Vec<Event>, Outcome) {
        let leaves = self.added(Level::Hashes(0));
        let mut frontier = trusted.frontier.clone();
        frontier.extend(leaves.iter().copied());
        if frontier.root() == self.head.root {
            let mut events = self.tampered_tail(trusted);
            events.extend(self.tampered_suspects(&leaves));
            return (events, self.proved_by(trusted, frontier, leaves));
        }
        if self.rewritten(trusted, Level::Hashes(0)) {
            return (Vec::new(), self.forked(trusted, Evidence::Rewritten));
        }
        self.stage = GrowthStage::Bundles;
        self.want_items(self.bundles.level);
        (Vec::new(), Outcome::Again)
    }

    /// The hash tiles do not lead to the root. Where the entries do, tiles are tampered with, and the entries are believed;
    /// where they do not either, the root is not that of what the log serves.
    fn judge_bundles(&self, trusted: &Trusted) -> (Vec<Event>, Outcome) {
        let leaves = self.added(self.bundles.level);
        let mut frontier = trusted.frontier.clone();
        frontier.extend(leaves.iter().copied());
        let computed = frontier.root();
        if frontier.size() != self.head.size || computed != self.head.root {
            let rewritten = self.rewritten(trusted, self.bundles.level);
            let evidence = if rewritten { Evidence::Rewritten } else { Evidence::Root { computed } };
            return (Vec::new(), self.forked(trusted, evidence));
        }
        let mut events = self.tampered_tail(trusted);
        for tile in self.items(Level::Hashes(0)) {
            let Some(expected) = self.tiles.get(&(self.bundles.level, tile.index)) else { continue };
            let skip = self.from.saturating_sub(tile.first()) as usize;
            events.extend(self.tampered(tile, skip, &expected[skip..]));
        }
        (events, self.proved_by(trusted, frontier, leaves))
    }

    /// Whether the tiles lead to the new root with other leaves in the place of trusted ones.
    fn rewritten(&self, trusted: &Trusted, level: Level) -> bool {
        let mut frontier = trusted.frontier.aligned(HEIGHT);
        frontier.extend(self.items(level).flat_map(|tile| self.tiles[&(level, tile.index)].iter().copied()));
        let other = frontier.size() == self.head.size && frontier.root() == self.head.root;
        other && !self.from.is_multiple_of(FULL)
    }

    /// The tile at the old edge, where it has lost leaves that it had.
    fn tampered_tail(&self, trusted: &Trusted) -> Vec<Event> {
        let edge = self.items(Level::Hashes(0)).next();
        edge.map_or(Vec::new(), |tile| self.tampered(tile, 0, &trusted.tail).collect())
    }

    /// The hashes of a tile from `skip` on that are not the ones expected there.
    fn tampered(&self, tile: TileId, skip: usize, expected: &[Hash]) -> impl Iterator<Item = Event> {
        let got = self.tiles[&(tile.level, tile.index)][skip..].iter().copied();
        let pairs = (skip as u16..).zip(got.zip(expected.iter().copied()));
        pairs.filter(|(_, (got, expected))| got != expected).map(move |(position, (got, expected))| {
            let fault = TileFault::Hash { position, got, expected };
            Event::TamperedTile { tile, fault, head: self.head.clone() }
        })
    }

    /// The upper tiles whose hashes are not those of the leaves below, now that these are proved.
    fn tampered_suspects(&self, leaves: &[Hash]) -> Vec<Event> {
        let mut events = Vec::new();
        for ((level, index), hashes) in &self.suspects {
            let Level::Hashes(height) = *level else { continue };
            let below = 1_u64 << (height * HEIGHT);
            for (position, got) in (0..).zip(hashes) {
                let begin = (index * FULL + u64::from(position)) * below;
                let Some(begin) = begin.checked_sub(self.from) else { continue };
                let Some(leaves) = leaves.get(begin as usize..(begin + below) as usize) else { continue };
                let (expected, got) = (root(leaves), *got);
                if expected != got {
                    let tile = TileId { level: *level, index: *index, width: hashes.len() as u16 };
                    let fault = TileFault::Hash { position, got, expected };
                    events.push(Event::TamperedTile { tile, fault, head: self.head.clone() });
                    break;
                }
            }
        }
        events
    }

    fn forked(&self, trusted: &Trusted, evidence: Evidence) -> Outcome {
        let (older, newer) = (trusted.head.clone(), self.head.clone());
        refused(Event::Forked { older, newer, evidence })
    }

    /// As [`Growth::proved`], by leaves of which not all need be in the tiles.
    fn proved_by(&self, trusted: &Trusted, frontier: Frontier, leaves: Vec<Hash>) -> Outcome {
        if self.by != ProofMethod::Leaves {
            return self.proved(frontier, Vec::new(), Vec::new());
        }
        let width = (self.head.size % FULL) as usize;
        let older = width.saturating_sub(leaves.len());
        let mut tail = trusted.tail[trusted.tail.len() - older..].to_vec();
        tail.extend_from_slice(&leaves[leaves.len() - (width - older)..]);
        self.proved(frontier, tail, leaves)
    }

    fn proved(&self, frontier: Frontier, tail: Vec<Hash>, leaves: Vec<Hash>) -> Outcome {
        let trusted = Box::new(Trusted { head: self.head.clone(), frontier, tail });
        Outcome::Proved { trusted, leaves }
    }

    /// The leaf hashes of the partial tile at the new edge.
    fn tail(&self) -> Vec<Hash> {
        let width = (self.head.size % FULL) as usize;
        let tile = self.tiles.get(&(Level::Hashes(0), self.head.size / FULL));
        tile.map_or(Vec::new(), |hashes| hashes[..width].to_vec())
    }

    /// The leaf hashes that the new tree adds, from tiles of this level.
    fn added(&self, level: Level) -> Vec<Hash> {
        let mut leaves = Vec::with_capacity(self.leaves() as usize);
        for tile in self.items(level) {
            let skip = self.from.saturating_sub(tile.first()) as usize;
            leaves.extend(self.tiles[&(level, tile.index)].iter().skip(skip));
        }
        leaves
    }

    fn grown_by_edges(&self, frontier: Frontier) -> Frontier {
        self.extended(frontier, self.head.size)
    }

    /// The frontier, extended to `size` leaves by the largest subtrees.
    fn extended(&self, mut frontier: Frontier, size: u64) -> Frontier {
        for (level, index) in subtrees(frontier.size(), size) {
            let (tile, height) = (level / HEIGHT, level % HEIGHT);
            let first = index << height;
            let hashes = &self.tiles[&(Level::Hashes(tile), first / FULL)];
            let begin = (first % FULL) as usize;
            frontier.append_subtree(level, root(&hashes[begin..begin + (1 << height)]));
        }
        frontier
    }

    /// The tiles with an item for each leaf that the new tree adds.
    fn items(&self, level: Level) -> impl Iterator<Item = TileId> {
        let size = self.head.size;
        (self.from / FULL..size.div_ceil(FULL))
            .filter_map(move |index| TileId::covering(level, index * FULL, size))
    }

    fn want_items(&mut self, level: Level) {
        let wanted = self.items(level).map(|tile| ((level, tile.index), Wanted { tile, full: false }));
        self.wanted.extend(wanted.collect::<Vec<_>>());
    }

    fn want_edges(&mut self) {
        self.want_subtrees(self.from, self.head.size);
    }

    fn want_subtrees(&mut self, from: u64, to: u64) {
        for (level, index) in subtrees(from, to) {
            self.want(Level::Hashes(level / HEIGHT), (index << (level % HEIGHT)) / FULL);
        }
    }

    fn want(&mut self, level: Level, index: u64) {
        if let Some(tile) = TileId::covering(level, index * FULL, self.head.size) {
            self.wanted.insert((level, index), Wanted { tile, full: false });
        }
    }
}

/// The largest complete subtrees that follow `from` leaves up to `to`, as level and index.
pub(crate) fn subtrees(mut from: u64, to: u64) -> impl Iterator<Item = (u8, u64)> {
    std::iter::from_fn(move || {
        let level = (to - from).checked_ilog2()?.min(from.trailing_zeros()) as u8;
        let index = from >> level;
        from += 1 << level;
        Some((level, index))
    })
}

fn refused(event: Event) -> Outcome {
    Outcome::Refused(Box::new(event))
}

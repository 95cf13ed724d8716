use std::collections::HashMap;

use hammer_audit::{HeadFault, OpenedHead};
use hammer_core::promise::Fault;
use hammer_tlog::logs::merkle::{Frontier, Hash};
use hammer_tlog::logs::tile::{FULL_WIDTH, Level, TileId, TileReader, root};

use crate::broken::{TAMPERED_TILE, unverified};
use crate::part::Part;

/// A tree whose head the log signed, and tiles that are known to be of it.
#[derive(Debug)]
pub struct ProvedTree {
    raw: Vec<u8>,
    /// The head, whose signature holds.
    pub head: OpenedHead,
    proved: HashMap<(Level, u64), Vec<u8>>,
}

/// Trees of several shards, and of heads that follow each other: what is known of each, the last one used at the end.
#[derive(Debug, Default)]
pub struct ProvedTrees {
    trees: Vec<ProvedTree>,
}

/// The hashes of tiles, as wide as the tree has them.
pub(crate) type Tiles = HashMap<(Level, u64), Vec<Hash>>;

impl ProvedTrees {
    /// The tree of a head, which `open` reads and verifies when it is met first.
    ///
    /// # Errors
    /// When it is not the log's.
    pub fn of(
        &mut self,
        raw: &[u8],
        open: impl FnOnce(&[u8]) -> Result<OpenedHead, HeadFault>,
    ) -> Result<&mut ProvedTree, Fault> {
        let known = self.trees.iter().position(|tree| tree.raw == raw);
        let tree = match known {
            Some(place) => self.trees.remove(place),
            None => {
                let head = open(raw)
                    .map_err(|why| Fault::new(why.breach.unwrap_or("tree-head"), why.to_string()))?;
                if self.trees.len() == MOST_TREES {
                    self.trees.remove(0);
                }
                ProvedTree::new(raw, head)
            }
        };
        self.trees.push(tree);
        self.trees.last_mut().ok_or_else(unverified)
    }
}

impl ProvedTree {
    fn new(raw: &[u8], head: OpenedHead) -> Self {
        Self { raw: raw.to_vec(), head, proved: HashMap::new() }
    }

    /// Proves that tiles are of this tree: the partial ones, which are its whole edge, by its root; each full one by its
    /// hash in the tile above it. Returns their hashes.
    ///
    /// # Errors
    /// [`TAMPERED_TILE`](crate::TAMPERED_TILE), with the tile.
    pub fn prove(&mut self, parts: &[Part<'_>]) -> Result<HashMap<(Level, u64), Vec<Hash>>, Fault> {
        let mut tiles = Tiles::new();
        for part in parts {
            let tile = part.id();
            let hashes =
                tile.parse_hashes(part.bytes).map_err(|why| Fault::new(TAMPERED_TILE, why.to_string()))?;
            tiles.insert((tile.level, tile.index), hashes);
        }
        let new = |tree: &Self, part: &&Part<'_>| !tree.knows(part);
        let (full, edges): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.id().is_full());
        if edges.iter().any(|edge| new(self, edge)) {
            self.prove_edges(&edges, &tiles)?;
        }
        let mut full: Vec<_> = full.into_iter().filter(|part| new(self, part)).collect();
        full.sort_by_key(|part| std::cmp::Reverse(part.level));
        for part in full {
            self.prove_full(part, &tiles)?;
        }
        Ok(tiles)
    }

    fn prove_edges(&mut self, edges: &[&Part<'_>], tiles: &Tiles) -> Result<(), Fault> {
        let reader = TileReader::new(|level, index| tiles.get(&(Level::Hashes(level), index)).cloned());
        let OpenedHead { size, root, .. } = self.head;
        let found = Frontier::at(&reader, size).map(|frontier| frontier.root());
        if found == Ok(root) {
            edges.iter().for_each(|edge| self.keep(edge));
            return Ok(());
        }
        let names: Vec<String> = edges.iter().map(|edge| edge.id().path()).collect();
        let detail = format!("{} do not lead to the root {root} of size {size}", names.join(", "));
        Err(Fault::new(TAMPERED_TILE, detail))
    }

    /// The tiles above it were proved before, and the topmost of them is at the edge.
    fn prove_full(&mut self, part: &Part<'_>, tiles: &Tiles) -> Result<(), Fault> {
        let tile = part.id();
        let full = u64::from(FULL_WIDTH);
        let above = (Level::Hashes(part.level + 1), tile.index / full);
        let expected = tiles.get(&above).and_then(|hashes| hashes.get((tile.index % full) as usize));
        let found = tiles.get(&(tile.level, tile.index)).map(|hashes| root(hashes));
        if expected.is_none() || found.as_ref() != expected {
            let OpenedHead { size, root, .. } = self.head;
            return Err(Fault::new(
                TAMPERED_TILE,
                format!("{tile} does not lead to the root {root} of size {size}"),
            ));
        }
        if part.level > 0 {
            self.keep(part);
        }
        Ok(())
    }

    fn knows(&self, part: &Part<'_>) -> bool {
        self.proved.get(&key(part.id())).is_some_and(|proved| proved == part.bytes)
    }

    fn keep(&mut self, part: &Part<'_>) {
        if self.proved.len() == MOST_PROVED {
            self.proved.clear();
        }
        self.proved.insert(key(part.id()), part.bytes.to_vec());
    }
}

fn key(tile: TileId) -> (Level, u64) {
    (tile.level, tile.index)
}

/// Two mebibytes for each tree.
const MOST_PROVED: usize = 256;
const MOST_TREES: usize = 8;

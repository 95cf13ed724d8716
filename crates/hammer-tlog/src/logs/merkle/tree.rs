//! A tree in memory.

use super::node::node_hash;
use super::proof::NodeReader;
use crate::hash::Hash;

/// A tree in memory: the hash of every complete subtree, 64 bytes a leaf; whole, unless it was told to forget.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    levels: Vec<Nodes>,
}

/// The roots of the leaves from `i << l` on, 2^l of them, for every i from `first` on.
#[derive(Debug, Clone, Default)]
struct Nodes {
    /// A multiple of [`ALIGNED`], so even.
    first: u64,
    nodes: Vec<Hash>,
}

impl Tree {
    /// The tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the hash of the next leaf.
    pub fn append(&mut self, leaf: Hash) {
        let mut node = leaf;
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(Nodes::default());
            }
            let nodes = &mut self.levels[level].nodes;
            nodes.push(node);
            let [.., left, right] = nodes.as_slice() else { break };
            if nodes.len() % 2 == 1 {
                break;
            }
            node = node_hash(left, right);
        }
    }

    /// Lets go of the nodes that say nothing about the leaves from `leaf` on, nor about trees of at least `leaf` leaves:
    /// the proofs of those leaves in those trees, and the tiles that hold them, can still be made. Memory is then of
    /// the order of the leaves that are left.
    ///
    /// # Panics
    /// When the tree has fewer leaves.
    pub fn forget_before(&mut self, leaf: u64) {
        assert!(leaf <= self.size(), "only leaves that are there can be forgotten");
        for (level, nodes) in self.levels.iter_mut().enumerate() {
            // The left neighbour is a sibling on audit paths, and part of the edge.
            nodes.forget_before((leaf >> level).saturating_sub(1));
        }
    }

    /// Leaves so far, forgotten or not.
    pub fn size(&self) -> u64 {
        self.levels.first().map_or(0, Nodes::end)
    }

    /// The leaf hashes, of those that are not forgotten.
    pub fn leaves(&self) -> &[Hash] {
        self.level(0)
    }

    /// The roots of all complete subtrees of 2^level leaves that are not forgotten, in order.
    pub fn level(&self, level: u8) -> &[Hash] {
        self.levels.get(usize::from(level)).map_or(&[], |nodes| nodes.nodes.as_slice())
    }

    /// The roots of `count` neighbouring subtrees of 2^level leaves; a hash tile is a stretch of level 0, 8, 16, ... None
    /// when one of them is not complete, or forgotten.
    pub fn stretch(&self, level: u8, first: u64, count: usize) -> Option<&[Hash]> {
        let nodes = self.levels.get(usize::from(level))?;
        let begin = usize::try_from(first.checked_sub(nodes.first)?).ok()?;
        nodes.nodes.get(begin..)?.get(..count)
    }
}

impl NodeReader for Tree {
    fn node(&self, level: u8, index: u64) -> Option<Hash> {
        self.stretch(level, index, 1)?.first().copied()
    }
}

impl FromIterator<Hash> for Tree {
    fn from_iter<I: IntoIterator<Item = Hash>>(leaves: I) -> Self {
        let mut tree = Self::new();
        leaves.into_iter().for_each(|leaf| tree.append(leaf));
        tree
    }
}

impl Nodes {
    fn end(&self) -> u64 {
        self.first + self.nodes.len() as u64
    }

    fn forget_before(&mut self, index: u64) {
        let first = index / ALIGNED * ALIGNED;
        let gone = first.saturating_sub(self.first) as usize;
        // What stays is moved, so that it pays only where that is less.
        if gone > self.nodes.len() / 2 {
            self.nodes.drain(..gone);
            self.first = first;
        }
    }
}

/// The width of a tile, so that the tiles of what is kept are whole.
const ALIGNED: u64 = 256;

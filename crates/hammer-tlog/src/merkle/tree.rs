use super::{Hash, NodeReader, node_hash};

/// A whole tree in memory: the hash of every complete subtree, 64 bytes a leaf.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// `levels[l][i]` is the root of the leaves from `i << l` on, 2^l of them.
    levels: Vec<Vec<Hash>>,
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
                self.levels.push(Vec::new());
            }
            let nodes = &mut self.levels[level];
            nodes.push(node);
            let [.., left, right] = nodes.as_slice() else { break };
            if nodes.len() % 2 == 1 {
                break;
            }
            node = node_hash(left, right);
        }
    }

    /// Leaves so far.
    pub fn size(&self) -> u64 {
        self.leaves().len() as u64
    }

    /// The leaf hashes.
    pub fn leaves(&self) -> &[Hash] {
        self.level(0)
    }

    /// The roots of all complete subtrees of 2^level leaves, in order; a hash tile is a stretch of level 0, 8, 16, ...
    pub fn level(&self, level: u8) -> &[Hash] {
        self.levels.get(usize::from(level)).map_or(&[], Vec::as_slice)
    }
}

impl NodeReader for Tree {
    fn node(&self, level: u8, index: u64) -> Option<Hash> {
        self.level(level).get(usize::try_from(index).ok()?).copied()
    }
}

impl FromIterator<Hash> for Tree {
    fn from_iter<I: IntoIterator<Item = Hash>>(leaves: I) -> Self {
        let mut tree = Self::new();
        leaves.into_iter().for_each(|leaf| tree.append(leaf));
        tree
    }
}

//! The tree with its bundles, and the batch that waits to be in it.

use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use hammer_tlog::logs::{
    merkle::{Hash, Tree},
    tile::{HEIGHT, Level, TileId, encode_hashes},
};

use crate::rekor_tiles::{bundles::Bundles, plan::RekorTilesLabPlan};

/// Everything that was accepted.
#[derive(Debug, Default)]
pub(super) struct TilesTree {
    tree: Tree,
    /// The tree that is served and signed in the place of `tree`, once the log has forked.
    pub(super) fork: Option<Tree>,
    /// The tree whose tiles are served, where that is not the one of heads and proofs.
    pub(super) shown: Option<Tree>,
    pub(super) bundles: Bundles,
    /// The index of each leaf that was accepted, sequenced or not.
    indices: HashMap<Hash, u64>,
    batch: Vec<QueuedLeaf>,
    /// Since when the batch waits.
    since: Duration,
}

/// A leaf that waits for its batch.
#[derive(Debug)]
pub(super) struct QueuedLeaf {
    pub(super) leaf_hash: Hash,
    pub(super) body: Vec<u8>,
}

impl TilesTree {
    pub(super) fn index(&self, leaf: &Hash) -> Option<u64> {
        self.indices.get(leaf).copied()
    }

    /// Leaves that wait to be sequenced.
    pub(super) fn waiting(&self) -> usize {
        self.batch.len()
    }

    /// The index that the next leaf gets.
    pub(super) fn next_index(&self) -> u64 {
        self.tree.size() + self.batch.len() as u64
    }

    /// The tree that heads, proofs and tiles are of.
    pub(super) fn served(&self) -> &Tree {
        self.fork.as_ref().unwrap_or(&self.tree)
    }

    /// Queues a leaf that is known as `accepted`.
    pub(super) fn enqueue(&mut self, accepted: Hash, queued: QueuedLeaf, now: Duration) {
        self.indices.insert(accepted, self.next_index());
        if self.batch.is_empty() {
            self.since = now;
        }
        self.batch.push(queued);
    }

    /// When the batch is due; none where nothing waits.
    pub(super) fn due(&self, plan: &RekorTilesLabPlan) -> Option<Duration> {
        match self.batch.len() {
            0 => None,
            full if full >= plan.batch_max_size.get() => Some(Duration::ZERO),
            _ => Some(self.since + plan.batch_max_age.duration()),
        }
    }

    /// Makes leaves of the batch.
    pub(super) fn integrate(&mut self) {
        for QueuedLeaf { leaf_hash, body } in self.batch.drain(..) {
            self.tree.append(leaf_hash);
            self.fork.iter_mut().chain(&mut self.shown).for_each(|other| other.append(leaf_hash));
            self.bundles.push(&body);
        }
    }

    /// The bytes of a tile or an entry bundle, if they are there.
    pub(super) fn tile(&self, tile: &TileId) -> Option<Bytes> {
        match tile.level {
            Level::Entries => self.bundles.bundle(tile),
            Level::Hashes(level) => {
                let level = level.checked_mul(HEIGHT)?;
                let shown = self.shown.as_ref().unwrap_or(self.served());
                let hashes = shown.stretch(level, tile.first(), usize::from(tile.width))?;
                Some(encode_hashes(hashes).into())
            }
            Level::Data | Level::Names => None,
        }
    }
}

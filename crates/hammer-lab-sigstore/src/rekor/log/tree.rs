//! The tree with its entries, and what waits to be in it.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use hammer_tlog::logs::merkle::{Hash, Tree, inclusion_proof};
use tokio::sync::oneshot;

use crate::rekor::{checkpoint::SignedHead, entry::LoggedEntry};

/// Everything that was accepted.
#[derive(Debug)]
pub(crate) struct RekorTree {
    tree: Tree,
    /// The tree that is served and signed in the place of `tree`, once the log has forked.
    pub(crate) fork: Option<Tree>,
    /// What log information and proofs are of, once the tree has shrunk.
    pub(crate) shrunk: Option<Arc<SignedHead>>,
    /// The newest head.
    pub(crate) head: Arc<SignedHead>,
    /// The heads that somebody may still serve who lags behind, each with when there was a newer one; the oldest first.
    older: VecDeque<(Duration, Arc<SignedHead>)>,
    entries: Vec<(Arc<LoggedEntry>, u64)>,
    indices: HashMap<Hash, u64>,
    /// What was accepted, integrated or not, and never will be.
    accepted: HashSet<Hash>,
    found: HashMap<String, Vec<u64>>,
    pending: Vec<PendingEntry>,
}

/// An entry that waits, and who waits for it.
#[derive(Debug)]
pub(crate) struct PendingEntry {
    pub(crate) entry: Arc<LoggedEntry>,
    pub(crate) integrated: oneshot::Sender<IntegratedEntry>,
}

/// An entry with its proof in a tree.
#[derive(Debug, Clone)]
pub(crate) struct IntegratedEntry {
    pub(crate) entry: Arc<LoggedEntry>,
    pub(crate) log_index: u64,
    /// Seconds since the Unix epoch.
    pub(crate) integrated_time: u64,
    pub(crate) head: Arc<SignedHead>,
    pub(crate) path: Vec<Hash>,
}

impl RekorTree {
    /// The tree without leaves, and its head.
    pub(crate) fn new(head: SignedHead) -> Self {
        Self {
            tree: Tree::new(),
            fork: None,
            shrunk: None,
            older: VecDeque::new(),
            head: Arc::new(head),
            entries: Vec::new(),
            indices: HashMap::new(),
            accepted: HashSet::new(),
            found: HashMap::new(),
            pending: Vec::new(),
        }
    }

    pub(crate) fn knows(&self, leaf: &Hash) -> bool {
        self.accepted.contains(leaf)
    }

    /// Entries accepted so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted.len() as u64
    }

    /// Entries that wait to be integrated.
    pub(crate) fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// Entries in the tree.
    pub(crate) fn size(&self) -> u64 {
        self.tree.size()
    }

    /// The tree that heads and proofs are of.
    pub(crate) fn served(&self) -> &Tree {
        self.fork.as_ref().unwrap_or(&self.tree)
    }

    /// Replaces the newest head; one that was replaced stays known for `lag`.
    pub(super) fn publish(&mut self, head: Arc<SignedHead>, now: Duration, lag: Duration) {
        let older = std::mem::replace(&mut self.head, head);
        self.older.push_back((now, older));
        while self.older.front().is_some_and(|(replaced_at, _)| *replaced_at + lag < now) {
            self.older.pop_front();
        }
    }

    /// The newest head as it was then.
    pub(super) fn head_as_of(&self, then: Duration) -> Arc<SignedHead> {
        let older = self.older.iter().find(|(replaced_at, _)| *replaced_at > then).map(|(_, head)| head);
        let newest = older.unwrap_or(&self.head);
        Arc::clone(self.shrunk.as_ref().unwrap_or(newest))
    }

    pub(super) fn enqueue(&mut self, pending: PendingEntry) {
        self.accepted.insert(pending.entry.leaf_hash);
        self.pending.push(pending);
    }

    pub(super) fn take_pending(&mut self) -> Vec<PendingEntry> {
        std::mem::take(&mut self.pending)
    }

    /// Appends an entry, and says at which index.
    pub(super) fn append(&mut self, entry: Arc<LoggedEntry>, integrated_time: u64) -> u64 {
        let index = self.tree.size();
        self.tree.append(entry.leaf_hash);
        if let Some(fork) = &mut self.fork {
            fork.append(entry.leaf_hash);
        }
        self.indices.insert(entry.leaf_hash, index);
        for key in &entry.keys {
            self.found.entry(key.clone()).or_default().push(index);
        }
        self.entries.push((entry, integrated_time));
        index
    }

    /// The entry with its proof in the newest tree.
    pub(crate) fn integrated(
        &self,
        log_index: u64,
        entry: Arc<LoggedEntry>,
        integrated_time: u64,
    ) -> IntegratedEntry {
        let path = self.path(log_index, self.head.size);
        IntegratedEntry { entry, log_index, integrated_time, head: Arc::clone(&self.head), path }
    }

    /// The audit path of a leaf.
    pub(super) fn path(&self, index: u64, size: u64) -> Vec<Hash> {
        // A tree in memory holds all of its own nodes.
        inclusion_proof(self.served(), index, size).unwrap_or_default()
    }

    /// The entry at an index, with its proof.
    pub(crate) fn at(&self, log_index: u64) -> Option<IntegratedEntry> {
        let (entry, integrated_time) = self.entries.get(usize::try_from(log_index).ok()?)?;
        Some(self.integrated(log_index, Arc::clone(entry), *integrated_time))
    }

    /// The body of the entry at an index, in base64.
    pub(crate) fn body(&self, log_index: u64) -> Option<String> {
        let (entry, _) = self.entries.get(usize::try_from(log_index).ok()?)?;
        Some(entry.body.clone())
    }

    /// The entry of a leaf hash, with its proof.
    pub(crate) fn of_leaf(&self, leaf: &Hash) -> Option<IntegratedEntry> {
        self.at(*self.indices.get(leaf)?)
    }

    /// The entries that are found under a key, the newest first.
    pub(crate) fn found(&self, key: &str) -> impl Iterator<Item = &LoggedEntry> {
        let found = self.found.get(key).map(Vec::as_slice).unwrap_or_default();
        let entry = |index: &u64| self.entries.get(usize::try_from(*index).ok()?);
        found.iter().rev().filter_map(entry).map(|(entry, _)| &**entry)
    }
}

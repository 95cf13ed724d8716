//! The log: what is accepted waits for its batch, and then for the checkpoint that covers it.

mod tree;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hammer_lab::{Clock, LabError, LabStats};
use hammer_messages::rekor::{
    Checkpoint, CreateEntryRequest, InclusionProof, KindVersion, LogId, TransparencyLogEntry,
};
use hammer_tlog::logs::{
    merkle::{EMPTY_ROOT, Hash, inclusion_proof, leaf_hash, root_from_inclusion, sha256},
    tile::TileId,
};
use tokio::sync::{Notify, watch};

use super::{
    canonical::{TilesEntry, VERSION},
    plan::{CheckpointKey, RekorTilesLabPlan, RekorTilesLieKind},
    refusal::TilesRefusal,
};
use crate::rekor::{
    checkpoint::{CheckpointSigner, SignedHead},
    lie::{EntryLies, ToldRekorLie, altered_path, forked},
};
use hammer_lab_authority::LabSigner;

use tree::{QueuedLeaf, TilesTree};

/// A log without its server.
#[derive(Debug)]
pub(super) struct TilesLog {
    pub(super) checkpoints: CheckpointSigner,
    pub(super) lies: EntryLies<RekorTilesLieKind>,
    plan: RekorTilesLabPlan,
    clock: Arc<dyn Clock>,
    accepted: AtomicU64,
    checkpoints_read: AtomicU64,
    tree: Mutex<TilesTree>,
    queued: Notify,
    /// Changed only under the lock of `tree`, whose served tree it is the head of.
    published: watch::Sender<Arc<SignedHead>>,
    /// What was published, and when: the last is older than a replica lags, or the only one.
    history: Mutex<VecDeque<(Duration, Arc<SignedHead>)>>,
    /// What is served in its place, once the log was rolled back.
    rolled_back: OnceLock<SignedHead>,
}

/// Where an entry is, or will be.
struct Promise {
    index: u64,
    lie: Option<RekorTilesLieKind>,
}

impl TilesLog {
    pub(super) fn new(plan: RekorTilesLabPlan, clock: Arc<dyn Clock>) -> Result<Self, LabError> {
        let signer = match plan.key {
            CheckpointKey::Ed25519 => LabSigner::ed25519(PURPOSE, plan.key_seed)?,
            CheckpointKey::P256 => LabSigner::p256(PURPOSE, plan.key_seed)?,
        };
        let checkpoints = CheckpointSigner::new(signer, plan.hostname.clone(), plan.hostname.clone());
        let empty = Arc::new(checkpoints.sign(0, EMPTY_ROOT));
        Ok(Self {
            checkpoints,
            lies: EntryLies::new(plan.lies.clone(), clock.elapsed()),
            plan,
            clock,
            accepted: AtomicU64::new(0),
            checkpoints_read: AtomicU64::new(0),
            tree: Mutex::default(),
            queued: Notify::new(),
            history: Mutex::new(VecDeque::from([(Duration::ZERO, empty.clone())])),
            published: watch::Sender::new(empty),
            rolled_back: OnceLock::new(),
        })
    }

    /// Takes an entry, and completes once a checkpoint covers it.
    pub(super) async fn create(
        &self,
        request: CreateEntryRequest,
    ) -> Result<TransparencyLogEntry, TilesRefusal> {
        if self.plan.frozen {
            return Err(TilesRefusal::frozen());
        }
        let entry = TilesEntry::propose(request)?;
        let leaf = leaf_hash(&entry.body);
        match self.enqueue(&entry, leaf)? {
            Err(index) => {
                self.covered(index).await?;
                Err(TilesRefusal::duplicate(index))
            }
            Ok(promise) => {
                self.queued.notify_one();
                self.covered(promise.index).await?;
                self.accepted.fetch_add(1, Ordering::Relaxed);
                Ok(self.promised(entry, &leaf, &promise))
            }
        }
    }

    /// The index of a new entry, or else that of the entry that is there already.
    fn enqueue(&self, entry: &TilesEntry, leaf: Hash) -> Result<Result<Promise, u64>, TilesRefusal> {
        let mut tree = self.lock();
        if let Some(index) = tree.index(&leaf) {
            return Ok(Err(index));
        }
        if tree.waiting() >= self.plan.pushback_max_outstanding {
            return Err(TilesRefusal::pushback());
        }
        let index = tree.next_index();
        // There is no other entry's body to answer with.
        let lie = self.lies.next_entry(self.clock.elapsed());
        let of_another = [
            RekorTilesLieKind::AnotherBody,
            RekorTilesLieKind::ForkedAnswer,
            RekorTilesLieKind::FalseDuplicate,
        ];
        let lie = lie.filter(|lie| !of_another.contains(lie) || index > 0);
        if lie == Some(RekorTilesLieKind::FalseDuplicate) {
            self.tell(RekorTilesLieKind::FalseDuplicate, Some((index - 1, leaf)), None);
            return Ok(Err(index - 1));
        }
        let is_altered = matches!(lie, Some(RekorTilesLieKind::LostEntry | RekorTilesLieKind::AlteredBundle));
        let body = if is_altered { TilesEntry::altered(&entry.body) } else { entry.body.clone() };
        let lost = lie == Some(RekorTilesLieKind::LostEntry);
        let stands = if lost { leaf_hash(&body) } else { leaf };
        tree.enqueue(leaf, QueuedLeaf { leaf_hash: stands, body }, self.clock.elapsed());
        if let Some(kind) = lie {
            self.tell(kind, Some((index, leaf)), None);
        }
        Ok(Ok(Promise { index, lie }))
    }

    async fn covered(&self, index: u64) -> Result<(), TilesRefusal> {
        let mut published = self.published.subscribe();
        let deadline = self.clock.elapsed() + self.plan.server_timeout.duration();
        tokio::select! {
            _ = published.wait_for(|head| head.size > index) => Ok(()),
            () = self.clock.sleep_until(deadline) => Err(TilesRefusal::timeout()),
        }
    }

    /// The entry with its proof: the truth, unless it is lied about.
    fn promised(&self, entry: TilesEntry, leaf: &Hash, promise: &Promise) -> TransparencyLogEntry {
        let index = promise.index;
        let (mut head, mut path, before) = {
            let tree = self.lock();
            let head = Arc::clone(&*self.published.borrow());
            // A tree in memory holds all of its own nodes.
            let path = inclusion_proof(tree.served(), index, head.size).unwrap_or_default();
            (head, path, index.checked_sub(1).and_then(|before| tree.bundles.entry(before)))
        };
        let mut body = entry.body;
        match promise.lie {
            Some(RekorTilesLieKind::LostEntry) => {
                let root = root_from_inclusion(index, head.size, leaf, &path).unwrap_or(head.root);
                head = Arc::new(self.checkpoints.sign(head.size, root));
            }
            Some(RekorTilesLieKind::ForkedAnswer) => {
                let fork = forked(self.lock().served());
                path = inclusion_proof(&fork, index, head.size).unwrap_or_default();
                let root = root_from_inclusion(index, head.size, leaf, &path).unwrap_or(head.root);
                head = Arc::new(self.checkpoints.sign(head.size, root));
            }
            Some(RekorTilesLieKind::WrongInclusionProof) => path = altered_path(path),
            Some(RekorTilesLieKind::AnotherBody) => body = before.map_or(body, Vec::from),
            // They are lies of what is served, or of what is answered without a proof.
            Some(
                RekorTilesLieKind::ForkedCheckpoint
                | RekorTilesLieKind::FalseDuplicate
                | RekorTilesLieKind::AlteredBundle
                | RekorTilesLieKind::TileOfAnotherTree
                | RekorTilesLieKind::RolledBackCheckpoint
                | RekorTilesLieKind::ForgedCheckpoint
                | RekorTilesLieKind::InventedCheckpoint,
            )
            | None => {}
        }
        let log_index = index.cast_signed();
        TransparencyLogEntry {
            log_index,
            log_id: Some(LogId { key_id: self.checkpoints.key_hash().0.to_vec() }),
            kind_version: Some(KindVersion { kind: entry.kind.to_owned(), version: VERSION.to_owned() }),
            integrated_time: 0,
            inclusion_promise: None,
            inclusion_proof: Some(InclusionProof {
                log_index,
                root_hash: head.root.0.to_vec(),
                tree_size: head.size.cast_signed(),
                hashes: path.iter().map(|hash| hash.0.to_vec()).collect(),
                checkpoint: Some(Checkpoint { envelope: head.note.clone() }),
            }),
            canonicalized_body: body,
        }
    }

    /// Turns batches into leaves until the log is stopped, then what is left.
    pub(super) async fn sequence(&self, mut stopped: watch::Receiver<bool>) {
        loop {
            let now = self.clock.elapsed();
            let due = self.lock().due(&self.plan).unwrap_or(now + LONGEST_PAUSE);
            if due <= now {
                self.lock().integrate();
                tokio::task::yield_now().await;
                continue;
            }
            tokio::select! {
                () = self.queued.notified() => {}
                () = self.clock.sleep_until(due) => {}
                _ = stopped.wait_for(|stop| *stop) => break,
            }
        }
        self.lock().integrate();
    }

    /// Publishes a checkpoint at each interval in which the tree grew, until the log is stopped.
    pub(super) async fn publish(&self, mut stopped: watch::Receiver<bool>) {
        let interval = self.plan.checkpoint_interval.duration().max(LEAST_INTERVAL);
        loop {
            let next = self.clock.elapsed() + interval;
            tokio::select! {
                () = self.clock.sleep_until(next) => self.publish_all(),
                _ = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// Publishes the whole tree, if that is news.
    pub(super) fn publish_all(&self) {
        let mut tree = self.lock();
        let size = tree.served().size();
        // A tree that nobody could have seen contradicts none.
        let was_seen = self.published.borrow().size > 0;
        let forks = was_seen.then(|| self.lies.forks(self.clock.elapsed(), size)).flatten();
        match forks {
            Some(RekorTilesLieKind::TileOfAnotherTree) => tree.shown = Some(forked(tree.served())),
            Some(RekorTilesLieKind::RolledBackCheckpoint) => {
                let _ = self.rolled_back.set(self.checkpoints.sign_tree(tree.served(), size / 2));
            }
            Some(RekorTilesLieKind::ForgedCheckpoint) => {
                let head = self.checkpoints.sign_tree(tree.served(), size / 2);
                let _ = self.rolled_back.set(self.checkpoints.forge(&head, sha256(&head.root.0)));
            }
            Some(_) => tree.fork = Some(forked(tree.served())),
            None => {}
        }
        if forks.is_none() && size == self.published.borrow().size {
            return;
        }
        let head = self.checkpoints.sign_tree(tree.served(), size);
        if let Some(kind) = forks {
            self.tell(kind, None, Some(&head));
        }
        self.publish_head(head);
    }

    fn publish_head(&self, head: SignedHead) {
        let (head, now) = (Arc::new(head), self.clock.elapsed());
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.push_front((now, head.clone()));
        let until = now.saturating_sub(self.plan.read_lag.duration().max(self.plan.cache_age.duration()));
        let kept = history.iter().position(|(at, _)| *at <= until).map_or(history.len(), |last| last + 1);
        history.truncate(kept);
        self.published.send_replace(head);
    }

    /// The head as those who read know it.
    fn read_head(&self) -> Arc<SignedHead> {
        self.head_before(self.plan.read_lag.duration())
    }

    /// The head as it was so long ago.
    fn head_before(&self, lag: Duration) -> Arc<SignedHead> {
        let until = self.clock.elapsed().saturating_sub(lag);
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let known = history.iter().find(|(at, _)| *at <= until).or(history.back());
        known.map_or_else(|| self.published.borrow().clone(), |(_, head)| head.clone())
    }

    fn tell(&self, kind: RekorTilesLieKind, entry: Option<(u64, Hash)>, head: Option<&SignedHead>) {
        self.lies.tell(ToldRekorLie {
            kind,
            uuid: None,
            log_index: entry.map(|(index, _)| index),
            leaf_hash: entry.map(|(_, leaf)| leaf),
            tree_size: head.map(|head| head.size),
            root_hash: head.map(|head| head.root),
        });
    }

    /// Forgets every entry, as when the tiles are lost; the key stays.
    pub(super) fn lose_data(&self) {
        let mut tree = self.lock();
        *tree = TilesTree::default();
        self.publish_head(self.checkpoints.sign(0, EMPTY_ROOT));
    }

    /// The newest checkpoint, that of a cache, or one that is lied about.
    pub(super) fn checkpoint(&self) -> String {
        if let Some(kind) = self.lies.next_head(self.clock.elapsed()) {
            let head = self.read_head();
            let invented = self.checkpoints.sign(head.size + INVENTED, head.root);
            self.tell(kind, None, Some(&invented));
            return invented.note;
        }
        if let Some(rolled_back) = self.rolled_back.get() {
            return rolled_back.note.clone();
        }
        let age = self.plan.cache_age.duration();
        let is_cached =
            !age.is_zero() && !self.checkpoints_read.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        let lag = if is_cached { age } else { Duration::ZERO };
        self.head_before(lag.max(self.plan.read_lag.duration())).note.clone()
    }

    /// The bytes of a tile or an entry bundle of the published tree.
    pub(super) fn tile(&self, tile: &TileId) -> Option<Bytes> {
        let tree = self.lock();
        let published = self.read_head().size;
        let covered = TileId::covering(tile.level, tile.first(), published)?;
        if covered.width < tile.width { None } else { tree.tile(tile) }
    }

    /// Whether tiles are served compressed.
    pub(super) fn is_gzip(&self) -> bool {
        self.plan.gzip
    }

    pub(super) fn with_own_stats(&self, stats: LabStats) -> LabStats {
        let (tree_size, outstanding) = {
            let tree = self.lock();
            (tree.served().size(), tree.waiting() as u64)
        };
        let published_size = self.published.borrow().size;
        let accepted = self.accepted.load(Ordering::Relaxed);
        LabStats { accepted, distinct: tree_size, outstanding, tree_size, published_size, ..stats }
    }

    fn lock(&self) -> MutexGuard<'_, TilesTree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without a batch there is nothing to wake up for but the next entry.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);
/// Checkpoints are never made more often than this.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);
/// Leaves that a tree which never was has beside those that there are.
const INVENTED: u64 = 1000;
/// What the log's key is for.
const PURPOSE: &str = "rekor-tiles";

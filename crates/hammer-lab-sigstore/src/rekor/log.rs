//! The log: what is accepted waits until it is integrated, and is then in the tree for good.

mod faults;
mod tree;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hammer_lab::{Clock, LabError, LabStats};
use hammer_tlog::logs::merkle::{EMPTY_ROOT, Hash, inclusion_proof, leaf_hash, root_from_inclusion, sha256};
use tokio::sync::{Notify, oneshot, watch};

use super::{
    checkpoint::{CheckpointSigner, SignedHead},
    entry::LoggedEntry,
    lie::{EntryLies, ToldRekorLie, forked},
    plan::{RekorLabPlan, RekorLieKind},
    proposed::{canonical_entry::CanonicalEntry, propose},
    refusal::RekorRefusal,
};

use hammer_lab_authority::LabSigner;

use faults::LogFaults;
use tree::PendingEntry;
pub(crate) use tree::{IntegratedEntry, RekorTree};

/// A log without its server.
#[derive(Debug)]
pub(crate) struct RekorLog {
    pub(crate) plan: RekorLabPlan,
    pub(crate) checkpoints: CheckpointSigner,
    /// Hex of the SHA-256 of the key.
    pub(crate) log_id: String,
    pub(crate) lies: EntryLies<RekorLieKind>,
    clock: Arc<dyn Clock>,
    faults: LogFaults,
    accepted: AtomicU64,
    tree: Mutex<RekorTree>,
    /// How often each entry was answered to somebody who asked for it, by its log index.
    reads: Mutex<Vec<u64>>,
    queued: Notify,
    stopping: watch::Sender<bool>,
}

impl RekorLog {
    pub(crate) fn new(plan: RekorLabPlan, clock: Arc<dyn Clock>) -> Result<Self, LabError> {
        let origin = format!("{} - {}", plan.hostname, plan.tree_id);
        let checkpoints =
            CheckpointSigner::new(LabSigner::p256(PURPOSE, plan.key_seed)?, origin, plan.hostname.clone());
        Ok(Self {
            log_id: checkpoints.key_hash().to_hex(),
            lies: EntryLies::new(plan.lies.clone(), clock.elapsed()),
            faults: LogFaults::new(&plan, clock.elapsed()),
            accepted: AtomicU64::new(0),
            tree: Mutex::new(RekorTree::new(checkpoints.sign(0, EMPTY_ROOT))),
            reads: Mutex::default(),
            queued: Notify::new(),
            stopping: watch::Sender::new(false),
            plan,
            checkpoints,
            clock,
        })
    }

    /// Takes an entry, and completes once it is integrated.
    pub(crate) async fn accept(&self, proposed: &[u8]) -> Result<IntegratedEntry, RekorRefusal> {
        let entry = propose(proposed)?;
        if self.faults.hangs(self.clock.elapsed()) {
            // As long as the client waits, but for the end of the log itself.
            let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
            return Err(RekorRefusal::unexpected_result());
        }
        let integrated = self.enqueue(&entry)?;
        self.queued.notify_one();
        // The sender is lost only with the log itself.
        let integrated = integrated.await.map_err(|_| RekorRefusal::unexpected_result())?;
        self.accepted.fetch_add(1, Ordering::Relaxed);
        Ok(integrated)
    }

    fn enqueue(&self, entry: &CanonicalEntry) -> Result<oneshot::Receiver<IntegratedEntry>, RekorRefusal> {
        let leaf = leaf_hash(entry.body.as_bytes());
        let mut tree = self.lock();
        if tree.knows(&leaf) {
            return Err(RekorRefusal::duplicate(&self.uuid(&leaf)));
        }
        if self.faults.refuses(tree.accepted(), tree.waiting()) {
            return Err(RekorRefusal::unexpected_result());
        }
        let lie = self.lies.next_entry(self.clock.elapsed());
        // There is no other entry's body to answer with.
        let of_another = [RekorLieKind::AnotherBody, RekorLieKind::AlteredEntry];
        let lie = lie.filter(|lie| !of_another.contains(lie) || tree.accepted() > 0);
        if lie == Some(RekorLieKind::FalseDuplicate) {
            let (uuid, leaf_hash) = (self.uuid(&leaf), Some(leaf));
            let refusal = RekorRefusal::duplicate(&uuid);
            let (log_index, tree_size, root_hash) = (None, None, None);
            let kind = RekorLieKind::FalseDuplicate;
            self.lies.tell(ToldRekorLie {
                kind,
                uuid: Some(uuid),
                log_index,
                leaf_hash,
                tree_size,
                root_hash,
            });
            return Err(refusal);
        }
        let (sender, receiver) = oneshot::channel();
        let entry = LoggedEntry::new(&entry.body, leaf, entry.keys.clone(), lie);
        tree.enqueue(PendingEntry { entry: Arc::new(entry), integrated: sender });
        Ok(receiver)
    }

    /// Integrates what waits until the log is stopped, then what is left.
    pub(crate) async fn integrate(&self, mut stopped: watch::Receiver<bool>) {
        let delay = self.plan.integration_delay.duration();
        let mut stopping = false;
        while !stopping {
            stopping = tokio::select! {
                () = self.queued.notified() => false,
                _ = stopped.wait_for(|stop| *stop) => true,
            };
            if !stopping && !delay.is_zero() {
                stopping = tokio::select! {
                    () = self.clock.sleep_until(self.clock.elapsed() + delay) => false,
                    _ = stopped.wait_for(|stop| *stop) => true,
                };
            }
            self.integrate_all();
        }
        self.stopping.send_replace(true);
    }

    fn integrate_all(&self) {
        let integrated_time = self.clock.unix_ms() / 1000;
        let mut tree = self.lock();
        let pending = tree.take_pending();
        if pending.is_empty() {
            return;
        }
        let mut integrated = Vec::new();
        for PendingEntry { entry, integrated: sender } in pending {
            let lost = entry.lie == Some(RekorLieKind::LostEntry);
            let log_index = if lost { tree.size() } else { tree.append(Arc::clone(&entry), integrated_time) };
            self.own_up(&entry, log_index);
            let vanishing = lost.then(|| self.vanishing_head(&tree, &entry.leaf_hash));
            integrated.push((sender, entry, log_index, vanishing));
        }
        if let Some(kind) = self.lies.forks(self.clock.elapsed(), tree.size()) {
            self.fork(&mut tree, kind);
        }
        let head = Arc::new(self.checkpoints.sign_tree(tree.served(), tree.size()));
        tree.publish(head, self.clock.elapsed(), self.longest_lag());
        for (sender, entry, log_index, vanishing) in integrated {
            let promised = match vanishing {
                Some((head, path)) => {
                    IntegratedEntry { entry, log_index, integrated_time, head: Arc::new(head), path }
                }
                None => tree.integrated(log_index, entry, integrated_time),
            };
            // The client may have gone.
            let _ = sender.send(promised);
        }
    }

    /// The head of a tree in which the leaf follows all others, and that nobody sees again, with the leaf's path.
    fn vanishing_head(&self, tree: &RekorTree, leaf: &Hash) -> (SignedHead, Vec<Hash>) {
        let index = tree.size();
        // All siblings of the last leaf stand to its left, in the tree that is there.
        let path = inclusion_proof(tree.served(), index, index + 1).unwrap_or_default();
        let root = root_from_inclusion(index, index + 1, leaf, &path);
        (self.checkpoints.sign(index + 1, root.unwrap_or(*leaf)), path)
    }

    fn fork(&self, tree: &mut RekorTree, kind: RekorLieKind) {
        let head = match kind {
            RekorLieKind::ShrinkingTree => {
                let head = self.checkpoints.sign_tree(tree.served(), tree.size() / 2);
                tree.shrunk = Some(Arc::new(head.clone()));
                head
            }
            _ => {
                tree.fork = Some(forked(tree.served()));
                self.checkpoints.sign_tree(tree.served(), tree.size())
            }
        };
        let (tree_size, root_hash) = (Some(head.size), Some(head.root));
        self.lies.tell(ToldRekorLie {
            uuid: None,
            log_index: None,
            leaf_hash: None,
            kind,
            tree_size,
            root_hash,
        });
    }

    /// Counts a consistency proof of a tree of that size; whether it is to be another.
    pub(super) fn lies_about_proof(&self, size: u64) -> bool {
        let Some(kind) = self.lies.next_proof(self.clock.elapsed()) else { return false };
        let (uuid, log_index, leaf_hash, root_hash) = (None, None, None, None);
        self.lies.tell(ToldRekorLie { kind, uuid, log_index, leaf_hash, tree_size: Some(size), root_hash });
        true
    }

    /// The head that log information says, which is counted, and may be a forged one.
    pub(super) fn told_head(&self) -> Arc<SignedHead> {
        let head = self.head_as_of(self.plan.log_info_lag.duration());
        let Some(kind) = self.lies.next_head(self.clock.elapsed()) else { return head };
        let forged = self.checkpoints.forge(&head, sha256(&head.root.0));
        let (uuid, log_index, leaf_hash) = (None, None, None);
        let (tree_size, root_hash) = (Some(forged.size), Some(forged.root));
        self.lies.tell(ToldRekorLie { kind, uuid, log_index, leaf_hash, tree_size, root_hash });
        Arc::new(forged)
    }

    fn own_up(&self, entry: &LoggedEntry, log_index: u64) {
        let Some(kind) = entry.lie else { return };
        self.lies.tell(ToldRekorLie {
            kind,
            uuid: Some(self.uuid(&entry.leaf_hash)),
            log_index: Some(log_index),
            leaf_hash: Some(entry.leaf_hash),
            tree_size: None,
            root_hash: None,
        });
    }

    /// The name of an entry: the tree's id and the leaf hash.
    pub(crate) fn uuid(&self, leaf: &Hash) -> String {
        format!("{:016x}{leaf}", self.plan.tree_id)
    }

    /// How long a head may still be served once there is a newer one.
    fn longest_lag(&self) -> Duration {
        self.plan.log_info_lag.duration().max(self.plan.proof_lag.duration())
    }

    /// The head as somebody knows it who lags behind by that.
    pub(crate) fn head_as_of(&self, lag: Duration) -> Arc<SignedHead> {
        let until = self.clock.elapsed().saturating_sub(lag);
        self.read_tree(|tree| tree.head_as_of(until))
    }

    /// Counts an entry that is answered to somebody who asked for it.
    pub(super) fn count_read(&self, log_index: u64) {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        let place = log_index as usize;
        if reads.len() <= place {
            reads.resize(place + 1, 0);
        }
        reads[place] += 1;
    }

    /// How often each entry was, by its log index; none behind the last that was ever asked for.
    pub(super) fn reads(&self) -> Vec<u64> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks at the tree; nothing else is done under its lock.
    pub(crate) fn read_tree<T>(&self, look: impl FnOnce(&RekorTree) -> T) -> T {
        look(&self.lock())
    }

    /// Forgets every entry, as when the database behind it is lost; the key stays.
    pub(crate) fn lose_data(&self) {
        *self.lock() = RekorTree::new(self.checkpoints.sign(0, EMPTY_ROOT));
    }

    /// Counts the times of faults and lies from `now`.
    pub(crate) fn restart(&self, now: Duration) {
        self.faults.restart(now);
        self.lies.restart(now);
    }

    pub(crate) fn with_own_stats(&self, stats: LabStats) -> LabStats {
        let (size, outstanding) = self.read_tree(|tree| (tree.size(), tree.waiting() as u64));
        let accepted = self.accepted.load(Ordering::Relaxed);
        LabStats { accepted, distinct: size, outstanding, tree_size: size, published_size: size, ..stats }
    }

    fn lock(&self) -> MutexGuard<'_, RekorTree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the log's key is for.
const PURPOSE: &str = "rekor";

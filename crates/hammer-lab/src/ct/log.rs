//! The log itself: from the pool into the tree, from the tree to a checkpoint.

mod checkpoint;
pub(crate) mod pool;
pub(crate) mod store;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use hammer_tlog::logs::merkle::{Hash, NodeReader, Tree, leaf_hash, root_at, sha256};
use hammer_values::Date;
use tokio::sync::watch;

use super::{
    chain::{Policy, Validator},
    key::LogSigner,
    lies::Lies,
    plan::{CtLabPlan, Flavour, config::LogConfig},
    signature::checks::Checks,
};
use crate::{
    clock::Clock,
    error::LabError,
    told_lie::{LieKind, ToldLie},
};

use checkpoint::Checkpoint;
use pool::{Batch, Logged, Pool, Untold};
use store::{Folder, Memory, Store};

/// A log without its server.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) plan: CtLabPlan,
    pub(crate) origin: String,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) signer: LogSigner,
    pub(crate) validator: Validator,
    pub(crate) checks: Checks,
    pub(crate) pool: Pool,
    pub(crate) store: Store,
    pub(crate) published: watch::Sender<Arc<Checkpoint>>,
    pub(crate) accepted: AtomicU64,
    pub(crate) distinct: AtomicU64,
    /// Set once an entry could not be stored: from then on the tree and the storage differ, and nothing is taken.
    pub(crate) broken: AtomicBool,
    /// None in an honest log.
    pub(crate) lies: Option<Arc<Lies>>,
    sequenced: RwLock<Sequenced>,
    /// Batches in the tree whose submissions wait for the checkpoint, in the tree's order.
    untold: Mutex<VecDeque<Untold>>,
}

/// The tree, published or not.
#[derive(Debug, Default)]
pub(crate) struct Sequenced {
    pub(crate) tree: Tree,
    /// Index of each leaf hash.
    pub(crate) indices: HashMap<Hash, u64>,
    /// The tree that is served and signed in the place of `tree`, once the log has forked.
    fork: Option<Tree>,
    /// Leaves before this one are forgotten.
    pub(crate) kept_from: u64,
}

impl Log {
    pub(crate) fn open(config: LogConfig, clock: Arc<dyn Clock>) -> Result<Self, LabError> {
        let origin = config.origin();
        let LogConfig { plan, roots, key } = config;
        keeps_few(&plan)?;
        let signer = LogSigner::new(&key)?;
        let lies = Lies::new(&plan, clock.elapsed())?;
        let pool = Pool::new(&plan, lies.clone());
        let mut sequenced = Sequenced::default();
        let store = match &plan.storage_dir {
            None => Store::Memory(Memory::default()),
            Some(path) => Store::Folder(Folder::open(path, |entry| {
                let index = sequenced.push(entry.leaf_hash);
                pool.recovered(entry.identity, entry.timestamp_ms, index);
            })?),
        };
        let validator = Validator::with_policy(&roots, policy(&plan)).map_err(|refusal| LabError::Plan {
            key: "roots_pem_files".into(),
            reason: refusal.to_string(),
        })?;
        let checkpoint = sequenced.checkpoint(&signer, &origin, clock.unix_ms());
        store.publish(&checkpoint.note)?;
        let published = watch::Sender::new(Arc::new(checkpoint));
        let log = Self {
            plan,
            origin,
            clock,
            signer,
            validator,
            checks: Checks::default(),
            pool,
            store,
            published,
            accepted: AtomicU64::new(0),
            distinct: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            lies,
            sequenced: RwLock::new(sequenced),
            untold: Mutex::default(),
        };
        // The roots are issuers too: entries point to them by their fingerprints.
        log.validator.roots().iter().try_for_each(|root| log.store.keep_issuer(root))?;
        Ok(log)
    }

    /// Looks at the tree; nothing else is done under its lock.
    pub(crate) fn read_tree<T>(&self, look: impl FnOnce(&Sequenced) -> T) -> T {
        look(&self.sequenced.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Verifies the signatures of leaves until the log is stopped. A submission that waits for its batch in any case does
    /// so for others to be verified with as well.
    pub(crate) async fn check(self: Arc<Self>, stopped: watch::Receiver<bool>) {
        let waits = self.plan.flavour == Flavour::StaticCt;
        self.checks.work(waits.then_some(PAUSE_OF_CHECKS), stopped).await;
    }

    /// Turns batches into leaves until the log is stopped, then what is left.
    pub(crate) async fn sequence(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let mut stopping = false;
        while !stopping {
            stopping = tokio::select! {
                () = self.pool.due(&*self.clock) => false,
                _ = stopped.wait_for(|stop| *stop) => true,
            };
            while let Some(batch) = self.pool.take(self.clock.elapsed(), stopping) {
                if self.store.blocks() {
                    let log = Arc::clone(&self);
                    let _ = tokio::task::spawn_blocking(move || log.integrate(batch)).await;
                } else {
                    self.integrate(batch);
                    // One batch at a time: those who wait for it are answered before the next.
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    /// Publishes a checkpoint at each interval until the log is stopped, then one for the whole tree.
    pub(crate) async fn publish(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let delay = self.plan.faults.publication_delay.map_or(Duration::ZERO, Duration::from);
        let mut delayed: VecDeque<(Duration, Checkpoint)> = VecDeque::new();
        let mut last_published = self.clock.elapsed();
        let interval = self.plan.checkpoint_interval.duration().max(LEAST_INTERVAL);
        let mut next = last_published + interval;
        let mut earlier = None;
        loop {
            let wake = delayed.front().map_or(next, |(at, _)| next.min(*at));
            tokio::select! {
                () = self.clock.sleep_until(wake) => {}
                _ = stopped.wait_for(|stop| *stop) => break,
            }
            let now = self.clock.elapsed();
            if now >= next {
                next = now + interval;
                if self.is_rolled_back(earlier.as_ref()) {
                    continue;
                }
                let latest = delayed.back().map_or(self.published.borrow().size, |(_, latest)| latest.size);
                if let Some(lies) = &self.lies {
                    self.pool.add_late(lies.released(self.clock.unix_ms()), now);
                }
                let lies = self.lies.as_ref().is_some_and(|lies| lies.is_due(now, latest));
                let old = now >= last_published + self.plan.checkpoint_republish_interval.duration();
                if old || lies || self.read_tree(|sequenced| sequenced.tree.size()) > latest {
                    delayed.push_back((now + delay, self.checkpoint()));
                    last_published = now;
                }
            }
            while delayed.front().is_some_and(|(at, _)| *at <= now) {
                let Some((_, checkpoint)) = delayed.pop_front() else { break };
                let before = self.published.borrow().clone();
                if (1..checkpoint.size).contains(&before.size) {
                    earlier = Some(before);
                }
                self.make_public(checkpoint);
            }
        }
    }

    /// Whether the log serves an earlier checkpoint for ever, which is this one.
    fn is_rolled_back(&self, earlier: Option<&Arc<Checkpoint>>) -> bool {
        let (Some(lies), Some(earlier)) = (&self.lies, earlier) else { return false };
        let is_rolled_back = lies.is_rolled_back(self.published.borrow().size);
        if is_rolled_back
            && self.published.borrow().size != earlier.size
            && self.store.publish(&earlier.note).is_ok()
        {
            self.published.send_replace(Arc::clone(earlier));
        }
        is_rolled_back
    }

    /// Publishes the whole tree at once, at the end of the log's life.
    pub(crate) fn publish_all(&self) {
        if self.read_tree(|sequenced| sequenced.tree.size()) > self.published.borrow().size {
            self.make_public(self.checkpoint());
        }
    }

    fn checkpoint(&self) -> Checkpoint {
        let timestamp_ms = self.clock.unix_ms();
        let (size, root, timestamp_ms) = match &self.lies {
            None => {
                let (size, root) = self.read_tree(Sequenced::head);
                (size, root, timestamp_ms)
            }
            Some(lies) => self.lying_head(lies, timestamp_ms),
        };
        Checkpoint::sign(&self.signer, &self.origin, size, root, timestamp_ms)
    }

    /// The head, and its time, of a tree that may be another, smaller, kept back, or dated ahead or back.
    fn lying_head(&self, lies: &Lies, timestamp_ms: u64) -> (u64, Hash, u64) {
        let (elapsed, published) = (self.clock.elapsed(), self.published.borrow().size);
        let forks = lies.next_checkpoint(LieKind::ForkedCheckpoint, elapsed, published);
        if forks {
            self.sequenced.write().unwrap_or_else(PoisonError::into_inner).fork();
        }
        let shrinks = !forks && lies.next_checkpoint(LieKind::ShrinkingTree, elapsed, published);
        let most = if shrinks { published / 2 } else { lies.most_entries(timestamp_ms) };
        let (tree_size, root) = self.read_tree(|sequenced| sequenced.head_of(most));
        lies.covered(tree_size, timestamp_ms);
        let told = |kind| {
            let (tree_size, root_hash) = (Some(tree_size), Some(root));
            lies.tell(ToldLie { tree_size, root_hash, ..ToldLie::of(kind) });
        };
        if forks {
            told(LieKind::ForkedCheckpoint);
        } else if shrinks {
            told(LieKind::ShrinkingTree);
        } else if lies.next_checkpoint(LieKind::FutureCheckpoint, elapsed, published) {
            told(LieKind::FutureCheckpoint);
            return (tree_size, root, timestamp_ms + ASTRAY_MS);
        } else if lies.next_checkpoint(LieKind::BackdatedCheckpoint, elapsed, published) {
            told(LieKind::BackdatedCheckpoint);
            return (tree_size, root, timestamp_ms - ASTRAY_MS);
        }
        (tree_size, root, timestamp_ms)
    }

    fn make_public(&self, checkpoint: Checkpoint) {
        // A folder that cannot be written keeps its old checkpoint; submissions then time out.
        if !self.broken.load(Ordering::Relaxed) && self.store.publish(&checkpoint.note).is_ok() {
            self.published.send_replace(Arc::new(checkpoint));
            self.tell();
        }
    }

    /// What it speaks.
    pub(crate) fn flavour(&self) -> Flavour {
        self.plan.flavour
    }

    /// Whether SCTs are signed as their batch is sequenced, while its leaves are at hand.
    pub(crate) fn signs_batches(&self) -> bool {
        self.plan.flavour == Flavour::StaticCt && self.lies.is_none()
    }

    /// Tells the submissions of every batch that the checkpoint reaches, or of every batch where none is waited for.
    fn tell(&self) {
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        let size = if self.plan.enable_publication_awaiter { self.published.borrow().size } else { u64::MAX };
        while untold.front().is_some_and(|batch| batch.logged.first_index < size)
            && let Some(reached) = untold.pop_front()
        {
            reached.tell();
        }
    }

    fn integrate(&self, batch: Batch) {
        if self.broken.load(Ordering::Relaxed) {
            return self.pool.lost(&batch);
        }
        let with_index = self.plan.flavour == Flavour::StaticCt;
        // Only this task writes to the tree, so what is read here stays true until it is written below.
        let first_index = self.read_tree(|sequenced| sequenced.tree.size());
        let mut signatures = Vec::new();
        let (hashes, leaves): (Vec<Hash>, Vec<Vec<u8>>) = (first_index..)
            .zip(&batch.entries)
            .map(|(index, (entry, timestamp_ms))| {
                let leaf = entry.leaf_input(*timestamp_ms, with_index.then_some(index));
                // The leaf is, byte for byte, what an SCT signs.
                signatures.extend(self.signs_batches().then(|| self.signer.digitally_signed(&leaf)));
                match &self.lies {
                    None => (leaf_hash(&leaf), entry.tile_leaf(&leaf)),
                    Some(lies) => lies.sequenced(entry, *timestamp_ms, index, &leaf),
                }
            })
            .unzip();
        {
            let mut sequenced = self.sequenced.write().unwrap_or_else(PoisonError::into_inner);
            for hash in hashes {
                sequenced.push(hash);
            }
        }
        match self.read_tree(|sequenced| self.store.append(&sequenced.tree, first_index, &leaves)) {
            Ok(()) => {
                self.forget();
                self.distinct.fetch_add(batch.entries.len() as u64, Ordering::Relaxed);
                let untold = self.pool.logged(batch, Logged { first_index, signatures });
                self.untold.lock().unwrap_or_else(PoisonError::into_inner).push_back(untold);
                self.tell();
            }
            Err(_) => {
                self.broken.store(true, Ordering::Relaxed);
                self.pool.lost(&batch);
            }
        }
    }
}

impl Log {
    /// Lets go of entries beyond those that the plan keeps, but of none that no checkpoint covers yet.
    fn forget(&self) {
        let Some(keep) = self.plan.keep_entries else { return };
        let published = self.published.borrow().size;
        let mut sequenced = self.sequenced.write().unwrap_or_else(PoisonError::into_inner);
        let before = sequenced.tree.size().saturating_sub(keep.into()).min(published);
        sequenced.forget_before(before);
        drop(sequenced);
        self.store.forget_before(before);
    }
}

impl Sequenced {
    /// Forgets the leaves before this one.
    fn forget_before(&mut self, leaf: u64) {
        for index in self.kept_from..leaf {
            if let Some(hash) = self.tree.node(0, index)
                && self.indices.get(&hash) == Some(&index)
            {
                self.indices.remove(&hash);
            }
        }
        self.kept_from = self.kept_from.max(leaf);
        self.tree.forget_before(self.kept_from);
    }

    fn push(&mut self, leaf_hash: Hash) -> u64 {
        let index = self.tree.size();
        self.tree.append(leaf_hash);
        if let Some(fork) = &mut self.fork {
            fork.append(leaf_hash);
        }
        self.indices.entry(leaf_hash).or_insert(index);
        index
    }

    fn head(&self) -> (u64, Hash) {
        self.head_of(u64::MAX)
    }

    /// The head of the first entries, at most `most` of them.
    fn head_of(&self, most: u64) -> (u64, Hash) {
        let size = self.tree.size().min(most);
        // A tree in memory holds all of its own nodes.
        (size, root_at(self.served(), size).unwrap_or(hammer_tlog::logs::merkle::EMPTY_ROOT))
    }

    /// The tree that tiles and proofs are of.
    pub(crate) fn served(&self) -> &Tree {
        self.fork.as_ref().unwrap_or(&self.tree)
    }

    /// From now on serves a tree with another first leaf: whoever has seen any head sees the fork.
    fn fork(&mut self) {
        let (first, others) = self.tree.leaves().split_at(1);
        let first = first.iter().map(|leaf| sha256(leaf.as_bytes()));
        self.fork = Some(first.chain(others.iter().copied()).collect());
    }

    fn checkpoint(&self, signer: &LogSigner, origin: &str, timestamp_ms: u64) -> Checkpoint {
        let (size, root) = self.head();
        Checkpoint::sign(signer, origin, size, root, timestamp_ms)
    }
}

fn policy(plan: &CtLabPlan) -> Policy {
    let seconds = |date: Date| date.unix_seconds().cast_signed();
    Policy {
        not_after_start_s: plan.not_after_start.map(seconds),
        not_after_limit_s: plan.not_after_limit.map(seconds),
        reject_expired: plan.reject_expired,
        reject_unexpired: plan.reject_unexpired,
    }
}

fn keeps_few(plan: &CtLabPlan) -> Result<(), LabError> {
    let reason = match plan.keep_entries {
        None => return Ok(()),
        Some(_) if plan.storage_dir.is_some() => "a log in a folder keeps everything",
        Some(_) if !plan.lies.is_empty() => "a log that lies keeps everything",
        Some(_) => return Ok(()),
    };
    Err(LabError::Plan { key: "keep_entries".into(), reason: reason.to_owned() })
}

/// At 10,000 submissions a second, the least time in which a score of them comes.
const PAUSE_OF_CHECKS: Duration = Duration::from_millis(2);
/// Checkpoints are never made more often than this.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);
/// How far ahead or back a lying checkpoint is dated: an hour, which is beyond any skew that a plan states.
const ASTRAY_MS: u64 = 3_600_000;

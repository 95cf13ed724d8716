//! The log: what is queued waits for the signer, and gets its place in the tree then.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hammer_lab::{
    Clock, LabStats,
    serve::grpc::{GrpcCode, GrpcRefusal},
};
use hammer_messages::google::{Status, Timestamp};
use hammer_messages::trillian::{
    GetConsistencyProofRequest, GetConsistencyProofResponse, GetInclusionProofByHashRequest,
    GetInclusionProofByHashResponse, GetInclusionProofRequest, GetInclusionProofResponse,
    GetLatestSignedLogRootRequest, GetLatestSignedLogRootResponse, GetLeavesByRangeRequest,
    GetLeavesByRangeResponse, LogLeaf, Proof, QueueLeafRequest, QueueLeafResponse, QueuedLogLeaf,
    SignedLogRoot,
};
use hammer_tlog::logs::merkle::{
    EMPTY_ROOT, Hash, Tree, consistency_proof, inclusion_proof, leaf_hash, root_at,
};
use tokio::sync::watch;

use super::plan::{TrillianLabPlan, TrillianLieKind};
use crate::rekor::lie::{EntryLies, ToldRekorLie, altered_path, forked};

/// A log without its server.
#[derive(Debug)]
pub(super) struct TrillianLog {
    pub(super) lies: EntryLies<TrillianLieKind>,
    plan: TrillianLabPlan,
    clock: Arc<dyn Clock>,
    state: Mutex<TrillianTree>,
}

/// The tree, and what waits to be in it.
#[derive(Debug, Default)]
struct TrillianTree {
    tree: Tree,
    /// The tree that is served in the place of `tree`, once the log has forked.
    fork: Option<Tree>,
    leaves: Vec<KeptLeaf>,
    queue: Vec<KeptLeaf>,
    /// What was queued, by its identity: it is answered with again.
    queued: HashMap<Vec<u8>, LogLeaf>,
    places: HashMap<Hash, Vec<u64>>,
    /// When the root was made, nanoseconds since 1970.
    root_ns: u64,
    accepted: u64,
}

#[derive(Debug)]
struct KeptLeaf {
    leaf: LogLeaf,
    hash: Hash,
    lie: Option<TrillianLieKind>,
}

impl TrillianTree {
    /// The tree that roots and proofs are of.
    fn served(&self) -> &Tree {
        self.fork.as_ref().unwrap_or(&self.tree)
    }

    fn size(&self) -> u64 {
        self.served().size()
    }

    fn root(&self) -> SignedLogRoot {
        // A tree in memory holds all of its own nodes.
        let root = root_at(self.served(), self.size()).unwrap_or(EMPTY_ROOT);
        let mut log_root = Vec::with_capacity(2 + 8 + 1 + 32 + 8 + 8 + 2);
        log_root.extend_from_slice(&1u16.to_be_bytes());
        log_root.extend_from_slice(&self.size().to_be_bytes());
        log_root.push(32);
        log_root.extend_from_slice(&root.0);
        log_root.extend_from_slice(&self.root_ns.to_be_bytes());
        // Revision, and no metadata.
        log_root.extend_from_slice(&[0; 8 + 2]);
        SignedLogRoot { log_root }
    }

    fn path(&self, index: u64, size: u64) -> Result<Proof, GrpcRefusal> {
        let path = inclusion_proof(self.served(), index, size).map_err(|why| invalid(why.to_string()))?;
        let lie = self.leaves.get(index as usize).and_then(|kept| kept.lie);
        let path = match lie {
            Some(TrillianLieKind::WrongInclusionProof) => altered_path(path),
            _ => path,
        };
        Ok(proof(index, &path))
    }
}

impl TrillianLog {
    pub(super) fn new(plan: TrillianLabPlan, clock: Arc<dyn Clock>) -> Self {
        let state = TrillianTree { root_ns: clock.unix_ms() * NS_OF_MS, ..TrillianTree::default() };
        let lies = EntryLies::new(plan.lies.clone(), clock.elapsed());
        Self { lies, plan, clock, state: Mutex::new(state) }
    }

    pub(super) fn queue_leaf(&self, request: QueueLeafRequest) -> Result<QueueLeafResponse, GrpcRefusal> {
        self.check_tree(request.log_id)?;
        let mut leaf = request.leaf.ok_or_else(|| invalid("leaf: nil, want non-nil"))?;
        if leaf.leaf_value.is_empty() {
            return Err(invalid("leaf.LeafValue: empty, want > 0 bytes"));
        }
        let hash = leaf_hash(&leaf.leaf_value);
        leaf.merkle_leaf_hash = hash.0.to_vec();
        if leaf.leaf_identity_hash.is_empty() {
            leaf.leaf_identity_hash = hash.0.to_vec();
        }
        let mut state = self.lock();
        state.accepted += 1;
        if let Some(known) = state.queued.get(&leaf.leaf_identity_hash) {
            let status = Status { code: GrpcCode::AlreadyExists as i32, message: EXISTS.to_owned() };
            let queued_leaf = QueuedLogLeaf { leaf: Some(known.clone()), status: Some(status) };
            return Ok(QueueLeafResponse { queued_leaf: Some(queued_leaf) });
        }
        if state.queue.len() >= self.plan.max_unsequenced.get() {
            let told = format!("quota exhausted: {} leaves are not sequenced yet", state.queue.len());
            return Err(GrpcRefusal::new(GrpcCode::ResourceExhausted, told));
        }
        leaf.queue_timestamp = Some(self.timestamp());
        let lie = self.lies.next_entry(self.clock.elapsed());
        if let Some(kind) = lie {
            self.tell(kind, Some(hash), None);
        }
        state.queued.insert(leaf.leaf_identity_hash.clone(), leaf.clone());
        if lie != Some(TrillianLieKind::LostLeaf) {
            state.queue.push(KeptLeaf { leaf: leaf.clone(), hash, lie });
        }
        Ok(QueueLeafResponse { queued_leaf: Some(QueuedLogLeaf { leaf: Some(leaf), status: None }) })
    }

    pub(super) fn latest_root(
        &self,
        request: GetLatestSignedLogRootRequest,
    ) -> Result<GetLatestSignedLogRootResponse, GrpcRefusal> {
        self.check_tree(request.log_id)?;
        let first = not_negative("first_tree_size", request.first_tree_size)?;
        let state = self.lock();
        let proof = if first > 0 { Some(consistency(&state, first, state.size())?) } else { None };
        Ok(GetLatestSignedLogRootResponse { signed_log_root: Some(state.root()), proof })
    }

    pub(super) fn consistency_proof(
        &self,
        request: GetConsistencyProofRequest,
    ) -> Result<GetConsistencyProofResponse, GrpcRefusal> {
        self.check_tree(request.log_id)?;
        let first = positive("first_tree_size", request.first_tree_size)?;
        let second = positive("second_tree_size", request.second_tree_size)?;
        let state = self.lock();
        let proof = if second <= state.size() { Some(consistency(&state, first, second)?) } else { None };
        Ok(GetConsistencyProofResponse { proof, signed_log_root: Some(state.root()) })
    }

    pub(super) fn inclusion_proof(
        &self,
        request: GetInclusionProofRequest,
    ) -> Result<GetInclusionProofResponse, GrpcRefusal> {
        self.check_tree(request.log_id)?;
        let index = not_negative("leaf_index", request.leaf_index)?;
        let size = positive("tree_size", request.tree_size)?;
        if index >= size {
            return Err(invalid(format!("leaf_index: {index} >= tree_size: {size}, want < ")));
        }
        let state = self.lock();
        let proof = if size <= state.size() { Some(state.path(index, size)?) } else { None };
        Ok(GetInclusionProofResponse { proof, signed_log_root: Some(state.root()) })
    }

    pub(super) fn inclusion_proof_by_hash(
        &self,
        request: &GetInclusionProofByHashRequest,
    ) -> Result<GetInclusionProofByHashResponse, GrpcRefusal> {
        self.check_tree(request.log_id)?;
        let size = positive("tree_size", request.tree_size)?;
        let hash = Hash::from_slice(&request.leaf_hash)
            .ok_or_else(|| invalid(format!("leaf_hash: {} bytes, want 32", request.leaf_hash.len())))?;
        let state = self.lock();
        if size > state.size() {
            let proof = Vec::new();
            return Ok(GetInclusionProofByHashResponse { proof, signed_log_root: Some(state.root()) });
        }
        let places = state.places.get(&hash).into_iter().flatten().filter(|place| **place < size);
        let proof = places.map(|place| state.path(*place, size)).collect::<Result<Vec<_>, _>>()?;
        if proof.is_empty() {
            let told = format!("No leaves for hash: {}", hash.to_hex());
            return Err(GrpcRefusal::new(GrpcCode::NotFound, told));
        }
        Ok(GetInclusionProofByHashResponse { proof, signed_log_root: Some(state.root()) })
    }

    pub(super) fn leaves_by_range(
        &self,
        request: GetLeavesByRangeRequest,
    ) -> Result<GetLeavesByRangeResponse, GrpcRefusal> {
        self.check_tree(request.log_id)?;
        let start = not_negative("start_index", request.start_index)?;
        let count = positive("count", request.count)?;
        let state = self.lock();
        if start >= state.size() {
            let told = format!("invalid StartIndex: {start}, want < TreeSize({})", state.size());
            return Err(GrpcRefusal::new(GrpcCode::OutOfRange, told));
        }
        let there = state.leaves.iter().skip(start as usize).take(count.min(MOST_LEAVES) as usize);
        let leaves = there.map(|kept| match kept.lie {
            Some(TrillianLieKind::AlteredLeaf) => {
                let mut leaf = kept.leaf.clone();
                if let Some(byte) = leaf.leaf_value.last_mut() {
                    *byte ^= 1;
                }
                leaf
            }
            _ => kept.leaf.clone(),
        });
        Ok(GetLeavesByRangeResponse { leaves: leaves.collect(), signed_log_root: Some(state.root()) })
    }

    /// Sequences what is queued at each interval, until the log is stopped.
    pub(super) async fn sequence(&self, mut stopped: watch::Receiver<bool>) {
        let interval = self.plan.sequencing_interval.duration().max(LEAST_INTERVAL);
        loop {
            let next = self.clock.elapsed() + interval;
            tokio::select! {
                () = self.clock.sleep_until(next) => self.sequence_once(),
                _ = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// One run of the signer; without anything to sequence there is no new root.
    pub(super) fn sequence_once(&self) {
        let timestamp = self.timestamp();
        let root_ns = self.clock.unix_ms() * NS_OF_MS;
        let mut guard = self.lock();
        let state = &mut *guard;
        let most = self.plan.batch_size.get().min(state.queue.len());
        let mut is_new = most > 0;
        for mut kept in state.queue.drain(..most) {
            let index = state.leaves.len() as u64;
            kept.leaf.leaf_index = index.cast_signed();
            kept.leaf.integrate_timestamp = Some(timestamp);
            state.places.entry(kept.hash).or_default().push(index);
            state.tree.append(kept.hash);
            if let Some(fork) = &mut state.fork {
                fork.append(kept.hash);
            }
            state.leaves.push(kept);
        }
        if let Some(kind) = self.lies.forks(self.clock.elapsed(), state.size()) {
            state.fork = Some(forked(state.served()));
            self.tell(kind, None, Some(state.size()));
            is_new = true;
        }
        if is_new {
            state.root_ns = root_ns.max(state.root_ns + 1);
        }
    }

    fn check_tree(&self, asked: i64) -> Result<(), GrpcRefusal> {
        match asked == self.plan.tree_id {
            true => Ok(()),
            false => Err(GrpcRefusal::new(GrpcCode::NotFound, format!("tree {asked} not found"))),
        }
    }

    fn tell(&self, kind: TrillianLieKind, leaf_hash: Option<Hash>, tree_size: Option<u64>) {
        self.lies.tell(ToldRekorLie {
            kind,
            uuid: None,
            log_index: None,
            leaf_hash,
            tree_size,
            root_hash: None,
        });
    }

    fn timestamp(&self) -> Timestamp {
        let ms = self.clock.unix_ms();
        Timestamp { seconds: (ms / 1000).cast_signed(), nanos: (ms % 1000 * NS_OF_MS) as i32 }
    }

    pub(super) fn with_own_stats(&self, stats: LabStats) -> LabStats {
        let state = self.lock();
        let (outstanding, tree_size) = (state.queue.len() as u64, state.size());
        LabStats {
            accepted: state.accepted,
            distinct: state.queued.len() as u64,
            outstanding,
            tree_size,
            published_size: tree_size,
            ..stats
        }
    }

    fn lock(&self) -> MutexGuard<'_, TrillianTree> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn consistency(state: &TrillianTree, first: u64, second: u64) -> Result<Proof, GrpcRefusal> {
    let path = consistency_proof(state.served(), first, second).map_err(|why| invalid(why.to_string()))?;
    Ok(proof(0, &path))
}

fn proof(index: u64, path: &[Hash]) -> Proof {
    Proof { leaf_index: index.cast_signed(), hashes: path.iter().map(|hash| hash.0.to_vec()).collect() }
}

fn not_negative(name: &str, value: i64) -> Result<u64, GrpcRefusal> {
    u64::try_from(value).map_err(|_| invalid(format!("{name}: {value}, want >= 0")))
}

fn positive(name: &str, value: i64) -> Result<u64, GrpcRefusal> {
    let value = not_negative(name, value)?;
    if value > 0 { Ok(value) } else { Err(invalid(format!("{name}: 0, want > 0"))) }
}

fn invalid(message: impl Into<String>) -> GrpcRefusal {
    GrpcRefusal::new(GrpcCode::InvalidArgument, message)
}

const EXISTS: &str = "Leaf already exists in the queue or the log";
const NS_OF_MS: u64 = 1_000_000;
/// The signer never runs more often than this.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);
/// No answer has more leaves.
const MOST_LEAVES: u64 = 1000;

#[cfg(test)]
mod tests {
    use hammer_lab::clock::SystemClock;

    use super::*;

    fn log() -> TrillianLog {
        let plan = TrillianLabPlan {
            tree_id: 7,
            max_unsequenced: hammer_values::Count::at_least_one(3),
            ..TrillianLabPlan::default()
        };
        TrillianLog::new(plan, Arc::new(SystemClock::new()))
    }

    fn queue(log: &TrillianLog, value: &[u8]) -> Result<QueuedLogLeaf, GrpcRefusal> {
        let leaf = LogLeaf { leaf_value: value.to_vec(), ..LogLeaf::default() };
        let answer = log.queue_leaf(QueueLeafRequest { log_id: 7, leaf: Some(leaf) })?;
        Ok(answer.queued_leaf.unwrap())
    }

    #[test]
    fn a_leaf_is_in_the_tree_once_it_was_sequenced_and_once_only() {
        let log = log();
        let queued = queue(&log, b"one").unwrap();
        assert_eq!(
            (queued.status, queued.leaf.unwrap().merkle_leaf_hash),
            (None, leaf_hash(b"one").0.to_vec())
        );
        assert_eq!(queue(&log, b"one").unwrap().status.unwrap().code, 6);
        let by_hash = |size| {
            let leaf_hash = leaf_hash(b"one").0.to_vec();
            log.inclusion_proof_by_hash(&GetInclusionProofByHashRequest {
                log_id: 7,
                leaf_hash,
                tree_size: size,
                order_by_sequence: false,
            })
        };
        assert!(by_hash(1).unwrap().proof.is_empty());
        log.sequence_once();
        assert_eq!(by_hash(1).unwrap().proof[0].leaf_index, 0);
        let root = log.latest_root(GetLatestSignedLogRootRequest { log_id: 7, first_tree_size: 1 }).unwrap();
        assert_eq!(root.signed_log_root.unwrap().read().unwrap().tree_size, 1);
    }

    #[test]
    fn a_foreign_tree_an_empty_leaf_and_a_used_up_quota_are_refused_by_their_codes() {
        let log = log();
        let root = log.latest_root(GetLatestSignedLogRootRequest { log_id: 42, first_tree_size: 0 });
        assert_eq!(root.unwrap_err(), GrpcRefusal::new(GrpcCode::NotFound, "tree 42 not found"));
        assert_eq!(queue(&log, b"").unwrap_err().code, GrpcCode::InvalidArgument);
        for value in [b"a", b"b", b"c"] {
            queue(&log, value).unwrap();
        }
        assert_eq!(queue(&log, b"d").unwrap_err().code, GrpcCode::ResourceExhausted);
        log.sequence_once();
        queue(&log, b"d").unwrap();
        let range =
            |start| log.leaves_by_range(GetLeavesByRangeRequest { log_id: 7, start_index: start, count: 2 });
        assert_eq!(range(1).unwrap().leaves.iter().map(|leaf| leaf.leaf_index).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(range(3).unwrap_err().code, GrpcCode::OutOfRange);
        assert_eq!(range(-1).unwrap_err().code, GrpcCode::InvalidArgument);
    }
}

//! Calls of the log, each one operation.

use std::fmt;

use hammer_core::compose::{Route as _, WeightedMix};
use hammer_core::draw::Draws;
use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::ServiceConfig;
use hammer_measure::Nanos;
use hammer_net::{Answer, ClientConfig};
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::merkle::leaf_hash;

use crate::beside::OwedCheck;
use crate::error::TrillianError;
use crate::judge::TrillianJudge;
use crate::plan::{TrillianKind, TrillianPlan};
use crate::promise::TrillianPromise;
use crate::session::TrillianSession;
use crate::target::{TrillianRun, TrillianTarget};

/// Calls a log of Trillian. What is answered is a promise, which verifiers hold against the roots that were seen. What that takes beyond
/// the answer is called beside the operation: proofs of leaves that were read as the step `proof`, and until a queued leaf is found in
/// the tree as the step `look-up`.
pub struct TrillianWorkload {
    kinds: Vec<TrillianKind>,
    mix: WeightedMix,
    pub(crate) draws: Draws,
    leaf_bytes: usize,
    pub(crate) leaves: u64,
    looked_up: f64,
    stream: u64,
    pub(crate) tree_id: i64,
    pub(crate) integration_delay: Nanos,
    service: ServiceConfig,
    judge: TrillianJudge,
}

/// What is asked, and the room for the answer.
#[derive(Default)]
pub struct TrillianOp {
    /// The number of the leaf that is queued.
    pub(crate) seq: u64,
    pub(crate) series: usize,
    pub(crate) draw: u64,
    /// The leaf that is queued.
    pub(crate) leaf: Vec<u8>,
    pub(crate) leaf_hash: Hash,
    pub(crate) is_looked_up: bool,
    pub(crate) answer: Answer,
    /// The room for what is called beside it.
    pub(crate) beside: Answer,
    /// What is to be called beside it, once it was answered.
    pub(crate) owed: Option<OwedCheck>,
}

impl TrillianWorkload {
    /// Calls of `plan`, by a client whose connections are those of the whole run and are split over the shards.
    ///
    /// # Errors
    /// When nothing is to be called.
    pub fn new(
        plan: &TrillianPlan,
        target: &TrillianTarget,
        run: &TrillianRun,
        client: ClientConfig,
    ) -> Result<Self, TrillianError> {
        let drawn = plan.mix.drawn().map(|(kind, weight)| (*kind, weight));
        let (kinds, weights): (Vec<_>, Vec<_>) = drawn.unzip();
        if kinds.is_empty() {
            return Err(TrillianError::NothingToCall);
        }
        let stream = plan.stream.unwrap_or(run.workload);
        let draws = |label: u64| Draws::new(run.seed, label ^ stream << 32);
        Ok(Self {
            mix: WeightedMix::new(&weights, draws(KINDS)),
            kinds,
            draws: draws(PLACES),
            leaf_bytes: plan.leaf_bytes.get().max(LEAST_LEAF),
            leaves: plan.leaves.get() as u64,
            looked_up: plan.looked_up.of_1(),
            stream,
            tree_id: target.tree_id,
            integration_delay: target.integration_delay.into(),
            service: ServiceConfig::new(SERVICE, client),
            judge: TrillianJudge::default(),
        })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight; all of them
    /// unless this is called.
    #[must_use]
    pub fn warm_up(self, connections: usize) -> Self {
        Self { service: ServiceConfig { warm_up: connections, ..self.service }, ..self }
    }

    /// Replaces `out` by the leaf of an operation: text that nobody else queues, and bytes that are drawn behind it.
    fn write_leaf(&self, seq: u64, out: &mut Vec<u8>) {
        out.clear();
        let of_run = Draws::new(self.draws.bits(seq), self.stream);
        let mut blocks = (0..).map(|block| of_run.bits(block));
        while out.len() < self.leaf_bytes {
            out.extend_from_slice(&blocks.next().unwrap_or_default().to_be_bytes());
        }
        out.truncate(self.leaf_bytes);
        // Whatever is drawn, no two operations of a workload have the same.
        out[..8].copy_from_slice(&seq.to_be_bytes());
        out[8..16].copy_from_slice(&self.stream.to_be_bytes());
    }

    async fn call(
        &self,
        session: &TrillianSession,
        op: &mut TrillianOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        match self.kinds[op.series] {
            TrillianKind::QueueLeaf => self.queue_leaf(session, op, record).await,
            TrillianKind::GetLatestSignedLogRoot => self.latest_root(session, op, record).await.map(drop),
            TrillianKind::GetInclusionProof => self.proof(session, op, record).await,
            TrillianKind::GetInclusionProofByHash => self.proof_by_hash(session, op, record).await,
            TrillianKind::GetLeavesByRange => self.leaves(session, op, record).await,
        }
    }

    /// The series of proofs of leaves that were read, and of look-ups of leaves that were queued.
    pub(crate) fn beside_series(&self) -> (usize, usize) {
        (self.kinds.len(), self.kinds.len() + 1)
    }
}

impl Workload for TrillianWorkload {
    type Op = Box<TrillianOp>;
    type Session = TrillianSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let operations = self.kinds.iter().map(|kind| (kind.name(), true));
        let series = operations.chain([("proof", false), ("look-up", false)]);
        series.map(|(name, operation)| SeriesSpec::new(name, operation)).collect()
    }

    fn series_of(&self, seq: u64) -> usize {
        self.mix.of(seq).0
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<TrillianOp>>) -> Box<TrillianOp> {
        let mut op = reuse.unwrap_or_default();
        (op.seq, op.series, op.draw, op.owed) = (seq, self.mix.of(seq).0, self.draws.bits(seq), None);
        if self.kinds[op.series] == TrillianKind::QueueLeaf {
            self.write_leaf(seq, &mut op.leaf);
            op.leaf_hash = leaf_hash(&op.leaf);
            op.is_looked_up = self.draws.unit(!seq) < self.looked_up;
        }
        op
    }

    async fn open(&self, context: ShardContext) -> Result<TrillianSession, FatalError> {
        TrillianSession::open(&self.service, &context).await
    }

    /// A call that needs a root or a leaf before any was seen asks for that first; where the tree is empty, there is nothing else to ask.
    async fn execute(
        &self,
        session: &TrillianSession,
        (): &(),
        op: &mut Box<TrillianOp>,
        record: &OperationRecord,
    ) -> Ended {
        let ended = self.call(session, op, record).await;
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        match ended {
            Ok(()) => Ended::accepted(200),
            Err(ended) => ended,
        }
    }

    async fn check(&self, session: &TrillianSession, op: &mut Box<TrillianOp>, record: &OperationRecord) {
        if let Some(owed) = op.owed.take() {
            self.check_owed(session, owed, op, record).await;
        }
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &TrillianPromise::NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(self.judge.verifier())
    }
}

impl fmt::Debug for TrillianOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrillianOp").field("leaf_hash", &self.leaf_hash).finish_non_exhaustive()
    }
}

/// The service by whose name the report tells of its connections.
const SERVICE: &str = "trillian";
/// Two numbers that make it one of its own, and as many bytes again.
const LEAST_LEAF: usize = 32;
const KINDS: u64 = 0x5472_6b64;
const PLACES: u64 = 0x5472_706c;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::*;

    fn workload(seed: u64, stream: u64, bytes: usize) -> TrillianWorkload {
        let plan = TrillianPlan {
            leaf_bytes: hammer_values::Count::at_least_one(bytes),
            ..serde_json::from_str(r#"{"mix": {"queue-leaf": 1}}"#).unwrap()
        };
        let target =
            TrillianTarget { endpoints: Vec::new(), tree_id: 1, integration_delay: Duration::from_secs(1) };
        let run = TrillianRun { seed, workload: stream };
        TrillianWorkload::new(&plan, &target, &run, ClientConfig::new("http://127.0.0.1:1".parse().unwrap()))
            .unwrap()
    }

    fn leaf(workload: &TrillianWorkload, seq: u64) -> Vec<u8> {
        workload.prepare(&mut (), seq, None).leaf.clone()
    }

    #[test]
    fn each_operation_of_each_seed_and_stream_queues_a_leaf_of_its_own() {
        let workloads = [workload(0, 0, 64), workload(0, 1, 64), workload(1, 0, 64)];
        let leaves: BTreeSet<Vec<u8>> =
            workloads.iter().flat_map(|workload| (0..50).map(|seq| leaf(workload, seq))).collect();
        assert_eq!(leaves.len(), 150);
        assert!(leaves.iter().all(|leaf| leaf.len() == 64));
        assert_eq!(leaf(&workloads[0], 7), leaf(&workload(0, 0, 64), 7));
        assert_eq!(leaf(&workload(0, 0, 1), 7).len(), 32);
        assert_eq!(leaf(&workload(0, 0, 1001), 7).len(), 1001);
    }

    #[test]
    fn a_workload_that_calls_nothing_is_refused() {
        let target =
            TrillianTarget { endpoints: Vec::new(), tree_id: 1, integration_delay: Duration::from_secs(1) };
        let run = TrillianRun { seed: 0, workload: 0 };
        let made = TrillianWorkload::new(
            &TrillianPlan::default(),
            &target,
            &run,
            ClientConfig::new("http://127.0.0.1:1".parse().unwrap()),
        );
        assert_eq!(made.err(), Some(TrillianError::NothingToCall));
    }
}

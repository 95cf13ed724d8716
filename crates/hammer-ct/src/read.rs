//! Reads: tree heads, and what lies below them: tiles, bundles and issuers of static-ct-api, entries and proofs of RFC 6962.

use std::sync::Arc;

use hammer_audit::{HeadMemory, LogClient};
use hammer_core::compose::{Route as _, WeightedMix};
use hammer_core::draw::Draws;
use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::ServiceConfig;
use hammer_net::{Answer, ClientConfig};
use hammer_read::{LogReads, Place};
use hammer_tlog::ct::rfc6962::GetSthResponse;
use hammer_tlog::logs::note::{Checkpoint, Note};

use crate::error::CtError;
use crate::log::{LogKind, LogTarget, SERVICE};
use crate::plan::{ReadKind, ReadPlan};
use crate::promise::LogPromise;
use crate::run::CtRun;

mod entries;
mod owed;
mod record;
mod session;
mod tiles;
mod verify;

pub use session::ReadSession;
pub use verify::ReadVerifier;

use owed::OwedCheck;

/// Reads a log. What was read is a promise, which a [`ReadVerifier`] holds against the tree head that the session saw. What
/// that takes beyond the answer itself, tiles on the way to the root or an audit path, is read beside the operation, on connections of
/// its own, as the step `audit-path`; where it is refused, the promise stays unchecked; where it came whole and cannot be read, it is broken.
#[derive(Debug)]
pub struct ReadWorkload {
    log: Arc<LogTarget>,
    plan: ReadPlan,
    service: ServiceConfig,
    kinds: Vec<ReadKind>,
    mix: WeightedMix,
    draws: Draws,
    heads: Option<HeadMemory>,
}

/// What is read, and the room for the answer.
#[derive(Debug)]
pub struct ReadOp {
    kind: ReadKind,
    place: Place,
    answer: Answer,
    /// The room for what is read beside it.
    beside: Answer,
    /// What is to be read beside it, once it was answered.
    owed: Option<OwedCheck>,
}

impl ReadWorkload {
    /// Sets the reads up. The endpoints of `client` are replaced by the log's; its connections are those of the whole run and
    /// are split over the shards.
    ///
    /// # Errors
    /// [`CtError::Value`] for a kind that the log does not have.
    pub fn new(
        plan: &ReadPlan,
        log: Arc<LogTarget>,
        client: ClientConfig,
        run: &CtRun,
    ) -> Result<Self, CtError> {
        let draws = |label: u64| Draws::new(run.seed, label ^ run.workload << 32);
        let (kinds, weights): (Vec<_>, Vec<_>) = plan.weights(log.kind)?.into_iter().unzip();
        let mix = WeightedMix::new(&weights, draws(KINDS));
        let service = ServiceConfig::new(SERVICE, log.monitoring_client(client));
        Ok(Self { log, plan: plan.clone(), service, kinds, mix, draws: draws(PLACES), heads: None })
    }

    /// Hands the tree heads that were verified to whoever follows the log, so that one that it was shown otherwise is found.
    #[must_use]
    pub fn heads(self, heads: HeadMemory) -> Self {
        Self { heads: Some(heads), ..self }
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight;
    /// all of them unless this is called.
    #[must_use]
    pub fn warm_up(self, connections: usize) -> Self {
        Self { service: ServiceConfig { warm_up: connections, ..self.service }, ..self }
    }

    /// The service by whose name the report tells of its connections; `log` unless this is called.
    #[must_use]
    pub fn of_service(self, name: &str) -> Self {
        Self { service: ServiceConfig { name: name.to_owned(), ..self.service }, ..self }
    }

    async fn read(
        &self,
        session: &ReadSession,
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        match op.kind {
            ReadKind::Checkpoint | ReadKind::GetSth => {
                return session.tree_head(op, record, size_of_tree(self.log.kind)).await.map(drop);
            }
            ReadKind::GetRoots => return session.roots(op, record).await,
            _ => {}
        }
        let head = match session.newest() {
            Some(head) => head,
            None => match session.tree_head(op, record, size_of_tree(self.log.kind)).await? {
                Some(head) => head,
                // An empty tree has nothing else to read.
                None => return Ok(()),
            },
        };
        let entries = self.plan.entries.get() as u64;
        match op.kind {
            ReadKind::Tile => session.tile(&head, op, record).await,
            ReadKind::Bundle => session.bundle(&head, op, record).await,
            ReadKind::Names => session.names(&head, op, record).await,
            ReadKind::Issuer => session.issuer(&head, op, record).await,
            ReadKind::GetEntries => session.entries(&head, entries, op, record).await,
            ReadKind::GetProofByHash => session.proof_by_hash(&head, op, record).await,
            ReadKind::GetEntryAndProof => session.entry_and_proof(&head, op, record).await,
            _ => {
                if session.is_first(&head) {
                    session.tree_head(op, record, size_of_tree(self.log.kind)).await?;
                }
                session.consistency(op, record).await
            }
        }
    }
}

impl Workload for ReadWorkload {
    type Op = ReadOp;
    type Session = ReadSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let operations = self.kinds.iter().map(|kind| (kind.name(), true));
        let series = operations.chain([(AUDIT_PATH, false)]);
        series.map(|(name, operation)| SeriesSpec::new(name, operation)).collect()
    }

    fn series_of(&self, seq: u64) -> usize {
        self.mix.of(seq).0
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<ReadOp>) -> ReadOp {
        let (answer, beside) = reuse.map(|op| (op.answer, op.beside)).unwrap_or_default();
        let (series, rank) = self.mix.of(seq);
        let place = Place { pattern: self.plan.pattern, rank, draw: self.draws.bits(seq) };
        ReadOp { kind: self.kinds[series], place, answer, beside, owed: None }
    }

    async fn open(&self, context: ShardContext) -> Result<ReadSession, FatalError> {
        let open = async |service: &ServiceConfig| -> Result<LogClient, FatalError> {
            Ok(match &self.log.folder {
                Some(_) => {
                    let place = self.log.place(self.service.client.clone());
                    LogClient::open(place, context.clock.clone())?
                }
                None => LogClient::Server(service.open(&context).await?.into_client()),
            })
        };
        let own = open(&self.service).await?;
        let beside = open(&self.service.beside(BESIDE.min(self.service.client.connections))).await?;
        let path_series = self.kinds.len();
        let reads = LogReads::new(own, beside, path_series, &context.clock);
        let largest_answer = self.service.client.response_limit;
        Ok(ReadSession::new(reads, self.log.tree_head_path(), largest_answer))
    }

    /// A read of the tree before any tree head was seen reads that first; where it says that the tree is empty, there is
    /// nothing else to read.
    async fn execute(
        &self,
        session: &ReadSession,
        (): &(),
        op: &mut ReadOp,
        record: &OperationRecord,
    ) -> Ended {
        match self.read(session, op, record).await {
            Ok(()) => Ended::accepted(200),
            Err(ended) => ended,
        }
    }

    async fn check(&self, session: &ReadSession, op: &mut ReadOp, record: &OperationRecord) {
        if let Some(owed) = op.owed.take() {
            session.check(&owed, op, record).await;
        }
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &LogPromise::NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(Box::new(ReadVerifier::new(self.log.clone(), self.heads.clone())))
    }
}

/// How large the tree is by a tree head whose signature nobody has looked at yet.
fn size_of_tree(kind: LogKind) -> fn(&[u8]) -> Option<u64> {
    match kind {
        LogKind::StaticCt => |body| Some(Checkpoint::parse(Note::parse(body).ok()?.text).ok()?.size),
        LogKind::Rfc6962 => |body| Some(serde_json::from_slice::<GetSthResponse>(body).ok()?.tree_size),
    }
}

/// The series of what is read to verify what was read (RFC 6962 section 2.1.1).
const AUDIT_PATH: &str = "audit-path";
/// Connections over the whole run for what is read beside operations, which must not wait for theirs.
const BESIDE: usize = 16;
const KINDS: u64 = 0x5265_6164;
const PLACES: u64 = 0x506c_6163;

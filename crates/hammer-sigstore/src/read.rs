//! Reads of single services: what the logs, the authorities and the issuers of certificates say of themselves.

use std::sync::Arc;

use hammer_core::compose::{Route as _, WeightedMix};
use hammer_core::draw::Draws;
use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::ServiceConfig;
use hammer_measure::Nanos;
use hammer_net::{Answer, ClientConfig};
use hammer_read::{Place, ReadPattern};
use hammer_values::SampleShare;

use crate::error::SigstoreError;
use crate::followed_heads::FollowedHeads;
use crate::plan::{SearchKey, ServiceReadKind, ServiceReadPlan};
use crate::run::SigstoreRun;
use crate::target::{SigstoreService, SigstoreTarget};

mod check;
mod judge;
mod log_info;
mod promise;
pub(crate) mod search;
mod session;
mod tiles;

use judge::ReadJudge;
use promise::ReadPromise;
use search::OwedEntry;
pub use session::ServiceReadSession;
use tiles::OwedTile;

/// Reads services. What was read is a promise: it is held against what is trusted, and, of Rekor v2, against the root of a checkpoint
/// that the session saw. What that takes beyond the answer is read beside the operation, as the step `audit-path`.
pub struct ServiceReadWorkload {
    kinds: Vec<ServiceReadKind>,
    mix: WeightedMix,
    draws: Draws,
    pattern: ReadPattern,
    search_for: Arc<[SearchKey]>,
    /// The share of searches of which an entry is read back.
    read_back: f64,
    missing_after: Nanos,
    services: Vec<(SigstoreService, ServiceConfig)>,
    judge: ReadJudge,
}

/// What is read, and the room for the answer.
#[derive(Debug)]
pub struct ServiceReadOp {
    series: usize,
    place: Place,
    answer: Answer,
    /// The room for what is read beside it.
    beside: Answer,
    /// Whether an entry that a search finds is read as well.
    is_read_back: bool,
    /// What is to be read beside it, once it was answered.
    owed: Option<OwedRead>,
}

/// What is to be read beside an operation.
#[derive(Debug)]
enum OwedRead {
    Tile(OwedTile),
    Entry(OwedEntry),
}

impl ServiceReadWorkload {
    /// Reads of `plan`. `client` makes the client of a service from its endpoints; its connections are those of the whole run, and are
    /// split over the shards.
    ///
    /// # Errors
    /// When nothing is to be read, a service is missing, or what its answers would be held against; when `client` fails.
    pub fn new<E: From<SigstoreError>>(
        plan: &ServiceReadPlan,
        target: &SigstoreTarget,
        run: &SigstoreRun,
        mut client: impl FnMut(SigstoreService) -> Result<ClientConfig, E>,
    ) -> Result<Self, E> {
        let drawn = plan.mix.drawn().map(|(kind, weight)| (*kind, weight));
        let (kinds, weights): (Vec<_>, Vec<_>) = drawn.unzip();
        if kinds.is_empty() {
            return Err(SigstoreError::NothingToRead.into());
        }
        let trust = &target.trust;
        for kind in &kinds {
            match kind {
                ServiceReadKind::LogInfo | ServiceReadKind::LogProof | ServiceReadKind::PublicKey => {
                    trust.expect_rekor()?;
                }
                ServiceReadKind::Certchain => trust.expect_timestamp_chain()?,
                ServiceReadKind::TrustBundle => trust.expect_fulcio()?,
                ServiceReadKind::Checkpoint | ServiceReadKind::Tile | ServiceReadKind::Bundle => {
                    trust.expect_rekor_tiles().map(drop)?;
                }
                // Of what is not read back the form alone is judged.
                ServiceReadKind::Search if plan.read_back != SampleShare::NONE => {
                    trust.expect_rekor()?;
                }
                ServiceReadKind::Search | ServiceReadKind::Configuration => {}
            }
        }
        let mut services = Vec::new();
        for service in plan.services() {
            services.push((service, ServiceConfig::new(service.name(), client(service)?)));
        }
        let draws = |label: u64| Draws::new(run.seed, label ^ run.workload << 32);
        Ok(Self {
            mix: WeightedMix::new(&weights, draws(KINDS)),
            kinds,
            draws: draws(PLACES),
            pattern: plan.pattern,
            search_for: plan.search_for.as_slice().into(),
            read_back: plan.read_back.of_1(),
            missing_after: plan.missing_after.duration().into(),
            services,
            judge: ReadJudge::new(trust.clone()),
        })
    }

    /// How many connections of the whole run to each service are established before the first arrival, where that many can be in
    /// flight; all of them unless this is called.
    #[must_use]
    pub fn warm_up(mut self, connections: usize) -> Self {
        self.services.iter_mut().for_each(|(_, service)| service.warm_up = connections);
        self
    }

    /// Waits for what is not there for a second less than an operation may take, at most: what its deadline cuts off is judged by nobody.
    #[must_use]
    pub fn within(self, timeout: Nanos) -> Self {
        let missing_after = self.missing_after.min(timeout.since(Nanos::from_secs(1)));
        Self { missing_after, ..self }
    }

    /// Hands the heads of Rekor v1 and v2 that were verified to whoever follows the logs, so that one that is shown two trees is found.
    #[must_use]
    pub fn heads(self, followed: FollowedHeads) -> Self {
        Self { judge: self.judge.following(followed), ..self }
    }

    async fn read(
        &self,
        session: &ServiceReadSession,
        op: &mut ServiceReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        match self.kinds[op.series] {
            ServiceReadKind::LogInfo => session.log_info(op, record).await.map(drop),
            ServiceReadKind::LogProof => session.log_proof(op, record).await,
            ServiceReadKind::Search => session.search(&self.search_for, op, record).await,
            ServiceReadKind::Checkpoint => session.checkpoint(op, record).await.map(drop),
            ServiceReadKind::Tile => session.tile(op, record).await,
            ServiceReadKind::Bundle => session.bundle(op, record).await,
            kind => session.document(kind, op, record).await,
        }
    }
}

impl Workload for ServiceReadWorkload {
    type Op = Box<ServiceReadOp>;
    type Session = ServiceReadSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let operations = self.kinds.iter().map(|kind| (kind.name(), true));
        let tiles = self.reads_tiles().then_some((AUDIT_PATH, false));
        let series = operations.chain(tiles).chain(self.reads_back().then_some((FOUND_ENTRY, false)));
        series.map(|(name, operation)| SeriesSpec::new(name, operation)).collect()
    }

    fn series_of(&self, seq: u64) -> usize {
        self.mix.of(seq).0
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<ServiceReadOp>>) -> Box<ServiceReadOp> {
        let (series, rank) = self.mix.of(seq);
        let place = Place { pattern: self.pattern, rank, draw: self.draws.bits(seq) };
        let mut op = reuse.unwrap_or_else(|| {
            let (answer, beside) = Default::default();
            Box::new(ServiceReadOp { series, place, answer, beside, is_read_back: false, owed: None })
        });
        (op.series, op.place, op.owed) = (series, place, None);
        op.is_read_back = self.draws.unit(!seq) < self.read_back;
        op
    }

    async fn open(&self, context: ShardContext) -> Result<ServiceReadSession, FatalError> {
        let waits = (self.kinds.len(), self.missing_after);
        ServiceReadSession::open(&self.services, waits, &context).await
    }

    /// A read of a tree before any head of it was seen reads that first; where it says that the tree is empty, there is nothing else
    /// to read.
    async fn execute(
        &self,
        session: &ServiceReadSession,
        (): &(),
        op: &mut Box<ServiceReadOp>,
        record: &OperationRecord,
    ) -> Ended {
        let ended = self.read(session, op, record).await;
        // They hold on to the buffer that the connection read them into; what is owed needs those of its encoding no more.
        op.answer.headers.clear();
        match ended {
            Ok(()) => Ended::accepted(200),
            Err(ended) => ended,
        }
    }

    async fn check(
        &self,
        session: &ServiceReadSession,
        op: &mut Box<ServiceReadOp>,
        record: &OperationRecord,
    ) {
        match op.owed.take() {
            Some(OwedRead::Tile(owed)) => session.check(&owed, op, record).await,
            Some(OwedRead::Entry(owed)) => {
                let series = self.kinds.len() + usize::from(self.reads_tiles());
                session.found(owed, (self.missing_after, series), op, record).await;
            }
            None => {}
        }
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &ReadPromise::NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(self.judge.verifier())
    }
}

impl ServiceReadWorkload {
    /// Whether entries that searches find are read.
    fn reads_back(&self) -> bool {
        self.read_back > 0.0 && self.kinds.contains(&ServiceReadKind::Search)
    }

    fn reads_tiles(&self) -> bool {
        self.services.iter().any(|(service, _)| *service == SigstoreService::RekorTilesRead)
    }
}

/// The series of what is read to verify what was read.
const AUDIT_PATH: &str = "audit-path";
/// The series of entries that searches found.
const FOUND_ENTRY: &str = "found-entry";
const KINDS: u64 = 0x5362_6164;
const PLACES: u64 = 0x536c_6163;

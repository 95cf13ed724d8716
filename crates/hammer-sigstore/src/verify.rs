//! Verify flows: an entry that a sign flow of this run got logged is read back, with the chain of the timestamp authority.

use std::cell::RefCell;
use std::rc::Rc;

use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::sample::Reservoir;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{ServiceClient, ServiceConfig, expect_ok};
use hammer_measure::{Nanos, Outcome};
use hammer_net::{Answer, ClientConfig, Request};
use http::StatusCode;

use crate::corpus::{Corpus, CorpusEntry};
use crate::error::SigstoreError;
use crate::judge::Judge;
use crate::plan::VerifyPlan;
use crate::promise::SigstorePromise;
use crate::record::{ArtifactRecord, Instants, PromiseRecord};
use crate::rekor::{ENTRIES, leaf_of};
use crate::run::SigstoreRun;
use crate::target::{SigstoreService, SigstoreTarget};
use crate::timestamp::CHAIN;

/// Verifies: each operation reads what somebody who verifies a signature reads. What it is answered with are promises.
pub struct VerifyWorkload {
    rekor: ServiceConfig,
    timestamp: Option<ServiceConfig>,
    missing_after: Nanos,
    judge: Judge,
}

/// A flow, and the room for what it is answered with.
#[derive(Default)]
pub struct VerifyOp {
    seq: u64,
    path: String,
    answer: Answer,
    record: Vec<u8>,
}

/// A shard's clients, and the entries that it may ask for.
pub struct VerifySession {
    rekor: ServiceClient,
    /// The client of the timestamp authority, and the request for its chain.
    timestamp: Option<(ServiceClient, Request)>,
    corpus: Rc<RefCell<Reservoir<CorpusEntry>>>,
    clock: Rc<dyn Clock>,
}

impl VerifyWorkload {
    /// Flows of `plan`. `client` makes the client of a service from its endpoints; its connections are those of the whole run, and are
    /// split over the shards.
    ///
    /// # Errors
    /// When a service is missing, or what its answers would be held against; when `client` fails.
    pub fn new<E: From<SigstoreError>>(
        plan: &VerifyPlan,
        target: &SigstoreTarget,
        run: &SigstoreRun,
        mut client: impl FnMut(SigstoreService) -> Result<ClientConfig, E>,
    ) -> Result<Self, E> {
        target.trust.expect_rekor()?;
        target.trust.expect_fulcio()?;
        if plan.timestamp_chain {
            target.trust.expect_timestamp_chain()?;
        }
        let mut service = |service: SigstoreService| -> Result<ServiceConfig, E> {
            Ok(ServiceConfig::new(service.name(), client(service)?))
        };
        Ok(Self {
            rekor: service(SigstoreService::Rekor)?,
            timestamp: plan.timestamp_chain.then(|| service(SigstoreService::Timestamp)).transpose()?,
            missing_after: plan.missing_after.duration().into(),
            judge: Judge::new(target.trust.clone(), run.epoch_unix_ms),
        })
    }

    /// How many connections of the whole run to each service are established before the first arrival, where that many can be in
    /// flight; all of them unless this is called.
    #[must_use]
    pub fn warm_up(mut self, connections: usize) -> Self {
        std::iter::once(&mut self.rekor)
            .chain(&mut self.timestamp)
            .for_each(|service| service.warm_up = connections);
        self
    }

    async fn verified(
        &self,
        session: &VerifySession,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        self.entry(session, op, record).await?;
        if let Some((client, request)) = &session.timestamp {
            let mut step = record.step(TIMESTAMP_CHAIN);
            client.send(&mut step, request, &mut op.answer).await?;
            expect_ok(&mut step, &op.answer)?;
            drop(step);
            let at = Instants::of(record, &op.answer.wire);
            PromiseRecord::TimestampChain { at, body: &op.answer.body }.write(&mut op.record);
            record.promise(SigstorePromise::TimestampChain.into(), &op.record);
        }
        Ok(Ended::accepted(200))
    }

    async fn entry(
        &self,
        session: &VerifySession,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        session.first_entry().await?;
        let VerifyOp { seq, path, answer, record: written } = op;
        let (leaf, index, artifact, logged_at) = {
            let corpus = session.corpus.borrow();
            let drawn = corpus.draw(*seq).ok_or(NOTHING_LOGGED)?;
            path.clear();
            path.extend([ENTRIES, "/", &drawn.uuid]);
            (leaf_of(&drawn.uuid).ok_or(NO_UUID)?, drawn.log_index, drawn.artifact.clone(), drawn.logged_at)
        };
        let path = session.rekor.path(path).map_err(|_| NO_UUID)?;
        let mut step = record.step(ENTRY);
        session.rekor.send(&mut step, &Request::get(path), answer).await?;
        let read = expect_ok(&mut step, answer);
        drop(step);
        // Rekor v1 answers a write with a proof that the entry is in its tree: but for replicas that lag it cannot be missing.
        let age = Nanos(answer.wire.done.unwrap_or_default().0.saturating_sub(logged_at.0));
        let is_missing = answer.status == StatusCode::NOT_FOUND && age >= self.missing_after;
        if read.is_ok() || is_missing {
            let at = Instants::of(record, &answer.wire);
            let body = (!is_missing).then_some(answer.body.as_slice());
            let told = ArtifactRecord { at, leaf, index, artifact: &artifact, body };
            PromiseRecord::Artifact(told).write(written);
            record.promise(SigstorePromise::Artifact.into(), written);
        }
        read
    }
}

impl VerifySession {
    /// Waits for the first entry that a sign flow of this shard gets logged: users of a closed loop would else come back at once, and
    /// again.
    async fn first_entry(&self) -> Result<(), Ended> {
        let deadline = self.clock.now() + LONGEST_WAIT;
        while self.corpus.borrow().draw(0).is_none() {
            let now = self.clock.now();
            if now >= deadline {
                return Err(NOTHING_LOGGED);
            }
            self.clock.sleep_until(now + LOOK_EVERY).await;
        }
        Ok(())
    }
}

impl Workload for VerifyWorkload {
    type Op = Box<VerifyOp>;
    type Session = VerifySession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let spec = |name: &str, operation| SeriesSpec { name: name.to_owned(), operation };
        let chain = self.timestamp.as_ref().map(|_| spec("timestamp-chain", false));
        [spec("verify", true), spec("rekor-entry", false)].into_iter().chain(chain).collect()
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<VerifyOp>>) -> Box<VerifyOp> {
        let mut op = reuse.unwrap_or_default();
        op.seq = seq;
        op
    }

    async fn open(&self, context: ShardContext) -> Result<VerifySession, FatalError> {
        let rekor = self.rekor.open(&context).await?;
        let timestamp = match &self.timestamp {
            Some(service) => {
                let client = service.open(&context).await?;
                let request = Request::get(client.path(CHAIN)?);
                Some((client, request))
            }
            None => None,
        };
        Ok(VerifySession { rekor, timestamp, corpus: Corpus::of(&context), clock: context.clock.clone() })
    }

    async fn execute(
        &self,
        session: &VerifySession,
        (): &(),
        op: &mut Box<VerifyOp>,
        record: &OperationRecord,
    ) -> Ended {
        let ended = self.verified(session, op, record).await;
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        ended.unwrap_or_else(|ended| ended)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &SigstorePromise::NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(self.judge.verifier())
    }
}

/// How long a flow waits for something to verify, and how often it looks.
const LONGEST_WAIT: Nanos = Nanos(5_000_000_000);
const LOOK_EVERY: Nanos = Nanos(10_000_000);
const ENTRY: usize = 1;
const TIMESTAMP_CHAIN: usize = 2;
/// Nothing was sent: no sign flow of this shard has an entry yet.
const NOTHING_LOGGED: Ended = Ended::failed(Outcome::Abandoned, "nothing logged yet");
const NO_UUID: Ended = Ended::failed(Outcome::Malformed, "no uuid");

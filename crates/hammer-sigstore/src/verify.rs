//! Verify flows: an entry that a sign flow got logged is read back, with the chain of the timestamp authority.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::draw::Draws;
use hammer_core::promise::Verifier;
use hammer_core::record::{OperationRecord, StepGuard};
use hammer_core::runtime::Clock;
use hammer_core::sample::Reservoir;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{ServiceClient, ServiceConfig, expect_ok};
use hammer_measure::{Nanos, Outcome};
use hammer_net::{Answer, BodyBuffer, ClientConfig, Request};
use hammer_tlog::hash::sha256;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};

use crate::corpus::entry::{CorpusEntry, CorpusLog};
use crate::corpus::{Corpus, CorpusFile, DrawnCorpus};
use crate::error::SigstoreError;
use crate::judge::Judge;
use crate::judge::rekor_log::follow_link::FollowLink;
use crate::plan::{VerifyBy, VerifyPlan};
use crate::promise::SigstorePromise;
use crate::record::{ArtifactRecord, Instants, PromiseRecord, SearchRecord};
use crate::rekor::{self, ENTRIES, SEARCH, leaf_of};
use crate::run::SigstoreRun;
use crate::target::{SigstoreService, SigstoreTarget};
use crate::timestamp::CHAIN;

/// Verifies: each operation reads what somebody who verifies a signature reads. What it is answered with are promises.
pub struct VerifyWorkload {
    rekor: ServiceConfig,
    timestamp: Option<ServiceConfig>,
    missing_after_ms: u64,
    by: VerifyBy,
    /// The entries of a file; those of this run's sign flows without it.
    corpus: Option<Arc<DrawnCorpus>>,
    epoch_unix_ms: u64,
    series: VerifySeries,
    judge: Judge,
}

/// The places of the steps' series among those of the workload.
#[derive(Clone, Copy, Debug)]
struct VerifySeries {
    search: Option<usize>,
    entry: usize,
    timestamp_chain: Option<usize>,
}

/// A flow, and the room for what it is answered with.
#[derive(Default)]
pub struct VerifyOp {
    seq: u64,
    path: String,
    search: BodyBuffer,
    /// What is read.
    entry: CorpusEntry,
    answer: Answer,
    record: Vec<u8>,
}

/// A shard's clients, and the entries that it may ask for.
pub struct VerifySession {
    rekor: ServiceClient,
    /// The request for a search, without its body.
    search: Request,
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
        let corpus = plan.corpus.as_deref().map(|path| drawn(path, plan, run)).transpose()?;
        let mut service = |service: SigstoreService| -> Result<ServiceConfig, E> {
            Ok(ServiceConfig::new(service.name(), client(service)?))
        };
        Ok(Self {
            rekor: service(SigstoreService::Rekor)?,
            timestamp: plan.timestamp_chain.then(|| service(SigstoreService::Timestamp)).transpose()?,
            missing_after_ms: plan.missing_after.duration().as_millis() as u64,
            by: plan.by,
            corpus: corpus.map(Arc::new),
            epoch_unix_ms: run.epoch_unix_ms,
            series: VerifySeries::of(plan),
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

    /// Has what Rekor v1 answers followed: the promise of an artifact is pending until its entry's checkpoint was joined to the log's tree.
    #[must_use]
    pub fn followed(self, follow: FollowLink) -> Self {
        Self { judge: self.judge.followed(follow), ..self }
    }

    async fn verified(
        &self,
        session: &VerifySession,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        self.draw(session, op).await?;
        if let Some(series) = self.series.search {
            self.search(session, op, record.step(series), record).await?;
        }
        self.entry(session, op, record).await?;
        if let Some(((client, request), series)) = session.timestamp.as_ref().zip(self.series.timestamp_chain)
        {
            let mut step = record.step(series);
            client.send(&mut step, request, &mut op.answer).await?;
            expect_ok(&mut step, &op.answer)?;
            drop(step);
            let at = Instants::of(record, &op.answer.wire);
            PromiseRecord::TimestampChain { at, body: &op.answer.body }.write(&mut op.record);
            record.promise(SigstorePromise::TimestampChain.into(), &op.record);
        }
        Ok(Ended::accepted(200))
    }

    /// Takes over what the flow reads: its memory is the operation's own, since the sample goes on changing.
    async fn draw(&self, session: &VerifySession, op: &mut VerifyOp) -> Result<(), Ended> {
        if let Some(corpus) = &self.corpus {
            op.entry.rewrite(&corpus.draw(op.seq).logged());
            return Ok(());
        }
        session.first_entry().await?;
        let corpus = session.corpus.borrow();
        op.entry.rewrite(&corpus.draw(op.seq).ok_or(NOTHING_LOGGED)?.logged());
        Ok(())
    }

    /// Looks for the hash of what was signed; the flow goes on where its entry is among what is found.
    async fn search(
        &self,
        session: &VerifySession,
        op: &mut VerifyOp,
        mut step: StepGuard<'_>,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let VerifyOp { search, answer, entry, record: written, .. } = op;
        search.rewrite(|out| rekor::write_search(out, &sha256(&entry.artifact)));
        let request = Request { body: search.body(), ..session.search.clone() };
        session.rekor.send(&mut step, &request, answer).await?;
        expect_ok(&mut step, answer)?;
        let is_found = memchr_of(&answer.body, entry.uuid.as_bytes());
        if !is_found {
            step.ends(NOT_FOUND);
        }
        drop(step);
        // The index is written after the answer to the write.
        if is_found || self.is_late(entry, answer) {
            let at = Instants::of(record, &answer.wire);
            let leaf = leaf_of(&entry.uuid).ok_or(NO_UUID)?;
            let told = SearchRecord { at, leaf, index: entry.log_index, body: &answer.body };
            PromiseRecord::Search(told).write(written);
            record.promise(SigstorePromise::Search.into(), written);
        }
        if is_found { Ok(()) } else { Err(NOT_FOUND) }
    }

    async fn entry(
        &self,
        session: &VerifySession,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let VerifyOp { path, answer, entry, record: written, .. } = op;
        let leaf = leaf_of(&entry.uuid).ok_or(NO_UUID)?;
        path.clear();
        match self.by {
            VerifyBy::Uuid | VerifyBy::Search => path.extend([ENTRIES, "/", &entry.uuid]),
            VerifyBy::Index => {
                // A text takes whatever is written to it.
                let _ = write!(path, "{ENTRIES}?logIndex={}", entry.log_index);
            }
        }
        let path = session.rekor.path(path).map_err(|_| NO_UUID)?;
        let mut step = record.step(self.series.entry);
        session.rekor.send(&mut step, &Request::get(path), answer).await?;
        let read = expect_ok(&mut step, answer);
        drop(step);
        // Rekor v1 answers a write with a proof that the entry is in its tree: but for replicas that lag it cannot be missing.
        let is_missing = answer.status == StatusCode::NOT_FOUND && self.is_late(entry, answer);
        if read.is_ok() || is_missing {
            let at = Instants::of(record, &answer.wire);
            let body = (!is_missing).then_some(answer.body.as_slice());
            let (artifact, identity) = (entry.artifact.as_slice(), entry.identity.as_str());
            let told = ArtifactRecord { at, leaf, index: entry.log_index, artifact, identity, body };
            PromiseRecord::Artifact(told).write(written);
            record.promise(SigstorePromise::Artifact.into(), written);
        }
        read
    }

    /// Whether an entry may no longer be unknown to whoever answered now.
    fn is_late(&self, entry: &CorpusEntry, answer: &Answer) -> bool {
        let now = self.epoch_unix_ms + answer.wire.done.unwrap_or_default().0 / 1_000_000;
        now.saturating_sub(entry.logged_unix_ms) >= self.missing_after_ms
    }
}

impl VerifySeries {
    fn of(plan: &VerifyPlan) -> Self {
        let search = (plan.by == VerifyBy::Search).then_some(1);
        let entry = search.map_or(1, |search| search + 1);
        Self { search, entry, timestamp_chain: plan.timestamp_chain.then_some(entry + 1) }
    }
}

/// The entries of a file, as the plan draws them.
fn drawn(path: &Path, plan: &VerifyPlan, run: &SigstoreRun) -> Result<DrawnCorpus, SigstoreError> {
    let mut entries = CorpusFile::read(path)?.entries;
    entries.retain(|entry| entry.log == CorpusLog::RekorV1);
    let draws = Draws::new(run.seed, run.workload ^ DRAWS);
    let empty = || SigstoreError::CorpusEmpty { path: path.to_owned(), log: "Rekor v1" };
    DrawnCorpus::new(entries, plan.draw, draws).ok_or_else(empty)
}

/// Whether `text` stands in `body`.
fn memchr_of(body: &[u8], text: &[u8]) -> bool {
    !text.is_empty() && body.windows(text.len()).any(|window| window == text)
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
        let search = self.series.search.map(|_| spec("rekor-search", false));
        let chain = self.series.timestamp_chain.map(|_| spec("timestamp-chain", false));
        let steps = search.into_iter().chain([spec("rekor-entry", false)]).chain(chain);
        std::iter::once(spec("verify", true)).chain(steps).collect()
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
        let mut search = Request::post(rekor.path(SEARCH)?, "");
        search.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let (corpus, clock) = (Corpus::of(&context), context.clock.clone());
        Ok(VerifySession { rekor, search, timestamp, corpus, clock })
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
const DRAWS: u64 = 0x5167_d4a3;
/// Nothing was sent: no sign flow of this shard has an entry yet.
const NOTHING_LOGGED: Ended = Ended::failed(Outcome::Abandoned, "nothing logged yet");
/// The log does not find by its hash what it has.
const NOT_FOUND: Ended = Ended::failed(Outcome::Refused, "not among what was found");
const NO_UUID: Ended = Ended::failed(Outcome::Malformed, "no uuid");

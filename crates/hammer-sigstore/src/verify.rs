//! Verify flows: an entry that a sign flow got logged is read back, with the chain of the timestamp authority.

mod rekor;
mod series;
mod settled;
mod tiles;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::draw::Draws;
use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::sample::Reservoir;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{ServiceClient, ServiceConfig, expect_ok};
use hammer_measure::{Nanos, Outcome};
use hammer_net::{Answer, BodyBuffer, ClientConfig, Request, WireTimes};

use crate::corpus::entry::{CorpusEntry, CorpusLog};
use crate::corpus::{Corpus, CorpusFile, CorpusProbe, DrawnCorpus};
use crate::error::SigstoreError;
use crate::followed_heads::FollowedHeads;
use crate::judge::Judge;
use crate::judge::rekor_log::follow_link::FollowLink;
use crate::judge::tiles_links::TilesReadLink;
use crate::plan::{ReadRekor, VerifyBy, VerifyPlan};
use crate::promise::SigstorePromise;
use crate::record::{Instants, PromiseRecord};
use crate::run::SigstoreRun;
use crate::target::{SigstoreService, SigstoreTarget};
use crate::timestamp::CHAIN;
use crate::trust::Trust;

use rekor::RekorEntries;
use series::{EntrySeries, VerifySeries};
use tiles::TilesEntries;

/// Verifies: each operation reads what somebody who verifies a signature reads. What it is answered with are promises.
pub struct VerifyWorkload {
    rekor: ServiceConfig,
    timestamp: Option<ServiceConfig>,
    missing_after_ms: u64,
    by: VerifyBy,
    /// The entries of a file; those of this run's sign flows without it.
    corpus: Option<Arc<DrawnCorpus>>,
    probe: Option<CorpusProbe>,
    epoch_unix_ms: u64,
    series: VerifySeries,
    judge: Judge,
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
    /// What shows that an entry of Rekor v2 is in its log.
    proof: Vec<u8>,
    record: Vec<u8>,
}

/// A shard's clients, and the entries that it may ask for.
pub struct VerifySession {
    entries: SessionEntries,
    /// The client of the timestamp authority, and the request for its chain.
    timestamp: Option<(ServiceClient, Request)>,
    corpus: Rc<RefCell<Reservoir<CorpusEntry>>>,
    clock: Rc<dyn Clock>,
}

/// Where entries are read.
enum SessionEntries {
    Rekor(Box<RekorEntries>),
    Tiles(TilesEntries),
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
        target.can_judge_reads(plan)?;
        let rekor = match plan.rekor {
            ReadRekor::V1 => SigstoreService::Rekor,
            ReadRekor::V2 => SigstoreService::RekorTilesRead,
        };
        let corpus = plan.corpus.as_deref().map(|path| drawn(path, plan, &target.trust, run)).transpose()?;
        let (corpus, probe) = corpus.map_or((None, None), |(corpus, probe)| (Some(corpus), probe));
        let mut service = |service: SigstoreService| -> Result<ServiceConfig, E> {
            Ok(ServiceConfig::new(service.name(), client(service)?))
        };
        Ok(Self {
            rekor: service(rekor)?,
            timestamp: plan.timestamp_chain.then(|| service(SigstoreService::Timestamp)).transpose()?,
            missing_after_ms: plan.missing_after.duration().as_millis() as u64,
            by: plan.by,
            corpus: corpus.map(Arc::new),
            probe,
            epoch_unix_ms: run.epoch_unix_ms,
            series: VerifySeries::of(plan),
            judge: Judge::new(target.trust.clone(), run.epoch_unix_ms),
        })
    }

    /// What its log may be asked for ahead of the run; none without a corpus.
    pub const fn probe(&self) -> Option<&CorpusProbe> {
        self.probe.as_ref()
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

    /// Hands the heads that it is shown to whoever follows the logs, without a promise that waits for them.
    #[must_use]
    pub fn heads(self, followed: FollowedHeads) -> Self {
        Self { judge: self.judge.showing(followed), ..self }
    }

    /// Has the checkpoints of Rekor v2 that it reads joined to the tree which is followed there: what they show is pending until then.
    #[must_use]
    pub fn joined(self, reads: TilesReadLink) -> Self {
        Self { judge: self.judge.joined(reads), ..self }
    }

    async fn verified(
        &self,
        session: &VerifySession,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        self.draw(session, op).await?;
        match (&session.entries, self.series.entry) {
            (SessionEntries::Rekor(entries), EntrySeries::Rekor(series)) => {
                self.read_from_rekor(entries, series, op, record).await?;
            }
            (SessionEntries::Tiles(entries), EntrySeries::Tiles(series)) => {
                self.read_from_tiles(entries, series, op, record).await?;
            }
            // A session is of its workload.
            _ => return Err(NOTHING_LOGGED),
        }
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

    /// Whether an entry could no longer be unknown to whoever answered.
    fn is_late(&self, entry: &CorpusEntry, answer: &Answer) -> bool {
        age_ms(self.epoch_unix_ms, &answer.wire, entry.logged_unix_ms) >= self.missing_after_ms
    }
}

/// How old what was logged was as it was asked for: what a server knew then is what it answers with, however long the answer takes.
fn age_ms(epoch_unix_ms: u64, wire: &WireTimes, logged_unix_ms: u64) -> u64 {
    let asked = wire.sent.or(wire.done).unwrap_or_default();
    (epoch_unix_ms + asked.0 / 1_000_000).saturating_sub(logged_unix_ms)
}

/// The entries of a file, as the plan draws them.
fn drawn(
    path: &Path,
    plan: &VerifyPlan,
    trust: &Trust,
    run: &SigstoreRun,
) -> Result<(DrawnCorpus, Option<CorpusProbe>), SigstoreError> {
    let file = CorpusFile::read(path)?;
    let log = CorpusLog::of(plan.rekor);
    let probe = file.probe(path, log, &log.ids(trust))?;
    let mut entries = file.entries;
    entries.retain(|entry| entry.log == log);
    let draws = Draws::new(run.seed, run.workload ^ DRAWS);
    let empty = || SigstoreError::CorpusEmpty { path: path.to_owned(), log: log.name() };
    let drawn = DrawnCorpus::new(entries, plan.draw, draws).ok_or_else(empty)?;
    Ok((drawn, probe))
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
        self.series.specs()
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<VerifyOp>>) -> Box<VerifyOp> {
        let mut op = reuse.unwrap_or_default();
        op.seq = seq;
        op
    }

    async fn open(&self, context: ShardContext) -> Result<VerifySession, FatalError> {
        let rekor = self.rekor.open(&context).await?;
        let (entries, log) = match self.series.entry {
            EntrySeries::Rekor(_) => {
                (SessionEntries::Rekor(Box::new(RekorEntries::new(rekor)?)), CorpusLog::RekorV1)
            }
            EntrySeries::Tiles(_) => {
                let entries = TilesEntries::new(rekor, context.clock.clone(), self.missing_after_ms);
                (SessionEntries::Tiles(entries), CorpusLog::RekorV2)
            }
        };
        let timestamp = match &self.timestamp {
            Some(service) => {
                let client = service.open(&context).await?;
                let request = Request::get(client.path(CHAIN)?);
                Some((client, request))
            }
            None => None,
        };
        let (corpus, clock) = (Corpus::of(&context, log), context.clock.clone());
        Ok(VerifySession { entries, timestamp, corpus, clock })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_as_old_as_it_was_when_it_was_asked_for() {
        let at = |sent: u64, done: u64| WireTimes {
            sent: Some(Nanos::from_millis(sent)),
            done: Some(Nanos::from_millis(done)),
            ..WireTimes::default()
        };
        // Logged 1 s into the run; a server that takes 4 s for its answer knew at 1.1 s what it says at 5.1 s.
        assert_eq!(age_ms(10_000, &at(1_100, 5_100), 11_000), 100);
        assert_eq!(age_ms(10_000, &at(500, 600), 11_000), 0);
        assert_eq!(age_ms(10_000, &WireTimes::default(), 11_000), 0);
    }
}

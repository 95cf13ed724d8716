//! Reads: tree heads, and tiles or entries of the tree that the last one covers.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::draw::Draws;
use hammer_core::runtime::Clock;
use hammer_core::verify::{Verdicts, Verifier};
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Steps, Workload};
use hammer_measure::{Nanos, Outcome};
use hammer_net::{Answer, Client, ClientConfig, Request};
use hammer_tlog::note::{self, Checkpoint, Note};
use hammer_tlog::rfc6962::GetSthResponse;
use hammer_tlog::tile::{Level, TileId};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::log::GET_ENTRIES;
use crate::{CtError, CtRun, LogKind, LogTarget, ReadPlan, TreeHead, answer};

/// Reads a log. Every tree head is a promise, checked by a [`TreeHeadVerifier`].
#[derive(Debug)]
pub struct ReadWorkload {
    log: Arc<LogTarget>,
    plan: ReadPlan,
    client: ClientConfig,
    warm_up: usize,
    kinds: Draws,
    places: Draws,
}

/// What is read, and the room for the answer.
#[derive(Debug, Default)]
pub struct ReadOp {
    is_tree_head: bool,
    /// A draw; which leaf it is depends on the size of the tree that was seen last.
    place: u64,
    answer: Answer,
}

/// A shard's client, and how large the tree was when it last looked.
pub struct ReadSession {
    client: Client,
    tree_head: Request,
    size: Cell<u64>,
    clock: Rc<dyn Clock>,
}

/// Checks the signatures of tree heads.
#[derive(Clone, Debug)]
pub struct TreeHeadVerifier {
    log: Arc<LogTarget>,
    verifier: note::Verifier,
}

impl ReadWorkload {
    /// Sets the reads up. The endpoints of `client` are replaced by the log's; its connections are those of the whole run and
    /// are split over the shards.
    ///
    /// # Errors
    /// [`CtError::Value`] for a share over 100, or no entries at all.
    pub fn new(
        plan: &ReadPlan,
        log: Arc<LogTarget>,
        client: ClientConfig,
        run: &CtRun,
    ) -> Result<Self, CtError> {
        plan.check()?;
        let draws = |label: u64| Draws::new(run.seed, label ^ run.workload << 32);
        let warm_up = client.connections;
        Ok(Self { log, plan: plan.clone(), client, warm_up, kinds: draws(KINDS), places: draws(PLACES) })
    }

    /// How many connections of the whole run are established before the first arrival, where that many can be in flight;
    /// all of them unless this is called.
    #[must_use]
    pub fn warm_up(self, connections: usize) -> Self {
        Self { warm_up: connections, ..self }
    }

    /// Reads the tree head and keeps its size; `None` when that went well.
    async fn tree_head(
        &self,
        session: &ReadSession,
        answer: &mut Answer,
        steps: &mut Steps,
    ) -> Option<Ended> {
        if let Some(ended) = get(session, &session.tree_head, answer, steps).await {
            return Some(ended);
        }
        match size_of_tree(self.log.kind, &answer.body) {
            Some(size) => {
                session.size.set(size.max(session.size.get()));
                steps.promise(&answer.body);
                None
            }
            None => Some(Ended::failed(Outcome::Malformed, "answer is not a tree head")),
        }
    }

    /// Reads the hash tile over a leaf; the full tile where the partial one is no longer there.
    async fn tile(&self, session: &ReadSession, op: &mut ReadOp, size: u64, steps: &mut Steps) -> Ended {
        let Some(tile) = TileId::covering(Level::Hashes(0), op.place % size, size) else {
            return Ended::failed(Outcome::Malformed, "tree without that leaf");
        };
        let mut ended = get_tile(session, tile, &mut op.answer, steps).await;
        if op.answer.status == http::StatusCode::NOT_FOUND && !tile.is_full() {
            ended = get_tile(session, tile.full(), &mut op.answer, steps).await;
        }
        match ended {
            Some(ended) => ended,
            None if tile.parse_hashes(&op.answer.body).is_err() => {
                Ended::failed(Outcome::Malformed, "tile of the wrong length")
            }
            None => Ended::accepted(200),
        }
    }

    async fn entries(&self, session: &ReadSession, op: &mut ReadOp, size: u64, steps: &mut Steps) -> Ended {
        let start = op.place % size;
        let end = start.saturating_add(self.plan.entries - 1).min(size - 1);
        let Ok(path) = session.client.path(&format!("{GET_ENTRIES}?start={start}&end={end}")) else {
            return Ended::failed(Outcome::Unreachable, "request not sendable");
        };
        if let Some(ended) = get(session, &Request::get(path), &mut op.answer, steps).await {
            return ended;
        }
        match serde_json::from_slice::<EntryCount>(&op.answer.body) {
            Ok(EntryCount { entries }) if (1..=end - start + 1).contains(&(entries.len() as u64)) => {
                Ended::accepted(200)
            }
            Ok(_) => Ended::failed(Outcome::Malformed, "none or more entries than asked for"),
            Err(_) => Ended::failed(Outcome::Malformed, "answer is not entries"),
        }
    }
}

impl Workload for ReadWorkload {
    type Op = ReadOp;
    type Session = ReadSession;

    fn series(&self) -> Vec<SeriesSpec> {
        let names = match self.log.kind {
            LogKind::StaticCt => ["checkpoint", "tile"],
            LogKind::Rfc6962 => ["get-sth", "get-entries"],
        };
        names.map(|name| SeriesSpec { name: name.to_owned(), operation: true }).into()
    }

    fn series_of(&self, seq: u64) -> usize {
        usize::from(self.kinds.bits(seq) % 100 >= u64::from(self.plan.tree_head_percent))
    }

    fn prepare(&self, seq: u64, reuse: Option<ReadOp>) -> ReadOp {
        let answer = reuse.map(|op| op.answer).unwrap_or_default();
        ReadOp { is_tree_head: self.series_of(seq) == 0, place: self.places.bits(seq), answer }
    }

    async fn open(&self, context: ShardContext) -> Result<ReadSession, FatalError> {
        let client =
            answer::open(self.log.monitoring_client(self.client.clone()), self.warm_up, &context).await?;
        let tree_head = Request::get(client.path(self.log.tree_head_path())?);
        Ok(ReadSession { client, tree_head, size: Cell::new(0), clock: context.clock })
    }

    /// A read of the tree before any tree head was seen reads that first; where it says that the tree is empty, there is
    /// nothing else to read.
    async fn execute(&self, session: &ReadSession, op: &mut ReadOp, steps: &mut Steps) -> Ended {
        if op.is_tree_head || session.size.get() == 0 {
            let ended = self.tree_head(session, &mut op.answer, steps).await;
            if let Some(ended) = ended {
                return ended;
            }
        }
        match session.size.get() {
            _ if op.is_tree_head => Ended::accepted(200),
            0 => Ended::accepted(200),
            size => match self.log.kind {
                LogKind::StaticCt => self.tile(session, op, size, steps).await,
                LogKind::Rfc6962 => self.entries(session, op, size, steps).await,
            },
        }
    }

    fn sent_before_deadline(&self, _session: &ReadSession, op: &ReadOp) -> Option<Nanos> {
        op.answer.wire.sent
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        let verifier = self.log.checkpoint_verifier();
        Some(Box::new(TreeHeadVerifier { log: self.log.clone(), verifier }))
    }
}

impl Verifier for TreeHeadVerifier {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        match TreeHead::open(&self.log, &self.verifier, record) {
            Ok(_) => verdicts.kept(),
            Err(why) => verdicts.broken(seq, why.breach_kind().unwrap_or("tree head"), None, why.to_string()),
        }
    }
}

/// One exchange; how it ended, unless by a 200.
async fn get(
    session: &ReadSession,
    request: &Request,
    answer: &mut Answer,
    steps: &mut Steps,
) -> Option<Ended> {
    let sent = session.client.send(request, answer).await;
    steps.exchange(&answer::exchange(answer, session.clock.as_ref()));
    match (sent, answer.status.as_u16()) {
        (Err(failure), _) => Some(answer::failed(&failure)),
        (Ok(()), 200) => None,
        (Ok(()), status) => Some(match Ended::of_status(status) {
            Ended { outcome: Outcome::Accepted, .. } => {
                Ended::failed(Outcome::Malformed, "success that is not 200")
            }
            ended => ended,
        }),
    }
}

async fn get_tile(
    session: &ReadSession,
    tile: TileId,
    answer: &mut Answer,
    steps: &mut Steps,
) -> Option<Ended> {
    match session.client.path(&format!("/{tile}")) {
        Ok(path) => get(session, &Request::get(path), answer, steps).await,
        Err(_) => Some(Ended::failed(Outcome::Unreachable, "request not sendable")),
    }
}

/// How large the tree is by a tree head whose signature nobody has looked at yet.
fn size_of_tree(kind: LogKind, body: &[u8]) -> Option<u64> {
    match kind {
        LogKind::StaticCt => Some(Checkpoint::parse(Note::parse(body).ok()?.text).ok()?.size),
        LogKind::Rfc6962 => Some(serde_json::from_slice::<GetSthResponse>(body).ok()?.tree_size),
    }
}

/// The answer of get-entries, of which only the number of entries matters here.
#[derive(Deserialize)]
struct EntryCount {
    entries: Vec<IgnoredAny>,
}

const KINDS: u64 = 0x5265_6164;
const PLACES: u64 = 0x506c_6163;

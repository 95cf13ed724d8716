use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;
use hammer_audit::{AnswerBound, LogClient};
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::sample::Reservoir;
use hammer_core::workload::{Ended, FatalError, ShardContext};
use hammer_exchange::{ServiceClient, ServiceConfig, expect_ok};
use hammer_measure::{Nanos, Outcome};
use hammer_net::Request;
use hammer_read::{LogReads, Part, malformed, write_parts};
use hammer_tlog::hash::{Hash, sha256};
use http::header::CONTENT_TYPE;
use http::uri::PathAndQuery;
use http::{HeaderValue, StatusCode};

use super::check::Check;
use super::log_info::{LOG_INFO, LOG_PROOF, SEARCH, ServedTree};
use super::promise::ReadPromise;
use super::search::{OwedEntry, one_found};
use super::{OwedRead, ServiceReadOp};
use crate::corpus::Corpus;
use crate::corpus::entry::{CorpusEntry, CorpusLog};
use crate::fulcio::TRUST_BUNDLE;
use crate::plan::{SearchKey, ServiceReadKind};
use crate::rekor::{ENTRIES, PUBLIC_KEY};
use crate::target::SigstoreService;
use crate::timestamp::CHAIN;

/// A shard's clients, and what it has seen of the logs.
pub struct ServiceReadSession {
    rekor: Option<RekorReads>,
    timestamp: Option<Document>,
    trust_bundle: Option<Document>,
    configuration: Option<Document>,
    /// Rekor v2.
    pub(super) tiles: Option<LogReads>,
    clock: Rc<dyn Clock>,
    record: RefCell<Vec<u8>>,
}

/// Something that is always asked for in the same way.
struct Document {
    client: Rc<ServiceClient>,
    request: Request,
}

/// Rekor v1.
struct RekorReads {
    client: Rc<ServiceClient>,
    /// For what is read beside operations.
    beside: ServiceClient,
    log_info: Request,
    public_key: Request,
    search: Request,
    /// Heads of one tree and of different sizes, the largest last; none is of an empty tree.
    heads: RefCell<VecDeque<Rc<SeenLogInfo>>>,
    corpus: Rc<RefCell<Reservoir<CorpusEntry>>>,
}

/// What became of a read of an entry that was found.
enum Look {
    There,
    NotThere,
    Refused,
}

/// A head that the session saw, as it was served.
struct SeenLogInfo {
    raw: Vec<u8>,
    size: u64,
    tree_id: String,
}

impl ServiceReadSession {
    pub(super) async fn open(
        services: &[(SigstoreService, ServiceConfig)],
        (path_series, missing_after): (usize, Nanos),
        context: &ShardContext,
    ) -> Result<Self, FatalError> {
        let (rekor, timestamp, trust_bundle, configuration, tiles, record) = Default::default();
        let clock = context.clock.clone();
        let mut session = Self { rekor, timestamp, trust_bundle, configuration, tiles, clock, record };
        for (service, config) in services {
            let client = config.open(context).await?;
            let beside = config.beside(BESIDE.min(config.client.connections));
            if *service == SigstoreService::RekorTilesRead {
                let beside = beside.open(context).await?;
                let [own, beside] = [client, beside].map(|client| LogClient::Server(client.into_client()));
                let reads = LogReads::new(own, beside, path_series, &context.clock);
                session.tiles = Some(reads.waiting(missing_after));
                continue;
            }
            let client = Rc::new(client);
            let document = |path: &str| -> Result<Document, FatalError> {
                Ok(Document { client: client.clone(), request: bounded(client.path(path)?, DOCUMENT) })
            };
            match service {
                SigstoreService::Timestamp => session.timestamp = Some(document(CHAIN)?),
                SigstoreService::Fulcio => {
                    session.trust_bundle = Some(document(TRUST_BUNDLE)?);
                    session.configuration = Some(document(CONFIGURATION)?);
                }
                _ => {
                    let beside = beside.open(context).await?;
                    session.rekor = Some(RekorReads::open(client, beside, context)?);
                }
            }
        }
        Ok(session)
    }

    /// Reads what always stands at the same place.
    pub(super) async fn document(
        &self,
        kind: ServiceReadKind,
        op: &mut ServiceReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let of = |document: &'_ Option<Document>| {
            document.as_ref().map(|document| (document.client.clone(), document.request.clone()))
        };
        let (found, check) = match kind {
            ServiceReadKind::Certchain => (of(&self.timestamp), Check::Certchain),
            ServiceReadKind::TrustBundle => (of(&self.trust_bundle), Check::TrustBundle),
            ServiceReadKind::Configuration => (of(&self.configuration), Check::Configuration),
            _ => {
                let rekor = self.rekor.as_ref();
                (rekor.map(|rekor| (rekor.client.clone(), rekor.public_key.clone())), Check::PublicKey)
            }
        };
        let (client, request) = found.ok_or(NO_SERVICE)?;
        send(&client, &request, op, record).await?;
        self.promise(record, check, [Part::bytes(&op.answer.body)]);
        Ok(())
    }

    /// Reads the log's information and keeps it; none where the tree is empty.
    pub(super) async fn log_info(
        &self,
        op: &mut ServiceReadOp,
        record: &OperationRecord,
    ) -> Result<bool, Ended> {
        let rekor = self.rekor()?;
        send(&rekor.client, &rekor.log_info, op, record).await?;
        let body = &op.answer.body;
        self.promise(record, Check::LogInfo, [Part::bytes(body)]);
        let info: ServedTree<'_> =
            serde_json::from_slice(body).map_err(|_| malformed("answer is no log info"))?;
        if info.tree_size > 0 {
            rekor.saw(body, &info);
        }
        Ok(!rekor.heads.borrow().is_empty())
    }

    /// Reads the proof between two heads that were seen.
    pub(super) async fn log_proof(
        &self,
        op: &mut ServiceReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let rekor = self.rekor()?;
        if rekor.heads.borrow().len() < 2 && !self.log_info(op, record).await? {
            // An empty tree has no proofs.
            return Ok(());
        }
        let (older, newer) = rekor.two_heads(op.place.draw).ok_or(malformed("tree without a head"))?;
        let (first, last, tree) = (older.size, newer.size, &newer.tree_id);
        let path = format!("{LOG_PROOF}?firstSize={first}&lastSize={last}&treeID={tree}");
        let path = rekor.client.path(&path).map_err(|_| malformed("tree id that is no number"))?;
        send(&rekor.client, &bounded(path, AnswerBound::PROOF), op, record).await?;
        let parts = [Part::bytes(&older.raw), Part::bytes(&newer.raw), Part::bytes(&op.answer.body)];
        self.promise(record, Check::LogProof, parts);
        Ok(())
    }

    /// Asks the search index.
    pub(super) async fn search(
        &self,
        search_for: &[SearchKey],
        op: &mut ServiceReadOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let rekor = self.rekor()?;
        let draw = op.place.draw;
        let body = match search_for.get((draw % (search_for.len() as u64).max(1)) as usize) {
            Some(SearchKey::Email(address)) => format!(r#"{{"email":"{address}"}}"#),
            Some(SearchKey::Hash(digits)) => format!(r#"{{"hash":"sha256:{digits}"}}"#),
            None => {
                let corpus = rekor.corpus.borrow();
                let logged = corpus.draw(draw).map(|entry| sha256(&entry.artifact));
                let hash: Hash = logged.unwrap_or_else(|| sha256(&draw.to_be_bytes()));
                format!(r#"{{"hash":"sha256:{}"}}"#, hash.to_hex())
            }
        };
        let (asked, mut request) = (Bytes::from(body), rekor.search.clone());
        request.body = asked.clone().into();
        send(&rekor.client, &request, op, record).await?;
        match op.is_read_back.then(|| one_found(&op.answer.body, draw)).flatten() {
            Some(uuid) => {
                op.owed = Some(OwedRead::Entry(OwedEntry { asked, uuid: uuid.to_owned() }));
                record.check_beside(ReadPromise::Search.into());
            }
            None => self.promise(record, Check::Search, [Part::bytes(&op.answer.body)]),
        }
        Ok(())
    }

    /// Reads an entry that was found until it is there, or should have been, and promises.
    pub(super) async fn found(
        &self,
        owed: OwedEntry,
        (missing_after, series): (Nanos, usize),
        op: &mut ServiceReadOp,
        record: &OperationRecord,
    ) {
        let OwedEntry { asked, uuid } = owed;
        let Ok(rekor) = self.rekor() else { return };
        let Ok(path) = rekor.beside.path(&format!("{ENTRIES}/{uuid}")) else { return };
        let request = Request::get(path);
        let due = self.clock.now().saturating_add(missing_after);
        let mut pause = FIRST_PAUSE;
        loop {
            let is_last = self.clock.now() >= due;
            let mut step = record.step(series);
            let sent = rekor.beside.send(&mut step, &request, &mut op.beside).await;
            let look = match sent.map(|()| expect_ok(&mut step, &op.beside).is_ok()) {
                Ok(true) => Look::There,
                Ok(false) if op.beside.status == StatusCode::NOT_FOUND => Look::NotThere,
                Ok(false) | Err(_) => Look::Refused,
            };
            drop(step);
            let own = [op.answer.body.as_slice(), &asked, uuid.as_bytes()].map(Part::bytes);
            match look {
                Look::There => {
                    let entry = Part::bytes(&op.beside.body);
                    return self.promise(record, Check::FoundEntry, own.into_iter().chain([entry]));
                }
                Look::NotThere if is_last => return self.promise(record, Check::InventedEntry, own),
                Look::Refused if is_last => return self.promise(record, Check::UnverifiedSearch, []),
                // A replica of the log may be behind the index.
                Look::NotThere | Look::Refused => {}
            }
            self.clock.sleep_until(self.clock.now().saturating_add(pause)).await;
            pause = Nanos((pause.0 * 2).min(LONGEST_PAUSE.0));
        }
    }

    fn rekor(&self) -> Result<&RekorReads, Ended> {
        self.rekor.as_ref().ok_or(NO_SERVICE)
    }

    pub(super) fn promise<'a>(
        &self,
        record: &OperationRecord,
        check: Check,
        parts: impl IntoIterator<Item = Part<'a>>,
    ) {
        let mut bytes = self.record.borrow_mut();
        write_parts(&mut bytes, check as u8, parts);
        record.promise(check.promise().into(), &bytes);
        bytes.shrink_to(KEPT_RECORD);
    }
}

impl RekorReads {
    fn open(
        client: Rc<ServiceClient>,
        beside: ServiceClient,
        context: &ShardContext,
    ) -> Result<Self, FatalError> {
        let mut search = Request::post(client.path(SEARCH)?, "");
        search.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self {
            log_info: bounded(client.path(LOG_INFO)?, DOCUMENT),
            public_key: bounded(client.path(PUBLIC_KEY)?, DOCUMENT),
            search,
            client,
            beside,
            heads: RefCell::default(),
            corpus: Corpus::of(context, CorpusLog::RekorV1),
        })
    }

    fn saw(&self, raw: &[u8], info: &ServedTree<'_>) {
        let mut heads = self.heads.borrow_mut();
        // A new shard of the log is another tree, whose size says nothing of this one's.
        if heads.back().is_some_and(|newest| newest.tree_id != info.tree_id) {
            heads.clear();
        }
        // One of several servers may be behind the others.
        if info.tree_size > heads.back().map_or(0, |newest| newest.size) {
            if heads.len() == MOST_HEADS {
                heads.pop_front();
            }
            let tree_id = info.tree_id.clone().into_owned();
            heads.push_back(Rc::new(SeenLogInfo { raw: raw.to_vec(), size: info.tree_size, tree_id }));
        }
    }

    /// The head of the largest tree, and an older one; the same where there is but one.
    fn two_heads(&self, draw: u64) -> Option<(Rc<SeenLogInfo>, Rc<SeenLogInfo>)> {
        let heads = self.heads.borrow();
        let older = (draw % (heads.len() as u64 - 1).max(1)) as usize;
        Some((heads.get(older)?.clone(), heads.back()?.clone()))
    }
}

fn bounded(path: PathAndQuery, bound: AnswerBound) -> Request {
    Request { limit: Some(bound.on_the_wire()), ..Request::get(path) }
}

/// One exchange of the operation; fails unless it ended by a 200.
async fn send(
    client: &ServiceClient,
    request: &Request,
    op: &mut ServiceReadOp,
    record: &OperationRecord,
) -> Result<(), Ended> {
    let mut step = record.exchange();
    client.send(&mut step, request, &mut op.answer).await?;
    expect_ok(&mut step, &op.answer)
}

/// Workloads have the services of their kinds.
const NO_SERVICE: Ended = Ended::failed(Outcome::Abandoned, "no such service");
/// What always stands at one place: log information of many shards, keys, and chains of many authorities.
const DOCUMENT: AnswerBound = AnswerBound::of(1 << 20);
const CONFIGURATION: &str = "/api/v2/configuration";
const MOST_HEADS: usize = 16;
/// A record of one huge bundle must not be held in memory for the rest of the run.
const KEPT_RECORD: usize = 1 << 20;
/// Connections over the whole run for what is read beside operations, which must not wait for theirs.
const BESIDE: usize = 16;
/// Between two looks for an entry that was found.
const FIRST_PAUSE: Nanos = Nanos::from_millis(50);
const LONGEST_PAUSE: Nanos = Nanos::from_secs(2);

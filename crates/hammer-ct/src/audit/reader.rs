use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use futures::future::{Either, join_all, select};
use hammer_core::background::give_way;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_net::{Answer, Balancing, ClientConfig, ConfigError, Failure};
use hammer_tlog::logs::follow::Head;
use hammer_tlog::logs::note::{Note, Verifier};
use hammer_tlog::logs::tile::TileId;
use serde::de::DeserializeOwned;

use super::backoff::Backoff;
use super::trouble::Trouble;
use crate::fetch::{FetchError, TreeHead};
use crate::log::LogTarget;
use crate::source::Source;

/// What became of a request for a tile.
pub(super) enum Tile {
    Bytes(Vec<u8>),
    Missing,
}

/// Reads the log for the audit, and counts what that costs.
pub(super) struct Reader {
    log: Arc<LogTarget>,
    verifier: Verifier,
    source: Source,
    clock: Rc<dyn Clock>,
    backoff: Backoff,
    /// The signatures of the last checkpoint beside the log's own, by name and key id.
    pub(super) cosigners: Vec<String>,
    requests: Cell<u64>,
    bytes: Cell<u64>,
    repeated: Cell<u64>,
}

impl Reader {
    pub(super) fn new(
        log: Arc<LogTarget>,
        client: ClientConfig,
        clock: Rc<dyn Clock>,
    ) -> Result<Self, ConfigError> {
        let client = ClientConfig {
            // Another URL may lag, and its tree must not look as if it shrank.
            balancing: Balancing::PickFirst,
            connections: AT_ONCE,
            response_limit: client.response_limit.max(LARGEST_ANSWER),
            ..log.monitoring_client(client)
        };
        let source = Source::new(&log, client, clock.clone())?;
        Ok(Self {
            verifier: log.checkpoint_verifier(),
            log,
            source,
            clock,
            backoff: Backoff::none(),
            cosigners: Vec::new(),
            requests: Cell::new(0),
            bytes: Cell::new(0),
            repeated: Cell::new(0),
        })
    }

    /// Tries what is refused for now again.
    pub(super) fn patient(self, backoff: Backoff) -> Self {
        Self { backoff, ..self }
    }

    /// Tries nothing again from then on.
    pub(super) fn ends(&self, until: Nanos) {
        self.backoff.ends(until);
    }

    /// How many requests were sent.
    pub(super) fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// How many bytes were read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// How many of the requests were sent since the one before was refused for then.
    pub(super) fn repeated(&self) -> u64 {
        self.repeated.get()
    }

    /// Where the log is read: its folder, or its URLs.
    pub(super) fn place(&self) -> String {
        match &self.log.folder {
            Some(folder) => folder.display().to_string(),
            None => self.log.monitoring.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        }
    }

    /// Reads at the next of the log's servers from now on; says whether there is one.
    pub(super) fn pass_over(&self) -> bool {
        self.source.pass_over()
    }

    /// The tree head now, verified.
    pub(super) async fn head(&mut self) -> Result<Head, Trouble> {
        let body = self.body(self.log.tree_head_path()).await?;
        let TreeHead { size, root, timestamp_ms } = TreeHead::open(&self.log, &self.verifier, &body)?;
        let fetched_ns = self.clock.now().0;
        self.cosigners = cosigners(&body, &self.verifier);
        Ok(Head { size, root, timestamp_ms, fetched_ns, raw: body.into() })
    }

    /// Each of these tiles; where one could not be read, the others that were, and why.
    pub(super) async fn tiles(&self, ids: &[TileId]) -> (Vec<(TileId, Tile)>, Result<(), Trouble>) {
        let (mut tiles, mut went) = (Vec::with_capacity(ids.len()), Ok(()));
        for ids in ids.chunks(AT_ONCE) {
            let paths: Vec<String> = ids.iter().map(|id| format!("/{id}")).collect();
            let answers = join_all(paths.iter().map(|path| self.read(path, Form::Compressed))).await;
            for ((id, path), answer) in ids.iter().zip(&paths).zip(answers) {
                let found = match answer.and_then(|answer| tile(path, answer)) {
                    Ok(Tile::Missing) => Ok(self.elsewhere(path).await),
                    found => found,
                };
                match found {
                    Ok(tile) => tiles.push((*id, tile)),
                    Err(why) => went = went.and(Err(why)),
                }
            }
            if went.is_err() {
                break;
            }
        }
        (tiles, went)
    }

    /// A tile that one of the log's servers has not, as another one has it. Where one has, what follows is read there.
    async fn elsewhere(&self, path: &str) -> Tile {
        for place in 1..=self.log.monitoring.len() {
            // At last back to where it began.
            if !self.pass_over() || place == self.log.monitoring.len() {
                break;
            }
            let answer = self.read(path, Form::Compressed).await;
            if let Ok(Tile::Bytes(bytes)) = answer.and_then(|answer| tile(path, answer)) {
                return Tile::Bytes(bytes);
            }
        }
        Tile::Missing
    }

    /// What is served at a path; none where nothing is.
    pub(super) async fn found(&self, path: &str) -> Result<Option<Vec<u8>>, Trouble> {
        let answer = self.read(path, Form::Plain).await?;
        match answer.status.as_u16() {
            200 => Ok(Some(answer.body)),
            403 | 404 | 410 => Ok(None),
            status => Err(FetchError::Status { path: path.to_owned(), status }.into()),
        }
    }

    /// The JSON at a path.
    pub(super) async fn json<T: DeserializeOwned>(&self, path: &str) -> Result<T, Trouble> {
        let body = self.body(path).await?;
        let read = serde_json::from_slice(&body);
        Ok(read.map_err(|source| FetchError::Json { path: path.to_owned(), source })?)
    }

    async fn body(&self, path: &str) -> Result<Vec<u8>, Trouble> {
        let answer = self.read(path, Form::Plain).await?;
        match answer.status.as_u16() {
            200 => Ok(answer.body),
            status => Err(FetchError::Status { path: path.to_owned(), status }.into()),
        }
    }

    /// Asks until there is an answer that stands.
    async fn read(&self, path: &str, form: Form) -> Result<Answer, Trouble> {
        for tries in 1.. {
            let answer = self.ask(path, form).await;
            // Taking in a bundle is a good part of a millisecond.
            give_way();
            self.requests.update(|requests| requests + 1);
            if let Ok(answer) = &answer {
                self.bytes.update(|bytes| bytes + answer.bytes_in);
            }
            match &answer {
                Ok(answer) => tracing::debug!(path, status = answer.status.as_u16(), "read"),
                Err(trouble) => tracing::warn!(path, tries, "failed to read: {trouble}"),
            }
            let Some(at) = self.backoff.again(tries, &answer, self.clock.now()) else { return answer };
            self.clock.sleep_until(at).await;
            self.repeated.update(|repeated| repeated + 1);
        }
        Err(Trouble::Silent(path.to_owned()))
    }

    async fn ask(&self, path: &str, form: Form) -> Result<Answer, Trouble> {
        let mut answer = Answer::new();
        match form {
            Form::Plain => self.in_time(path, self.source.get(path, &mut answer)).await?,
            Form::Compressed => {
                self.in_time(path, self.source.get_compressed(path, &mut answer)).await?;
                answer.decode(LARGEST_ANSWER).map_err(FetchError::from)?;
            }
        }
        Ok(answer)
    }

    async fn in_time(
        &self,
        path: &str,
        sent: impl Future<Output = Result<(), Failure>>,
    ) -> Result<(), Trouble> {
        let deadline = self.clock.now().saturating_add(PATIENCE);
        match select(pin!(sent), self.clock.sleep_until(deadline)).await {
            Either::Left((sent, _)) => Ok(sent.map_err(FetchError::from)?),
            Either::Right(_) => Err(Trouble::Silent(path.to_owned())),
        }
    }
}

/// How an answer may come.
#[derive(Clone, Copy)]
enum Form {
    Plain,
    /// As tiles do, which some logs keep compressed.
    Compressed,
}

fn tile(path: &str, answer: Answer) -> Result<Tile, Trouble> {
    match answer.status.as_u16() {
        200 => Ok(Tile::Bytes(answer.body)),
        // What a file server or an object store says of a name that it does not have.
        403 | 404 | 410 => Ok(Tile::Missing),
        status => Err(FetchError::Status { path: path.to_owned(), status }.into()),
    }
}

/// Who signed a checkpoint beside the log: names and key ids, in order. None of what is no note, as a signed tree head.
fn cosigners(body: &[u8], own: &Verifier) -> Vec<String> {
    let Ok(note) = Note::parse(body) else { return Vec::new() };
    let others = note.signatures.iter().filter(|line| (line.name, line.key_id) != (own.name(), own.key_id()));
    let mut others: Vec<_> = others.map(|line| format!("{} ({:08x})", line.name, line.key_id)).collect();
    others.sort_unstable();
    others
}

/// Requests at once, each on a connection of its own.
const AT_ONCE: usize = 8;
const PATIENCE: Nanos = Nanos::from_secs(10);
/// A thousand entries of RFC 6962 with long chains, in base64.
const LARGEST_ANSWER: usize = 64 << 20;

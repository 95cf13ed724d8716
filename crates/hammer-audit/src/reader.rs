//! Reads of a log for its audit: which server is asked, when again, and what that costs.

use std::cell::Cell;
use std::mem;
use std::pin::pin;
use std::rc::Rc;

use futures::future::{Either, join_all, select};
use hammer_core::background::give_way;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_net::{Answer, ConfigError, Failure};
use hammer_tlog::logs::follow::Head;
use hammer_tlog::logs::tile::{Level, TileId};
use http::StatusCode;

use crate::answer_bound::AnswerBound;
use crate::head_survey::{HeadSurvey, SilentServers};
use crate::place::{LogClient, LogPlace, LogRequest};
use crate::retry::RetryPolicy;
use crate::served_tile::ServedTile;
use crate::source::{Cosigner, LogQuery, LogSource, OpenedHead, Shards};
use crate::trouble::Trouble;

/// Reads a log for the audit, and counts what that costs. It lives on one thread, within a `LocalSet`.
pub struct AuditReader<L> {
    log: L,
    client: LogClient,
    clock: Rc<dyn Clock>,
    retry: RetryPolicy,
    /// How many servers there are.
    servers: usize,
    /// How often the next one was gone on to.
    turns: Cell<u64>,
    /// Whether one server was left for the next while it asked for patience.
    was_elsewhere: Cell<bool>,
    /// Where they are, in words.
    place: String,
    /// The signatures of the last head beside the log's own.
    cosigners: Vec<Cosigner>,
    /// The trees of the log, as the last head had them.
    shards: Shards,
    silent: SilentServers,
    requests: Cell<u64>,
    bytes: Cell<u64>,
    repeated: Cell<u64>,
}

impl<L: LogSource> AuditReader<L> {
    /// A reader of `log` at `place`. It asks for nothing again.
    ///
    /// # Errors
    /// Those of [`hammer_net::Client::new`].
    pub(crate) fn new(log: L, place: LogPlace, clock: Rc<dyn Clock>) -> Result<Self, ConfigError> {
        let place = place.of_audit(AT_ONCE);
        Ok(Self {
            log,
            servers: place.servers(),
            turns: Cell::new(0),
            was_elsewhere: Cell::new(false),
            place: place.in_words(),
            client: LogClient::open(place, clock.clone())?,
            clock,
            retry: RetryPolicy::none(),
            cosigners: Vec::new(),
            shards: Shards::default(),
            silent: SilentServers::default(),
            requests: Cell::new(0),
            bytes: Cell::new(0),
            repeated: Cell::new(0),
        })
    }

    /// Tries what is refused for now again.
    pub(crate) fn retrying(self, retry: RetryPolicy) -> Self {
        Self { retry, ..self }
    }

    /// Tries nothing again from then on.
    pub(crate) fn ends(&self, until: Nanos) {
        self.retry.ends(until);
    }

    /// The log.
    pub(crate) fn log(&self) -> &L {
        &self.log
    }

    /// How many requests were sent, answered or not.
    pub fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// How many bytes were read, of answers that were cut off too.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// How many of the requests were sent since the one before was refused for then.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated.get()
    }

    /// Who else signed the last head.
    pub(crate) fn cosigners(&self) -> &[Cosigner] {
        &self.cosigners
    }

    /// The trees of the log, as the last head had them.
    pub(crate) fn shards(&self) -> &Shards {
        &self.shards
    }

    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Where the log is read: its folder, or its URLs.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Whether the log has several servers, as far as that is known.
    pub(crate) fn are_several(&self) -> bool {
        self.client.are_several()
    }

    /// Reads at the next of the log's servers from now on; says whether there is one.
    pub(crate) fn pass_over(&self) -> bool {
        self.turns.update(|turns| turns + 1);
        self.client.pass_over()
    }

    /// Whether one of the log's servers was left for the next while it asked for patience.
    pub(crate) fn was_elsewhere(&self) -> bool {
        self.was_elsewhere.get()
    }

    /// Reads at another server than in that turn, where there is one; of reads at once, one passes over.
    fn goes_on(&self, turn: u64) -> bool {
        self.are_several() && (self.turns.get() != turn || self.pass_over())
    }

    /// Waits before what was answered wrongly so often is asked for again, and asks the log's next server from then on, where it has several.
    pub(crate) async fn elsewhere_and_later(&self, tries: u32) {
        self.pass_over();
        self.repeated.update(|repeated| repeated + 1);
        if let Some(at) = self.retry.later(tries, self.clock.now()) {
            self.clock.sleep_until(at).await;
        }
    }

    /// The head now, verified.
    ///
    /// # Errors
    /// When none is served, or it is not the log's ([`Trouble::breach_kind`]).
    pub async fn head(&mut self) -> Result<Head, Trouble> {
        let path = self.log.head_path();
        let (answer, asked_ns) = self.read_since(path, Form::Plain, self.log.head_bound()).await?;
        let answer = whole(path, answer)?;
        let (head, opened) = self.opened(answer, asked_ns)?;
        (self.cosigners, self.shards) = (opened.cosigners, opened.shards);
        Ok(head)
    }

    /// The head of an answer that was asked for then, verified, and what else it says.
    fn opened(&self, answer: Answer, asked_ns: u64) -> Result<(Head, OpenedHead), Trouble> {
        // What is late to be read was served when it came.
        let fetched_ns = answer.wire.done.unwrap_or(self.clock.now()).0;
        let opened = self.log.open_head(&answer.body)?;
        let &OpenedHead { size, root, timestamp_ms, .. } = &opened;
        Ok((Head { size, root, timestamp_ms, fetched_ns, asked_ns, raw: answer.body.into() }, opened))
    }

    /// Looks up the log's servers; says whether there is one alone.
    pub(crate) async fn is_of_one_server(&self) -> bool {
        self.client.servers().await.is_ok() && !self.are_several()
    }

    /// The heads that the log's servers have now: of each of several, all of which are asked at once, and none where it has one.
    pub(crate) async fn heads_of_all(&self) -> HeadSurvey {
        let mut survey = HeadSurvey::default();
        if !self.are_several() {
            return survey;
        }
        let Ok(servers) = self.client.servers().await else {
            survey.silent.push(self.place.clone());
            return survey;
        };
        let found = join_all(servers.iter().map(|server| self.head_in_time(*server))).await;
        for (server, head) in servers.into_iter().zip(found) {
            match head {
                Ok(head) => survey.heads.push(head),
                Err(why) => {
                    let name = self.client.name_of(server);
                    survey.silent.push(name.clone());
                    survey
                        .foreign
                        .extend(why.filter(|why| why.breach_kind().is_some()).map(|why| (name, why)));
                }
            }
        }
        survey
    }

    /// The head of a server that has one, with its tree, unless it did not answer a moment ago; why not, where it answered.
    async fn head_in_time(&self, server: usize) -> Result<(u64, Head), Option<Trouble>> {
        if self.silent.has(server, self.now()) {
            return Err(None);
        }
        let until = self.now().saturating_add(PATIENCE).min(self.retry.until());
        match select(pin!(self.head_of(server)), self.clock.sleep_until(until)).await {
            Either::Left((Ok(head), _)) => Ok(head),
            Either::Left((Err(Trouble::Silent(_)), _)) | Either::Right(_) => {
                self.silent.add(server, self.now());
                Err(None)
            }
            Either::Left((Err(why), _)) => Err(Some(why)),
        }
    }

    async fn head_of(&self, server: usize) -> Result<(u64, Head), Trouble> {
        let asked_ns = self.now().0;
        let answer = self.at(server, self.log.head_path(), self.log.head_bound()).await?;
        self.opened(answer, asked_ns).map(|(head, opened)| (opened.shards.active, head))
    }

    /// What is served at a path by that server, with 200.
    async fn at(&self, server: usize, path: &str, bound: AnswerBound) -> Result<Answer, Trouble> {
        self.requests.update(|requests| requests + 1);
        let mut received = ReceivedAnswer { answer: Answer::new(), bytes: &self.bytes };
        let asked = LogRequest { path, compressed: false, bound: Some(bound) };
        let asked = self.client.get_from(Some(server), asked, &mut received.answer);
        self.in_time(path, asked).await?;
        let mut answer = received.whole();
        if answer.status != StatusCode::OK {
            return Err(Trouble::Status { path: path.to_owned(), status: answer.status.as_u16() });
        }
        answer.decode(bound.bytes())?;
        Ok(answer)
    }

    /// The first answer to a query that can be read, of several servers, each of which is asked once; none where there is one server.
    pub(crate) async fn ask_each<T>(&self, query: &LogQuery<T>) -> Option<T> {
        let servers = if self.are_several() { self.client.servers().await.ok()? } else { Vec::new() };
        for server in servers {
            if let Ok(answer) = self.at(server, &query.path, query.bound).await
                && let Ok(read) = (query.read)(&answer.body)
            {
                return Some(read);
            }
        }
        None
    }

    /// Each of these tiles; where one could not be read, the others that were, and why.
    pub async fn tiles(&self, ids: &[TileId]) -> (Vec<(TileId, ServedTile)>, Result<(), Trouble>) {
        let (mut tiles, mut went) = (Vec::with_capacity(ids.len()), Ok(()));
        for ids in ids.chunks(AT_ONCE) {
            let paths: Vec<String> = ids.iter().map(|id| self.log.tile_path(*id)).collect();
            let answers = ids
                .iter()
                .zip(&paths)
                .map(|(id, path)| self.served(path, Form::Compressed, self.bound_of(*id)));
            for ((id, path), found) in ids.iter().zip(&paths).zip(join_all(answers).await) {
                let found = match found {
                    Ok(ServedTile::Missing) => {
                        Ok(self.elsewhere(path, Form::Compressed, self.bound_of(*id)).await)
                    }
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

    fn bound_of(&self, tile: TileId) -> AnswerBound {
        match tile.level {
            Level::Hashes(_) => AnswerBound::HASH_TILE,
            _ => self.log.bundle_bound(),
        }
    }

    async fn served(&self, path: &str, form: Form<'_>, bound: AnswerBound) -> Result<ServedTile, Trouble> {
        ServedTile::of(path, bound, self.read(path, form, bound).await)
    }

    /// What one of the log's servers has not, as another one has it. Where one has, what follows is read there.
    async fn elsewhere(&self, path: &str, form: Form<'_>, bound: AnswerBound) -> ServedTile {
        for place in 1..=self.servers {
            // At last back to where it started.
            if !self.pass_over() || place == self.servers {
                break;
            }
            if let Ok(ServedTile::Bytes(bytes)) = self.served(path, form, bound).await {
                return ServedTile::Bytes(bytes);
            }
        }
        ServedTile::Missing
    }

    /// What is served at a path; none where nothing is, by any of the log's servers. An issuer that is longer than any is empty.
    ///
    /// # Errors
    /// When it cannot be told.
    pub async fn found(&self, path: &str, bound: AnswerBound) -> Result<Option<Vec<u8>>, Trouble> {
        let found = match self.served(path, Form::Plain, bound).await? {
            ServedTile::Missing => self.elsewhere(path, Form::Plain, bound).await,
            found => found,
        };
        match found {
            ServedTile::Bytes(bytes) => Ok(Some(bytes)),
            ServedTile::Missing => Ok(None),
        }
    }

    /// An entry that a log has by its name; none where the log says that it has none. That somebody may not read it (403, 410) says
    /// nothing of the log, unlike with the files of a store.
    ///
    /// # Errors
    /// When it cannot be told.
    pub(crate) async fn entry(&self, path: &str) -> Result<Option<Vec<u8>>, Trouble> {
        let answer = self.read(path, Form::Plain, AnswerBound::ENTRIES).await?;
        match answer.status.as_u16() {
            200 => Ok(Some(answer.body)),
            404 => Ok(None),
            status => Err(Trouble::Status { path: path.to_owned(), status }),
        }
    }

    /// The answer to a query.
    ///
    /// # Errors
    /// When there is none that can be read.
    pub async fn ask<T>(&self, query: &LogQuery<T>) -> Result<T, Trouble> {
        let body = self.body(&query.path, query.bound).await?;
        (query.read)(&body).map_err(|why| Trouble::unreadable(&query.path, &why))
    }

    /// What is served at a path, within that bound.
    ///
    /// # Errors
    /// When it is not.
    pub async fn body(&self, path: &str, bound: AnswerBound) -> Result<Vec<u8>, Trouble> {
        Ok(self.whole(path, bound).await?.body)
    }

    /// The answer that has what is served at a path.
    async fn whole(&self, path: &str, bound: AnswerBound) -> Result<Answer, Trouble> {
        whole(path, self.read(path, Form::Plain, bound).await?)
    }

    /// The answer to JSON that is sent to a path.
    ///
    /// # Errors
    /// When there is none, or of another status than 200.
    pub(crate) async fn posted(&self, path: &str, body: &[u8]) -> Result<Vec<u8>, Trouble> {
        let answer = self.read(path, Form::Posted(body), AnswerBound::ENTRIES).await?;
        match answer.status.as_u16() {
            200 => Ok(answer.body),
            status => Err(Trouble::Status { path: path.to_owned(), status }),
        }
    }

    /// Asks until there is an answer that stands, each of the servers before one is waited for.
    async fn read(&self, path: &str, form: Form<'_>, bound: AnswerBound) -> Result<Answer, Trouble> {
        self.read_since(path, form, bound).await.map(|(answer, _)| answer)
    }

    /// The same, with when that answer was asked for.
    async fn read_since(
        &self,
        path: &str,
        form: Form<'_>,
        bound: AnswerBound,
    ) -> Result<(Answer, u64), Trouble> {
        for tries in 1.. {
            let asked_ns = self.now().0;
            self.requests.update(|requests| requests + 1);
            let turn = self.turns.get();
            let answer = self.send(path, form, bound).await;
            // Taking in a bundle is a good part of a millisecond.
            give_way();
            match &answer {
                Ok(answer) => tracing::debug!(path, status = answer.status.as_u16(), "read"),
                Err(trouble) => tracing::warn!(path, tries, "failed to read: {trouble}"),
            }
            // What one server asks to be waited for says nothing of the next.
            let is_elsewhere = !(tries as usize).is_multiple_of(self.servers)
                && self.retry.is_pushed_back(tries, &answer, self.clock.now())
                && self.goes_on(turn);
            self.was_elsewhere.update(|was| was || is_elsewhere);
            if !is_elsewhere {
                let Some(at) = self.retry.again(tries, &answer, self.clock.now()) else {
                    return answer.map(|answer| (answer, asked_ns));
                };
                self.clock.sleep_until(at).await;
            }
            self.repeated.update(|repeated| repeated + 1);
        }
        Err(Trouble::Silent(path.to_owned()))
    }

    async fn send(&self, path: &str, form: Form<'_>, bound: AnswerBound) -> Result<Answer, Trouble> {
        let mut received = ReceivedAnswer { answer: Answer::new(), bytes: &self.bytes };
        let answer = &mut received.answer;
        match form {
            Form::Posted(body) => self.in_time(path, self.client.post(path, body, bound, answer)).await?,
            Form::Plain | Form::Compressed => {
                let compressed = matches!(form, Form::Compressed);
                let asked = LogRequest { path, compressed, bound: Some(bound) };
                self.in_time(path, self.client.get_from(None, asked, answer)).await?;
            }
        }
        // Who was asked for no encoding may have chosen one. What a refusal says is not read.
        if answer.status == StatusCode::OK {
            answer.decode(bound.bytes())?;
        }
        Ok(received.whole())
    }

    async fn in_time(
        &self,
        path: &str,
        sent: impl Future<Output = Result<(), Failure>>,
    ) -> Result<(), Trouble> {
        let deadline = self.clock.now().saturating_add(PATIENCE);
        match select(pin!(sent), self.clock.sleep_until(deadline)).await {
            Either::Left((sent, _)) => Ok(sent?),
            Either::Right(_) => Err(Trouble::Silent(path.to_owned())),
        }
    }
}

/// An answer on its way, whose bytes count however far it comes: a round may end at any await.
struct ReceivedAnswer<'a> {
    answer: Answer,
    bytes: &'a Cell<u64>,
}

impl ReceivedAnswer<'_> {
    fn whole(mut self) -> Answer {
        let mut counted = Answer::new();
        counted.bytes_in = self.answer.bytes_in;
        mem::replace(&mut self.answer, counted)
    }
}

impl Drop for ReceivedAnswer<'_> {
    fn drop(&mut self) {
        self.bytes.update(|bytes| bytes + self.answer.bytes_in);
    }
}

/// The answer that has what is served at a path.
fn whole(path: &str, answer: Answer) -> Result<Answer, Trouble> {
    match answer.status.as_u16() {
        200 => Ok(answer),
        status => Err(Trouble::Status { path: path.to_owned(), status }),
    }
}

/// How an answer may come.
#[derive(Clone, Copy)]
enum Form<'a> {
    Plain,
    /// To JSON that is sent.
    Posted(&'a [u8]),
    /// As tiles do, which some logs keep compressed.
    Compressed,
}

/// Requests at once, each on a connection of its own.
pub(crate) const AT_ONCE: usize = 8;
const PATIENCE: Nanos = Nanos::from_secs(10);

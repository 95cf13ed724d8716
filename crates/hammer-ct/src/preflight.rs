//! What is found of a log before the first arrival: whether it signs as the plan says, and takes what its chains end in.

use std::pin::pin;
use std::rc::Rc;

use futures::future::{Either, select};
use hammer_audit::{LogClient, LogPlace, LogRequest};
use hammer_core::runtime::Clock;
use hammer_measure::{Nanos, peer_start, peer_text};
use hammer_net::{Answer, ClientConfig, ConfigError};
use hammer_tlog::ct::rfc6962::{GetRoots, GetSthResponse};
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::note::{Note, rfc6962_key_id};
use http::StatusCode;

use crate::log::{GET_ROOTS, LogKind, LogTarget};
use crate::tree_head::open_head;

/// Why a log is not the one that a plan means: a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogMismatch {
    /// It has its tree heads where one of the other kind has them, and none where one of the plan's has them.
    #[error("the log is of {is}: it has no tree head at {lacks} and serves {has}, and the plan says {says}")]
    Kind {
        /// What it is.
        is: LogKind,
        /// What the plan says.
        says: LogKind,
        /// Where tree heads are looked for.
        lacks: &'static str,
        /// Where it has them.
        has: &'static str,
    },
    /// It serves something else where a log has its tree heads, and nothing else of it is a log's.
    #[error("{url} is no log: what it answers to {path} is no {form}, and {said}")]
    NoLog {
        /// Where it is read.
        url: String,
        /// Where tree heads are looked for.
        path: &'static str,
        /// What a tree head is.
        form: &'static str,
        /// How what is there starts, as it may be shown.
        said: String,
    },
    /// It is read in a folder that has no checkpoint.
    #[error("the folder {folder} has no file `checkpoint`, with which a log's tree starts (static-ct-api)")]
    Folder {
        /// The folder.
        folder: String,
    },
    /// Its checkpoints have another first line.
    #[error("the log signs as {signs}, and the plan says {says}")]
    Origin {
        /// Its origin, as it may be shown.
        signs: String,
        /// The plan's.
        says: String,
        /// Whether it is the plan's key that signs so.
        is_key_right: bool,
    },
    /// Its checkpoints are signed by another key.
    #[error("the log signs as {origin} with the key of id {signs:08x}, and the plan's has the id {says:08x}")]
    Key {
        /// Its origin.
        origin: String,
        /// The key id in the line of that name (C2SP signed-note).
        signs: u32,
        /// That of the plan's key.
        says: u32,
    },
    /// Its tree head (RFC 6962) is signed by another key, at two looks.
    #[error("the log's tree head is not signed by the key that the plan says, whose log id is {log_id}")]
    HeadKey {
        /// The id of the plan's key in base64.
        log_id: String,
    },
    /// It lacks roots that chains of the plan end in.
    #[error("the log lacks {lacks} of {ends} roots that chains end in")]
    Roots {
        /// How many of the plan's it lacks.
        lacks: usize,
        /// How many the plan's chains end in.
        ends: usize,
    },
}

/// What a look at a log has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreflightFinding {
    /// What is not as the plan says.
    pub mismatches: Vec<LogMismatch>,
    /// Whether the log says that it takes no root at all, which what it accepts may contradict.
    pub takes_none: bool,
    /// What was wrong with the first head that it served, and not with the next: a sentence.
    pub wavered: Option<String>,
}

/// A look at a log before a run.
pub struct Preflight<'a> {
    /// The log.
    pub log: &'a LogTarget,
    /// By what its servers are reached; endpoints and tokens are the log's.
    pub client: ClientConfig,
    /// The roots that the plan's chains end in, in DER.
    pub roots: Vec<Vec<u8>>,
    /// Whether it is read or submitted to as a log; what only requests are sent to may be anything.
    pub is_loaded: bool,
    /// The time.
    pub clock: Rc<dyn Clock>,
}

impl Preflight<'_> {
    /// What of the log is not as the plan says. Nothing is said of one that does not answer: the run shows that.
    ///
    /// # Errors
    /// Those of [`hammer_net::Client::new`].
    pub async fn look(&self) -> Result<PreflightFinding, ConfigError> {
        let (looked, roots) = futures::join!(self.head(), self.roots());
        let (head, wavered) = looked?;
        let roots = roots?;
        let lacking = roots.as_ref().and_then(|taken| self.lacking(taken));
        let head = match head {
            // One that has roots is a log, and what is wrong with its head is for the run to say.
            Some(LogMismatch::NoLog { .. })
                if !self.is_loaded || roots.is_some() || self.taken().await?.is_some() =>
            {
                None
            }
            head => head,
        };
        let mismatches = head.into_iter().chain(lacking).collect();
        let takes_none = roots.is_some_and(|taken| taken.is_empty());
        Ok(PreflightFinding { mismatches, takes_none, wavered })
    }

    /// What is wrong with the tree head at each look, or else at the first alone.
    async fn head(&self) -> Result<(Option<LogMismatch>, Option<String>), ConfigError> {
        let client = self.open(self.log.place(self.client.clone()))?;
        // What is wrong once may be a lie of its own, or an old answer of a cache.
        let (mut found, mut first) = (None, None);
        for _ in 0..LOOKS {
            match self.head_fault(&client).await {
                Some((fault, mismatch)) => {
                    first.get_or_insert(fault);
                    found = mismatch;
                }
                None => return Ok((None, first)),
            }
        }
        Ok((found, None))
    }

    /// What is wrong with a tree head: in words, and as what of the plan it contradicts, where that can be told before the run.
    async fn head_fault(&self, client: &LogClient) -> Option<(String, Option<LogMismatch>)> {
        let mut body = Vec::new();
        if let Some(mismatch) = self.head_mismatch(client, &mut body).await {
            return Some((mismatch.to_string(), Some(mismatch)));
        }
        let verifier = self.log.checkpoint_verifier();
        let fault = open_head(self.log, &verifier, &body).err().filter(|_| !body.is_empty())?;
        Some((format!("the tree head cannot be believed: failed to {}", fault.why), None))
    }

    /// Leaves the body of a head that is one in `body`.
    async fn head_mismatch(&self, client: &LogClient, body: &mut Vec<u8>) -> Option<LogMismatch> {
        let (says, lacks) = (self.log.kind, self.log.tree_head_path());
        let answer = self.answer(client, None, lacks).await?;
        match answer.status {
            StatusCode::OK if !resembles_tree_head(says, &answer.body) => {
                let of_other = self.other_kind(client, answer.endpoint).await;
                of_other.or_else(|| Some(self.no_log(&answer.body)))
            }
            StatusCode::OK => {
                body.clone_from(&answer.body);
                self.mismatch(&answer.body)
            }
            StatusCode::NOT_FOUND => {
                let folder = self.log.folder.as_ref().map(|folder| folder.display().to_string());
                let of_other = self.other_kind(client, answer.endpoint).await;
                of_other.or(folder.map(|folder| LogMismatch::Folder { folder }))
            }
            _ => None,
        }
    }

    /// That a server, which has no tree head where the plan says, has one of the other kind.
    async fn other_kind(&self, client: &LogClient, server: Option<usize>) -> Option<LogMismatch> {
        let (says, lacks) = (self.log.kind, self.log.tree_head_path());
        let is = says.other();
        let has = is.tree_head_path();
        let other = self.answer(client, server, has).await?;
        let is_it = other.status == StatusCode::OK && is_tree_head(is, &other.body);
        is_it.then_some(LogMismatch::Kind { is, says, lacks, has })
    }

    fn no_log(&self, answered: &[u8]) -> LogMismatch {
        let form = match self.log.kind {
            LogKind::StaticCt => "signed note (C2SP tlog-checkpoint)",
            LogKind::Rfc6962 => "signed tree head (RFC 6962 section 4.3)",
        };
        let said = peer_start(answered);
        let url = self.log.monitoring.first().map(ToString::to_string).unwrap_or_default();
        LogMismatch::NoLog { url, path: self.log.tree_head_path(), form, said }
    }

    /// What of a tree head is not as the plan says.
    fn mismatch(&self, head: &[u8]) -> Option<LogMismatch> {
        match self.log.kind {
            LogKind::StaticCt => of_checkpoint(self.log, head),
            LogKind::Rfc6962 => is_foreign(&self.log.key, head)
                .then(|| LogMismatch::HeadKey { log_id: self.log.key.log_id().to_string() }),
        }
    }

    /// The roots that the log says it takes, where chains of the plan end in any.
    async fn roots(&self) -> Result<Option<Vec<Vec<u8>>>, ConfigError> {
        if self.roots.is_empty() { Ok(None) } else { self.taken().await }
    }

    async fn taken(&self) -> Result<Option<Vec<Vec<u8>>>, ConfigError> {
        let client = self.open(self.log.submission_client(self.client.clone()).into())?;
        let Some(body) = self.read(&client, GET_ROOTS).await else { return Ok(None) };
        let roots = serde_json::from_slice::<GetRoots>(&body).ok();
        Ok(roots.map(|roots| roots.certificates.into_iter().map(|root| root.0).collect()))
    }

    fn lacking(&self, taken: &[Vec<u8>]) -> Option<LogMismatch> {
        let ends = self.roots.len();
        let lacks = self.roots.iter().filter(|root| !taken.contains(root)).count();
        // One that says that it takes none may take all: what it accepts shows that.
        (lacks > 0 && !taken.is_empty()).then_some(LogMismatch::Roots { lacks, ends })
    }

    fn open(&self, place: LogPlace) -> Result<LogClient, ConfigError> {
        let clock: Rc<dyn Clock> = Rc::clone(&self.clock);
        LogClient::open(place, clock)
    }

    /// What is answered with 200 at a path.
    async fn read(&self, client: &LogClient, path: &str) -> Option<Vec<u8>> {
        let answer = self.answer(client, None, path).await?;
        (answer.status == StatusCode::OK).then_some(answer.body)
    }

    /// What is answered at a path in time, by that server or by whose turn it is.
    async fn answer(&self, client: &LogClient, server: Option<usize>, path: &str) -> Option<Answer> {
        let deadline = self.clock.now().saturating_add(PATIENCE);
        let mut answer = Answer::new();
        let asked = LogRequest { path, compressed: false, bound: None };
        let went = {
            let asked = pin!(client.get_from(server, asked, &mut answer));
            let ended = select(asked, self.clock.sleep_until(deadline)).await;
            matches!(ended, Either::Left((Ok(()), _)))
        };
        (went && answer.decode(LARGEST_ANSWER).is_ok()).then_some(answer)
    }
}

fn of_checkpoint(log: &LogTarget, body: &[u8]) -> Option<LogMismatch> {
    let note = Note::parse(body).ok()?;
    let origin = note.text.lines().next().unwrap_or_default();
    let mut own = note.signatures.iter().filter(|line| line.name == origin).map(|line| line.key_id);
    let expected = rfc6962_key_id(origin, &log.key.log_id());
    let signs = own.clone().next()?;
    let is_key_right = own.any(|id| id == expected);
    let shown = peer_text(origin);
    if origin != log.origin {
        return Some(LogMismatch::Origin { signs: shown, says: log.origin.clone(), is_key_right });
    }
    (!is_key_right).then_some(LogMismatch::Key { origin: shown, signs, says: expected })
}

/// Whether this has the form of a tree head of that kind.
fn is_tree_head(kind: LogKind, body: &[u8]) -> bool {
    match kind {
        LogKind::StaticCt => Note::parse(body).is_ok(),
        LogKind::Rfc6962 => serde_json::from_slice::<GetSthResponse>(body).is_ok(),
    }
}

/// Whether this is meant as a tree head of that kind, whatever is wrong with it.
fn resembles_tree_head(kind: LogKind, body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    match kind {
        // Its second line is a size (C2SP tlog-checkpoint), and lines of signatures start with a dash.
        LogKind::StaticCt => {
            text.contains("\n\u{2014} ")
                || text.lines().nth(1).is_some_and(|size| size.parse::<u64>().is_ok())
        }
        LogKind::Rfc6962 => ["\"tree_size\"", "\"sha256_root_hash\""].iter().any(|key| text.contains(key)),
    }
}

/// Whether this is a tree head that another key signed.
fn is_foreign(key: &LogKey, body: &[u8]) -> bool {
    serde_json::from_slice::<GetSthResponse>(body).is_ok_and(|sth| sth.verify(key).is_err())
}

/// What is wrong as often is told.
const LOOKS: usize = 2;
/// How long an answer is waited for.
const PATIENCE: Nanos = Nanos::from_secs(3);
/// The roots of a log that takes those of all browsers are 1 MB.
const LARGEST_ANSWER: usize = 16 << 20;

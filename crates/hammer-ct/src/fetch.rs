//! Reads beside the load: the tree head, verified, and the roots.

use std::rc::Rc;
use std::sync::Arc;

use hammer_audit::{LogClient, checkpoint_breach};
use hammer_measure::Now;
use hammer_net::{Answer, Balancing, Client, ClientConfig, ConfigError, Failure, Request};
use hammer_tlog::ct::rfc6962::{GetRoots, GetSthResponse, SthError};
use hammer_tlog::logs::merkle::Hash;
use hammer_tlog::logs::note::{NoteError, Verifier, open_checkpoint};

use crate::log::{GET_ROOTS, LogKind, LogTarget};

/// Why there is no tree head, or no roots.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// No answer.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// Another status than 200.
    #[error("read {path}: the log answers with status {status}")]
    Status {
        /// The path.
        path: String,
        /// The status.
        status: u16,
    },
    /// The answer is not the JSON that RFC 6962 section 4 asks for.
    #[error("read {path}: {source}")]
    Json {
        /// The path.
        path: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The checkpoint cannot be read, or is not the log's.
    #[error(transparent)]
    Checkpoint(#[from] NoteError),
    /// The signed tree head is not the log's.
    #[error(transparent)]
    Sth(#[from] SthError),
}

impl FetchError {
    /// The kind of promise that is broken by what was served; none where nothing was served, or nothing that can be read.
    pub fn breach_kind(&self) -> Option<&'static str> {
        match self {
            Self::Checkpoint(error) => checkpoint_breach(error),
            Self::Sth(_) => Some("sth-signature"),
            Self::Failure(_) | Self::Status { .. } | Self::Json { .. } => None,
        }
    }
}

/// A tree head whose signature is the log's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeHead {
    /// Leaves in the tree.
    pub size: u64,
    /// The root.
    pub root: Hash,
    /// When it was signed, milliseconds since the Unix epoch.
    pub timestamp_ms: u64,
}

impl TreeHead {
    /// Reads and verifies what a log of that kind serves as its tree head.
    pub(crate) fn open(log: &LogTarget, verifier: &Verifier, body: &[u8]) -> Result<Self, FetchError> {
        match log.kind {
            LogKind::StaticCt => {
                let (checkpoint, verified) = open_checkpoint(body, verifier)?;
                let timestamp_ms = verified.timestamp_ms.unwrap_or_default();
                Ok(Self { size: checkpoint.size, root: checkpoint.root, timestamp_ms })
            }
            LogKind::Rfc6962 => {
                let sth: GetSthResponse = serde_json::from_slice(body)
                    .map_err(|source| FetchError::Json { path: "get-sth".to_owned(), source })?;
                sth.verify(&log.key)?;
                Ok(Self { size: sth.tree_size, root: sth.sha256_root_hash, timestamp_ms: sth.timestamp })
            }
        }
    }
}

/// Reads a log with connections of its own, beside the load. It lives on one thread, within a `LocalSet`.
pub struct LogReader {
    log: Arc<LogTarget>,
    verifier: Verifier,
    submission: Client,
    monitoring: LogClient,
    roots: Request,
    answer: Answer,
    requests: u64,
}

impl LogReader {
    /// A reader with one connection to each place. The endpoints of `client` are replaced by the log's.
    ///
    /// # Errors
    /// Those of [`Client::new`].
    pub fn new(log: Arc<LogTarget>, client: &ClientConfig, clock: Rc<dyn Now>) -> Result<Self, ConfigError> {
        // Another URL may lag, and its tree must not look as if it shrank.
        let client = ClientConfig { connections: 1, balancing: Balancing::PickFirst, ..client.clone() };
        let monitoring = LogClient::open(log.place(client.clone()), clock.clone())?;
        let submission = Client::new(log.submission_client(client), clock)?;
        Ok(Self {
            verifier: log.checkpoint_verifier(),
            roots: Request::get(submission.path(GET_ROOTS)?),
            submission,
            monitoring,
            log,
            answer: Answer::new(),
            requests: 0,
        })
    }

    /// How many requests were sent so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The tree head now, verified: the checkpoint, or the signed tree head.
    ///
    /// # Errors
    /// When nothing is served, or what is served is not the log's ([`FetchError::breach_kind`]).
    pub async fn tree_head(&mut self) -> Result<TreeHead, FetchError> {
        self.requests += 1;
        let path = self.log.tree_head_path();
        self.monitoring.get(path, &mut self.answer).await?;
        is_ok(path, &self.answer)?;
        TreeHead::open(&self.log, &self.verifier, &self.answer.body)
    }

    /// The roots that the log accepts, in DER (RFC 6962 section 4.7).
    ///
    /// # Errors
    /// When they are not served.
    pub async fn roots(&mut self) -> Result<Vec<Vec<u8>>, FetchError> {
        self.requests += 1;
        self.submission.send(&self.roots, &mut self.answer).await?;
        is_ok(self.roots.path.as_str(), &self.answer)?;
        let roots: GetRoots = serde_json::from_slice(&self.answer.body)
            .map_err(|source| FetchError::Json { path: self.roots.path.to_string(), source })?;
        Ok(roots.certificates.into_iter().map(|root| root.0).collect())
    }
}

fn is_ok(path: &str, answer: &Answer) -> Result<(), FetchError> {
    match answer.status.as_u16() {
        200 => Ok(()),
        status => Err(FetchError::Status { path: path.to_owned(), status }),
    }
}

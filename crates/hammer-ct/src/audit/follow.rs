use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::runtime::Clock;
use hammer_net::{ClientConfig, ConfigError};
use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::bundles;
use hammer_tlog::logs::follow::{By, Event, Follower, Head};
use hammer_tlog::logs::note::Note;

use super::prove::prove;
use super::reader::Reader;
use super::trouble::Trouble;
use super::{evidence, words};
use crate::log::{LogKind, LogTarget};

/// Follows a log without load: each head's signature is verified, and that it continues the one before, by the fewest
/// tiles or by `get-sth-consistency`. It lives on one thread, within a `LocalSet`.
pub struct LogFollower {
    log: Arc<LogTarget>,
    reader: Reader,
    follower: Follower,
}

/// What a look at the log has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// A head of a tree that was not known; it continues the one before.
    Head {
        /// The head.
        head: Head,
        /// Leaves more than the head before; none for the first.
        grown: Option<u64>,
        /// Who else signed the checkpoint, by name. Their keys are not known: nothing is verified.
        cosigners: Vec<String>,
    },
    /// A head of an earlier state of the tree, which a server that lags behind still serves.
    Stale {
        /// The head as fetched now.
        head: Head,
        /// Leaves of the tree that was seen before.
        newest: u64,
    },
    /// A promise to everyone that is broken.
    Breach {
        /// Its kind, as reports have it.
        kind: &'static str,
        /// The leaf that it is of, where it is one's.
        index: Option<u64>,
        /// What was found.
        detail: String,
        /// The two heads that no append-only log can have, where that is what was found.
        heads: Option<Box<[Head; 2]>>,
    },
}

impl LogFollower {
    /// A follower of `log`, which counts the instants of heads from `clock`'s epoch. The endpoints of `client` are replaced by
    /// the log's.
    ///
    /// # Errors
    /// Those of [`hammer_net::Client::new`].
    pub fn new(log: Arc<LogTarget>, client: ClientConfig, clock: Rc<dyn Clock>) -> Result<Self, ConfigError> {
        let by = match log.kind {
            LogKind::StaticCt => By::Edges,
            LogKind::Rfc6962 => By::Proofs,
        };
        let reader = Reader::new(log.clone(), client, clock)?;
        Ok(Self { log, reader, follower: Follower::new(by, bundles::<StaticCtLeaves>()) })
    }

    /// How many requests were sent so far.
    pub fn requests(&self) -> u64 {
        self.reader.requests()
    }

    /// Fetches the head and what proves it.
    ///
    /// # Errors
    /// When the log does not answer, or not with what can be read. A head that is not the log's is a breach.
    pub async fn look(&mut self) -> Result<Vec<Followed>, Trouble> {
        match self.reader.head().await {
            Ok(head) => self.follower.head(head),
            Err(why) => {
                let Some(kind) = why.breach_kind() else { return Err(why) };
                let detail = format!("failed to {why}");
                return Ok(vec![Followed::Breach { kind, index: None, detail, heads: None }]);
            }
        }
        let proved = prove(&mut self.reader, &mut self.follower).await;
        let events = self.follower.events();
        let seen = events.iter().filter_map(|event| self.seen(event)).collect();
        proved.map(|()| seen)
    }

    fn seen(&self, event: &Event) -> Option<Followed> {
        let (head, grown) = match event {
            Event::First { head } => (head, None),
            Event::Grew { from, to, .. } => (to, Some(to.size - from.size)),
            Event::Stale { head, newest } => {
                return Some(Followed::Stale { head: head.clone(), newest: newest.size });
            }
            event => {
                let (kind, index, detail) = words::event(event)?;
                let heads = match event {
                    Event::Forked { older, newer, .. } | Event::Shrank { older, newer } => {
                        Some(Box::new([older.clone(), newer.clone()]))
                    }
                    _ => None,
                };
                return Some(Followed::Breach { kind, index, detail, heads });
            }
        };
        Some(Followed::Head { head: head.clone(), grown, cosigners: cosigners(&self.log, head) })
    }
}

/// The names in the lines of a checkpoint that are not the log's own.
fn cosigners(log: &LogTarget, head: &Head) -> Vec<String> {
    let own = log.checkpoint_verifier();
    match (log.kind, Note::parse(&head.raw)) {
        (LogKind::StaticCt, Ok(note)) => {
            let others = note.signatures.iter().filter(|line| line.key_id != own.key_id());
            others.map(|line| line.name.to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// Writes two heads that contradict each other, as they were served, to files of their own in `folder`, which is made where
/// there is none; `run` stands in their names.
///
/// # Errors
/// When one cannot be written.
pub fn save_heads(folder: &Path, run: u64, heads: &[Head; 2]) -> io::Result<[PathBuf; 2]> {
    std::fs::create_dir_all(folder)?;
    evidence::save(folder, run, [&heads[0], &heads[1]])
}

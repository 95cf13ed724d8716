//! Whether a log has what a corpus says, as far as it shows before a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::connection::ConnectionLog;
use hammer_net::{Answer, Client, ClientConfig, Request};
use hammer_tlog::logs::tile::{FULL_WIDTH, Level, TileId};
use serde::Deserialize;

use super::entry::{CorpusEntry, CorpusLog};
use super::file::{BadLine, CorpusFile};
use crate::error::SigstoreError;
use crate::rekor::{UuidPlace, leaf_of};
use crate::rekor_tiles::{CHECKPOINT, size_of_tree};

/// What a log is asked for ahead of a run on a corpus: the trees that its entries name, and its first entry. Under the same URL and key
/// there may be another tree by now, which lost nothing and is not to be accused.
#[derive(Clone, Debug)]
pub struct CorpusProbe {
    path: PathBuf,
    log: CorpusLog,
    /// The trees of Rekor v1 that the entries name, and where that is first.
    trees: BTreeMap<u64, u64>,
    /// The entry of the lowest index, and its line.
    first: CorpusEntry,
    line: u64,
}

/// The trees of `GET /api/v1/log`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProbedTrees {
    inactive_shards: Option<Vec<ProbedTree>>,
    #[serde(flatten)]
    active: ProbedTree,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProbedTree {
    #[serde(rename = "treeID")]
    tree_id: String,
    tree_size: u64,
}

impl CorpusProbe {
    /// None where the file has no entry of that log.
    pub(super) fn of(path: &Path, log: CorpusLog, file: &CorpusFile) -> Option<Self> {
        let mut trees = BTreeMap::new();
        for (line, entry) in file.of(log) {
            if let Some(tree) = UuidPlace::of(&entry.uuid).and_then(|place| place.tree) {
                trees.entry(tree).or_insert(line);
            }
        }
        let (line, first) = file.of(log).min_by_key(|(_, entry)| entry.log_index)?;
        Some(Self { path: path.to_owned(), log, trees, first: first.clone(), line })
    }

    /// Asks the log at the client's first URL, in a run that starts at `epoch_unix_ms`. What was logged less than `missing_after` ago may not
    /// be everywhere yet. A log that does not answer contradicts nothing.
    ///
    /// # Errors
    /// The line that contradicts the log.
    pub async fn ask(
        &self,
        client: ClientConfig,
        clock: Rc<dyn Clock>,
        epoch_unix_ms: u64,
        missing_after: Duration,
    ) -> Result<(), SigstoreError> {
        let url = client.endpoints.first().map(ToString::to_string).unwrap_or_default();
        let Ok(client) = Client::new(client, clock.clone(), ConnectionLog::default()) else { return Ok(()) };
        let age_ms = epoch_unix_ms.saturating_sub(self.first.logged_unix_ms);
        let is_old = u128::from(age_ms) >= missing_after.as_millis();
        let late = clock.sleep_until(clock.now().saturating_add(LONGEST));
        let contradicted = async {
            match self.log {
                CorpusLog::RekorV1 => self.contradicted(&client, is_old).await,
                CorpusLog::RekorV2 => self.contradicted_on_tiles(&client, is_old).await,
            }
        };
        let found = tokio::select! {
            found = contradicted => found,
            () = late => None,
        };
        let told = |(line, reason)| {
            let reason = format!("{reason}: the log at {url} was emptied since, or is another one");
            BadLine { line, reason }.of(&self.path)
        };
        found.map_or(Ok(()), |found| Err(told(found)))
    }

    /// The line that a log of Rekor v1 contradicts, and how.
    async fn contradicted(&self, client: &Client, is_old: bool) -> Option<(u64, String)> {
        let (_, body) = read(client, LOG_INFO).await.filter(|(status, _)| *status == 200)?;
        let ProbedTrees { inactive_shards, active } = serde_json::from_slice(&body).ok()?;
        let served: Vec<ProbedTree> =
            inactive_shards.unwrap_or_default().into_iter().chain([active]).collect();
        let is_there = |tree: &u64| served.iter().any(|served| served.tree_id == tree.to_string());
        if let Some((tree, line)) = self.trees.iter().find(|(tree, _)| !is_there(tree)) {
            let known: Vec<&str> = served.iter().map(|served| served.tree_id.as_str()).collect();
            let known = known.join(", ");
            return Some((
                *line,
                format!("its entry is of the tree {tree}, and the log has the tree {known}"),
            ));
        }
        let size = served.iter().fold(0, |sum: u64, served| sum.saturating_add(served.tree_size));
        (self.first.log_index >= size && is_old).then(|| self.beyond(size))
    }

    /// The log is too short for the first entry.
    fn beyond(&self, size: u64) -> (u64, String) {
        let index = self.first.log_index;
        let why =
            format!("its entry of index {index} is the first of the corpus, and the log has {size} entries");
        (self.line, why)
    }

    /// The same of a log of Rekor v2.
    async fn contradicted_on_tiles(&self, client: &Client, is_old: bool) -> Option<(u64, String)> {
        let index = self.first.log_index;
        let (_, checkpoint) = read(client, CHECKPOINT).await.filter(|(status, _)| *status == 200)?;
        let size = size_of_tree(&checkpoint)?;
        let Some(tile) = TileId::covering(Level::Hashes(0), index, size) else {
            return is_old.then(|| self.beyond(size));
        };
        let partial = read(client, &format!("/{tile}")).await?;
        let (status, bytes) = match partial {
            (404, _) if !tile.is_full() => read(client, &format!("/{}", tile.full())).await?,
            read => read,
        };
        if status != 200 {
            return None;
        }
        let hashes = tile.parse_hashes(&bytes).ok()?;
        let found = hashes.get((index % u64::from(FULL_WIDTH)) as usize)?;
        // No server that lags behind has another entry there.
        let why = || format!("the log has another entry of index {index}, the first of the corpus");
        (Some(*found) != leaf_of(&self.first.uuid)).then(|| (self.line, why()))
    }
}

/// Status and body of what is at a path; none where nothing answers.
async fn read(client: &Client, path: &str) -> Option<(u16, Vec<u8>)> {
    let mut answer = Answer::default();
    client.send(&Request::get(client.path(path).ok()?), &mut answer).await.ok()?;
    answer.decode(LARGEST).ok()?;
    Some((answer.status.as_u16(), answer.body))
}

const LOG_INFO: &str = "/api/v1/log";
const LONGEST: Nanos = Nanos::from_secs(10);
const LARGEST: usize = 1 << 20;

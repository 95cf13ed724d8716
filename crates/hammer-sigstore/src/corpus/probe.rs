//! Whether a log has what a corpus says, as far as it shows before a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::connection::ConnectionLog;
use hammer_net::{Answer, Client, ClientConfig, Request};
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::tile::{FULL_WIDTH, Level, TileId};
use serde::Deserialize;

use super::entry::{CorpusEntry, CorpusLog};
use super::file::{BadLine, CorpusFile};
use crate::error::SigstoreError;
use crate::plan::ReadRekor;
use crate::rekor::{ENTRIES, LogEntries, UuidPlace, leaf_of};
use crate::rekor_tiles::{CHECKPOINT, size_of_tree};
use crate::target::SigstoreService;

/// What a log is asked for ahead of a run on a corpus: the trees that its entries name, its first entry, and of Rekor v1 its last one. Under
/// the same URL and key there may be another tree by now, which lost nothing and is not to be accused.
#[derive(Clone, Debug)]
pub struct CorpusProbe {
    path: PathBuf,
    log: CorpusLog,
    /// The trees of Rekor v1 that the entries name, and where that is first.
    trees: BTreeMap<u64, u64>,
    /// The entry of the lowest index.
    first: ProbedEntry,
    /// That of the highest one; none where it is the same.
    last: Option<ProbedEntry>,
}

/// An entry by which a corpus is held against its log.
#[derive(Clone, Debug)]
struct ProbedEntry {
    /// Which of the corpus it is.
    place: &'static str,
    /// The line that it stands in, from 1.
    line: u64,
    log_index: u64,
    leaf: Option<Hash>,
    logged_unix_ms: u64,
    /// As the log said it first, in seconds since 1970; none where that is not known.
    integrated_time: Option<i64>,
}

/// What a log has at the index of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServedPlace {
    /// An entry of this leaf; of Rekor v1 with its `integratedTime`.
    Entry(Hash, Option<i64>),
    /// Nothing, or nothing that can be read.
    Nothing,
}

/// What a log is contradicted by.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Contradiction {
    /// A line of the corpus, and how.
    Line(u64, String),
    /// What is at the URL is none, by how this path was answered.
    NoLog(&'static str, String),
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
        let first = file.of(log).min_by_key(|(_, entry)| entry.log_index)?;
        let last = file.of(log).max_by_key(|(_, entry)| entry.log_index);
        let last = last.filter(|(_, last)| last.log_index != first.1.log_index);
        let (first, last) = (ProbedEntry::of("first", first), last.map(|last| ProbedEntry::of("last", last)));
        Some(Self { path: path.to_owned(), log, trees, first, last })
    }

    /// Asks the log at the client's first URL, in a run that starts at `epoch_unix_ms`. What was logged less than `missing_after` ago may not
    /// be everywhere yet. A log that does not answer, or not yet, contradicts nothing.
    ///
    /// # Errors
    /// The line that contradicts the log, or that what is at the URL is no log.
    pub async fn ask(
        &self,
        client: ClientConfig,
        clock: Rc<dyn Clock>,
        epoch_unix_ms: u64,
        missing_after: Duration,
    ) -> Result<(), SigstoreError> {
        let url = first_url(&client);
        let Ok(client) = Client::new(client, clock.clone(), ConnectionLog::default()) else { return Ok(()) };
        let is_old = |entry: &ProbedEntry| {
            let age_ms = epoch_unix_ms.saturating_sub(entry.logged_unix_ms);
            u128::from(age_ms) >= missing_after.as_millis()
        };
        let late = clock.sleep_until(clock.now().saturating_add(LONGEST));
        let contradicted = async {
            match self.log {
                CorpusLog::RekorV1 => self.contradicted(&client, is_old).await,
                CorpusLog::RekorV2 => self.contradicted_on_tiles(&client, is_old).await,
            }
        };
        let found = tokio::select! {
            found = contradicted => found,
            () = late => Ok(()),
        };
        match found {
            Ok(()) => Ok(()),
            Err(Contradiction::Line(line, reason)) => {
                let reason =
                    format!("{reason}: the log at {url} was emptied or set back since, or is another one");
                Err(BadLine { line, reason }.of(&self.path))
            }
            Err(Contradiction::NoLog(path, found)) => Err(self.log.is_not_at(url, path, found)),
        }
    }

    /// Holds it against a log of Rekor v1.
    async fn contradicted(
        &self,
        client: &Client,
        is_old: impl Fn(&ProbedEntry) -> bool,
    ) -> Result<(), Contradiction> {
        let Some(trees) = state(client, LOG_INFO, NO_INFO, trees).await? else { return Ok(()) };
        let ProbedTrees { inactive_shards, active } = trees;
        let served: Vec<ProbedTree> =
            inactive_shards.unwrap_or_default().into_iter().chain([active]).collect();
        let is_there = |tree: &u64| served.iter().any(|served| served.tree_id == tree.to_string());
        if let Some((tree, line)) = self.trees.iter().find(|(tree, _)| !is_there(tree)) {
            let known: Vec<&str> = served.iter().map(|served| served.tree_id.as_str()).collect();
            let known = known.join(", ");
            let reason = format!("its entry is of the tree {tree}, and the log has the tree {known}");
            return Err(Contradiction::Line(*line, reason));
        }
        let size = served.iter().fold(0, |sum: u64, served| sum.saturating_add(served.tree_size));
        let mut times = Vec::new();
        for entry in [&self.first].into_iter().chain(&self.last) {
            let found = read(client, &format!("{ENTRIES}?logIndex={}", entry.log_index)).await;
            let found = found.map_or(ServedPlace::Nothing, |(status, body)| ServedPlace::of(status, &body));
            if let Some(why) = entry.contradicted(found, size, is_old(entry)) {
                return Err(Contradiction::Line(entry.line, why));
            }
            times.extend(entry.held_to_its_time(found));
        }
        // A log that was filled anew by the same seed has the same entries, all of them at other times. One of them alone is for a run to find.
        times.into_iter().reduce(Result::or).unwrap_or(Ok(()))
    }

    /// The same of a log of Rekor v2.
    async fn contradicted_on_tiles(
        &self,
        client: &Client,
        is_old: impl Fn(&ProbedEntry) -> bool,
    ) -> Result<(), Contradiction> {
        let entry = &self.first;
        let Some(size) = state(client, CHECKPOINT, NO_CHECKPOINT, size_of_tree).await? else {
            return Ok(());
        };
        let why = match TileId::covering(Level::Hashes(0), entry.log_index, size) {
            None => entry.contradicted(ServedPlace::Nothing, size, is_old(entry)),
            Some(tile) => {
                let found = ServedPlace::on_tile(client, tile, entry.log_index).await;
                entry.contradicted(found, size, is_old(entry))
            }
        };
        why.map_or(Ok(()), |why| Err(Contradiction::Line(entry.line, why)))
    }
}

/// Asks what is at the client's first URL whether it is a log, ahead of a fill that nobody could read back elsewhere. What does not answer
/// may be one; and one that was set up a moment ago has no checkpoint yet, and is given some seconds for its first.
///
/// # Errors
/// That it is none, by how it answered.
pub async fn expect_log(
    rekor: ReadRekor,
    client: ClientConfig,
    clock: Rc<dyn Clock>,
) -> Result<(), SigstoreError> {
    let log = CorpusLog::of(rekor);
    let url = first_url(&client);
    let Ok(client) = Client::new(client, clock.clone(), ConnectionLog::default()) else { return Ok(()) };
    let until = clock.now().saturating_add(FIRST_STATE_WITHIN);
    let asked = async {
        loop {
            let asked = match log {
                CorpusLog::RekorV1 => state(&client, LOG_INFO, NO_INFO, trees).await.map(drop),
                CorpusLog::RekorV2 => state(&client, CHECKPOINT, NO_CHECKPOINT, size_of_tree).await.map(drop),
            };
            let is_absent = matches!(&asked, Err(Contradiction::NoLog(_, found)) if found == "404");
            if !is_absent || clock.now() >= until {
                return asked;
            }
            clock.sleep_until(clock.now().saturating_add(ASKED_EVERY)).await;
        }
    };
    let late = clock.sleep_until(clock.now().saturating_add(LONGEST));
    let found = tokio::select! {
        found = asked => found,
        () = late => Ok(()),
    };
    match found {
        Err(Contradiction::NoLog(path, found)) => Err(log.is_not_at(url, path, found)),
        _ => Ok(()),
    }
}

impl CorpusLog {
    /// Why what is at that URL is none.
    fn is_not_at(self, url: String, path: &'static str, found: String) -> SigstoreError {
        let service = match self {
            Self::RekorV1 => SigstoreService::Rekor,
            Self::RekorV2 => SigstoreService::RekorTilesRead,
        };
        SigstoreError::NoLog { key: service.key(), log: self.name(), url, path, found }
    }
}

fn first_url(client: &ClientConfig) -> String {
    client.endpoints.first().map(ToString::to_string).unwrap_or_default()
}

fn trees(body: &[u8]) -> Option<ProbedTrees> {
    serde_json::from_slice(body).ok()
}

impl ProbedEntry {
    fn of(place: &'static str, (line, entry): (u64, &CorpusEntry)) -> Self {
        let CorpusEntry { log_index, logged_unix_ms, integrated_time, ref uuid, .. } = *entry;
        Self { place, line, log_index, leaf: leaf_of(uuid), logged_unix_ms, integrated_time }
    }

    /// Whether it was integrated when the log said so first; none where nothing says it.
    fn held_to_its_time(&self, found: ServedPlace) -> Option<Result<(), Contradiction>> {
        let ServedPlace::Entry(_, Some(time)) = found else { return None };
        let first = self.integrated_time?;
        let Self { place, line, log_index, .. } = self;
        let told = || {
            format!(
                "its entry of index {log_index}, the {place} of the corpus, was integrated at {first}, and the log has it at {time}"
            )
        };
        Some(if first == time { Ok(()) } else { Err(Contradiction::Line(*line, told())) })
    }

    /// How a log of `size` entries contradicts it that has `found` at its index. What is not there within the log is withheld, which is for a
    /// run to tell; what is beyond its end may still come, unless the entry `is_old`. What has the place of another entry never leaves it.
    fn contradicted(&self, found: ServedPlace, size: u64, is_old: bool) -> Option<String> {
        let Self { place, log_index, leaf, .. } = self;
        match found {
            ServedPlace::Entry(found, _) => (*leaf != Some(found))
                .then(|| format!("the log has another entry of index {log_index}, the {place} of the corpus")),
            ServedPlace::Nothing => (*log_index >= size && is_old).then(|| {
                format!(
                    "its entry of index {log_index} is the {place} of the corpus, and the log has {size} entries"
                )
            }),
        }
    }
}

impl ServedPlace {
    /// What Rekor v1 answers to a request by index.
    fn of(status: u16, body: &[u8]) -> Self {
        let found = (status == 200).then(|| LogEntries::only(body).ok()).flatten();
        let found = found.and_then(|(uuid, entry)| Some((leaf_of(&uuid)?, entry.integrated_time)));
        found.map_or(Self::Nothing, |(leaf, time)| Self::Entry(leaf, Some(time)))
    }

    /// What a hash tile of Rekor v2 has at an index.
    async fn on_tile(client: &Client, tile: TileId, index: u64) -> Self {
        let answer = match read(client, &format!("/{tile}")).await {
            Some((404, _)) if !tile.is_full() => read(client, &format!("/{}", tile.full())).await,
            read => read,
        };
        let bytes = answer.filter(|(status, _)| *status == 200).map(|(_, bytes)| bytes);
        let hashes = bytes.and_then(|bytes| tile.parse_hashes(&bytes).ok()).unwrap_or_default();
        let found = hashes.get((index % u64::from(FULL_WIDTH)) as usize);
        found.copied().map_or(Self::Nothing, |leaf| Self::Entry(leaf, None))
    }
}

/// What a log says of its tree at a path; none where it cannot be asked now. What is there and says nothing of a tree is no log.
async fn state<T>(
    client: &Client,
    path: &'static str,
    expected: &str,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<Option<T>, Contradiction> {
    let found = match read(client, path).await {
        Some((200, body)) => match parse(&body) {
            Some(said) => return Ok(Some(said)),
            None => format!("200 and {expected}"),
        },
        Some((status @ 400..=499, _)) if !MAY_HIDE_A_LOG.contains(&status) => status.to_string(),
        _ => return Ok(None),
    };
    Err(Contradiction::NoLog(path, found))
}

/// Status and body of what is at a path; none where nothing answers.
async fn read(client: &Client, path: &str) -> Option<(u16, Vec<u8>)> {
    let mut answer = Answer::default();
    client.send(&Request::get(client.path(path).ok()?), &mut answer).await.ok()?;
    answer.decode(LARGEST).ok()?;
    Some((answer.status.as_u16(), answer.body))
}

/// Refusals of who asks, or of asking now (RFC 9110 section 15.5, RFC 8470 section 5.2, RFC 6585 section 4): a log may stand behind them.
const MAY_HIDE_A_LOG: [u16; 5] = [401, 403, 408, 425, 429];
const LOG_INFO: &str = "/api/v1/log";
const NO_INFO: &str = "no log information";
const NO_CHECKPOINT: &str = "no checkpoint";
const LONGEST: Nanos = Nanos::from_secs(10);
const FIRST_STATE_WITHIN: Nanos = Nanos::from_secs(5);
const ASKED_EVERY: Nanos = Nanos::from_millis(250);
const LARGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = include_str!("../../testdata/rekor-v1-hashedrekord-response.json");

    #[test]
    fn another_entry_contradicts_at_once_and_one_that_is_beyond_the_end_once_it_is_old() {
        let (own, other) = (Hash([1; 32]), Hash([2; 32]));
        let entry = entry_of(own);
        let another = Some("the log has another entry of index 4, the last of the corpus");
        let beyond = Some("its entry of index 4 is the last of the corpus, and the log has 4 entries");
        for (found, size, is_old, expected) in [
            (ServedPlace::Entry(own, None), 5, true, None),
            // What says the size may lag behind what has the entries.
            (ServedPlace::Entry(own, Some(7)), 0, true, None),
            (ServedPlace::Entry(other, None), 5, false, another),
            (ServedPlace::Entry(other, None), 4, false, another),
            (ServedPlace::Nothing, 4, false, None),
            (ServedPlace::Nothing, 4, true, beyond),
            // It has the entry and withholds it, which whoever verifies finds.
            (ServedPlace::Nothing, 5, true, None),
        ] {
            let found = (entry.contradicted(found, size, is_old), size, found);
            assert_eq!(found.0.as_deref(), expected, "{found:?} {is_old}");
        }
    }

    fn entry_of(leaf: Hash) -> ProbedEntry {
        let (place, line, log_index, leaf) = ("last", 9, 4, Some(leaf));
        ProbedEntry { place, line, log_index, leaf, logged_unix_ms: 0, integrated_time: Some(7) }
    }

    #[test]
    fn an_entry_is_held_to_its_time_where_both_are_known() {
        let leaf = Hash([1; 32]);
        let entry = entry_of(leaf);
        let older = ProbedEntry { integrated_time: None, ..entry.clone() };
        let told =
            "its entry of index 4, the last of the corpus, was integrated at 7, and the log has it at 307";
        let other = Some(Err(Contradiction::Line(9, told.to_owned())));
        for (entry, found, expected) in [
            (&entry, ServedPlace::Entry(leaf, Some(7)), Some(Ok(()))),
            (&entry, ServedPlace::Entry(leaf, Some(307)), other),
            (&entry, ServedPlace::Entry(leaf, None), None),
            (&entry, ServedPlace::Nothing, None),
            (&older, ServedPlace::Entry(leaf, Some(307)), None),
        ] {
            assert_eq!(entry.held_to_its_time(found), expected, "{found:?}");
        }
    }

    #[test]
    fn an_answer_that_is_no_entry_says_nothing_of_the_place() {
        let uuid = ENTRY.split('"').nth(1).unwrap();
        let there = ServedPlace::Entry(leaf_of(uuid).unwrap(), Some(1_795_243_691));
        assert_eq!(ServedPlace::of(200, ENTRY.as_bytes()), there);
        for (status, body) in [(404, ENTRY), (200, "{}"), (200, ""), (500, "{\"code\":500}")] {
            assert_eq!(ServedPlace::of(status, body.as_bytes()), ServedPlace::Nothing, "{status} {body}");
        }
    }
}

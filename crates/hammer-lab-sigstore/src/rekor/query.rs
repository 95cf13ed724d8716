//! What is asked of the log beside new entries.

use hammer_tlog::logs::merkle::{Hash, consistency_proof, sha256};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::{
    answer::AnsweredEntry, entry::LoggedEntry, lie::altered_path, log::RekorLog, plan::RekorLieKind,
    refusal::RekorRefusal,
};
use crate::artifact::ArtifactVerifier;

/// `POST /api/v1/log/entries/retrieve`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EntriesQuery {
    #[serde(rename = "entryUUIDs")]
    entry_uuids: Vec<String>,
    #[serde(rename = "logIndexes")]
    log_indexes: Vec<u64>,
}

/// `POST /api/v1/index/retrieve`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct IndexQuery {
    email: String,
    hash: String,
    public_key: Option<SearchedKey>,
}

#[derive(Debug, Deserialize)]
struct SearchedKey {
    content: String,
}

/// `GET /api/v1/log`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogInfo {
    inactive_shards: [(); 0],
    root_hash: String,
    signed_tree_head: String,
    #[serde(rename = "treeID")]
    tree_id: String,
    tree_size: u64,
}

/// `GET /api/v1/log/proof`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConsistencyProof {
    hashes: Vec<String>,
    root_hash: String,
}

impl RekorLog {
    /// The entry of a uuid (16 and 64 hex digits) or of a leaf hash (64).
    pub(super) fn by_uuid(&self, uuid: &str) -> Result<AnsweredEntry, RekorRefusal> {
        let malformed = || {
            let rule = "'^([0-9a-fA-F]{64}|[0-9a-fA-F]{80})$'";
            RekorRefusal::schema(605, format!("entryUUID in path should match {rule}"))
        };
        let leaf = self.leaf_of(uuid).ok_or_else(malformed)?;
        self.answered(leaf.and_then(|leaf| self.read_tree(|tree| tree.of_leaf(&leaf))))
    }

    /// `?logIndex=`.
    pub(super) fn by_index(&self, query: &str) -> Result<AnsweredEntry, RekorRefusal> {
        let index = number(query, "logIndex")?.ok_or_else(|| RekorRefusal::required("logIndex in query"))?;
        self.answered(self.read_tree(|tree| tree.at(index)))
    }

    fn answered(&self, entry: Option<super::log::IntegratedEntry>) -> Result<AnsweredEntry, RekorRefusal> {
        let entry = entry.filter(|found| found.entry.lie != Some(RekorLieKind::WithheldEntry));
        let entry = entry.ok_or_else(RekorRefusal::not_found)?;
        self.count_read(entry.log_index);
        Ok(AnsweredEntry::again(self, entry))
    }

    /// The entries of a query, those that are there, in its order.
    pub(super) fn retrieve(&self, body: &[u8]) -> Result<Vec<AnsweredEntry>, RekorRefusal> {
        if !self.plan.retrieval {
            let reason = "operation entries.SearchLogQuery has not yet been implemented";
            return Err(RekorRefusal::of(StatusCode::NOT_IMPLEMENTED, reason));
        }
        let EntriesQuery { entry_uuids, log_indexes } = read(body)?;
        for (name, count) in [("entryUUIDs", entry_uuids.len()), ("logIndexes", log_indexes.len())] {
            if count > MOST_QUERIES {
                let reason = format!("{name} in body should have at most {MOST_QUERIES} items");
                return Err(RekorRefusal::schema(611, reason));
            }
        }
        if entry_uuids.len() + log_indexes.len() > MOST_QUERIES {
            let reason = format!("more than max allowed {MOST_QUERIES} entries in request");
            return Err(RekorRefusal::schema(422, reason));
        }
        let by_uuid = entry_uuids.iter().map(|uuid| self.by_uuid(uuid));
        let by_index = log_indexes.iter().map(|index| self.answered(self.read_tree(|tree| tree.at(*index))));
        let there = |found: &Result<_, RekorRefusal>| !matches!(found, Err(refusal) if refusal.status == StatusCode::NOT_FOUND);
        by_uuid.chain(by_index).filter(there).collect()
    }

    /// The uuids of the entries that have all of what is searched for, the newest first.
    pub(super) fn search(&self, body: &[u8]) -> Result<Vec<String>, RekorRefusal> {
        if !self.plan.search {
            let reason = "Search Index API not enabled in this Rekor instance";
            return Err(RekorRefusal::of(StatusCode::NOT_IMPLEMENTED, reason));
        }
        let IndexQuery { email, hash, public_key } = read(body)?;
        let mut keys: Vec<String> = [email, hash].into_iter().filter(|key| !key.is_empty()).collect();
        if let Some(SearchedKey { content }) = public_key {
            keys.push(key_hash(&content)?);
        }
        let mut found: Vec<Hash> = Vec::new();
        self.read_tree(|tree| {
            for key in keys {
                for leaf in tree.found(&key.to_lowercase()).flat_map(as_found) {
                    if !found.contains(&leaf) {
                        found.push(leaf);
                    }
                }
            }
        });
        Ok(found.iter().map(|leaf| self.uuid(leaf)).collect())
    }

    pub(super) fn info(&self) -> LogInfo {
        let head = self.told_head();
        LogInfo {
            inactive_shards: [],
            root_hash: head.root.to_hex(),
            signed_tree_head: head.note.clone(),
            tree_id: self.plan.tree_id.to_string(),
            tree_size: head.size,
        }
    }

    /// `?firstSize=..&lastSize=..`; the root is that of the newest tree.
    pub(super) fn consistency(&self, query: &str) -> Result<ConsistencyProof, RekorRefusal> {
        let first = number(query, "firstSize")?.unwrap_or(1);
        let last = number(query, "lastSize")?.ok_or_else(|| RekorRefusal::required("lastSize in query"))?;
        let bad = |reason: String| RekorRefusal::of(StatusCode::BAD_REQUEST, reason);
        if first > last {
            return Err(bad(format!("firstSize({first}) must be less than lastSize({last})")));
        }
        let head = self.head_as_of(self.plan.proof_lag.duration());
        let proof = self.read_tree(|tree| {
            let size = head.size;
            if last > size {
                return Err(bad(format!(
                    "the tree size requested({last}) was greater than what is currently observable({size})"
                )));
            }
            consistency_proof(tree.served(), first, last).map_err(|error| bad(error.to_string()))
        })?;
        let proof = if self.lies_about_proof(last) { altered_path(proof) } else { proof };
        let hashes = proof.iter().map(ToString::to_string).collect();
        Ok(ConsistencyProof { hashes, root_hash: head.root.to_hex() })
    }

    /// The leaf hash in a uuid, none where that is of another tree; none at all where it is no uuid.
    fn leaf_of(&self, uuid: &str) -> Option<Option<Hash>> {
        let (tree, leaf) = match uuid.len() {
            64 => (None, uuid),
            80 => uuid.split_at_checked(16).map(|(tree, leaf)| (Some(tree), leaf))?,
            _ => return None,
        };
        let leaf = Hash::from_hex(leaf)?;
        let tree = tree.map(|tree| u64::from_str_radix(tree, 16)).transpose().ok()?;
        Some(tree.is_none_or(|tree| tree == self.plan.tree_id).then_some(leaf))
    }
}

/// The leaf hashes by which a search finds an entry: its own, unless that is lied about.
fn as_found(entry: &LoggedEntry) -> impl Iterator<Item = Hash> {
    let own = (entry.lie != Some(RekorLieKind::WithheldFromSearch)).then_some(entry.leaf_hash);
    let invented = || sha256(&[b"no leaf has this hash: ".as_slice(), &entry.leaf_hash.0].concat());
    let invented = (entry.lie == Some(RekorLieKind::InventedBySearch)).then(invented);
    own.into_iter().chain(invented)
}

/// The number of a parameter.
fn number(query: &str, name: &str) -> Result<Option<u64>, RekorRefusal> {
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let Some((_, text)) = parameters.find(|(found, text)| found == name && !text.is_empty()) else {
        return Ok(None);
    };
    let number = text.parse::<u64>();
    let malformed = |_| RekorRefusal::schema(601, format!("{name} in query must be of type int64: {text:?}"));
    number.map(Some).map_err(malformed)
}

fn read<'a, Q: Deserialize<'a>>(body: &'a [u8]) -> Result<Q, RekorRefusal> {
    serde_json::from_slice(body).map_err(|error| RekorRefusal::of(StatusCode::BAD_REQUEST, error.to_string()))
}

/// The key under which the entries of a PEM in base64 are found.
fn key_hash(content: &str) -> Result<String, RekorRefusal> {
    let pem = hammer_tlog::encoding::from_base64(content).ok();
    let verifier = pem.and_then(|pem| ArtifactVerifier::from_pem(&pem).ok());
    let malformed = || RekorRefusal::of(StatusCode::BAD_REQUEST, "public key provided could not be parsed");
    Ok(sha256(verifier.ok_or_else(malformed)?.pem.as_bytes()).to_hex())
}

const MOST_QUERIES: usize = 10;

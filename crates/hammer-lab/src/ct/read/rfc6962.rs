//! Reads of RFC 6962 (sections 4.3 to 4.8) over the same tree; statuses as ct_server's.

use std::collections::HashMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use hammer_tlog::{
    logs::merkle::{Hash, MerkleError, consistency_proof, inclusion_proof},
    logs::tile::{FULL_WIDTH, Level, TileId},
};
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use crate::{
    ct::{
        entry::{
            bundle::{TileLeaf, leaves},
            push_u24,
        },
        log::Log,
    },
    serve::answer::{self, AnswerBody},
};

type Answer = Result<String, (StatusCode, String)>;

#[derive(Debug, Serialize)]
struct LogEntry {
    leaf_input: String,
    extra_data: String,
}

impl Log {
    /// `ct/v1/get-sth`.
    pub(crate) fn serve_sth(&self) -> Response<AnswerBody> {
        answer::json(self.published.borrow().tree_head_json())
    }

    /// `ct/v1/get-sth-consistency?first=..&second=..`.
    pub(crate) fn serve_consistency(&self, query: &str) -> Response<AnswerBody> {
        answered(Query::read(query).and_then(|query| {
            let (first, second) = (query.number("first")?, query.number("second")?);
            self.published_up_to(second)?;
            let proof = self.read_tree(|sequenced| consistency_proof(sequenced.served(), first, second));
            Ok(json!({ "consistency": base64_all(&proof.map_err(|error| bad(&error))?) }).to_string())
        }))
    }

    /// `ct/v1/get-proof-by-hash?hash=..&tree_size=..`.
    pub(crate) fn serve_proof_by_hash(&self, query: &str) -> Response<AnswerBody> {
        answered(Query::read(query).and_then(|query| {
            let size = query.number("tree_size")?;
            let hash = query.hash()?;
            self.published_up_to(size)?;
            let index = self.read_tree(|sequenced| sequenced.indices.get(&hash).copied());
            let index = index.filter(|index| *index < size).ok_or_else(|| {
                (StatusCode::NOT_FOUND, "get-proof-by-hash: did not find a leaf with this hash".to_owned())
            })?;
            let path = self.audit_path(index, size).map_err(|error| bad(&error))?;
            Ok(json!({ "leaf_index": index, "audit_path": base64_all(&path) }).to_string())
        }))
    }

    /// `ct/v1/get-entries?start=..&end=..`; `end` is inclusive, and fewer entries than asked for may come.
    pub(crate) fn serve_entries(&self, query: &str) -> Response<AnswerBody> {
        answered(Query::read(query).and_then(|query| {
            let (start, end) = (query.number("start")?, query.number("end")?);
            if start > end {
                return Err((
                    StatusCode::BAD_REQUEST,
                    format!("start ({start}) and end ({end}) is not a valid range"),
                ));
            }
            if start < self.read_tree(|sequenced| sequenced.kept_from) {
                return Err((StatusCode::GONE, format!("entry {start} is no longer kept")));
            }
            let size = self.published.borrow().size;
            if start >= size {
                let text =
                    format!("need tree size: {} to get leaves but only got: {size}", start.saturating_add(1));
                return Err((StatusCode::BAD_REQUEST, text));
            }
            let most = start.saturating_add(self.plan.max_get_entries.get() as u64);
            let entries = self.entries(start, end.saturating_add(1).min(size).min(most));
            let entries =
                entries.ok_or((StatusCode::INTERNAL_SERVER_ERROR, "a bundle is missing".to_owned()))?;
            Ok(json!({ "entries": entries }).to_string())
        }))
    }

    /// `ct/v1/get-entry-and-proof?leaf_index=..&tree_size=..`.
    pub(crate) fn serve_entry_and_proof(&self, query: &str) -> Response<AnswerBody> {
        answered(Query::read(query).and_then(|query| {
            let (index, size) = (query.number("leaf_index")?, query.number("tree_size")?);
            self.published_up_to(size)?;
            let path = self.audit_path(index, size).map_err(|error| bad(&error))?;
            let mut entries = self.entries(index, index + 1).unwrap_or_default();
            let missing = (StatusCode::INTERNAL_SERVER_ERROR, "a bundle is missing".to_owned());
            let LogEntry { leaf_input, extra_data } = entries.pop().ok_or(missing)?;
            Ok(json!({ "leaf_input": leaf_input, "extra_data": extra_data, "audit_path": base64_all(&path) })
                .to_string())
        }))
    }

    fn audit_path(&self, index: u64, size: u64) -> Result<Vec<Hash>, MerkleError> {
        self.read_tree(|sequenced| inclusion_proof(sequenced.served(), index, size))
    }

    /// Entries `start..end`, all of which are in the tree.
    fn entries(&self, start: u64, end: u64) -> Option<Vec<LogEntry>> {
        let full = u64::from(FULL_WIDTH);
        let mut entries = Vec::new();
        for bundle in start / full..end.div_ceil(full) {
            // The tree may outgrow the partial bundle while it is asked for.
            let tile = TileId::covering(Level::Data, bundle * full, end)?;
            let bytes = self.bundle(&tile).or_else(|| self.widest(bundle, &tile))?;
            let first = bundle * full;
            let wanted = (first..).zip(leaves(&bytes)).filter(|(index, _)| (start..end).contains(index));
            for (_, leaf) in wanted {
                entries.push(self.log_entry(&leaf)?);
            }
        }
        (entries.len() as u64 == end - start).then_some(entries)
    }

    /// A bundle that holds at least the entries of `tile`: the full one, or the widest partial one.
    fn widest(&self, bundle: u64, tile: &TileId) -> Option<Bytes> {
        self.bundle(&tile.full()).or_else(|| {
            let size = self.read_tree(|sequenced| sequenced.tree.size());
            self.bundle(&TileId::covering(Level::Data, bundle * u64::from(FULL_WIDTH), size)?)
        })
    }

    fn log_entry(&self, leaf: &TileLeaf<'_>) -> Option<LogEntry> {
        let mut chain = Vec::new();
        for fingerprint in leaf.fingerprints {
            push_u24(&mut chain, &self.store.issuer(&Hash(*fingerprint))?);
        }
        let mut extra_data = Vec::with_capacity(chain.len() + leaf.submitted.len() + 6);
        if leaf.precert {
            push_u24(&mut extra_data, leaf.submitted);
        }
        push_u24(&mut extra_data, &chain);
        Some(LogEntry {
            leaf_input: BASE64_STANDARD.encode(leaf.leaf_input()),
            extra_data: BASE64_STANDARD.encode(extra_data),
        })
    }

    fn published_up_to(&self, size: u64) -> Result<(), (StatusCode, String)> {
        let published = self.published.borrow().size;
        match size <= published {
            true => Ok(()),
            false => Err((StatusCode::BAD_REQUEST, format!("tree size {size} is larger than {published}"))),
        }
    }
}

/// The parameters of a request, each at most once.
struct Query(HashMap<String, String>);

impl Query {
    fn read(query: &str) -> Result<Self, (StatusCode, String)> {
        Ok(Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect()))
    }

    fn text(&self, name: &str) -> Result<&str, (StatusCode, String)> {
        let missing = || (StatusCode::BAD_REQUEST, format!("parameter {name:?} is required"));
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty()).ok_or_else(missing)
    }

    fn number(&self, name: &str) -> Result<u64, (StatusCode, String)> {
        let text = self.text(name)?;
        text.parse()
            .map_err(|_| (StatusCode::BAD_REQUEST, format!("parameter {name:?} is malformed: {text:?}")))
    }

    fn hash(&self) -> Result<Hash, (StatusCode, String)> {
        let text = self.text("hash")?;
        let malformed = || (StatusCode::BAD_REQUEST, "parameter \"hash\" is not a base64 SHA-256".to_owned());
        Hash::from_base64(text).ok_or_else(malformed)
    }
}

fn answered(answer: Answer) -> Response<AnswerBody> {
    match answer {
        Ok(body) => answer::json(body),
        Err((status, reason)) => answer::error(status, &reason),
    }
}

fn bad(error: &MerkleError) -> (StatusCode, String) {
    (StatusCode::BAD_REQUEST, error.to_string())
}

fn base64_all(hashes: &[Hash]) -> Vec<String> {
    hashes.iter().map(Hash::to_base64).collect()
}

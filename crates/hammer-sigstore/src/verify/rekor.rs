//! Entries of Rekor v1: by UUID, by index, or through search.

use std::fmt::Write as _;

use hammer_core::record::{OperationRecord, StepGuard};
use hammer_core::workload::Ended;
use hammer_exchange::{SentSecrets, ServiceClient, expect_ok};
use hammer_measure::Outcome;
use hammer_net::{ConfigError, Request};
use hammer_tlog::hash::sha256;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};

use super::series::RekorSeries;
use super::{VerifyOp, VerifyWorkload};
use crate::plan::VerifyBy;
use crate::promise::SigstorePromise;
use crate::record::{ArtifactRecord, Instants, PromiseRecord, SearchRecord};
use crate::rekor::{self, ENTRIES, SEARCH, leaf_of};

/// A shard's client of Rekor v1.
pub(super) struct RekorEntries {
    client: ServiceClient,
    /// The request for a search, without its body.
    search: Request,
}

impl RekorEntries {
    pub(super) fn new(client: ServiceClient) -> Result<Self, ConfigError> {
        let mut search = Request::post(client.path(SEARCH)?, "");
        search.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self { client, search })
    }
}

impl VerifyWorkload {
    /// Looks for the entry where the plan says so, and reads it.
    pub(super) async fn read_from_rekor(
        &self,
        entries: &RekorEntries,
        series: RekorSeries,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        if let Some(series) = series.search {
            self.search(entries, op, record.step(series), record).await?;
        }
        self.entry(entries, series.entry, op, record).await
    }

    /// Looks for the hash of what was signed; the flow goes on where its entry is among what is found.
    async fn search(
        &self,
        rekor: &RekorEntries,
        op: &mut VerifyOp,
        mut step: StepGuard<'_>,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let VerifyOp { search, path, answer, entry, record: written, .. } = op;
        search.rewrite(|out| rekor::write_search(out, &sha256(&entry.artifact)));
        let request = Request { body: search.body(), ..rekor.search.clone() };
        rekor.client.send(&mut step, &request, answer).await?;
        expect_ok(&mut step, answer)?;
        let leaf = leaf_of(&entry.uuid).ok_or(NO_UUID)?;
        let found = rekor::found_among(&answer.body, leaf);
        let (_, found) = found.map_err(|_| {
            let ended = Ended::failed(Outcome::Malformed, "answer is no list of uuids");
            rekor.client.ends_by(&mut step, ended, (&request, SentSecrets::default()), &answer.body)
        })?;
        let is_found = found.is_some();
        match found {
            // Its tree is as the index has it: whoever trusts the index goes on with that.
            Some(uuid) => {
                path.clear();
                path.extend([ENTRIES, "/", &uuid]);
            }
            None => step.ends(NOT_FOUND),
        }
        drop(step);
        // The index is written after the answer to the write.
        if is_found || self.is_late(entry, answer) {
            let at = Instants::of(record, &answer.wire);
            let told = SearchRecord { at, leaf, index: entry.log_index, body: &answer.body };
            PromiseRecord::Search(told).write(written);
            record.promise(SigstorePromise::Search.into(), written);
        }
        if is_found { Ok(()) } else { Err(NOT_FOUND) }
    }

    async fn entry(
        &self,
        rekor: &RekorEntries,
        series: usize,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let VerifyOp { path, answer, entry, record: written, .. } = op;
        let leaf = leaf_of(&entry.uuid).ok_or(NO_UUID)?;
        match self.by {
            VerifyBy::Search => {}
            VerifyBy::Uuid => {
                path.clear();
                path.extend([ENTRIES, "/", &entry.uuid]);
            }
            VerifyBy::Index => {
                path.clear();
                // A text takes whatever is written to it.
                let _ = write!(path, "{ENTRIES}?logIndex={}", entry.log_index);
            }
        }
        let path = rekor.client.path(path).map_err(|_| NO_UUID)?;
        let mut step = record.step(series);
        rekor.client.send(&mut step, &Request::get(path), answer).await?;
        let read = expect_ok(&mut step, answer);
        drop(step);
        // Rekor v1 answers a write with a proof that the entry is in its tree: but for replicas that lag it cannot be missing.
        let is_missing = answer.status == StatusCode::NOT_FOUND && self.is_late(entry, answer);
        if read.is_ok() || is_missing {
            let at = Instants::of(record, &answer.wire);
            let body = (!is_missing).then_some(answer.body.as_slice());
            let (artifact, identity) = (entry.artifact.as_slice(), entry.identity.as_str());
            let (index, integrated_time) = (entry.log_index, entry.integrated_time);
            let told = ArtifactRecord { at, leaf, index, integrated_time, artifact, identity, body };
            PromiseRecord::Artifact(told).write(written);
            record.promise(SigstorePromise::Artifact.into(), written);
        }
        read
    }
}

/// The log does not find by its hash what it has.
const NOT_FOUND: Ended = Ended::failed(Outcome::Refused, "not among what was found");
const NO_UUID: Ended = Ended::failed(Outcome::Malformed, "no uuid");

//! Which request is which endpoint, and who answers it.

use std::sync::Arc;

use bytes::Bytes;
use hammer_lab::serve::{Target, answer::AnswerBody};
use hammer_tlog::logs::merkle::Hash;
use http::{Method, Response, StatusCode, request::Parts};
use serde::Serialize;
use tokio::sync::watch;

use super::{
    answer::{self, AnsweredEntry},
    lie::ToldRekorLie,
    log::RekorLog,
    plan::RekorLieKind,
    refusal::RekorRefusal,
};
use crate::artifact::public_key_pem;

/// A log behind its server.
#[derive(Debug)]
pub struct RekorTarget {
    pub(super) log: RekorLog,
}

impl RekorTarget {
    /// DER `SubjectPublicKeyInfo` of the log's key.
    #[must_use]
    pub fn log_key_spki(&self) -> &[u8] {
        self.log.checkpoints.signer.spki()
    }

    /// SHA-256 of the log's key, whose hex is the `logID` of each entry.
    #[must_use]
    pub fn log_id(&self) -> Hash {
        self.log.checkpoints.key_hash()
    }

    /// The origin line of checkpoints: `<hostname> - <tree id>`. The name in the signature line is the host alone.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.log.checkpoints.origin
    }

    /// The lies that the log told, in order; up to 10,000 are listed, and the count of those beyond is given. One about an
    /// entry is listed once, however often it is told.
    #[must_use]
    pub fn told_lies(&self) -> (Vec<ToldRekorLie<RekorLieKind>>, u64) {
        self.log.lies.told()
    }

    /// How often each entry was answered to somebody who asked for it, by its log index; none behind the last that was.
    #[must_use]
    pub fn reads(&self) -> Vec<u64> {
        self.log.reads()
    }

    async fn answered(
        &self,
        endpoint: &str,
        parts: Parts,
        body: Bytes,
    ) -> Result<Response<AnswerBody>, RekorRefusal> {
        let log = &self.log;
        let query = parts.uri.query().unwrap_or_default();
        let uuid = || parts.uri.path().strip_prefix(ENTRIES).unwrap_or_default().trim_start_matches('/');
        match endpoint {
            CREATE_ENTRY => Ok(answer::created(&AnsweredEntry::of(log, log.accept(&body).await?))),
            GET_ENTRY => ok(&log.by_uuid(uuid())?),
            GET_ENTRY_BY_INDEX => ok(&log.by_index(query)?),
            RETRIEVE_ENTRIES => ok(&log.retrieve(&body)?),
            SEARCH => ok(&log.search(&body)?),
            LOG_INFO => ok(&log.info()),
            LOG_PROOF => ok(&log.consistency(query)?),
            PUBLIC_KEY => Ok(answer::plain("application/x-pem-file", public_key_pem(self.log_key_spki()))),
            PING => Ok(answer::plain("text/plain", ".".to_owned())),
            _ => {
                let message = format!("path {} was not found", parts.uri.path());
                Err(RekorRefusal::of(StatusCode::NOT_FOUND, message))
            }
        }
    }
}

fn ok(value: &impl Serialize) -> Result<Response<AnswerBody>, RekorRefusal> {
    Ok(answer::json(StatusCode::OK, value))
}

impl Target for RekorTarget {
    const ENDPOINTS: &'static [&'static str] = &[
        CREATE_ENTRY,
        GET_ENTRY,
        GET_ENTRY_BY_INDEX,
        RETRIEVE_ENTRIES,
        LOG_INFO,
        LOG_PROOF,
        PUBLIC_KEY,
        SEARCH,
        PING,
        "other",
    ];

    fn lose_data(&self) {
        self.log.lose_data();
    }

    fn endpoint(&self, method: &Method, path: &str) -> &'static str {
        match (method.as_str(), path) {
            ("POST", ENTRIES) => CREATE_ENTRY,
            ("GET", ENTRIES) => GET_ENTRY_BY_INDEX,
            ("POST", "/api/v1/log/entries/retrieve") => RETRIEVE_ENTRIES,
            ("POST", "/api/v1/index/retrieve") => SEARCH,
            ("GET", "/api/v1/log") => LOG_INFO,
            ("GET", "/api/v1/log/proof") => LOG_PROOF,
            ("GET", "/api/v1/log/publicKey") => PUBLIC_KEY,
            ("GET", "/ping") => PING,
            ("GET", path) if path.strip_prefix(ENTRIES).is_some_and(|rest| rest.starts_with('/')) => {
                GET_ENTRY
            }
            _ => "other",
        }
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        let answered = self.answered(endpoint, parts, body).await;
        answered.unwrap_or_else(|refusal| answer::refused(&refusal))
    }

    async fn work(self: Arc<Self>, stopped: watch::Receiver<bool>) {
        self.log.integrate(stopped).await;
    }
}

const ENTRIES: &str = "/api/v1/log/entries";
const CREATE_ENTRY: &str = "create-entry";
const GET_ENTRY: &str = "get-entry";
const GET_ENTRY_BY_INDEX: &str = "get-entry-by-index";
const RETRIEVE_ENTRIES: &str = "retrieve-entries";
const SEARCH: &str = "search";
const LOG_INFO: &str = "log-info";
const LOG_PROOF: &str = "log-proof";
const PUBLIC_KEY: &str = "public-key";
const PING: &str = "ping";

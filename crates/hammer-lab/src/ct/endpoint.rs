//! Which request is which endpoint, and who answers it.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response, StatusCode, request::Parts};
use tokio::sync::watch;

use super::log::Log;
use super::plan::Flavour;
use crate::serve::{
    Target,
    answer::{self, AnswerBody},
};

/// A log behind its server.
#[derive(Debug)]
pub struct CtTarget {
    pub(crate) log: Arc<Log>,
    /// Path below which everything lies, with a slash at both ends.
    pub(crate) prefix: String,
    /// The URL by which the log is reached, with a slash at its end.
    pub(crate) url: String,
}

impl CtTarget {
    /// Whether a log of this flavour has that endpoint: TesseraCT answers 404 for what RFC 6962 has beside submissions and roots, and
    /// ct_server for tiles.
    fn has(&self, endpoint: &str) -> bool {
        match self.log.flavour() {
            Flavour::StaticCt => !PROOFS_AND_ENTRIES.contains(&endpoint),
            Flavour::Rfc6962 => !TILES.contains(&endpoint),
        }
    }

    fn below_prefix<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(self.prefix.as_str())
    }
}

impl Target for CtTarget {
    const ENDPOINTS: &'static [&'static str] = &[
        "add-chain",
        "add-pre-chain",
        "get-roots",
        "get-sth",
        "get-sth-consistency",
        "get-proof-by-hash",
        "get-entries",
        "get-entry-and-proof",
        "checkpoint",
        "tile",
        "data-tile",
        "names-tile",
        "issuer",
        "log.v3.json",
        OTHER,
    ];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        let Some(path) = self.below_prefix(path) else { return OTHER };
        let endpoint = match path {
            "checkpoint" => "checkpoint",
            "log.v3.json" => "log.v3.json",
            _ if path.starts_with("tile/data/") => "data-tile",
            _ if path.starts_with("tile/names/") => "names-tile",
            _ if path.starts_with("tile/") => "tile",
            _ if path.starts_with("issuer/") => "issuer",
            _ => {
                let name = path.strip_prefix("ct/v1/").unwrap_or_default();
                RFC6962.iter().find(|endpoint| **endpoint == name).copied().unwrap_or(OTHER)
            }
        };
        if self.has(endpoint) { endpoint } else { OTHER }
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        let wanted = if endpoint.starts_with("add-") { Method::POST } else { Method::GET };
        if parts.method != wanted && endpoint != OTHER {
            let reason = format!("method not allowed: {}", parts.method);
            return answer::error(StatusCode::METHOD_NOT_ALLOWED, &reason);
        }
        if endpoint.starts_with("add-") {
            // The connection's buffer is free again while the submission waits.
            drop(parts);
            return self.log.submit(body, endpoint == "add-pre-chain").await;
        }
        let path = self.below_prefix(parts.uri.path()).unwrap_or_default();
        let query = parts.uri.query().unwrap_or_default();
        let log = &self.log;
        match endpoint {
            "checkpoint" => log.serve_checkpoint(),
            "tile" | "data-tile" | "names-tile" => log.serve_tile(path),
            "issuer" => log.serve_issuer(path.strip_prefix("issuer/").unwrap_or_default()),
            "get-roots" => log.serve_roots(),
            "get-sth" => log.serve_sth(),
            "get-sth-consistency" => log.serve_consistency(query),
            "get-proof-by-hash" => log.serve_proof_by_hash(query),
            "get-entries" => log.serve_entries(query),
            "get-entry-and-proof" => log.serve_entry_and_proof(query),
            "log.v3.json" => answer::json(log.log_list_entry(&self.url)),
            _ => answer::error(StatusCode::NOT_FOUND, &format!("{} is not here", parts.uri.path())),
        }
    }

    async fn work(self: Arc<Self>, stopped: watch::Receiver<bool>) {
        let log = &self.log;
        let publisher = Arc::clone(log).publish(stopped.clone());
        let checker = Arc::clone(log).check(stopped.clone());
        tokio::join!(Arc::clone(log).sequence(stopped), publisher, checker);
        log.publish_all();
    }
}

const OTHER: &str = "other";

/// What RFC 6962 has and static-ct-api has tiles for.
const PROOFS_AND_ENTRIES: [&str; 5] =
    ["get-sth", "get-sth-consistency", "get-proof-by-hash", "get-entries", "get-entry-and-proof"];
/// The other way around.
const TILES: [&str; 5] = ["checkpoint", "tile", "data-tile", "names-tile", "issuer"];
/// Names below `ct/v1/`.
const RFC6962: [&str; 8] = [
    "add-chain",
    "add-pre-chain",
    "get-roots",
    "get-sth",
    "get-sth-consistency",
    "get-proof-by-hash",
    "get-entries",
    "get-entry-and-proof",
];

//! The log under load: where it is, what it speaks, and the key by which it is held to its word.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hammer_audit::LogPlace;
use hammer_net::{ClientConfig, Secret};
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::note::Verifier;
use http::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::window::Window;

/// What a log speaks. Both take submissions alike (RFC 6962 sections 4.1 and 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum LogKind {
    /// C2SP static-ct-api: SCTs with a leaf index; checkpoint and tiles are read.
    #[default]
    #[serde(rename = "static-ct")]
    StaticCt,
    /// RFC 6962: `get-sth` and `get-entries` are read.
    #[serde(rename = "rfc6962")]
    Rfc6962,
}

impl LogKind {
    /// The other one.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::StaticCt => Self::Rfc6962,
            Self::Rfc6962 => Self::StaticCt,
        }
    }

    /// Where a log of this kind has its tree heads, behind a monitoring URL.
    pub(crate) fn tree_head_path(self) -> &'static str {
        match self {
            Self::StaticCt => CHECKPOINT,
            Self::Rfc6962 => GET_STH,
        }
    }
}

impl fmt::Display for LogKind {
    /// As plans have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StaticCt => "static-ct",
            Self::Rfc6962 => "rfc6962",
        })
    }
}

/// A log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTarget {
    /// What it speaks.
    pub kind: LogKind,
    /// Where chains are sent, before `/ct/v1/add-chain`; at least one, all with the same path.
    pub submission: Vec<Uri>,
    /// Where it is read; at least one, all with the same path. A log of RFC 6962 is read where chains are sent.
    pub monitoring: Vec<Uri>,
    /// Sent to `submission`, and to nobody else.
    pub submission_token: Option<Secret>,
    /// Sent to `monitoring`, and to nobody else.
    pub monitoring_token: Option<Secret>,
    /// The folder in which it is read instead, laid out as static-ct-api.
    pub folder: Option<PathBuf>,
    /// The first line of its checkpoints (static-ct-api only).
    pub origin: String,
    /// Its public key.
    pub key: LogKey,
    /// The leaves that it takes.
    pub window: Window,
    /// How far its clock may be from this machine's.
    pub skew: Duration,
    /// Its maximum merge delay (RFC 6962 section 3).
    pub mmd: Duration,
}

impl LogTarget {
    /// A log at `url`, read there too, with the skew of [`DEFAULT_SKEW`], the merge delay of [`DEFAULT_MMD`] and the origin that follows from the URL.
    pub fn new(kind: LogKind, url: Uri, key: LogKey) -> Self {
        let origin = origin_of(&url);
        Self {
            kind,
            monitoring: vec![url.clone()],
            submission: vec![url],
            submission_token: None,
            monitoring_token: None,
            folder: None,
            origin,
            key,
            window: Window::ALL,
            skew: DEFAULT_SKEW,
            mmd: DEFAULT_MMD,
        }
    }

    /// `client`, for where chains are sent: with those endpoints and their token.
    pub fn submission_client(&self, client: ClientConfig) -> ClientConfig {
        let (endpoints, bearer) = (self.submission.clone(), self.submission_token.clone());
        ClientConfig { endpoints, bearer, ..client }
    }

    /// `client`, for where the log is read: with those endpoints and their token.
    pub fn monitoring_client(&self, client: ClientConfig) -> ClientConfig {
        let (endpoints, bearer) = (self.monitoring.clone(), self.monitoring_token.clone());
        ClientConfig { endpoints, bearer, ..client }
    }

    /// Where it is read: its folder, or the monitoring URLs by `client`.
    pub fn place(&self, client: ClientConfig) -> LogPlace {
        match &self.folder {
            Some(folder) => LogPlace::Folder(folder.clone()),
            None => self.monitoring_client(client).into(),
        }
    }

    /// The verifier of its own line of a checkpoint.
    pub fn checkpoint_verifier(&self) -> Verifier {
        Verifier::rfc6962(self.origin.clone(), self.key.clone())
    }

    /// Where its tree heads are, behind a monitoring URL.
    pub(crate) fn tree_head_path(&self) -> &'static str {
        self.kind.tree_head_path()
    }
}

/// Host without port, and path: what static-ct-api makes of a submission prefix.
pub(crate) fn origin_of(url: &Uri) -> String {
    let path = url.path().trim_end_matches('/');
    format!("{}{path}", url.host().unwrap_or_default())
}

/// The skew of a log whose plan states none.
pub const DEFAULT_SKEW: Duration = Duration::from_secs(60);

/// The maximum merge delay of a log whose plan states none: that of most logs.
pub const DEFAULT_MMD: Duration = Duration::from_secs(86_400);

/// A log that has no name in its plan, as a service.
pub(crate) const SERVICE: &str = "log";
/// RFC 6962 section 4.1.
pub(crate) const ADD_CHAIN: &str = "/ct/v1/add-chain";
/// RFC 6962 section 4.2.
pub(crate) const ADD_PRE_CHAIN: &str = "/ct/v1/add-pre-chain";
/// RFC 6962 section 4.3.
pub(crate) const GET_STH: &str = "/ct/v1/get-sth";
/// RFC 6962 section 4.4.
pub(crate) const GET_STH_CONSISTENCY: &str = "/ct/v1/get-sth-consistency";
/// RFC 6962 section 4.5.
pub(crate) const GET_PROOF_BY_HASH: &str = "/ct/v1/get-proof-by-hash";
/// RFC 6962 section 4.6.
pub(crate) const GET_ENTRIES: &str = "/ct/v1/get-entries";
/// RFC 6962 section 4.8.
pub(crate) const GET_ENTRY_AND_PROOF: &str = "/ct/v1/get-entry-and-proof";
/// RFC 6962 section 4.7.
pub(crate) const GET_ROOTS: &str = "/ct/v1/get-roots";
/// C2SP static-ct-api, "Checkpoints".
pub(crate) const CHECKPOINT: &str = "/checkpoint";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_host_without_port_and_path() {
        for (url, origin) in [
            ("http://127.0.0.1:26962/data", "127.0.0.1/data"),
            ("https://log.test/2027h1/", "log.test/2027h1"),
            ("http://127.0.0.1:80", "127.0.0.1"),
        ] {
            assert_eq!(origin_of(&url.parse().unwrap()), origin);
        }
    }
}

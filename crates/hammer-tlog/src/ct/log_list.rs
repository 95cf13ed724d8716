//! One log's description, as Sunlight serves it in `log.v3.json` and log lists of version 3 hold it.

use serde::{Deserialize, Serialize};

use crate::encoding::Base64;
use crate::hash::Hash;
use crate::keys::key::{KeyError, LogKey};

/// Why a description does not hold together.
#[derive(Debug, thiserror::Error)]
pub enum LogListError {
    /// It is not the JSON of a log.
    #[error("read the log's description: {0}")]
    Json(#[from] serde_json::Error),
    /// Its key is no key.
    #[error("read the log's description: {0}")]
    Key(#[from] KeyError),
    /// The log id is not that of the key.
    #[error("read the log's description: its log id {log_id} is not that of its key, {key_id}")]
    LogId {
        /// The id that it states.
        log_id: Hash,
        /// SHA-256 of the key that it states.
        key_id: Hash,
    },
}

/// One log. Times are RFC 3339 texts; fields that are not named here are skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// A line about the log.
    #[serde(default)]
    pub description: String,
    /// SHA-256 of `key`.
    pub log_id: Hash,
    /// The DER `SubjectPublicKeyInfo`.
    pub key: Base64,
    /// The maximum merge delay, in seconds.
    pub mmd: u64,
    /// Where chains are submitted (static-ct-api), with a slash at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission_url: Option<String>,
    /// Where the log is read (static-ct-api), with a slash at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitoring_url: Option<String>,
    /// The one address of an RFC 6962 log, with a slash at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The notAfter times that the log takes; all where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporal_interval: Option<TemporalInterval>,
    /// `static-ct-api`, from Sunlight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_spec: Option<String>,
    /// `active`, `readonly`, ... from Sunlight; log lists say it in another field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// The notAfter times that a log takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemporalInterval {
    /// The first, RFC 3339.
    pub start_inclusive: String,
    /// The first that it does not take any more, RFC 3339.
    pub end_exclusive: String,
}

impl Log {
    /// Reads one log's description, and checks that its log id is that of its key.
    pub fn from_json(json: &[u8]) -> Result<Self, LogListError> {
        let log: Self = serde_json::from_slice(json)?;
        let key_id = log.log_key()?.log_id();
        if key_id != log.log_id {
            return Err(LogListError::LogId { log_id: log.log_id, key_id });
        }
        Ok(log)
    }

    /// The log's key.
    pub fn log_key(&self) -> Result<LogKey, KeyError> {
        LogKey::from_der(&self.key.0)
    }

    /// The origin of the log's checkpoints: the submission URL without scheme and last slash (static-ct-api); none
    /// where the log has no submission URL.
    pub fn origin(&self) -> Option<&str> {
        let url = self.submission_url.as_deref()?;
        let (_, rest) = url.split_once("://")?;
        Some(rest.strip_suffix('/').unwrap_or(rest))
    }
}

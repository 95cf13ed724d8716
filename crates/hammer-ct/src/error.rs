//! Why a workload on a log cannot be set up.

use std::path::PathBuf;

use hammer_net::SecretError;
use hammer_tlog::keys::key::KeyError;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A fragment that completes "failed to ...", naming the key or file at fault.
#[derive(Debug, thiserror::Error)]
pub enum CtError {
    /// Not a URL of a log.
    #[error("use {url:?} as {key}: {reason}")]
    Url {
        /// The key of the plan.
        key: &'static str,
        /// The URL as given.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A key without which nothing can be done.
    #[error("find the log's {key}: it is not given")]
    Missing {
        /// The key of the plan.
        key: &'static str,
    },
    /// Two keys of which only one may be given.
    #[error("use both {one} and {other}: only one may be given")]
    Both {
        /// A key.
        one: &'static str,
        /// The other key.
        other: &'static str,
    },
    /// A value outside of its range, or that means nothing.
    #[error("use {value:?} as {key}: expected {expected}")]
    Value {
        /// The key of the plan.
        key: &'static str,
        /// The value as given.
        value: String,
        /// What may be written.
        expected: &'static str,
    },
    /// A file cannot be read.
    #[error("read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A folder that a log is to be read in cannot be.
    #[error("read a log in the folder {path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The log's public key is none.
    #[error("use the log's public key: failed to {0}{hint}", hint = where_files_go(.0))]
    Key(#[from] KeyError),
    /// Chains from files bring roots of their own, which nobody named here.
    #[error(
        "know the roots of chains from files: give the log those that they end in (an embedded one by roots_pem_files)"
    )]
    ForeignRoots,
    /// The file that should hold the log's public key does not.
    #[error("use the log's public key in {path}: failed to {why}")]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        why: KeyError,
    },
    /// There may be a leaf that no log takes.
    #[error("find a log for leaves whose NotAfter is {not_after}: no window holds it")]
    NoLog {
        /// The first such NotAfter, RFC 3339.
        not_after: String,
    },
    /// A bearer token cannot be had.
    #[error("{source}")]
    Token {
        /// The key of the plan that says where it is.
        key: &'static str,
        /// Why.
        source: SecretError,
    },
    /// The chains cannot be minted or read.
    #[error("{source}")]
    Synth {
        /// The key of the plan at fault, where it is one.
        key: Option<&'static str>,
        /// Why.
        source: hammer_synth::Error,
    },
}

impl CtError {
    /// The key at fault, below the block of the plan that it is of, with dots between several; none where it is no single one.
    pub fn key(&self) -> Option<&'static str> {
        match self {
            Self::Url { key, .. }
            | Self::Missing { key }
            | Self::Value { key, .. }
            | Self::Token { key, .. } => Some(key),
            Self::Both { other, .. } => Some(other),
            Self::Folder { .. } => Some("monitoring_url"),
            Self::Read { .. } | Self::KeyFile { .. } => Some("public_key_file"),
            Self::Key(_) => Some("public_key"),
            Self::ForeignRoots => Some("chains"),
            Self::Synth { key, .. } => *key,
            // Dates, windows or the choice of logs may be at fault.
            Self::NoLog { .. } => None,
        }
    }

    /// No log takes a leaf whose last valid second is that, since the Unix epoch.
    pub(crate) fn no_log(not_after: u64) -> Self {
        Self::NoLog { not_after: date(not_after) }
    }
}

/// Where a key goes that stands in a file, of one that is no key as it is written: the name of the file may be what was written.
fn where_files_go(error: &KeyError) -> &'static str {
    match error {
        KeyError::Base64(_) => " (of a file: --key @FILE, or `public_key_file` in a plan)",
        _ => "",
    }
}

fn date(unix_seconds: u64) -> String {
    let date = i64::try_from(unix_seconds)
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    date.and_then(|date| date.format(&Rfc3339).ok()).unwrap_or_else(|| format!("{unix_seconds} s since 1970"))
}
